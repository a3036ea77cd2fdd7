//! The page at `/`: who is logged in, and how to connect a client. And the way in and out.
//!
//! Everything on it that is not ours is escaped. It has no script.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;
use understory_engine::system::audit::Event;
use understory_model::{Caller, Code, Fault};
use understory_page::Query;

use super::hosts::one;
use super::login::{self, Login};
use super::state::AppState;
use super::{audit, reply, server, v1};
use crate::call::RequestName;
use crate::door;

/// The page's own style is all that it may load.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// As [`POLICY`], for the page that logs in by itself.
const GOES_ON: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; \
                       form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;\
                     padding:0 1rem;color:#223;background:#fdfdfb}code,pre{font:14px/1.5 \
                     ui-monospace,monospace;background:#f0f0ea;border-radius:4px}code{padding:\
                     .1em .3em}pre{padding:.8rem;white-space:pre-wrap}h1{font-weight:600}";

pub async fn home(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    match login::current(&app, &parts.headers).await {
        Ok(Some(login)) => {
            let base = app.hosts.base(&parts.headers);
            let caller = login.caller.clone();
            // Where another repository has the name already, the workspace is called otherwise.
            let found = app.read(move |engine| Ok(engine.workspace(&caller)?.name().to_owned()));
            let workspace = found
                .await
                .unwrap_or_else(|_| login.caller.workspace.clone());
            page(StatusCode::OK, &inside(&login, &workspace, &base))
        }
        Ok(None) => {
            // Where other machines can call, a visitor is not the person who started the server.
            if app.hosts.is_private()
                && let Some(code) = app.logins.another_link(Instant::now())
            {
                server::tell_link(&app.hosts, &code);
            }
            page(StatusCode::OK, &outside())
        }
        Err(fault) => reply::fault(&fault, &name),
    }
}

/// A link for a program of the person who started the server, which shows that it read the file that only
/// this person can read.
pub async fn another_link(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    let shown = one(&parts.headers, HeaderName::from_static(door::HEADER));
    let known = app.door.as_deref().zip(shown);
    if !known.is_some_and(|(key, shown)| is_same(key, shown)) {
        let fault = Fault::new(
            Code::Forbidden,
            "links are for the person who started the server",
        );
        return reply::fault(&fault, &name);
    }
    match app.logins.link(Instant::now()) {
        Ok(code) => reply::json(StatusCode::OK, &json!({ "link": format!("/login/{code}") })),
        Err(fault) => reply::fault(&fault, &name),
    }
}

/// Compares in a time that says nothing of where they differ.
fn is_same(key: &str, shown: &str) -> bool {
    let pairs = key.bytes().zip(shown.bytes());
    key.len() == shown.len() && pairs.fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
}

/// Asks whether to log in. Programs that check links open them too, and must not spend them; the script
/// goes on by itself, which only a browser does.
pub async fn ask_login(
    State(app): State<Arc<AppState>>,
    Path(code): Path<String>,
    request: Request,
) -> Response {
    if !app.logins.works(&code, Instant::now()) {
        return spent();
    }
    let to = Query::parse(request.uri().query().unwrap_or_default());
    let Some(to) = to.get("to") else {
        let text = "<h1>Understory</h1><p>This link logs you in here, once.</p>\
                    <form method=\"post\"><button>Log in</button></form>";
        return page(StatusCode::OK, text);
    };
    let text = format!(
        "<h1>Understory</h1><p>This link logs you in here, once.</p>\
         <form method=\"post\" action=\"?to={}\" data-go><button>Log in</button></form>\
         <script src=\"/assets/page.js\" defer></script>",
        understory_page::segment(to)
    );
    let mut answer = page(StatusCode::OK, &text);
    answer.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(GOES_ON),
    );
    answer
}

/// Trades a link's code for a cookie.
pub async fn login(
    State(app): State<Arc<AppState>>,
    Path(code): Path<String>,
    request: Request,
) -> Response {
    let Some(value) = app.logins.redeem(&code, Instant::now()) else {
        return spent();
    };
    audit::person(&app, app.logins.person(), Event::LoggedIn).await;
    let mut answer = moved(&app.logins.cookie.set(Some(&value)));
    let to = Query::parse(request.uri().query().unwrap_or_default());
    if let Some(to) = to.get("to") {
        let workspace = named(&app, app.logins.person()).await;
        let place = format!("/{}/{}", understory_page::segment(&workspace), place(to));
        if let Ok(place) = HeaderValue::from_str(&place) {
            answer.headers_mut().insert(header::LOCATION, place);
        }
    }
    answer
}

/// A page by its address below the workspace, or anything by its name.
fn place(to: &str) -> String {
    let segments = to
        .split('/')
        .filter(|part| !part.is_empty() && *part != "..");
    let segments: Vec<String> = segments.map(understory_page::segment).collect();
    match segments.as_slice() {
        [one] if !super::pages::is_page(one) => format!("go/{one}"),
        _ => segments.join("/"),
    }
}

/// What a person's workspace is called: where another repository has the name already, otherwise.
async fn named(app: &AppState, person: &Caller) -> String {
    let caller = person.clone();
    let found = app.read(move |engine| Ok(engine.workspace(&caller)?.name().to_owned()));
    found.await.unwrap_or_else(|_| person.workspace.clone())
}

/// For somebody who asks for a page and is not logged in.
pub fn stranger() -> Response {
    page(StatusCode::UNAUTHORIZED, &outside())
}

/// A refusal, for people.
pub fn trouble(fault: &Fault, request: &str) -> Response {
    let status = StatusCode::from_u16(fault.code.status());
    let hint = fault.hint.as_deref().unwrap_or_default();
    let text = format!(
        "<h1>That did not work</h1><p>{} {}</p><p>Its number is <code>{}</code>. Go back: what you wrote is kept.</p>",
        escaped(&fault.message),
        escaped(hint),
        escaped(request)
    );
    page(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &text)
}

fn spent() -> Response {
    let text = "<h1>This link does not work</h1><p>A link works once and for ten minutes. \
                <a href=\"/\">Get another</a>, or start the server again.</p>";
    page(StatusCode::NOT_FOUND, text)
}

pub async fn logout(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    // A form of this page sends its origin; without it, any page could have sent the form.
    if one(&parts.headers, header::ORIGIN).is_none() {
        let fault = Fault::new(Code::Forbidden, "logout requires an Origin header");
        return reply::fault(&fault, &name);
    }
    if let Some(login) = app.logins.find(&parts.headers) {
        match parts.uri.query() {
            Some("everywhere") => app.logins.end_all(),
            _ => app.logins.end(&parts.headers),
        }
        audit::person(&app, &login.caller, Event::LoggedOut).await;
    }
    moved(&app.logins.cookie.set(None))
}

/// What addresses answer that are only read.
pub async fn only_get(request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let RequestName(name) = v1::name_of(&parts.extensions);
    let allowed = match parts.uri.path() {
        "/logout" | door::PATH => "POST",
        path if path.starts_with("/login/") => "GET, POST",
        _ => "GET",
    };
    reply::wrong_method(allowed, &name)
}

fn moved(cookie: &str) -> Response {
    let mut answer = reply::text(StatusCode::SEE_OTHER, "text/plain", "");
    let headers = answer.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    answer
}

fn inside(login: &Login, workspace: &str, base: &str) -> String {
    let caller = &login.caller;
    let now = format!("/{}/now", understory_page::segment(workspace));
    let (agent, workspace) = (escaped(&caller.agent), escaped(workspace));
    let base = escaped(base);
    let csrf = escaped(&login.csrf);
    let session = escaped(&caller.session);
    format!(
        "<h1>Understory</h1><p>You are <b>{agent}</b> ({}) in the workspace \
         <b>{workspace}</b>. <a href=\"{now}\">What happens there now</a></p>\
         <h2>Connect a client</h2><p>Issue it a token where this server's store is:</p>\
         <pre>understory token issue --agent ada --workspace {workspace} --role worker \
         --session s1 --ttl 8h</pre>\
         <p>MCP is at <code>{base}/mcp</code>, every tool at <code>POST {base}/v1/&lt;tool&gt;\
         </code>; send the token as <code>Authorization: Bearer …</code>. The tools are described \
         in <a href=\"/v1/openapi.json\">openapi.json</a>.</p>\
         <p>A script on this page's address sends <code>X-CSRF-Token: {csrf}</code> with the \
         login's cookie.</p>\
         <form method=\"post\" action=\"/logout\"><button>Log out</button> \
         <button formaction=\"/logout?everywhere\">Log out everywhere</button></form>\
         <p>At a shell, <code>understory token revoke --session {session} --workspace \
         {workspace}</code> ends every login of this server too.</p>",
        caller.role
    )
}

fn outside() -> String {
    "<h1>Understory</h1><p>Nobody is logged in here. A link that logs you in is shown where the \
     server was started; it works once.</p>"
        .to_owned()
}

fn page(status: StatusCode, content: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>Understory</title>\
         <style>{STYLE}</style><body>{content}</body></html>\n"
    );
    let mut answer = reply::text(status, "text/html; charset=utf-8", page);
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    // Without any referrer a browser would not say either that a form is this page's.
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    );
    answer
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_breaks_out_of_the_page() {
        assert_eq!(
            super::escaped("<b a='x' c=\"y\">&"),
            "&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt;&amp;"
        );
    }
}
