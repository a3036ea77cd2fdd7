//! A statement over several lines, a clause on each.

const WIDTH: usize = 100;

/// Words that begin a line.
const CLAUSES: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "AND",
    "ORDER",
    "GROUP",
    "HAVING",
    "LIMIT",
    "UNION",
    "INTERSECT",
    "CROSS",
    "LEFT",
    "JOIN",
    "SET",
    "VALUES",
    "ON",
    "INSERT",
    "UPDATE",
    "DELETE",
];

/// Words after which the next one continues the line.
const CONTINUED: &[&str] = &["CROSS", "LEFT", "ALL", "DO", "UNION", "INTERSECT"];

/// The statement with a line for each clause, indented by its parentheses.
pub fn lines(sql: &str) -> String {
    let (mut text, mut line, mut depth, mut before) = (String::new(), String::new(), 0_usize, "");
    let spaced = sql.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let after_join = word == "ON" && words.peek() != Some(&"CONFLICT");
        let joined = word == "JOIN" && CONTINUED.contains(&before);
        let updated = before == "DO" || (word == "SET" && before == "UPDATE");
        let breaks = CLAUSES.contains(&word) && !after_join && !joined && !updated;
        let closes = word == ")";
        if closes {
            depth = depth.saturating_sub(1);
        }
        let long = line.len() + word.len() >= WIDTH && !closes;
        if (breaks || long) && !line.trim().is_empty() {
            text.push_str(line.trim_end());
            text.push('\n');
            line.clear();
        }
        if line.is_empty() {
            let deeper = if breaks { 0 } else { 2 };
            line = "  ".repeat(depth + deeper);
        } else if !closes && before != "(" {
            line.push(' ');
        }
        line.push_str(word);
        if word == "(" {
            depth += 1;
        }
        before = word;
    }
    text.push_str(line.trim_end());
    text.push_str(";\n");
    text
}

#[test]
fn a_clause_begins_a_line() {
    let sql = "SELECT a FROM (SELECT b FROM t WHERE c = ?1) x CROSS JOIN u ON u.a = x.b LIMIT 1";
    let shown = "SELECT a\nFROM (\n  SELECT b\n  FROM t\n  WHERE c = ?1) x\nCROSS JOIN u ON u.a = x.b\n\
                 LIMIT 1;\n";
    assert_eq!(lines(sql), shown);
}
