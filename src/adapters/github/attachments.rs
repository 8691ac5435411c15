//! Files that people attach to comments: fetched without credentials, from GitHub's pages and from nowhere else.
//!
//! Attachments have no API. GitHub's pages redirect to a store (on github.com: S3, or `objects.githubusercontent.com`)
//! with a signed address. What a comment links to is chosen by whoever wrote it, so every hop is checked: https (plain
//! http only on the loopback interface, when the API itself is configured there), the host of GitHub's pages or one of the
//! configured redirect hosts, the usual port, and a public network address (`names`).
//!
//! Attachments of private repositories are given to signed-in people only: no App's token opens them
//! (<https://github.com/octokit/octokit.js/issues/2786>), and none is sent.

mod names;

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, LOCATION, USER_AGENT};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use url::{Host, Url};

use self::names::Names;
use super::files::{is_type, lost, pour, within};
use super::transport::{Transport, chain, connection_failed};
use super::{GitHub, answer};
use crate::engine::forge::{ForgeError, ReadError, Take};
use crate::engine::steps::source::attachment::{address_of, web_root};

/// Where github.com keeps attachments.
pub(super) const REDIRECT_HOSTS: [&str; 2] = ["*.githubusercontent.com", "*.s3.amazonaws.com"];

/// Longest time for one file, where nobody says another.
pub(super) const TIMEOUT: Duration = Duration::from_mins(2);

/// GitHub redirects once; two more are patience.
const MAX_REDIRECTS: usize = 3;

/// Fetches attachments.
pub(super) struct Attachments {
    web: String,
    hosts: Vec<String>,
    user_agent: String,
    idle: Duration,
    client: Client<HttpsConnector<HttpConnector<Names>>, Empty<Bytes>>,
}

impl Attachments {
    /// For the API at `api_url`, which `transport` speaks to.
    pub(super) fn new(transport: &Transport, api_url: &Url, hosts: &[String]) -> Self {
        let web = web_root(api_url);
        let hosts: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        // Whom the operator names may live in a private network, as an Enterprise Server does.
        let own = Url::parse(&web)
            .ok()
            .and_then(|web| web.host_str().map(str::to_owned));
        let named = hosts.iter().filter(|host| !host.starts_with("*.")).cloned();
        let mut tcp = HttpConnector::new_with_resolver(Names::new(own.into_iter().chain(named)));
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(transport.timeout / 2));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(transport.tls.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Self {
            web,
            hosts,
            user_agent: transport.user_agent.clone(),
            idle: transport.timeout,
            client: Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector),
        }
    }

    async fn read(
        &self,
        address: &str,
        what: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let start = address_of(&self.web, address).filter(|url| self.welcome(url));
        let mut url = start.ok_or_else(|| elsewhere(address))?;
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.ask(&url, what).await?;
            tracing::debug!(
                host = url.host_str(),
                status = answer.status().as_u16(),
                "asked for an attachment"
            );
            if answer.status().is_redirection() {
                url = self.next(&url, answer.headers(), what)?;
                continue;
            }
            judge(&answer, what)?;
            let (parts, body) = answer.into_parts();
            return pour(body, &parts.headers, most, self.idle, what, take).await;
        }
        Err(unreadable(what, "its redirects do not end"))
    }

    /// One request, without credentials.
    async fn ask(&self, url: &Url, what: &str) -> Result<Response<Incoming>, ReadError> {
        let request = Request::get(url.as_str())
            .header(ACCEPT, "*/*")
            // The limit is for what comes out, and nothing here unpacks.
            .header(ACCEPT_ENCODING, "identity")
            .header(USER_AGENT, &self.user_agent)
            .body(Empty::new())
            .map_err(|why| unreadable(what, &why.to_string()))?;
        let answer = tokio::time::timeout(self.idle, self.client.request(request)).await;
        let Ok(answer) = answer else {
            let why = format!("no answer within {} ms", self.idle.as_millis());
            return Err(lost(what, &why));
        };
        answer.map_err(|why| {
            let reasons = chain(&why);
            if reasons.contains(names::PRIVATE) {
                elsewhere(url.as_str())
            } else if connection_failed(&why) {
                ReadError::Forge(ForgeError::Unreachable {
                    what: what.to_owned(),
                    message: answer::tidy(&reasons),
                })
            } else {
                lost(what, &reasons)
            }
        })
    }

    /// Where a redirect leads, when the bot goes there.
    fn next(&self, from: &Url, headers: &HeaderMap, what: &str) -> Result<Url, ReadError> {
        let to = headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|address| from.join(address).ok())
            .ok_or_else(|| unreadable(what, "a redirect leads nowhere"))?;
        if !self.welcome(&to) {
            return Err(elsewhere(to.as_str()));
        }
        if self.own(&to) && (to.path() == "/login" || to.path().starts_with("/login/")) {
            return Err(ReadError::Withheld {
                why: "it asks to sign in".to_owned(),
            });
        }
        Ok(to)
    }

    /// Scheme, host and port of GitHub's pages.
    fn own(&self, url: &Url) -> bool {
        Url::parse(&self.web).is_ok_and(|web| web.origin() == url.origin())
    }

    /// Whether the bot reads there.
    fn welcome(&self, url: &Url) -> bool {
        if !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        if self.own(url) {
            return url.scheme() == "https" || (url.scheme() == "http" && loopback(url));
        }
        let Some(Host::Domain(host)) = url.host() else {
            return false;
        };
        url.scheme() == "https"
            && url.port().is_none()
            && self
                .hosts
                .iter()
                .any(|known| match known.strip_prefix('*') {
                    Some(end) => host.len() > end.len() && host.ends_with(end),
                    None => host == known,
                })
    }
}

fn loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// A file, or why there is none.
fn judge(answer: &Response<Incoming>, what: &str) -> Result<(), ReadError> {
    let status = answer.status();
    let in_words = || status.canonical_reason().unwrap_or_default();
    match status {
        StatusCode::OK => {}
        // "Not now" is said with these two.
        _ if status.is_client_error()
            && status != StatusCode::REQUEST_TIMEOUT
            && status != StatusCode::TOO_MANY_REQUESTS =>
        {
            return Err(ReadError::Withheld {
                why: format!("{} {}", status.as_u16(), in_words()),
            });
        }
        _ => {
            let why = format!("{} {}", status.as_u16(), in_words());
            return Err(lost(what, &why));
        }
    }
    let packed = answer
        .headers()
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding != "identity");
    if packed {
        return Err(unreadable(what, "it comes compressed, unasked"));
    }
    let page = is_type(answer.headers(), "text/html")
        || is_type(answer.headers(), "application/xhtml+xml");
    if page {
        return Err(ReadError::Withheld {
            why: "a page comes instead of the file".to_owned(),
        });
    }
    Ok(())
}

fn unreadable(what: &str, why: &str) -> ReadError {
    ReadError::Forge(ForgeError::Unreadable {
        what: what.to_owned(),
        message: answer::tidy(why),
    })
}

/// Names the host alone: paths and queries of stores are signed.
fn elsewhere(address: &str) -> ReadError {
    let to = Url::parse(address).map_or_else(
        |_| "an unreadable address".to_owned(),
        |url| url.origin().ascii_serialization(),
    );
    ReadError::Elsewhere { to }
}

impl GitHub {
    /// See [`crate::engine::forge::Forge::attachment`].
    pub(super) async fn read_attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let what = "an attachment";
        let reading = self.attachments.read(address, what, most, take);
        within(self.download_timeout, what, reading).await
    }
}

#[cfg(test)]
mod tests;
