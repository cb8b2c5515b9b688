//! Tools beside Easel's, and the prompts and resources of the suite.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, InputRequests, InputRequiredResult,
    InputResponses, LoggingLevel, LoggingMessageNotificationParam, SamplingMessage, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use crate::everything::{Changed, Lists, Response, schema};

/// True if a client speaks 2026-07-28 or later.
pub fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= "2026-07-28")
}

/// The tools.
pub fn tools() -> Vec<Tool> {
    let none = || schema(json!({"type": "object", "properties": {}}));
    let tool = |name: &'static str, about: &'static str| Tool::new(name, about, none());
    let prompt = json!({
        "type": "object",
        "properties": {"prompt": {"type": "string"}},
        "required": ["prompt"],
    });
    let header = json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    });
    vec![
        Tool::new(
            "json_schema_2020_12_tool",
            "Tool with JSON Schema 2020-12 features",
            schema(rich()),
        ),
        Tool::new(
            "test_custom_headers",
            "Takes a parameter that is mirrored in a header.",
            schema(header),
        ),
        Tool::new("test_sampling", "Asks the client's model.", schema(prompt)),
        tool("test_tool_with_logging", "Logs while it works."),
        tool("test_logging_tool", "Logs if the client asked for it."),
        tool(
            "test_elicitation_sep1330_enums",
            "Asks with choices of every kind.",
        ),
        tool("test_missing_capability", "Needs the client's model."),
        tool("test_trigger_tool_change", "Says that the tools changed."),
        tool(
            "test_trigger_prompt_change",
            "Says that the prompts changed.",
        ),
        tool(
            "test_input_required_result_sampling",
            "Asks the client's model.",
        ),
        tool(
            "test_input_required_result_list_roots",
            "Asks for the client's roots.",
        ),
        tool(
            "test_input_required_result_multiple_inputs",
            "Asks for several things at once.",
        ),
        tool(
            "test_input_required_result_capabilities",
            "Asks for what the client can give.",
        ),
    ]
}

/// A schema with the vocabulary of JSON Schema 2020-12.
fn rich() -> serde_json::Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// Calls a tool; `None` if it is not one of these.
pub async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    lists: &Lists,
) -> Response {
    let responses = request.input_responses.as_ref();
    let argument = |name: &str| {
        let arguments = request.arguments.as_ref();
        let value = arguments.and_then(|arguments| arguments.get(name));
        value
            .and_then(|value| value.as_str())
            .unwrap_or_default()
            .to_owned()
    };
    Some(match &*request.name {
        "json_schema_2020_12_tool" => Ok(said("It fits.")),
        "test_custom_headers" => Ok(said(&argument("region"))),
        "test_sampling" => sample(argument("prompt"), context).await,
        "test_tool_with_logging" => log(context).await,
        "test_logging_tool" => match context.meta.get("io.modelcontextprotocol/logLevel") {
            Some(_) => log(context).await,
            None => Ok(said("Nobody asked for a log.")),
        },
        "test_elicitation_sep1330_enums" => choose(context).await,
        "test_missing_capability" => {
            let can = context.client_capabilities().unwrap_or_default();
            match can.sampling.is_some() {
                true => Ok(said("The client has a model.")),
                false => Err(ErrorData::missing_required_client_capability(
                    ClientCapabilities::builder().enable_sampling().build(),
                )),
            }
        }
        "test_trigger_tool_change" => {
            lists.tell(Changed::Tools);
            Ok(said("Told."))
        }
        "test_trigger_prompt_change" => {
            lists.tell(Changed::Prompts);
            Ok(said("Told."))
        }
        "test_input_required_result_sampling" => ask(
            json!({"capital_question": sampling("What is the capital of France?", 100)}),
            None,
            responses,
        ),
        "test_input_required_result_list_roots" => ask(
            json!({"client_roots": {"method": "roots/list", "params": {}}}),
            None,
            responses,
        ),
        "test_input_required_result_multiple_inputs" => ask(
            json!({
                "user_name": name(),
                "greeting": sampling("Generate a greeting", 50),
                "client_roots": {"method": "roots/list", "params": {}},
            }),
            Some("several"),
            responses,
        ),
        "test_input_required_result_capabilities" => {
            let can = context.client_capabilities().unwrap_or_default();
            let mut requests = serde_json::Map::new();
            if can.sampling.is_some() {
                requests.insert("question".to_owned(), sampling("Say something.", 50));
            }
            if can.elicitation.is_some() {
                requests.insert("user_name".to_owned(), name());
            }
            ask(requests.into(), None, responses)
        }
        _ => return None,
    })
}

fn name() -> serde_json::Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        },
    })
}

fn sampling(text: &str, tokens: u32) -> serde_json::Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
            "maxTokens": tokens,
        },
    })
}

/// Asks for what has not come yet.
pub fn ask(
    requests: serde_json::Value,
    state: Option<&str>,
    responses: Option<&InputResponses>,
) -> Result<CallToolResponse, ErrorData> {
    let requests = requests_of(requests)?;
    let all = requests.keys();
    let came = |key: &String| responses.is_some_and(|came| came.contains_key(key));
    match !requests.is_empty() && all.into_iter().all(came) {
        true => Ok(said(&serde_json::to_string(&responses).unwrap_or_default())),
        false => Ok(InputRequiredResult::new(Some(requests), state.map(str::to_owned)).into()),
    }
}

/// Requests, from JSON.
pub fn requests_of(json: serde_json::Value) -> Result<InputRequests, ErrorData> {
    let requests = serde_json::from_value(json);
    requests.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn said(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn sent(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

async fn sample(
    prompt: String,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let asked = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let answer = context.peer.create_message(asked).await.map_err(sent)?;
    let answer = serde_json::to_string(&answer.message.content).map_err(sent)?;
    Ok(said(&format!("LLM response: {answer}")))
}

async fn log(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    for line in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        context
            .peer
            .notify_logging_message(line)
            .await
            .map_err(sent)?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(said("Logged."))
}

async fn choose(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let titled = |titles: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(titles);
        let values = values.map(|(value, title)| json!({"const": value, "title": title}));
        values.collect::<Vec<_>>()
    };
    let plain = ["option1", "option2", "option3"];
    let form = json!({
        "mode": "form",
        "message": "Please choose.",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "untitledSingle": {"type": "string", "enum": plain},
                "titledSingle": {
                    "type": "string",
                    "oneOf": titled(["First Option", "Second Option", "Third Option"])
                },
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"]
                },
                "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
                "titledMulti": {
                    "type": "array",
                    "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}
                },
            },
        },
    });
    let form: ElicitRequestParams = serde_json::from_value(form).map_err(sent)?;
    let answer = context.peer.create_elicitation(form).await.map_err(sent)?;
    let answer = serde_json::to_string(&answer).map_err(sent)?;
    Ok(said(&format!("Elicitation completed: {answer}")))
}

/// The prompts.
pub mod prompts {
    use rmcp::ErrorData;
    use rmcp::model::{
        ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        InputRequiredResult, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
    };
    use serde_json::json;

    use crate::agents::DOT;

    /// All of them.
    pub fn all() -> Vec<Prompt> {
        let argument = |name: &str| PromptArgument::new(name).with_required(true);
        let prompt = |name: &str, about: &str, arguments: Vec<PromptArgument>| {
            Prompt::new(name, Some(about), Some(arguments))
        };
        vec![
            prompt("test_simple_prompt", "A sentence.", vec![]),
            prompt(
                "test_prompt_with_arguments",
                "A sentence with two arguments.",
                vec![argument("arg1"), argument("arg2")],
            ),
            prompt(
                "test_prompt_with_embedded_resource",
                "A file and what to do with it.",
                vec![argument("resourceUri")],
            ),
            prompt(
                "test_prompt_with_image",
                "An image and what to do with it.",
                vec![],
            ),
            prompt(
                "test_input_required_result_prompt",
                "A prompt that asks first.",
                vec![],
            ),
        ]
    }

    /// One of them.
    pub fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
        let argument = |name: &str| {
            let arguments = request.arguments.as_ref();
            let value = arguments.and_then(|arguments| arguments.get(name));
            let value = value.map(|value| match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string(),
            });
            value.unwrap_or_default()
        };
        let text = |text: &str| PromptMessage::new_text(Role::User, text);
        let messages = match &*request.name {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                vec![text(&format!(
                    "Prompt with arguments: arg1='{one}', arg2='{two}'"
                ))]
            }
            "test_prompt_with_embedded_resource" => {
                let resource = ResourceContents::text(
                    "Embedded resource content for testing.",
                    argument("resourceUri"),
                );
                vec![
                    PromptMessage::new(Role::User, ContentBlock::resource(resource)),
                    text("Please process the embedded resource above."),
                ]
            }
            "test_prompt_with_image" => vec![
                PromptMessage::new(Role::User, ContentBlock::image(DOT, "image/png")),
                text("Please analyze the image above."),
            ],
            "test_input_required_result_prompt" => {
                let responses = request.input_responses.as_ref();
                match responses.and_then(|responses| responses.get("user_context")) {
                    Some(given) => vec![text(&format!("In the context of {given}."))],
                    None => {
                        let requests = super::requests_of(json!({"user_context": {
                            "method": "elicitation/create",
                            "params": {
                                "mode": "form",
                                "message": "What context should the prompt use?",
                                "requestedSchema": {
                                    "type": "object",
                                    "properties": {"context": {"type": "string"}},
                                    "required": ["context"],
                                },
                            },
                        }}))?;
                        return Ok(InputRequiredResult::from_input_requests(requests).into());
                    }
                }
            }
            other => {
                let text = format!("Unknown prompt: {other}");
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        Ok(GetPromptResult::new(messages).into())
    }
}

/// The resources.
pub mod resources {
    use rmcp::ErrorData;
    use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
    use serde_json::json;

    use crate::agents::DOT;

    const TEXT: &str = "test://static-text";
    const BINARY: &str = "test://static-binary";
    const WATCHED: &str = "test://watched-resource";

    /// All of them.
    pub fn all() -> Vec<Resource> {
        let resource = |uri: &str, name: &str, mime: &str| {
            let described = format!("The {} of the suite.", name.to_lowercase());
            Resource::new(uri, name)
                .with_description(described)
                .with_mime_type(mime)
        };
        vec![
            resource(TEXT, "Text", "text/plain"),
            resource(BINARY, "Image", "image/png"),
            resource(WATCHED, "Watched text", "text/plain"),
        ]
    }

    /// The template.
    pub fn template() -> ResourceTemplate {
        ResourceTemplate::new("test://template/{id}/data", "Data")
            .with_description("Data by id.")
            .with_mime_type("application/json")
    }

    /// One of them.
    pub fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let by_id = uri.strip_prefix("test://template/");
        let by_id = by_id.and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, by_id) {
            (TEXT, _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
            }
            (WATCHED, _) => ResourceContents::text("It never changes.", uri),
            (BINARY, _) => ResourceContents::blob(DOT, uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
            }
            _ => {
                let data = json!({"uri": uri});
                return Err(ErrorData::resource_not_found(
                    "Resource not found",
                    Some(data),
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]))
    }
}
