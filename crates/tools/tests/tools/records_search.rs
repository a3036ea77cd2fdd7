//! `search_records`: what is found, in which order, and that no text is ever a query language.

use crate::common::NASTY;
use crate::records_reads::{
    OPERATORS, assert_within, child, crowd, each, ids, list, make, number, root, text, to, update,
};
use serde_json::{Value, json};
use understory_model::Code;
use understory_testkit::{World, on_both};

#[track_caller]
fn search(world: &World, args: Value) -> Value {
    let answer = world.ok("search_records", args.clone());
    let scores: Vec<f64> = list(&answer["results"])
        .iter()
        .map(|hit| hit["relevance"].as_f64().expect("relevance"))
        .collect();
    assert!(
        scores.iter().all(|score| *score > 0.0 && *score <= 1.0),
        "{args}: {scores:?}"
    );
    assert!(
        scores.windows(2).all(|pair| pair[0] >= pair[1]),
        "{args}: {scores:?}"
    );
    assert!(number(&answer["total"]) >= scores.len() as i64, "{args}");
    answer
}

/// The ids of what a query finds, best first.
#[track_caller]
fn hits(world: &World, query: &str) -> Vec<String> {
    let answer = search(world, json!({ "query": query }));
    assert_eq!(answer["total"], list(&answer["results"]).len(), "{query:?}");
    ids(&answer["results"])
}

fn filler(words: usize) -> String {
    (0..words).map(|at| format!("filler{at} ")).collect()
}

#[on_both]
fn a_title_outranks_a_summary_and_that_a_body_however_often_it_repeats(world: World) {
    for times in [1, 30, 3_000, 80_000] {
        let word = format!("zebra{times}");
        let body = make(
            &world,
            json!({"title": "B", "body": format!("{word} ").repeat(times)}),
        );
        let summary = make(
            &world,
            json!({"title": "S", "summary": format!("Of the {word} here"), "body": filler(200)}),
        );
        let title = make(
            &world,
            json!({"title": format!("A question about one {word}"), "summary": "Nothing", "body": filler(400)}),
        );
        assert_eq!(hits(&world, &word), [title, summary, body], "{times}");
    }
}

#[on_both]
fn the_order_holds_when_everything_has_the_word(world: World) {
    let (mut titles, mut summaries, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..4 {
        bodies.push(make(
            &world,
            json!({"title": "B", "body": "token ".repeat(at * 50 + 1)}),
        ));
        titles.push(make(
            &world,
            json!({"title": "One token", "body": filler(at * 100)}),
        ));
        summaries.push(make(
            &world,
            json!({"title": "S", "summary": "A token", "body": filler(at * 30)}),
        ));
    }
    let found = hits(&world, "token");
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(found[..4].to_vec()), titles);
    assert_eq!(sorted(found[4..8].to_vec()), summaries);
    assert_eq!(sorted(found[8..].to_vec()), bodies);
}

#[on_both]
fn words_are_found_in_any_inflection_and_case(world: World) {
    let id = make(
        &world,
        json!({"title": "Tokens", "body": "The answers were cached by the PROXY."}),
    );
    for query in [
        "caching",
        "cached",
        "cache",
        "caches",
        "Token",
        "proxies answer",
        "ANSWERED",
    ] {
        assert_eq!(hits(&world, query), [id.as_str()], "{query}");
    }
    assert_eq!(hits(&world, "caterpillar"), Vec::<String>::new());
}

#[on_both]
fn any_of_the_words_finds_and_more_of_them_rank_higher(world: World) {
    let one = make(&world, json!({"title": "Rotate keys"}));
    let both = make(&world, json!({"title": "Rotate tokens"}));
    root(&world, "Something else");
    assert_eq!(hits(&world, "how do we rotate a token?"), [both, one]);
}

#[on_both]
fn a_hit_is_a_reference_with_a_marked_excerpt_of_one_line(world: World) {
    let top = root(&world, "Top");
    let long = format!(
        "{}\nhere the answers\n\tare cached for an hour\n{}",
        filler(300),
        filler(300)
    );
    let id = make(
        &world,
        json!({"parent_id": top, "type": "question", "title": "Lodge", "summary": "S", "body": long}),
    );
    child(&world, &id, "beneath");
    let answer = search(&world, json!({"query": "caching"}));
    let hit = &answer["results"][0];
    let reference = world.ok("get_record_ref", json!({ "id": id }));
    for (name, value) in reference.as_object().unwrap() {
        assert_eq!(hit[name], *value, "{name}");
    }
    let snippet = text(&hit["snippet"]);
    assert!(
        snippet.contains("**cached**") && snippet.contains("here the answers are"),
        "{snippet}"
    );
    assert!(
        !snippet.contains('\n') && snippet.chars().count() <= 200,
        "{snippet}"
    );
    assert_eq!(
        hit.as_object().unwrap().len(),
        reference.as_object().unwrap().len() + 2
    );
    assert_eq!(answer, json!({"results": [hit], "total": 1}));
    for (query, marked) in [("lodge", "**Lodge**"), ("beneath", "**beneath**")] {
        let found = search(&world, json!({ "query": query }));
        assert!(
            text(&found["results"][0]["snippet"]).contains(marked),
            "{query}"
        );
    }
}

#[on_both]
fn a_scope_is_the_subtree_without_its_top(world: World) {
    let top = root(&world, "word");
    let mut path = vec![top.clone()];
    for _ in 0..6 {
        path.push(child(&world, path.last().unwrap(), "word"));
    }
    let other = root(&world, "word");
    let beside = child(&world, &other, "word");
    for (at, id) in path.iter().enumerate() {
        let answer = search(&world, json!({"query": "word", "parent_id": id}));
        let mut found = ids(&answer["results"]);
        found.sort();
        assert_eq!(
            (found.as_slice(), &answer["total"]),
            (&path[at + 1..], &json!(6 - at))
        );
    }
    assert_eq!(
        ids(&search(&world, json!({"query": "word", "parent_id": other}))["results"]),
        [beside]
    );
    assert_eq!(hits(&world, "word").len(), 9);
    for id in ["R999", "", "default", "PLAN-001"] {
        assert_eq!(
            world
                .refused("search_records", json!({"query": "word", "parent_id": id}))
                .code,
            Code::RecordNotFound,
            "{id:?}"
        );
    }
}

#[on_both]
fn types_and_states_narrow(world: World) {
    let kinds = ["note", "question", "Über-Frage 🙂"];
    let states = ["OPEN", "LATER", "RESOLVED", "DISCARDED"];
    for kind in kinds {
        for state in states {
            let id = make(&world, json!({"type": kind, "title": "word"}));
            if state != "OPEN" {
                to(&world, &id, state);
            }
        }
    }
    let count = |args: Value| {
        let answer = search(&world, args);
        assert_eq!(answer["total"], list(&answer["results"]).len());
        list(&answer["results"]).len()
    };
    for kind in kinds {
        assert_eq!(count(json!({"query": "word", "types": [kind]})), 4);
        for state in states {
            let found = search(
                &world,
                json!({"query": "word", "types": [kind], "states": [state, state]}),
            );
            assert_eq!(
                (
                    each(&found["results"], "type"),
                    each(&found["results"], "state")
                ),
                (vec![kind.to_string()], vec![state.to_string()])
            );
        }
    }
    assert_eq!(
        count(json!({"query": "word", "states": ["OPEN", "LATER"]})),
        6
    );
    assert_eq!(
        count(json!({"query": "word", "types": ["note", "question", "nothing"], "states": []})),
        8
    );
    assert_eq!(count(json!({"query": "word", "types": ["NOTE"]})), 0);
    for state in ["open", "", "DONE"] {
        let fault = world.refused(
            "search_records",
            json!({"query": "word", "states": [state]}),
        );
        assert_eq!(
            (fault.code, &fault.details.unwrap()["allowed"]),
            (Code::Validation, &json!(states))
        );
    }
}

#[on_both]
fn every_text_is_found_by_itself(world: World) {
    let made: Vec<String> = NASTY
        .iter()
        .map(|text| make(&world, json!({"title": "t", "body": text})))
        .collect();
    for (query, id) in NASTY.iter().zip(&made) {
        assert!(hits(&world, query).contains(id), "{query:?}");
    }
}

#[on_both]
fn any_text_is_text(world: World) {
    for text in NASTY {
        make(&world, json!({"title": "t", "body": text}));
        search(&world, json!({ "query": text }));
    }
    for query in OPERATORS {
        search(&world, json!({ "query": query }));
        search(
            &world,
            json!({"query": format!("{query} quixotic {query}"), "states": ["OPEN"]}),
        );
    }
    let wanted = root(&world, "quixotic");
    for query in OPERATORS {
        let found = hits(&world, &format!("{query} quixotic {query}"));
        assert!(found.contains(&wanted), "{query:?}: {found:?}");
    }
    for query in ["\"", "*", ":", "%", "_", "🙂", "—", "", "\0", "\\"] {
        assert_eq!(
            hits(&world, query),
            Vec::<String>::new(),
            "{query:?} has no word"
        );
    }
}

#[on_both]
fn words_next_to_signs_are_words(world: World) {
    let id = make(
        &world,
        json!({"title": "T", "body": "See src/cache/lexer.rs, https://example.com/well-known/robots.txt?draft=1, ann@mill.org, v1.22.3, snake_case, it's; naïve «Straße»."}),
    );
    for query in [
        "lexer", "rs", "robots", "well", "known", "example", "ann", "mill", "draft", "snake",
        "case", "22", "straße", "lexer.rs", "naïve",
    ] {
        assert_eq!(hits(&world, query), [id.as_str()], "{query}");
    }
}

#[on_both]
fn text_without_spaces_is_found_by_any_part(world: World) {
    let id = make(
        &world,
        json!({"title": "会議の記録", "body": "漢字かな交じり文と ひらがな、한국어 문장"}),
    );
    for query in ["漢字", "漢", "記録", "ひらがな", "한국어"] {
        assert_eq!(hits(&world, query), [id.as_str()], "{query}");
    }
    assert!(
        text(&search(&world, json!({"query": "漢字"}))["results"][0]["snippet"]).contains("漢")
    );
}

#[on_both]
fn words_that_tell_nothing_are_found_alone_and_left_out_beside_others(world: World) {
    let id = make(
        &world,
        json!({"title": "The cache", "body": "It is what it is, here and below."}),
    );
    let other = make(
        &world,
        json!({"title": "What is the", "body": "is the what"}),
    );
    for query in [
        "it is",
        "what is the",
        "THE THE THE",
        "a",
        "not",
        "and or not",
        "to be or not to be",
    ] {
        search(&world, json!({ "query": query }));
    }
    let mut found = hits(&world, "of the");
    found.sort();
    assert_eq!(found, [id.clone(), other]);
    assert_eq!(hits(&world, "what is the cache"), [id.as_str()]);
    assert_eq!(hits(&world, "below"), [id]);
}

#[on_both]
fn nothing_found_is_an_empty_list(world: World) {
    let none = json!({"results": [], "total": 0});
    assert_eq!(
        world.ok("search_records", json!({"query": "x"})),
        none,
        "before the first write"
    );
    world.ok("graph_open", json!({"project": "default"}));
    assert_eq!(
        world.ok("search_records", json!({"query": "default"})),
        none,
        "a graph has no records"
    );
    root(&world, "word");
    assert_eq!(
        world.ok("search_records", json!({"query": "nowhere"})),
        none
    );
    assert_eq!(
        world.ok(
            "search_records",
            json!({"query": "word", "states": ["LATER"]})
        ),
        none
    );
}

#[on_both]
fn the_exact_id_comes_first(world: World) {
    let wanted = root(&world, "Wanted");
    for _ in 0..3 {
        make(&world, json!({"title": "R001 R001", "summary": "R001"}));
    }
    for query in ["R001", "  R001\n"] {
        let answer = search(&world, json!({ "query": query }));
        assert_eq!(
            (ids(&answer["results"])[0].as_str(), &answer["total"]),
            (wanted.as_str(), &json!(4))
        );
        assert_eq!(answer["results"][0]["relevance"], 1.0);
    }
    assert_eq!(
        search(&world, json!({"query": "R001", "limit": 1}))["results"][0]["id"],
        json!(wanted)
    );
    assert!(
        !ids(&search(&world, json!({"query": "R001", "states": ["LATER"]}))["results"])
            .contains(&wanted)
    );
    assert!(
        !ids(&search(&world, json!({"query": "R001", "types": ["x"]}))["results"])
            .contains(&wanted)
    );
    assert!(
        !ids(&search(&world, json!({"query": "R001", "parent_id": wanted}))["results"])
            .contains(&wanted)
    );
    for id in ["PLAN-001", "default", "R004x"] {
        world.ok("graph_open", json!({"project": "default"}));
        assert_eq!(hits(&world, id), Vec::<String>::new(), "{id} is no record");
    }
}

#[on_both]
fn an_exact_id_that_its_own_text_bears_is_counted_once(world: World) {
    let wanted = make(&world, json!({"title": "Wanted", "body": "I am R001"}));
    for _ in 0..3 {
        root(&world, "R001");
    }
    for limit in [1, 2, 20] {
        let answer = search(&world, json!({"query": "R001", "limit": limit}));
        assert_eq!(
            (ids(&answer["results"])[0].as_str(), &answer["total"]),
            (wanted.as_str(), &json!(4)),
            "{limit}"
        );
    }
}

#[on_both]
fn limits_are_clamped_and_the_total_is_told(world: World) {
    crowd(
        &world,
        "ada",
        230,
        |at| json!({"title": format!("word number {at}")}),
    );
    for (limit, given) in [
        (json!(null), 20),
        (json!(0), 1),
        (json!(-3), 1),
        (json!(7), 7),
        (json!(200), 200),
        (json!(201), 200),
        (json!(i64::MAX), 200),
    ] {
        let answer = search(
            &world,
            json!({"query": "word", "limit": limit, "max_chars": 1_000_000}),
        );
        assert_eq!(
            (list(&answer["results"]).len(), &answer["total"]),
            (given, &json!(230)),
            "{limit}"
        );
    }
}

#[on_both]
fn what_was_written_is_found_at_once_and_what_was_replaced_no_more(world: World) {
    let other = world.another();
    let seen = |query: &str| {
        let there = World::call_on(
            &other,
            &world.caller,
            "search_records",
            json!({ "query": query }),
        )
        .unwrap();
        assert_eq!(
            ids(&there["results"]),
            hits(&world, query),
            "another process finds the same"
        );
        ids(&there["results"])
    };
    let id = make(
        &world,
        json!({"title": "apples", "summary": "pears", "body": "plums"}),
    );
    for word in ["apples", "pears", "plums"] {
        assert_eq!(seen(word), [id.as_str()], "{word}");
    }
    for (field, old, new) in [
        ("title", "apples", "figs"),
        ("summary", "pears", "dates"),
        ("body", "plums", "limes"),
    ] {
        update(&world, &id, json!({ field: new }));
        assert_eq!(
            (seen(old), seen(new)),
            (vec![], vec![id.clone()]),
            "{field}"
        );
    }
    to(&world, &id, "LATER");
    assert_eq!(
        ids(&search(&world, json!({"query": "figs", "states": ["LATER"]}))["results"]),
        [id.as_str()]
    );
    assert_eq!(
        list(&search(&world, json!({"query": "figs", "states": ["OPEN"]}))["results"]).len(),
        0
    );
    for _ in 0..3 {
        update(&world, &id, json!({"body": "limes again"}));
    }
    assert_eq!(seen("limes"), [id]);
    world.assert_sound();
}

#[on_both]
fn metadata_and_the_type_are_found(world: World) {
    let id = make(
        &world,
        json!({"title": "A", "type": "hypothesis", "metadata": {"ticket": "JIRA-4711", "deep": {"owner": ["Mallory", {"rank": 42}]}, "urgent": true}}),
    );
    root(&world, "B");
    for query in [
        "JIRA-4711",
        "4711",
        "ticket",
        "mallory",
        "owner",
        "rank",
        "42",
        "hypothesis",
        "urgent",
    ] {
        assert_eq!(hits(&world, query), [id.as_str()], "{query}");
    }
    assert!(
        text(&search(&world, json!({"query": "mallory"}))["results"][0]["snippet"])
            .contains("**Mallory**")
    );
    update(
        &world,
        &id,
        json!({"metadata": {"ticket": "JIRA-4712"}, "type": "conclusion"}),
    );
    assert_eq!(
        (hits(&world, "mallory"), hits(&world, "hypothesis")),
        (vec![], vec![]),
        "what was replaced is found no more"
    );
    assert_eq!(
        (hits(&world, "4712"), hits(&world, "conclusion")),
        (vec![id.clone()], vec![id])
    );
    world.assert_sound();
}

#[on_both]
fn relevance_says_how_much_of_the_query_is_answered(world: World) {
    for at in 0..6 {
        root(&world, &format!("alpha note {at}"));
    }
    let both = make(&world, json!({"title": "alpha gamma"}));
    let found = search(&world, json!({"query": "alpha gamma"}));
    assert_eq!(
        (
            &found["results"][0]["id"],
            &found["results"][0]["relevance"]
        ),
        (&json!(both), &json!(1.0))
    );
    for hit in &list(&found["results"])[1..] {
        assert_eq!(hit["relevance"], 0.5, "one of two words, in the title");
    }
    let poor = search(&world, json!({"query": "gamma delta epsilon zeta"}));
    assert_eq!(
        poor["results"][0]["relevance"], 0.25,
        "the best is not 1 for being the best"
    );
    make(
        &world,
        json!({"title": "T", "summary": "omega", "body": "psi"}),
    );
    assert_eq!(
        search(&world, json!({"query": "omega"}))["results"][0]["relevance"],
        0.8
    );
    assert_eq!(
        search(&world, json!({"query": "psi"}))["results"][0]["relevance"],
        0.6
    );
    for limit in [1, 3, 20] {
        assert_eq!(
            search(&world, json!({"query": "alpha gamma", "limit": limit}))["results"][0]["id"],
            json!(both),
            "whatever the limit"
        );
    }
}

#[on_both]
fn projects_and_workspaces_are_apart(world: World) {
    let here = root(&world, "word");
    world.ok("create_project", json!({"id": "shop", "name": "Shop"}));
    let there = make(&world, json!({"title": "word", "project_id": "shop"}));
    assert_eq!(hits(&world, "word"), [here]);
    assert_eq!(
        ids(&search(&world, json!({"query": "word", "project_id": "shop"}))["results"]),
        [there]
    );
    assert_eq!(
        world
            .refused(
                "search_records",
                json!({"query": "word", "project_id": "shoppe"})
            )
            .code,
        Code::NotFound
    );
    let mut stranger = World::caller("eve");
    stranger.workspace = "elsewhere".into();
    assert_eq!(
        world
            .call_as(&stranger, "search_records", json!({"query": "word"}))
            .unwrap()["total"],
        0
    );
}

#[on_both]
fn a_body_of_the_greatest_size_is_kept_and_found(world: World) {
    let mut body = String::new();
    let mut at = 0;
    while body.len() < (1 << 20) - 40 {
        body.push_str(&format!("w{at:x} "));
        at += 7;
    }
    let id = make(
        &world,
        json!({"title": "Titleword", "summary": "Summaryword", "body": body}),
    );
    assert_eq!(hits(&world, "titleword"), [id.as_str()]);
    assert_eq!(hits(&world, "w0"), [id.as_str()]);
    let long = make(
        &world,
        json!({"title": "L", "body": "x".repeat((1 << 20) - 10)}),
    );
    update(&world, &long, json!({"summary": "findme"}));
    assert_eq!(hits(&world, "findme"), [long]);
}

#[on_both]
fn a_search_keeps_within_its_budget(world: World) {
    for text in NASTY {
        make(
            &world,
            json!({"title": "word", "summary": text, "body": text.repeat(20)}),
        );
    }
    assert_within(
        &world,
        "search_records",
        &json!({"query": "word"}),
        json!({"results": [], "truncated": true}),
    );
    let cut = search(&world, json!({"query": "word", "max_chars": 1_500}));
    assert_eq!(
        (&cut["total"], &cut["truncated"]),
        (&json!(NASTY.len()), &json!(true))
    );
}

#[on_both]
fn wrong_arguments_name_their_field(world: World) {
    root(&world, "word");
    for (args, field) in [
        (json!({}), "query"),
        (json!({"query": 5}), "query"),
        (json!({"query": "x".repeat(2_001)}), "query"),
        (json!({"query": "x", "types": "note"}), "types"),
        (json!({"query": "x", "states": ["\0"]}), "states[0]"),
        (json!({"query": "x", "types": ["\0"]}), "types[0]"),
        (json!({"query": "x", "limit": "many"}), "limit"),
        (json!({"query": "x", "nope": 1}), "nope"),
    ] {
        let fault = world.refused("search_records", args);
        assert_eq!(
            (fault.code, &fault.details.clone().unwrap()["field"]),
            (Code::Validation, &json!(field)),
            "{fault:?}"
        );
    }
}
