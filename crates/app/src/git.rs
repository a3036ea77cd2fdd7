//! Which git repository a folder belongs to, read from its files: no git needs to be installed.
//!
//! Only the common directory counts, so that a repository's worktrees agree. What lies in a folder
//! may come from anybody, in an archive for example, so nothing in it leads to another repository
//! unless that one knows of the folder; and a bare repository inside another is part of that one.
//! Nothing here fails: what cannot be read counts as absent.

use understory_model::limits;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The directory that all its worktrees share, with no link in its path.
    pub common: PathBuf,
}

impl Repository {
    /// The repository that `folder` is in, if any: that of the nearest `.git` upward; where there
    /// is none, the outermost bare repository.
    pub fn find(folder: &Path) -> Option<Repository> {
        let mut bare = None;
        for dir in folder.ancestors() {
            if let Some(common) = of_dot(&dir.join(".git")) {
                return Some(Repository { common });
            }
            if is_repository(dir) {
                bare = Some(dir);
            }
        }
        let common = bare?;
        Some(Repository {
            common: common.canonicalize().unwrap_or_else(|_| common.to_owned()),
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

    /// Where it says that it was cloned from, in a form that does not depend on how.
    pub fn remote(&self) -> Option<String> {
        let config = read(&self.common.join("config"))?;
        normalise(&origin_url(&config)?)
    }
}

/// The common directory that a `.git` stands for. One that leads to a repository which does not
/// know of it stands for itself.
fn of_dot(dot: &Path) -> Option<PathBuf> {
    let kind = fs::symlink_metadata(dot).ok()?.file_type();
    let here = || {
        let folder = dot.parent()?.canonicalize().ok()?;
        Some(folder.join(dot.file_name()?))
    };
    if kind.is_dir() {
        return is_repository(dot).then(here)?;
    }
    if kind.is_symlink() {
        return is_git_dir(dot).then(here)?;
    }
    let target = target(dot).filter(|target| is_git_dir(target))?;
    follow(dot, &target).or_else(here)
}

/// As git itself decides: a head, objects and references.
fn is_repository(dir: &Path) -> bool {
    dir.join("HEAD").exists() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

/// A repository, or what a repository keeps of a worktree.
fn is_git_dir(dir: &Path) -> bool {
    is_repository(dir) || (dir.join("HEAD").exists() && dir.join("commondir").is_file())
}

/// Where a `.git` file says that the real directory is.
fn target(dot: &Path) -> Option<PathBuf> {
    let text = read(dot)?;
    let named = text.lines().find_map(|line| line.strip_prefix("gitdir:"))?;
    dot.parent()?.join(named.trim()).canonicalize().ok()
}

/// The common directory behind a `.git` file, if the file is a worktree's that the repository
/// lists, a submodule's of the repository around it, or leads to a directory beside it.
fn follow(dot: &Path, target: &Path) -> Option<PathBuf> {
    let folder = dot.parent()?;
    if let Some(text) = read(&target.join("commondir")) {
        let common = target.join(text.trim()).canonicalize().ok()?;
        let back = target.join(read(&target.join("gitdir"))?.trim());
        let known = target.parent() == Some(&common.join("worktrees"))
            && back.canonicalize().ok() == dot.canonicalize().ok();
        return (known && is_repository(&common)).then_some(common);
    }
    let beside = target.starts_with(folder.canonicalize().ok()?);
    let module = || {
        let around = Repository::find(folder.parent()?)?;
        target
            .starts_with(around.common.join("modules"))
            .then_some(())
    };
    (beside || module().is_some()).then(|| target.to_owned())
}

fn read(path: &Path) -> Option<String> {
    // Opening anything else could block.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    File::open(path)
        .ok()?
        .take(limits::GIT_FILE_BYTES)
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
/// A relative path means nothing outside its own folder, so it is ignored.
fn normalise(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let text = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            let (login, path) = rest.split_once('/').unwrap_or((rest, ""));
            format!("{}/{path}", login.rsplit('@').next().unwrap_or(login))
        }
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
    Some(text.to_owned()).filter(|text| !text.is_empty() && !text.contains(char::is_control))
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
        assert_eq!(
            normalise("file://ann:secret@/srv/a").as_deref(),
            Some("/srv/a")
        );
        assert_eq!(normalise("https://h/a\rb"), None);
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
