//! One item of each kind as the log holds it: read, and written again with the same bytes. What was
//! appended once is read for ever, so these lines are only added to.

use understory_model::canon::sha256;
use understory_model::error::Code;
use understory_model::fact::Fact;
use understory_model::item::Item;
use understory_model::kind::ItemKind;
use understory_model::{Id, Seq, Time};
use uuid::Uuid;

fn item(kind: &str, entity: Option<Id>, content: &str) -> Item {
    Item {
        seq: Seq(9),
        uuid: Uuid::from_u128(9),
        kind: kind.into(),
        project: Some(Id(1)),
        entity,
        realized_at: Time(5),
        canonical_at: Time(5),
        actor: "ada".into(),
        session: "s".into(),
        cause: None,
        digest: sha256(content.as_bytes()),
        chain: [0; 32],
        content: Some(content.into()),
    }
}

/// Kind, whether it is about an entity, content.
const LOG: [(&str, bool, &str); 26] = [
    (
        "EntityDelta",
        true,
        r#"{"kind":"node","handle":"TASK-001","version":1,"commit":"c1","parent":null,"action":"created","data":{"summary":"Write it"},"place":{"to":{"id":1,"handle":"PLAN-001"}},"tick":3}"#,
    ),
    (
        "EntityDelta",
        true,
        r#"{"kind":"record","handle":"R001","version":2,"commit":"c2","parent":"c1","action":"updated","changes":[{"at":["title"],"was":"a","is":"b"}],"reason":"clearer"}"#,
    ),
    (
        "Message",
        true,
        r#"{"body":"see R001 ü","cut":2,"idempotency_key":"k","in_reply_to":7,"kind":"event","mentions":[{"target":3,"type":"entity","span":[4,8]}],"metadata":{"event_type":"finding_reported"},"n":2,"role":"worker","schema_version":1,"thread":"th_001"}"#,
    ),
    // Before roles and ways of cutting were kept.
    (
        "Message",
        true,
        r#"{"body":"hello","kind":"chat","n":1,"schema_version":1,"thread":"th_001"}"#,
    ),
    (
        "Message",
        true,
        r#"{"body":"","cited":[3],"cut":2,"kind":"chat","n":3,"schema_version":1,"thread":"th_001","undone":true}"#,
    ),
    ("ReadAck", true, r#"{"changes":1,"n":4,"thread":"th_001"}"#),
    ("ReadAck", true, r#"{"n":4,"thread":"th_001"}"#),
    (
        "NoteEntry",
        false,
        r#"{"branch":"main","content":"tried it","doc":"notes","format":"md","kind":"note","meta":{"a":1},"origin":4,"source_event_id":"e","title":"T"}"#,
    ),
    (
        "NoteEntry",
        false,
        r#"{"branch":"main","content":"","doc":"notes","kind":"note"}"#,
    ),
    (
        "GraphDelta",
        false,
        r#"{"branch":"main","deleted":false,"doc":"graph","key":"n1","kind":"node","source":"merge:x:3","state":{"title":"N"}}"#,
    ),
    (
        "GraphDelta",
        false,
        r#"{"branch":"main","deleted":true,"doc":"graph","key":"a|b|c","kind":"edge","state":{"from":"a","to":"b"}}"#,
    ),
    ("TokenRevoked", false, r#"{"kind":"token","name":"j1"}"#),
    ("TokenRevoked", false, r#"{"kind":"session","name":"s1"}"#),
    (
        "Undone",
        false,
        r#"{"item":4,"remains":{"fields":{},"log":2,"undone":true}}"#,
    ),
    ("ChangesAck", false, r#"{"seq":12}"#),
    ("ChangesAck", false, r#"{"seq":12,"stream":"changes:node"}"#),
    (
        "Fossilized",
        false,
        r#"{"active":[],"fossil":[[4,0],[5,1]],"threshold":0.05}"#,
    ),
    ("Corrected", false, r#"{"wrong":[[4,1]]}"#),
    (
        "FrameMoved",
        false,
        r#"{"fields":{"branch_uuid":"entity_1","head":null,"participant":"ada"},"frame":{"head":null,"log":3}}"#,
    ),
    (
        "AuditEvent",
        false,
        r#"{"agent":"ada","count":2,"event":"token_refused","expires_at":"2026-01-01","jti":"j","kid":"k","reason":"expired","role":"worker","session":"s"}"#,
    ),
    ("AuditEvent", false, r#"{"event":"logged_in"}"#),
    (
        "Purged",
        false,
        r#"{"items":[[4,"ab12"]],"reason":"a key"}"#,
    ),
    (
        "Message",
        false,
        r#"{"log":2,"replies_to":4,"fields":{"description":"said","fragments":[]},"mentions":[{"target":3,"type":"fragment","span":[0,4],"fragment":"^abc"}]}"#,
    ),
    ("Note", false, r#"{"log":null,"fields":{"a":1}}"#),
    (
        "ArtifactDelta",
        true,
        r#"{"log":2,"fields":{"artifact_uuid":"u","bytes":3,"commit":"c","label":"doc","lines":1,"newline":true,"ops":"+1","parent":null,"references":[],"texts":["one\n"]}}"#,
    ),
    ("Deployed", false, r#"{"log":2,"fields":{"to":"prod"}}"#),
];

#[test]
fn every_kind_is_read_and_written_with_the_same_bytes() {
    for (kind, about, content) in LOG {
        let item = item(kind, about.then_some(Id(1)), content);
        let fact = Fact::read(&item).unwrap_or_else(|fault| panic!("{content}: {fault:?}"));
        assert_eq!(fact.kind().as_str(), kind, "{content}");
        assert_eq!(fact.content().as_deref(), Ok(content));
    }
}

#[test]
fn every_kind_of_the_server_is_here() {
    let here = |kind: &ItemKind<'_>| LOG.iter().any(|(name, ..)| *name == kind.as_str());
    // These have the form of a note.
    let like_a_note = [
        ItemKind::ToolCall,
        ItemKind::SystemEvent,
        ItemKind::ArtifactCreated,
    ];
    for kind in ItemKind::OWN {
        assert!(here(&kind) || like_a_note.contains(&kind), "{kind:?}");
    }
}

#[test]
fn damage_is_told_where_something_follows_from_the_item() {
    for kind in [
        "EntityDelta",
        "ReadAck",
        "NoteEntry",
        "Undone",
        "FrameMoved",
    ] {
        for content in ["{}", "[]", "null", "{\"n\":", "{\"branch\":3}"] {
            let fault = Fact::read(&item(kind, Some(Id(1)), content)).unwrap_err();
            assert_eq!(fault.code, Code::StoreCorrupt, "{kind} {content}");
        }
    }
    // A later version may write events that this one does not know.
    let later = item("AuditEvent", None, r#"{"event":"moon_landed"}"#);
    assert_eq!(Fact::read(&later), Ok(Fact::Opaque));
    let foreign = item("Later.Kind", None, "{}");
    assert_eq!(Fact::read(&foreign), Ok(Fact::Opaque));
}
