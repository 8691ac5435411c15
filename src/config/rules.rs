//! The allowed values of each key.

use std::net::SocketAddr;

use toml::Value;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::error::ConfigError;
use super::layers::Merged;
use super::token::is_this_machine;
use super::{agent, check, erk};

enum Rule {
    /// An integer: minimum, maximum, unit.
    Whole(i64, i64, &'static str),
    Address,
    Route,
    Base,
    /// A value that is passed after a command-line option: maximum length in characters.
    Argument(usize),
    /// Base URL of the model's API; may be empty.
    ModelApi,
    /// An amount of US dollars from 0 to this maximum.
    Dollars(f64),
    /// Arguments of a program.
    Arguments,
    /// Absolute paths.
    Paths,
    /// Names of variables that may be passed to agents.
    Variables,
    OneOf(&'static [&'static str]),
    Directives,
    Ids,
    /// Comma-separated host names, optionally with a leading `*.`.
    Hosts,
    /// Comma-separated file names, optionally with a leading `*`.
    FileNames,
    /// One line of text: maximum length in characters.
    Text(usize),
    /// A version of erk.
    Erk,
    /// Next steps: a preset or a template.
    Steps,
    NotEmpty,
    Anything,
}

use Rule::{
    Address, Anything, Argument, Arguments, Base, Directives, Dollars, Erk, FileNames, Hosts, Ids,
    ModelApi, NotEmpty, OneOf, Paths, Route, Steps, Text, Variables, Whole,
};

/// The rule of each key of `default.toml`.
const RULES: &[(&str, Rule)] = &[
    ("server.listen", Address),
    ("server.webhook_path", Route),
    ("server.max_connections", Whole(1, 65_536, "connections")),
    ("server.shutdown_grace_seconds", Whole(0, 3_600, "seconds")),
    ("webhook.secrets_file", Anything),
    ("github.api_url", Base),
    ("github.app_id", Whole(0, i64::MAX, "or 0 for not set")),
    ("github.app_slug", Text(100)),
    ("github.private_key_file", Anything),
    ("github.write_gap_ms", Whole(0, 60_000, "milliseconds")),
    ("github.notify_gap_ms", Whole(0, 60_000, "milliseconds")),
    ("github.request_timeout_seconds", Whole(1, 120, "seconds")),
    ("github.allowed_bots", Ids),
    ("store.path", NotEmpty),
    ("store.queue_depth", Whole(1, 100_000, "deliveries")),
    ("store.keep_payloads", Anything),
    ("store.retention_days", Whole(1, 3_650, "days")),
    ("worker.concurrency", Whole(1, 256, "runs")),
    ("worker.lease_seconds", Whole(5, 3_600, "seconds")),
    ("worker.max_attempts", Whole(1, 100, "attempts")),
    ("worker.backoff_seconds", Whole(1, 3_600, "seconds")),
    ("worker.max_backoff_seconds", Whole(1, 86_400, "seconds")),
    ("worker.give_up_after_hours", Whole(1, 168, "hours")),
    ("worker.settle_seconds", Whole(0, 600, "seconds")),
    // 50 characters is GitHub's limit for label names.
    ("labels.save_plan", Text(50)),
    ("labels.save_raw_plan", Text(50)),
    ("labels.plan", Text(50)),
    ("labels.check_plan", Text(50)),
    ("check.files", FileNames),
    ("check.repository", Anything),
    ("check.max_compared_files", Whole(1, 1_000, "files")),
    ("check.max_requests", Whole(10, 5_000, "requests")),
    ("extract.when_unclear", OneOf(&["ask", "best", "refuse"])),
    ("outsiders.answers_per_person", Whole(0, 1_000, "answers")),
    ("outsiders.answers_per_issue", Whole(0, 1_000, "answers")),
    (
        "outsiders.answers_per_installation",
        Whole(0, 10_000, "answers"),
    ),
    ("outsiders.window_minutes", Whole(1, 1_440, "minutes")),
    ("outsiders.check_requests", Whole(10, 5_000, "requests")),
    ("research.concurrency", Whole(1, 16, "agents")),
    ("research.max_topics", Whole(1, 20, "topics")),
    ("research.tries", Whole(1, 3, "tries")),
    ("research.faults", Whole(1, 10, "faults")),
    ("source.max_log_mb", Whole(1, 100, "megabytes")),
    ("source.timeout_seconds", Whole(1, 600, "seconds")),
    ("source.redirect_hosts", Hosts),
    ("publish.title_prefix", Text(50)),
    ("publish.max_parts", Whole(1, 100, "comments")),
    ("erk.version", Erk),
    ("erk.details_open", Anything),
    ("report.next_steps", Steps),
    ("agent.kind", OneOf(&["none", "claude", "command"])),
    ("agent.path", Text(4_096)),
    ("agent.args", Arguments),
    ("agent.output", OneOf(&["markdown", "stream-json"])),
    ("agent.environment", Variables),
    ("agent.reads", Paths),
    ("agent.api_key_file", Anything),
    ("agent.model", Argument(100)),
    ("agent.api_url", ModelApi),
    ("agent.structured", Anything),
    ("agent.folder", NotEmpty),
    ("agent.sandbox", OneOf(&["auto", "required", "off"])),
    ("agent.concurrency", Whole(1, 64, "agents")),
    ("agent.deadline_seconds", Whole(1, 86_400, "seconds")),
    ("agent.silence_seconds", Whole(1, 86_400, "seconds")),
    ("agent.max_turns", Whole(1, 1_000, "turns")),
    ("agent.max_cost_usd", Dollars(10_000.0)),
    ("agent.tries", Whole(1, 10, "tries")),
    (
        "agent.max_prompt_chars",
        Whole(10_000, 5_000_000, "characters"),
    ),
    ("agent.ask", Anything),
    ("agent.question_rounds", Whole(0, 3, "rounds")),
    ("agent.remind_hours", Whole(0, 720, "hours")),
    ("agent.answer_hours", Whole(1, 720, "hours")),
    ("agent.runs_per_actor_hour", Whole(0, 1_000_000, "runs")),
    ("agent.runs_per_repository_day", Whole(0, 1_000_000, "runs")),
    ("agent.cost_per_repository_day_usd", Dollars(1_000_000.0)),
    ("agent.runs_per_day", Whole(0, 1_000_000, "runs")),
    ("agent.cost_per_day_usd", Dollars(1_000_000.0)),
    ("agent.prompts", Anything),
    ("log.format", OneOf(&["text", "json"])),
    ("log.level", Directives),
];

/// Returns an error for the first invalid value, in the order of the default file.
pub(super) fn check(merged: &Merged) -> Result<(), ConfigError> {
    for (key, rule) in RULES {
        let Some(entry) = merged.get(key) else {
            continue;
        };
        if let Some(why) = broken(rule, &entry.value) {
            let mut error = merged.impossible(key, &why);
            if let ConfigError::Impossible { value, .. } = &mut error {
                match rule {
                    Base | ModelApi => *value = without_secrets(value),
                    Variables => *value = agent::names_only(&entry.value),
                    _ => {}
                }
            }
            return Err(error);
        }
    }
    let text = |key: &str| merged.get(key).and_then(|entry| entry.value.as_str());
    let whole = |key| merged.get(key).and_then(|entry| entry.value.as_integer());
    if whole("worker.max_backoff_seconds") < whole("worker.backoff_seconds") {
        let why = "it must not be less than `worker.backoff_seconds`";
        return Err(merged.impossible("worker.max_backoff_seconds", why));
    }
    let labels = [
        "labels.save_plan",
        "labels.save_raw_plan",
        "labels.plan",
        "labels.check_plan",
    ];
    for (at, key) in labels.iter().enumerate() {
        let name = text(key).unwrap_or_default().to_lowercase();
        let same = |other: &&&str| text(other).is_some_and(|other| other.to_lowercase() == name);
        if let Some(other) = labels[..at].iter().find(same)
            && !name.is_empty()
        {
            let why = format!("it must differ from `{other}`");
            return Err(merged.impossible(key, &why));
        }
    }
    erk::check(merged)?;
    agent::check(merged)
}

/// Removes credentials from an address: user name, password and query. The value is invalid and may
/// not even be a URL, so everything up to the last `@` is removed.
fn without_secrets(value: &str) -> String {
    let shown = match value.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.find("://").map_or("\"", |at| &before[..at + 3]);
            format!("{scheme}***@{host}")
        }
        None => value.to_owned(),
    };
    match shown.split_once('?') {
        Some((address, _)) => format!("{address}?***\""),
        None => shown,
    }
}

/// Returns whether `name` is a host name of at least two labels, optionally after `*.`, without
/// scheme and port, and not an IP address.
fn host(name: &str) -> bool {
    let labels: Vec<&str> = name.strip_prefix("*.").unwrap_or(name).split('.').collect();
    let plain = |label: &&str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let letters = |label: &&str| label.bytes().any(|byte| byte.is_ascii_alphabetic());
    labels.len() > 1 && labels.iter().all(plain) && labels.last().is_some_and(letters)
}

/// Returns whether an address can be used as the base of other addresses.
fn is_base(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
}

/// Returns an error text if the value breaks the rule.
fn broken(rule: &Rule, value: &Value) -> Option<String> {
    let text = value.as_str().unwrap_or_default();
    match rule {
        Whole(least, most, unit) => {
            let found = value.as_integer().unwrap_or(i64::MIN);
            let range = if *most == i64::MAX {
                format!("it must be a positive number, {unit}")
            } else {
                format!("it must be {least} to {most} {unit}")
            };
            (!(*least..=*most).contains(&found)).then_some(range)
        }
        Address => text.parse::<SocketAddr>().is_err().then(|| {
            "it must be an IP address and a port, e.g. 127.0.0.1:8300 or [::]:8300".to_owned()
        }),
        Route => {
            let plain = text.bytes().all(|c| {
                c.is_ascii_alphanumeric() || matches!(c, b'/' | b'-' | b'_' | b'.' | b'~')
            });
            let taken = matches!(text, "/livez" | "/readyz");
            (!text.starts_with('/') || !plain || taken).then(|| {
                "it must be a path such as /webhook, and neither /livez nor /readyz".to_owned()
            })
        }
        Base => {
            let good = Url::parse(text).is_ok_and(|url| is_base(&url));
            (!good).then(|| {
                "it must be an http(s) address without user name and query, e.g. https://github.example.com/api/v3"
                    .to_owned()
            })
        }
        ModelApi => {
            let good = text.is_empty()
                || Url::parse(text).is_ok_and(|url| {
                    is_base(&url) && (url.scheme() == "https" || is_this_machine(&url))
                });
            (!good).then(|| {
                "it must be an https address without user name and query, or an http one on this computer, e.g. http://127.0.0.1:8080"
                    .to_owned()
            })
        }
        Dollars(most) => {
            let found = value.as_float().unwrap_or(f64::NAN);
            (!(0.0..=*most).contains(&found)).then(|| format!("it must be 0 to {most} US dollars"))
        }
        Arguments => agent::wrong_argument(value),
        Paths => agent::wrong_path(value),
        Variables => agent::wrong_variable(value),
        OneOf(names) => (!names.contains(&text)).then(|| format!("it must be {}", names.join(" or "))),
        Directives => (text.trim().is_empty() || EnvFilter::try_new(text).is_err()).then(|| {
            "it must be error, warn, info, debug, trace, or directives such as info,planwright=debug"
                .to_owned()
        }),
        Ids => {
            let good = value.as_array().is_some_and(|ids| {
                ids.iter()
                    .all(|id| id.as_integer().is_some_and(|id| id > 0))
            });
            (!good).then(|| "it must be a list of account ids, e.g. [41898282]".to_owned())
        }
        Hosts => {
            let names = text.split(',').map(str::trim);
            let mut wrong = names.filter(|name| !name.is_empty() && !host(name));
            wrong.next().map(|name| {
                format!("{name:?} is no host; it must be names such as store.example.com or *.example.com, between commas")
            })
        }
        FileNames => check::wrong_names(text),
        Text(most) => (text.chars().count() > *most || text.chars().any(char::is_control))
            .then(|| format!("it must be at most {most} characters on one line")),
        Argument(most) => match broken(&Text(*most), value) {
            None if text.starts_with('-') => {
                Some("it must not begin with -, or it would be taken for an option".to_owned())
            }
            why => why,
        },
        Erk => erk::wrong_version(text),
        Steps => erk::wrong_next_steps(text),
        NotEmpty => text.is_empty().then(|| "it must not be empty".to_owned()),
        Anything => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::config::layers::{Sources, merge, variable};

    #[test]
    fn a_password_in_the_address_is_not_printed() {
        for (given, shown) in [
            ("https://u:pw@h/", "\"https://***@h/\""),
            ("https://u:p/w@h/api", "\"https://***@h/api\""),
            ("https://u:p?w@h/api", "\"https://***@h/api\""),
            ("https://u:p@w@h", "\"https://***@h\""),
            ("https://pw@", "\"https://***@\""),
            ("u:pw@h", "\"***@h\""),
            ("https://h/?token=pw", "\"https://h/?***\""),
            ("https://h/?token=pw#@h", "\"https://***@h\""),
            ("ftp://h", "\"ftp://h\""),
        ] {
            let sources = Sources {
                flags: vec![format!("github.api_url={given}")],
                ..Sources::default()
            };
            let error = check(&merge(&sources).unwrap()).unwrap_err().to_string();
            let start = format!("--set: `github.api_url` is {shown}; it must be ");
            assert!(error.starts_with(&start), "{given}: {error}");
        }
    }

    #[test]
    fn the_default_file_documents_every_key_with_a_rule_and_its_variable() {
        let merged = merge(&Sources::default()).unwrap();
        check(&merged).unwrap();
        let keys: Vec<&str> = merged.0.iter().map(|entry| entry.key.as_str()).collect();
        let rules: Vec<&str> = RULES.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, rules);
        let mut comment = String::new();
        let mut section = "";
        for line in super::super::DEFAULT.lines() {
            if line.starts_with('#') {
                comment.push_str(line);
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
            } else if let Some((key, _)) = line.split_once(" = ") {
                let name = variable(&format!("{section}.{key}"));
                assert!(
                    comment.ends_with(&format!("Env: {name}")),
                    "{key}: {comment}"
                );
            }
            comment.clear();
        }
    }
}
