//! Stores written by earlier versions: today's program opens, proves and rebuilds them, and answers
//! as the program that wrote them did. How they were made is in `tests/old_stores/README.md`.

use std::path::{Path, PathBuf};

use crate::shell::{Done, Shell, says};
use serde_json::Value;

/// What depends on when it is asked, in any answer.
const TIMES: [&str; 2] = ["strength", "here"];

/// An answer that changed on purpose since the store was written.
struct Changed {
    tool: &'static str,
    /// Part of the arguments; empty for every call of the tool.
    of: &'static str,
    /// Where; `*` stands for any index or name, and a place includes everything below it.
    places: &'static [&'static str],
    why: &'static str,
}

impl Changed {
    fn is_about(&self, read: &Read) -> bool {
        self.tool == read.tool && read.arguments.to_string().contains(self.of)
    }
}

/// In the order of the recorded calls.
const CHANGED: &[Changed] = &[
    Changed {
        tool: "graph_onboard",
        of: "",
        places: &["/hint", "/recent/*/dropped"],
        why: "hints show the arguments; dropped is told from done",
    },
    Changed {
        tool: "graph_context",
        of: "",
        places: &[
            "/depended_by/*/node/parent",
            "/edges",
            "/node/dropped",
            "/children/dropped",
        ],
        why: "edges of every type are shown, dropped is told from done, neighbours have no parent",
    },
    Changed {
        tool: "get_project_overview",
        of: "",
        places: &["/open_sessions", "/left_sessions"],
        why: "sessions that have ended are told apart from those that are open",
    },
    Changed {
        tool: "search_records",
        of: "",
        places: &["/results"],
        why: "metadata and types are searched, and relevance is how much of the query is answered",
    },
    Changed {
        tool: "list_records",
        of: "",
        places: &["/total"],
        why: "a page says how many there are in all",
    },
    Changed {
        tool: "get_record_diff",
        of: "",
        places: &["/diff/metadata"],
        why: "every field is compared",
    },
    Changed {
        tool: "get_active_sessions",
        of: "",
        places: &["/sessions", "/left"],
        why: "sessions that have ended are told apart from those that are active",
    },
    Changed {
        tool: "branchmind_status",
        of: "",
        places: &["/checked_out_at", "/checked_out_by", "/schema_version"],
        why: "who checked out the branch is new; the version of what is derived was raised",
    },
    Changed {
        tool: "branchmind_branch_list",
        of: "",
        places: &[
            "/checked_out_at",
            "/checked_out_by",
            "/counts",
            "/pagination",
            "/branches/*/made_by",
            "/branches/*/made_at",
        ],
        why: "the list has pages and counts, and says who made each branch and when",
    },
    Changed {
        tool: "branchmind_show",
        of: "",
        places: &[
            "/entries/*/ts",
            "/entries/*/merged_at",
            "/entries/*/merged_by",
        ],
        why: "a merged note keeps its time, and the merge is beside it",
    },
    Changed {
        tool: "branchmind_log",
        of: "",
        places: &["/entries/*/ts"],
        why: "a merged note keeps its time",
    },
    Changed {
        tool: "branchmind_export",
        of: "",
        places: &["/target/state", "/notes/truncated", "/trace/truncated"],
        why: "a task's state is given, and each part says whether it is whole",
    },
    Changed {
        tool: "branchmind_diff",
        of: "",
        places: &["/entries", "/pagination/count"],
        why: "only what is not merged yet is listed",
    },
    Changed {
        tool: "branchmind_graph_conflict_show",
        of: "",
        places: &["/truncated"],
        why: "the answer says whether it is whole",
    },
    Changed {
        tool: "branchmind_think_context",
        of: "",
        places: &["/edges"],
        why: "edges between the cards are shown",
    },
    Changed {
        tool: "tasks_radar",
        of: "",
        places: &["/target/state"],
        why: "a task's state is given",
    },
    Changed {
        tool: "tasks_delta",
        of: "",
        places: &["/events/*/summary"],
        why: "the summary does not repeat what the action says",
    },
    Changed {
        tool: "get_thread",
        of: "",
        places: &[
            "/changes",
            "/open_items",
            "/readers",
            "/wakes/*/asked_by",
            "/wakes/*/created_at",
            "/wakes/*/prompt",
            "/wakes/*/reason",
            "/wakes/*/thread_id",
        ],
        why: "changes of status have numbers, readers say whether they are alive, and a wake says \
              who asked, when, what for and with which words",
    },
    Changed {
        tool: "read_messages",
        of: "",
        places: &[
            "/changes",
            "/schema_version",
            "/thread_id",
            "/messages/*/schema_version",
            "/messages/*/sender_session_id",
            "/messages/*/thread_id",
        ],
        why: "the page says once what every message repeated, and tells changes of status",
    },
    Changed {
        tool: "wait_for_messages",
        of: "",
        places: &[
            "/changes",
            "/hint",
            "/messages/*/schema_version",
            "/messages/*/sender_session_id",
            "/next/*/status",
        ],
        why: "as for read_messages; the place includes the changes of status",
    },
    Changed {
        tool: "summarize_thread",
        of: "",
        places: &[
            "/changes",
            "/open_items/*/item",
            "/participants",
            "/span",
            "/summary",
            "/title",
        ],
        why: "summaries say who, when and what about",
    },
    Changed {
        tool: "garden_timeline",
        of: "25",
        places: &[
            "/items/*/changes",
            "/items/*/handle",
            "/items/1/data",
            "/items/1/description",
        ],
        why: "changes name things by their ids and include the first value, fossils are told in words, \
              and conversations are uuid_…",
    },
    Changed {
        tool: "garden_entity_history",
        of: "",
        places: &[
            "/deltas/*/changes/added",
            "/deltas/*/changes/removed",
            "/deltas/*/changes/fields",
        ],
        why: "changes say which fields came and went, with parent, group and successor",
    },
    Changed {
        tool: "garden_changes",
        of: "",
        places: &["/cursor"],
        why: "a cursor holds the filter that it belongs to",
    },
    Changed {
        tool: "garden_artifact_log",
        of: "",
        places: &["/pagination", "/truncated"],
        why: "the list has pages",
    },
    Changed {
        tool: "garden_artifact_list",
        of: "",
        places: &["/pagination", "/truncated"],
        why: "the list has pages",
    },
    Changed {
        tool: "garden_relations",
        of: "R001",
        places: &["/relations"],
        why: "an entity's group is a relation too",
    },
    Changed {
        tool: "garden_relations",
        of: "item_",
        places: &["/relations/*/preview"],
        why: "previews are in words",
    },
    Changed {
        tool: "garden_trace",
        of: "",
        places: &["/steps/*/text", "/steps/*/commit"],
        why: "steps are told in words, and a commit is a field of its own",
    },
    Changed {
        tool: "garden_stack",
        of: "",
        places: &["/pagination"],
        why: "the list has pages",
    },
    Changed {
        tool: "why",
        of: "",
        places: &["/steps/*/text", "/steps/*/commit", "/steps/*/action"],
        why: "steps are told in words, and a commit is a field of its own",
    },
    Changed {
        tool: "search",
        of: "",
        places: &["/results"],
        why: "more is searched, and a hit says its project",
    },
];

/// A recorded call.
struct Read {
    tool: String,
    arguments: Value,
    answer: Value,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_stores")
}

fn recorded() -> Vec<Read> {
    let text = std::fs::read_to_string(folder().join("b7cea34.reads.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    let rows = rows.into_iter().map(|mut row| Read {
        tool: row["tool"].as_str().unwrap().to_owned(),
        arguments: row["arguments"].take(),
        answer: row["answer"].take(),
    });
    rows.collect()
}

/// Every place where two answers differ.
fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(before, now, "", &mut found);
    found
}

fn compare(before: &Value, now: &Value, place: &str, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let lasting = |name: &&String| !TIMES.contains(&name.as_str());
            for (name, value) in before {
                let place = format!("{place}/{name}");
                match now.get(name) {
                    _ if !lasting(&name) => {}
                    Some(now) => compare(value, now, &place, found),
                    None => found.push(place),
                }
            }
            let new = now.keys().filter(|name| !before.contains_key(*name));
            let new = new.filter(lasting);
            found.extend(new.map(|name| format!("{place}/{name}")));
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (at, (before, now)) in before.iter().zip(now).enumerate() {
                compare(before, now, &format!("{place}/{at}"), found);
            }
        }
        (before, now) if before == now => {}
        _ => found.push(place.to_owned()),
    }
}

/// Whether `place` is at or below `pattern`.
fn covers(pattern: &str, place: &str) -> bool {
    let mut place = place.split('/');
    pattern.split('/').all(|wanted| {
        place
            .next()
            .is_some_and(|part| wanted == "*" || wanted == part)
    })
}

fn changed(read: &Read) -> Vec<&'static str> {
    let listed = CHANGED.iter().filter(|entry| entry.is_about(read));
    listed.flat_map(|entry| entry.places).copied().collect()
}

/// The places where two answers to a call differ though nothing says that they may.
fn unexpected<'p>(read: &Read, places: &'p [String]) -> Vec<&'p String> {
    let listed = changed(read);
    let known = |place: &&String| listed.iter().any(|pattern| covers(pattern, place));
    places.iter().filter(|place| !known(place)).collect()
}

/// What today's program answers.
fn asked(shell: &Shell, read: &Read) -> Value {
    let arguments = read.arguments.to_string();
    let mut command = shell.command(&["call", &read.tool, &arguments, "--json"]);
    command
        .args(["--agent", "ada", "--session", "ada-1"])
        .args(["--workspace", "garden"])
        .env("UNDERSTORY_CLAIM_TTL_MINUTES", "1");
    let done = Done::of(command.output().unwrap());
    assert_eq!(done.code, 0, "{} {arguments}: {done:?}", read.tool);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_store_of_b7cea34_opens_proves_rebuilds_and_answers_as_before() {
    let shell = Shell::sqlite();
    std::fs::copy(folder().join("b7cea34.db"), shell.backend.file()).unwrap();
    // Reads need derived tables of their own version; the rebuild proves the log before it replays it.
    let done = shell.refused(&["verify"], 5);
    says(&done.err, &["another version", "understory rebuild"]);
    says(
        &shell.ok(&["rebuild"]),
        &["derived anew from 152 items of 1 workspace"],
    );
    says(
        &shell.ok(&["verify"]),
        &["ok      garden  152 items", "core is what a replay"],
    );

    let mut wrong = Vec::new();
    let mut compared = Vec::new();
    for read in recorded() {
        let now = asked(&shell, &read);
        let places = differences(&read.answer, &now);
        for place in unexpected(&read, &places) {
            let (before, now) = (read.answer.pointer(place), now.pointer(place));
            let (tool, arguments) = (&read.tool, &read.arguments);
            wrong.push(format!(
                "{tool} {arguments} {place}: {before:?}, now {now:?}"
            ));
        }
        compared.push((read, places));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // An entry that nothing needs would hide a later change.
    for entry in CHANGED {
        for pattern in entry.places {
            let needed = compared.iter().any(|(read, places)| {
                entry.is_about(read) && places.iter().any(|place| covers(pattern, place))
            });
            assert!(
                needed,
                "{} {pattern} did not change: {}",
                entry.tool, entry.why
            );
        }
    }
}

#[test]
fn a_changed_field_is_found() {
    let reads = recorded();
    assert!(reads.len() >= 60, "{} calls", reads.len());
    let mut fields = 0;
    for read in &reads {
        let mut places = Vec::new();
        leaves(&read.answer, "", &mut places);
        for place in places {
            let listed = changed(read).iter().any(|pattern| covers(pattern, &place));
            let time = TIMES
                .iter()
                .any(|name| place.ends_with(&format!("/{name}")));
            if listed || time {
                continue;
            }
            let mut other = read.answer.clone();
            *other.pointer_mut(&place).unwrap() = "something else".into();
            let found = differences(&read.answer, &other);
            assert_eq!(unexpected(read, &found), [&place], "{}", read.tool);
            fields += 1;
        }
    }
    assert!(fields > 1000, "{fields} fields are compared");
}

/// Every place that holds no further ones.
fn leaves(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, &format!("{place}/{name}"), found);
            }
        }
        Value::Array(all) => {
            for (at, value) in all.iter().enumerate() {
                leaves(value, &format!("{place}/{at}"), found);
            }
        }
        _ => found.push(place.to_owned()),
    }
}
