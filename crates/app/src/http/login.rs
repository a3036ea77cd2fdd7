//! A person's login: a link that works once, and the cookie it is traded for.
//!
//! The link and the logins are kept in memory alone and end with the process. A login is the
//! person's who started the server; a link is shown where only that person sees it, and there is
//! never more than one that works.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, header};
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::kernel::revoked::Issued;
use understory_model::{Caller, Fault, Time, Via, limits};

use super::state::AppState;
use crate::token;

/// The header that has the login's other half.
pub const CSRF_HEADER: HeaderName = HeaderName::from_static("x-csrf-token");
/// How long a link works.
pub const LINK: Duration = Duration::from_secs(600);
/// How long a login lasts.
const LOGIN: Duration = Duration::from_secs(12 * 3_600);
/// The pause between two new links that a visitor may cause.
const AGAIN: Duration = Duration::from_secs(60);
/// What a login has where a token has its id: nothing, which cannot be revoked.
const NO_TOKEN: &str = "";

/// A login.
#[derive(Clone)]
pub struct Login {
    pub caller: Caller,
    pub csrf: String,
    /// The cookie's value, by which it is found again.
    name: String,
    until: Instant,
    /// When it began, as a revocation of its session sees it.
    since: Time,
}

/// The link that was given out, and the logins that links became.
pub struct Logins {
    person: Caller,
    pub cookie: Cookie,
    link: Mutex<Option<(String, Instant)>>,
    logins: Mutex<HashMap<String, Login>>,
    last_link: Mutex<Option<Instant>>,
}

impl Logins {
    pub fn new(person: Caller, cookie: Cookie) -> Logins {
        Logins {
            // A login proves one session, as a token does.
            person: Caller {
                via: Via::Token,
                ..person
            },
            cookie,
            link: Mutex::default(),
            logins: Mutex::default(),
            last_link: Mutex::default(),
        }
    }

    /// Whose logins these are.
    pub fn person(&self) -> &Caller {
        &self.person
    }

    /// A new link's code; the one before it works no more.
    pub fn link(&self, now: Instant) -> Result<String, Fault> {
        let code = token::random(32)?;
        *locked(&self.link) = Some((code.clone(), now + LINK));
        *locked(&self.last_link) = Some(now);
        Ok(code)
    }

    /// A new link's code for a visitor, unless there is one that works or was made a moment ago.
    pub fn another_link(&self, now: Instant) -> Option<String> {
        let works = locked(&self.link)
            .as_ref()
            .is_some_and(|(_, until)| now < *until);
        let soon =
            locked(&self.last_link).is_some_and(|last| now.saturating_duration_since(last) < AGAIN);
        if works || soon {
            None
        } else {
            self.link(now).ok()
        }
    }

    /// Whether a code works; it still does afterwards.
    pub fn works(&self, code: &str, now: Instant) -> bool {
        let link = locked(&self.link);
        link.as_ref()
            .is_some_and(|(known, until)| known == code && now < *until)
    }

    /// Trades a code for a login, once; the cookie's value.
    pub fn redeem(&self, code: &str, now: Instant) -> Option<String> {
        {
            let mut link = locked(&self.link);
            let (_, until) = link.take_if(|(known, _)| known == code)?;
            if now >= until {
                return None;
            }
        }
        let (name, csrf) = (token::random(32).ok()?, token::random(32).ok()?);
        let mut logins = locked(&self.logins);
        logins.retain(|_, login| now < login.until);
        if logins.len() >= limits::LOGINS {
            let first = logins.iter().min_by_key(|(_, login)| login.until);
            let first = first.map(|(name, _)| name.clone()).unwrap_or_default();
            logins.remove(&first);
        }
        let login = Login {
            caller: self.person.clone(),
            csrf,
            name: name.clone(),
            until: now + LOGIN,
            since: System.now(),
        };
        logins.insert(name.clone(), login);
        Some(name)
    }

    /// The login whose cookie a request has.
    pub fn find(&self, headers: &HeaderMap) -> Option<Login> {
        let name = self.cookie.of(headers)?;
        let logins = locked(&self.logins);
        let login = logins.get(name)?;
        (Instant::now() < login.until).then(|| login.clone())
    }

    /// Whether a login has neither run out nor been ended by its person.
    pub fn is_open(&self, login: &Login) -> bool {
        let known = locked(&self.logins).contains_key(&login.name);
        known && Instant::now() < login.until
    }

    /// Ends the login whose cookie a request has.
    pub fn end(&self, headers: &HeaderMap) {
        if let Some(name) = self.cookie.of(headers) {
            locked(&self.logins).remove(name);
        }
    }

    /// Ends every login, wherever it is, and the link that might become one.
    pub fn end_all(&self) {
        locked(&self.logins).clear();
        *locked(&self.link) = None;
    }
}

/// The login whose cookie a request has, unless its session was revoked since it began.
pub async fn current(app: &Arc<AppState>, headers: &HeaderMap) -> Result<Option<Login>, Fault> {
    let Some(login) = app.logins.find(headers) else {
        return Ok(None);
    };
    if is_revoked(app, &login).await? {
        app.logins.end(headers);
        return Ok(None);
    }
    Ok(Some(login))
}

/// Whether a login's session was revoked since the login began.
pub async fn is_revoked(app: &AppState, login: &Login) -> Result<bool, Fault> {
    let (caller, since) = (login.caller.clone(), login.since);
    let read = app.read(move |engine| {
        let issued = Issued {
            jti: NO_TOKEN,
            session: &caller.session,
            at: since,
        };
        engine.is_revoked(&caller, issued)
    });
    read.await
}

/// The cookie of a server's logins.
pub struct Cookie {
    name: String,
    secure: bool,
}

impl Cookie {
    /// With the prefix, browsers see to it that no other host can set it; they allow that for encrypted
    /// connections only. Without it the name has the port: a browser keeps one set of cookies for all ports
    /// of a host, and a person may have a server for each project.
    pub fn new(secure: bool, port: u16) -> Cookie {
        let name = if secure {
            "__Host-understory".to_owned()
        } else {
            format!("understory-{port}")
        };
        Cookie { name, secure }
    }

    /// What sets the cookie, or ends it when there is no value.
    pub fn set(&self, value: Option<&str>) -> String {
        let mark = if self.secure { "; Secure" } else { "" };
        let age = value.map_or(0, |_| LOGIN.as_secs());
        let (name, value) = (&self.name, value.unwrap_or_default());
        format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{mark}")
    }

    /// The cookie's value. On an encrypted connection only the name counts that no other host can set:
    /// the other could have been planted by anybody who answers for this host without TLS.
    fn of<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let all = headers.get_all(header::COOKIE).iter();
        let pairs = all
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'));
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == self.name)
            .map(|(_, value)| value)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use understory_model::Role;

    use super::*;

    fn logins() -> Logins {
        over(false)
    }

    fn over(secure: bool) -> Logins {
        let person = Caller {
            workspace: "w".into(),
            origin: None,
            agent: "ann".into(),
            session: "s".into(),
            role: Role::Operator,
            project: "default".into(),
            via: understory_model::Via::Token,
        };
        Logins::new(person, Cookie::new(secure, 7878))
    }

    fn bearing(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
        headers
    }

    #[test]
    fn a_link_works_once_and_not_for_long() {
        let (logins, now) = (logins(), Instant::now());
        let code = logins.link(now).unwrap();
        assert_eq!(code.len(), 64);
        assert!(logins.redeem("", now).is_none() && logins.redeem(&code[1..], now).is_none());
        let name = logins.redeem(&code, now).unwrap();
        assert!(logins.redeem(&code, now).is_none());
        let late = logins.link(now).unwrap();
        assert!(logins.redeem(&late, now + LINK).is_none());
        assert!(logins.redeem(&late, now).is_none(), "it was tried");

        let found = logins
            .find(&bearing(&format!("a=b; understory-7878={name}")))
            .unwrap();
        assert_eq!(found.caller.agent, "ann");
        assert_ne!(found.csrf, name);
        assert!(logins.find(&bearing("understory-7878=nope")).is_none());
        assert!(logins.find(&HeaderMap::new()).is_none());
        logins.end(&bearing(&format!("understory-7878={name}")));
        assert!(
            logins
                .find(&bearing(&format!("understory-7878={name}")))
                .is_none()
        );
    }

    #[test]
    fn visitors_cause_few_links() {
        let (logins, now) = (logins(), Instant::now());
        let first = logins.another_link(now).unwrap();
        assert!(logins.another_link(now + AGAIN).is_none(), "one works");
        assert!(logins.works(&first, now) && logins.works(&first, now));
        logins.redeem(&first, now).unwrap();
        assert!(logins.another_link(now).is_none(), "just now");
        let second = logins.another_link(now + AGAIN).unwrap();
        let third = logins.link(now + AGAIN).unwrap();
        assert!(!logins.works(&second, now + AGAIN) && logins.works(&third, now + AGAIN));
    }

    #[test]
    fn each_kind_of_connection_has_its_own_cookie() {
        for secure in [true, false] {
            let (logins, now) = (over(secure), Instant::now());
            let code = logins.link(now).unwrap();
            let name = logins.redeem(&code, now).unwrap();
            let find = |secure| {
                let cookie = format!("{}={name}", Cookie::new(secure, 7878).name);
                logins.find(&bearing(&cookie)).is_some()
            };
            assert!(find(secure) && !find(!secure), "{secure}");
            let both = format!(
                "{}=planted; {}={name}",
                Cookie::new(!secure, 7878).name,
                Cookie::new(secure, 7878).name
            );
            assert!(logins.find(&bearing(&both)).is_some(), "{secure}");
            logins.end_all();
            assert!(!find(secure));
        }
    }

    #[test]
    fn a_cookie_is_for_this_server_alone() {
        let plain = Cookie::new(false, 7878).set(Some("x"));
        for part in [
            "understory-7878=x;",
            "HttpOnly",
            "SameSite=Strict",
            "Path=/",
        ] {
            assert!(plain.contains(part), "{plain}");
        }
        assert!(!plain.contains("Secure"));
        let secure = Cookie::new(true, 7878).set(Some("x"));
        assert!(secure.starts_with("__Host-understory=x;") && secure.ends_with("; Secure"));
        assert!(Cookie::new(false, 7878).set(None).contains("Max-Age=0"));
    }
}
