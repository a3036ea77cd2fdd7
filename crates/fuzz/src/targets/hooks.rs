//! What clients write to their hooks: read as one client's event, or not at all.

use understory::config::Surroundings;
use understory::hook::client::Client;
use understory::hook::event::{Event, Said};

use crate::chance::Chance;
use crate::target::{Outcome, Target, check, text, value};
use crate::{json, mutate};

pub struct Hooks;

impl Target for Hooks {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let written = text(input);
        let mut way = String::new();
        for named in [
            None,
            Some("claude"),
            Some("codex"),
            Some("gemini"),
            Some("copilot"),
            Some("cursor"),
        ] {
            let client = Client::of(named, &around(), &written);
            let Some(client) = client.map_err(|fault| fault.to_string())? else {
                continue;
            };
            for event in Event::ALL {
                let Some(fired) = client.read(event, &written) else {
                    continue;
                };
                way.push_str(&format!("{client:?} {event:?} {:?} ", fired.source));
                for said in [
                    Said::Facts(fired.name.clone()),
                    Said::GoOn(fired.session.clone()),
                ] {
                    let Some(answer) = client.write(&fired, &said) else {
                        continue;
                    };
                    let is_json = value(answer.as_bytes()).is_some();
                    let is_line = answer.trim_end().lines().count() == 1;
                    check(is_json && is_line, || {
                        format!("not one line of JSON: {answer}")
                    })?;
                }
            }
        }
        Ok(way)
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = chance.pick(known).clone();
        match (value(&input), chance.one_in(2)) {
            (Some(mut one), true) => {
                json::mutate(chance, &mut one, self.words());
                json::spelled(chance, &one).into_bytes()
            }
            _ => {
                mutate::mutate(chance, &mut input, self.words(), known);
                input
            }
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "session_id",
            "sessionId",
            "conversation_id",
            "hook_event_name",
            "SessionStart",
            "UserPromptSubmit",
            "BeforeAgent",
            "AfterAgent",
            "Stop",
            "stop",
            "agentStop",
            "PreCompact",
            "SessionEnd",
            "turn_id",
            "prompt_id",
            "timestamp",
            "transcript_path",
            "stop_hook_active",
            "source",
            "compact",
            "cwd",
            "workspace_roots",
        ]
    }
}

/// A place that says nothing of a client.
fn around() -> Surroundings {
    Surroundings {
        env: Box::new(|_| None),
        folder: "/".into(),
        home: None,
        config_dir: None,
        data_dir: None,
    }
}
