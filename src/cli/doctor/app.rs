//! Checks of the connection to GitHub, and of the App as it is registered there.

use url::Url;

use super::report::{Report, split};
use crate::adapters::github::{GitHub, RegisteredApp};
use crate::cli::trouble;
use crate::config::Loaded;
use crate::engine::app_needs::{missing_events, missing_permissions};
use crate::engine::clock::Clock;
use crate::engine::forge::ForgeError;

/// Difference of the clocks from which on a warning is given, in milliseconds.
const SKEW_WARNING: u64 = 30_000;

/// Difference of the clocks from which on an error is reported, in milliseconds: how far GitHub
/// accepts tokens to be dated back.
const SKEW_ERROR: u64 = 60_000;

/// Environment variables in which programs look for a proxy, in lower case.
const PROXIES: [&str; 3] = ["https_proxy", "http_proxy", "all_proxy"];

/// Checks the connection and the App. Returns the App if GitHub confirmed it.
pub(super) async fn examine(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    clock: &dyn Clock,
) -> Option<RegisteredApp> {
    let config = &loaded.config.github;
    let app = match github.registered_app().await {
        Ok(app) => app,
        Err(error) => {
            refused(report, loaded, &error);
            if !matches!(
                error,
                ForgeError::Unreachable { .. } | ForgeError::Unknown { .. }
            ) {
                clocks(report, github.time().0.saturating_sub(clock.now().0));
            }
            return None;
        }
    };
    report.ok("github", format!("{} answers", config.api_url));
    clocks(report, github.time().0.saturating_sub(clock.now().0));
    report.ok(
        "github.app",
        format!("the key belongs to the App {} (id {})", app.slug, app.id),
    );
    if let Some(configured) = &config.app_slug
        && !configured.eq_ignore_ascii_case(&app.slug)
    {
        report.warning(
            "github.slug",
            format!(
                "github.app_slug is `{configured}`, but the App is called `{}`",
                app.slug
            ),
            format!("set github.app_slug to `{}`, or leave it out", app.slug),
        );
    }
    needs(report, &app);
    Some(app)
}

fn needs(report: &mut Report, app: &RegisteredApp) {
    let missing = missing_permissions(&app.permissions);
    for one in &missing {
        let held = app.permissions.get(one.name);
        report.error(
            "github.permissions",
            format!(
                "the App has {} for `{}`, but needs `{}`: {}",
                held.map_or("no access".to_owned(), |held| format!("`{held}`")),
                one.name,
                one.access,
                one.purpose
            ),
            format!(
                "on the App's settings page, under Permissions & events, set `{}` to `{}`; then the owner of each installation has to accept it",
                one.name, one.access
            ),
        );
    }
    if missing.is_empty() {
        report.ok("github.permissions", "the App has the permissions it needs");
    }
    let missing = missing_events(&app.events);
    for one in &missing {
        report.error(
            "github.events",
            format!(
                "the App is not subscribed to `{}`: {} do not arrive",
                one.name, one.purpose
            ),
            format!(
                "on the App's settings page, under Permissions & events, subscribe to `{}`",
                one.name
            ),
        );
    }
    if missing.is_empty() {
        report.ok(
            "github.events",
            "the App is subscribed to the events it needs",
        );
    }
}

/// Adds why GitHub did not confirm the App.
fn refused(report: &mut Report, loaded: &Loaded, error: &ForgeError) {
    let config = &loaded.config.github;
    let url = &config.api_url;
    match error {
        ForgeError::Unreachable { message, .. } => {
            let seen = format!("GitHub cannot be reached at {url}: {message}");
            report.error("github", seen, connection_remedy(message, url, &proxies()));
        }
        ForgeError::Unknown { message, .. } => {
            let seen = format!("GitHub at {url} sent no usable response: {message}");
            let remedy = if message.contains("no answer within") {
                connection_remedy(message, url, &proxies())
            } else {
                "try again later; https://www.githubstatus.com tells about outages of github.com"
                    .to_owned()
            };
            report.error("github", seen, remedy);
        }
        ForgeError::Rejected { status: 407, .. } => {
            let seen = format!("a proxy between this computer and {url} asks for a password");
            report.error("github", seen, direct(url));
        }
        _ => {
            let text = trouble::at_start(error, url, config.app_id);
            let (seen, remedy) = split(&text, "; ", "wait until then");
            let name = if trouble::is_final(error) {
                "github.app"
            } else {
                "github"
            };
            report.error(name, seen, remedy);
        }
    }
}

/// Returns the names of the variables that name a proxy.
fn proxies() -> Vec<String> {
    let set = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let name = name.into_string().ok()?;
        let known = PROXIES.contains(&name.to_ascii_lowercase().as_str());
        (known && !value.is_empty()).then_some(name)
    };
    std::env::vars_os().filter_map(set).collect()
}

fn direct(url: &Url) -> String {
    format!(
        "let this computer connect to {} directly; planwright uses no proxy for GitHub",
        target(url)
    )
}

/// Returns the host and the port of the address.
fn target(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// Returns what to do about a connection that failed with this message. `proxies` are the variables
/// that name a proxy.
fn connection_remedy(message: &str, url: &Url, proxies: &[String]) -> String {
    let has = |text: &str| message.contains(text);
    let host = url.host_str().unwrap_or_default();
    if has("UnknownIssuer") {
        return format!(
            "this computer does not trust the authority that issued the certificate of {host}, e.g. a company's proxy or a \
             private authority: add the authority's certificate to the system's trust store (update-ca-certificates), or name \
             its file in SSL_CERT_FILE"
        );
    }
    if has("CaUsedAsEndEntity") {
        return format!(
            "{host} uses the certificate of an authority as its own: issue it a certificate of its own (CA:FALSE) and let \
             this computer trust the authority"
        );
    }
    if has("Expired") || has("NotValidYet") || has("expired") {
        return format!(
            "set this computer's clock if it is wrong; otherwise the certificate of {host} has to be renewed"
        );
    }
    if has("NotValidForName") || has("not valid for name") {
        return format!(
            "the certificate is for another name than {host}: set github.api_url to the name that the server has"
        );
    }
    if has("InvalidContentType") || has("corrupt message") {
        return format!(
            "{} does not speak TLS: check the scheme and the port of github.api_url",
            target(url)
        );
    }
    let remedy = if has("dns error") || has("lookup") {
        format!("check the spelling of {host} in github.api_url, and this computer's name servers")
    } else if has("refused") {
        format!(
            "nothing listens at {}: check github.api_url and the firewall",
            target(url)
        )
    } else {
        format!(
            "check the network, the firewall and github.api_url: this computer must be able to connect to {}",
            target(url)
        )
    };
    if proxies.is_empty() {
        return remedy;
    }
    format!(
        "{remedy}; {} is set, but planwright uses no proxy for GitHub: let this computer connect directly",
        proxies.join(", ")
    )
}

/// Compares the clocks: GitHub's minus ours, in milliseconds.
fn clocks(report: &mut Report, ahead: i64) {
    let differs = ahead.unsigned_abs();
    let direction = if ahead > 0 { "behind" } else { "ahead of" };
    let seen = format!(
        "this computer's clock is {} s {direction} GitHub's",
        differs / 1000
    );
    let remedy = "synchronise the clock with NTP (timedatectl set-ntp true)";
    if differs > SKEW_ERROR {
        report.error(
            "github.clock",
            format!("{seen}, and GitHub refuses tokens with such times"),
            remedy,
        );
    } else if differs > SKEW_WARNING {
        report.warning(
            "github.clock",
            format!("{seen}; GitHub refuses tokens from 60 s on"),
            remedy,
        );
    } else {
        report.ok(
            "github.clock",
            format!("it differs from GitHub's by {} s", differs / 1000),
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn each_failure_of_a_connection_has_its_remedy() {
        let url = Url::parse("https://github.example/api/v3").unwrap();
        for (message, remedy) in [
            (
                "client error (Connect): invalid peer certificate: UnknownIssuer",
                "this computer does not trust the authority that issued the certificate of github.example, e.g. a company's \
                 proxy or a private authority: add the authority's certificate to the system's trust store \
                 (update-ca-certificates), or name its file in SSL_CERT_FILE",
            ),
            (
                "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
                "github.example uses the certificate of an authority as its own: issue it a certificate of its own (CA:FALSE) \
                 and let this computer trust the authority",
            ),
            (
                "invalid peer certificate: certificate expired: verification time 1 (UNIX), but certificate is not valid after 0",
                "set this computer's clock if it is wrong; otherwise the certificate of github.example has to be renewed",
            ),
            (
                "invalid peer certificate: certificate not valid for name \"github.example\"",
                "the certificate is for another name than github.example: set github.api_url to the name that the server has",
            ),
            (
                "received corrupt message of type InvalidContentType",
                "github.example:443 does not speak TLS: check the scheme and the port of github.api_url",
            ),
            (
                "dns error: failed to lookup address information: Name or service not known",
                "check the spelling of github.example in github.api_url, and this computer's name servers",
            ),
            (
                "tcp connect error: Connection refused (os error 111)",
                "nothing listens at github.example:443: check github.api_url and the firewall",
            ),
            (
                "no answer within 10000 ms",
                "check the network, the firewall and github.api_url: this computer must be able to connect to github.example:443",
            ),
        ] {
            assert_eq!(connection_remedy(message, &url, &[]), remedy);
        }
        assert_eq!(
            connection_remedy("Connection refused", &url, &["HTTPS_PROXY".to_owned()]),
            "nothing listens at github.example:443: check github.api_url and the firewall; HTTPS_PROXY is set, but \
             planwright uses no proxy for GitHub: let this computer connect directly"
        );
    }

    #[test]
    fn clocks_may_differ_a_little() {
        let said = |ahead| {
            let mut report = Report::default();
            clocks(&mut report, ahead);
            report.to_string()
        };
        let expect = |ahead, text: &str| {
            let said = said(ahead);
            assert!(said.starts_with(text), "{said}");
        };
        expect(
            30_000,
            "ok       github.clock: it differs from GitHub's by 30 s\n",
        );
        expect(
            -31_000,
            "warning  github.clock: this computer's clock is 31 s ahead of GitHub's; ",
        );
        expect(
            3_600_000,
            "error    github.clock: this computer's clock is 3600 s behind GitHub's, and GitHub refuses tokens",
        );
    }
}
