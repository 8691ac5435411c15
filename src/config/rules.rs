//! Which values each key takes.

use std::net::SocketAddr;

use toml::Value;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::error::ConfigError;
use super::layers::Merged;

enum Rule {
    /// From, to, unit.
    Whole(i64, i64, &'static str),
    Address,
    Route,
    Base,
    OneOf(&'static [&'static str]),
    Directives,
    Ids,
    /// Host names between commas, perhaps with `*.` in front.
    Hosts,
    /// Most characters.
    Text(usize),
    NotEmpty,
    Anything,
}

use Rule::{Address, Anything, Base, Directives, Hosts, Ids, NotEmpty, OneOf, Route, Text, Whole};

/// One rule for each key of `default.toml`.
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
    ("worker.backoff_most_seconds", Whole(1, 86_400, "seconds")),
    ("worker.give_up_after_hours", Whole(1, 168, "hours")),
    ("worker.settle_seconds", Whole(0, 600, "seconds")),
    // GitHub's limit for a label's name.
    ("labels.save_plan", Text(50)),
    ("labels.save_raw_plan", Text(50)),
    ("source.most_log_mb", Whole(1, 100, "megabytes")),
    ("source.timeout_seconds", Whole(1, 600, "seconds")),
    ("source.redirect_hosts", Hosts),
    ("publish.title_prefix", Text(50)),
    ("publish.most_parts", Whole(1, 100, "comments")),
    ("log.format", OneOf(&["text", "json"])),
    ("log.level", Directives),
];

/// The first value that cannot be, in the order of the default file.
pub(super) fn check(merged: &Merged) -> Result<(), ConfigError> {
    for (key, rule) in RULES {
        let Some(entry) = merged.get(key) else {
            continue;
        };
        if let Some(why) = broken(rule, &entry.value) {
            let mut error = impossible(merged, key, &why);
            if let (Base, ConfigError::Impossible { value, .. }) = (rule, &mut error) {
                *value = without_secrets(value);
            }
            return Err(error);
        }
    }
    let text = |key| merged.get(key).and_then(|entry| entry.value.as_str());
    let whole = |key| merged.get(key).and_then(|entry| entry.value.as_integer());
    if whole("worker.backoff_most_seconds") < whole("worker.backoff_seconds") {
        let why = "it must not be less than `worker.backoff_seconds`";
        return Err(impossible(merged, "worker.backoff_most_seconds", why));
    }
    let (one, other) = (text("labels.save_plan"), text("labels.save_raw_plan"));
    if let (Some(one), Some(other)) = (one, other)
        && !one.is_empty()
        && one.to_lowercase() == other.to_lowercase()
    {
        let why = "it must differ from `labels.save_plan`";
        return Err(impossible(merged, "labels.save_raw_plan", why));
    }
    Ok(())
}

fn impossible(merged: &Merged, key: &str, why: &str) -> ConfigError {
    match merged.get(key) {
        Some(entry) => ConfigError::Impossible {
            origin: entry.origin.clone(),
            key: key.to_owned(),
            value: entry.value.to_string(),
            why: why.to_owned(),
        },
        None => ConfigError::Unreadable {
            why: why.to_owned(),
        },
    }
}

/// An address without what people put into it to be let in: user name, password and query. It cannot be used and may not
/// even be an address, so everything up to the last `@` goes.
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

/// A name with at least two labels, perhaps behind `*.`; no scheme, no port, no address.
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

/// What the value must be, when it is not.
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
            let good = Url::parse(text).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.has_host()
                    && url.username().is_empty()
                    && url.password().is_none()
                    && url.query().is_none()
            });
            (!good).then(|| {
                "it must be an http(s) address without user name and query, e.g. https://github.example.com/api/v3"
                    .to_owned()
            })
        }
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
        Text(most) => (text.chars().count() > *most || text.chars().any(char::is_control))
            .then(|| format!("it must be at most {most} characters on one line")),
        NotEmpty => text.is_empty().then(|| "it must not be empty".to_owned()),
        Anything => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::super::layers::{Sources, merge, variable};
    use super::*;

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
