//! The hosts that agents may reach, and how their programs are told to use the runner's proxy.

use std::sync::Arc;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use secrecy::{ExposeSecret, SecretString};

use super::sandbox::{active, network_gap};
use crate::engine::settings::SandboxMode;
use crate::engine::settings::hosts::AllowedHost;

/// The variables in which programs look for a proxy, in lower case: for HTTPS, for plain HTTP, and
/// for both. Programs know them in upper case, too.
const PROXIES: [&str; 3] = ["https_proxy", "http_proxy", "all_proxy"];

/// The variable that names hosts for which no proxy is used, in lower case.
const NO_PROXY: &str = "no_proxy";

/// What agents may reach if they are confined to their model: some hosts, through the runner's
/// proxy.
#[derive(Debug, Clone)]
pub struct ModelNetwork {
    /// The hosts.
    pub(super) hosts: Vec<AllowedHost>,
    /// The operator's own proxies, which the runner's proxy uses.
    pub(super) upstream: Option<Arc<Matcher>>,
}

/// A proxy of the operator cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name}, which agent.environment passes on, does not name a proxy of the form \
     http://HOST:PORT, the only kind that agents can be given if they may reach nothing but their \
     model: change it, or set agent.network to \"open\""
)]
pub struct UnusableProxy {
    /// The name of the variable. Its value may hold a password.
    name: String,
}

impl ModelNetwork {
    /// Allows `hosts`. `environment` is what the operator passes to agents: a proxy in it is used
    /// by the runner's own proxy, with the exceptions of `NO_PROXY`.
    ///
    /// # Errors
    /// A variable does not name an HTTP proxy.
    pub fn new(
        hosts: Vec<AllowedHost>,
        environment: &[(String, SecretString)],
    ) -> Result<Self, UnusableProxy> {
        let value = |wanted: &str| {
            environment
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
                .map(|(name, value)| (name, value.expose_secret().trim()))
                .find(|(_, value)| !value.is_empty())
        };
        let mut found = PROXIES.map(value).into_iter().flatten();
        if let Some((name, _)) = found.find(|(_, value)| !is_http_proxy(value)) {
            return Err(UnusableProxy { name: name.clone() });
        }
        let text = |wanted| value(wanted).map_or(String::new(), |(_, value)| value.to_owned());
        let [https, http, all] = PROXIES.map(text);
        let any = [&https, &http, &all].iter().any(|value| !value.is_empty());
        let upstream = any.then(|| {
            let matcher = Matcher::builder().https(https).http(http).all(all);
            Arc::new(matcher.no(text(NO_PROXY)).build())
        });
        Ok(Self { hosts, upstream })
    }
}

/// Describes what agents can reach: the hosts, and what is not enforced on this computer.
pub fn describe(network: Option<&ModelNetwork>, sandbox: SandboxMode) -> String {
    let Some(network) = network else {
        return "open".to_owned();
    };
    let hosts: Vec<String> = network.hosts.iter().map(ToString::to_string).collect();
    let hosts = hosts.join(", ");
    match network_gap(sandbox, &active(sandbox)) {
        None => format!("{hosts} only"),
        Some(gap) => format!("{hosts} only, which is not fully enforced: {gap}"),
    }
}

/// Whether `value` is `http://HOST:PORT`, perhaps with credentials, or without the scheme.
fn is_http_proxy(value: &str) -> bool {
    let Ok(uri) = value.parse::<Uri>() else {
        return false;
    };
    let scheme = uri.scheme_str().unwrap_or("http");
    scheme.eq_ignore_ascii_case("http") && uri.host().is_some_and(|host| !host.is_empty())
}

/// Makes the program that gets `environment` use the proxy at `url` for everything. The operator's
/// own proxies, which may hold a password, are taken out.
pub(super) fn use_proxy(environment: &mut Vec<(String, SecretString)>, url: &SecretString) {
    let known = |name: &str| {
        PROXIES
            .iter()
            .chain([&NO_PROXY])
            .any(|known| *known == name)
    };
    environment.retain(|(name, _)| !known(&name.to_ascii_lowercase()));
    for name in ["https_proxy", "http_proxy"] {
        environment.push((name.to_owned(), url.clone()));
        environment.push((name.to_ascii_uppercase(), url.clone()));
    }
    // Without it, some programs make exceptions of their own, such as localhost.
    environment.push((NO_PROXY.to_owned(), "".into()));
    environment.push((NO_PROXY.to_ascii_uppercase(), "".into()));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, SecretString)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
            .collect()
    }

    #[test]
    fn proxies_that_are_no_http_proxies_are_refused_without_repeating_their_password() {
        for wrong in [
            "socks5://u:hush@h:1",
            "https://u:hush@h:1",
            "http://",
            "/path",
            "http://a b",
        ] {
            let given = environment(&[("LANG", "C"), ("https_PROXY", wrong)]);
            assert_eq!(
                ModelNetwork::new(Vec::new(), &given)
                    .unwrap_err()
                    .to_string(),
                "https_PROXY, which agent.environment passes on, does not name a proxy of the form \
                 http://HOST:PORT, the only kind that agents can be given if they may reach \
                 nothing but their model: change it, or set agent.network to \"open\""
            );
        }
        for right in ["http://u:hush@h:1", "h:1", "HTTP://h:1/", "http://[::1]:1"] {
            let given = environment(&[("ALL_PROXY", right), ("HTTP_PROXY", "")]);
            let network = ModelNetwork::new(Vec::new(), &given).unwrap();
            assert!(network.upstream.is_some(), "{right}");
            assert!(!format!("{network:?}").contains("hush"));
        }
        let none = environment(&[("HTTPS_PROXY", ""), ("NO_PROXY", "*")]);
        let network = ModelNetwork::new(Vec::new(), &none).unwrap();
        assert!(network.upstream.is_none());
    }

    #[test]
    fn a_program_is_told_the_runners_proxy_in_place_of_every_other() {
        let mut given = environment(&[
            ("HTTPS_PROXY", "http://agent:hush@h:1"),
            ("All_Proxy", "http://agent:hush@h:1"),
            ("no_proxy", "*"),
            ("MODEL_KEY", "the key"),
        ]);
        use_proxy(&mut given, &"http://turn:1@127.0.0.1:2".into());
        let mut lines: Vec<String> = given
            .iter()
            .map(|(name, value)| format!("{name}={}", value.expose_secret()))
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "HTTPS_PROXY=http://turn:1@127.0.0.1:2",
                "HTTP_PROXY=http://turn:1@127.0.0.1:2",
                "MODEL_KEY=the key",
                "NO_PROXY=",
                "http_proxy=http://turn:1@127.0.0.1:2",
                "https_proxy=http://turn:1@127.0.0.1:2",
                "no_proxy=",
            ]
        );
    }
}
