//! Registration of an App from a manifest
//! (<https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand::RngExt as _;
use rand::distr::Alphanumeric;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::Value;
use url::{Host, Url};

use crate::error::{Result, SimulatorError};
use crate::keys::AppKeys;
use crate::model::{Actor, Installation, User, UserKind};
use crate::state::{App, State};

/// Time in which a code must be exchanged.
const CODE_LIFETIME: Duration = Duration::from_hours(1);

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
    pub(crate) default_permissions: BTreeMap<String, String>,
    #[serde(default)]
    default_events: Vec<String>,
}

/// The webhook in a manifest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hook {
    url: Option<String>,
    #[serde(default = "active")]
    active: bool,
    secret: Option<Value>,
}

fn active() -> bool {
    true
}

/// An App that was registered and whose code was not exchanged yet.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    manifest: Manifest,
    owner: User,
    created: DateTime<Utc>,
}

/// The credentials of a new App, which only the exchange of its code returns.
pub(crate) struct Credentials {
    pub(crate) private_pem: SecretString,
    pub(crate) webhook_secret: SecretString,
    pub(crate) client_secret: SecretString,
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
fn slug(name: &str) -> String {
    let parts = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

fn random(length: usize) -> String {
    let letters = rand::rng().sample_iter(Alphanumeric).take(length);
    letters.map(char::from).collect()
}

impl State {
    /// Registers an App and returns the code for its credentials.
    pub(crate) fn register_app(&mut self, manifest: Manifest, owner: User) -> String {
        let code = random(40).to_lowercase();
        let registration = Registration {
            manifest,
            owner,
            created: self.now(),
        };
        self.registrations.insert(code.clone(), registration);
        code
    }

    /// Exchanges a code for the credentials of its App, which takes the place of the simulator's
    /// App. Returns `None` if the code is unknown, too old or was exchanged already.
    pub(crate) fn exchange_code(&mut self, code: &str) -> Option<Result<Credentials>> {
        let registration = self.registrations.remove(code)?;
        (self.now() < registration.created + CODE_LIFETIME).then(|| self.replace_app(registration))
    }

    fn replace_app(&mut self, registration: Registration) -> Result<Credentials> {
        let Registration {
            manifest, owner, ..
        } = registration;
        let keys = AppKeys::generate()?;
        let slug = slug(&manifest.name);
        let bot = self.user_or_new(&format!("{slug}[bot]"), UserKind::Bot);
        let mut permissions = manifest.default_permissions;
        permissions.insert("metadata".to_owned(), "read".to_owned());
        let credentials = Credentials {
            private_pem: keys.private_pem,
            webhook_secret: SecretString::from(random(40).to_lowercase()),
            client_secret: SecretString::from(random(40).to_lowercase()),
        };
        self.app = App {
            id: self.new_id(),
            slug,
            public_pem: keys.public_pem,
            owner,
            bot,
            permissions,
            events: manifest.default_events,
            created: self.now(),
        };
        self.installations.clear();
        self.tokens.clear();
        let hook = manifest.hook_attributes.filter(|hook| hook.active);
        self.webhook.targets = hook.and_then(|hook| hook.url).into_iter().collect();
        self.webhook.secret = credentials.webhook_secret.expose_secret().into();
        Ok(credentials)
    }

    /// Installs the App in repositories of one account, which is the App's owner if there are none,
    /// and returns the installation's id.
    pub(crate) fn install_app(&mut self, repositories: BTreeSet<u64>) -> Result<u64> {
        let account = match repositories.first() {
            Some(id) => self.repository(*id)?.owner.clone(),
            None => self.app.owner.clone(),
        };
        let foreign = repositories
            .iter()
            .filter_map(|id| self.repositories.get(id))
            .find(|repository| repository.owner.id != account.id);
        if let Some(repository) = foreign {
            return Err(SimulatorError::missing(format_args!(
                "repository {} of {}",
                repository.name, account.login
            )));
        }
        let id = self.new_id();
        let now = self.now();
        let installation = Installation {
            id,
            account: account.clone(),
            repositories,
            permissions: self.app.permissions.clone(),
            suspended: None,
            created: now,
            updated: now,
        };
        self.installations.insert(id, installation);
        self.emit_installation(&Actor::person(account), id, "created")?;
        Ok(id)
    }
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
