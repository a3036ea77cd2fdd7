//! Answers one client's requests, in every revision of the protocol that clients speak.
//!
//! It knows requests and answers, not what tools do: a tool is found in the registry and run by
//! `call`. What this client watches is the only state it keeps.

mod looking;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CompleteRequestParams,
    CompleteResult, ConstString, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    Extensions, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, RequestId, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;
use understory_model::answer::Written;
use understory_model::{Caller, Fault};
use understory_page::BOARD;
use understory_tools::sets::{self, ToolSet};
use understory_tools::{Access, registry};

use self::looking::Looked;
use super::handles::{self, Asker};
use super::listing;
use super::named::Named;
use super::notices;
use super::reply::{Writer, reply};
use super::watched::{Eyes, Watched};
use super::{board, prompts, resources};
use crate::call::heads::Heads;
use crate::call::{self, Asked, Call, Calls, RequestName, Transport};
use crate::chats::{Chats, From};
use crate::client;
use crate::identity::Identity;
use crate::ids::Requests;
use crate::store::Store;

pub type Context = RequestContext<RoleServer>;

/// How often a client that asked for it is told that its call goes on.
const PROGRESS: Duration = Duration::from_secs(1);

/// How long a question about names waits for the store.
const OPENING: Duration = Duration::from_secs(2);

/// How long the first answer waits for it: a client must not take a slow store for a server that
/// does not start.
const AT_ONCE: Duration = Duration::from_millis(300);

/// One client's connection.
pub struct Handler {
    identity: Identity,
    /// The chats of this process; none where each request has a token that says who calls.
    chats: Option<Arc<Chats>>,
    store: Arc<Store>,
    calls: Arc<Calls>,
    heads: Arc<Heads>,
    requests: Arc<Requests>,
    set: ToolSet,
    /// What it watches, if it speaks a revision before 2026-07-28.
    watched: Arc<Watched>,
    telling: AtomicBool,
    /// What was looked at for a subscription that is about to begin.
    looked: Mutex<HashMap<RequestId, Looked>>,
    name: Named,
    transport: Find,
    /// Becomes true when the client's input has ended.
    end: watch::Receiver<bool>,
}

/// Finds what the transport of a request has put beside it.
pub type Find = fn(&Extensions) -> Transport;

/// What handlers may have in common: those of one process the store and the calls, those of one
/// workspace its head.
#[derive(Clone)]
pub struct Shared {
    pub store: Arc<Store>,
    pub calls: Arc<Calls>,
    pub heads: Arc<Heads>,
    /// The tools that are listed.
    pub set: ToolSet,
    pub requests: Arc<Requests>,
    pub transport: Find,
}

impl Handler {
    pub fn new(
        identity: Identity,
        store: Arc<Store>,
        set: ToolSet,
        end: watch::Receiver<bool>,
    ) -> Handler {
        let calls = Arc::new(Calls::new(Arc::clone(&store), end.clone()));
        let chats = Chats::new(identity.clone(), Arc::clone(&store));
        let shared = Shared {
            heads: calls.heads(&identity.caller(None)),
            calls,
            set,
            requests: Arc::default(),
            transport: |_| Transport::default(),
            store,
        };
        Handler {
            chats: Some(chats),
            ..Handler::sharing(identity, shared, end)
        }
    }

    /// The chats that this serves.
    pub fn chats(&self) -> Option<Arc<Chats>> {
        self.chats.clone()
    }

    /// Over the standard streams, answers go through our own transport.
    fn writer(&self) -> Writer {
        match self.chats {
            Some(_) => Writer::Copies,
            None => Writer::Sdk,
        }
    }

    /// One of several.
    pub fn sharing(identity: Identity, shared: Shared, end: watch::Receiver<bool>) -> Handler {
        Handler {
            heads: shared.heads,
            calls: shared.calls,
            identity,
            chats: None,
            store: shared.store,
            requests: shared.requests,
            set: shared.set,
            transport: shared.transport,
            watched: Arc::new(Watched::default()),
            telling: AtomicBool::new(false),
            looked: Mutex::default(),
            name: Named::default(),
            end,
        }
    }

    fn from(context: &Context, writes: bool) -> From {
        From {
            client: context.client_info().map(|client| client.name),
            session: client::session_of_call(&context.meta),
            writes,
        }
    }

    /// Lets a chat that is known by its client's word arrive before its first call, beside the
    /// messages: others see it as soon as it is there.
    fn arrive_early(&self, context: &Context) {
        if let Some(chats) = self.chats.clone().filter(|_| self.identity.names_session()) {
            let from = Handler::from(context, false);
            tokio::task::spawn_blocking(move || chats.caller(&from));
        }
    }

    /// Who makes a request; `writes` if that may make what is not there yet.
    async fn caller(&self, context: &Context, writes: bool) -> Caller {
        let from = Handler::from(context, writes);
        let Some(chats) = &self.chats else {
            return self.identity.caller(from.client.as_deref());
        };
        if let Some(caller) = chats.known(&from) {
            return caller;
        }
        // The store may not be open yet, and the messages must not wait for it.
        let (chats, asked) = (Arc::clone(chats), from.clone());
        let found = tokio::task::spawn_blocking(move || chats.caller(&asked)).await;
        found.unwrap_or_else(|_| self.identity.caller(from.client.as_deref()))
    }

    /// The name of a request: its transport's, else the next of our own.
    fn request(&self, context: &Context) -> String {
        let named = (self.transport)(&context.extensions).name;
        named.map_or_else(|| self.requests.next(), |RequestName(name)| name)
    }

    async fn eyes(&self, context: &Context) -> Eyes {
        self.eyes_of(self.caller(context, false).await).await
    }

    /// Asks the store what exists, as the client that sent a request.
    async fn asker(&self, context: &Context) -> Asker {
        Asker {
            calls: Arc::clone(&self.calls),
            caller: self.caller(context, false).await,
            request: self.request(context),
            workspace: self.workspace().await,
        }
    }

    async fn eyes_of(&self, caller: Caller) -> Eyes {
        Eyes {
            calls: Arc::clone(&self.calls),
            caller,
            workspace: self.workspace().await,
        }
    }

    /// The workspace's real name: another repository may have had the wanted one first. While the
    /// store cannot say, the wanted one.
    async fn workspace(&self) -> String {
        let caller = self.identity.caller(None);
        self.name.ask(&self.store, caller, OPENING).await;
        self.workspace_now()
    }

    /// Asks for the name before a client is told where it is, if the store says it at once.
    async fn name_at_once(&self) {
        let caller = self.identity.caller(None);
        self.name.ask(&self.store, caller, AT_ONCE).await;
    }

    /// The name as far as it is known without asking.
    fn workspace_now(&self) -> String {
        let known = self.name.now();
        known.unwrap_or_else(|| self.identity.workspace().to_owned())
    }

    async fn call(
        &self,
        params: CallToolRequestParams,
        request: &str,
        context: &Context,
    ) -> Result<Written, Fault> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let tool = call::find(&params.name)?;
        if tool.name == sets::TOOLSET.name {
            return sets::answer(registry::checked(tool, arguments)?);
        }
        let work = async {
            let call = Call {
                asked: Asked::Tool(tool, arguments),
                caller: self.caller(context, tool.access != Access::Read).await,
                request: request.to_owned(),
                patience: call::patience(
                    context.client_info().map(|client| client.name).as_deref(),
                    context.meta.get_progress_token().is_some(),
                ),
                held: (self.transport)(&context.extensions).held,
            };
            self.calls.run(call, context.ct.clone()).await
        };
        self.with_progress(work, context).await
    }

    /// Does something; a client that gave a token is told each second that it goes on.
    async fn with_progress(
        &self,
        work: impl Future<Output = Result<Written, Fault>>,
        context: &Context,
    ) -> Result<Written, Fault> {
        let Some(token) = context.meta.get_progress_token() else {
            return work.await;
        };
        let mut work = std::pin::pin!(work);
        let mut passed = 0.0;
        loop {
            if let Ok(answer) = tokio::time::timeout(PROGRESS, &mut work).await {
                return answer;
            }
            passed += PROGRESS.as_secs_f64();
            let opening = self.store.ready().is_none();
            let message = if opening {
                "waiting for the store"
            } else {
                "still at work"
            };
            let notice = ProgressNotificationParam::new(token.clone(), passed);
            let _ = context
                .peer
                .notify_progress(notice.with_message(message))
                .await;
        }
    }

    /// The board, as the caller sees it.
    async fn board(&self, request: &str, context: &Context) -> Result<Written, Fault> {
        let call = Call {
            asked: Asked::Board,
            caller: self.caller(context, false).await,
            request: request.to_owned(),
            patience: call::patience(None, false),
            held: None,
        };
        self.with_progress(self.calls.run(call, context.ct.clone()), context)
            .await
    }

    async fn read(&self, uri: &str, request: &str, context: &Context) -> Result<Written, Fault> {
        let found = resources::find(uri, &self.workspace().await)?;
        let caller = self.caller(context, false).await;
        let call = found.call(caller, request.to_owned())?;
        self.with_progress(self.calls.run(call, context.ct.clone()), context)
            .await
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let project = self.identity.project();
        listing::server(&self.workspace_now(), project, self.name.clash().as_ref())
    }

    async fn initialize(
        &self,
        params: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.name_at_once().await;
        context.peer.set_peer_info(params.clone());
        self.negotiate_initialize(&params)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        self.name_at_once().await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.arrive_early(&context);
        let mut list = listing::list(&self.set, keeps_lists(&context));
        if board::is_shown(&context) {
            board::link(&mut list);
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let request = self.request(&context);
        let answer = self.call(params, &request, &context).await;
        Ok(reply(answer, &request, self.writer()).into())
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = params.and_then(|params| params.cursor);
        let asker = self.asker(&context).await;
        let mut listed = handles::list(&asker, cursor.as_deref()).await;
        if let Ok(list) = &mut listed
            && cursor.is_none()
            && board::is_shown(&context)
        {
            list.resources.push(board::resource());
        }
        listed.map_err(|fault| prompts::error(&fault, &self.request(&context)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::templates(&self.workspace().await);
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let request = self.request(&context);
        if params.uri == BOARD {
            let answer = self.board(&request, &context).await;
            return board::reply(answer, &request).map(Into::into);
        }
        let answer = self.read(&params.uri, &request, &context).await;
        resources::reply(answer, &params.uri, &request).map(Into::into)
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let eyes = self.eyes(&context).await;
        let following = self.heads.watch();
        self.watched
            .add(&params.uri, &eyes)
            .await
            .map_err(|fault| resources::error(&fault, &params.uri, &self.request(&context)))?;
        if !self.telling.swap(true, Ordering::Relaxed) {
            let (watched, end) = (Arc::clone(&self.watched), self.end.clone());
            tokio::spawn(notices::tell(watched, following, eyes, context.peer, end));
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.watched.remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(self.accepted(asked))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tell_changes(&context).await;
        Ok(())
    }

    /// A request that is not as the protocol has it. A call of a tool is answered as a call, so
    /// that the agent who made it can read what is wrong.
    async fn on_custom_request(
        &self,
        custom: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        let wrong = format!(
            "the parameters of {} are not as they should be",
            custom.method
        );
        if custom.method == CallToolRequestMethod::VALUE {
            let fault =
                Fault::invalid("params", "takes `name`, a text, and `arguments`, an object");
            let mut result = reply(Err(fault), &self.request(&context), Writer::Sdk);
            if context
                .protocol_version()
                .is_none_or(|version| version.has_initialize())
            {
                result.result_type = None;
            }
            return Ok(CustomResult::new(
                serde_json::to_value(result).unwrap_or_default(),
            ));
        }
        let before = context
            .protocol_version()
            .is_none_or(|version| version.has_initialize());
        let gone = !before && GONE_METHODS.contains(&custom.method.as_str());
        if !gone && KNOWN_METHODS.contains(&custom.method.as_str()) {
            return Err(ErrorData::invalid_params(wrong, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            custom.method,
            None,
        ))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(prompts::list());
        Ok(if keeps_lists(&context) {
            list.with_ttl_ms(listing::FRESH_MS)
        } else {
            list
        })
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        match prompts::get(&params.name, &arguments) {
            Ok(prompt) => Ok(prompt.into()),
            Err(fault) => Err(prompts::error(&fault, &self.request(&context))),
        }
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let asker = self.asker(&context).await;
        let completed = handles::complete(&asker, &params).await;
        completed.map_err(|fault| prompts::error(&fault, &self.request(&context)))
    }
}

/// Whether a client speaks a revision in which lists say how long they stay true.
fn keeps_lists(context: &Context) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| !version.has_initialize())
}

/// Methods that 2026-07-28 has no more.
const GONE_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// Methods that are answered; with other parameters than theirs they arrive as unknown ones.
const KNOWN_METHODS: [&str; 12] = [
    "initialize",
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
