//! Which external model embeds texts, if any.
//!
//! Texts of the store go there, so a file in a repository cannot set it: who clones one must not
//! send their memory to its author.

use std::fmt;

use understory_model::{Fault, limits};

use super::Settings;
use crate::loopback::is_this_machine;

/// An external model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    pub url: String,
    pub model: String,
    pub key: Option<Secret>,
}

impl Embedding {
    /// Where texts are posted: the address itself, or below it, as most clients take it.
    pub fn address(&self) -> String {
        let (path, query) = match self.url.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (self.url.as_str(), String::new()),
        };
        let path = path.trim_end_matches('/');
        if path.ends_with("/embeddings") {
            format!("{path}{query}")
        } else {
            format!("{path}/embeddings{query}")
        }
    }
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: String) -> Secret {
        Secret(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The address of an endpoint. What follows its `?` may be a secret, and is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(String);

impl Endpoint {
    pub fn new(address: String) -> Endpoint {
        Endpoint(address)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.split_once('?') {
            Some((path, _)) => write!(f, "{path}?***"),
            None => f.write_str(&self.0),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl Settings {
    /// Refuses half of what is needed, and an address that texts must not be sent to.
    pub(super) fn check_embedding(&self) -> Result<(), Fault> {
        let (url, model) = (&self.embedding_url, &self.embedding_model);
        let Some(Endpoint(address)) = &url.value else {
            return match &model.value {
                None => Ok(()),
                Some(_) => Err(model.wrong("embedding_model", "needs an embedding_url")),
            };
        };
        let Some(name) = &model.value else {
            return Err(url.wrong("embedding_url", "needs an embedding_model"));
        };
        if name.trim().is_empty() || name.chars().count() > limits::NAME_CHARS {
            let problem = format!("must be a name of up to {} characters", limits::NAME_CHARS);
            return Err(model.wrong("embedding_model", problem));
        }
        let good = match address.split_once("://") {
            Some(("https", rest)) => !rest.is_empty() && !rest.contains('@'),
            Some(("http", rest)) => is_this_machine(rest),
            _ => false,
        };
        if good && !address.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Ok(());
        }
        let problem = "takes an https:// address, or an http:// one of this machine";
        Err(url.wrong("embedding_url", problem))
    }

    /// The external model, if there is one.
    pub fn embedding(&self) -> Option<Embedding> {
        let Endpoint(url) = self.embedding_url.value.clone()?;
        Some(Embedding {
            url,
            model: self.embedding_model.value.clone()?,
            key: self.embedding_key.value.clone(),
        })
    }
}
