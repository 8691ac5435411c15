//! Parsing of references to issues (`OWNER/REPO#12`, a URL, `#12`, `12`) and to repositories.
//!
//! erk (`parse_issue_reference`) accepts a number and a URL on github.com. This module also accepts
//! the short forms that GitHub turns into links
//! (<https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls>),
//! URLs of pull requests, since issues and pull requests share their numbers, and a configurable
//! host, for GitHub Enterprise. Hosts are compared after the URL is parsed:
//! `https://github.com.evil.example/…` and `https://github.com@evil.example/…` are on other hosts.

use std::fmt;

use url::Url;

use crate::text::{one_line, truncate_chars};

/// Maximum length of an account name on GitHub, in bytes.
const MAX_OWNER_BYTES: usize = 39;
/// Maximum length of the suffix of enterprise-managed accounts, including its `_`, in bytes.
const MAX_SUFFIX_BYTES: usize = 9;
/// Maximum length of a repository name on GitHub, in bytes.
const MAX_REPO_BYTES: usize = 100;
/// Maximum length of the input in an error message, in code points.
const MAX_QUOTED_CHARS: usize = 80;

/// A reference to an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IssueRef {
    /// Owner and name of the repository; `None` if only a number was given.
    pub repository: Option<(String, String)>,
    /// Number of the issue, at least 1.
    pub number: u64,
}

impl fmt::Display for IssueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((owner, name)) = &self.repository {
            write!(f, "{owner}/{name}")?;
        }
        write!(f, "#{}", self.number)
    }
}

/// Error of [`parse`] and [`parse_repository`]. Every message shows the accepted forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// The text has none of the accepted forms of an issue.
    #[error("`{given}` does not name an issue; write {}", forms(.host))]
    Form {
        /// The input, truncated.
        given: String,
        /// The accepted host.
        host: String,
    },
    /// The number is zero or too large.
    #[error("`{given}` is not an issue number; issue numbers start at 1; write {}", forms(.host))]
    Number {
        /// The digits, truncated.
        given: String,
        /// The accepted host.
        host: String,
    },
    /// The text has none of the accepted forms of a repository.
    #[error(
        "`{given}` does not name a repository; write OWNER/REPO, https://{host}/OWNER/REPO or git@{host}:OWNER/REPO.git"
    )]
    Repository {
        /// The input, truncated.
        given: String,
        /// The accepted host.
        host: String,
    },
    /// The URL is on another host.
    #[error(
        "the address is on `{given}`, not on `{host}`; github.api_url selects the GitHub server"
    )]
    Host {
        /// The host of the URL, truncated.
        given: String,
        /// The accepted host.
        host: String,
    },
}

fn forms(host: &str) -> String {
    format!("OWNER/REPO#12, https://{host}/OWNER/REPO/issues/12, #12 or 12")
}

/// Parses a reference to an issue. `host` is the accepted host of URLs, with its port if it has
/// one; see [`web_host`].
///
/// The accepted forms are `12`, `#12`, `OWNER/REPO#12`, and URLs
/// `http(s)://HOST/OWNER/REPO/issues/12` or `…/pull/12` with anything after the number (`/files`,
/// `?…`, `#…`). White space around the text is ignored.
pub fn parse(text: &str, host: &str) -> Result<IssueRef, ReferenceError> {
    let text = text.trim();
    if let Some((scheme, _)) = text.split_once("://") {
        return parse_url(text, scheme, host);
    }
    let (repository, digits) = match text.split_once('#') {
        None => (None, text),
        Some(("", digits)) => (None, digits),
        Some((path, digits)) => match path.split_once('/').and_then(repository) {
            Some(found) => (Some(found), digits),
            None => return Err(invalid_form(text, host)),
        },
    };
    if !is_digits(digits) {
        return Err(invalid_form(text, host));
    }
    Ok(IssueRef {
        repository,
        number: number(digits, host)?,
    })
}

/// Parses a reference to a repository and returns owner and name. `host` is the accepted host, as
/// in [`parse`].
///
/// The accepted forms are `OWNER/REPO` and the URLs that `git remote` prints
/// (<https://git-scm.com/docs/git-clone#_git_urls>): `https://HOST/OWNER/REPO`,
/// `ssh://git@HOST/OWNER/REPO` and `git@HOST:OWNER/REPO`, each with or without `.git` and a final
/// slash. A user name or password in the URL is ignored and not repeated in errors.
pub fn parse_repository(text: &str, host: &str) -> Result<(String, String), ReferenceError> {
    let text = text.trim();
    let invalid = || ReferenceError::Repository {
        // The part before `@` may be a password.
        given: quoted(text.rsplit_once('@').map_or(text, |(_, rest)| rest)),
        host: host.to_owned(),
    };
    let (found, path) = match (text.split_once("://"), text.split_once(':')) {
        (Some(_), _) => {
            let url = Url::parse(text).map_err(|_| invalid())?;
            let found = match url.scheme() {
                "https" | "http" => authority(&url),
                "ssh" | "git" => url.host_str().unwrap_or_default().to_owned(),
                _ => return Err(invalid()),
            };
            (found, url.path().trim_start_matches('/').to_owned())
        }
        (None, Some((location, path))) => {
            let found = location.rsplit_once('@').map_or(location, |(_, host)| host);
            (found.to_owned(), path.trim_start_matches('/').to_owned())
        }
        (None, None) => (host.to_owned(), text.to_owned()),
    };
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let names = path.split_once('/').and_then(repository);
    let names = names.ok_or_else(invalid)?;
    // SSH URLs lack the port of the web pages, and GitHub has another host name for SSH over the
    // HTTPS port.
    let bare = host.split(':').next().unwrap_or(host);
    let ssh = format!("ssh.{bare}");
    if [host, bare, &ssh]
        .iter()
        .any(|known| found.eq_ignore_ascii_case(known))
    {
        Ok(names)
    } else {
        Err(other_host(&found, host))
    }
}

/// Returns the host of the web pages that belong to a REST API, with the port if the URL has one:
/// `github.com` for `https://api.github.com`, `HOST` for `https://HOST/api/v3`.
pub fn web_host(api: &Url) -> String {
    let host = authority(api);
    // Enterprise servers have their API under a path, and may have a host name that begins with
    // `api.`.
    match host.strip_prefix("api.") {
        Some(pages) if api.path() == "/" => pages.to_owned(),
        _ => host,
    }
}

/// Parses the URL of an issue or pull request.
fn parse_url(text: &str, scheme: &str, host: &str) -> Result<IssueRef, ReferenceError> {
    let http = ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let Some(url) = Url::parse(text).ok().filter(|_| http) else {
        return Err(invalid_form(text, host));
    };
    let mut segments = url.path_segments().into_iter().flatten();
    let mut next = || segments.next().unwrap_or_default();
    let (path, kind, digits) = ((next(), next()), next(), next());
    let (Some(repository), "issues" | "pull", true) = (repository(path), kind, is_digits(digits))
    else {
        return Err(invalid_form(text, host));
    };
    let found = authority(&url);
    if !found.eq_ignore_ascii_case(host) {
        return Err(other_host(&found, host));
    }
    Ok(IssueRef {
        repository: Some(repository),
        number: number(digits, host)?,
    })
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Validates the names of account and repository by the rules of GitHub, since they are inserted
/// into URLs.
fn repository((owner, name): (&str, &str)) -> Option<(String, String)> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let (account, suffix) = owner.split_once('_').unwrap_or((owner, ""));
    let owner_good = !account.is_empty()
        && account.len() <= MAX_OWNER_BYTES
        && suffix.len() < MAX_SUFFIX_BYTES
        && account.chars().chain(suffix.chars()).all(plain);
    let name_good = !["", ".", ".."].contains(&name)
        && name.len() <= MAX_REPO_BYTES
        && name.chars().all(|c| plain(c) || "._".contains(c));
    (owner_good && name_good).then(|| (owner.to_owned(), name.to_owned()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(digits: &str, host: &str) -> Result<u64, ReferenceError> {
    digits
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| ReferenceError::Number {
            given: truncate_chars(digits, 30),
            host: host.to_owned(),
        })
}

fn invalid_form(text: &str, host: &str) -> ReferenceError {
    ReferenceError::Form {
        given: quoted(text),
        host: host.to_owned(),
    }
}

fn other_host(found: &str, host: &str) -> ReferenceError {
    ReferenceError::Host {
        given: truncate_chars(found, MAX_QUOTED_CHARS),
        host: host.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    truncate_chars(&one_line(text), MAX_QUOTED_CHARS)
}

#[cfg(test)]
mod tests;
