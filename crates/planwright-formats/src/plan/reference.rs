//! How a person names an issue: `OWNER/REPO#12`, its address, `#12`, or `12`.
//!
//! erk (`parse_issue_reference`) takes a number and an address on github.com. Ours also takes what GitHub itself turns
//! into a link (<https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls>),
//! the address of a pull request, since both share one row of numbers, and any one host, so that it works with GitHub
//! Enterprise. The host is compared after the address was parsed: `https://github.com.evil.example/…` and
//! `https://github.com@evil.example/…` are other hosts.

use std::fmt;

use url::Url;

mod remote;

pub use remote::repository_of;

use super::inline;
use super::title::cut;

/// Longest name of an account on GitHub, in bytes.
const OWNER_MAX: usize = 39;
/// Longest suffix that an enterprise adds to its managed accounts, with the `_` before it, in bytes.
const SUFFIX_MAX: usize = 9;
/// Longest name of a repository on GitHub, in bytes.
const REPO_MAX: usize = 100;

/// An issue or a pull request, as it was named.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IssueRef {
    /// Owner and name of the repository; `None` when only a number was given.
    pub repository: Option<(String, String)>,
    /// The number, 1 or greater.
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

/// Why a text names no issue. Every message shows what would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// None of the accepted forms.
    #[error("`{given}` does not name an issue; write {}", forms(.host))]
    Form {
        /// What was given, short.
        given: String,
        /// The host whose addresses are accepted.
        host: String,
    },
    /// Zero, or more than 64 bits hold.
    #[error("`{given}` is no issue number; the numbers of a repository begin with 1; write {}", forms(.host))]
    Number {
        /// The digits, short.
        given: String,
        /// The host whose addresses are accepted.
        host: String,
    },
    /// No repository either.
    #[error(
        "`{given}` does not name a repository; write OWNER/REPO, https://{host}/OWNER/REPO or git@{host}:OWNER/REPO.git"
    )]
    Repository {
        /// What was given, short.
        given: String,
        /// The host whose addresses are accepted.
        host: String,
    },
    /// The address is on another host.
    #[error(
        "the address is on `{given}`, not on `{host}`; github.api_url says which GitHub is asked"
    )]
    Host {
        /// The address's host, short.
        given: String,
        /// The host whose addresses are accepted.
        host: String,
    },
}

fn forms(host: &str) -> String {
    format!("OWNER/REPO#12, https://{host}/OWNER/REPO/issues/12, #12 or 12")
}

/// The issue that `text` names. `host` is the host whose addresses are accepted, with its port where it has one:
/// `github.com`; see [`web_host`].
///
/// Accepted, white space around it apart: `12`, `#12`, `OWNER/REPO#12`, and addresses
/// `http(s)://HOST/OWNER/REPO/issues/12` or `…/pull/12`, whatever stands behind the number (`/files`, `?…`, `#…`).
pub fn parse(text: &str, host: &str) -> Result<IssueRef, ReferenceError> {
    let text = text.trim();
    if let Some(found) = in_address(text, host) {
        return found;
    }
    let (repository, digits) = match text.split_once('#') {
        None => (None, text),
        Some(("", digits)) => (None, digits),
        Some((path, digits)) => match path.split_once('/').and_then(repository) {
            Some(found) => (Some(found), digits),
            None => return Err(form(text, host)),
        },
    };
    if !is_digits(digits) {
        return Err(form(text, host));
    }
    Ok(IssueRef {
        repository,
        number: number(digits, host)?,
    })
}

/// The host of the pages that belong to a REST API: `github.com` for `https://api.github.com`, `HOST` for
/// `https://HOST/api/v3`, with the port where the address names one.
pub fn web_host(api: &Url) -> String {
    let host = authority(api);
    // An enterprise server keeps its API under a path, and may itself be called `api.…`.
    match host.strip_prefix("api.") {
        Some(pages) if api.path() == "/" => pages.to_owned(),
        _ => host,
    }
}

/// `None` when `text` is not an address at all.
fn in_address(text: &str, host: &str) -> Option<Result<IssueRef, ReferenceError>> {
    let scheme = text.split_once("://")?.0;
    let https = ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let Some(url) = Url::parse(text).ok().filter(|_| https) else {
        return Some(Err(form(text, host)));
    };
    let mut segments = url.path_segments().into_iter().flatten();
    let mut next = || segments.next().unwrap_or_default();
    let (path, kind, digits) = ((next(), next()), next(), next());
    let (Some(repository), "issues" | "pull", true) = (repository(path), kind, is_digits(digits))
    else {
        return Some(Err(form(text, host)));
    };
    let found = authority(&url);
    if !found.eq_ignore_ascii_case(host) {
        return Some(Err(ReferenceError::Host {
            given: cut(&found, 80),
            host: host.to_owned(),
        }));
    }
    Some(number(digits, host).map(|number| IssueRef {
        repository: Some(repository),
        number,
    }))
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Names that GitHub can have given: they are put into addresses, so nothing else may pass.
fn repository((owner, name): (&str, &str)) -> Option<(String, String)> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let (account, suffix) = owner.split_once('_').unwrap_or((owner, ""));
    let owner_good = !account.is_empty()
        && account.len() <= OWNER_MAX
        && suffix.len() < SUFFIX_MAX
        && account.chars().chain(suffix.chars()).all(plain);
    let name_good = !["", ".", ".."].contains(&name)
        && name.len() <= REPO_MAX
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
            given: cut(digits, 30),
            host: host.to_owned(),
        })
}

fn form(text: &str, host: &str) -> ReferenceError {
    ReferenceError::Form {
        given: cut(&inline::one_line(text), 80),
        host: host.to_owned(),
    }
}

#[cfg(test)]
mod tests;
