//! The token of a person who reads plans: from the environment only, and only for where it belongs.

use std::net::IpAddr;

use secrecy::SecretString;
use url::{Host, Url};

use super::error::ConfigError;
use super::layers::Sources;

/// Our own variable: its token goes to whatever `github.api_url` says.
pub(super) const OWN: &str = "PLANWRIGHT_TOKEN";
/// Variables of GitHub Actions and of `gh`, in this order. Their tokens are meant for [`GITHUB_API`], or for the API that
/// [`ACTIONS_API`] names.
const COMMON: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];
/// Set by GitHub Actions, also on GitHub Enterprise Server.
const ACTIONS_API: &str = "GITHUB_API_URL";
const GITHUB_API: &str = "https://api.github.com";

/// Variables without our prefix that are looked at.
pub(super) const FOREIGN: [&str; 3] = [COMMON[0], COMMON[1], ACTIONS_API];

/// A token, or why there is none.
#[derive(Debug, Default)]
pub struct UserToken {
    /// The token and the variable it came from.
    pub token: Option<(SecretString, &'static str)>,
    /// Something that is probably not meant.
    pub warning: Option<String>,
}

/// The token for reading at `api_url`: `PLANWRIGHT_TOKEN`, else `GITHUB_TOKEN`, else `GH_TOKEN`. The last two are not
/// sent anywhere but to the GitHub they belong to: a configuration file in some folder must not be able to collect them.
///
/// # Errors
/// The token would be sent in the clear.
pub fn user_token(sources: &Sources, api_url: &Url) -> Result<UserToken, ConfigError> {
    let value = |name: &str| {
        let value = sources.environment.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    };
    let mut found = UserToken::default();
    let common = || {
        let name = COMMON.into_iter().find(|name| value(name).is_some())?;
        Some((name, value(name)?))
    };
    let (name, token) = match value(OWN) {
        Some(token) => (OWN, token),
        None => match common() {
            None => return Ok(found),
            Some((name, token)) => {
                let homes = [Some(GITHUB_API), value(ACTIONS_API)];
                let home = homes
                    .into_iter()
                    .flatten()
                    .filter_map(|home| Url::parse(home).ok())
                    .any(|home| same(&home, api_url));
                if !home {
                    found.warning = Some(format!(
                        "{name} is not sent to {api_url}, as it may be for github.com; set {OWN} to a token of that server"
                    ));
                    return Ok(found);
                }
                (name, token)
            }
        },
    };
    if api_url.scheme() != "https" && !is_this_machine(api_url) {
        return Err(ConfigError::Secret {
            place: name.to_owned(),
            why: format!("is not sent to {api_url} in the clear; write https in github.api_url"),
        });
    }
    found.token = Some((SecretString::from(token), name));
    Ok(found)
}

fn same(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
        && one.path().trim_end_matches('/') == other.path().trim_end_matches('/')
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use secrecy::ExposeSecret;

    use super::*;

    fn ask(environment: &[(&str, &str)], api_url: &str) -> Result<UserToken, ConfigError> {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let sources = Sources {
            environment: environment.collect(),
            ..Sources::default()
        };
        user_token(&sources, &Url::parse(api_url).unwrap())
    }

    /// Variable, token and warning.
    fn found(
        environment: &[(&str, &str)],
        api_url: &str,
    ) -> (Option<(&'static str, String)>, Option<String>) {
        let found = ask(environment, api_url).unwrap();
        let token = found
            .token
            .map(|(token, name)| (name, token.expose_secret().to_owned()));
        (token, found.warning)
    }

    const ALL: [(&str, &str); 3] = [
        ("GH_TOKEN", "gh"),
        ("GITHUB_TOKEN", "actions"),
        ("PLANWRIGHT_TOKEN", "own\n"),
    ];

    #[test]
    fn the_first_of_three_variables_counts() {
        let token = |name, text: &str| (Some((name, text.to_owned())), None);
        assert_eq!(found(&[], GITHUB_API), (None, None));
        assert_eq!(found(&ALL, GITHUB_API), token("PLANWRIGHT_TOKEN", "own"));
        assert_eq!(
            found(&ALL[..2], "https://api.github.com/"),
            token("GITHUB_TOKEN", "actions")
        );
        assert_eq!(found(&ALL[..1], GITHUB_API), token("GH_TOKEN", "gh"));
        assert_eq!(
            found(&[("GITHUB_TOKEN", " "), ("GH_TOKEN", "gh")], GITHUB_API),
            token("GH_TOKEN", "gh")
        );
    }

    #[test]
    fn a_token_for_github_goes_nowhere_else() {
        let server = "https://ghe.example/api/v3";
        assert_eq!(
            found(&ALL[..2], server),
            (
                None,
                Some("GITHUB_TOKEN is not sent to https://ghe.example/api/v3, as it may be for github.com; set PLANWRIGHT_TOKEN to a token of that server".to_owned())
            )
        );
        let actions = [("GITHUB_API_URL", server), ALL[1]];
        assert_eq!(
            found(&actions, server),
            (Some(("GITHUB_TOKEN", "actions".to_owned())), None)
        );
        assert_eq!(
            found(&ALL, server).0,
            Some(("PLANWRIGHT_TOKEN", "own".to_owned()))
        );
        assert!(
            found(&ALL[..2], "https://api.github.com.evil.example")
                .0
                .is_none()
        );
    }

    #[test]
    fn no_token_goes_out_in_the_clear() {
        for (url, allowed) in [
            ("http://ghe.example/api/v3", false),
            ("http://127.0.0.1:4000", true),
            ("http://[::1]:4000", true),
            ("http://localhost:4000", true),
            ("http://127.0.0.1.evil.example", false),
        ] {
            assert_eq!(ask(&ALL, url).is_ok(), allowed, "{url}");
        }
        let error = ask(&ALL, "http://ghe.example/api/v3").unwrap_err();
        assert_eq!(
            error.to_string(),
            "PLANWRIGHT_TOKEN: is not sent to http://ghe.example/api/v3 in the clear; write https in github.api_url"
        );
    }
}
