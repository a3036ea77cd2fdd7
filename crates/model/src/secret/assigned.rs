//! Values under a name that says they are secret: `password=…`, `"api_key": "…"`.

use super::{Found, Kind, Scan, known};

/// Most bytes of a name, and of a value, that are looked at.
const NAME: usize = 40;
const VALUE: usize = 512;
/// No value under any name is a credential if it is shorter.
const SHORTEST: usize = 8;

/// How sure a name makes us that its value is a credential.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    /// `password`: what people choose is short.
    Password,
    /// `api_key`, `client_secret`, `access_token`.
    Secret,
    /// `key` or `token` alone, which many other things are called too.
    Vague,
}

const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "passwort", "pwd"];
const SECRETS: [&str; 7] = [
    "secret",
    "client_secret",
    "credential",
    "credentials",
    "apikey",
    "authtoken",
    "accesstoken",
];
/// Words that make a key, or a token, one that is to be kept secret.
const KEYS: [&str; 8] = [
    "api",
    "secret",
    "access",
    "private",
    "auth",
    "signing",
    "encryption",
    "account",
];
const TOKENS: [&str; 9] = [
    "access", "auth", "api", "refresh", "bearer", "bot", "deploy", "secret", "personal",
];

/// What the names end with that [`judge`] may say something about.
const ENDS: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "passwort",
    "pwd",
    "secret",
    "credential",
    "credentials",
    "key",
    "token",
];

/// Whether [`judge`] may say something about a name; a quick look. An escape may stand for any sign.
pub fn may_tell(name: &[u8]) -> bool {
    let trailing = |byte: &&u8| matches!(byte, b'_' | b'-');
    let end = name.len() - name.iter().rev().take_while(trailing).count();
    let Some(last) = end.checked_sub(1).map(|at| name[at].to_ascii_lowercase()) else {
        return name.contains(&b'\\');
    };
    // Most names end with another letter.
    let mut words = ENDS.iter().map(|word| word.as_bytes());
    name.contains(&b'\\')
        || words.any(|word| {
            let from = end
                .checked_sub(word.len())
                .filter(|_| word.ends_with(&[last]));
            from.is_some_and(|from| name[from..end].eq_ignore_ascii_case(word))
        })
}

/// What a name says, by its last words; case, `_` and `-` do not count.
fn judge(name: &str) -> Option<Name> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let name = name.trim_matches('_');
    let last = name.rsplit('_').next().unwrap_or_default();
    if PASSWORDS.contains(&last) || PASSWORDS.iter().any(|word| name.ends_with(word)) {
        return Some(Name::Password);
    }
    if SECRETS.contains(&last) || SECRETS.contains(&name) {
        return Some(Name::Secret);
    }
    let before = name.strip_suffix(last).unwrap_or_default();
    let before = before
        .trim_end_matches('_')
        .rsplit('_')
        .next()
        .unwrap_or("");
    match (last, before) {
        ("key" | "token", "") => Some(Name::Vague),
        ("key", word) if KEYS.contains(&word) => Some(Name::Secret),
        ("token", word) if TOKENS.contains(&word) => Some(Name::Secret),
        ("token", word) if word.ends_with("hub") || word.ends_with("lab") => Some(Name::Secret),
        _ => None,
    }
}

/// A value that is assigned to a telling name, met at its `=` or `:`.
pub fn at(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    if !matches!(scan.byte(at)?, b'=' | b':') {
        return None;
    }
    let name = judge(name_before(scan, at)?)?;
    let mut start = at + 1;
    // `:=`, `=>` and `==` assign or compare as well.
    start += scan.run(start, 1, |byte| matches!(byte, b'=' | b'>'));
    start += scan.run(start, 4, |byte| matches!(byte, b' ' | b'\t' | b'\\'));
    start += scan.run(start, 2, |byte| matches!(byte, b'"' | b'\'' | b'`'));
    for word in ["Bearer ", "bearer ", "Basic ", "token "] {
        if scan.starts(start, word) {
            start += word.len();
        }
    }
    if let Some(known) = known::at(scan, start) {
        return Some(known);
    }
    let mut length = scan.run(start, VALUE, is_value);
    // `=` pads base64 at its end and separates elsewhere.
    length += scan.run(start + length, 2, |byte| byte == b'=');
    let next = scan.byte(start + length);
    let value = scan.text.get(start..start + length)?;
    // What goes on with a bracket is code that reads the value from somewhere.
    let is_code = matches!(next, Some(b'(' | b'[' | b'{' | b'<'));
    (!is_code && is_credential(name, value)).then_some(Found {
        kind: Kind::NamedValue,
        span: start..start + length,
    })
}

/// A whole text that a field of this name holds.
pub fn whole(name: &str, text: &str) -> Option<Found> {
    let value = text.trim();
    if value.len() < SHORTEST {
        return None;
    }
    let plain = value.len() <= VALUE && value.bytes().all(|b| is_value(b) || b == b'=');
    (plain && is_credential(judge(name)?, value)).then_some(Found {
        kind: Kind::NamedValue,
        span: 0..text.len(),
    })
}

fn is_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_-.~!@#$%^&*".contains(&byte)
}

fn name_before<'t>(scan: &mut Scan<'t, '_>, at: usize) -> Option<&'t str> {
    let bytes = scan.text.as_bytes();
    let mut end = at;
    let is_gap = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'\\' | b':');
    while end > 0 && at - end < 4 && is_gap(bytes[end - 1]) {
        end -= 1;
    }
    let mut start = end;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    while start > 0 && end - start < NAME && is_name(bytes[start - 1]) {
        start -= 1;
    }
    *scan.steps += at - start;
    scan.text.get(start..end).filter(|name| !name.is_empty())
}

fn is_credential(name: Name, value: &str) -> bool {
    let least = match name {
        Name::Password => SHORTEST,
        Name::Secret => 16,
        Name::Vague => 20,
    };
    if value.len() < least || is_placeholder(value) || is_reference(value) {
        return false;
    }
    let hex = value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let random = is_random(value);
    match name {
        Name::Password => classes(value) >= 2 && has_digit_or_sign(value),
        Name::Secret => random,
        // A digest is called a key or a token as often as a secret is.
        Name::Vague => random && !hex && different(value) >= 14,
    }
}

fn has_digit_or_sign(value: &str) -> bool {
    value
        .bytes()
        .any(|b| b.is_ascii_digit() || b"!@#$%^&*+~".contains(&b))
}

fn classes(value: &str) -> usize {
    let has = |class: fn(u8) -> bool| usize::from(value.bytes().any(class));
    has(|b| b.is_ascii_lowercase())
        + has(|b| b.is_ascii_uppercase())
        + has(|b| b.is_ascii_digit())
        + has(|b| b.is_ascii_punctuation())
}

/// A uuid, a path, a version, a name with a dot or a variable: it says where something is.
fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let dashes = bytes.len() == 36 && [8, 13, 18, 23].iter().all(|at| bytes[*at] == b'-');
    let uuid = dashes && bytes.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let named_uuid = value
        .rsplit_once('_')
        .is_some_and(|(_, id)| id.len() == 36 && id.bytes().filter(|b| *b == b'-').count() == 4);
    let words = value.split(['.', '_', '-', '/']);
    let wordy = words.filter(|word| !word.is_empty()).all(is_wordy);
    uuid || named_uuid || value.starts_with(['/', '$', '%', '.', '~']) || wordy
}

/// A part of a name such as `config.authToken2`: few digits, and no letters in upper case beyond
/// those that begin a word.
fn is_wordy(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let turns = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    match word.len() {
        0..=4 => true,
        length => digits <= 2 && turns * 5 <= length,
    }
}

/// What stands in examples where a credential would be.
pub fn is_placeholder(value: &str) -> bool {
    const WHOLE: [&str; 14] = [
        "password", "pass", "passwd", "secret", "pw", "pwd", "token", "key", "user", "postgres",
        "admin", "root", "test", "none",
    ];
    const PARTS: [&str; 15] = [
        "example",
        "your",
        "xxxx",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "redacted",
        "erased",
        "dummy",
        "sample",
        "insert",
        "....",
        "****",
        "todo",
    ];
    let value = value.to_ascii_lowercase();
    let first = value.as_bytes().first().copied().unwrap_or_default();
    let same = value.bytes().all(|byte| byte == first);
    let opens = value.starts_with(['<', '{', '[', '$', '%', '*', '('])
        || value.contains("${")
        || value.contains("...");
    same || opens
        || value.contains('…')
        || WHOLE.contains(&value.as_str())
        || PARTS.iter().any(|part| value.contains(part))
}

/// Whether a text looks drawn by chance: signs of more than one class, in no pattern.
pub fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    digits > 0 && letters > 0 && !is_placeholder(value) && different(value) >= 8
}

/// How many different signs a text has: chance repeats few, words repeat many.
fn different(value: &str) -> usize {
    let mut seen = [false; 256];
    for byte in value.bytes() {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}
