//! Thinking cards: objects, JSON text, lines of `key: value`.

use serde_json::{Value, json};
use understory_engine::reasoning::{card, card_text};

use crate::chance::Chance;
use crate::target::{Outcome, Target, check, check_fault, shape, text, value};
use crate::{json, mutate};

pub struct Cards;

impl Target for Cards {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let content = text(input);
        let mut way = read(&json!(content))?;
        if let Some(value) = value(input) {
            way.push_str(&read(&value)?);
            let _ = card_text::list("tags", Some(&value));
        }
        Ok(way)
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let mut input = chance.pick(known).clone();
        match (value(&input), chance.one_in(2)) {
            (Some(mut card), true) => {
                json::mutate(chance, &mut card, self.words());
                json::spelled(chance, &card).into_bytes()
            }
            _ => {
                mutate::mutate(chance, &mut input, self.words(), known);
                input
            }
        }
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "id: c1\n",
            "type: note\n",
            "type: update\n",
            "title: t\n",
            "text: |\n  a\n\tb\n",
            "status: open\n",
            "tags: [a, 'b c']\n",
            "meta: {\"a\": 1}\n",
            "supports: h1, h2\n",
            "blocks: [\"x\"]\n",
            "card_id",
            "ID:",
            ": ",
            "\n ",
            "id",
            "type",
            "note",
            "title",
            "text",
            "tags",
            "meta",
            "supports",
            "blocks",
            "status",
        ]
    }
}

fn read(written: &Value) -> Outcome {
    let card = match card::read(written, Vec::new(), Vec::new()) {
        Ok(card) => card,
        Err(fault) => {
            check_fault(&fault)?;
            return Ok(shape(&fault.message));
        }
    };
    let node = &card.node;
    let plain = json!({
        "id": node.id, "type": node.kind, "title": node.title, "text": node.text, "status": node.status,
        "tags": node.tags, "meta": node.meta, "supports": card.supports, "blocks": card.blocks,
    });
    for form in [plain.clone(), json!(plain.to_string())] {
        let again = card::read(&form, Vec::new(), Vec::new()).map_err(|fault| {
            format!("{written} was accepted as {plain}, which is refused: {fault}")
        })?;
        let same = format!("{:?}", again.node) == format!("{:?}", card.node)
            && again.supports == card.supports
            && again.blocks == card.blocks;
        check(same, || {
            format!("{written} is {card:?}, and written out {again:?}")
        })?;
    }
    Ok(format!("{} {}", node.kind, card.supports.len().min(3)))
}
