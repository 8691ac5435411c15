//! The manifest from which GitHub creates the App
//! (<https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>).

use serde::Serialize;
use serde_json::{Map, Value};
use url::{Host, Url};

use super::app_needs::{EVENTS, PERMISSIONS};

/// Maximum length of an App's name, in characters
/// (<https://docs.github.com/en/apps/creating-github-apps/registering-a-github-app/registering-a-github-app>).
const MAX_NAME: usize = 34;

const HOMEPAGE: &str = "https://github.com/planwright/planwright";

const DESCRIPTION: &str = "Saves implementation plans from conversations as issues: comment /save-plan on an issue or a pull request.";

/// An address to which GitHub cannot deliver. GitHub refuses a webhook without an address, and it is
/// not known whether it logs deliveries of one that is not active. The top-level domain is reserved for names that never
/// resolve (RFC 2606), so that no deliveries reach anybody.
const NOWHERE: &str = "https://planwright.invalid";

/// Path to which GitHub sends the browser after a login, below the bot's public address.
pub const LOGIN_CALLBACK: &str = "/ui/login/github/callback";

/// What differs between the Apps of two installations of the bot.
#[derive(Debug, Clone)]
pub struct ManifestOptions<'a> {
    /// Name of the App, unique on GitHub; its user may change it while creating the App.
    pub name: &'a str,
    /// Root of the bot's public address; `None` if GitHub cannot reach the bot.
    pub url: Option<&'a Url>,
    /// Path of the webhook endpoint, e.g. `/webhook`.
    pub webhook_path: &'a str,
    /// Where GitHub sends the browser after it created the App.
    pub redirect_url: &'a Url,
}

/// The reason why GitHub would refuse a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The name is empty or too long.
    #[error(
        "the App's name `{name}` has {count} characters; GitHub takes 1 to {MAX_NAME}: choose another with --name"
    )]
    Name {
        /// The name.
        name: String,
        /// Its length.
        count: usize,
    },
    /// GitHub cannot reach the webhook.
    #[error(
        "GitHub refuses {url} for the webhook, because {why}; give an https address that GitHub can reach with --url, or \
         omit it for the transport `pull`"
    )]
    Unreachable {
        /// The address.
        url: String,
        /// Why.
        why: &'static str,
    },
}

/// The manifest of an App.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manifest {
    name: String,
    url: &'static str,
    description: &'static str,
    hook_attributes: HookAttributes,
    redirect_url: String,
    /// Where GitHub may send people after a login.
    callback_urls: Vec<String>,
    public: bool,
    request_oauth_on_install: bool,
    default_permissions: Map<String, Value>,
    default_events: [&'static str; 3],
}

/// The webhook. GitHub generates its secret and refuses one here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct HookAttributes {
    url: String,
    active: bool,
}

impl Manifest {
    /// Creates a manifest.
    ///
    /// # Errors
    /// GitHub would refuse it.
    pub fn new(options: &ManifestOptions<'_>) -> Result<Self, ManifestError> {
        let name = options.name.trim();
        let count = name.chars().count();
        if count == 0 || count > MAX_NAME {
            return Err(ManifestError::Name {
                name: name.to_owned(),
                count,
            });
        }
        if let Some(url) = options.url
            && let Some(why) = unreachable(url)
        {
            return Err(ManifestError::Unreachable {
                url: url.to_string(),
                why,
            });
        }
        let root = options.url.map_or(NOWHERE, Url::as_str);
        let permissions = PERMISSIONS.map(|one| (one.name.to_owned(), one.access.into()));
        Ok(Self {
            name: name.to_owned(),
            url: HOMEPAGE,
            description: DESCRIPTION,
            hook_attributes: HookAttributes {
                url: format!("{}{}", root.trim_end_matches('/'), options.webhook_path),
                active: true,
            },
            redirect_url: options.redirect_url.to_string(),
            callback_urls: options.url.map(callback_url).into_iter().collect(),
            public: false,
            request_oauth_on_install: false,
            default_permissions: permissions.into_iter().collect(),
            default_events: EVENTS.map(|event| event.name),
        })
    }
}

/// Returns the callback URL of the login: the pages are at the root of the host.
fn callback_url(url: &Url) -> String {
    format!("{}{LOGIN_CALLBACK}", url.origin().ascii_serialization())
}

/// Returns why GitHub cannot deliver to an address.
fn unreachable(url: &Url) -> Option<&'static str> {
    if url.scheme() != "https" {
        return Some("it is not encrypted");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Some("it has a query or a fragment");
    }
    let private = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            [".localhost", ".local", ".internal"]
                .iter()
                .any(|end| name.ends_with(end))
                || !name.contains('.')
        }
        Some(Host::Ipv4(address)) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
        }
        Some(Host::Ipv6(address)) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
        None => true,
    };
    private.then_some("it is an address of this computer or of a private network")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    fn manifest(name: &str, url: Option<&str>) -> Result<Value, String> {
        let url = url.map(|url| Url::parse(url).unwrap());
        let redirect_url = Url::parse("http://127.0.0.1:4000/setup/created").unwrap();
        let options = ManifestOptions {
            name,
            url: url.as_ref(),
            webhook_path: "/webhook",
            redirect_url: &redirect_url,
        };
        Manifest::new(&options)
            .map(|manifest| serde_json::to_value(manifest).unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_manifest_asks_for_what_the_bot_needs() {
        let found = manifest("planwright-acme", Some("https://bot.example.com/")).unwrap();
        assert_eq!(
            found,
            json!({
                "name": "planwright-acme",
                "url": HOMEPAGE,
                "description": DESCRIPTION,
                "hook_attributes": { "url": "https://bot.example.com/webhook", "active": true },
                "redirect_url": "http://127.0.0.1:4000/setup/created",
                "callback_urls": ["https://bot.example.com/ui/login/github/callback"],
                "public": false,
                "request_oauth_on_install": false,
                "default_permissions": {
                    "checks": "write", "contents": "read", "issues": "write", "metadata": "read",
                    "pull_requests": "write",
                },
                "default_events": ["issue_comment", "issues", "pull_request"],
            })
        );
        let found = manifest("planwright-acme", None).unwrap();
        assert_eq!(
            found["hook_attributes"],
            json!({ "url": "https://planwright.invalid/webhook", "active": true })
        );
        assert_eq!(found["callback_urls"], json!([]));
        let found = manifest("x", Some("https://example.com/planwright")).unwrap();
        let callback = "https://example.com/ui/login/github/callback";
        assert_eq!(found["callback_urls"], json!([callback]));
        let hook = &found["hook_attributes"]["url"];
        assert_eq!(hook, "https://example.com/planwright/webhook");
    }

    #[test]
    fn what_github_refuses_is_refused_first() {
        let long = "n".repeat(35);
        assert_eq!(
            manifest(&long, None).unwrap_err(),
            format!(
                "the App's name `{long}` has 35 characters; GitHub takes 1 to 34: choose another with --name"
            )
        );
        assert_eq!(
            manifest(" ", None).unwrap_err(),
            "the App's name `` has 0 characters; GitHub takes 1 to 34: choose another with --name"
        );
        let private = "it is an address of this computer or of a private network";
        for (url, why) in [
            ("http://bot.example.com/", "it is not encrypted"),
            ("https://localhost:8300/", private),
            ("https://bot/", private),
            ("https://a.localhost/", private),
            ("https://192.168.1.1/", private),
            ("https://[::1]/", private),
            ("https://[fd00::1]/", private),
            ("https://example.com/?a", "it has a query or a fragment"),
        ] {
            assert_eq!(
                manifest("x", Some(url)).unwrap_err(),
                format!(
                    "GitHub refuses {url} for the webhook, because {why}; give an https address that GitHub can reach with \
                     --url, or omit it for the transport `pull`"
                )
            );
        }
    }
}
