//! A server whose tools do what the tests want to see.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

/// What one process or one HTTP server does and remembers.
#[derive(Clone, Default)]
pub struct Server {
    calls: Arc<AtomicU32>,
    grown: Arc<AtomicBool>,
}

fn tool(name: &'static str, schema: Value) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, format!("Does {name}."), schema)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let none = json!({"type": "object", "properties": {}});
        if request.and_then(|page| page.cursor).is_none() {
            let echo = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
            let mut page = ListToolsResult::with_all_items(vec![
                tool("echo", echo).with_annotations(ToolAnnotations::new().read_only(true)),
                tool("count", none),
            ]);
            page.next_cursor = Some("more".to_owned());
            return Ok(page);
        }
        let mut names = vec![
            "picture",
            "refuse",
            "wait",
            "variables",
            "headers",
            "grow",
            "die",
        ];
        if self.grown.load(Ordering::SeqCst) {
            names.push("grown");
        }
        let tools = names.into_iter().map(|name| tool(name, none.clone()));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let answer = match &*request.name {
            "echo" => {
                let arguments = request.arguments.unwrap_or_default();
                said(
                    arguments
                        .get("text")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                )
            }
            "count" => said((self.calls.fetch_add(1, Ordering::SeqCst) + 1).to_string()),
            "picture" => {
                CallToolResult::success(vec![ContentBlock::image("aGVsbG8=", "image/png")])
            }
            "refuse" => CallToolResult::error(vec![ContentBlock::text("Not today.")]),
            "wait" => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                said(String::new())
            }
            "variables" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                said(names.join(" "))
            }
            "headers" => {
                let parts = context.extensions.get::<axum::http::request::Parts>();
                let key = parts.and_then(|parts| parts.headers.get("authorization"));
                let key = key.and_then(|key| key.to_str().ok());
                said(key.unwrap_or("none").to_owned())
            }
            "grow" => {
                self.grown.store(true, Ordering::SeqCst);
                let _ = context.peer.notify_tool_list_changed().await;
                said("There is one more.".to_owned())
            }
            "die" => std::process::exit(7),
            other => {
                return Err(ErrorData::invalid_params(
                    format!("There is no {other}."),
                    None,
                ));
            }
        };
        Ok(answer.into())
    }
}
