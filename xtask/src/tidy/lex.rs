//! Splits Rust source into code, comments and text, so that a rule can look at one of them.
//!
//! Just enough of the language to tell the three apart. It never fails: a file that does not
//! compile is the compiler's to report.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Code,
    Comment,
    /// A string or character literal, with its quotes.
    Text,
}

/// A stretch of the source of one kind, and the line on which it starts.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub kind: Kind,
    pub line: usize,
    pub text: &'a str,
}

impl Piece<'_> {
    /// The line of a place inside the piece.
    pub fn line_at(&self, offset: usize) -> usize {
        self.line + self.text[..offset].matches('\n').count()
    }
}

/// The pieces of a source, in order and without gaps.
pub fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut line = 1;
    let mut start = 0; // of the code not yet put away
    let mut at = 0;
    let mut put = |kind, text| {
        if !str::is_empty(text) {
            pieces.push(Piece { kind, line, text });
            line += text.matches('\n').count();
        }
    };
    while at < source.len() {
        let in_word = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match special(&source[at..], in_word) {
            Some((kind, length)) => {
                put(Kind::Code, &source[start..at]);
                put(kind, &source[at..at + length]);
                at += length;
                start = at;
            }
            None => at += source[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    put(Kind::Code, &source[start..]);
    pieces
}

/// The comment or text that `rest` starts with, and its length.
fn special(rest: &str, in_word: bool) -> Option<(Kind, usize)> {
    if rest.starts_with("//") {
        return Some((Kind::Comment, rest.find('\n').unwrap_or(rest.len())));
    }
    if rest.starts_with("/*") {
        return Some((Kind::Comment, block_comment(rest)));
    }
    let length = match rest.as_bytes()[0] {
        b'"' => quoted(rest, '"'),
        b'r' if !in_word => raw(rest, 1)?,
        b'b' | b'c' if !in_word && rest[1..].starts_with('r') => raw(rest, 2)?,
        b'\'' => character(rest)?,
        _ => return None,
    };
    Some((Kind::Text, length))
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(next) = rest[at..].find(['/', '*']) {
        at += next;
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a literal up to the quote that no backslash protects.
fn quoted(rest: &str, quote: char) -> usize {
    let mut protected = false;
    for (at, c) in rest.char_indices().skip(1) {
        if !protected && c == quote {
            return at + 1;
        }
        protected = c == '\\' && !protected;
    }
    rest.len()
}

/// A raw string after its prefix of one or two letters; `None` for a raw identifier.
fn raw(rest: &str, prefix: usize) -> Option<usize> {
    let body = rest[prefix..].trim_start_matches('#');
    let hashes = &rest[prefix..rest.len() - body.len()];
    let inside = body.strip_prefix('"')?;
    let end = format!("\"{hashes}");
    let opened = rest.len() - inside.len();
    Some(
        inside
            .find(&end)
            .map_or(rest.len(), |at| opened + at + end.len()),
    )
}

/// A character, as opposed to a lifetime: it is escaped, or its quote closes after one.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest[1..].chars();
    match (inside.next()?, inside.next()) {
        ('\\', _) => Some(quoted(rest, '\'')),
        (c, Some('\'')) => Some(1 + c.len_utf8() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, source: &str) -> Vec<&str> {
        let pieces = pieces(source);
        let whole: String = pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(whole, source, "nothing is lost");
        pieces
            .into_iter()
            .filter(|piece| piece.kind == kind)
            .map(|piece| piece.text)
            .collect()
    }

    #[test]
    fn strings_end_where_they_should() {
        assert_eq!(
            of(Kind::Text, r#"f("a\"b", "\\") + "c""#),
            [r#""a\"b""#, r#""\\""#, "\"c\""]
        );
        assert_eq!(
            of(Kind::Text, r###"r#"one "quoted" word"# br"two\""###).len(),
            2
        );
        assert_eq!(of(Kind::Text, "let r#type = for_r; bar(\"é\")"), ["\"é\""]);
    }

    #[test]
    fn lifetimes_are_not_characters() {
        assert_eq!(
            of(Kind::Text, r"fn f<'a>(x: &'a str) { x.find('\'') == 'é' }"),
            [r"'\''", "'é'"]
        );
    }

    #[test]
    fn comments_hide_quotes_and_nest() {
        let source = "a // don't \"x\n/* one /* two */ ' */ b \"// not\"";
        assert_eq!(
            of(Kind::Comment, source),
            ["// don't \"x", "/* one /* two */ ' */"]
        );
        assert_eq!(of(Kind::Text, source), ["\"// not\""]);
    }

    #[test]
    fn lines_are_counted() {
        let pieces = pieces("one\n\"two\nthree\" four");
        assert_eq!(
            pieces.iter().map(|piece| piece.line).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(pieces[1].line_at(5), 3);
    }
}
