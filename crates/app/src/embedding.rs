//! An external model that says what texts mean: an address that takes texts and answers with
//! vectors, in the shape that OpenAI made common (`POST …/embeddings`).
//!
//! It gets texts of the store, so nobody but the user chooses it (`config::embedding`), and what is
//! said about it never holds a text, the key or what it answered.

mod follow;

pub use follow::{Following, follow};

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use understory_engine::kernel::meaning::{Embedder, QUESTION};
use understory_model::{Code, Fault, limits};

use crate::config::Embedding;

/// After it failed somebody who searches, others search without it for so long.
const REST: Duration = Duration::from_secs(15);

/// An endpoint as it is configured.
pub struct Endpoint {
    at: Embedding,
    agent: ureq::Agent,
    /// When it last failed to answer a question.
    failed: Mutex<Option<Instant>>,
}

impl Endpoint {
    pub fn new(at: Embedding) -> Endpoint {
        let mut config = ureq::Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false);
        if at.url.starts_with("http://") {
            // What goes to this machine in the clear must not take a way round by a proxy.
            config = config.proxy(None);
        }
        let agent = config.build().into();
        Endpoint {
            at,
            agent,
            failed: Mutex::new(None),
        }
    }

    fn rests(&self) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < REST)
    }

    fn post(&self, texts: &[String], within: Duration) -> Result<Value, Fault> {
        let request = self.agent.post(self.at.address());
        let mut request = request.config().timeout_global(Some(within)).build();
        if let Some(key) = &self.at.key {
            request = request.header("authorization", format!("Bearer {}", key.reveal()));
        }
        let body = json!({ "model": self.at.model, "input": texts, "encoding_format": "float" });
        let mut answer = request
            .header("content-type", "application/json")
            .send(body.to_string())
            .map_err(|error| silent(&error))?;
        if let Some(fault) = refused(answer.status().as_u16()) {
            return Err(fault);
        }
        let text = answer
            .body_mut()
            .with_config()
            .limit(limits::EMBEDDING_ANSWER_BYTES)
            .read_to_string()
            .map_err(|error| silent(&error))?;
        serde_json::from_str(&text)
            .map_err(|_| unusable("it answers with something else than JSON"))
    }
}

impl Embedder for Endpoint {
    fn model(&self) -> &str {
        &self.at.model
    }

    fn embed(&self, texts: &[String], within: Duration) -> Result<Vec<Vec<f32>>, Fault> {
        let asks = within <= QUESTION;
        if asks && self.rests() {
            return Err(unusable("it did not answer a moment ago"));
        }
        let found = self.post(texts, within).and_then(|answer| read(&answer));
        if asks {
            // A question that it refuses says nothing about the next one.
            let failed = found.as_ref().err();
            let failed = failed.filter(|fault| fault.code != Code::Validation);
            let failed = failed.map(|_| Instant::now());
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        }
        found
    }
}

/// What an endpoint answers.
#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedded>,
}

/// The vector of one text.
#[derive(Deserialize)]
struct Embedded {
    /// Which text; else the next one.
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// The vectors of an answer, in the order of the texts, whatever order they came in.
fn read(answer: &Value) -> Result<Vec<Vec<f32>>, Fault> {
    let wrong = || unusable("its answer has no `data` with an `embedding` for each text");
    let Embeddings { data } = Embeddings::deserialize(answer).map_err(|_| wrong())?;
    let mut found = vec![Vec::new(); data.len()];
    for (at, one) in data.into_iter().enumerate() {
        let place = found.get_mut(one.index.unwrap_or(at)).ok_or_else(wrong)?;
        *place = one
            .embedding
            .into_iter()
            .map(|number| number as f32)
            .collect();
    }
    Ok(found)
}

/// What a status says about the request; nothing where it was taken.
fn refused(status: u16) -> Option<Fault> {
    let hint = match status {
        200..=299 => return None,
        // These texts, not these settings.
        400 | 413 | 422 => {
            let problem = format!("the embedding endpoint refuses a text (status {status})");
            return Some(Fault::new(Code::Validation, problem));
        }
        401 | 403 => "Check UNDERSTORY_EMBEDDING_KEY.",
        404 | 405 => "Check embedding_url, which ends with /embeddings, and embedding_model.",
        429 => "It is asked too often for now; texts are sent again later.",
        _ => "Look at what it says itself; texts are sent again later.",
    };
    Some(unusable(&format!("it answers with status {status}")).hint(hint))
}

fn silent(error: &ureq::Error) -> Fault {
    unusable(match error {
        ureq::Error::Timeout(_) => "it does not answer in time",
        ureq::Error::HostNotFound => "its host is not known",
        ureq::Error::ConnectionFailed | ureq::Error::Io(_) => "it cannot be reached",
        ureq::Error::BodyExceedsLimit(_) => "its answer is too long",
        _ => "it does not speak as it should",
    })
}

fn unusable(problem: &str) -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        format!("the embedding endpoint cannot be used: {problem}"),
    )
    .hint("Check embedding_url, and that it is running.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_put_in_the_order_of_their_texts() {
        let answer = json!({ "data": [
            { "index": 1, "embedding": [3, 4.5] },
            { "index": 0, "embedding": [1, 2] },
        ] });
        assert_eq!(read(&answer).unwrap(), [[1.0, 2.0], [3.0, 4.5]]);
        let answer = json!({ "data": [{ "embedding": [1] }, { "embedding": [2] }] });
        assert_eq!(read(&answer).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn answers_of_another_shape_are_refused() {
        for answer in [
            json!(null),
            json!({ "data": {} }),
            json!({ "data": [{ "index": 7, "embedding": [1] }] }),
            json!({ "data": [{ "index": -1, "embedding": [1] }] }),
            json!({ "data": [{ "embedding": "AAAA" }] }),
            json!({ "data": [{ "embedding": [1, null] }] }),
        ] {
            assert!(read(&answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn only_a_refused_text_is_given_up() {
        for (status, code) in [
            (400, Code::Validation),
            (413, Code::Validation),
            (401, Code::StoreUnavailable),
            (302, Code::StoreUnavailable),
            (429, Code::StoreUnavailable),
            (500, Code::StoreUnavailable),
        ] {
            assert_eq!(
                refused(status).map(|fault| fault.code),
                Some(code),
                "{status}"
            );
        }
        assert!(refused(200).is_none());
    }
}
