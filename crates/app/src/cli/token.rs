//! `understory token`: identity for HTTP. Issues and revokes tokens, and keeps the keys.
//!
//! A token is printed alone on the last line, so that a script can take it; nothing else here ever
//! prints one, and nothing prints a key.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use serde_json::json;
use understory_engine::clock::{Clock as _, System};
use understory_engine::revoked::Revocation;
use understory_model::caller::check_session_name;
use understory_model::{Caller, Fault, Role};

use super::table::Table;
use super::text::Text;
use super::when::Clock;
use super::{Here, Outcome};
use crate::config::Settings;
use crate::identity::{Identity, allowed_role};
use crate::ids;
use crate::store::Store;
use crate::token;
use crate::token::jws::Jws;
use crate::token::keys::Keys;

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
A session's revocation covers what was issued up to that moment; a token that is issued for the
session afterwards is good again.

Examples:
  understory token revoke eyJ0eXAi…
  understory token revoke 5f0c2a… --workspace shop
  understory token revoke --session s1 --workspace shop";

const KEYS: &str = "\
Examples:
  understory token keys
  understory token keys --rotate
  understory token keys --retire 1f2e3d4c5b6a7980";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print a token for the agent, workspace, role and session that are named
    #[command(after_help = ISSUE)]
    Issue {
        /// How long it is good for: 90s, 15m, 8h, 30d
        #[arg(long, value_name = "TIME", default_value = "1h")]
        ttl: String,
    },
    /// Refuse a token, or all of a session's, from now on
    #[command(after_help = REVOKE)]
    Revoke {
        /// The token, or its `jti`
        token: Option<String>,
    },
    /// List the keys, make a new one, or stop one
    #[command(after_help = KEYS)]
    Keys {
        /// Make a key that signs from now on; the others still verify
        #[arg(long)]
        rotate: bool,
        /// Stop a key: what it signed is refused from now on
        #[arg(long, value_name = "KEY")]
        retire: Option<String>,
    },
}

impl Args {
    pub fn run(self, here: &Here) -> Outcome {
        let settings = here.settings()?;
        match self.action {
            Action::Issue { ttl } => issue(here, &settings, &ttl),
            Action::Revoke { token } => revoke(here, &settings, token.as_deref()),
            Action::Keys { rotate, retire } => keys(here, &settings, rotate, retire.as_deref()),
        }
    }
}

fn issue(here: &Here, settings: &Settings, ttl: &str) -> Outcome {
    // A token is an agent's unless it is said otherwise, and its session is its own.
    let named = Identity::agent(settings, &here.around)?.caller(None);
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

fn revoke(here: &Here, settings: &Settings, named: Option<&str>) -> Outcome {
    let mut person = Identity::shell(settings, &here.around)?.caller(None);
    // Whoever holds the store may revoke, whatever role the settings give to agents.
    person.role = Role::Operator;
    let session = here.flags.session.as_deref();
    let what = match (named, session) {
        (None, Some(session)) if check_session_name("session", session).is_ok() => {
            Revocation::Session(session.to_owned())
        }
        (Some(named), None) => match Jws::parse(named.trim()) {
            Some(jws) => {
                let text = |claim: &str| jws.claims.get(claim).and_then(|value| value.as_str());
                let (Some(jti), Some(workspace)) = (text("jti"), text("workspace_id")) else {
                    return Err(Fault::invalid("token", "it names no jti and workspace"));
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
    let answer = engine.revoke(&person, what)?;
    engine.close();
    if here.out.json {
        here.out.value(&answer);
    } else {
        let text = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
        let line = Text::from(format!("Revoked the {} ", text("revoked"))).bold(text("name"));
        here.out
            .line(line.plain(format!(", item {}.", answer["seq"])));
    }
    Ok(ExitCode::SUCCESS)
}

fn keys(here: &Here, settings: &Settings, rotate: bool, retire: Option<&str>) -> Outcome {
    let keys = Keys::in_folder(&settings.keys.value);
    if let Some(kid) = retire {
        keys.retire(kid)?;
    }
    if rotate {
        keys.rotate()?;
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
