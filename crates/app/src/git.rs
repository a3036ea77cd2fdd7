//! Which git repository a folder belongs to, read from its files: no git needs to be installed.
//!
//! Only the common directory counts, so that a repository's worktrees agree. Nothing here fails:
//! what cannot be read is as good as not there.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files read here are short; a longer one is something else.
const MAX_BYTES: u64 = 1 << 20;

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory that all its worktrees share, with no link in its path.
    pub common: PathBuf,
}

impl Repository {
    /// The repository that `folder` is in, if any.
    pub fn find(folder: &Path) -> Option<Repository> {
        let common = folder.ancestors().find_map(|dir| {
            let dot = dir.join(".git");
            if dot.is_file() {
                return follow(&dot);
            }
            if is_git_dir(&dot) {
                return Some(common_of(&dot));
            }
            is_git_dir(dir).then(|| common_of(dir))
        })?;
        Some(Repository {
            common: common.canonicalize().unwrap_or(common),
        })
    }

    /// What people call it: the folder around `.git`, or the bare repository's own name.
    pub fn name(&self) -> Option<&str> {
        let own = self.common.file_name()?.to_str()?;
        if own.starts_with('.') {
            return self.common.parent()?.file_name()?.to_str();
        }
        Some(own.strip_suffix(".git").unwrap_or(own))
    }

    /// Where it was cloned from, in a form that does not depend on how.
    pub fn remote(&self) -> Option<String> {
        let config = read(&self.common.join("config"))?;
        normalise(&origin_url(&config)?)
    }
}

/// As git itself decides: a head, objects and references.
fn is_git_dir(dir: &Path) -> bool {
    let worktree = dir.join("commondir").is_file();
    dir.join("HEAD").exists()
        && (worktree || (dir.join("objects").is_dir() && dir.join("refs").is_dir()))
}

/// A `.git` file leads to the real directory: of a worktree, a submodule, or one kept elsewhere.
fn follow(dot: &Path) -> Option<PathBuf> {
    let text = read(dot)?;
    let target = text
        .lines()
        .find_map(|line| line.strip_prefix("gitdir:"))?
        .trim();
    let dir = dot.parent()?.join(target);
    is_git_dir(&dir).then(|| common_of(&dir))
}

fn common_of(dir: &Path) -> PathBuf {
    match read(&dir.join("commondir")) {
        Some(text) => dir.join(text.trim()),
        None => dir.to_owned(),
    }
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(MAX_BYTES)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

/// `url` of `[remote "origin"]` in a git configuration.
fn origin_url(config: &str) -> Option<String> {
    let mut inside = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = is_origin(line);
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside) else {
            continue;
        };
        if key.trim().eq_ignore_ascii_case("url") {
            return Some(unquote(value.trim())).filter(|url| !url.is_empty());
        }
    }
    None
}

fn is_origin(header: &str) -> bool {
    let inner = header
        .trim_start_matches('[')
        .split(']')
        .next()
        .unwrap_or_default();
    let mut words = inner.splitn(2, char::is_whitespace);
    words
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("remote"))
        && words.next().is_some_and(|name| name.trim() == "\"origin\"")
}

/// A value without its quotes and what follows as a comment.
fn unquote(value: &str) -> String {
    let (mut text, mut quoted, mut escaped) = (String::new(), false, false);
    for letter in value.chars() {
        match letter {
            _ if escaped => {
                text.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            _ => text.push(letter),
        }
    }
    text.trim().to_owned()
}

/// `https://ann:pw@GitHub.com/a/b.git` and `git@github.com:a/b` are both `github.com/a/b`.
/// A relative path says nothing outside its own folder, so it is none.
fn normalise(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let text = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => rest.to_owned(),
        Some((scheme, rest)) => {
            let (login, path) = rest.split_once('/').unwrap_or((rest, ""));
            format!("{}/{path}", host(login, &scheme.to_ascii_lowercase()))
        }
        None => match url.split_once(':') {
            // `C:\repo` and `./a:b` are paths; `host:path` is not.
            Some((login, path)) if login.len() > 1 && !login.contains('/') => {
                format!("{}/{}", host(login, "ssh"), path.trim_start_matches('/'))
            }
            _ => Some(url)
                .filter(|url| Path::new(url).is_absolute())?
                .to_owned(),
        },
    };
    let text = text.trim_end_matches('/');
    let text = text
        .strip_suffix(".git")
        .unwrap_or(text)
        .trim_end_matches('/');
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The host alone: who logs in and the usual port do not matter.
fn host(login: &str, scheme: &str) -> String {
    let host = login
        .rsplit('@')
        .next()
        .unwrap_or(login)
        .to_ascii_lowercase();
    let usual = match scheme {
        "https" => ":443",
        "http" => ":80",
        "git" => ":9418",
        _ => ":22",
    };
    host.strip_suffix(usual).unwrap_or(&host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_address() {
        for url in [
            "https://github.com/Org/Repo.git",
            "https://ann:token@GitHub.com:443/Org/Repo",
            "git@github.com:Org/Repo.git",
            "ssh://git@github.com:22/Org/Repo.git/",
            "git://github.com/Org/Repo",
            "https://github.com/Org/Repo?token=secret",
        ] {
            assert_eq!(
                normalise(url).as_deref(),
                Some("github.com/Org/Repo"),
                "{url}"
            );
        }
        assert_eq!(normalise("ssh://h:2222/a.git").as_deref(), Some("h:2222/a"));
        assert_eq!(
            normalise("file:///srv/git/a.git").as_deref(),
            Some("/srv/git/a")
        );
        assert_eq!(normalise("/srv/git/a.git").as_deref(), Some("/srv/git/a"));
        assert_eq!(normalise("../a.git"), None);
        assert_eq!(normalise(""), None);
    }

    #[test]
    fn the_origin_is_found_among_other_things() {
        let config = "[core]\n\turl = no\n[remote \"other\"]\n url = no\n[Remote \"origin\"] ; x\n\
                      \tfetch = +refs/*\n\tURL = \"https://h/a#b.git\" # a note\n[branch \"m\"]\n";
        assert_eq!(origin_url(config).as_deref(), Some("https://h/a#b.git"));
        assert_eq!(origin_url("[remote \"Origin\"]\nurl = x"), None);
        assert_eq!(origin_url("[remote \"origin\"]\nurl ="), None);
        assert_eq!(origin_url("= [ ] \u{0}\n[remote\nurl=x"), None);
    }
}
