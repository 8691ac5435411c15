//! Checks of the way deliveries take from GitHub to the bot.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use http::HeaderMap;
use serde_json::Value;
use tokio::net::TcpListener;
use url::{Host, Url};

use super::installations::failed;
use super::report::Report;
use crate::adapters::github::{Attempt, GitHub, HookConfig, InstalledApp};
use crate::adapters::http::Client;
use crate::config::{Config, Loaded};
use crate::engine::model::time::Millis;

/// Time for which GitHub keeps its log of deliveries.
const KEPT: Duration = Duration::from_hours(72);

/// Time that GitHub may take to log a delivery.
const LOGGED_WITHIN: Duration = Duration::from_mins(2);

/// Time limit of a request to this computer.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Where a delivery can be sent again.
const REDELIVER: &str = "then press Redeliver on the App's settings page (Advanced, Recent Deliveries) and run doctor again";

/// Checks whether the address can be listened on, or the running bot answers there.
pub(super) async fn listening(report: &mut Report, config: &Config, in_use: bool) {
    let server = &config.server;
    let address = server.listen;
    if !server.transport.listens() {
        report.ok(
            "listen",
            "no address is needed, because server.transport is \"pull\"",
        );
        return;
    }
    match TcpListener::bind(address).await {
        Ok(_) if in_use && address.port() != 0 => report.warning(
            "listen",
            format!("a bot uses the database, but nobody listens at {address}"),
            "check that the bot runs with the same server.listen, which `serve --listen` overrides",
        ),
        Ok(_) => report.ok("listen", format!("{address} can be listened on")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            check_address_in_use(report, address).await;
        }
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::AddrNotAvailable => {
                    "it is not an address of this computer: set server.listen to 127.0.0.1:8300, or to 0.0.0.0:8300 in a container"
                }
                ErrorKind::PermissionDenied => {
                    "ports below 1024 need privileges: set server.listen to a higher port and let the reverse proxy forward to it"
                }
                _ => "set server.listen to another address",
            };
            report.error(
                "listen",
                format!("{address} cannot be listened on: {error}"),
                remedy,
            );
        }
    }
}

/// Checks whether the program that listens at the address is the bot.
async fn check_address_in_use(report: &mut Report, address: SocketAddr) {
    if request(address, "livez").await.as_deref() != Some("alive\n") {
        report.error(
            "listen",
            format!("another program listens at {address}"),
            "end it, or set server.listen to another port and let the reverse proxy forward to it",
        );
        return;
    }
    let ready = request(address, "readyz").await.unwrap_or_default();
    match not_ready(&ready) {
        None => report.ok("listen", format!("a bot is running at {address} and ready")),
        Some(why) => report.warning(
            "listen",
            format!("the bot at {address} is not ready: {why}"),
            "see its log (`not ready`); it tries again by itself",
        ),
    }
}

/// Returns why a bot is not ready according to the answer of its health check; `None` if it is.
fn not_ready(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    if answer["ready"] == true {
        return None;
    }
    let checks = answer["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let failed = checks.iter().filter(|check| check["ok"] == false);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let reasons: Vec<String> = failed
        .map(|check| match check["why"].as_str() {
            Some(why) => why.to_owned(),
            None => format!("its check `{}` fails", text(&check["name"])),
        })
        .collect();
    Some(if reasons.is_empty() {
        "its health check gives no reason".to_owned()
    } else {
        reasons.join("; ")
    })
}

/// Returns the body of the answer of the program that listens at the address.
async fn request(address: SocketAddr, path: &str) -> Option<String> {
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let url = format!("http://{}/{path}", SocketAddr::new(host, address.port()));
    let client = Client::new();
    let answer = client.get(&url, HeaderMap::new(), LOCAL_TIMEOUT).await;
    let answer = answer.ok()?;
    String::from_utf8(answer.body.into()).ok()
}

/// Checks the webhook as GitHub has it, and the last deliveries. `in_use` is whether a bot runs.
pub(super) async fn examine(
    report: &mut Report,
    loaded: &Loaded,
    github: &GitHub,
    installations: &[InstalledApp],
    in_use: bool,
) {
    let attempts = match github.last_attempts().await {
        Ok(attempts) => Some(attempts),
        Err(error) => {
            failed(report, loaded, "deliveries", &error);
            None
        }
    };
    let arrives = attempts.as_deref().is_some_and(|all| {
        let mut answered = all.iter().filter(|one| one.status_code != 0);
        answered.next().is_some_and(is_success)
    });
    match github.hook_config().await {
        Ok(hook) => configured(report, &loaded.config, hook.as_ref(), arrives),
        Err(error) => failed(report, loaded, "webhook", &error),
    }
    if let Some(attempts) = attempts {
        delivered(
            report,
            &loaded.config,
            &attempts,
            installations,
            github.time(),
            in_use,
        );
    }
}

fn is_success(attempt: &Attempt) -> bool {
    (200..300).contains(&attempt.status_code)
}

/// Judges the configuration. `arrives` is whether the last delivery was answered well.
fn configured(report: &mut Report, config: &Config, hook: Option<&HookConfig>, arrives: bool) {
    let url = hook.and_then(|hook| hook.url.as_deref());
    let url = url.and_then(|url| Url::parse(url).ok());
    let (Some(hook), Some(url)) = (hook, url) else {
        let host = "https://YOUR-HOST";
        report.error(
            "webhook",
            "the App has no webhook URL",
            format!(
                "on the App's settings page, tick Active under Webhook and set the URL to {host}{}; for server.transport \
                 \"pull\", any https address of yours will do",
                config.server.webhook_path
            ),
        );
        return;
    };
    if !config.server.transport.listens() {
        report.ok("webhook", format!("its URL is {url}"));
        return;
    }
    let before = report.len();
    let path = &config.server.webhook_path;
    if url.path() != path && !arrives {
        let mut right = url.clone();
        right.set_path(path);
        report.error(
            "webhook",
            format!(
                "its URL has the path {}, but the bot answers at {path}",
                url.path()
            ),
            format!(
                "set the webhook URL on the App's settings page to {right}, or server.webhook_path to {}",
                url.path()
            ),
        );
    }
    if hook.content_type.as_deref() != Some("json") {
        report.error(
            "webhook",
            format!(
                "its content type is `{}`, which the bot refuses with status 415",
                hook.content_type.as_deref().unwrap_or("form")
            ),
            "set it to application/json: `PATCH /app/hook/config` with `{\"content_type\": \"json\"}`",
        );
    }
    if !hook.has_secret() {
        report.error(
            "webhook",
            "it has no secret, so that GitHub does not sign deliveries and the bot refuses them with status 401",
            "set the secret of the configuration on the App's settings page",
        );
    }
    if !hook.verifies_certificate() {
        report.warning(
            "webhook",
            "GitHub does not verify the certificate of its URL",
            "on the App's settings page, enable SSL verification",
        );
    }
    let loopback = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    if url.scheme() != "https" && !loopback {
        report.warning(
            "webhook",
            format!("its URL, {url}, is not https: others can read the deliveries"),
            "put a reverse proxy with TLS in front of the bot, and set the URL to https on the App's settings page",
        );
    }
    if report.len() == before {
        report.ok("webhook", format!("its URL is {url}"));
    }
}

/// Judges the last attempts at deliveries, which are in the order of the log, the newest first.
fn delivered(
    report: &mut Report,
    config: &Config,
    attempts: &[Attempt],
    installations: &[InstalledApp],
    now: Millis,
    in_use: bool,
) {
    let answered: Vec<&Attempt> = attempts.iter().filter(|one| one.status_code != 0).collect();
    let Some(last) = answered.first() else {
        report_no_deliveries(report, installations, now);
        return;
    };
    let at = Millis::from(last.delivered_at).iso();
    if !config.server.transport.listens() {
        report.ok(
            "deliveries",
            format!("the log can be read; the last delivery was at {at}"),
        );
        return;
    }
    let failures = answered.iter().take_while(|one| !is_success(one)).count();
    if failures == 0 {
        let failed = answered.iter().filter(|one| !is_success(one)).count();
        report.ok(
            "deliveries",
            format!(
                "the last one, at {at}, was answered with {}; {failed} of the last {} failed",
                last.status_code,
                answered.len()
            ),
        );
        return;
    }
    let status = &last.status;
    let seen = format!(
        "the last {failures} of {} attempts failed, the last at {at} with {} ({status})",
        answered.len(),
        last.status_code
    );
    if !in_use && matches!(last.status_code, 502..=504) {
        report.skipped(
            "deliveries",
            format!("{seen}; the bot is not running"),
            Some(format!(
                "start it with `planwright serve`, {REDELIVER}; the deliveries that failed are picked up from the log"
            )),
        );
        return;
    }
    let remedy = delivery_remedy(last, config);
    report.error("deliveries", seen, format!("{remedy}; {REDELIVER}"));
}

/// Judges an empty log. GitHub always sends an event about an installation.
fn report_no_deliveries(report: &mut Report, installations: &[InstalledApp], now: Millis) {
    let recent = installations.iter().find(|one| {
        one.created_at.is_some_and(|created| {
            let age = now.since(created.into());
            age < KEPT && age > LOGGED_WITHIN
        })
    });
    match recent {
        Some(one) => report.error(
            "deliveries",
            format!(
                "GitHub's log has none, not even for the installation of {}",
                one.account()
            ),
            "on the App's settings page, tick Active under Webhook and check its URL",
        ),
        None => report.skipped(
            "deliveries",
            "GitHub's log of the last three days has none",
            Some(
                "comment in a repository of the App and run doctor again, or use --repo and --issue"
                    .to_owned(),
            ),
        ),
    }
}

/// Returns what to do about a delivery that failed.
fn delivery_remedy(attempt: &Attempt, config: &Config) -> String {
    let path = &config.server.webhook_path;
    let listen = config.server.listen;
    let status = attempt.status.to_ascii_lowercase();
    if status.contains("certificate") || status.contains("ssl") || status.contains("tls") {
        return "the certificate of the webhook URL is not valid for GitHub: renew it, and let the reverse proxy send the whole chain"
            .to_owned();
    }
    match attempt.status_code {
        300..=399 => "GitHub does not follow redirects: set the webhook URL to where they lead".to_owned(),
        401 => "set the same webhook secret in the App's settings and in the bot's configuration (webhook.secrets_file); if it \
                is the same, something in front of the bot changes the body"
            .to_owned(),
        403 => "something in front of the bot refuses GitHub: let its addresses in, which https://api.github.com/meta lists under \
                `hooks`, without a login"
            .to_owned(),
        404 | 405 => format!(
            "let the webhook URL end in {path} (server.webhook_path), and the reverse proxy forward that path unchanged"
        ),
        413 => "raise the reverse proxy's limit for bodies to 25 MiB (nginx: client_max_body_size 25m)".to_owned(),
        415 => "set the content type of the webhook to application/json".to_owned(),
        421 => "they belong to another App: compare github.app_id and the webhook URLs of your Apps".to_owned(),
        429 | 503 => "the bot, or something in front of it, had no room: see the bot's log, and raise server.max_connections or \
                      store.queue_depth"
            .to_owned(),
        502 if status.contains("invalid http response") => format!(
            "the reverse proxy cannot reach the bot: check that the bot runs, and that the proxy forwards to {listen}"
        ),
        502 => "nobody answers at the webhook URL: check its host name and port, the firewall and the reverse proxy".to_owned(),
        504 => "there was no answer within 10 s: check the firewall and the reverse proxy, and the bot's log for a slow disk"
            .to_owned(),
        _ => "see the answer on the App's settings page (Advanced, Recent Deliveries)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;
    use crate::config::{Sources, load};

    #[test]
    fn the_reason_of_a_bot_that_is_not_ready_is_taken_from_its_health_check() {
        let said = |answer: &Value| not_ready(&answer.to_string());
        assert_eq!(said(&json!({"ready": true, "checks": []})), None);
        let checks = json!([
            {"name": "store", "ok": false},
            {"name": "github", "ok": false, "why": "GitHub has not confirmed the App yet"},
            {"name": "other", "ok": true},
        ]);
        assert_eq!(
            said(&json!({"ready": false, "checks": checks})).unwrap(),
            "its check `store` fails; GitHub has not confirmed the App yet"
        );
        assert_eq!(not_ready("").unwrap(), "its health check gives no reason");
    }

    #[test]
    fn each_answer_to_a_delivery_has_its_remedy() {
        let config = load(&Sources::default()).unwrap().config;
        let said = |code: i64, status: &str| {
            let attempt: Attempt = serde_json::from_value(json!({
                "guid": "g", "delivered_at": "2026-11-23T10:00:00Z", "status_code": code, "status": status
            }))
            .unwrap();
            delivery_remedy(&attempt, &config)
        };
        for (code, status, remedy) in [
            (
                301,
                "Invalid HTTP Response: 301",
                "GitHub does not follow redirects",
            ),
            (
                401,
                "Invalid HTTP Response: 401",
                "set the same webhook secret",
            ),
            (
                403,
                "Invalid HTTP Response: 403",
                "https://api.github.com/meta",
            ),
            (
                404,
                "Invalid HTTP Response: 404",
                "end in /webhook (server.webhook_path)",
            ),
            (413, "Invalid HTTP Response: 413", "25 MiB"),
            (415, "Invalid HTTP Response: 415", "application/json"),
            (421, "Invalid HTTP Response: 421", "another App"),
            (
                502,
                "Invalid HTTP Response: 502",
                "the proxy forwards to 127.0.0.1:8300",
            ),
            (
                502,
                "failed to connect to host",
                "nobody answers at the webhook URL",
            ),
            (
                502,
                "Peer certificate cannot be authenticated",
                "the certificate of the webhook URL",
            ),
            (503, "Invalid HTTP Response: 503", "had no room"),
            (504, "timed out", "no answer within 10 s"),
            (418, "Invalid HTTP Response: 418", "Recent Deliveries"),
        ] {
            let said = said(code, status);
            assert!(said.contains(remedy), "{code} {status}: {said}");
        }
    }
}
