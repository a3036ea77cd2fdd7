//! Finds what looks like a credential in a text: where it stands and of what kind.
//!
//! It reads each byte a bounded number of times and never gives the credential itself away: what
//! it reports is a kind and a place. It prefers missing a credential to flagging ordinary text,
//! because a warning that is usually wrong is not read.

mod assigned;
mod known;
mod quick;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

pub use quick::may_be_in;
use quick::may_hold;

/// What sort of credential a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    AwsKey,
    GithubToken,
    GitlabToken,
    SlackToken,
    OpenaiKey,
    AnthropicKey,
    GoogleKey,
    StripeKey,
    NpmToken,
    PypiToken,
    HuggingFaceToken,
    DigitalOceanToken,
    SendgridKey,
    TelegramToken,
    /// A JSON Web Token, as Understory's own tokens are.
    Jwt,
    PrivateKey,
    /// `scheme://user:password@host`
    UrlPassword,
    /// A value under a name such as `password` or `api_key`.
    NamedValue,
}

impl Kind {
    pub const ALL: [Kind; 18] = [
        Kind::AwsKey,
        Kind::GithubToken,
        Kind::GitlabToken,
        Kind::SlackToken,
        Kind::OpenaiKey,
        Kind::AnthropicKey,
        Kind::GoogleKey,
        Kind::StripeKey,
        Kind::NpmToken,
        Kind::PypiToken,
        Kind::HuggingFaceToken,
        Kind::DigitalOceanToken,
        Kind::SendgridKey,
        Kind::TelegramToken,
        Kind::Jwt,
        Kind::PrivateKey,
        Kind::UrlPassword,
        Kind::NamedValue,
    ];

    /// Its name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::AwsKey => "aws_key",
            Kind::GithubToken => "github_token",
            Kind::GitlabToken => "gitlab_token",
            Kind::SlackToken => "slack_token",
            Kind::OpenaiKey => "openai_key",
            Kind::AnthropicKey => "anthropic_key",
            Kind::GoogleKey => "google_key",
            Kind::StripeKey => "stripe_key",
            Kind::NpmToken => "npm_token",
            Kind::PypiToken => "pypi_token",
            Kind::HuggingFaceToken => "hugging_face_token",
            Kind::DigitalOceanToken => "digitalocean_token",
            Kind::SendgridKey => "sendgrid_key",
            Kind::TelegramToken => "telegram_token",
            Kind::Jwt => "jwt",
            Kind::PrivateKey => "private_key",
            Kind::UrlPassword => "url_password",
            Kind::NamedValue => "named_value",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Kind::AwsKey => "an AWS access key",
            Kind::GithubToken => "a GitHub token",
            Kind::GitlabToken => "a GitLab token",
            Kind::SlackToken => "a Slack token",
            Kind::OpenaiKey => "an OpenAI key",
            Kind::AnthropicKey => "an Anthropic key",
            Kind::GoogleKey => "a Google API key",
            Kind::StripeKey => "a Stripe key",
            Kind::NpmToken => "an npm token",
            Kind::PypiToken => "a PyPI token",
            Kind::HuggingFaceToken => "a Hugging Face token",
            Kind::DigitalOceanToken => "a DigitalOcean token",
            Kind::SendgridKey => "a SendGrid key",
            Kind::TelegramToken => "a Telegram bot token",
            Kind::Jwt => "a JSON Web Token",
            Kind::PrivateKey => "a private key",
            Kind::UrlPassword => "a password in a URL",
            Kind::NamedValue => "a password or key",
        }
    }

    /// The kind of a name on the wire.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// What is done about a credential in the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// It is stored, and the caller is told.
    #[default]
    Flag,
    /// The call is refused.
    Refuse,
    /// Nothing.
    Off,
}

impl Policy {
    pub const ALL: [Policy; 3] = [Policy::Flag, Policy::Refuse, Policy::Off];

    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Flag => "flag",
            Policy::Refuse => "refuse",
            Policy::Off => "off",
        }
    }
}

impl std::str::FromStr for Policy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Policy, &'static str> {
        let found = Policy::ALL.into_iter().find(|one| one.as_str() == text);
        found.ok_or("must be one of flag, refuse, off")
    }
}

/// A credential in a text, by its place in bytes. It never holds the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Credentials in a text, in order, none overlapping another.
pub fn find(text: &str) -> Vec<Found> {
    if may_hold(text.as_bytes()) {
        find_counted(text, &mut 0)
    } else {
        Vec::new()
    }
}

/// As [`find`]; `steps` counts the bytes that were looked at, so that a test can bound them.
fn find_counted(text: &str, steps: &mut usize) -> Vec<Found> {
    let mut scan = Scan { text, steps };
    let bytes = text.as_bytes();
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        *scan.steps += 1;
        match known::at(&mut scan, at).or_else(|| assigned::at(&mut scan, at)) {
            Some(one) => {
                at = one.span.end.max(at + 1);
                found.push(one);
            }
            None => at += 1,
        }
    }
    found
}

/// A text under examination.
struct Scan<'t, 's> {
    text: &'t str,
    steps: &'s mut usize,
}

impl Scan<'_, '_> {
    fn byte(&mut self, at: usize) -> Option<u8> {
        *self.steps += 1;
        self.text.as_bytes().get(at).copied()
    }

    /// How many bytes from a place on are of a class, `most` at most.
    fn run(&mut self, from: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let count = rest.iter().take(most).take_while(|b| class(**b)).count();
        *self.steps += count + 1;
        count
    }

    fn starts(&mut self, at: usize, with: &str) -> bool {
        *self.steps += with.len();
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        rest.starts_with(with.as_bytes())
    }
}

/// A credential in a JSON value: the place of its text, the text's place in bytes, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// As errors name arguments: `nodes[0].summary`.
    pub path: String,
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Credentials in every text of a value, whatever its depth; `each` gets the text too.
pub fn find_in(value: &Value, mut each: impl FnMut(Placed, &str)) {
    walk(value, &mut String::new(), None, &mut each);
}

fn walk(value: &Value, path: &mut String, name: Option<&str>, each: &mut impl FnMut(Placed, &str)) {
    match value {
        Value::String(text) => {
            let mut found = find(text);
            if found.is_empty() {
                found.extend(name.and_then(|name| assigned::whole(name, text)));
            }
            for Found { kind, span } in found {
                let path = path.clone();
                each(Placed { path, kind, span }, text);
            }
        }
        Value::Array(entries) => list(entries, path, name, each),
        Value::Object(fields) => {
            for (key, value) in fields {
                let length = path.len();
                if !path.is_empty() {
                    path.push('.');
                }
                // A name is caller's text as well, so a credential in it is not repeated.
                let found = find(key);
                path.push_str(if found.is_empty() { key } else { "…" });
                for Found { kind, span } in found {
                    let path = path.clone();
                    each(Placed { path, kind, span }, key);
                }
                walk(value, path, Some(key), each);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// The lines of a document come one by one: a key that spans some of them is found in all of them.
fn list(
    entries: &[Value],
    path: &mut String,
    name: Option<&str>,
    each: &mut impl FnMut(Placed, &str),
) {
    let mut inside = false;
    for (index, entry) in entries.iter().enumerate() {
        let length = path.len();
        path.push_str(&format!("[{index}]"));
        match entry.as_str().filter(|_| inside) {
            Some(line) => {
                let (path, span) = (path.clone(), 0..line.trim_end().len());
                let kind = Kind::PrivateKey;
                each(Placed { path, kind, span }, line);
                inside = !known::ends_key(line);
            }
            None => {
                walk(entry, path, name, each);
                inside = entry.as_str().is_some_and(known::begins_key);
            }
        }
        path.truncate(length);
    }
}

#[cfg(test)]
mod tests;
