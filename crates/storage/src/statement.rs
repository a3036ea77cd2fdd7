//! The builder of statements whose conditions depend on what is asked: fixed pieces of SQL, and
//! values only as arguments.

use crate::sql::Arg;

/// A `SELECT` being put together.
pub struct Statement<'a> {
    /// What stands before `SELECT`; empty, or `WITH …` and a space.
    pub with: String,
    pub from: String,
    conditions: String,
    /// The values, by their numbers.
    pub args: Vec<Arg<'a>>,
}

impl<'a> Statement<'a> {
    /// Starts with the first conditions and the arguments that they use.
    pub fn new(from: &str, conditions: &str, args: Vec<Arg<'a>>) -> Statement<'a> {
        Statement {
            with: String::new(),
            from: from.into(),
            conditions: conditions.into(),
            args,
        }
    }

    /// Adds an argument; how the text refers to it.
    pub fn arg(&mut self, value: impl Into<Arg<'a>>) -> String {
        self.args.push(value.into());
        format!("?{}", self.args.len())
    }

    /// Adds a condition.
    pub fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }

    /// Adds a condition; `?` in it stands for the value.
    pub fn and_arg(&mut self, condition: &str, value: impl Into<Arg<'a>>) {
        let place = self.arg(value);
        self.and(&condition.replace('?', &place));
    }

    /// Only rows whose column has one of the values; all where none is given.
    pub fn and_in(&mut self, column: &str, values: impl Iterator<Item = &'a str>) {
        let places: Vec<String> = values.map(|value| self.arg(value)).collect();
        if !places.is_empty() {
            self.and(&format!("{column} IN ({})", places.join(", ")));
        }
    }

    /// Only rows whose path is below another, which ends before `end`.
    pub fn and_below(&mut self, column: &str, path: &'a str, end: &'a str) {
        let (path, end) = (self.arg(path), self.arg(end));
        self.and(&format!("{column} > {path} AND {column} < {end}"));
    }

    /// The whole statement, without order and limit.
    pub fn select(&self, columns: &str) -> String {
        let Statement {
            with,
            from,
            conditions,
            ..
        } = self;
        format!("{with}SELECT {columns} FROM {from} WHERE {conditions}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_numbered_as_they_come() {
        let mut built = Statement::new("t", "t.ws = ?1", vec![Arg::Int(7)]);
        built.and_arg("(t.a = ? OR t.b = ?)", 1);
        built.and_in("t.state", ["open", "done"].into_iter());
        built.and_in("t.type", std::iter::empty());
        built.and_below("t.path", "x", "x~");
        assert_eq!(
            built.select("t.id"),
            "SELECT t.id FROM t WHERE t.ws = ?1 AND (t.a = ?2 OR t.b = ?2) \
             AND t.state IN (?3, ?4) AND t.path > ?5 AND t.path < ?6"
        );
        assert_eq!(built.args.len(), 6);
    }
}
