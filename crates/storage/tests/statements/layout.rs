//! A statement over several lines, a clause on each.

/// A longer line is broken at its next comma.
const WIDTH: usize = 90;

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
    let mut tokens = tokens(sql).into_iter().peekable();
    while let Some((token, glued)) = tokens.next() {
        let after_join = token == "ON" && tokens.peek().is_none_or(|next| next.0 != "CONFLICT");
        let joined = token == "JOIN" && CONTINUED.contains(&before);
        let updated = before == "DO" || (token == "SET" && before == "UPDATE");
        let clause = CLAUSES.contains(&token) && !after_join && !joined && !updated;
        if token == ")" {
            depth = depth.saturating_sub(1);
        }
        let long = line.len() > WIDTH && before.ends_with(',');
        if (clause || long) && !line.is_empty() {
            text.push_str(&line);
            text.push('\n');
            line.clear();
        }
        match (line.is_empty(), text.is_empty()) {
            (true, true) => {}
            (true, false) => line = "  ".repeat(depth + if clause { 0 } else { 2 }),
            (false, _) if glued => {}
            (false, _) => line.push(' '),
        }
        line.push_str(token);
        if token == "(" {
            depth += 1;
        }
        before = token;
    }
    format!("{text}{line};\n")
}

/// Words and parentheses, each with whether it follows the one before without a space.
fn tokens(sql: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for word in sql.split_whitespace() {
        let (mut rest, mut glued) = (word, false);
        while !rest.is_empty() {
            let end = match rest.find(['(', ')']) {
                Some(0) => 1,
                Some(end) => end,
                None => rest.len(),
            };
            found.push((&rest[..end], glued));
            (rest, glued) = (&rest[end..], true);
        }
    }
    found
}

#[test]
fn a_clause_begins_a_line() {
    let sql = "SELECT a FROM (SELECT b FROM t WHERE c = ?1) x CROSS JOIN u ON u.a = x.b LIMIT 1";
    let shown = "SELECT a\nFROM (\n  SELECT b\n  FROM t\n  WHERE c = ?1) x\nCROSS JOIN u ON u.a = x.b\n\
                 LIMIT 1;\n";
    assert_eq!(lines(sql), shown);
}
