//! Reads files that GitHub does not serve through its API, without credentials and only from known
//! hosts: attachments of comments, and the archives of repositories.
//!
//! Every hop is checked: https (plain http only on the loopback interface, if the API itself is
//! configured there), one of GitHub's own hosts or of the configured redirect hosts, the default
//! port, and a public network address ([`resolver`]).
//!
//! Attachments have no API. GitHub's pages redirect to a store (on github.com: S3, or
//! `objects.githubusercontent.com`) with a signed address. The author of a comment chooses what it
//! links to.
//!
//! Attachments of private repositories require a signed-in person: an App's token does not open
//! them (<https://github.com/octokit/octokit.js/issues/2786>), and none is sent.
//!
//! Archives are requested from the API, which redirects to GitHub's archive server. For a private
//! repository the target contains a short-lived token, so it is neither logged nor part of an
//! error.

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

use super::files::{has_content_type, interrupted, stream_body};
use super::response::clean_message;
use super::transport::{Transport, connection_failed};
use crate::adapters::resolver::{self, PublicResolver};
use crate::adapters::text::error_chain;
use crate::engine::forge::{ForgeError, ReadError, Take};
use crate::engine::steps::source::attachment::web_root;

/// Hosts where github.com stores attachments.
pub(super) const DEFAULT_REDIRECT_HOSTS: [&str; 2] =
    ["*.githubusercontent.com", "*.s3.amazonaws.com"];

/// Default time limit for one file.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// Minimum time that an archive is waited for if nothing comes: GitHub makes archives on demand.
const MIN_ARCHIVE_WAIT: Duration = Duration::from_mins(1);

/// Maximum number of redirects. GitHub redirects once.
const MAX_REDIRECTS: usize = 3;

/// Reads files from GitHub's own hosts and from others that they redirect to.
pub(super) struct Downloads {
    /// Root URLs of GitHub's own hosts.
    own: Vec<Url>,
    hosts: Vec<String>,
    user_agent: String,
    idle: Duration,
    client: Client<HttpsConnector<HttpConnector<PublicResolver>>, Empty<Bytes>>,
}

impl Downloads {
    /// Creates a client for attachments of the GitHub whose API is at `api_url`.
    pub(super) fn attachments(transport: &Transport, api_url: &Url, hosts: &[String]) -> Self {
        Self::new(transport, Url::parse(&web_root(api_url)).ok(), hosts)
    }

    /// Creates a client for archives of the GitHub whose API is at `api_url`. Archives of
    /// github.com are on one host. An Enterprise Server has them on its own host or a subdomain
    /// (<https://docs.github.com/enterprise-server/admin/configuring-settings/hardening-security-for-your-enterprise/enabling-subdomain-isolation>);
    /// other hosts must be configured.
    pub(super) fn archives(transport: &Transport, api_url: &Url, hosts: &[String]) -> Self {
        let web = web_root(api_url);
        let codeload = Url::parse(&web.replacen("://", "://codeload.", 1)).ok();
        let pages = Url::parse(&web).ok();
        let has_api_host = pages.as_ref().and_then(Url::host_str) != api_url.host_str();
        let downloads = if has_api_host {
            Self::new(transport, codeload, &[])
        } else {
            Self::new(transport, pages.into_iter().chain(codeload), hosts)
        };
        Self {
            idle: transport.timeout.max(MIN_ARCHIVE_WAIT),
            ..downloads
        }
    }

    fn new(transport: &Transport, own: impl IntoIterator<Item = Url>, hosts: &[String]) -> Self {
        let own: Vec<Url> = own.into_iter().collect();
        let hosts: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        // Hosts that the operator names may be in a private network, as an Enterprise Server may
        // be.
        let trusted = own
            .iter()
            .filter_map(|url| url.host_str().map(str::to_owned));
        let named = hosts.iter().filter(|host| !host.starts_with("*.")).cloned();
        let mut tcp = HttpConnector::new_with_resolver(PublicResolver::new(trusted.chain(named)));
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(transport.timeout / 2));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(transport.tls.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Self {
            own,
            hosts,
            user_agent: transport.user_agent.clone(),
            idle: transport.timeout,
            client: Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(connector),
        }
    }

    /// Reads the file at `url` in pieces, up to `most` bytes, until `take` returns false.
    pub(super) async fn read(
        &self,
        mut url: Url,
        what: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        if !self.is_allowed(&url) {
            return Err(elsewhere(url.as_str()));
        }
        for _ in 0..=MAX_REDIRECTS {
            let response = self.request(&url, what).await?;
            tracing::debug!(
                host = url.host_str(),
                status = response.status().as_u16(),
                "asked for a download"
            );
            if response.status().is_redirection() {
                url = self.redirect_target(&url, response.headers(), what)?;
                continue;
            }
            check_response(&response, what)?;
            let (parts, body) = response.into_parts();
            return stream_body(body, &parts.headers, most, self.idle, what, take).await;
        }
        Err(unreadable(what, "its redirects do not end"))
    }

    /// Sends one request, without credentials.
    async fn request(&self, url: &Url, what: &str) -> Result<Response<Incoming>, ReadError> {
        let request = Request::get(url.as_str())
            .header(ACCEPT, "*/*")
            // Nothing here decompresses, and the limit is for the content.
            .header(ACCEPT_ENCODING, "identity")
            .header(USER_AGENT, &self.user_agent)
            .body(Empty::new())
            .map_err(|why| unreadable(what, &why.to_string()))?;
        let response = tokio::time::timeout(self.idle, self.client.request(request)).await;
        let Ok(response) = response else {
            let why = format!("no answer within {} ms", self.idle.as_millis());
            return Err(interrupted(what, &why));
        };
        response.map_err(|why| {
            let reasons = error_chain(&why);
            if reasons.contains(resolver::NO_PUBLIC_ADDRESS) {
                elsewhere(url.as_str())
            } else if connection_failed(&why) {
                ReadError::Forge(ForgeError::Unreachable {
                    what: what.to_owned(),
                    message: clean_message(&reasons),
                })
            } else {
                interrupted(what, &reasons)
            }
        })
    }

    /// Returns the target of a redirect if it is allowed.
    fn redirect_target(
        &self,
        from: &Url,
        headers: &HeaderMap,
        what: &str,
    ) -> Result<Url, ReadError> {
        let to = headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|address| from.join(address).ok())
            .ok_or_else(|| unreadable(what, "a redirect has no target"))?;
        if !self.is_allowed(&to) {
            return Err(elsewhere(to.as_str()));
        }
        if self.is_github(&to) && (to.path() == "/login" || to.path().starts_with("/login/")) {
            return Err(ReadError::Withheld {
                why: "it asks to sign in".to_owned(),
            });
        }
        Ok(to)
    }

    /// Whether scheme, host and port are those of one of GitHub's own hosts.
    fn is_github(&self, url: &Url) -> bool {
        self.own.iter().any(|own| own.origin() == url.origin())
    }

    /// Whether files may be read from this address.
    fn is_allowed(&self, url: &Url) -> bool {
        if !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        if self.is_github(url) {
            return url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url));
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

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Returns an error unless the response is a file.
fn check_response(response: &Response<Incoming>, what: &str) -> Result<(), ReadError> {
    let status = response.status();
    let in_words = || status.canonical_reason().unwrap_or_default();
    match status {
        StatusCode::OK => {}
        // These two mean that it may work later.
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
            return Err(interrupted(what, &why));
        }
    }
    let packed = response
        .headers()
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding != "identity");
    if packed {
        return Err(unreadable(
            what,
            "it is compressed although no compression was requested",
        ));
    }
    let page = has_content_type(response.headers(), "text/html")
        || has_content_type(response.headers(), "application/xhtml+xml");
    if page {
        return Err(ReadError::Withheld {
            why: "GitHub returned a web page instead of the file".to_owned(),
        });
    }
    Ok(())
}

pub(super) fn unreadable(what: &str, why: &str) -> ReadError {
    ReadError::Forge(ForgeError::Unreadable {
        what: what.to_owned(),
        message: clean_message(why),
    })
}

/// The error of an address that is not allowed. It names the origin only: paths and queries of
/// stores are signed.
pub(super) fn elsewhere(address: &str) -> ReadError {
    let to = Url::parse(address).map_or_else(
        |_| "an unreadable address".to_owned(),
        |url| url.origin().ascii_serialization(),
    );
    ReadError::Elsewhere { to }
}

#[cfg(test)]
mod tests;
