//! What exists, by its handles: for the list of resources, and to complete what somebody types.
//!
//! Handles and nothing else: the words that were stored stay where they are asked for. What a
//! caller may not read it is not shown either, because the tools themselves are asked.

use std::sync::Arc;

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ListResourcesResult, Reference, Resource,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use understory_engine::Sought;
use understory_engine::garden::artifact::list::Artifacts;
use understory_engine::threads::list::Threads;
use understory_model::{Caller, Fault};

use super::{prompts, resources};
use crate::call::{self, Asked, Call, Calls};

/// Resources that one page lists, as soon as there are as many.
const PAGE: usize = 100;

/// Somebody who asks what exists.
pub struct Asker {
    pub calls: Arc<Calls>,
    pub caller: Caller,
    pub request: String,
    pub workspace: String,
}

impl Asker {
    async fn ask<T: DeserializeOwned>(&self, asked: Asked) -> Result<T, Fault> {
        let call = Call {
            asked,
            caller: self.caller.clone(),
            request: self.request.clone(),
            patience: call::patience(None, false),
            held: None,
        };
        self.calls.run(call, CancellationToken::new()).await?.read()
    }

    /// Asks a tool, for the type of its answer.
    async fn tool<T: DeserializeOwned>(&self, tool: &str, args: Value) -> Result<T, Fault> {
        self.ask(Asked::Tool(call::find(tool)?, args)).await
    }

    async fn handles(&self, sought: Sought, begins: &str) -> Result<Vec<String>, Fault> {
        let begins = begins.to_owned();
        self.ask(Asked::Handles(sought, begins)).await
    }

    /// One page of what is listed: the handle of each entry, and the cursor of the next page.
    async fn page(&self, of: Listed, args: Value) -> Result<(Vec<String>, Option<String>), Fault> {
        Ok(match of {
            Listed::Records => {
                let page: Records = self.tool("list_records", args).await?;
                let names = page.records.into_iter().map(|record| record.id);
                (names.collect(), page.next_cursor)
            }
            Listed::Threads => {
                let page: Threads = self.tool("list_threads", args).await?;
                let names = page.threads.into_iter().map(|thread| thread.thread_id);
                (names.collect(), page.next_cursor)
            }
            Listed::Artifacts => {
                let page: Artifacts = self.tool("garden_artifact_list", args).await?;
                let names = page.artifacts.into_iter();
                let names = names.filter_map(|artifact| artifact.uuid);
                (names.collect(), page.paging.pagination.next_cursor)
            }
        })
    }
}

/// What is read of a page of records.
#[derive(Deserialize)]
struct Records {
    records: Vec<Handle>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Handle {
    id: String,
}

/// What is listed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listed {
    Records,
    Threads,
    Artifacts,
}

impl Listed {
    const ALL: [Listed; 3] = [Listed::Records, Listed::Threads, Listed::Artifacts];

    /// Its part of an address and of a cursor.
    fn name(self) -> &'static str {
        match self {
            Listed::Records => "records",
            Listed::Threads => "threads",
            Listed::Artifacts => "artifacts",
        }
    }

    fn next(self) -> Option<Listed> {
        match self {
            Listed::Records => Some(Listed::Threads),
            Listed::Threads => Some(Listed::Artifacts),
            Listed::Artifacts => None,
        }
    }
}

/// Where in the list a page begins.
struct Place {
    of: Listed,
    cursor: Option<String>,
}

impl Place {
    fn read(cursor: Option<&str>) -> Result<Place, Fault> {
        let Some(text) = cursor else {
            let of = Listed::Records;
            return Ok(Place { of, cursor: None });
        };
        let (name, cursor) = text.split_once(':').unwrap_or((text, ""));
        let of = Listed::ALL.into_iter().find(|of| of.name() == name);
        let of =
            of.ok_or_else(|| Fault::invalid("cursor", "must be a nextCursor of resources/list"))?;
        let cursor = Some(cursor.to_owned()).filter(|cursor| !cursor.is_empty());
        Ok(Place { of, cursor })
    }

    fn write(&self) -> String {
        let cursor = self.cursor.as_deref().unwrap_or_default();
        format!("{}:{cursor}", self.of.name())
    }

    fn args(&self) -> Value {
        // Settled records are many, and `search` finds them.
        match self.of {
            Listed::Records => json!({ "limit": PAGE, "cursor": self.cursor, "states": ["OPEN"] }),
            Listed::Threads | Listed::Artifacts => json!({ "limit": PAGE, "cursor": self.cursor }),
        }
    }
}

/// A page of the resources: the overviews, then open records, threads and artifacts.
pub async fn list(asker: &Asker, cursor: Option<&str>) -> Result<ListResourcesResult, Fault> {
    let mut listed = match cursor {
        None => resources::list(&asker.workspace),
        Some(_) => Vec::new(),
    };
    let mut place = Some(Place::read(cursor)?);
    while let Some(here) = place.as_ref().filter(|_| listed.len() < PAGE) {
        let (names, next) = match asker.page(here.of, here.args()).await {
            Ok(page) => page,
            // The overviews can be named whatever the store can do just now.
            Err(_) if cursor.is_none() => break,
            Err(fault) => return Err(fault),
        };
        let base = resources::base(&asker.workspace, here.of.name());
        listed.extend(names.iter().map(|name| {
            Resource::new(format!("{base}/{name}"), name).with_mime_type(resources::JSON)
        }));
        place = match next {
            Some(cursor) => Some(Place {
                of: here.of,
                cursor: Some(cursor),
            }),
            None => here.of.next().map(|of| Place { of, cursor: None }),
        };
    }
    let mut page = ListResourcesResult::with_all_items(listed);
    page.next_cursor = place.map(|place| place.write());
    Ok(page)
}

/// What may be meant by the letters that somebody has typed so far.
pub async fn complete(
    asker: &Asker,
    params: &CompleteRequestParams,
) -> Result<CompleteResult, Fault> {
    let begins = params.argument.value.trim();
    let found = match &params.r#ref {
        Reference::Prompt(prompt) => {
            if prompts::completes(&prompt.name, &params.argument.name)? {
                asker.handles(Sought::Record, begins).await?
            } else {
                Vec::new()
            }
        }
        Reference::Resource(template) => {
            let kind = resources::kind_of(&template.uri, &asker.workspace)?;
            named(asker, kind, begins).await?
        }
        _ => return Err(resources::no_template()),
    };
    let more = found.len() > CompletionInfo::MAX_VALUES;
    let mut values = found;
    values.truncate(CompletionInfo::MAX_VALUES);
    let info = CompletionInfo::with_pagination(values, None, more);
    Ok(CompleteResult::new(info.unwrap_or_default()))
}

async fn named(asker: &Asker, kind: resources::Kind, begins: &str) -> Result<Vec<String>, Fault> {
    match kind {
        resources::Kind::Node => asker.handles(Sought::Node, begins).await,
        resources::Kind::Record => asker.handles(Sought::Record, begins).await,
        resources::Kind::Thread => {
            let (names, _) = asker.page(Listed::Threads, json!({ "limit": 200 })).await?;
            Ok(beginning(names, begins))
        }
        resources::Kind::Artifact => {
            let args = json!({ "limit": 200, "text": begins });
            let found: Artifacts = asker.tool("garden_artifact_list", args).await?;
            let labels = found.artifacts.into_iter().map(|artifact| artifact.label);
            Ok(beginning(labels.collect(), begins))
        }
        resources::Kind::Cause => {
            let mut found = asker.handles(Sought::Node, begins).await?;
            found.extend(asker.handles(Sought::Record, begins).await?);
            Ok(found)
        }
    }
}

fn beginning(names: Vec<String>, begins: &str) -> Vec<String> {
    names
        .into_iter()
        .filter(|name| name.starts_with(begins))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        for of in Listed::ALL {
            for cursor in [None, Some("a:b".to_owned())] {
                let written = Place {
                    of,
                    cursor: cursor.clone(),
                }
                .write();
                let read = Place::read(Some(&written)).unwrap();
                assert_eq!((read.of, read.cursor), (of, cursor));
            }
        }
        assert_eq!(Place::read(None).unwrap().of, Listed::Records);
        for wrong in ["", "x", "x:y", ":records"] {
            assert!(Place::read(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
