//! The manifest of an App: how it is read, and what GitHub refuses.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use crate::model::User;

/// Maximum length of an App's name, in characters
/// (<https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/registering-a-github-app>).
const MAX_NAME: usize = 34;

/// Events with the permission that a subscription needs. GitHub knows more; these are the ones that
/// the simulator sends.
const EVENTS: [(&str, &str); 4] = [
    ("issue_comment", "issues"),
    ("issues", "issues"),
    ("label", "metadata"),
    ("pull_request", "pull_requests"),
];

/// Permissions of repositories that an App can have here.
const PERMISSIONS: [&str; 8] = [
    "actions",
    "administration",
    "checks",
    "contents",
    "issues",
    "metadata",
    "pull_requests",
    "statuses",
];

/// The manifest of an App.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Manifest {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) url: Option<String>,
    pub(crate) hook_attributes: Option<Hook>,
    pub(crate) redirect_url: Option<String>,
    #[serde(default)]
    pub(crate) callback_urls: Vec<String>,
    #[serde(default)]
    pub(crate) default_permissions: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) default_events: Vec<String>,
}

/// The webhook in a manifest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hook {
    pub(crate) url: Option<String>,
    #[serde(default = "active")]
    pub(crate) active: bool,
    secret: Option<Value>,
}

fn active() -> bool {
    true
}

/// An App that was registered and whose code was not exchanged yet.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) manifest: Manifest,
    pub(crate) owner: User,
    pub(crate) created: DateTime<Utc>,
}

impl Manifest {
    /// Returns everything for which GitHub refuses the manifest. The wording is GitHub's where a
    /// public issue thread quotes it (agentric PR#317, tuist PR#10709, derive PR#269).
    pub(crate) fn errors(&self, taken: &str) -> Vec<String> {
        let mut errors = Vec::new();
        let name = self.name.trim();
        if name.is_empty() {
            errors.push("Name can't be blank".to_owned());
        } else if name.chars().count() > MAX_NAME {
            errors.push(format!(
                "Name is too long (maximum is {MAX_NAME} characters)"
            ));
        } else if slug(name) == taken {
            errors.push("Name is already in use".to_owned());
        }
        if self.url.as_deref().and_then(web_url).is_none() {
            errors.push("Url wasn't supplied".to_owned());
        }
        if self.redirect_url.as_deref().and_then(web_url).is_none() {
            errors.push("Redirect url must be a valid URL".to_owned());
        }
        if let Some(hook) = &self.hook_attributes {
            match hook.url.as_deref().map(web_url) {
                None => errors.push("Hook url wasn't supplied".to_owned()),
                Some(None) => errors.push("Hook url must be a valid URL".to_owned()),
                Some(Some(url)) if is_local(&url) => errors.push(
                    "Hook url is not supported because it isn't reachable over the public Internet"
                        .to_owned(),
                ),
                Some(Some(_)) => {}
            }
            if hook.secret.is_some() {
                errors.push("Hook attributes contain an unknown key: secret".to_owned());
            }
        }
        for (name, level) in &self.default_permissions {
            if !PERMISSIONS.contains(&name.as_str()) {
                errors.push(format!(
                    "Default permissions contain an unknown key: {name}"
                ));
            } else if !["read", "write"].contains(&level.as_str()) {
                errors.push(format!("Default permissions: {name} cannot be {level}"));
            }
        }
        for event in &self.default_events {
            let known = EVENTS.iter().find(|(name, _)| name == event);
            let granted = |permission: &str| {
                permission == "metadata" || self.default_permissions.contains_key(permission)
            };
            if !known.is_some_and(|(_, permission)| granted(permission)) {
                errors.push(format!(
                    "Default events are not supported by permissions: {event}"
                ));
            }
        }
        errors
    }
}

/// Returns an absolute URL with the scheme http or https.
fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (["http", "https"].contains(&url.scheme()) && url.has_host()).then_some(url)
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => true,
    }
}

/// Returns the slug of an App's name.
pub(crate) fn slug(name: &str) -> String {
    let parts = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    fn manifest() -> Value {
        json!({
            "name": "Planner of Acme",
            "url": "https://example.com",
            "redirect_url": "http://127.0.0.1:4000/created",
            "hook_attributes": { "url": "https://bot.example.com/webhook", "active": true },
            "default_permissions": { "issues": "write", "pull_requests": "read" },
            "default_events": ["issue_comment", "issues", "pull_request"],
        })
    }

    fn errors(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut manifest = manifest();
        change(&mut manifest);
        let manifest: Manifest = serde_json::from_value(manifest).unwrap();
        manifest.errors("planwright")
    }

    #[test]
    fn manifests_are_refused_for_what_github_refuses() {
        assert_eq!(errors(|_| {}), Vec::<String>::new());
        assert_eq!(slug("Planner of  Acme!"), "planner-of-acme");
        let unreachable =
            "Hook url is not supported because it isn't reachable over the public Internet";
        for (path, value, message) in [
            ("/name", json!(""), "Name can't be blank"),
            (
                "/name",
                json!("n".repeat(35)),
                "Name is too long (maximum is 34 characters)",
            ),
            ("/name", json!("Planwright"), "Name is already in use"),
            ("/url", json!(null), "Url wasn't supplied"),
            (
                "/redirect_url",
                json!("/created"),
                "Redirect url must be a valid URL",
            ),
            (
                "/hook_attributes",
                json!({ "active": false }),
                "Hook url wasn't supplied",
            ),
            (
                "/hook_attributes/url",
                json!("bot"),
                "Hook url must be a valid URL",
            ),
            (
                "/hook_attributes/url",
                json!("http://localhost:3000/"),
                unreachable,
            ),
            (
                "/hook_attributes/url",
                json!("https://10.0.0.1/"),
                unreachable,
            ),
            (
                "/hook_attributes",
                json!({ "url": "https://x.example", "secret": "s" }),
                "Hook attributes contain an unknown key: secret",
            ),
            (
                "/default_permissions/issues",
                json!("admin"),
                "Default permissions: issues cannot be admin",
            ),
            (
                "/default_permissions",
                json!({ "issues": "write", "pull_requests": "read", "webhooks": "read" }),
                "Default permissions contain an unknown key: webhooks",
            ),
            (
                "/default_permissions",
                json!({ "issues": "write" }),
                "Default events are not supported by permissions: pull_request",
            ),
            (
                "/default_events/0",
                json!("installation"),
                "Default events are not supported by permissions: installation",
            ),
        ] {
            let found = errors(|manifest| *manifest.pointer_mut(path).unwrap() = value);
            assert_eq!(found, [message], "{path}");
        }
    }
}
