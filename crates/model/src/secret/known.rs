//! Credentials that are known by their form: prefixes of their issuers, tokens in three parts, keys
//! in PEM, passwords in URLs.

use super::{Found, Kind, Scan, assigned};

/// Most bytes of one credential that are looked at.
const LONGEST: usize = 8_192;

/// What follows a prefix.
#[derive(Clone, Copy)]
enum Body {
    /// Letters and digits.
    Alnum,
    /// Upper-case letters and digits.
    Upper,
    /// Letters, digits, `_` and `-`.
    Word,
    /// As `Word`, in two parts with a dot between them.
    Dotted,
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Body::Alnum => byte.is_ascii_alphanumeric(),
            Body::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Body::Word => is_word(byte),
            Body::Dotted => is_word(byte) || byte == b'.',
        }
    }
}

/// A prefix, the body after it, and how long that is.
struct Form(&'static str, Kind, Body, usize, usize);

/// Longer prefixes before those that they begin with.
const FORMS: &[Form] = &[
    Form("AKIA", Kind::AwsKey, Body::Upper, 16, 16),
    Form("ASIA", Kind::AwsKey, Body::Upper, 16, 16),
    Form("github_pat_", Kind::GithubToken, Body::Word, 36, 255),
    Form("ghp_", Kind::GithubToken, Body::Alnum, 36, 255),
    Form("gho_", Kind::GithubToken, Body::Alnum, 36, 255),
    Form("ghu_", Kind::GithubToken, Body::Alnum, 36, 255),
    Form("ghs_", Kind::GithubToken, Body::Alnum, 36, 255),
    Form("ghr_", Kind::GithubToken, Body::Alnum, 36, 255),
    Form("glpat-", Kind::GitlabToken, Body::Word, 20, 255),
    Form("xoxb-", Kind::SlackToken, Body::Word, 20, 255),
    Form("xoxp-", Kind::SlackToken, Body::Word, 20, 255),
    Form("xoxa-", Kind::SlackToken, Body::Word, 20, 255),
    Form("xoxs-", Kind::SlackToken, Body::Word, 20, 255),
    Form("xapp-", Kind::SlackToken, Body::Word, 20, 255),
    Form("sk-ant-", Kind::AnthropicKey, Body::Word, 24, 255),
    Form("sk-proj-", Kind::OpenaiKey, Body::Word, 24, 255),
    Form("sk-svcacct-", Kind::OpenaiKey, Body::Word, 24, 255),
    Form("sk-", Kind::OpenaiKey, Body::Alnum, 32, 255),
    Form("AIza", Kind::GoogleKey, Body::Word, 35, 35),
    Form("sk_live_", Kind::StripeKey, Body::Alnum, 16, 255),
    Form("rk_live_", Kind::StripeKey, Body::Alnum, 16, 255),
    Form("npm_", Kind::NpmToken, Body::Alnum, 36, 36),
    Form("pypi-", Kind::PypiToken, Body::Word, 50, LONGEST),
    Form("hf_", Kind::HuggingFaceToken, Body::Alnum, 30, 64),
    Form("dop_v1_", Kind::DigitalOceanToken, Body::Alnum, 64, 64),
    Form("SG.", Kind::SendgridKey, Body::Dotted, 60, 80),
];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A credential that begins at a place.
pub fn at(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    let before = at
        .checked_sub(1)
        .and_then(|at| scan.text.as_bytes().get(at));
    match scan.byte(at)? {
        b':' => url(scan, at),
        _ if before.is_some_and(|byte| is_word(*byte)) && !begins_pem(scan, at) => None,
        b'-' => pem(scan, at),
        b'e' => jwt(scan, at),
        b'0'..=b'9' => telegram(scan, at),
        _ => form(scan, at),
    }
}

fn form(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    let first = scan.byte(at)?;
    for Form(prefix, kind, body, least, most) in FORMS {
        if prefix.as_bytes().first() != Some(&first) || !scan.starts(at, prefix) {
            continue;
        }
        let start = at + prefix.len();
        let length = scan.run(start, most + 1, |byte| body.has(byte));
        let text = &scan.text[start..start + length];
        let fits = (*least..=*most).contains(&length) && assigned::is_random(text);
        return fits.then(|| Found {
            kind: *kind,
            span: at..start + length,
        });
    }
    None
}

/// Three parts of base64, of which the first two are JSON objects.
fn jwt(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    let mut end = at;
    for (part, begins, least) in [(0, "eyJ", 10), (1, "eyJ", 10), (2, "", 16)] {
        if part > 0 {
            if scan.byte(end)? != b'.' {
                return None;
            }
            end += 1;
        }
        if !scan.starts(end, begins) {
            return None;
        }
        let length = scan.run(end, LONGEST, is_word);
        if length < least {
            return None;
        }
        end += length;
    }
    assigned::is_random(&scan.text[at..end]).then_some(Found {
        kind: Kind::Jwt,
        span: at..end,
    })
}

/// The number of a bot, a colon and 35 signs.
fn telegram(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    let digits = scan.run(at, 11, |byte| byte.is_ascii_digit());
    if !(8..=10).contains(&digits) || scan.byte(at + digits)? != b':' {
        return None;
    }
    let start = at + digits + 1;
    let length = scan.run(start, 36, is_word);
    let fits = length == 35 && assigned::is_random(&scan.text[start..start + length]);
    fits.then(|| Found {
        kind: Kind::TelegramToken,
        span: at..start + length,
    })
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const KEY: &str = "PRIVATE KEY";

fn begins_pem(scan: &mut Scan<'_, '_>, at: usize) -> bool {
    scan.text.as_bytes().get(at) == Some(&b'-') && scan.starts(at, BEGIN)
}

/// A private key, up to the end of its block or of the text.
fn pem(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    if !scan.starts(at, BEGIN) {
        return None;
    }
    let start = at + BEGIN.len();
    let label = scan.run(start, 40, |byte| byte.is_ascii_uppercase() || byte == b' ');
    if !scan.text[start..start + label].contains(KEY) {
        return None;
    }
    // A block that says `...` where its key would be is an example.
    let body = scan.text[start + label..].trim_start_matches(['-', '\r', '\n', ' ']);
    if body.starts_with('.') || body.starts_with('<') || body.starts_with('…') {
        return None;
    }
    let end = match scan.text[start..].find(END) {
        None => scan.text.len(),
        Some(end) => {
            let end = start + end + END.len();
            let label = scan.run(end, 40, |byte| byte.is_ascii_uppercase() || byte == b' ');
            end + label + scan.run(end + label, 5, |byte| byte == b'-')
        }
    };
    *scan.steps += end - at;
    Some(Found {
        kind: Kind::PrivateKey,
        span: at..end,
    })
}

/// Whether a line begins a private key that goes on in the next.
pub fn begins_key(line: &str) -> bool {
    let begin = line.find(BEGIN);
    begin.is_some_and(|at| line[at..].contains(KEY) && !line[at..].contains(END))
}

pub fn ends_key(line: &str) -> bool {
    line.contains(END)
}

/// Most bytes before the `@` of a URL.
const USER: usize = 512;

/// The password of `scheme://user:password@host`, met at the first colon.
fn url(scan: &mut Scan<'_, '_>, at: usize) -> Option<Found> {
    let scheme = at.checked_sub(1)?;
    if !scan.byte(scheme)?.is_ascii_alphanumeric() || !scan.starts(at, "://") {
        return None;
    }
    let start = at + 3;
    let is_user = |byte: u8| !byte.is_ascii_whitespace() && !b"/@\"'`<>\\".contains(&byte);
    let length = scan.run(start, USER, is_user);
    let end = start + length;
    if scan.byte(end)? != b'@' {
        return None;
    }
    let (user, password) = scan.text.get(start..end)?.split_once(':')?;
    let host = scan.byte(end + 1)?;
    let is_host = host.is_ascii_alphanumeric() || host == b'[';
    let fits = is_host && !password.is_empty() && user != password;
    (fits && !assigned::is_placeholder(password)).then(|| Found {
        kind: Kind::UrlPassword,
        span: start + user.len() + 1..end,
    })
}
