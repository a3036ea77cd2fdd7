//! `understory token`: identity for HTTP. Issues and revokes tokens, and keeps the keys.
//!
//! A token is printed alone on the last line, so that a script can take it; nothing else here ever
//! prints one, and nothing prints a key. What was done is an audit event of the workspace.

use std::io::{IsTerminal, Read as _, Write};
use std::process::ExitCode;

use serde_json::json;
use understory_engine::Resolved;
use understory_engine::kernel::clock::{Clock as _, System};
use understory_engine::kernel::revoked::Revocation;
use understory_engine::system::audit::{self, Event};
use understory_model::caller::check_session_name;
use understory_model::{Caller, Fault, Role, limits};

use super::table::Table;
use super::text::Text;
use super::when::Clock;
use super::{Here, Outcome};
use crate::config::{Flags, Settings, Source};
use crate::identity::{Identity, allowed_role, of_folder};
use crate::store::Store;
use crate::token::jws::Jws;
use crate::token::keys::Keys;
use crate::token::verify::moment;
use crate::{ids, log, token};

const EXAMPLES: &str = "\
Examples:
  understory token issue --agent ada --workspace shop --role worker --session s1 --ttl 8h
  understory token revoke --session s1 --workspace shop
  understory token keys --rotate";

const ISSUE: &str = "\
Examples:
  understory token issue --agent ada --workspace shop --role worker --session s1 --ttl 8h
  TOKEN=$(understory token issue --agent ada | tail -n 1)";

const REVOKE: &str = "\
What stands on a command line is seen by other users and kept in the shell's history: `-` reads the
token from standard input.

A session's revocation covers what was issued up to that moment; a token that is issued for the
session afterwards is good again.

Examples:
  understory token revoke - < token.txt
  understory token revoke 5f0c2a… --workspace shop
  understory token revoke --session s1 --workspace shop";

const KEYS: &str = "\
Examples:
  understory token keys
  understory token keys --rotate
  understory token keys --retire 1f2e3d4c5b6a7980
  understory token keys --public > keys.json     for `understory verify --checkpoint … --key`";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Issue and print a token for an agent, workspace, role and session
    #[command(after_help = ISSUE)]
    Issue {
        /// How long the token is valid: 90s, 15m, 8h, 30d
        #[arg(long, value_name = "TIME", default_value = "1h")]
        ttl: String,
    },
    /// Revoke a token, or all tokens of a session
    #[command(after_help = REVOKE)]
    Revoke {
        /// The token's `jti`, or `-` to read the token or its jti from standard input
        #[arg(value_name = "JTI")]
        token: Option<String>,
    },
    /// List the keys, create one, or retire one
    #[command(after_help = KEYS)]
    Keys {
        /// Create a key that signs from now on; the others still verify
        #[arg(long)]
        rotate: bool,
        /// Retire a key: tokens that it signed are refused from now on
        #[arg(long, value_name = "KEY")]
        retire: Option<String>,
        /// Print the public keys as a JSON key set, including retired ones
        #[arg(long, conflicts_with_all = ["rotate", "retire"])]
        public: bool,
    },
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let settings = here.settings()?;
        match self.action {
            Action::Issue { ttl } => issue(here, &settings, &ttl),
            Action::Revoke { token } => revoke(here, &settings, token),
            Action::Keys { public: true, .. } => public(here, &settings),
            Action::Keys { rotate, retire, .. } => keys(here, &settings, rotate, retire.as_deref()),
        }
    }
}

fn issue(here: &Here, settings: &Settings, ttl: &str) -> Outcome {
    // A token is an agent's unless it is said otherwise, and its session is its own.
    let named = Identity::agent(settings, &here.around)?.caller(None);
    let named = at_home(here, settings, named)?;
    // An agent must not make itself more than it is by way of a token.
    let role = allowed_role(settings, &here.around)?.unwrap_or(Role::Worker);
    // Another repository may have had the folder's name first; a name that was given is as it is.
    let workspace = match named.origin {
        None => named.workspace.clone(),
        Some(_) => {
            let engine = Store::new(settings).get()?;
            // The name is this place's from now on. Else the first call with the token would make a
            // workspace of that name without a place, and this folder would not find it.
            if named.role.may_write() {
                engine.settle(&named)?;
            }
            engine.workspace(&named)?.name().to_owned()
        }
    };
    let origin = named.origin.clone();
    let caller = Caller {
        workspace,
        origin: None,
        session: match &settings.session.value {
            Some(_) => named.session.clone(),
            None => ids::session(),
        },
        role,
        ..named
    };
    let seconds = duration(ttl)?;
    let now = System.now().0.div_euclid(1_000_000);
    let key = Keys::in_folder(&settings.keys.value).signing()?;
    let (token, jti) = token::issue(&key, &caller, now, seconds)?;
    let about = audit::Token {
        jti: jti.clone(),
        kid: key.kid().to_owned(),
        issuer: None,
        agent: caller.agent.clone(),
        role: caller.role.to_string(),
        session: caller.session.clone(),
        expires_at: moment(now + seconds),
    };
    // No token without a trace: it is printed once the log says that there is one.
    let keeper = Caller {
        workspace: caller.workspace.clone(),
        origin: origin.clone(),
        ..keeper(here)?
    };
    let engine = Store::new(settings).get()?;
    engine.audit(&keeper, Event::TokenIssued(about))?;
    engine.close();
    if here.out.json {
        here.out.value(&json!({
            "token": token, "jti": jti, "agent_id": caller.agent,
            "workspace_id": caller.workspace, "role": caller.role.as_str(),
            "session_id": caller.session, "expires_in": seconds,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = writeln!(
            stderr,
            "For {} ({}), workspace {}, session {}, for {ttl}. Its jti is {jti}.",
            caller.agent, caller.role, caller.workspace, caller.session
        );
    }
    here.out.bytes(format!("{token}\n").as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// A workspace that is named like this folder and is not there yet becomes this folder's: the
/// agents that are started in the folder and those with the token then share it. One that is there
/// stays as it was made, so a folder reaches nothing by what it is called.
fn at_home(here: &Here, settings: &Settings, named: Caller) -> Result<Caller, Fault> {
    let (own, origin) = of_folder(&here.around);
    let by_flag = matches!(settings.workspace.source, Source::Flag(_));
    if !by_flag || named.workspace != own {
        return Ok(named);
    }
    let found = Store::new(settings).get()?.workspace(&named)?;
    Ok(match found {
        Resolved::New(_) => Caller {
            origin: Some(origin),
            ..named
        },
        Resolved::There(_) => named,
    })
}

/// The person at the shell: the flags name the agent and the session of a token. Who holds the
/// store may do all this, whatever role the settings give.
fn keeper(here: &Here) -> Result<Caller, Fault> {
    let flags = Flags {
        agent: None,
        session: None,
        role: None,
        ..here.flags.clone()
    };
    let settings = Settings::read(&flags, &here.around)?;
    let person = Identity::shell(&settings, &here.around)?.caller(None);
    Ok(Caller {
        role: Role::Operator,
        ..person
    })
}

/// What standard input holds, unless somebody would have to type it.
fn from_input(named: Option<String>, session: Option<&str>) -> Result<Option<String>, Fault> {
    let asked = named.as_deref() == Some("-");
    let mut input = std::io::stdin();
    if !asked && (named.is_some() || session.is_some() || input.is_terminal()) {
        return Ok(named);
    }
    let mut text = String::new();
    let most = limits::TOKEN_BYTES as u64 + 2;
    let read = input.by_ref().take(most).read_to_string(&mut text);
    read.map_err(|_| Fault::invalid("token", "standard input cannot be read as text"))?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}

fn revoke(here: &Here, settings: &Settings, named: Option<String>) -> Outcome {
    let mut person = keeper(here)?;
    let session = here.flags.session.as_deref();
    let named = from_input(named, session)?;
    let what = match (named.as_deref(), session) {
        (None, Some(session)) if check_session_name("session", session).is_ok() => {
            Revocation::Session(session.to_owned())
        }
        (Some(named), None) => match Jws::parse(named.trim()) {
            Some(jws) => {
                let text = |claim: &str| jws.claims.get(claim).and_then(|value| value.as_str());
                let (Some(jti), Some(workspace)) = (text("jti"), text("workspace_id")) else {
                    return Err(Fault::invalid(
                        "token",
                        "must contain the claims jti and workspace_id",
                    ));
                };
                (person.workspace, person.origin) = (workspace.to_owned(), None);
                Revocation::Token(jti.to_owned())
            }
            None => Revocation::Token(named.trim().to_owned()),
        },
        _ => {
            return Err(Fault::invalid(
                "token",
                "name a token, its jti, or a session with --session",
            ));
        }
    };
    let engine = Store::new(settings).get()?;
    let done = engine.revoke(&person, what)?;
    engine.close();
    if here.out.json {
        here.out.value(&json!(done));
    } else {
        let line = Text::from(format!("Revoked the {} ", done.revoked.as_str())).bold(done.name);
        here.out.line(line.plain(format!(", item {}.", done.seq)));
    }
    Ok(ExitCode::SUCCESS)
}

fn keys(here: &Here, settings: &Settings, rotate: bool, retire: Option<&str>) -> Outcome {
    let keys = Keys::in_folder(&settings.keys.value);
    // A stolen key is stopped whether or not the store can be written.
    if let Some(kid) = retire
        && keys.retire(kid)?
    {
        let kid = kid.to_owned();
        note(here, settings, &Event::KeyRetired { kid });
    }
    if rotate {
        let kid = keys.rotate()?.kid().to_owned();
        note(here, settings, &Event::KeyCreated { kid });
    }
    let listed = keys.list()?;
    if here.out.json {
        let listed: Vec<_> = listed
            .iter()
            .map(|key| {
                json!({ "kid": key.kid, "created_at": key.created_at.to_string(),
                        "state": key.state.as_str() })
            })
            .collect();
        let folder = keys.folder().display().to_string();
        here.out.value(&json!({ "folder": folder, "keys": listed }));
        return Ok(ExitCode::SUCCESS);
    }
    if listed.is_empty() {
        here.out
            .hint("There is no key yet: the first token makes one.");
        return Ok(ExitCode::SUCCESS);
    }
    let clock = Clock::here();
    let mut table = Table::new(&["key", "created", "state"]);
    for key in listed {
        table.row([
            Text::new().name(&key.kid),
            Text::from(clock.ago(key.created_at)),
            Text::from(key.state.as_str()),
        ]);
    }
    here.out.table(table);
    Ok(ExitCode::SUCCESS)
}

/// Notes what became of a key in every workspace.
fn note(here: &Here, settings: &Settings, event: &Event) {
    let noted = keeper(here).and_then(|keeper| {
        let engine = Store::new(settings).get()?;
        let noted = engine.audit_everywhere(&keeper, event);
        engine.close();
        noted
    });
    if let Err(fault) = noted {
        log::warn(format_args!(
            "done, but no audit event was written: {fault}"
        ));
    }
}

/// The public keys, to check what the keys signed.
fn public(here: &Here, settings: &Settings) -> Outcome {
    let keys = Keys::in_folder(&settings.keys.value);
    let mut all = keys.retired()?;
    all.extend(keys.public()?);
    here.out
        .bytes(format!("{}\n", token::keys::set(&all)).as_bytes());
    Ok(ExitCode::SUCCESS)
}

/// `90s`, `15m`, `8h` or `30d`, in seconds.
fn duration(text: &str) -> Result<i64, Fault> {
    let wrong = || Fault::invalid("ttl", "must be a time such as 90s, 15m, 8h or 30d");
    let unit = match text.chars().last().ok_or_else(wrong)? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number
        .checked_mul(unit)
        .filter(|seconds| *seconds > 0)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("90s", 90),
            ("15m", 900),
            ("8h", 28_800),
            ("30d", 2_592_000),
        ] {
            assert_eq!(duration(text), Ok(seconds));
        }
        for text in [
            "",
            "h",
            "8",
            "0h",
            "-1h",
            "1.5h",
            "8 h",
            "ä",
            "99999999999999999d",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
