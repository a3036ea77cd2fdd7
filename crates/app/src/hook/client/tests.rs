//! What each client writes and reads, as recorded or as its documentation says.

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;

fn around() -> Surroundings {
    around_with(BTreeMap::new())
}

fn around_with(set: BTreeMap<String, String>) -> Surroundings {
    Surroundings {
        env: Box::new(move |name| set.get(name).map(Into::into)),
        folder: "/".into(),
        home: None,
        config_dir: None,
        data_dir: None,
    }
}

const SAMPLES: [(Client, Event, &str); 16] = [
    (
        Client::Claude,
        Event::SessionStart,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"SessionStart","source":"startup","model":"m"}"#,
    ),
    (
        Client::Claude,
        Event::Prompt,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"UserPromptSubmit","prompt":"hi","prompt_id":"p1","permission_mode":"default"}"#,
    ),
    (
        Client::Claude,
        Event::Stop,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"done","background_tasks":[],"session_crons":[]}"#,
    ),
    (
        Client::Claude,
        Event::PreCompact,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}"#,
    ),
    (
        Client::Claude,
        Event::SessionEnd,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"SessionEnd","reason":"prompt_input_exit"}"#,
    ),
    (
        Client::Claude,
        Event::Wake,
        r#"{"session_id":"c1","transcript_path":"/t.jsonl","cwd":"/shop","hook_event_name":"Stop","stop_hook_active":true}"#,
    ),
    (
        Client::Codex,
        Event::Prompt,
        r#"{"session_id":"x1","turn_id":"t1","transcript_path":null,"cwd":"/shop","hook_event_name":"UserPromptSubmit","model":"m","permission_mode":"default","prompt":"hi"}"#,
    ),
    (
        Client::Codex,
        Event::Stop,
        r#"{"session_id":"x1","turn_id":"t1","transcript_path":null,"cwd":"/shop","hook_event_name":"Stop","model":"m","permission_mode":"default","stop_hook_active":false,"last_assistant_message":null}"#,
    ),
    (
        Client::Gemini,
        Event::SessionStart,
        r#"{"session_id":"g1","transcript_path":"/t.json","cwd":"/shop","hook_event_name":"SessionStart","timestamp":"2026-11-17T10:00:00Z","source":"startup"}"#,
    ),
    (
        Client::Gemini,
        Event::Prompt,
        r#"{"session_id":"g1","transcript_path":"/t.json","cwd":"/shop","hook_event_name":"BeforeAgent","timestamp":"2026-11-17T10:00:00Z","prompt":"hi"}"#,
    ),
    (
        Client::Gemini,
        Event::Stop,
        r#"{"session_id":"g1","transcript_path":"/t.json","cwd":"/shop","hook_event_name":"AfterAgent","timestamp":"2026-11-17T10:00:00Z","prompt":"hi","prompt_response":"ok","stop_hook_active":false}"#,
    ),
    (
        Client::VsCode,
        Event::SessionStart,
        r#"{"hook_event_name":"SessionStart","session_id":"p1","timestamp":"2026-11-17T10:00:00Z","cwd":"/shop","source":"new","initial_prompt":"hi"}"#,
    ),
    (
        Client::VsCode,
        Event::Stop,
        r#"{"sessionId":"p1","timestamp":1763373600000,"cwd":"/shop","transcriptPath":"/t","stopReason":"end_turn"}"#,
    ),
    (
        Client::Cursor,
        Event::Stop,
        r#"{"conversation_id":"k1","generation_id":"n1","hook_event_name":"stop","workspace_roots":["/shop"],"status":"completed","loop_count":0}"#,
    ),
    (
        Client::Cursor,
        Event::Prompt,
        r#"{"conversation_id":"k1","generation_id":"n1","hook_event_name":"beforeSubmitPrompt","workspace_roots":["/shop"],"prompt":"hi"}"#,
    ),
    (
        Client::Gemini,
        Event::PreCompact,
        r#"{"session_id":"g1","transcript_path":"/t.json","cwd":"/shop","hook_event_name":"PreCompress","timestamp":"2026-11-17T10:00:00Z","trigger":"auto"}"#,
    ),
];

#[test]
fn every_client_is_known_by_what_it_writes() {
    for (client, event, text) in SAMPLES {
        assert_eq!(
            Client::of(None, &around(), text).unwrap(),
            Some(client),
            "{text}"
        );
        let fired = client.read(event, text).expect(text);
        assert_eq!((fired.client, fired.event), (client, event));
        assert_eq!(fired.folder.as_deref(), Some(std::path::Path::new("/shop")));
        assert!(!fired.session.is_empty());
        // The same text under another event is not answered.
        for other in Event::ALL {
            let name_is_known = text.contains("vent_name");
            if name_is_known && other != event && ![event, other].contains(&Event::Wake) {
                assert_eq!(client.read(other, text), None, "{other:?}: {text}");
            }
        }
    }
}

#[test]
fn what_is_not_known_is_nothing() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "{\"session_id\": 5}",
        r#"{"session_id":"s"}"#,
    ] {
        assert_eq!(Client::of(None, &around(), text).unwrap(), None);
        for (client, event, _) in SAMPLES {
            // Copilot's own events do not say which they are.
            if client != Client::VsCode || !text.contains("\"s\"") {
                assert_eq!(client.read(event, text), None, "{text}");
            }
        }
    }
    assert_eq!(Client::of(Some("emacs"), &around(), "{}").unwrap(), None);
    let subagent = SAMPLES[2]
        .2
        .replace("{\"session_id\"", "{\"agent_id\":\"a\",\"session_id\"");
    assert_eq!(Client::Claude.read(Event::Stop, &subagent), None);
}

#[test]
fn every_client_is_answered_in_its_form() {
    let (facts, go_on) = (Said::Facts("F".into()), Said::GoOn("G".into()));
    let answer = |at: usize, said: &Said| {
        let (client, event, text) = SAMPLES[at];
        client.write(&client.read(event, text).unwrap(), said)
    };
    let golden = [
        (
            0,
            &facts,
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"F"}}"#,
        ),
        (
            1,
            &facts,
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"F"}}"#,
        ),
        (2, &go_on, r#"{"decision":"block","reason":"G"}"#),
        (
            6,
            &facts,
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"F"}}"#,
        ),
        (7, &go_on, r#"{"decision":"block","reason":"G"}"#),
        (
            9,
            &facts,
            r#"{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"F"}}"#,
        ),
        (10, &go_on, r#"{"decision":"deny","reason":"G"}"#),
        (12, &go_on, r#"{"decision":"block","reason":"G"}"#),
        (13, &go_on, r#"{"followup_message":"G"}"#),
    ];
    for (at, said, text) in golden {
        assert_eq!(
            answer(at, said).as_deref(),
            Some(format!("{text}\n").as_str())
        );
    }
    for at in 0..SAMPLES.len() {
        assert_eq!(answer(at, &Said::Nothing), None);
    }
    // It drops what its first hooks say.
    assert_eq!(answer(14, &facts), None);
    // VS Code takes a decision only beside the event's name.
    let code = SAMPLES[11].2.replace("SessionStart", "Stop");
    let fired = Client::VsCode.read(Event::Stop, &code).unwrap();
    assert_eq!(
        Client::VsCode.write(&fired, &go_on).unwrap().trim(),
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"G"},"decision":"block","reason":"G"}"#
    );
}

/// What a client wrote when it was run, and in which environment its hook was.
#[derive(Deserialize)]
struct Recorded {
    stdin: Value,
    environment: BTreeMap<String, String>,
}

/// The recorded samples, by the client, what its hook is called there and what it is here.
const RECORDED: [(Client, &str, Event, &str); 26] = [
    (
        Client::Claude,
        "claude-session-start",
        Event::SessionStart,
        CONTEXT,
    ),
    (
        Client::Claude,
        "claude-user-prompt-submit",
        Event::Prompt,
        CONTEXT,
    ),
    (Client::Claude, "claude-stop", Event::Stop, BLOCK),
    (
        Client::Claude,
        "claude-pre-compact",
        Event::PreCompact,
        CONTEXT,
    ),
    (
        Client::Claude,
        "claude-session-end",
        Event::SessionEnd,
        CONTEXT,
    ),
    (
        Client::Codex,
        "codex-session-start",
        Event::SessionStart,
        CONTEXT,
    ),
    (
        Client::Codex,
        "codex-user-prompt-submit",
        Event::Prompt,
        CONTEXT,
    ),
    (Client::Codex, "codex-stop", Event::Stop, BLOCK),
    (
        Client::Codex,
        "codex-pre-compact",
        Event::PreCompact,
        CONTEXT,
    ),
    (
        Client::Codex,
        "codex-session-end",
        Event::SessionEnd,
        CONTEXT,
    ),
    (
        Client::Gemini,
        "gemini-session-start",
        Event::SessionStart,
        CONTEXT,
    ),
    (
        Client::Gemini,
        "gemini-before-agent",
        Event::Prompt,
        CONTEXT,
    ),
    (Client::Gemini, "gemini-after-agent", Event::Stop, DENY),
    (
        Client::Gemini,
        "gemini-pre-compress",
        Event::PreCompact,
        CONTEXT,
    ),
    (
        Client::Gemini,
        "gemini-session-end",
        Event::SessionEnd,
        CONTEXT,
    ),
    (
        Client::Copilot,
        "copilot-session-start",
        Event::SessionStart,
        PLAIN,
    ),
    (
        Client::Copilot,
        "copilot-user-prompt-submitted",
        Event::Prompt,
        PLAIN,
    ),
    (Client::Copilot, "copilot-agent-stop", Event::Stop, BLOCK),
    (
        Client::Copilot,
        "copilot-session-end",
        Event::SessionEnd,
        PLAIN,
    ),
    (
        Client::Copilot,
        "copilot-claude-session-start",
        Event::SessionStart,
        PLAIN,
    ),
    (
        Client::Copilot,
        "copilot-claude-user-prompt-submit",
        Event::Prompt,
        PLAIN,
    ),
    (Client::Copilot, "copilot-claude-stop", Event::Stop, BLOCK),
    (
        Client::Opencode,
        "opencode-session-start",
        Event::SessionStart,
        OURS,
    ),
    (Client::Opencode, "opencode-prompt", Event::Prompt, OURS),
    (Client::Opencode, "opencode-stop", Event::Stop, OURS),
    (
        Client::Opencode,
        "opencode-session-end",
        Event::SessionEnd,
        OURS,
    ),
];
/// Where each reads facts, or why it goes on.
const CONTEXT: &str = "/hookSpecificOutput/additionalContext";
const PLAIN: &str = "/additionalContext";
const OURS: &str = "/context";
const BLOCK: &str = "block";
const DENY: &str = "deny";

#[test]
fn what_clients_wrote_is_read_and_answered() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/app/hook_samples");
    for (client, name, event, place) in RECORDED {
        let text = std::fs::read_to_string(format!("{folder}/{name}.json")).expect(name);
        let recorded: Recorded = serde_json::from_str(&text).expect(name);
        let around = around_with(recorded.environment);
        let text = recorded.stdin.to_string();
        let known = Client::of(None, &around, &text).unwrap();
        // opencode's plugin names itself; Codex's hooks look like Claude Code's at two events.
        assert!(known == Some(client) || [Client::Opencode, Client::Codex].contains(&client));
        let fired = client.read(event, &text).expect(name);
        assert_eq!(
            fired.folder.as_deref(),
            Some(std::path::Path::new("/lab/shop"))
        );
        let (said, place) = match place {
            BLOCK | DENY => (Said::GoOn("F".into()), "/reason"),
            place => (Said::Facts("F".into()), place),
        };
        let answer = client.write(&fired, &said).expect(name);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            answer.pointer(place),
            Some(&Value::from("F")),
            "{name}: {answer}"
        );
    }
}

#[test]
fn an_opencode_chat_says_where_it_takes_prompts() {
    let text = r#"{"event":"session-start","session_id":"ses_1","turn_id":"msg_1","cwd":"/shop","source":"clear","address":"http://127.0.0.1:4096/x"}"#;
    let fired = Client::Opencode.read(Event::SessionStart, text).unwrap();
    assert_eq!(fired.address.as_deref(), Some("http://127.0.0.1:4096/x"));
    assert!(fired.source.forgets());
    assert_eq!(Client::Opencode.read(Event::Stop, text), None);
    // Its turn has ended: it cannot be made to go on.
    let go_on = Said::GoOn("G".into());
    assert_eq!(Client::Opencode.write(&fired, &go_on), None);
    assert!(!Client::Opencode.hears(Event::Stop));
}

#[test]
fn only_a_server_on_this_machine_is_one() {
    assert!(loopback("http://127.0.0.1:4096").is_some());
    for other in [
        "https://127.0.0.1:1",
        "http://example.com",
        "127.0.0.1:1",
        "http://127.0.0.1@x",
    ] {
        assert_eq!(loopback(other), None);
    }
}
