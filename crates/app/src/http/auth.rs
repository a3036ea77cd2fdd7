//! Who is calling: the verified token of this very request, or a person's login.
//!
//! A token is taken from the `Authorization` header and from nowhere else: an address is kept in
//! histories and logs. What a payload says of its sender is never looked at here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use understory_engine::clock::{Clock as _, System};
use understory_engine::revoked::Issued;
use understory_model::{Caller, Code, Fault, limits};

use super::hosts::one;
use super::reply;
use super::site::Site;
use crate::token::verify::{Judged, Verified, refused};

/// How often the token of a call or a stream that goes on is looked at again.
const LOOK: Duration = Duration::from_secs(2);

/// Somebody who was recognised.
#[derive(Clone)]
pub struct Who {
    pub caller: Caller,
    /// What proved it; none for a person who logged in.
    token: Option<Verified>,
}

impl Who {
    fn has_expired(&self) -> bool {
        let leeway = limits::TOKEN_LEEWAY_SECONDS;
        let token = self.token.as_ref();
        token.is_some_and(|token| seconds() >= token.expires + leeway)
    }
}

/// Recognises a caller by its token.
pub async fn by_token(site: &Arc<Site>, headers: &HeaderMap) -> Result<Who, Fault> {
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
    let verified = verify(site, token).await?;
    let who = Who {
        caller: verified.caller.clone(),
        token: Some(verified),
    };
    again(site, &who).await?;
    site.rates.take(&who.caller, Instant::now())?;
    Ok(who)
}

/// Recognises a caller by its token or, where there is none, a person by the login's cookie. A
/// browser sends the cookie by itself, so what is asked must also bear the login's other half.
pub async fn by_token_or_login(site: &Arc<Site>, headers: &HeaderMap) -> Result<Who, Fault> {
    if headers.contains_key(AUTHORIZATION) {
        return by_token(site, headers).await;
    }
    let Some(login) = super::login::current(site, headers).await? else {
        return Err(missing());
    };
    if one(headers, super::login::CSRF_HEADER) != Some(login.csrf.as_str()) {
        return Err(Fault::new(
            Code::Forbidden,
            "a call with a login's cookie needs its token in X-CSRF-Token",
        )
        .hint("The page at / has it; programs send a bearer token instead."));
    }
    site.rates.take(&login.caller, Instant::now())?;
    Ok(Who {
        caller: login.caller,
        token: None,
    })
}

/// Judges once more whether a caller is who it was found to be: its token may have run out, or have
/// been revoked.
pub async fn again(site: &Arc<Site>, who: &Who) -> Result<(), Fault> {
    let Some(token) = who.token.clone() else {
        return Ok(());
    };
    if who.has_expired() {
        return Err(refused("the token has expired"));
    }
    let revoked = site
        .read(move |engine| {
            let issued = Issued {
                jti: &token.jti,
                session: &token.caller.session,
                at: token.issued_at(),
            };
            engine.is_revoked(&token.caller, issued)
        })
        .await?;
    match revoked {
        true => Err(refused("the token was revoked")),
        false => Ok(()),
    }
}

/// Waits until a caller is not who it was found to be any more. A call may wait for minutes, and must
/// not bring news to one whose token ran out or was revoked meanwhile.
///
/// A revocation is an item, so while the log stands still there is nothing to look for: many who wait
/// cost the store nothing.
pub async fn until_refused(site: &Arc<Site>, who: &Who) -> Fault {
    tokio::time::sleep(LOOK).await;
    let mut head = site.calls.heads(&who.caller).follow();
    loop {
        head.mark_unchanged();
        // A store that does not answer now is no reason to end what was allowed.
        match again(site, who).await {
            Err(fault) if fault.code == Code::Unauthorized => return fault,
            _ => {}
        }
        loop {
            tokio::time::sleep(LOOK).await;
            if who.has_expired() || head.has_changed().unwrap_or(true) {
                break;
            }
        }
    }
}

async fn verify(site: &Arc<Site>, token: &str) -> Result<Verified, Fault> {
    let issuer = match site.verifier.judge(token, seconds(), false) {
        Judged::Good(verified) => return Ok(verified),
        Judged::Bad(fault) => return Err(fault),
        Judged::Refresh(issuer) => issuer,
    };
    let _ = tokio::task::spawn_blocking(move || issuer.refresh()).await;
    match site.verifier.judge(token, seconds(), true) {
        Judged::Good(verified) => Ok(verified),
        Judged::Bad(fault) => Err(fault),
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
pub fn denied(site: &Site, headers: &HeaderMap, fault: &Fault, request: &str) -> Response {
    let mut answer = reply::fault(fault, request);
    if fault.code != Code::Unauthorized {
        return answer;
    }
    let base = site.hosts.base(headers);
    let metadata = format!("{base}{}/mcp", super::wellknown::RESOURCE);
    let error = match headers.contains_key(AUTHORIZATION) {
        true => format!(
            "error=\"invalid_token\", error_description=\"{}\", ",
            fault.message
        ),
        false => String::new(),
    };
    let challenge = format!("Bearer realm=\"understory\", {error}resource_metadata=\"{metadata}\"");
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    answer
}
