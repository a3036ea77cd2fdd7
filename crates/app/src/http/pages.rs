//! The pages of a workspace, what is done on them, and the stream that keeps them alive.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::system::audit::may_read;
use understory_model::{Code, Fault, Seq};
use understory_page::acts::{act, told};
use understory_page::{Found, Login, Page, Query, Visit};

use super::auth::{self, Who};
use super::hosts::one;
use super::state::AppState;
use super::{care, connections, health, page, reply, streams, v1};
use crate::call::{Asked, RequestName, find};

/// All that a page may load is the server's own.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HTML: &str = "text/html; charset=utf-8";
/// What stands first below a workspace; everything else is nothing of ours.
const PAGES: &[&str] = &[
    "now",
    "timeline",
    "work",
    "records",
    "reasoning",
    "conversations",
    "threads",
    "artifacts",
    "agents",
    "proof",
    "more",
    "search",
    "palette",
    "complete",
    "preview",
    "why",
    "go",
    "events",
    "do",
];
/// How often a quiet stream shows that it is there.
const ALIVE: Duration = Duration::from_secs(20);

/// The stylesheets, the scripts and the icons.
pub async fn asset(Path(file): Path<String>, request: Request) -> Response {
    match understory_page::asset(&file) {
        Some((kind, text)) => reply::text(StatusCode::OK, kind, text),
        None => health::nothing(request).await,
    }
}

/// Whether pages stand below a name.
pub fn is_page(name: &str) -> bool {
    PAGES.contains(&name)
}

/// `/<workspace>/<page>`.
pub async fn serve(
    State(app): State<Arc<AppState>>,
    Path((workspace, path)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (path, suffix) = match path.strip_suffix(".json") {
        Some(path) => (path.to_owned(), true),
        None => (path, false),
    };
    let first = path.split('/').next().unwrap_or_default();
    if !is_page(first) {
        return health::nothing(request).await;
    }
    let (parts, body) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    let data = suffix || wants_data(&parts.headers);
    let (who, csrf) = match auth::by_login(&app, &parts.headers).await {
        Ok(found) => found,
        Err(fault) if data || fault.code != Code::Unauthorized => {
            return reply::fault(&fault, &name);
        }
        Err(_) => return page::stranger(),
    };
    connections::recognised(&parts.extensions, &who.caller);
    let visitor = Visitor {
        app,
        who,
        csrf,
        workspace,
        name,
        data,
        query: Query::parse(parts.uri.query().unwrap_or_default()),
    };
    match (first, parts.method == Method::POST) {
        ("do", true) => visitor.act(&path, &parts.headers, body).await,
        ("do", false) => reply::wrong_method("POST", &visitor.name),
        (_, true) => reply::wrong_method("GET", &visitor.name),
        ("events", false) => visitor.events(),
        ("proof", false) if path == "proof/checkpoint" => visitor.checkpoint().await,
        (_, false) => visitor.show(path).await,
    }
}

fn wants_data(headers: &HeaderMap) -> bool {
    one(headers, header::ACCEPT).is_some_and(|kinds| kinds.starts_with("application/json"))
}

/// A person who asks for an address below a workspace.
struct Visitor {
    app: Arc<AppState>,
    who: Who,
    csrf: String,
    workspace: String,
    name: String,
    /// Whether the answer is to be data.
    data: bool,
    query: Query,
}

impl Visitor {
    async fn show(self, path: String) -> Response {
        let _sign = self.app.signs.enter(&self.who.caller);
        let (store, caller) = (Arc::clone(&self.app.store), self.who.caller.clone());
        let (workspace, csrf, request) =
            (self.workspace.clone(), self.csrf.clone(), self.name.clone());
        let query = self.query.clone();
        let care = Arc::clone(&self.app.care);
        let found = tokio::task::spawn_blocking(move || {
            let engine = store.get()?;
            if engine.workspace(&caller)?.name() != workspace {
                return Err(Fault::not_found(
                    "you are not logged in to a workspace of this name",
                ));
            }
            let context = understory_tools::Context {
                engine: &engine,
                caller: &caller,
                request_id: &request,
            };
            let looks_after = path == "proof" && may_read(caller.role);
            let care = care.shown(&engine, &caller, (&workspace, looks_after));
            let login = Login {
                workspace: &workspace,
                csrf: &csrf,
                care: &care,
            };
            let visit = Visit::new(context, login, System.now(), query);
            let path: Vec<&str> = path.split('/').collect();
            understory_page::page(&visit, &path)
        });
        let found = found
            .await
            .unwrap_or_else(|_| Err(Fault::new(Code::Internal, "internal error: a page failed")));
        match found {
            Ok(Found::Page(page)) => self.page(page),
            Ok(Found::Moved(place)) => self.moved(&place),
            Err(fault) if self.data => reply::fault(&fault, &self.name),
            Err(fault) => page::trouble(&fault, &self.name),
        }
    }

    fn page(&self, page: Page) -> Response {
        let status = match page.missing {
            true => StatusCode::NOT_FOUND,
            false => StatusCode::OK,
        };
        if self.data {
            return reply::json(status, &page.json);
        }
        let mut answer = reply::text(status, HTML, page.html);
        let headers = answer.headers_mut();
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(POLICY),
        );
        headers.insert(
            header::REFERRER_POLICY,
            HeaderValue::from_static("same-origin"),
        );
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
        answer
    }

    /// To another address of the workspace.
    fn moved(&self, place: &str) -> Response {
        let mut answer = reply::text(StatusCode::SEE_OTHER, "text/plain", "");
        let place = format!(
            "/{}/{}",
            understory_page::segment(&self.workspace),
            place.trim_start_matches('/')
        );
        if let Ok(place) = HeaderValue::from_str(&place) {
            answer.headers_mut().insert(header::LOCATION, place);
        }
        answer
    }

    /// Does what a form asks for.
    async fn act(self, path: &str, headers: &HeaderMap, body: Body) -> Response {
        let received = match v1::body_of(
            &self.app,
            &self.who.caller,
            headers,
            body,
            (v1::FORM, &self.name),
        )
        .await
        {
            Ok(received) => received,
            Err(answer) => return *answer,
        };
        let form = Query::parse(&String::from_utf8_lossy(&received.bytes));
        if form.get("csrf") != Some(self.csrf.as_str()) {
            let fault = Fault::new(Code::Forbidden, "the form is not from this login")
                .hint("Load the page again.");
            return self.refused(&fault);
        }
        let name = path.strip_prefix("do/").unwrap_or_default();
        if let "verify" | "checkpoint" = name {
            return self.care_for(name, &form).await;
        }
        let act = match act(name, &self.workspace, &form) {
            Ok(act) => act,
            Err(fault) => return self.refused(&fault),
        };
        let mut answers: Vec<Value> = Vec::with_capacity(act.calls.len());
        for call in &act.calls {
            let asked = match find(call.tool) {
                Ok(tool) => Asked::Tool(tool, call.arguments.clone()),
                Err(fault) => return self.refused(&fault),
            };
            let held = Some(Arc::clone(&received.share));
            match v1::answer(&self.app, &self.who, asked, held, &self.name).await {
                Ok(answer) => {
                    let answer: Value = answer.read().unwrap_or_default();
                    if let Some(fault) = act.refused(Ok(&answer)) {
                        return self.refused(&fault);
                    }
                    answers.push(answer);
                }
                Err(fault) => {
                    let said = act.refused(Err(&fault)).unwrap_or(fault);
                    return self.refused(&said);
                }
            }
        }
        let undo = act.undo(&answers);
        match self.data {
            true => reply::json(StatusCode::OK, &json!({ "said": act.said, "undo": undo })),
            false => self.moved(form.get("back").unwrap_or("now")),
        }
    }

    /// Proves the log, or signs what it is: no tool does, because agents have no use for it.
    async fn care_for(self, name: &str, form: &Query) -> Response {
        let (care, caller) = (Arc::clone(&self.app.care), self.who.caller.clone());
        let pasted = form.get("checkpoint").map(str::to_owned);
        let (store, signs) = (Arc::clone(&self.app.store), name == "checkpoint");
        let done = tokio::task::spawn_blocking(move || {
            let engine = store.get()?;
            if signs {
                care::may_sign(caller.role)?;
                let seq = care.sign(&engine, &caller)?;
                return Ok(format!(
                    "Signed what the log is up to #{seq}. Download it, and keep it elsewhere."
                ));
            }
            care::may_prove(caller.role)?;
            care.prove(engine, &caller, pasted.as_deref())?;
            Ok("The log is being proved.".to_owned())
        });
        let failed = |_| Err(Fault::new(Code::Internal, "internal error: a proof failed"));
        match done.await.unwrap_or_else(failed) {
            Ok(said) if self.data => {
                reply::json(StatusCode::OK, &json!({ "said": said, "undo": null }))
            }
            Ok(_) => self.moved(form.get("back").unwrap_or("proof")),
            Err(fault) => self.refused(&fault),
        }
    }

    /// A checkpoint that was signed here, as a file.
    async fn checkpoint(self) -> Response {
        let caller = self.who.caller.clone();
        let seq = self.query.get("seq").and_then(|seq| seq.parse().ok());
        let (care, workspace) = (Arc::clone(&self.app.care), self.workspace.clone());
        let found = self.app.read(move |engine| {
            care::may_prove(caller.role)?;
            let own = engine.workspace(&caller)?.name() == workspace;
            let found = seq
                .filter(|_| own)
                .and_then(|seq| care.checkpoint(&workspace, seq));
            found.ok_or_else(|| {
                Fault::not_found("this server has signed no such checkpoint since it began")
            })
        });
        match found.await {
            Err(fault) => self.refused(&fault),
            Ok(text) => {
                let mut answer = reply::text(StatusCode::OK, "application/json", text);
                let headers = answer.headers_mut();
                let named = HeaderValue::from_static("attachment; filename=\"log.checkpoint\"");
                headers.insert(header::CONTENT_DISPOSITION, named);
                answer
            }
        }
    }

    fn refused(&self, fault: &Fault) -> Response {
        let fault = &told(fault.clone(), System.now());
        match self.data {
            true => reply::fault(fault, &self.name),
            // Without the script the browser is sent to what a person should look at first.
            false => match fault
                .details
                .as_ref()
                .and_then(|said| said["place"].as_str())
            {
                Some(place) => self.moved(place),
                None => page::trouble(fault, &self.name),
            },
        }
    }

    /// Tells of each change of the log by its number, the last one at once: who connects again has missed
    /// nothing, because the page is made anew from the store.
    fn events(self) -> Response {
        let place = match self.app.streams.enter(&self.who.caller) {
            Ok(place) => place,
            Err(fault) => return reply::fault(&fault, &self.name),
        };
        let sign = self.app.signs.enter(&self.who.caller);
        let mut head = self.app.calls.heads(&self.who.caller).follow();
        let mut proofs = self.app.care.changes();
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            loop {
                let (seq, proof) = (*head.borrow_and_update(), *proofs.borrow_and_update());
                if seq >= Seq::ZERO {
                    let event =
                        format!("id: {seq}\ndata: {{\"head\":{seq},\"proof\":{proof}}}\n\n");
                    if sender.send(Bytes::from(event)).await.is_err() {
                        return;
                    }
                }
                tokio::select! {
                    changed = head.changed() => if changed.is_err() { return },
                    changed = proofs.changed() => if changed.is_err() { return },
                    () = tokio::time::sleep(ALIVE) => {
                        if sender.send(Bytes::from_static(b": alive\n\n")).await.is_err() { return }
                    }
                    () = sender.closed() => return,
                }
            }
        });
        let mut answer = Response::new(Body::new(Events(receiver)));
        let headers = answer.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        );
        streams::bounded(answer, Some(place), sign, self.app, self.who)
    }
}

/// The body of a stream of events.
struct Events(mpsc::Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
