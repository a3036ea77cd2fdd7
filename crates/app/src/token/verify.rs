//! Says whether a token proves who is calling. What is not exactly right is refused.
//!
//! Before the signature is checked nothing of a token is told or believed but for which key to
//! check it with; after that, the reason of a refusal may help its owner.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, Value};
use understory_model::caller::check_session_name;
use understory_model::{Caller, Code, Fault, Time, Via, limits};

use super::issuer::Issuer;
use super::jwk::Public;
use super::jws::Jws;
use super::keys::Keys;
use super::{AUDIENCE, ISSUER};
use crate::identity::is_name;
use crate::log;

/// How long the key files are believed without another look.
const LOOK: Duration = Duration::from_secs(1);
/// The pause between two looks for a name that was not there.
const AGAIN: Duration = Duration::from_millis(50);
/// The longest `jti` and the longest `kid`.
const MAX_ID: usize = 256;

/// What a token proved.
#[derive(Clone, PartialEq, Eq)]
pub struct Verified {
    pub caller: Caller,
    pub jti: String,
    /// Whole seconds since 1970.
    pub issued: i64,
    pub expires: i64,
}

impl Verified {
    pub fn issued_at(&self) -> Time {
        Time(self.issued.saturating_mul(1_000_000))
    }
}

/// What came of looking at a token.
pub enum Judged {
    Good(Verified),
    Bad(Fault),
    /// The issuer's keys have to be read first, which takes a while.
    Refresh(Arc<Issuer>),
}

/// Knows the keys, and what a token has to say.
pub struct Verifier {
    keys: Keys,
    own: Mutex<Own>,
    issuer: Option<Arc<Issuer>>,
    /// The project of everybody who comes by a token.
    project: String,
}

#[derive(Default)]
struct Own {
    keys: Vec<(String, Public)>,
    at: Option<Instant>,
    /// The directory's own mark of its last change, as it was before the keys were read.
    mark: Option<SystemTime>,
}

impl Verifier {
    pub fn new(keys: Keys, issuer: Option<Issuer>, project: String) -> Verifier {
        Verifier {
            keys,
            own: Mutex::default(),
            issuer: issuer.map(Arc::new),
            project,
        }
    }

    /// The public keys of this store as they are now.
    pub fn public(&self) -> Vec<(String, Public)> {
        self.own(|_| true)
    }

    /// Where another issuer can be found, if its name is an address.
    pub fn issuer_address(&self) -> Option<&str> {
        let issuer = self.issuer.as_ref().map(|issuer| issuer.name.as_str());
        issuer.filter(|name| name.starts_with("https://") || name.starts_with("http://"))
    }

    /// Judges a token at a moment, in whole seconds. `last` refuses what would need another look.
    pub fn judge(&self, token: &str, now: i64, last: bool) -> Judged {
        let Some(jws) = Jws::parse(token).filter(|jws| jws.kid.len() <= MAX_ID) else {
            return Judged::Bad(invalid());
        };
        // Only to find the key: it is compared again with what the key stands for.
        let claimed = jws.claims.get("iss").and_then(Value::as_str);
        let audience = match (&self.issuer, claimed) {
            (_, Some(ISSUER)) => {
                let key = self.key(&jws.kid);
                if !key.is_some_and(|key| jws.signed_by(&key)) {
                    return Judged::Bad(invalid());
                }
                AUDIENCE
            }
            (Some(issuer), Some(name)) if name == issuer.name => {
                if !last && issuer.wants_refresh(&jws.kid) {
                    return Judged::Refresh(Arc::clone(issuer));
                }
                let key = issuer.find(&jws.kid);
                let fits = key.is_some_and(|key| jws.allowed_by(&key) && jws.signed_by(&key.key));
                if !fits {
                    return Judged::Bad(invalid());
                }
                issuer.audience.as_str()
            }
            _ => return Judged::Bad(invalid()),
        };
        match self.read(&jws.claims, audience, now) {
            Ok(verified) => Judged::Good(verified),
            Err(reason) => Judged::Bad(refused(reason)),
        }
    }

    fn key(&self, kid: &str) -> Option<Public> {
        let known = self.own(|keys| keys.iter().any(|(known, _)| known == kid));
        let mut keys = known.into_iter();
        keys.find_map(|(known, key)| (known == kid).then_some(key))
    }

    /// The store's keys, read again when the directory has changed. Its mark may be coarse, so they
    /// are also read when they are old, or when they are not `enough` and were not read just now.
    fn own(&self, enough: impl Fn(&[(String, Public)]) -> bool) -> Vec<(String, Public)> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = if enough(&own.keys) { LOOK } else { AGAIN };
        let mark = self.keys.mark();
        if own.at.is_none_or(|at| at.elapsed() >= wait) || own.mark != mark {
            own.at = Some(Instant::now());
            own.mark = mark;
            own.keys = self.keys.public().unwrap_or_else(|fault| {
                log::warn(format_args!("no token can be verified: {fault}"));
                Vec::new()
            });
        }
        own.keys.clone()
    }

    /// What the claims of a signed token say; the reason, if they are not as they have to be.
    fn read(
        &self,
        claims: &Map<String, Value>,
        audience: &str,
        now: i64,
    ) -> Result<Verified, &'static str> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let number = |name: &str| claims.get(name).and_then(Value::as_i64);
        let name = |claim: &str, missing: &'static str| {
            text(claim)
                .filter(|name| is_name(name))
                .map(str::to_owned)
                .ok_or(missing)
        };
        let for_us = match claims.get("aud") {
            Some(Value::String(aud)) => aud == audience,
            Some(Value::Array(all)) => all.iter().any(|aud| aud == audience),
            _ => false,
        };
        if !for_us {
            return Err("the token is for somebody else (aud)");
        }
        let leeway = limits::TOKEN_LEEWAY_SECONDS;
        let issued = number("iat").ok_or("the token does not say when it was issued (iat)")?;
        let expires = number("exp").ok_or("the token does not say when it expires (exp)")?;
        if !(0..=now.saturating_add(leeway)).contains(&issued) {
            return Err("the token was issued in the future (iat)");
        }
        if now >= expires.saturating_add(leeway) {
            return Err("the token has expired");
        }
        if expires <= issued || expires - issued > limits::TOKEN_SECONDS {
            return Err("the token is good for longer than is allowed (exp)");
        }
        match claims.get("nbf") {
            None => {}
            Some(_) if number("nbf").is_some_and(|from| from <= now.saturating_add(leeway)) => {}
            Some(_) => return Err("the token is not good yet (nbf)"),
        }
        let jti = text("jti").filter(|jti| is_id(jti));
        let role = text("role").and_then(|role| role.parse().ok());
        Ok(Verified {
            caller: Caller {
                workspace: name(
                    "workspace_id",
                    "the token names no workspace (workspace_id)",
                )?,
                origin: None,
                agent: name("agent_id", "the token names no agent (agent_id)")?,
                session: text("session_id")
                    .filter(|name| check_session_name("session_id", name).is_ok())
                    .map(str::to_owned)
                    .ok_or("the token names no session (session_id)")?,
                role: role.ok_or("the token names no role that is known (role)")?,
                project: self.project.clone(),
                via: Via::Token,
            },
            jti: jti.ok_or("the token has no id (jti)")?.to_owned(),
            issued,
            expires,
        })
    }
}

fn is_id(text: &str) -> bool {
    (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn invalid() -> Fault {
    refused("the token is not valid here")
}

/// The fault of a token that was refused.
pub fn refused(reason: &str) -> Fault {
    Fault::new(Code::Unauthorized, reason)
        .hint("Issue a new token with `understory token issue`, or ask who issued this one.")
}
