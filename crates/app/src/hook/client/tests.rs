//! What each client writes and reads, as recorded or as its documentation says.

use super::*;

fn around() -> Surroundings {
    Surroundings {
        env: Box::new(|_| None),
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
        Client::Copilot,
        Event::SessionStart,
        r#"{"hook_event_name":"SessionStart","session_id":"p1","timestamp":"2026-11-17T10:00:00Z","cwd":"/shop","source":"new","initial_prompt":"hi"}"#,
    ),
    (
        Client::Copilot,
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
            if client != Client::Copilot || !text.contains("\"s\"") {
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
    assert_eq!(answer(11, &facts), None);
    assert_eq!(answer(14, &facts), None);
    // VS Code takes a decision only beside the event's name.
    let code = SAMPLES[11].2.replace("SessionStart", "Stop");
    let fired = Client::Copilot.read(Event::Stop, &code).unwrap();
    assert_eq!(
        Client::Copilot.write(&fired, &go_on).unwrap().trim(),
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"G"},"decision":"block","reason":"G"}"#
    );
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
