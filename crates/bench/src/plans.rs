//! Nodes as people would plan them, the same ones in every run.

use serde_json::{Value, json};

const VERBS: [&str; 16] = [
    "Fix", "Write", "Review", "Move", "Rename", "Measure", "Remove", "Document", "Split", "Test",
    "Design", "Port", "Audit", "Simplify", "Cache", "Log",
];
const THINGS: [&str; 40] = [
    "parser",
    "index",
    "scheduler",
    "session",
    "lease",
    "cursor",
    "budget",
    "ledger",
    "branch",
    "merge",
    "search",
    "export",
    "import",
    "token",
    "socket",
    "buffer",
    "retry",
    "timeout",
    "schema",
    "migration",
    "backup",
    "replay",
    "digest",
    "handle",
    "snapshot",
    "filter",
    "listing",
    "reply",
    "terminal",
    "browser",
    "layout",
    "palette",
    "keyboard",
    "wizard",
    "invoice",
    "basket",
    "payment",
    "address",
    "coupon",
    "receipt",
];
const PLACES: [&str; 24] = [
    "kitchen", "garden", "harbour", "library", "station", "market", "workshop", "theatre",
    "bakery", "museum", "forest", "island", "valley", "castle", "bridge", "tunnel", "tower",
    "cellar", "attic", "stable", "orchard", "quarry", "mill", "forge",
];

/// Values of the property `area`.
pub const AREAS: u64 = 50;

/// A source of nodes; the same seed gives the same nodes.
pub struct Plans(u64);

impl Plans {
    pub fn new(seed: u64) -> Plans {
        Plans(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }

    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len() as u64) as usize]
    }

    fn summary(&mut self) -> String {
        let (verb, thing, other) = (self.pick(&VERBS), self.pick(&THINGS), self.pick(&THINGS));
        let (place, number) = (self.pick(&PLACES), self.below(1_000));
        format!("{verb} the {thing} of the {place} before the {other} breaks, case {number}")
    }

    fn node(&mut self, reference: String) -> Value {
        let properties = json!({
            "area": format!("area-{}", self.below(AREAS)),
            "priority": self.below(10),
        });
        json!({ "ref": reference, "summary": self.summary(), "properties": properties })
    }

    /// Arguments of a `graph_plan` of one node under the root.
    pub fn one(&mut self) -> Value {
        json!({ "nodes": [self.node("a".into())] })
    }

    /// Arguments of a `graph_plan` of nodes that bear a word which no other has.
    pub fn marked(&mut self, count: usize) -> Value {
        let mut plan = self.flat(count);
        for node in plan["nodes"].as_array_mut().into_iter().flatten() {
            node["summary"] = format!("Ask the zephyr: {}", self.summary()).into();
            node["properties"]["area"] = "area-7".into();
        }
        plan
    }

    /// Arguments of a `graph_plan` of many nodes under the root.
    pub fn flat(&mut self, count: usize) -> Value {
        let nodes: Vec<Value> = (0..count).map(|at| self.node(format!("n{at}"))).collect();
        json!({ "nodes": nodes })
    }

    /// Arguments of a `graph_plan` of many: groups of a hundred under their first, and every
    /// second node after the one before it.
    pub fn many(&mut self, count: usize) -> Value {
        let nodes: Vec<Value> = (0..count)
            .map(|at| {
                let mut node = self.node(format!("n{at}"));
                let first = at / 100 * 100;
                if at != first {
                    node["parent_ref"] = format!("n{first}").into();
                }
                if at > first + 1 && at % 2 == 0 {
                    node["depends_on"] = json!([format!("n{}", at - 1)]);
                }
                node
            })
            .collect();
        json!({ "nodes": nodes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_nodes() {
        assert_eq!(Plans::new(3).many(250), Plans::new(3).many(250));
        assert_ne!(Plans::new(3).one(), Plans::new(4).one());
        let many = Plans::new(1).many(202);
        assert_eq!(many["nodes"][201]["parent_ref"], "n200");
        assert_eq!(many["nodes"][198]["depends_on"], json!(["n197"]));
    }
}
