//! Says whether a token proves who is calling. What is not exactly right is refused.
//!
//! Before the signature is verified, only the key id is used; after that, the reason of a refusal
//! may help its owner.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use understory_engine::system::audit::{self, Reason};
use understory_model::caller::check_session_name;
use understory_model::{Caller, Code, Fault, Role, Time, Via, limits};

use super::issuer::Issuer;
use super::jwk::Public;
use super::jws::Jws;
use super::keys::Keys;
use super::signatures::Signatures;
use super::{AUDIENCE, ISSUER, allowed};
use crate::identity::is_name;
use crate::log;

/// How long the key files are believed without another look.
const LOOK: Duration = Duration::from_secs(1);
/// The pause between two looks for a name that was not there.
const AGAIN: Duration = Duration::from_millis(50);
/// How coarse the mark of a directory may be: two changes this close may have the same.
const COARSE: Duration = Duration::from_millis(50);

/// What a token proved.
#[derive(Clone, PartialEq, Eq)]
pub struct Verified {
    pub caller: Caller,
    pub jti: String,
    /// The key that signed it.
    pub kid: String,
    /// Who issued it, where that was not this store.
    pub issuer: Option<String>,
    /// Whole seconds since 1970.
    pub issued: i64,
    pub expires: i64,
}

impl Verified {
    pub fn issued_at(&self) -> Time {
        Time(self.issued.saturating_mul(1_000_000))
    }

    /// What may be told of it.
    pub fn about(&self) -> audit::Token {
        audit::Token {
            jti: self.jti.clone(),
            kid: self.kid.clone(),
            issuer: self.issuer.clone(),
            agent: self.caller.agent.clone(),
            role: self.caller.role.to_string(),
            session: self.caller.session.clone(),
            expires_at: moment(self.expires),
        }
    }
}

/// Why a token with a valid signature was refused, and whose log may say so.
pub struct Refusal {
    pub reason: Reason,
    pub message: &'static str,
    /// The workspace that it names, if its signer may name it.
    pub workspace: Option<String>,
    pub token: audit::Token,
}

/// What came of looking at a token.
pub enum Judged {
    Good(Verified),
    /// Nothing vouches for it.
    Bad(Fault),
    /// Its signature is valid, and yet it proves nothing.
    Refused(Box<Refusal>),
    /// The issuer's keys have to be read first, which takes a while.
    Refresh(Arc<Issuer>),
}

/// Whether the key that signed a token still verifies.
pub enum Still {
    Yes,
    No,
    /// As far as is known; the issuer's keys are due to be read again.
    Refresh(Arc<Issuer>),
}

/// Knows the keys, and what a token has to say.
pub struct Verifier {
    keys: Keys,
    own: Mutex<Own>,
    issuer: Option<Arc<Issuer>>,
    signatures: Signatures,
    /// The project of everybody who comes by a token.
    project: String,
}

#[derive(Default)]
struct Own {
    keys: Vec<(String, Public)>,
    retired: Vec<(String, Public)>,
    at: Option<Instant>,
    /// The directory's own mark of its last change, as it was before the keys were read; none when
    /// a later change could have the same.
    mark: Option<SystemTime>,
}

impl Own {
    fn find(keys: &[(String, Public)], kid: &str) -> Option<Public> {
        let mut keys = keys.iter();
        keys.find_map(|(known, key)| (known == kid).then(|| key.clone()))
    }

    fn knows(&self, kid: &str) -> bool {
        let mut all = self.keys.iter().chain(&self.retired);
        all.any(|(known, _)| known == kid)
    }
}

impl Verifier {
    pub fn new(keys: Keys, issuer: Option<Issuer>, project: String) -> Verifier {
        Verifier {
            keys,
            own: Mutex::default(),
            issuer: issuer.map(Arc::new),
            signatures: Signatures::default(),
            project,
        }
    }

    /// The public keys of this store as they are now.
    pub fn public(&self) -> Vec<(String, Public)> {
        self.own(None).keys.clone()
    }

    /// Where another issuer can be found, if its name is an address.
    pub fn issuer_address(&self) -> Option<&str> {
        let issuer = self.issuer.as_ref().map(|issuer| issuer.name.as_str());
        issuer.filter(|name| name.starts_with("https://") || name.starts_with("http://"))
    }

    /// Judges a token at a moment, in whole seconds. `last` refuses what would need another look.
    pub fn judge(&self, token: &str, now: i64, last: bool) -> Judged {
        let Some(jws) = Jws::parse(token).filter(|jws| jws.kid.len() <= limits::TOKEN_ID_CHARS)
        else {
            return Judged::Bad(invalid());
        };
        // Only to find the key: it is compared again with what the key stands for.
        let claimed = jws.text("iss");
        let issuer = match (&self.issuer, claimed) {
            (_, Some(ISSUER)) => {
                let own = self.own(Some(&jws.kid));
                let key = Own::find(&own.keys, &jws.kid);
                let retired = Own::find(&own.retired, &jws.kid);
                drop(own);
                if retired.is_some_and(|key| self.signatures.verify(&jws, &key)) {
                    let message = "the key that signed the token was retired";
                    return self.refused(&jws, None, Reason::RetiredKey, message);
                }
                if !key.is_some_and(|key| self.signatures.verify(&jws, &key)) {
                    return Judged::Bad(invalid());
                }
                None
            }
            (Some(issuer), Some(name)) if name == issuer.name => {
                if !last && issuer.wants_refresh(&jws.kid) {
                    return Judged::Refresh(Arc::clone(issuer));
                }
                let key = issuer.find(&jws.kid);
                let fits = key.is_some_and(|key| {
                    jws.allowed_by(&key) && self.signatures.verify(&jws, &key.key)
                });
                if !fits {
                    return Judged::Bad(invalid());
                }
                Some(issuer.as_ref())
            }
            _ => return Judged::Bad(invalid()),
        };
        match self.read(&jws, issuer, now) {
            Ok(verified) => Judged::Good(verified),
            Err((reason, message)) => self.refused(&jws, issuer, reason, message),
        }
    }

    /// Whether the key of a token that was verified still verifies.
    pub fn still(&self, token: &Verified) -> Still {
        let verifies = match (&token.issuer, &self.issuer) {
            (None, _) => {
                let own = self.own(Some(&token.kid));
                Own::find(&own.keys, &token.kid).is_some()
            }
            (Some(_), Some(issuer)) if issuer.wants_refresh(&token.kid) => {
                return Still::Refresh(Arc::clone(issuer));
            }
            (Some(_), Some(issuer)) => issuer.find(&token.kid).is_some(),
            (Some(_), None) => false,
        };
        if verifies { Still::Yes } else { Still::No }
    }

    /// The store's keys, read again when the directory has changed. Its mark may be coarse, so they
    /// are also read when they are old, or when the wanted one is not there and they were not read
    /// just now.
    fn own(&self, wanted: Option<&str>) -> MutexGuard<'_, Own> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let known = wanted.is_none_or(|kid| own.knows(kid));
        let wait = if known { LOOK } else { AGAIN };
        let mark = self.keys.mark();
        if own.at.is_none_or(|at| at.elapsed() >= wait) || own.mark != mark {
            own.at = Some(Instant::now());
            let settled = |mark: &SystemTime| mark.elapsed().is_ok_and(|age| age >= COARSE);
            own.mark = mark.filter(settled);
            let read = self.keys.public();
            let read = read.and_then(|keys| Ok((keys, self.keys.retired()?)));
            (own.keys, own.retired) = read.unwrap_or_else(|fault| {
                log::warn(format_args!("no token can be verified: {fault}"));
                Default::default()
            });
        }
        own
    }

    /// What is told of a token that was refused, as far as its claims are what they have to be.
    fn refused(
        &self,
        jws: &Jws<'_>,
        issuer: Option<&Issuer>,
        reason: Reason,
        message: &'static str,
    ) -> Judged {
        let text = |claim: &str| jws.text(claim);
        let name = |claim: &str| text(claim).filter(|name| is_name(name)).map(str::to_owned);
        let role = text("role").and_then(|role| role.parse::<Role>().ok());
        let session = text("session_id").filter(|s| check_session_name("session_id", s).is_ok());
        let expires = jws.integer("exp");
        Judged::Refused(Box::new(Refusal {
            reason,
            message,
            workspace: name("workspace_id")
                .filter(|name| issuer.is_none_or(|issuer| issuer.allowed.workspace(name))),
            token: audit::Token {
                jti: text("jti")
                    .filter(|jti| is_id(jti))
                    .unwrap_or_default()
                    .to_owned(),
                kid: jws.kid.clone(),
                issuer: issuer.map(|issuer| issuer.name.clone()),
                agent: name("agent_id").unwrap_or_default(),
                role: role.map(|role| role.to_string()).unwrap_or_default(),
                session: session.unwrap_or_default().to_owned(),
                expires_at: expires.map(moment).unwrap_or_default(),
            },
        }))
    }

    /// What the claims of a signed token say; the reason, if they are not as they have to be.
    fn read(
        &self,
        jws: &Jws<'_>,
        issuer: Option<&Issuer>,
        now: i64,
    ) -> Result<Verified, (Reason, &'static str)> {
        let (issued, expires) = self::times(jws, issuer, now)?;
        let caller = self.caller(jws).map_err(|why| (Reason::Claims, why))?;
        let jti = jws.text("jti").filter(|jti| is_id(jti));
        let jti = jti.ok_or((Reason::Claims, "the token has no id (jti)"))?;
        if let Some(issuer) = issuer {
            permitted(issuer, &caller).map_err(|why| (Reason::NotAllowed, why))?;
        }
        Ok(Verified {
            caller,
            jti: jti.to_owned(),
            kid: jws.kid.clone(),
            issuer: issuer.map(|issuer| issuer.name.clone()),
            issued,
            expires,
        })
    }

    /// Whom the claims name.
    fn caller(&self, jws: &Jws<'_>) -> Result<Caller, &'static str> {
        let text = |claim: &str| jws.text(claim);
        let name = |claim: &str, missing: &'static str| {
            text(claim)
                .filter(|name| is_name(name))
                .map(str::to_owned)
                .ok_or(missing)
        };
        let role = text("role").and_then(|role| role.parse().ok());
        Ok(Caller {
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
        })
    }
}

/// Whether the issuer may name this workspace and give this role.
fn permitted(issuer: &Issuer, caller: &Caller) -> Result<(), &'static str> {
    match issuer.allowed.missing() {
        Some(allowed::WORKSPACES) => {
            return Err("no workspace is allowed to the token's issuer: set issuer_workspaces");
        }
        Some(_) => return Err("no role is allowed to the token's issuer: set issuer_roles"),
        None => {}
    }
    if !issuer.allowed.workspace(&caller.workspace) {
        return Err("the token's issuer may not name this workspace (issuer_workspaces)");
    }
    if issuer.allowed.role(caller.role) {
        Ok(())
    } else {
        Err("the token's issuer may not give this role (issuer_roles)")
    }
}

/// For whom and from when to when a token is good; the reason, if it is not for us now.
fn times(
    jws: &Jws<'_>,
    issuer: Option<&Issuer>,
    now: i64,
) -> Result<(i64, i64), (Reason, &'static str)> {
    let wrong = |why: &'static str| (Reason::Claims, why);
    let audience = issuer.map_or(AUDIENCE, |issuer| issuer.audience.as_str());
    let for_us = match jws.claims.get("aud") {
        Some(Value::String(aud)) => aud == audience,
        Some(Value::Array(all)) => all.iter().any(|aud| aud == audience),
        _ => false,
    };
    if !for_us {
        return Err(wrong("the token is for somebody else (aud)"));
    }
    let leeway = limits::TOKEN_LEEWAY_SECONDS;
    let issued = jws
        .integer("iat")
        .ok_or(wrong("the token does not say when it was issued (iat)"))?;
    let expires = jws
        .integer("exp")
        .ok_or(wrong("the token does not say when it expires (exp)"))?;
    if !(0..=now.saturating_add(leeway)).contains(&issued) {
        return Err(wrong("the token was issued in the future (iat)"));
    }
    if now >= expires.saturating_add(leeway) {
        return Err((Reason::Expired, "the token has expired"));
    }
    if expires <= issued || expires - issued > limits::TOKEN_SECONDS {
        return Err(wrong("the token is good for longer than is allowed (exp)"));
    }
    match jws.claims.get("nbf") {
        None => {}
        Some(_)
            if jws
                .integer("nbf")
                .is_some_and(|from| from <= now.saturating_add(leeway)) => {}
        Some(_) => return Err(wrong("the token is not good yet (nbf)")),
    }
    Ok((issued, expires))
}

/// Whole seconds since 1970 as text.
pub fn moment(seconds: i64) -> String {
    Time(seconds.saturating_mul(1_000_000)).to_string()
}

fn is_id(text: &str) -> bool {
    (1..=limits::TOKEN_ID_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn invalid() -> Fault {
    refused("the token is not valid here")
}

/// The fault of a token that was refused.
pub fn refused(reason: &str) -> Fault {
    Fault::new(Code::Unauthorized, reason)
        .hint("Issue a new token with `understory token issue`, or ask who issued this one.")
}
