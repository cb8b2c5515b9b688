//! How a client's user is asked what a run waits for.

use easel_runtime::Object;
use rmcp::ErrorData;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    InputRequests, InputRequiredResult, InputResponses,
};

use super::agents::Question;
use super::schema;

/// What a user did with a form.
#[derive(Debug, PartialEq)]
pub enum Asked {
    /// They filled it in.
    Answered(Object),
    /// They will not answer.
    Declined,
    /// They put it away: not now.
    Dismissed,
}

/// The question as a form; `None` if no client could show it.
pub fn form(question: &Question) -> Option<ElicitRequestParams> {
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(question),
        requested_schema: schema::of_elicitation(&question.fields)?,
    })
}

/// The text of a question.
pub fn message(question: &Question) -> String {
    match question.text.trim() {
        "" => "The agent asks for more.".to_owned(),
        text => text.to_owned(),
    }
}

/// The result that asks for what a run waits for.
pub fn input_required(run: &str, question: &Question) -> InputRequiredResult {
    let state = state(run, question.number);
    InputRequiredResult::new(requests(question, question.key.to_string()), Some(state))
}

/// The request for what a task waits for; another question of the task has another key.
pub fn task_requests(question: &Question) -> InputRequests {
    requests(question, task_key(question)).unwrap_or_default()
}

/// The key of a task's question.
pub fn task_key(question: &Question) -> String {
    format!("{}-{}", question.key, question.number)
}

fn requests(question: &Question, key: String) -> Option<InputRequests> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)?));
    Some(InputRequests::from([(key, request)]))
}

/// What a client answered to a question; `None` if nothing.
///
/// # Errors
/// It answered something that is no answer.
pub fn responded(
    question: &Question,
    responses: Option<&InputResponses>,
) -> Result<Option<Asked>, ErrorData> {
    let given = responses.and_then(|responses| responses.get(&*question.key));
    given.map(|given| response(question, given)).transpose()
}

/// Reads one answer.
///
/// # Errors
/// It is no answer to a form.
pub fn response(question: &Question, given: &serde_json::Value) -> Result<Asked, ErrorData> {
    match serde_json::from_value::<ElicitResult>(given.clone()) {
        Ok(result) => Ok(asked(question, result)),
        Err(error) => {
            let text = format!(
                "The response to `{}` is no elicitation result: {error}.",
                question.key
            );
            Err(ErrorData::invalid_params(text, None))
        }
    }
}

/// What a user did with a form.
pub fn asked(question: &Question, result: ElicitResult) -> Asked {
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.unwrap_or_default();
            Asked::Answered(schema::from_elicitation(&question.fields, &content))
        }
        ElicitationAction::Decline => Asked::Declined,
        _ => Asked::Dismissed,
    }
}

/// What a client sends back with its answer: the run and the number of the question. It opens nothing by itself: whoever
/// sends it must be allowed to answer that run.
fn state(run: &str, number: u64) -> String {
    format!("{run}.{number}")
}

/// The run and the question that a client sent back.
pub fn read_state(state: &str) -> Option<(&str, u64)> {
    let (run, number) = state.rsplit_once('.')?;
    let number = number.parse().ok()?;
    (!run.is_empty()).then_some((run, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use easel_runtime::Value;
    use serde_json::json;

    fn question() -> Question {
        let fields = Value::from(json!({"name": {"type": "line"}}));
        Question {
            number: 12,
            key: "answers".into(),
            text: "Who are you?".into(),
            fields: fields.as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn a_question_is_a_form_with_a_state_that_leads_back() {
        let result = serde_json::to_value(input_required("run-1", &question())).unwrap();
        assert_eq!(result["resultType"], json!("input_required"));
        let form = &result["inputRequests"]["answers"];
        assert_eq!(form["method"], json!("elicitation/create"));
        assert_eq!(form["params"]["message"], json!("Who are you?"));
        let state = result["requestState"].as_str().unwrap();
        assert_eq!(read_state(state), Some(("run-1", 12)));
    }

    #[test]
    fn a_state_that_was_not_given_leads_nowhere() {
        for state in ["", "run-1", ".3", "run-1.x", "run-1.3-TAMPERED"] {
            assert_eq!(read_state(state), None, "{state}");
        }
    }

    #[test]
    fn a_user_answers_declines_or_puts_it_off() {
        let answer = |json: serde_json::Value| response(&question(), &json);
        let fields = Value::from(json!({"name": "Ada"}));
        let fields = fields.as_object().cloned().unwrap();
        let accepted = answer(json!({"action": "accept", "content": {"name": "Ada", "x": 1}}));
        assert_eq!(accepted.unwrap(), Asked::Answered(fields));
        assert_eq!(
            answer(json!({"action": "decline"})).unwrap(),
            Asked::Declined
        );
        assert_eq!(
            answer(json!({"action": "cancel"})).unwrap(),
            Asked::Dismissed
        );
        assert!(answer(json!(12345)).is_err());
    }
}
