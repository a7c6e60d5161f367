//! One session of the protocol: it lists tools and resources, and passes calls on.

use std::{
    borrow::Cow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
        ErrorCode, Implementation, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use tempfile::TempDir;

use super::{
    WorkspaceChoice, answer, arguments, explain, failure::CallError, files, names::ToolName,
    resources, run, schemas, shared::Shared,
};

/// The revisions of the protocol that are spoken, the newest last.
const REVISIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Requests that are known; with other parameters than these have, they are wrong and not unknown.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/templates/list",
];

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    shared: Arc<Shared>,
    /// The workspace of the session, made when it is first needed, gone with the session.
    own: Mutex<Option<TempDir>>,
}

impl Session {
    pub(super) fn new(shared: Arc<Shared>) -> Session {
        Session { shared, own: Mutex::new(None) }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The workspace that outlives a run, if there is one.
    pub(super) fn directory(&self) -> Result<Option<PathBuf>, CallError> {
        match &self.shared.options.workspace {
            WorkspaceChoice::Fresh => Ok(None),
            WorkspaceChoice::Directory(directory) => Ok(Some(directory.clone())),
            WorkspaceChoice::Session => {
                let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
                let place = match &mut *own {
                    Some(place) => place,
                    none => none.insert(self.shared.private.directory()?),
                };
                Ok(Some(place.path().to_owned()))
            }
        }
    }

    async fn call(
        &self,
        tool: ToolName,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, CallError> {
        let given = request.arguments;
        match tool {
            ToolName::CodeRun => run::code(self, arguments::read(given)?, context).await,
            ToolName::ShellRun => run::shell(self, arguments::read(given)?, context).await,
            ToolName::FilesRead => files::read(self, arguments::read(given)?),
            ToolName::FilesWrite => files::write(self, arguments::read(given)?),
            ToolName::FilesList => files::list(self, arguments::read(given)?),
            ToolName::PolicyExplain => explain::explain(self, arguments::read(given)?),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let names = self.shared.options.names;
        ToolName::ALL.into_iter().map(|tool| schemas::tool(tool, names)).collect()
    }
}

const INSTRUCTIONS: &str = "Runs code and commands that nobody has to trust, each in a box of its own. \
sandboxed_code.run takes source code in a named language; sandboxed_shell.run takes a command. \
The working directory is /workspace. PNG files written to /artifacts come back as pictures. \
There is no network unless the policy gives one. When something is refused, the answer says why \
and what to do next.";

/// The refusal of a request that is not known, or is known and looks otherwise.
pub(super) fn not_understood(method: &str) -> ErrorData {
    match METHODS.contains(&method) {
        true => ErrorData::invalid_params(
            format!("the parameters of `{method}` are not as the protocol wants them"),
            None,
        ),
        false => ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("the method `{method}` is not known here"),
            None,
        ),
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let mut info = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info.server_info = Implementation::new("fumehood", env!("CARGO_PKG_VERSION"));
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolName::find(name).map(|tool| schemas::tool(tool, self.shared.options.names))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::find(&request.name) else {
            let known = self.tools().iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
            let name: String = request.name.chars().take(100).collect();
            let message = format!("there is no tool `{name}`; the tools are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let result = self.call(tool, request, &context).await;
        Ok(result.unwrap_or_else(|error| answer::of_failure(&error)).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.shared)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.shared, &request.uri).map(Into::into)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(not_understood(&request.method))
    }
}
