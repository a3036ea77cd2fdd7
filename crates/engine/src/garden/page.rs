//! How a page of one of the garden's lists ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use understory_model::answer::Next;

/// The fields of a page beside its list.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Paging {
    pub pagination: Pagination,
    /// Whether elements were left out, or shortened, to keep the answer within `max_chars`.
    pub truncated: bool,
    /// The cursor of each element.
    #[serde(skip)]
    cursors: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Pagination {
    /// The cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

impl Paging {
    /// A page whose elements have these cursors, one each; `more` says that others follow.
    pub fn new(cursors: Vec<String>, more: bool) -> Paging {
        Paging {
            pagination: Pagination {
                next_cursor: cursors.last().filter(|_| more).cloned(),
            },
            truncated: false,
            cursors,
        }
    }

    /// A page after which the search goes on at a place that is not that of an element.
    pub fn going_on(mut cursors: Vec<String>, place: String) -> Paging {
        if let Some(last) = cursors.last_mut() {
            last.clone_from(&place);
        }
        Paging {
            pagination: Pagination {
                next_cursor: Some(place),
            },
            truncated: false,
            cursors,
        }
    }

    /// Where the next page begins when only `kept` elements are shown.
    pub fn cursor(&self, kept: usize) -> Option<Next> {
        Some(self.cursors.get(kept.checked_sub(1)?)?.clone().into())
    }
}
