//! What the suite asks for and Easel has no use for: prompts, resources, completions, subscriptions, and tools that ask the
//! client's model. It stands around Easel's own server and hands on what that one knows.

use std::borrow::Cow;
use std::sync::Arc;

use easel_server::mcp::McpServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    PromptListChangedNotification, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, ServerNotification,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    ToolListChangedNotification, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::broadcast;

use crate::agents::Fixture;
use crate::extras::{self, prompts, resources};

/// Says when a list changed.
#[derive(Clone)]
pub struct Lists {
    changed: broadcast::Sender<Changed>,
}

/// The list that changed.
#[derive(Clone, Copy)]
pub enum Changed {
    Tools,
    Prompts,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists {
            changed: broadcast::channel(16).0,
        }
    }
}

impl Lists {
    /// Tells whoever listens.
    pub fn tell(&self, changed: Changed) {
        // Nobody may be listening.
        let _ = self.changed.send(changed);
    }
}

/// Easel's server with everything else around it.
pub struct Everything {
    inner: McpServer<Fixture>,
    lists: Lists,
}

impl Everything {
    /// Stands around a server.
    pub fn new(inner: McpServer<Fixture>, lists: Lists) -> Everything {
        Everything { inner, lists }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.inner.get_info();
        info.capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        extras::tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.inner.list_tools(request, context).await?;
        listed.tools.extend(extras::tools());
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match extras::call(&request, &context, &self.lists).await {
            Some(response) => response,
            None => self.inner.call_tool(request, context).await,
        }
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.inner.on_cancelled(notification, context).await;
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.inner.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.cancel_task(request, context).await
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"].map(str::to_owned).to_vec();
        let completion = CompletionInfo::new(values);
        let completion = completion.map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match extras::is_modern(&context) {
            true => Err(ErrorData::method_not_found::<
                rmcp::model::SetLevelRequestMethod,
            >()),
            false => Ok(()),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            resources::template(),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri).map(Into::into)
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.lists.changed.subscribe();
        loop {
            let changed = tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = changes.recv() => changed,
            };
            let Ok(changed) = changed else {
                return Ok(());
            };
            let notification: ServerNotification = match changed {
                Changed::Tools => ToolListChangedNotification::default().into(),
                Changed::Prompts => PromptListChangedNotification::default().into(),
            };
            // What was not asked for is not sent.
            let _ = context.sink().send(notification).await;
        }
    }
}

/// A response of one of the tools beside Easel's.
pub type Response = Option<Result<CallToolResponse, ErrorData>>;

/// A schema, from JSON that is an object.
pub fn schema(json: serde_json::Value) -> Arc<rmcp::model::JsonObject> {
    Arc::new(json.as_object().cloned().unwrap_or_default())
}
