//! Which agent client a process runs under, and which chat of it: what clients say of themselves in
//! the environment of what they start, and beside each call.

use serde_json::Value;
use understory_model::caller::check_session_name;
use understory_model::{Fault, name};

use crate::config::Surroundings;

/// A client that is known by what it leaves in the environment.
struct Known {
    /// As it names itself over MCP; [`agent`] is what its agent is called.
    name: &'static str,
    /// What marks everything that it starts.
    marks: &'static [&'static str],
    /// What holds the id of the chat.
    sessions: &'static [&'static str],
}

static CLIENTS: [Known; 5] = [
    Known {
        name: "claude-code",
        marks: &["CLAUDECODE"],
        sessions: &["CLAUDE_CODE_SESSION_ID"],
    },
    Known {
        name: "codex-mcp-client",
        marks: &[],
        // A subagent has a thread of its own in its parent's session.
        sessions: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
    },
    Known {
        name: "gemini-cli-mcp-client",
        marks: &["GEMINI_CLI"],
        sessions: &["GEMINI_SESSION_ID"],
    },
    Known {
        name: "opencode",
        marks: &["OPENCODE"],
        sessions: &[],
    },
    Known {
        name: "copilot-cli",
        marks: &["COPILOT_CLI"],
        sessions: &["COPILOT_AGENT_SESSION_ID"],
    },
];

/// What any agent sets who wants to be known as one.
const ANY: &str = "AI_AGENT";

/// What `understory run` sets for the program of an agent, and so for its shells: whose they are.
pub const RUN: &str = "UNDERSTORY_RUN";

/// The agent in whose shell a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    pub agent: String,
    /// Its chat, where the client tells it.
    pub session: Option<String>,
}

/// The name of the agent that works in a client, over MCP and in its shells alike. A session that was
/// known by another keeps that.
pub fn agent(client: &str) -> String {
    name::of_client(client)
}

/// The agent whose shell this is; `None` in a person's.
pub fn shell(around: &Surroundings) -> Result<Option<Shell>, Fault> {
    for client in &CLIENTS {
        let session = first(around, client.sessions)?;
        if session.is_some() || first(around, client.marks)?.is_some() {
            return Ok(Some(Shell {
                agent: agent(client.name),
                session: session.filter(|name| is_session(name)),
            }));
        }
    }
    let named = around.var(ANY)?.or(around.var(RUN)?);
    Ok(named.map(|name| Shell {
        agent: agent(&name),
        session: None,
    }))
}

/// The chat that started this process, where the client tells it in the environment.
pub fn session(around: &Surroundings) -> Result<Option<String>, Fault> {
    for client in &CLIENTS {
        if let Some(name) = first(around, client.sessions)?.filter(|name| is_session(name)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The chat that a call belongs to, where the client tells it beside the call: one process may serve
/// several.
pub fn session_of_call(meta: &serde_json::Map<String, Value>) -> Option<String> {
    const CODEX: &str = "x-codex-turn-metadata";
    let of_turn = match meta.get(CODEX) {
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        other => other.cloned(),
    };
    let of_turn = of_turn.unwrap_or_default();
    let named = [meta.get("threadId"), of_turn.get("thread_id")];
    let mut named = named.into_iter().flatten().filter_map(Value::as_str);
    named.find(|name| is_session(name)).map(str::to_owned)
}

/// Every variable by which a client marks what it starts.
pub fn marks() -> impl Iterator<Item = &'static str> {
    let of = |client: &'static Known| client.marks.iter().chain(client.sessions);
    CLIENTS.iter().flat_map(of).copied().chain([ANY, RUN])
}

/// The client that a program is, as it names itself over MCP.
pub fn of_program(program: &str) -> Option<&'static str> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let named = match name.trim_end_matches(".exe") {
        "claude" => "claude-code",
        "codex" => "codex-mcp-client",
        "gemini" => "gemini-cli-mcp-client",
        "opencode" => "opencode",
        "copilot" => "copilot-cli",
        _ => return None,
    };
    Some(named)
}

fn first(around: &Surroundings, names: &[&'static str]) -> Result<Option<String>, Fault> {
    for name in names {
        if let Some(value) = around.var(name)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn is_session(name: &str) -> bool {
    check_session_name("session", name).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn around(set: &'static [(&'static str, &'static str)]) -> Surroundings {
        Surroundings {
            env: Box::new(|name| {
                let found = set.iter().find(|(set, _)| *set == name);
                found.map(|(_, value)| (*value).into())
            }),
            folder: "/".into(),
            home: None,
            config_dir: None,
            data_dir: None,
        }
    }

    #[test]
    fn every_client_marks_its_shells() {
        for (set, agent, session) in [
            (
                &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "c1")][..],
                "claude-code",
                Some("c1"),
            ),
            (&[("CLAUDECODE", "1")], "claude-code", None),
            (
                &[("CODEX_SESSION_ID", "s"), ("CODEX_THREAD_ID", "t")],
                "codex",
                Some("t"),
            ),
            (&[("GEMINI_CLI", "1")], "gemini", None),
            (&[("OPENCODE", "1")], "opencode", None),
            (&[("COPILOT_AGENT_SESSION_ID", "p")], "copilot", Some("p")),
            (&[("COPILOT_CLI", "1")], "copilot", None),
            (&[("AI_AGENT", "newcomer_1-2")], "newcomer_1-2", None),
        ] {
            let found = shell(&around(set)).unwrap().unwrap();
            assert_eq!(
                (found.agent.as_str(), found.session.as_deref()),
                (agent, session)
            );
        }
        assert_eq!(shell(&around(&[("USER", "ann")])).unwrap(), None);
        assert_eq!(
            session(&around(&[("CLAUDE_CODE_SESSION_ID", "c1")])).unwrap(),
            Some("c1".into())
        );
    }

    #[test]
    fn a_call_may_say_which_chat_it_belongs_to() {
        let of = |meta: Value| session_of_call(meta.as_object().unwrap());
        assert_eq!(of(json!({"threadId": "t"})), Some("t".into()));
        let turn = json!({"thread_id": "t2", "session_id": "root"});
        assert_eq!(
            of(json!({"x-codex-turn-metadata": turn})),
            Some("t2".into())
        );
        let text = turn.to_string();
        assert_eq!(
            of(json!({"x-codex-turn-metadata": text})),
            Some("t2".into())
        );
        for nothing in [
            json!({}),
            json!({"threadId": 5}),
            json!({"threadId": "a\nb"}),
        ] {
            assert_eq!(of(nothing), None);
        }
    }
}
