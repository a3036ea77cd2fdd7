//! Answers fitted into budgets.
//!
//! The input is one JSON array: characters, bytes, lines (or null), and an answer.

use serde_json::{Value, json};
use understory_model::budget::{
    Budget, Drop, fit_list, fit_lists, fit_page, fit_rows, fit_unpaged, fit_whole, short,
};

use crate::chance::Chance;
use crate::json;
use crate::target::{Outcome, Target, check, value};

pub struct Budgets;

impl Target for Budgets {
    fn run(&mut self, input: &[u8]) -> Outcome {
        let Some(Value::Array(parts)) = value(input) else {
            return Ok("not JSON".into());
        };
        let [chars, bytes, lines, answer] = parts.as_slice() else {
            return Ok("other".into());
        };
        let budget = Budget::new(chars.as_i64(), bytes.as_i64(), lines.as_i64());
        let mut cut = String::new();
        let rows = rows(answer);
        let build = |rows: &[Value]| json!({ "rows": rows, "total": 3 });
        let cursor = |kept: usize, _: &Value| json!(format!("c{kept}"));
        let page = |answer: Value, drop| fit_page(answer, "rows", &budget, drop, "next", cursor);
        let object = |answer: &Value| {
            if answer.is_object() {
                answer.clone()
            } else {
                json!({ "rows": answer, "next": null })
            }
        };
        let mut told = |name: &str, fitted: &Value| {
            cut.push(if fitted["truncated"] == true {
                'c'
            } else {
                '-'
            });
            within(&budget, name, fitted)
        };
        told(
            "fit_list",
            &fit_list(object(answer), "rows", &budget, Drop::Last),
        )?;
        told(
            "fit_list",
            &fit_list(object(answer), "rows", &budget, Drop::First),
        )?;
        told("fit_page", &page(object(answer), Drop::Last))?;
        told("fit_page", &page(object(answer), Drop::First))?;
        told("fit_rows", &fit_rows(&rows, &budget, build))?;
        told(
            "fit_unpaged",
            &fit_unpaged("rows", rows.clone(), &budget, build),
        )?;
        told("fit_whole", &fit_whole(object(answer), &budget))?;
        let mut several = json!({ "a": answer, "b": rows, "n": 1 });
        let fits = fit_lists(&mut several, &["/a", "/b"], &budget);
        check(!fits || budget.holds(&several), || {
            format!("fit_lists said that {several} fits {budget:?}")
        })?;
        if let Some(less) = short(answer, |value| budget.holds(value)) {
            check(budget.holds(&less), || {
                format!("short made {less} of {answer}")
            })?;
        }
        Ok(cut)
    }

    fn make(&mut self, chance: &mut Chance, known: &[Vec<u8>]) -> Vec<u8> {
        let words = self.words();
        let size = |chance: &mut Chance| match chance.below(3) {
            0 => Value::Null,
            1 => json!(chance.below(120)),
            _ => json!(chance.below(2_000)),
        };
        let answer = match value(chance.pick::<Vec<u8>>(known)) {
            Some(Value::Array(mut parts)) if parts.len() == 4 && chance.one_in(2) => {
                let mut answer = parts.pop().unwrap_or_default();
                json::mutate(chance, &mut answer, words);
                answer
            }
            _ => {
                let count = chance.below(12);
                let rows: Vec<Value> = (0..count).map(|_| json::any(chance, 3, words)).collect();
                let mut answer = json!({ "rows": rows, "note": json::any(chance, 2, words) });
                if chance.one_in(3) {
                    answer = answer["rows"].take();
                }
                answer
            }
        };
        json!([size(chance), size(chance), size(chance), answer])
            .to_string()
            .into_bytes()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "rows",
            "id",
            "title",
            "text",
            "data",
            "truncated",
            "rows_count",
            "next",
            "metadata",
        ]
    }
}

fn rows(answer: &Value) -> Vec<Value> {
    let rows = answer.as_array().or_else(|| answer["rows"].as_array());
    rows.cloned().unwrap_or_else(|| vec![answer.clone()])
}

/// Within the budget, or nothing but empty lists.
fn within(budget: &Budget, name: &str, fitted: &Value) -> Result<(), String> {
    let bare = fitted.as_object().is_some_and(|fields| {
        let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        let mut fields = fields.iter();
        fitted["truncated"] == true
            && fields.all(|(name, value)| name == "truncated" || empty(value))
    });
    check(bare || budget.holds(fitted), || {
        format!("{name} made {fitted} for {budget:?}")
    })
}
