//! Calls of the queries whose statements depend on what is asked, each with as much asked as it takes
//! to see all of its pieces.

use understory_model::branch::Source;
use understory_model::page::Key;
use understory_model::record::{ActivityKind, RecordState};
use understory_model::text::grams;
use understory_model::{Fault, Id, Seq, Time, Ws};
use understory_storage::branches::{self, Branch, Made};
use understory_storage::keys::{self, Pair};
use understory_storage::nodes::{self, Node, Standing};
use understory_storage::projects::{self, Project};
use understory_storage::query::{self, Filter, Sort};
use understory_storage::ready::{self, Ready};
use understory_storage::records::{self, From, Sought};
use understory_storage::texts::{self, Text, TextChange};
use understory_storage::vertices::{self, Vertex};
use understory_storage::{
    Tx, activity, causes, conflicts, entities, links, relations, threads, timeline,
};

type Done = Result<(), Fault>;
type Case = (&'static str, fn(&mut Tx<'_>) -> Done);

const WS: Ws = Ws(1);
const PROJECT: Id = Id(2);
const LATER: Seq = Seq(1_000);

pub const CASES: &[Case] = &[
    ("activity_newest", activity_newest),
    ("branches_inherited", branches_inherited),
    ("branches_lineage", |tx| {
        branches::lineage(tx, WS, "idea", 20).map(drop)
    }),
    ("causes_chain", |tx| {
        causes::chain(tx, WS, Seq(7), 50).map(drop)
    }),
    ("conflicts_list", |tx| {
        conflicts::list(tx, WS, ("main", "plan"), None, Id::of(LATER), 20).map(drop)
    }),
    ("entities_above", |tx| {
        let above = entities::get(tx, WS, Id(1))?;
        above.map_or(Ok(()), |of| entities::above(tx, WS, &of).map(drop))
    }),
    ("links_around", |tx| {
        links::around(tx, WS, Id(3), "depends_on", 20).map(drop)
    }),
    ("nodes_insert", |tx| nodes::insert(tx, WS, &[&node(Id(8))])),
    ("nodes_next", nodes_next),
    ("nodes_next_in_scope", nodes_next_in_scope),
    ("nodes_page_by_key", |tx| page(tx, &by_key(), Sort::Depth)),
    ("nodes_page_by_rank", |tx| {
        page(tx, &by_rank(), Sort::Readiness)
    }),
    ("nodes_page_by_text", |tx| {
        page(tx, &by_text(), Sort::Recent)
    }),
    ("nodes_page_by_text_and_key", |tx| {
        page(tx, &by_text_and_key(), Sort::Created)
    }),
    ("nodes_update", |tx| nodes::update(tx, WS, &node(Id(9)))),
    ("projects_put", |tx| {
        projects::put(tx, WS, &Project::default())
    }),
    ("records_list_below", |tx| {
        records_list(tx, From::Below(Id(5), "/a"), None)
    }),
    ("records_list_levels", |tx| {
        records_list(tx, From::Below(Id(5), "/a"), Some(2))
    }),
    ("records_list_roots", |tx| {
        records_list(tx, From::Roots, Some(2))
    }),
    ("records_search", records_search),
    ("relations_put", |tx| relations::put(tx, WS, &relation())),
    ("texts_find_words", |tx| {
        texts::find_words(tx, WS, &words(), 20).map(drop)
    }),
    ("texts_put", |tx| texts::apply(tx, &garden(1..=2))),
    ("threads_list", threads_list),
    ("timeline_by_actor", |tx| {
        timeline::newest(tx, WS, &timeline(None, Some("ada"), None)).map(drop)
    }),
    ("timeline_by_type", |tx| {
        timeline::newest(tx, WS, &timeline(Some("Note"), None, None)).map(drop)
    }),
    ("timeline_of_conversation", |tx| {
        timeline::newest(tx, WS, &timeline(None, None, Some(Id(4)))).map(drop)
    }),
    ("timeline_canonical", |tx| {
        timeline::plain(tx, WS, &timeline(None, None, None), (Time(9), LATER)).map(drop)
    }),
    ("timeline_displaced", |tx| {
        let wanted = timeline(None, None, Some(Id(4)));
        timeline::displaced(tx, WS, &wanted, Time(1), (Time(9), LATER)).map(drop)
    }),
    ("vertices_add", |tx| vertices::add(tx, WS, &[vertex()])),
    ("vertices_given", |tx| {
        vertices::given(tx, WS, ("main", "plan"), "idea", &["n|a"]).map(drop)
    }),
    ("vertices_keys_at", |tx| {
        vertices::keys_at(tx, WS, "plan", &sources(), "a").map(drop)
    }),
    ("vertices_keys_between", |tx| {
        vertices::keys_between(tx, WS, "plan", &sources(), &["a", "b"]).map(drop)
    }),
    ("vertices_latest", |tx| {
        vertices::latest(tx, WS, "plan", &sources(), &["n|a"]).map(drop)
    }),
    ("vertices_newest", vertices_newest),
];

/// What leads to some of the statements: a key and a text that many nodes have, a branch, and an
/// entity to be above of.
pub fn fill(tx: &mut Tx<'_>) -> Done {
    let pair: Pair = ("area".into(), "garden".into());
    let pairs: Vec<(&Pair, Id)> = (1..=250).map(|id| (&pair, Id(id))).collect();
    keys::add(tx, WS, &pairs)?;
    texts::apply(tx, &garden(101..=350))?;
    let idea = Branch {
        name: "idea".into(),
        id: Id(4),
        base: "main".into(),
        base_seq: Seq(10),
        root: "main".into(),
    };
    branches::add(tx, WS, &idea)?;
    let mut one = entities::Entity {
        id: Id(1),
        kind: "node".into(),
        handle: "TASK-001".into(),
        project: Some(PROJECT),
        parent: None,
        version: 1,
        hash: String::new(),
        previous_hash: None,
        created_at: Time(1),
        updated_at: Time(1),
        created_by: "ada".into(),
        gone: false,
        data: "{}".into(),
    };
    let above = one.clone();
    (one.id, one.handle, one.parent) = (Id(2), "TASK-002".into(), Some(Id(1)));
    entities::insert(tx, WS, &[&above, &one])?;
    tx.send()
}

fn garden(ids: std::ops::RangeInclusive<i64>) -> Vec<TextChange> {
    let change = |number| TextChange {
        ws: WS,
        id: Id(number),
        replaces: false,
        text: Some(Text {
            title: "garden".into(),
            grams: grams("garden"),
            ..Text::default()
        }),
        seq: Seq(number),
        kind: "node",
        vectors: vec![0; 4],
    };
    ids.map(change).collect()
}

fn words() -> Vec<String> {
    vec!["spade".into(), "garden".into()]
}

fn sources() -> Vec<Source> {
    let source = |branch: &str, cutoff| Source {
        branch: branch.into(),
        cutoff,
    };
    vec![source("idea", Seq::MAX), source("main", Seq(10))]
}

fn node(id: Id) -> Node {
    Node {
        id,
        project: PROJECT,
        path: "/a".into(),
        depth: 1,
        resolved: false,
        open_children: 0,
        open_deps: 0,
        standing: Standing::Ready,
        priority: 0.0,
        updated: Time(1),
        claimed_by: String::new(),
        claimed_session: String::new(),
        claimed_at: Time(0),
        resolved_at: Time(0),
        resolved_by: String::new(),
        folded: String::new(),
    }
}

fn relation() -> relations::Relation {
    relations::Relation {
        made: Seq(3),
        n: 0,
        kind: "mentions".into(),
        source: Id(1),
        source_type: "item".into(),
        target: Id(2),
        target_type: "item".into(),
        fragment: None,
        inferred: false,
        found: relations::Found::default(),
        place: None,
        fossil: false,
        at: Time(1),
    }
}

fn vertex() -> Vertex {
    Vertex {
        branch: "main".into(),
        doc: "plan".into(),
        key: "n|a".into(),
        seq: Seq(5),
        kind: vertices::NODE.into(),
        target: None,
        deleted: false,
        giver: None,
        data: "{}".into(),
    }
}

fn activity_newest(tx: &mut Tx<'_>) -> Done {
    let wanted = activity::Wanted {
        project: PROJECT,
        target: None,
        kinds: &ActivityKind::ALL[..2],
        except: Some("sess_a"),
        after: Seq::ZERO,
        before: LATER,
        most: 20,
    };
    activity::newest(tx, WS, &wanted).map(drop)
}

fn branches_inherited(tx: &mut Tx<'_>) -> Done {
    branches::inherited(tx, WS, ("idea", "plan"), Made::OfVertices, "main").map(drop)
}

fn next(tx: &mut Tx<'_>, scope: Option<&str>, keys: &[Pair]) -> Done {
    let wanted = Ready {
        project: PROJECT,
        scope,
        keys,
        agent: "ada",
        session: "sess_a",
        ended: &["sess_b".to_string()],
        stale: Time(5),
        most: 10,
    };
    ready::ready(tx, WS, &wanted).map(drop)
}

fn nodes_next(tx: &mut Tx<'_>) -> Done {
    next(tx, None, &by_key().keys)
}

fn nodes_next_in_scope(tx: &mut Tx<'_>) -> Done {
    next(tx, Some("/a"), &[])
}

fn page(tx: &mut Tx<'_>, filter: &Filter, sort: Sort) -> Done {
    let after = match sort {
        Sort::Readiness => vec![
            Key::Int(0),
            Key::Real(0.0),
            Key::Int(-1),
            Key::Int(1),
            Key::Int(1),
        ],
        Sort::Depth | Sort::Recent => vec![Key::Int(-1), Key::Int(1)],
        Sort::Created => vec![Key::Int(1)],
    };
    let prepared = query::prepare(tx, WS, filter)?;
    query::count(tx, WS, PROJECT, (filter, &prepared))?;
    let asked = (filter, &prepared);
    query::page(tx, WS, PROJECT, asked, sort, Some(&after), 20).map(drop)
}

fn by_key() -> Filter {
    Filter {
        keys: vec![
            ("area".into(), "pond".into()),
            ("kind".into(), "bug".into()),
        ],
        actionable: Some(true),
        ..Filter::default()
    }
}

fn by_rank() -> Filter {
    Filter {
        resolved: Some(false),
        leaf: Some(true),
        blocked: Some(false),
        below: Some("/a".into()),
        claimed_by: Some(Some("ada".into())),
        without: vec!["area".into()],
        ..Filter::default()
    }
}

fn by_text() -> Filter {
    Filter {
        text: Some("garden".into()),
        claimed_by: Some(None),
        ..Filter::default()
    }
}

fn by_text_and_key() -> Filter {
    Filter {
        text: Some("garden".into()),
        keys: vec![("area".into(), "garden".into())],
        ..Filter::default()
    }
}

fn records_list(tx: &mut Tx<'_>, from: From<'_>, levels: Option<i64>) -> Done {
    let wanted = records::Wanted {
        project: PROJECT,
        from,
        levels,
        states: &RecordState::ALL[..2],
        types: &words(),
        keys: &by_key().keys,
        after: "/a/b",
        most: 20,
    };
    records::list(tx, WS, &wanted)?;
    records::count(tx, WS, &wanted).map(drop)
}

fn records_search(tx: &mut Tx<'_>) -> Done {
    let sought = Sought {
        project: PROJECT,
        words: &words(),
        scope: Some("/a"),
        states: &RecordState::ALL[..2],
        types: &[],
        keys: &by_key().keys,
        most: 20,
    };
    records::search(tx, WS, &sought).map(drop)
}

fn threads_list(tx: &mut Tx<'_>) -> Done {
    let wanted = threads::Wanted {
        agent: Some("ada"),
        reader: "bob",
        status: Some(understory_model::thread::Status::Active),
        unread_only: true,
        before: (Time(9), Id::of(LATER)),
        most: 20,
    };
    threads::list(tx, WS, &wanted).map(drop)
}

fn timeline<'w>(
    kind: Option<&'w str>,
    actor: Option<&'w str>,
    log: Option<Id>,
) -> timeline::Wanted<'w> {
    timeline::Wanted {
        kind,
        actor,
        log,
        entity: None,
        project: Some(PROJECT),
        from: Seq(1),
        before: LATER,
        most: 20,
    }
}

fn vertices_newest(tx: &mut Tx<'_>) -> Done {
    let (sources, wanted) = (
        sources(),
        vertices::Wanted {
            kinds: &[vertices::NODE, vertices::EDGE],
            deleted: true,
            after: Seq::ZERO,
            before: LATER,
        },
    );
    let of = (&sources[1], &sources[..1]);
    vertices::newest(tx, WS, "plan", of, &wanted, 20).map(drop)
}
