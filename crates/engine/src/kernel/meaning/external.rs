//! An external embedding model, where one is configured.
//!
//! It is asked between transactions, never in one, and no write waits for it: a [`Filler`] follows
//! the log and has what was written embedded, and until then, or when nobody answers, our own model
//! has to do. What comes back is checked here and not trusted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use understory_meaning::foreign::rounded;
use understory_model::error::{Code, Fault, Result};
use understory_model::{Caller, Role, Seq, limits};
use understory_storage::embeddings::{self, Missing};
use understory_storage::workspaces;

use crate::kernel::search::passages_of;
use crate::{Engine, View, micros};

/// Texts that are sent at once.
const BATCH: usize = 32;
/// Things that one step takes on.
const STEP: i64 = 64;
/// How long a process that says nothing more keeps others from sending the same texts.
const TURN: Duration = Duration::from_secs(90);
/// How long a search waits for the model, and how long the follower of the log does.
pub const QUESTION: Duration = Duration::from_secs(3);
const TEXTS: Duration = Duration::from_secs(60);

/// Unrelated texts: how close a question is to them is what is usual for a model. Changing one changes
/// what is found.
const BASELINE: [&str; 8] = [
    "The train to the coast leaves at seven in the morning.",
    "Add two eggs and a pinch of salt to the dough.",
    "She scored twice in the second half of the match.",
    "The museum is closed on public holidays.",
    "Heavy rain is expected in the mountains tonight.",
    "His grandfather played the violin in a village band.",
    "The tenant may keep a cat but no dog.",
    "Bees find their way home by the sun.",
];

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// What its vectors are kept under: those of different models are never compared.
    fn model(&self) -> &str;

    /// A vector for each text, in their order, within a time. `VALIDATION` says that these texts
    /// will never be taken; everything else, that it may be tried again.
    fn embed(&self, texts: &[String], within: Duration) -> Result<Vec<Vec<f32>>>;
}

/// Where a question points by an external model.
#[derive(Debug, Clone)]
pub struct Meant {
    pub model: String,
    pub vector: Vec<i8>,
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// This many texts were taken in, and there may be more.
    Filled(usize),
    /// Nothing is missing.
    Done,
    /// Another process is at it.
    Elsewhere,
}

/// How far a model has come in a workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub texts: i64,
    pub embedded: i64,
}

impl Engine {
    /// The external model, if there is one.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.options.embedder.as_ref()
    }

    /// Where a question points by the external model; none where it has seen nothing yet.
    pub(crate) fn meant(&self, caller: &Caller, query: &str) -> Result<Option<Meant>> {
        let Some(embedder) = self.embedder().filter(|_| !query.trim().is_empty()) else {
            return Ok(None);
        };
        let model = embedder.model().to_string();
        let there = self.rows(caller, |tx, ws| embeddings::progress(tx, ws, &model))?;
        let there = there.unwrap_or_default();
        if there.dims == 0 {
            return Ok(None);
        }
        let vectors = ask(&**embedder, &[query.to_string()], there.dims, QUESTION)?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        Ok(Some(Meant { model, vector }))
    }

    /// How many texts there are, and how many of them the external model has seen.
    pub fn embedded(&self, caller: &Caller) -> Result<Option<Seen>> {
        let Some(embedder) = self.embedder() else {
            return Ok(None);
        };
        let counts = self.rows(caller, |tx, ws| embeddings::count(tx, ws, embedder.model()))?;
        let (texts, embedded) = counts.unwrap_or_default();
        Ok(Some(Seen { texts, embedded }))
    }

    /// Deletes every vector of external models. Returns the number of texts affected.
    pub fn forget_embedded(&self, caller: &Caller) -> Result<u64> {
        // Nothing stored yet; do not create a workspace.
        if self.head(caller)? == Seq::ZERO {
            return Ok(0);
        }
        self.write_live(caller, |tx, ws, _| embeddings::forget_all(tx, ws))
    }
}

/// Asks for vectors and checks them.
fn ask(
    embedder: &dyn Embedder,
    texts: &[String],
    dims: i64,
    within: Duration,
) -> Result<Vec<Vec<i8>>> {
    let unusable = |problem: String| {
        Err(Fault::new(Code::StoreUnavailable, problem)
            .hint("Check embedding_url and embedding_model; `understory doctor` tries them."))
    };
    let vectors = embedder.embed(texts, within)?;
    if vectors.len() != texts.len() {
        let (sent, came) = (texts.len(), vectors.len());
        return unusable(format!("{sent} texts were sent, {came} vectors came back"));
    }
    let first = vectors.first().map_or(0, Vec::len);
    if !(1..=limits::EMBEDDING_DIMS).contains(&first) || vectors.iter().any(|v| v.len() != first) {
        return unusable(format!(
            "vectors must have 1 to {} numbers, all the same count",
            limits::EMBEDDING_DIMS
        ));
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return unusable("a vector holds something that is not a number".into());
    }
    if dims != 0 && dims != i64::try_from(first).unwrap_or(0) {
        return Err(Fault::new(
            Code::StoreUnavailable,
            format!(
                "{} answers with {first} numbers a vector; it used to be {dims}",
                embedder.model()
            ),
        )
        .hint("Give the model another name, or run `understory embed --forget`."));
    }
    Ok(vectors.iter().map(|vector| rounded(vector)).collect())
}

/// A text as it is sent: one for each of its passages.
type Passages = Vec<String>;

/// Has what was written embedded, workspace by workspace.
pub struct Filler {
    /// Tells this process from others.
    holder: String,
    /// Up to where nothing is missing, by workspace.
    upto: HashMap<String, Seq>,
    /// The workspaces in which it is this one's turn.
    turns: HashSet<String>,
}

impl Filler {
    pub fn new() -> Filler {
        Filler {
            holder: uuid::Uuid::new_v4().to_string(),
            upto: HashMap::new(),
            turns: HashSet::new(),
        }
    }

    /// Takes some of what is missing in the caller's workspace to the model.
    pub fn step(&mut self, engine: &Engine, caller: &Caller) -> Result<Step> {
        let Some(embedder) = engine.embedder() else {
            return Ok(Step::Done);
        };
        // Nobody's call: it shows nobody anything.
        let caller = &Caller {
            role: Role::Operator,
            ..caller.clone()
        };
        let upto = self
            .upto
            .get(&caller.workspace)
            .copied()
            .unwrap_or(Seq::ZERO);
        let model = embedder.model().to_string();
        let (head, dims, missing) = engine.view(caller, |view| {
            let head = workspaces::head(view.tx, view.ws, false)?;
            let dims = embeddings::progress(view.tx, view.ws, &model)?.dims;
            // Vectors may have been deleted since.
            let after = if dims == 0 { Seq::ZERO } else { upto };
            let missing = missing(view, &model, after)?;
            Ok((head.map_or(Seq::ZERO, |head| head.seq), dims, missing))
        })?;
        if missing.is_empty() {
            self.upto.insert(caller.workspace.clone(), head);
            self.end_turn(engine, caller, model)?;
            return Ok(Step::Done);
        }
        if !self.take_turn(engine, caller, model.clone())? {
            return Ok(Step::Elsewhere);
        }
        let found = match self.ask_for(engine, caller, &missing, dims) {
            Ok(found) => found,
            Err(fault) => {
                // The next process need not wait for this one.
                self.end_turn(engine, caller, model)?;
                return Err(fault);
            }
        };
        let last = missing.last().map_or(Seq::ZERO, |(text, _)| text.seq);
        let count = found.len();
        engine.write_live(caller, move |tx, ws, _| {
            embeddings::put(tx, ws, &model, &found)
        })?;
        // Several things may have the place of the last one.
        self.upto.insert(caller.workspace.clone(), last - 1);
        Ok(Step::Filled(count))
    }

    fn ask_for(
        &self,
        engine: &Engine,
        caller: &Caller,
        missing: &[(Missing, Passages)],
        dims: i64,
    ) -> Result<Found> {
        let Some(embedder) = engine.embedder() else {
            return Ok(Found::new());
        };
        let dims = match dims {
            0 => begin(engine, caller, &**embedder)?,
            dims => dims,
        };
        vectors_of(&**embedder, missing, dims)
    }

    fn take_turn(&mut self, engine: &Engine, caller: &Caller, model: String) -> Result<bool> {
        let holder = self.holder.clone();
        let taken = engine.write_live(caller, move |tx, ws, now| {
            let until = now.plus(micros(TURN));
            embeddings::take_turn(tx, ws, &model, &holder, (now, until))
        })?;
        if taken {
            self.turns.insert(caller.workspace.clone());
        }
        Ok(taken)
    }

    /// Lets others have the turn, if it is this one's.
    fn end_turn(&mut self, engine: &Engine, caller: &Caller, model: String) -> Result<()> {
        if !self.turns.remove(&caller.workspace) {
            return Ok(());
        }
        let holder = self.holder.clone();
        engine.write_live(caller, move |tx, ws, _| {
            embeddings::end_turn(tx, ws, &model, &holder)
        })
    }
}

impl Default for Filler {
    fn default() -> Filler {
        Filler::new()
    }
}

/// Texts that the model has not seen, cut as they are when they are indexed.
fn missing(view: &mut View<'_, '_>, model: &str, after: Seq) -> Result<Vec<(Missing, Passages)>> {
    let missing = embeddings::missing(view.tx, view.ws, model, after, STEP)?;
    let ids: Vec<_> = missing.iter().map(|text| text.id).collect();
    let mut passages = passages_of(view, &ids)?;
    let with = |text: Missing| {
        let mut passages = passages.remove(&text.id).unwrap_or_default();
        passages.truncate(limits::EMBEDDED_PASSAGES);
        (text, passages)
    };
    Ok(missing.into_iter().map(with).collect())
}

/// Learns what is usual for a model that has seen nothing yet; how many numbers its vectors have.
fn begin(engine: &Engine, caller: &Caller, embedder: &dyn Embedder) -> Result<i64> {
    let model = embedder.model().to_string();
    let baseline = ask(embedder, &BASELINE.map(str::to_string), 0, TEXTS)?;
    let dims = baseline.first().map_or(0, Vec::len);
    let dims = i64::try_from(dims).unwrap_or(0);
    let baseline = bytes(baseline.into_iter());
    engine.write_live(caller, move |tx, ws, _| {
        embeddings::begin(tx, ws, &model, dims, &baseline)
    })?;
    Ok(dims)
}

fn bytes(vectors: impl Iterator<Item = Vec<i8>>) -> Vec<u8> {
    vectors.flatten().map(i8::cast_unsigned).collect()
}

/// The vectors of each text, one after the other.
type Found = Vec<(Missing, Vec<u8>)>;

fn vectors_of(
    embedder: &dyn Embedder,
    missing: &[(Missing, Passages)],
    dims: i64,
) -> Result<Found> {
    let mut found = Found::new();
    let mut from = 0;
    while from < missing.len() {
        // One request takes as many things as fit; a thing with more passages goes alone.
        let (mut to, mut count) = (from, 0);
        while to < missing.len() && (to == from || count + missing[to].1.len() <= BATCH) {
            count += missing[to].1.len();
            to += 1;
        }
        let some = &missing[from..to];
        match together(embedder, some, dims) {
            Err(fault) if fault.code == Code::Validation => {
                for one in some {
                    found.push(alone(embedder, one, dims)?);
                }
            }
            done => found.extend(done?),
        }
        from = to;
    }
    Ok(found)
}

/// One thing whose company was refused. One that is refused itself points nowhere, and is not sent
/// again.
fn alone(
    embedder: &dyn Embedder,
    one: &(Missing, Passages),
    dims: i64,
) -> Result<(Missing, Vec<u8>)> {
    match together(embedder, std::slice::from_ref(one), dims) {
        Err(fault) if fault.code == Code::Validation => Ok((one.0, Vec::new())),
        done => Ok((
            one.0,
            done?.into_iter().flat_map(|(_, bytes)| bytes).collect(),
        )),
    }
}

fn together(embedder: &dyn Embedder, some: &[(Missing, Passages)], dims: i64) -> Result<Found> {
    let texts: Vec<String> = some
        .iter()
        .flat_map(|(_, passages)| passages.clone())
        .collect();
    let mut vectors = Vec::with_capacity(texts.len());
    for texts in texts.chunks(BATCH) {
        vectors.extend(ask(embedder, texts, dims, TEXTS)?);
    }
    let mut vectors = vectors.into_iter();
    let of = |(text, passages): &(Missing, Passages)| {
        (*text, bytes(vectors.by_ref().take(passages.len())))
    };
    Ok(some.iter().map(of).collect())
}
