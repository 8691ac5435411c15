//! Selects a person's GitHub token. It is read only from the environment and sent only to the
//! server that it belongs to.

use std::net::IpAddr;

use secrecy::SecretString;
use url::{Host, Url};

use super::Loaded;
use super::error::ConfigError;
use super::layers::{Sources, USER_TOKEN_VARIABLE};
use super::origin::Origin;

/// Variables of GitHub Actions and of `gh`, in order of precedence. Their tokens are meant for
/// [`GITHUB_API`] or for the API in [`ACTIONS_API`].
pub(super) const COMMON: [&str; 2] = ["GITHUB_TOKEN", "GH_TOKEN"];
/// The API's address, set by GitHub Actions, also on GitHub Enterprise Server.
const ACTIONS_API: &str = "GITHUB_API_URL";
const GITHUB_API: &str = "https://api.github.com";

/// A token, or the reason why there is none.
#[derive(Debug, Default)]
pub struct UserToken {
    /// The token and the variable that it came from.
    pub token: Option<(SecretString, &'static str)>,
    /// A warning that the token is not sent.
    pub warning: Option<String>,
}

/// Returns the token for `github.api_url`: `PLANWRIGHT_TOKEN`, else `GITHUB_TOKEN`, else
/// `GH_TOKEN`.
///
/// The last two are sent only to the GitHub instance that they belong to. No token is sent to a
/// different address that is set in the `planwright.toml` of the working directory: that file may
/// come from a cloned repository, which must not be able to collect tokens.
///
/// # Errors
/// Returns an error if the token would be sent unencrypted.
pub fn user_token(sources: &Sources, loaded: &Loaded) -> Result<UserToken, ConfigError> {
    let api_url = &loaded.config.github.api_url;
    let value = |name: &str| {
        let value = sources.environment.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    };
    let held = |name: &'static str| Some((name, value(name)?));
    let common = || COMMON.into_iter().find_map(held);
    let Some((name, token)) = held(USER_TOKEN_VARIABLE).or_else(common) else {
        return Ok(UserToken::default());
    };
    let homes = [Some(GITHUB_API), value(ACTIONS_API)];
    let home = homes
        .into_iter()
        .flatten()
        .filter_map(|home| Url::parse(home).ok())
        .any(|home| same(&home, api_url));
    let warning = if home {
        None
    } else {
        withheld(name, api_url, found_file(sources, loaded))
    };
    if warning.is_some() {
        return Ok(UserToken {
            token: None,
            warning,
        });
    }
    if api_url.scheme() != "https" && !is_this_machine(api_url) {
        return Err(ConfigError::Secret {
            place: name.to_owned(),
            why: format!("is not sent to {api_url} in the clear; write https in github.api_url"),
        });
    }
    Ok(UserToken {
        token: Some((SecretString::from(token), name)),
        warning: None,
    })
}

/// Returns path and origin of the address if it is set in a file that the user did not name.
fn found_file<'a>(sources: &Sources, loaded: &'a Loaded) -> Option<(&'a str, &'a Origin)> {
    match loaded.origin("github.api_url") {
        Some(origin @ Origin::File { path, .. }) if !sources.file_named => Some((path, origin)),
        _ => None,
    }
}

/// Returns why the token in `name` is not sent, and how to allow it. `file` is the result of
/// [`found_file`]. The advice does not repeat the address, because users would paste it into a
/// shell.
fn withheld(name: &str, api_url: &Url, file: Option<(&str, &Origin)>) -> Option<String> {
    match (file, name == USER_TOKEN_VARIABLE) {
        (None, true) => None,
        (None, false) => Some(format!(
            "{name} is not sent to {api_url}, as it may be for github.com; set {USER_TOKEN_VARIABLE} to a token of that server"
        )),
        (Some((path, origin)), true) => Some(format!(
            "{name} is not sent to {api_url}, which {origin} of this folder names; if that is your server, allow it with \
             --config {path} or --set github.api_url=…"
        )),
        (Some((path, origin)), false) => Some(format!(
            "{name} is not sent to {api_url}, which {origin} of this folder names; if that is your server, allow it with \
             --config {path} or --set github.api_url=…, and set {USER_TOKEN_VARIABLE} to a token of that server"
        )),
    }
}

fn same(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
        && one.path().trim_end_matches('/') == other.path().trim_end_matches('/')
}

/// Returns whether the address is on the loopback interface.
pub(super) fn is_this_machine(url: &Url) -> bool {
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
    use crate::config::load;

    fn environment(environment: &[(&str, &str)]) -> Sources {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Sources {
            environment: environment.collect(),
            ..Sources::default()
        }
    }

    fn judge(sources: &Sources) -> Result<UserToken, ConfigError> {
        user_token(sources, &load(sources).unwrap())
    }

    fn ask(variables: &[(&str, &str)], api_url: &str) -> Result<UserToken, ConfigError> {
        let mut sources = environment(variables);
        sources.flags = vec![format!("github.api_url={api_url}")];
        judge(&sources)
    }

    /// Returns the variable, the token and the warning.
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

    /// Returns sources with the variables and with a `planwright.toml` that sets `github.api_url`.
    fn with_file(variables: &[(&str, &str)], api_url: &str, named: bool) -> Sources {
        let text = format!("[github]\napi_url = \"{api_url}\"\n");
        Sources {
            file: Some(("planwright.toml".to_owned(), text)),
            file_named: named,
            ..environment(variables)
        }
    }

    #[test]
    fn a_configuration_of_a_cloned_repository_collects_no_token() {
        for server in [
            "http://127.0.0.1:8452",
            "https://evil.example",
            "http://evil.example",
            "https://api.github.com.evil.example",
        ] {
            for from in 0..ALL.len() {
                let found = judge(&with_file(&ALL[from..=from], server, false)).unwrap();
                assert!(found.token.is_none(), "{server} {:?}", ALL[from]);
                assert!(found.warning.is_some(), "{server} {:?}", ALL[from]);
            }
        }
        let warning = |variables| {
            let sources = with_file(variables, "https://evil.example/$(id)", false);
            judge(&sources).unwrap().warning
        };
        assert_eq!(
            warning(&ALL).as_deref(),
            Some(
                "PLANWRIGHT_TOKEN is not sent to https://evil.example/$(id), which planwright.toml:2 of this folder names; if \
                 that is your server, allow it with --config planwright.toml or --set github.api_url=…"
            )
        );
        assert_eq!(
            warning(&ALL[..2]).as_deref(),
            Some(
                "GITHUB_TOKEN is not sent to https://evil.example/$(id), which planwright.toml:2 of this folder names; if \
                 that is your server, allow it with --config planwright.toml or --set github.api_url=…, and set \
                 PLANWRIGHT_TOKEN to a token of that server"
            )
        );
        assert_eq!(warning(&[]), None);
    }

    #[test]
    fn whoever_names_the_server_gets_the_token_sent_there() {
        let server = "https://ghe.example/api/v3";
        let own = |sources: &Sources| {
            let found = judge(sources).unwrap();
            found.warning.is_none()
                && found
                    .token
                    .is_some_and(|(_, name)| name == USER_TOKEN_VARIABLE)
        };
        assert!(!own(&with_file(&ALL, server, false)));
        assert!(own(&with_file(&ALL, server, true)));
        let mut flag = with_file(&ALL, "https://evil.example", false);
        flag.flags = vec![format!("github.api_url={server}")];
        assert!(own(&flag));
        let mut variable = with_file(&ALL, "https://evil.example", false);
        let name = "PLANWRIGHT_GITHUB_API_URL".to_owned();
        variable.environment.insert(name, server.to_owned());
        assert!(own(&variable));
        // The file repeats the default.
        assert!(own(&with_file(&ALL, GITHUB_API, false)));
        let mut actions = with_file(&ALL[1..2], server, false);
        let name = ACTIONS_API.to_owned();
        actions.environment.insert(name, server.to_owned());
        assert!(judge(&actions).unwrap().token.is_some());
        // A file that does not set `github.api_url` changes nothing.
        let mut silent = environment(&ALL);
        silent.file = Some((
            "planwright.toml".to_owned(),
            "[worker]\nconcurrency = 2\n".to_owned(),
        ));
        assert!(own(&silent));
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
