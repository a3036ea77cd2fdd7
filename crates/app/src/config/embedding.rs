//! Where texts are embedded outside this program, if anywhere.
//!
//! Texts of the store go there, so a file in a repository cannot set it: who clones one must not
//! send their memory to whoever wrote it.

use std::fmt;

use understory_model::{Fault, limits};

use super::{Layers, Setting};
use crate::loopback::is_this_machine;

/// A model outside.
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
        match path.ends_with("/embeddings") {
            true => format!("{path}{query}"),
            false => format!("{path}/embeddings{query}"),
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

/// The three settings as they were set.
#[derive(Debug, Clone)]
pub struct Settings {
    pub url: Setting<Option<String>>,
    pub model: Setting<Option<String>>,
    pub key: Setting<Option<Secret>>,
}

impl Settings {
    pub(super) fn read(layers: &Layers<'_>) -> Result<Settings, Fault> {
        let key = layers.text("embedding_key")?;
        let settings = Settings {
            url: layers.text("embedding_url")?,
            model: layers.text("embedding_model")?,
            key: Setting {
                value: key.value.map(Secret::new),
                source: key.source,
            },
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Fault> {
        let Some(url) = &self.url.value else {
            return match &self.model.value {
                None => Ok(()),
                Some(_) => Err(self
                    .model
                    .wrong("embedding_model", "needs an embedding_url")),
            };
        };
        let Some(model) = &self.model.value else {
            return Err(self.url.wrong("embedding_url", "needs an embedding_model"));
        };
        if model.trim().is_empty() || model.chars().count() > limits::NAME_CHARS {
            let problem = format!("must be a name of up to {} characters", limits::NAME_CHARS);
            return Err(self.model.wrong("embedding_model", problem));
        }
        let good = match url.split_once("://") {
            Some(("https", rest)) => !rest.is_empty() && !rest.contains('@'),
            Some(("http", rest)) => is_this_machine(rest),
            _ => false,
        };
        if good && !url.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Ok(());
        }
        let problem = "takes an https:// address, or an http:// one of this machine";
        Err(self.url.wrong("embedding_url", problem))
    }

    /// The model, if there is one.
    pub fn value(&self) -> Option<Embedding> {
        Some(Embedding {
            url: self.url.value.clone()?,
            model: self.model.value.clone()?,
            key: self.key.value.clone(),
        })
    }

    /// The address as it may be shown: what follows a `?` may be a secret.
    pub fn shown_url(&self) -> String {
        let url = self.url.value.as_deref().unwrap_or("-");
        match url.split_once('?') {
            Some((path, _)) => format!("{path}?***"),
            None => url.to_owned(),
        }
    }
}
