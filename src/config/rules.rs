//! The allowed values of each key.

use std::net::SocketAddr;

use globset::Glob;
use toml::Value;
use tracing_subscriber::EnvFilter;
use url::Url;

use super::error::ConfigError;
use super::layers::Merged;
use super::token::is_this_machine;
use super::{agent, erk};
use crate::engine::settings::hosts::AllowedHost;
use crate::formats::erk::Version;
use crate::setting::Rule::{
    self, AbsolutePaths, AccountIds, AllowedHosts, AppId, Arguments, BaseUrl, Boolean,
    CollectorUrl, Dollars, ErkVersion, FileNames, Globs, HostNames, Integer, Line, LogFilter,
    ModelUrl, NextSteps, OneOf, OptionValue, OptionalPath, Path, PostgresUrl, PublicUrl,
    SocketAddress, Variables, WebhookPath,
};
use crate::setting::names;

/// Describes the values that a rule allows, to follow "it must be".
pub(super) fn allowed(rule: Rule) -> String {
    let text = match rule {
        Integer(least, most, unit) => return format!("{least} to {most} {unit}"),
        Dollars(most) => return format!("0 to {most} US dollars"),
        OneOf(words) => {
            let (last, others) = words.split_last().unwrap_or((&"", &[]));
            return format!("{} or {last}", others.join(", "));
        }
        Line(most) => return format!("at most {most} characters on one line"),
        OptionValue(most) => {
            return format!("at most {most} characters on one line, not starting with -");
        }
        Boolean => "true or false",
        Path => "a path",
        OptionalPath => "a path, or empty",
        AbsolutePaths => "a list of absolute paths, e.g. [\"/opt/python\"]",
        Arguments => "a list of strings, e.g. [\"run\", \"--quiet\"]",
        Variables => agent::VARIABLES,
        AllowedHosts => {
            "a list of hosts, optionally with a port or a leading *., e.g. [\"api.anthropic.com\", \"*.example.com:8443\"]"
        }
        AccountIds => "a list of account IDs, e.g. [41898282]",
        AppId => "a positive integer, or 0 if it is not set",
        SocketAddress => "an IP address and a port, e.g. 127.0.0.1:8300 or [::]:8300",
        WebhookPath => {
            "a path such as /webhook, which is not /livez, /readyz, /metrics or /ui or below /ui"
        }
        BaseUrl => {
            "an http or https URL without user name and query, e.g. https://github.example.com/api/v3"
        }
        PublicUrl => {
            "an https URL without path, user name and query, e.g. https://planwright.example.com, or an http URL on this \
             computer, or empty"
        }
        ModelUrl => {
            "an https URL without user name and query, or an http URL on this computer, e.g. http://127.0.0.1:8080"
        }
        CollectorUrl => {
            "an http or https URL without user name and query, e.g. http://127.0.0.1:4318, or empty"
        }
        PostgresUrl => {
            "a URL without password such as postgres://planwright@db.example.com:5432/planwright; the password belongs \
             in PLANWRIGHT_STORE_PASSWORD or the file that `store.password_file` names"
        }
        HostNames => "comma-separated host names, e.g. store.example.com, *.example.com",
        FileNames => "comma-separated file names, e.g. PLAN.md, *.plan.md",
        Globs => {
            "a list of patterns of paths, in which `*` matches within a name and `**` any folders, e.g. [\"vendor\", \"docs/**/*.pdf\"]"
        }
        ErkVersion => "latest, or the month of your erk as YYYY-MM, 2025-11 or later",
        NextSteps => "erk, none, or your own Markdown",
        LogFilter => "error, warn, info, debug, trace, or directives such as info,planwright=debug",
    };
    text.to_owned()
}

/// Returns an error for the first invalid value, in the order of the schema.
pub(super) fn check(merged: &Merged) -> Result<(), ConfigError> {
    for entry in &merged.0 {
        if let Some(why) = broken(entry.rule, &entry.value) {
            let mut error = merged.impossible(&entry.key, &why);
            if let ConfigError::Impossible { value, .. } = &mut error {
                match entry.rule {
                    AllowedHosts | BaseUrl | CollectorUrl | ModelUrl | PostgresUrl | PublicUrl => {
                        *value = without_secrets(value);
                    }
                    Variables => *value = agent::names_only(&entry.value),
                    _ => {}
                }
            }
            return Err(error);
        }
    }
    let whole = |key| merged.get(key).and_then(|entry| entry.value.as_integer());
    if whole("worker.max_backoff_seconds") < whole("worker.backoff_seconds") {
        let why = "it must not be less than `worker.backoff_seconds`";
        return Err(merged.impossible("worker.max_backoff_seconds", why));
    }
    labels_differ(merged)?;
    erk::check(merged)?;
    agent::check(merged)
}

/// Refuses two commands with the same label. GitHub does not distinguish labels by case.
fn labels_differ(merged: &Merged) -> Result<(), ConfigError> {
    let mut names: Vec<(&str, String)> = Vec::new();
    for entry in &merged.0 {
        if !entry.key.starts_with("labels.") {
            continue;
        }
        let name = entry.value.as_str().unwrap_or_default().to_lowercase();
        let other = names.iter().find(|(_, other)| *other == name);
        if let Some((other, _)) = other.filter(|_| !name.is_empty()) {
            let why = format!("it must differ from `{other}`");
            return Err(merged.impossible(&entry.key, &why));
        }
        names.push((&entry.key, name));
    }
    Ok(())
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
fn is_host(name: &str) -> bool {
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

/// Returns whether an address can be used as the base of others, and nobody can read what is sent
/// there.
fn is_safe_base(url: &Url) -> bool {
    is_base(url) && (url.scheme() == "https" || is_this_machine(url))
}

/// Returns whether an address is that of a PostgreSQL database, without a password.
fn is_postgres(url: &Url) -> bool {
    matches!(url.scheme(), "postgres" | "postgresql")
        && url.path().len() > 1
        && url.password().is_none()
        && url.query_pairs().all(|(name, _)| name != "password")
}

/// Parses the address of a PostgreSQL database that was given outside of the configuration.
///
/// # Errors
/// The address without secrets, and what it must be: it is another kind of address, or has a
/// password.
pub fn postgres_url(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if is_postgres(&url) => Ok(url),
        _ => {
            let shown = without_secrets(&format!("{text:?}"));
            Err(format!("is {shown}; it must be {}", allowed(PostgresUrl)))
        }
    }
}

/// Returns an error text if the value breaks the rule.
fn broken(rule: Rule, value: &Value) -> Option<String> {
    let text = value.as_str().unwrap_or_default();
    let it_must_be = || format!("it must be {}", allowed(rule));
    let good = match rule {
        Integer(least, most, _) => value
            .as_integer()
            .is_some_and(|found| (least..=most).contains(&found)),
        Dollars(most) => value
            .as_float()
            .is_some_and(|found| (0.0..=most).contains(&found)),
        AppId => value.as_integer().is_some_and(|id| id >= 0),
        AccountIds => {
            let id = |id: &Value| id.as_integer().is_some_and(|id| id > 0);
            value.as_array().is_some_and(|ids| ids.iter().all(id))
        }
        OneOf(words) => words.contains(&text),
        OptionValue(_) if text.starts_with('-') => {
            return Some("it must not begin with -, or it would be taken for an option".to_owned());
        }
        Line(most) | OptionValue(most) => is_line(text, most),
        Path if text.is_empty() => return Some("it must not be empty".to_owned()),
        Boolean | Path | OptionalPath => true,
        AbsolutePaths => all_strings(value, |path| std::path::Path::new(path).is_absolute()),
        AllowedHosts => all_strings(value, |host| AllowedHost::parse(host).is_some()),
        Arguments => all_strings(value, |_| true),
        Variables => return agent::wrong_variable(value),
        SocketAddress => text.parse::<SocketAddr>().is_ok(),
        WebhookPath => {
            let plain =
                |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'/' | b'-' | b'_' | b'.' | b'~');
            text.starts_with('/')
                && text.bytes().all(plain)
                && !matches!(text, "/livez" | "/readyz" | "/metrics" | "/ui")
                && !text.starts_with("/ui/")
        }
        BaseUrl => Url::parse(text).is_ok_and(|url| is_base(&url)),
        ModelUrl => text.is_empty() || Url::parse(text).is_ok_and(|url| is_safe_base(&url)),
        CollectorUrl if !text.is_empty() && !cfg!(feature = "otel") => {
            return Some(
                "this program was built without OpenTelemetry: remove the setting, or build with `cargo build --release \
                 --features otel`"
                    .to_owned(),
            );
        }
        CollectorUrl => text.is_empty() || Url::parse(text).is_ok_and(|url| is_base(&url)),
        PublicUrl => {
            let has_path = |url: &Url| url.path() != "/" || url.fragment().is_some();
            text.is_empty()
                || Url::parse(text).is_ok_and(|url| is_safe_base(&url) && !has_path(&url))
        }
        PostgresUrl => text.is_empty() || Url::parse(text).is_ok_and(|url| is_postgres(&url)),
        HostNames => {
            let wrong = names(text).find(|name| !is_host(name))?;
            return Some(format!(
                "{wrong:?} is not a valid host name; {}",
                it_must_be()
            ));
        }
        FileNames => {
            if names(text).next().is_none() {
                return Some("it must name at least one file, e.g. *.plan.md".to_owned());
            }
            let wrong = names(text).find(|name| !is_file_name(name))?;
            return Some(format!(
                "{wrong:?} is not a valid file name; {}",
                it_must_be()
            ));
        }
        Globs => {
            let patterns = value.as_array().map_or(&[][..], Vec::as_slice);
            let wrong = patterns.iter().find(|pattern| {
                let text = pattern.as_str().unwrap_or_default();
                text.is_empty() || Glob::new(text).is_err()
            })?;
            return Some(format!("{wrong} is not a valid pattern; {}", it_must_be()));
        }
        ErkVersion => Version::from_name(text).is_some(),
        NextSteps if text.trim().is_empty() => false,
        NextSteps => return erk::wrong_next_steps(text),
        LogFilter => !text.trim().is_empty() && EnvFilter::try_new(text).is_ok(),
    };
    (!good).then(it_must_be)
}

/// Returns whether `text` is one line of at most `most` characters.
fn is_line(text: &str, most: usize) -> bool {
    text.chars().count() <= most && !text.chars().any(char::is_control)
}

/// Returns whether `value` is a list of strings without NUL that are `good`.
fn all_strings(value: &Value, good: impl Fn(&str) -> bool) -> bool {
    let good = |item: &Value| {
        let text = item.as_str();
        text.is_some_and(|text| !text.contains('\0') && good(text))
    };
    value.as_array().is_some_and(|items| items.iter().all(good))
}

/// Returns whether `name` is a file name, or `*` and the end of one.
fn is_file_name(name: &str) -> bool {
    let rest = name.strip_prefix('*').unwrap_or(name);
    !rest.is_empty() && !rest.contains(['*', '/', '\\']) && name.chars().count() <= 100
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::config::layers::{Sources, merge};
    use crate::config::schema::settings;

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
            let error = check(&merge(settings(), &sources).unwrap())
                .unwrap_err()
                .to_string();
            let start = format!("--set: `github.api_url` is {shown}; it must be ");
            assert!(error.starts_with(&start), "{given}: {error}");
        }
    }
}
