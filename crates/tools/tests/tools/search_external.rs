//! Search by an external model: what it knows is used, what it must not keep it does not, and nothing
//! else waits for it or breaks with it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use understory_engine::kernel::meaning::{Embedder, Filler, Seen, Step};
use understory_engine::{Engine, Options};
use understory_model::{Caller, Code, Fault, Role};
use understory_testkit::{World, on_both};

use crate::threads_common::by;

/// What is done before a request is answered.
type Meanwhile = Box<dyn FnMut(&[String]) -> Result<(), Fault> + Send>;

/// A model that knows what some words mean in any language: each line is one meaning.
struct Model {
    name: &'static str,
    dims: usize,
    sent: Mutex<Vec<String>>,
    meanwhile: Mutex<Option<Meanwhile>>,
    /// What is answered instead of what is right.
    wrong: Mutex<Option<Vec<Vec<f32>>>>,
}

const MEANINGS: [&[&str]; 4] = [
    &["kettle", "Wasserkocher", "やかん"],
    &["ladder", "Leiter", "はしご"],
    &["invoice", "Rechnung", "請求書"],
    &["parrot", "Papagei", "オウム"],
];

impl Model {
    fn new(name: &'static str, dims: usize) -> Arc<Model> {
        Arc::new(Model {
            name,
            dims,
            sent: Mutex::default(),
            meanwhile: Mutex::default(),
            wrong: Mutex::default(),
        })
    }

    fn sent(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    fn meanwhile(&self, act: impl FnMut(&[String]) -> Result<(), Fault> + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some(Box::new(act));
    }

    fn calm(&self) {
        *self.meanwhile.lock().unwrap() = None;
        *self.wrong.lock().unwrap() = None;
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dims];
        for (at, words) in MEANINGS.iter().enumerate() {
            if words.iter().any(|word| text.contains(word)) {
                vector[at] = 1.0;
            }
        }
        // All texts have something in common, as with real models, and something of their own.
        vector[self.dims - 1] = 0.8;
        let sum: usize = text.bytes().map(usize::from).sum();
        vector[MEANINGS.len() + sum % (self.dims - MEANINGS.len() - 1)] = 0.5;
        vector
    }
}

impl Embedder for Model {
    fn model(&self) -> &str {
        self.name
    }

    fn embed(&self, texts: &[String], _: Duration) -> Result<Vec<Vec<f32>>, Fault> {
        let act = self.meanwhile.lock().unwrap().take();
        if let Some(mut act) = act {
            let done = act(texts);
            *self.meanwhile.lock().unwrap() = Some(act);
            done?;
        }
        self.sent.lock().unwrap().extend(texts.iter().cloned());
        if let Some(wrong) = &*self.wrong.lock().unwrap() {
            return Ok(wrong.clone());
        }
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

fn down() -> Fault {
    Fault::new(Code::StoreUnavailable, "nobody answers")
}

/// An engine on the world's store that asks a model.
fn engine(world: &World, model: &Arc<Model>) -> Engine {
    let options = Options {
        embedder: Some(Arc::clone(model) as Arc<dyn Embedder>),
        ..world.options()
    };
    Engine::open(&world.backend.store(), options).expect("the store opens")
}

/// The world, with a model that it asks; the project is there already, and seen.
fn with_model(world: &mut World) -> Arc<Model> {
    let model = new_model(world);
    world.ok("graph_open", json!({"project": "default"}));
    assert_eq!(fill(world, &mut Filler::new()), 1);
    // And some texts that tell what is usual.
    assert_eq!(model.sent().last().map(String::as_str), Some("default"));
    model
}

fn new_model(world: &mut World) -> Arc<Model> {
    let model = Model::new("words-1", 64);
    world.engine = Arc::new(engine(world, &model));
    model
}

/// Has everything embedded; how many texts.
fn fill(world: &World, filler: &mut Filler) -> usize {
    let mut filled = 0;
    loop {
        match filler.step(&world.engine, &world.caller).expect("a step") {
            Step::Filled(texts) => filled += texts,
            Step::Done => return filled,
            Step::Elsewhere => panic!("nobody else is here"),
        }
    }
}

#[track_caller]
fn search(world: &World, caller: &Caller, query: &str) -> Value {
    let args = json!({"query": query, "limit": 50});
    world.call_as(caller, "search", args).expect("a search")
}

#[track_caller]
fn found(world: &World, query: &str) -> Vec<String> {
    handles(&search(world, &world.caller, query))
}

fn handles(answer: &Value) -> Vec<String> {
    let hits = answer["results"].as_array().expect("results");
    let text = |hit: &Value| hit["handle"].as_str().expect("a handle").to_string();
    hits.iter().map(text).collect()
}

/// How many texts have a vector, beside the project's.
fn rows(world: &World) -> i64 {
    let all = world
        .backend
        .raw()
        .number("SELECT COUNT(*) FROM live_embedding");
    all - 1
}

#[on_both]
fn it_finds_what_our_own_model_cannot(mut world: World) {
    let model = with_model(&mut world);
    let tasks = world.plan(&[
        "Den Wasserkocher entkalken",
        "Die Leiter zurückbringen",
        "Rechnung an Frau Sommer",
    ]);
    assert_eq!(model.sent(), Vec::<String>::new(), "no write waits for it");
    assert_eq!(found(&world, "kettle"), Vec::<String>::new());
    assert_eq!(model.sent(), ["kettle"]);
    let mut filler = Filler::new();
    assert_eq!(fill(&world, &mut filler), 3);
    assert_eq!(model.sent().len(), 3);
    assert_eq!(found(&world, "kettle").first(), Some(&tasks[0]));
    assert_eq!(found(&world, "はしご").first(), Some(&tasks[1]));
    assert_eq!(
        model.sent(),
        ["kettle", "はしご"],
        "a question is sent once"
    );
    assert_eq!(fill(&world, &mut filler), 0, "nothing is sent twice");
    assert_eq!(
        fill(&world, &mut Filler::new()),
        0,
        "nor by another process"
    );
    assert_eq!(
        world.engine.embedded(&world.caller).unwrap(),
        Some(Seen {
            texts: 4,
            embedded: 4
        })
    );
    world.assert_sound();
}

#[on_both]
fn what_words_find_is_still_found(mut world: World) {
    with_model(&mut world);
    let tasks = world.plan(&["Order zx81 lamps", "Den Wasserkocher entkalken"]);
    fill(&world, &mut Filler::new());
    assert_eq!(found(&world, "zx81"), [tasks[0].clone()]);
    assert_eq!(
        found(&world, &tasks[1]).first(),
        Some(&tasks[1]),
        "a handle comes first"
    );
    assert_eq!(
        found(&world, "qqqqq"),
        Vec::<String>::new(),
        "what means nothing finds nothing"
    );
}

#[on_both]
fn every_surface_and_every_passage_is_seen(mut world: World) {
    let model = with_model(&mut world);
    let filling = "Nothing of interest happens in this sentence. ".repeat(60);
    let record = world.ok(
        "create_record",
        json!({"parent_id": null, "type": "decision", "title": "Purchases",
        "summary": "", "body": format!("{filling}\n\nDer Papagei bleibt.\n\n{filling}")}),
    );
    let record = record["record"]["id"].as_str().unwrap().to_string();
    let lines: Vec<String> = (0..40)
        .map(|n| format!("line {n}"))
        .chain(["Die Leiter steht hinten".to_string()])
        .collect();
    world.ok(
        "garden_artifact_create",
        json!({"label": "cellar", "content": lines.join("\n")}),
    );
    let note = world.ok(
        "garden_add",
        json!({"type": "Note", "description": "Eine Rechnung fehlt"}),
    );
    let note = note["item"]["uuid"].as_str().unwrap().to_string();
    fill(&world, &mut Filler::new());
    assert!(
        model
            .sent()
            .iter()
            .all(|text| text.len() < 2_500 && !text.is_empty())
    );
    let answer = search(&world, &world.caller, "parrot");
    assert_eq!(answer["results"][0]["handle"], json!(record));
    assert!(
        answer["results"][0]["snippet"]
            .as_str()
            .unwrap()
            .contains("Papagei"),
        "{answer}"
    );
    let cellar = found(&world, "ladder");
    assert!(cellar[0].starts_with("cellar:"), "{cellar:?}");
    assert_eq!(found(&world, "invoice").first(), Some(&note));
}

#[on_both]
fn without_an_answer_search_goes_on_and_says_so(mut world: World) {
    let model = new_model(&mut world);
    let tasks = world.plan(&["Buy a new kettle", "Die Leiter zurückbringen"]);
    let mut filler = Filler::new();
    model.meanwhile(|_| Err(down()));
    let fault = filler.step(&world.engine, &world.caller).unwrap_err();
    assert_eq!(fault.code, Code::StoreUnavailable);
    assert_eq!(rows(&world), -1);
    let answer = search(&world, &world.caller, "kettle");
    assert_eq!(handles(&answer), [tasks[0].clone()]);
    assert!(
        answer.get("note").is_none(),
        "it has seen nothing, so it is not asked: {answer}"
    );
    model.calm();
    fill(&world, &mut filler);
    model.meanwhile(|_| Err(down()));
    let answer = search(&world, &world.caller, "kettle");
    assert_eq!(handles(&answer), [tasks[0].clone()]);
    assert!(
        answer["note"].as_str().unwrap().contains("nobody answers"),
        "{answer}"
    );
    world.plan(&["Writes do not wait"]);
}

#[on_both]
fn a_changed_text_is_not_found_by_what_it_said(mut world: World) {
    let model = with_model(&mut world);
    let task = world
        .plan(&["Den Wasserkocher entkalken", "Zweitens"])
        .remove(0);
    let mut filler = Filler::new();
    fill(&world, &mut filler);
    // Another process, which has its copy already.
    let other = engine(&world, &model);
    let ask = |engine: &Engine, query: &str| {
        let args = json!({"query": query});
        handles(&World::call_on(engine, &world.caller, "search", args).expect("a search"))
    };
    assert_eq!(ask(&other, "kettle").first(), Some(&task));
    world.ok(
        "graph_update",
        json!({"updates": [{"node_id": task, "summary": "Die Leiter streichen"}]}),
    );
    for engine in [&*world.engine, &other] {
        assert_eq!(ask(engine, "kettle"), Vec::<String>::new());
        assert_eq!(ask(engine, "ladder"), Vec::<String>::new(), "not yet");
    }
    assert_eq!(fill(&world, &mut filler), 1);
    for engine in [&*world.engine, &other] {
        assert_eq!(ask(engine, "ladder").first(), Some(&task));
        assert_eq!(ask(engine, "kettle"), Vec::<String>::new());
    }
}

#[on_both]
fn what_is_taken_back_leaves_no_vector(mut world: World) {
    let model = with_model(&mut world);
    let say = |text: &str| {
        let item = world.ok(
            "garden_add",
            json!({"type": "Message", "description": text}),
        );
        item["item"]["uuid"].as_str().unwrap().to_string()
    };
    let first = say("Der Papagei heißt Otto");
    let mut filler = Filler::new();
    fill(&world, &mut filler);
    assert_eq!(rows(&world), 1);
    world.ok("garden_undo", json!({"item": first}));
    assert_eq!(rows(&world), 0, "a vector tells of its text");
    assert_eq!(found(&world, "parrot"), Vec::<String>::new());
    // Taken back while the model still thinks about it.
    let second = say("Der Papagei heißt Emil");
    let (engine, caller) = (Arc::clone(&world.engine), world.caller.clone());
    model.meanwhile(move |_| {
        World::call_on(&engine, &caller, "garden_undo", json!({"item": second})).map(|_| ())
    });
    filler.step(&world.engine, &world.caller).unwrap();
    model.calm();
    assert_eq!(rows(&world), 0);
    assert_eq!(fill(&world, &mut filler), 0);
}

#[on_both]
fn one_process_at_a_time_sends_texts(mut world: World) {
    let model = with_model(&mut world);
    world.plan(&["Den Wasserkocher entkalken"]);
    let (engine, caller) = (Arc::clone(&world.engine), world.caller.clone());
    let mut second = Filler::new();
    let seen: Arc<Mutex<Vec<Step>>> = Arc::default();
    let told = Arc::clone(&seen);
    model.meanwhile(move |_| {
        told.lock().unwrap().push(second.step(&engine, &caller)?);
        Ok(())
    });
    let mut first = Filler::new();
    assert_eq!(
        first.step(&world.engine, &world.caller).unwrap(),
        Step::Filled(1)
    );
    assert_eq!(*seen.lock().unwrap(), [Step::Elsewhere]);
    model.calm();
    // One that died in the middle does not keep others away for ever.
    world.plan(&["Die Leiter streichen"]);
    let mut third = Filler::new();
    assert_eq!(
        third.step(&world.engine, &world.caller).unwrap(),
        Step::Elsewhere
    );
    world.clock.turn(91);
    assert_eq!(fill(&world, &mut third), 1);
    // One that failed keeps nobody away.
    world.plan(&["Den Papagei füttern"]);
    model.meanwhile(|_| Err(down()));
    first.step(&world.engine, &world.caller).unwrap_err();
    model.calm();
    assert_eq!(fill(&world, &mut third), 1);
    // Whoever is done lets others go on at once.
    world.plan(&["Die Rechnung zahlen"]);
    assert_eq!(fill(&world, &mut first), 1);
}

#[on_both]
fn a_refused_text_is_left_out_and_not_sent_again(mut world: World) {
    let model = with_model(&mut world);
    let tasks = world.plan(&[
        "Den Wasserkocher entkalken",
        "poison",
        "Die Leiter streichen",
    ]);
    model.meanwhile(
        |texts| match texts.iter().any(|text| text.contains("poison")) {
            true => Err(Fault::new(Code::Validation, "too much for me")),
            false => Ok(()),
        },
    );
    let mut filler = Filler::new();
    assert_eq!(fill(&world, &mut filler), 3);
    assert_eq!(found(&world, "kettle").first(), Some(&tasks[0]));
    assert_eq!(found(&world, "ladder").first(), Some(&tasks[2]));
    assert_eq!(found(&world, "poison"), [tasks[1].clone()]);
    model.sent();
    assert_eq!(fill(&world, &mut Filler::new()), 0);
    assert_eq!(model.sent(), Vec::<String>::new());
}

#[on_both]
fn vectors_that_are_none_change_nothing(mut world: World) {
    let model = with_model(&mut world);
    world.plan(&["Den Wasserkocher entkalken"]);
    let good = vec![0.5; 64];
    for wrong in [
        vec![],
        vec![vec![]],
        vec![good.clone(), good.clone()],
        vec![vec![f32::NAN; 64]],
        vec![vec![1.0, f32::INFINITY]],
        vec![vec![0.1; 20_000]],
    ] {
        *model.wrong.lock().unwrap() = Some(wrong);
        let fault = Filler::new().step(&world.engine, &world.caller);
        assert_eq!(fault.unwrap_err().code, Code::StoreUnavailable);
        assert_eq!(rows(&world), 0);
    }
    model.calm();
    fill(&world, &mut Filler::new());
    // A question's vector is checked as well.
    *model.wrong.lock().unwrap() = Some(vec![vec![1.0; 3]]);
    let answer = search(&world, &world.caller, "kettle");
    assert!(
        answer["note"].as_str().unwrap().contains("3 numbers"),
        "{answer}"
    );
    // One that points nowhere finds nothing and breaks nothing.
    *model.wrong.lock().unwrap() = Some(vec![vec![0.0; 64]]);
    assert_eq!(found(&world, "kettle"), Vec::<String>::new());
}

#[on_both]
fn models_are_kept_apart(mut world: World) {
    let model = with_model(&mut world);
    let task = world.plan(&["Den Wasserkocher entkalken"]).remove(0);
    fill(&world, &mut Filler::new());
    // The same name with other vectors is refused, another name begins anew.
    let changed = Model::new("words-1", 96);
    world.engine = Arc::new(engine(&world, &changed));
    world.plan(&["Die Leiter streichen"]);
    let fault = Filler::new()
        .step(&world.engine, &world.caller)
        .unwrap_err();
    assert!(fault.message.contains("96 numbers"), "{fault}");
    assert!(fault.hint.unwrap().contains("--forget"));
    let other = Model::new("words-2", 96);
    world.engine = Arc::new(engine(&world, &other));
    assert_eq!(fill(&world, &mut Filler::new()), 3);
    assert_eq!(found(&world, "kettle").first(), Some(&task));
    // Two of the first model and three of the second.
    assert_eq!(rows(&world) + 1, 5);
    // What is forgotten is gone, and can be had again.
    assert_eq!(world.engine.forget_embedded(&world.caller).unwrap(), 5);
    assert_eq!(rows(&world) + 1, 0);
    assert_eq!(found(&world, "kettle"), Vec::<String>::new());
    world.engine = Arc::new(engine(&world, &changed));
    let mut filler = Filler::new();
    assert_eq!(fill(&world, &mut filler), 3);
    assert_eq!(found(&world, "kettle").first(), Some(&task));
    // A process that had come to the end begins again.
    world.engine.forget_embedded(&world.caller).unwrap();
    assert_eq!(fill(&world, &mut filler), 3);
    assert_eq!(found(&world, "kettle").first(), Some(&task));
    assert_eq!(model.name, "words-1");
}

#[on_both]
fn a_replay_keeps_what_the_model_said(mut world: World) {
    let model = with_model(&mut world);
    let task = world
        .plan(&["Den Wasserkocher entkalken", "Zweitens"])
        .remove(0);
    fill(&world, &mut Filler::new());
    model.sent();
    world.engine.rebuild(|_, _| {}).expect("a rebuild");
    assert_eq!(fill(&world, &mut Filler::new()), 0);
    assert_eq!(model.sent(), Vec::<String>::new());
    assert_eq!(found(&world, "kettle").first(), Some(&task));
}

#[on_both]
fn nobody_finds_what_they_may_not_read(mut world: World) {
    with_model(&mut world);
    let thread = world.ok(
        "create_thread",
        json!({"title": "Quiet", "participants": ["ada", "bob"]}),
    );
    by(
        &world,
        "bob",
        "post_message",
        json!({"thread_id": thread["thread_id"], "body": "Der Papagei ist krank"}),
    );
    fill(&world, &mut Filler::new());
    assert_eq!(found(&world, "parrot").len(), 1);
    let eve = World::caller("eve");
    assert_eq!(
        handles(&search(&world, &eve, "parrot")),
        Vec::<String>::new()
    );
    // An auditor's process fills as well as any.
    world.caller = Caller {
        role: Role::Auditor,
        ..World::caller("eve")
    };
    assert_eq!(fill(&world, &mut Filler::new()), 0);
}

#[on_both]
fn workspaces_are_kept_apart(mut world: World) {
    let model = with_model(&mut world);
    world.plan(&["Den Wasserkocher entkalken"]);
    let other = Caller {
        workspace: "attic".into(),
        ..world.caller.clone()
    };
    world
        .call_as(
            &other,
            "graph_plan",
            json!({"nodes": [{"ref": "a", "summary": "Wasserkocher ersetzen"}]}),
        )
        .unwrap();
    let mut filler = Filler::new();
    assert_eq!(fill(&world, &mut filler), 1);
    assert_eq!(model.sent(), ["Den Wasserkocher entkalken"]);
    assert_eq!(
        handles(&search(&world, &other, "kettle")),
        Vec::<String>::new()
    );
    // A workspace that nobody wrote to has nothing to fill, and is not made by it.
    let nowhere = Caller {
        workspace: "nowhere".into(),
        ..world.caller.clone()
    };
    assert_eq!(filler.step(&world.engine, &nowhere).unwrap(), Step::Done);
    assert_eq!(
        world
            .backend
            .raw()
            .number("SELECT COUNT(*) FROM soil_workspace"),
        2
    );
}

#[on_both]
fn many_texts_go_in_batches(mut world: World) {
    let model = with_model(&mut world);
    let summaries: Vec<String> = (0..150)
        .map(|at| format!("Aufgabe {at}"))
        .chain(["Die Leiter".to_string()])
        .collect();
    let summaries: Vec<&str> = summaries.iter().map(String::as_str).collect();
    let tasks = world.plan(&summaries);
    let sizes: Arc<Mutex<Vec<usize>>> = Arc::default();
    let told = Arc::clone(&sizes);
    model.meanwhile(move |texts| {
        told.lock().unwrap().push(texts.len());
        Ok(())
    });
    assert_eq!(fill(&world, &mut Filler::new()), 151);
    let sizes = sizes.lock().unwrap().clone();
    assert_eq!(sizes.iter().sum::<usize>(), 151);
    assert!(
        sizes.iter().all(|size| *size <= 32) && sizes.len() < 10,
        "{sizes:?}"
    );
    model.calm();
    assert_eq!(found(&world, "ladder").first(), tasks.last());
}
