//! The parts of webhook payloads that decisions need.
//!
//! The structs borrow from the body and skip all other members. For a comment delivery of 19 kB
//! this takes about a fifth of the time of parsing into a generic JSON tree. GitHub may add
//! members, actions and values at any time, so unknown ones are accepted
//! (<https://docs.github.com/en/webhooks/webhook-events-and-payloads>).

use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, Visitor};
use serde_json::value::RawValue;

use crate::engine::model::intake::Subject;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef, Repo, digest};

/// The reason why the payload of a known event cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the `{event}` payload cannot be used: {why} (at `{path}`)")]
pub struct PayloadError {
    /// The header `X-GitHub-Event`.
    pub event: String,
    /// The path of the invalid member; `.` for the whole document.
    pub path: String,
    /// The parser's error message.
    pub why: String,
}

/// Parses a payload. If that fails, it is parsed a second time, more slowly, to find the path of
/// the invalid member.
pub(super) fn read<'a, T: Deserialize<'a>>(event: &str, body: &'a [u8]) -> Result<T, PayloadError> {
    // Serde would also accept an array and assign its elements to the members in order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(PayloadError {
            event: event.to_owned(),
            path: ".".to_owned(),
            why: "it is not a JSON object".to_owned(),
        });
    }
    if let Ok(read) = serde_json::from_slice(body) {
        return Ok(read);
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let found = serde_path_to_error::deserialize(&mut reader);
    found
        .map_err(|error| (error.path().to_string(), error.into_inner()))
        .and_then(|read| {
            reader
                .end()
                .map(|()| read)
                .map_err(|error| (".".to_owned(), error))
        })
        .map_err(|(path, error)| PayloadError {
            event: event.to_owned(),
            path,
            why: error.to_string(),
        })
}

/// The member that all events with actions have. Parsed separately only if the whole payload cannot
/// be parsed.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(super) action: Cow<'a, str>,
}

/// The payload of `issue_comment`.
#[derive(Debug, Deserialize)]
pub(super) struct IssueComment<'a> {
    #[serde(borrow, default)]
    pub(super) action: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) comment: Comment<'a>,
    #[serde(borrow)]
    pub(super) issue: Issue<'a>,
    #[serde(borrow)]
    pub(super) repository: Repository<'a>,
    #[serde(borrow)]
    pub(super) sender: Account<'a>,
    pub(super) installation: Option<Id>,
    #[serde(borrow, default)]
    pub(super) changes: Changes<'a>,
}

impl IssueComment<'_> {
    pub(super) fn subject(&self) -> Subject {
        Subject {
            action: Some(self.action.to_string()),
            repo: Some(self.repository.id),
            number: Some(self.issue.number),
            comment: Some(self.comment.id),
        }
    }

    /// Returns the length of the comment, before and after an edit together, in bytes.
    pub(super) fn text_length(&self) -> usize {
        let before = self.changes.body.as_ref();
        self.comment.body.len() + before.map_or(0, |before| before.from.len())
    }
}

/// The parts of `issues` and `pull_request` payloads that the action `labeled` needs.
#[derive(Debug, Deserialize)]
pub(super) struct Labeled<'a> {
    #[serde(borrow, default)]
    pub(super) action: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) label: Label<'a>,
    #[serde(alias = "pull_request")]
    #[serde(borrow)]
    pub(super) issue: Issue<'a>,
    #[serde(borrow)]
    pub(super) repository: Repository<'a>,
    #[serde(borrow)]
    pub(super) sender: Account<'a>,
    pub(super) installation: Option<Id>,
}

impl Labeled<'_> {
    pub(super) fn subject(&self) -> Subject {
        Subject {
            action: Some(self.action.to_string()),
            repo: Some(self.repository.id),
            number: Some(self.issue.number),
            comment: None,
        }
    }
}

/// The parts of `pull_request` payloads that new commits need.
#[derive(Debug, Deserialize)]
pub(super) struct Pushed<'a> {
    #[serde(borrow, default)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) pull_request: Proposed<'a>,
    #[serde(borrow)]
    pub(super) repository: Repository<'a>,
    #[serde(borrow)]
    pub(super) sender: Account<'a>,
    pub(super) installation: Option<Id>,
}

impl Pushed<'_> {
    pub(super) fn subject(&self) -> Subject {
        Subject {
            action: Some(self.action.to_string()),
            repo: Some(self.repository.id),
            number: Some(self.pull_request.number),
            comment: None,
        }
    }
}

/// The pull request of [`Pushed`].
#[derive(Debug, Deserialize)]
pub(super) struct Proposed<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) number: u64,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
    pub(super) updated_at: Time,
    #[serde(borrow, default)]
    pub(super) labels: Vec<Label<'a>>,
    #[serde(borrow)]
    pub(super) head: Head<'a>,
}

/// The head of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow)]
    pub(super) sha: Cow<'a, str>,
}

/// The payload of `installation`.
#[derive(Debug, Deserialize)]
pub(super) struct Installation<'a> {
    #[serde(borrow, default)]
    pub(super) action: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) installation: Installed<'a>,
}

/// The payload of `ping`. All members are optional, because every ping is answered.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Ping {
    #[serde(default)]
    pub(super) hook: Hook,
}

/// The webhook that a ping tests.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Hook {
    #[serde(default)]
    pub(super) events: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Installed<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
    #[serde(borrow, default)]
    pub(super) account: Login<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Login<'a> {
    #[serde(borrow, default)]
    pub(super) login: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Comment<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
    #[serde(borrow)]
    pub(super) body: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) html_url: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) user: Option<Author<'a>>,
    pub(super) created_at: Time,
    pub(super) updated_at: Time,
    #[serde(default)]
    pub(super) performed_via_github_app: Option<Id>,
}

/// The author of a comment; `null` if the account was deleted.
#[derive(Debug, Deserialize)]
pub(super) struct Author<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
    #[serde(borrow, default)]
    pub(super) login: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Issue<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) number: u64,
    /// The opening text as raw JSON; parsed only if a command starts a run.
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
    pub(super) updated_at: Time,
    /// Present if an `issue_comment` or `issues` event is about a pull request.
    #[serde(default)]
    pub(super) pull_request: Option<IgnoredAny>,
}

impl Issue<'_> {
    /// Returns the digest of the opening text, which is `null` in the payload if it is empty.
    /// Returns `None` if the member is not a string.
    pub(super) fn opening(&self) -> Option<String> {
        opening(self.body)
    }
}

impl Proposed<'_> {
    /// Returns the digest of the opening text, like [`Issue::opening`].
    pub(super) fn opening(&self) -> Option<String> {
        opening(self.body)
    }
}

fn opening(body: Option<&RawValue>) -> Option<String> {
    let raw = body.map_or("\"\"", RawValue::get);
    let text: Cow<'_, str> = serde_json::from_str(raw).ok()?;
    Some(digest(&text))
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Changes<'a> {
    #[serde(borrow, default)]
    pub(super) body: Option<Before<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Before<'a> {
    #[serde(borrow)]
    pub(super) from: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Label<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
}

/// Parses an id or an issue number. The store keeps 63 bits, so larger numbers are rejected;
/// GitHub's are smaller.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if i64::try_from(number).is_err() {
        return Err(de::Error::custom(format!("{number} is not a GitHub id")));
    }
    Ok(number)
}

#[derive(Debug, Deserialize)]
pub(super) struct Id {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Repository<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) owner: Owner<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Owner<'a> {
    #[serde(borrow)]
    pub(super) login: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Account<'a> {
    #[serde(deserialize_with = "number")]
    pub(super) id: u64,
    #[serde(borrow)]
    pub(super) login: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

impl Account<'_> {
    /// Returns whether GitHub's `type` is that of a bot account.
    pub(super) fn is_bot(&self) -> bool {
        self.kind == "Bot"
    }

    pub(super) fn actor(&self) -> Actor {
        Actor {
            id: self.id,
            login: self.login.to_string(),
            bot: self.is_bot(),
        }
    }
}

impl Repository<'_> {
    pub(super) fn place(&self, installation: u64, number: u64, pull_request: bool) -> IssueRef {
        IssueRef {
            repo: Repo {
                installation,
                id: self.id,
                owner: self.owner.login.to_string(),
                name: self.name.to_string(),
            },
            number,
            pull_request,
        }
    }
}

/// A time: RFC 3339 text in most events, seconds since the epoch in some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub(super) Millis);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time as RFC 3339 text or as seconds since 1970")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
        DateTime::parse_from_rfc3339(text)
            .map(|time| Time(Millis::from(time.with_timezone(&Utc))))
            .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Time, E> {
        i64::try_from(seconds)
            .ok()
            .and_then(|seconds| seconds.checked_mul(1000))
            .map(|millis| Time(Millis(millis)))
            .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(seconds), &self))
    }
}
