//! What clients are told of a run.

use easel_runtime::{Timestamp, Value};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, JsonObject, MetaObject, Task,
    TaskPayload, TaskStatus,
};
use serde_json::json;

use super::agents::{Look, Outcome, Question, Refusal};
use super::names::RESUME;
use super::{ask, schema};

/// The member of a result's metadata that names the run.
pub const RUN: &str = "easel/run";

/// How often a client should look at a task.
const POLL_MS: u64 = 1_000;

/// What a run came to, as the result of a call.
pub fn result(run: &str, outcome: Outcome) -> CallToolResult {
    let result = match outcome {
        Outcome::Finished { content, outputs } => {
            let mut result = CallToolResult::success(content);
            result.structured_content = outputs.map(|outputs| Value::from(outputs).to_json());
            result
        }
        Outcome::Waiting(question) => return waiting(run, &question),
        Outcome::Uncertain { questions } => error(&format!(
            "The run `{run}` stands still until somebody decides: {}",
            questions.join(" ")
        )),
        Outcome::Failed { why } => error(&format!("The agent failed. {why}")),
        Outcome::Cancelled => error(&format!("The run `{run}` was cancelled.")),
    };
    result.with_meta(Some(named(run)))
}

/// The result for a client that cannot ask its user: what is asked, and how to answer it.
pub fn waiting(run: &str, question: &Question) -> CallToolResult {
    let form = schema::of_form(&question.fields);
    let fields: Vec<String> = question
        .fields
        .keys()
        .map(|key| format!("`{key}`"))
        .collect();
    let text = format!(
        "{}\n\nThe run `{run}` waits for {}. Answer with the tool `{RESUME}`: \
         {{\"run\": \"{run}\", \"answers\": {{…}}}}.",
        ask::message(question),
        fields.join(", "),
    );
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({
        "state": "waiting",
        "run": run,
        "question": &*question.text,
        "fields": form,
    }));
    result.with_meta(Some(named(run)))
}

/// The result for a user who will not answer.
pub fn declined(run: &str) -> CallToolResult {
    let text = format!("The user declined to answer, so the run `{run}` was ended.");
    error(&text).with_meta(Some(named(run)))
}

/// A result that is an error.
pub fn error(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// A refusal as the result of a call, if a model can do something about it.
///
/// # Errors
/// A refusal that is not for models.
pub fn refused(refusal: Refusal) -> Result<CallToolResult, ErrorData> {
    match refusal {
        Refusal::Broken(_) => Err(protocol(refusal)),
        refusal => Ok(error(&refusal.to_string())),
    }
}

/// A refusal as an error of the protocol.
pub fn protocol(refusal: Refusal) -> ErrorData {
    let text = refusal.to_string();
    match refusal {
        Refusal::Broken(_) | Refusal::Busy(_) => ErrorData::internal_error(text, None),
        _ => ErrorData::invalid_params(text, None),
    }
}

/// The task that a call became.
pub fn task_begun(run: &str, look: &Look) -> CreateTaskResult {
    CreateTaskResult::new(base(run, look))
}

/// A run as a task.
///
/// # Errors
/// Its result is no JSON object.
pub fn task(run: &str, look: Look) -> Result<DetailedTask, ErrorData> {
    let base = base(run, &look);
    let payload = match look.outcome {
        None => TaskPayload::Working,
        Some(Outcome::Waiting(question)) => TaskPayload::InputRequired {
            input_requests: ask::task_requests(&question),
        },
        Some(Outcome::Cancelled) => TaskPayload::Cancelled,
        Some(outcome) => TaskPayload::Completed {
            result: object(&result(run, outcome))?,
        },
    };
    Ok(DetailedTask::new(base, payload))
}

fn base(run: &str, look: &Look) -> Task {
    let task = Task::new(
        run,
        TaskStatus::Working,
        shown(look.created),
        shown(look.updated),
    );
    task.with_poll_interval_ms(POLL_MS)
}

fn shown(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    format!("{at:.3}")
}

fn object(result: &CallToolResult) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(result) {
        Ok(serde_json::Value::Object(object)) => Ok(object),
        _ => Err(ErrorData::internal_error(
            "The result cannot be written.",
            None,
        )),
    }
}

fn named(run: &str) -> MetaObject {
    MetaObject(JsonObject::from_iter([(RUN.to_owned(), json!(run))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_cannot_ask_is_told_how_to_answer() {
        let fields = Value::from(json!({"name": {"type": "line", "name": "Your name"}}));
        let question = Question {
            text: "Who are you?".into(),
            fields: fields.as_object().cloned().unwrap(),
            ..Question::default()
        };
        let told = serde_json::to_value(waiting("run-7", &question)).unwrap();
        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Who are you?"), "{text}");
        assert!(text.contains("resume_run") && text.contains("run-7") && text.contains("`name`"));
        assert_eq!(told["structuredContent"]["run"], json!("run-7"));
        let fields = &told["structuredContent"]["fields"]["properties"];
        assert_eq!(fields["name"]["title"], json!("Your name"));
    }

    #[test]
    fn a_task_tells_its_time_as_people_write_it() {
        assert_eq!(shown(Timestamp(0)), "1970-01-01T00:00:00.000Z");
    }
}
