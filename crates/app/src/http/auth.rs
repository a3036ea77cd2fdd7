//! Who is calling: the verified token of this very request, or a person's login.
//!
//! A token is taken from the `Authorization` header and from nowhere else: an address is kept in
//! histories and logs. What a payload says of its sender is never looked at here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use tokio::sync::watch;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::kernel::revoked::Issued;
use understory_engine::system::audit::Reason;
use understory_model::{Caller, Code, Fault, Seq, limits};

use super::hosts::one;
use super::login::{self, Login};
use super::state::AppState;
use super::{audit, reply, revoked};
use crate::log;
use crate::token::verify::{Judged, Refusal, Still, Verified, refused};

/// How often the store is asked about the token of a call or a stream that goes on, if anything was
/// committed meanwhile.
const LOOK: Duration = Duration::from_secs(2);
/// How often it is looked at whether its key was retired.
const GLANCE: Duration = Duration::from_millis(500);
/// The store is asked again about a token that was judged this long ago before an answer is given
/// to it; its key is looked at in any case.
const RECENT: Duration = Duration::from_millis(100);

/// Somebody who was recognised.
#[derive(Clone)]
pub struct Who {
    pub caller: Caller,
    proof: Proof,
}

/// What proved who is calling. Both can be taken back while a call or a stream goes on.
#[derive(Clone)]
enum Proof {
    Token(Verified),
    Login(Login),
}

impl Proof {
    /// Whether a token has run out, or a login has run out or was ended.
    fn has_expired(&self, app: &AppState) -> bool {
        match self {
            Proof::Token(token) => seconds() >= token.expires + limits::TOKEN_LEEWAY_SECONDS,
            Proof::Login(login) => !app.logins.is_open(login),
        }
    }

    fn expired(&self) -> &'static str {
        match self {
            Proof::Token(_) => "the token has expired",
            Proof::Login(_) => "the login has ended",
        }
    }

    fn revoked(&self) -> &'static str {
        match self {
            Proof::Token(_) => "the token was revoked",
            Proof::Login(_) => "the login was revoked",
        }
    }

    /// Whether it was revoked; up to a moment ago, where that is asked `lately`.
    async fn is_revoked(&self, app: &AppState, asked: Asked) -> Result<bool, Fault> {
        let token = match self {
            Proof::Token(token) => token,
            Proof::Login(login) => return login::is_revoked(app, login).await,
        };
        if asked == Asked::Lately {
            let issued = Issued {
                jti: &token.jti,
                session: &token.caller.session,
                at: token.issued_at(),
            };
            return revoked::is_revoked(app, &token.caller, issued).await;
        }
        let token = token.clone();
        let read = app.read(move |engine| {
            let issued = Issued {
                jti: &token.jti,
                session: &token.caller.session,
                at: token.issued_at(),
            };
            engine.is_revoked(&token.caller, issued)
        });
        read.await
    }
}

/// Recognises a caller by its token.
pub async fn by_token(app: &Arc<AppState>, headers: &HeaderMap) -> Result<Who, Fault> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(missing());
    }
    let token = one(headers, AUTHORIZATION)
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    let Some(token) = token else {
        return Err(refused("the Authorization header carries no bearer token"));
    };
    let verified = verify(app, token).await?;
    let who = Who {
        caller: verified.caller.clone(),
        proof: Proof::Token(verified),
    };
    if let Err(lost) = again(app, &who, Asked::Now).await {
        if let (Lost::Refused(reason, _), Proof::Token(token)) = (&lost, &who.proof) {
            app.metrics.refused(reason.as_str());
            let workspace = Some(who.caller.workspace.clone());
            audit::refused(app, *reason, workspace, token.about());
        }
        return Err(lost.into());
    }
    app.rates.take(&who.caller, Instant::now())?;
    Ok(who)
}

/// Recognises a caller by its token or, where there is none, a person by the login's cookie. A
/// browser sends the cookie by itself, so what is asked must also have the login's other half.
pub async fn by_token_or_login(app: &Arc<AppState>, headers: &HeaderMap) -> Result<Who, Fault> {
    if headers.contains_key(AUTHORIZATION) {
        return by_token(app, headers).await;
    }
    let Some(login) = login::current(app, headers).await? else {
        return Err(missing());
    };
    if one(headers, login::CSRF_HEADER) != Some(login.csrf.as_str()) {
        return Err(Fault::new(
            Code::Forbidden,
            "a call with a login's cookie needs its token in X-CSRF-Token",
        )
        .hint("The page at / has it; programs send a bearer token instead."));
    }
    app.rates.take(&login.caller, Instant::now())?;
    Ok(Who {
        caller: login.caller.clone(),
        proof: Proof::Login(login),
    })
}

/// Recognises a person by the login's cookie alone, for pages, which a browser may only show to their
/// own address; with the login's other half, which a form has to send along.
pub async fn by_login(app: &Arc<AppState>, headers: &HeaderMap) -> Result<(Who, String), Fault> {
    let Some(login) = login::current(app, headers).await? else {
        return Err(missing());
    };
    app.rates.take(&login.caller, Instant::now())?;
    let csrf = login.csrf.clone();
    let who = Who {
        caller: login.caller.clone(),
        proof: Proof::Login(login),
    };
    Ok((who, csrf))
}

/// How recently the store has to be asked about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Now,
    /// Others may have asked a moment ago: a thousand waits may end at once.
    Lately,
}

/// Why a caller is not who it was found to be any more.
enum Lost {
    Refused(Reason, &'static str),
    /// It could not be asked.
    Unknown(Fault),
}

impl From<Lost> for Fault {
    fn from(lost: Lost) -> Fault {
        match lost {
            Lost::Refused(_, why) => refused(why),
            Lost::Unknown(fault) => fault,
        }
    }
}

/// Judges once more whether a caller is who it was found to be: its token or login may have run out
/// or have been revoked, or the key that signed the token was retired.
async fn again(app: &Arc<AppState>, who: &Who, asked: Asked) -> Result<(), Lost> {
    let proof = &who.proof;
    if proof.has_expired(app) {
        return Err(Lost::Refused(Reason::Expired, proof.expired()));
    }
    if !key_verifies(app, who).await {
        let why = "the key that signed the token was retired";
        return Err(Lost::Refused(Reason::RetiredKey, why));
    }
    match proof.is_revoked(app, asked).await {
        Ok(true) => Err(Lost::Refused(Reason::Revoked, proof.revoked())),
        Ok(false) => Ok(()),
        Err(fault) => Err(Lost::Unknown(fault)),
    }
}

/// Whether the key of a caller's token still verifies; another issuer's keys are read again when
/// they are due.
async fn key_verifies(app: &Arc<AppState>, who: &Who) -> bool {
    let Proof::Token(token) = &who.proof else {
        return true;
    };
    match app.verifier.still(token) {
        Still::Yes => true,
        Still::No => false,
        Still::Refresh(issuer) => {
            let _ = tokio::task::spawn_blocking(move || issuer.refresh()).await;
            matches!(app.verifier.still(token), Still::Yes)
        }
    }
}

/// Whether a caller may be told something this very moment, as far as that is known without
/// waiting: its token or login has not run out, and its key still verifies.
pub fn holds(app: &AppState, who: &Who) -> bool {
    let retired = match &who.proof {
        Proof::Token(token) => matches!(app.verifier.still(token), Still::No),
        Proof::Login(_) => false,
    };
    !retired && !who.proof.has_expired(app)
}

/// Waits until a caller is not who it was found to be any more. A call may wait for minutes, and
/// must not bring news to one whose token or login was taken from it meanwhile.
///
/// A revocation is an item, so while the log stands still the store is not asked: many who wait
/// cost it nothing. A retired key is a file, and is looked for more often.
pub async fn until_refused(app: &Arc<AppState>, who: &Who) -> Fault {
    // Most calls end before the log has to be followed for them.
    let mut head = None;
    let mut due = Instant::now() + LOOK;
    loop {
        tokio::time::sleep(GLANCE).await;
        let lost = who.proof.has_expired(app) || !key_verifies(app, who).await;
        let changed = |head: &watch::Receiver<Seq>| head.has_changed().unwrap_or(true);
        if !lost && (Instant::now() < due || !head.as_ref().is_none_or(changed)) {
            continue;
        }
        due = Instant::now() + LOOK;
        let head = head.get_or_insert_with(|| app.calls.heads(&who.caller).follow());
        head.mark_unchanged();
        match again(app, who, Asked::Now).await {
            Ok(()) => {}
            Err(lost @ Lost::Refused(..)) => return lost.into(),
            // A store that does not answer now must not end what was allowed, but the commit
            // that was not looked at may be a revocation, and the last one.
            Err(Lost::Unknown(fault)) => {
                app.metrics.unjudged();
                log::debug(format_args!("a token is judged again later: {fault}"));
                head.mark_changed();
            }
        }
    }
}

/// Does something for a caller, unless it is refused meanwhile; what took a while is for one who is
/// still recognised at its end.
pub async fn guarded<T>(
    app: &Arc<AppState>,
    who: &Who,
    work: impl Future<Output = T>,
) -> Result<T, Fault> {
    let begun = Instant::now();
    let done = tokio::select! {
        done = work => done,
        fault = until_refused(app, who) => return Err(fault),
    };
    if begun.elapsed() >= RECENT || !holds(app, who) {
        again(app, who, Asked::Lately).await?;
    }
    Ok(done)
}

async fn verify(app: &Arc<AppState>, token: &str) -> Result<Verified, Fault> {
    let mut judged = app.verifier.judge(token, seconds(), false);
    if let Judged::Refresh(issuer) = judged {
        let _ = tokio::task::spawn_blocking(move || issuer.refresh()).await;
        judged = app.verifier.judge(token, seconds(), true);
    }
    match judged {
        Judged::Good(verified) => Ok(verified),
        Judged::Bad(fault) => {
            app.metrics.refused("invalid");
            Err(fault)
        }
        Judged::Refused(refusal) => {
            let Refusal {
                reason,
                message,
                workspace,
                token,
            } = *refusal;
            app.metrics.refused(reason.as_str());
            audit::refused(app, reason, workspace, token);
            Err(refused(message))
        }
        Judged::Refresh(_) => Err(refused("the token is not valid here")),
    }
}

/// Whole seconds since 1970.
fn seconds() -> i64 {
    System.now().0.div_euclid(1_000_000)
}

fn missing() -> Fault {
    Fault::new(Code::Unauthorized, "missing bearer token")
        .hint("`understory token issue` makes one; send it as `Authorization: Bearer …`.")
}

/// The answer to somebody who was not let in; one who was not recognised is told how to be.
pub fn denied(app: &AppState, headers: &HeaderMap, fault: &Fault, request: &str) -> Response {
    let mut answer = reply::fault(fault, request);
    if fault.code != Code::Unauthorized {
        return answer;
    }
    let base = app.hosts.base(headers);
    let metadata = format!("{base}{}/mcp", super::wellknown::RESOURCE);
    let error = if headers.contains_key(AUTHORIZATION) {
        format!(
            "error=\"invalid_token\", error_description=\"{}\", ",
            fault.message
        )
    } else {
        String::new()
    };
    let challenge = format!("Bearer realm=\"understory\", {error}resource_metadata=\"{metadata}\"");
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    answer
}
