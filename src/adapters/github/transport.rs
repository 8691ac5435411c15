//! Sends each request once: octocrab over a hyper service of our own, without retries, redirects or
//! page helpers.
//!
//! octocrab's default client is not used because it adds a second `User-Agent` and reports every
//! 5xx as an error of its own. hyper itself repeats a request only if a pooled connection turned
//! out to be closed before the first byte was written. The errors here also tell whether a failed
//! request can have reached GitHub.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, IF_NONE_MATCH, USER_AGENT};
use http::{Method, Uri};
use http_body_util::{BodyExt, Limited};
use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use rustls::ClientConfig;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use super::GitHubError;
use super::response::Response;
use crate::adapters::redact::redact;
use crate::adapters::text::{causes, error_chain};

/// Maximum size of a response body, in bytes. A page of a hundred comments of 262,144 bytes,
/// escaped, stays below it.
const MAX_RESPONSE: usize = 64 * 1024 * 1024;

/// Time after which an idle connection is closed. GitHub's load balancer closes it after a minute,
/// and a request sent on a closing connection has an unknown outcome.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Requested format of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, read as a whole.
    Json,
    /// The content of a file, streamed.
    Raw,
    /// A redirect (302) that the caller follows, to a target that may contain a secret.
    Redirect,
}

impl Format {
    /// Media types:
    /// <https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types>.
    fn accept(self) -> &'static str {
        match self {
            Self::Json | Self::Redirect => "application/vnd.github+json",
            Self::Raw => "application/vnd.github.raw+json",
        }
    }
}

/// An error of a request without a response.
#[derive(Debug)]
pub(super) enum TransportError {
    /// No connection: GitHub cannot have seen the request.
    NotSent(String),
    /// The request was sent, or may have been.
    Unknown(String),
}

/// A request to the API.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Method.
    pub(super) method: Method,
    /// Path below the API's base, and query.
    pub(super) path: String,
    /// JSON body.
    pub(super) body: Option<Value>,
    /// `ETag` of what the client has: if it is still the same, the response is 304.
    pub(super) unless: Option<String>,
    /// Format of the response.
    pub(super) format: Format,
    /// What is requested, for error messages, e.g. `issue #7 of o/r`.
    pub(super) what: String,
}

impl Request {
    /// Creates a `GET` for JSON.
    pub(super) fn get(path: String, what: String) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            unless: None,
            format: Format::Json,
            what,
        }
    }

    /// Creates a `GET` for the content of a file.
    pub(super) fn raw(path: String, what: String) -> Self {
        Self {
            format: Format::Raw,
            ..Self::get(path, what)
        }
    }

    /// Creates a `GET` for the target of a redirect.
    pub(super) fn redirect(path: String, what: String) -> Self {
        Self {
            format: Format::Redirect,
            ..Self::get(path, what)
        }
    }

    /// Whether it only reads.
    pub(super) fn is_read(&self) -> bool {
        self.method == Method::GET
    }
}

/// Sends requests; cheap to clone. All clients share one connection pool.
#[derive(Debug, Clone)]
pub(super) struct Transport {
    pub(super) timeout: Duration,
    pub(super) user_agent: String,
    /// TLS settings, also for downloads.
    pub(super) tls: ClientConfig,
    /// A client without credentials.
    pub(super) anonymous: Octocrab,
}

impl Transport {
    /// Validates the settings. Must be called inside a Tokio runtime, where octocrab starts its
    /// queue.
    pub(super) fn new(
        api_url: &Url,
        request_timeout: Duration,
        user_agent: &str,
    ) -> Result<Self, GitHubError> {
        let bad_url = |why: &str| GitHubError::ApiUrl {
            // It may contain a password.
            url: redact(api_url.as_str()).into_owned(),
            why: why.to_owned(),
        };
        if !matches!(api_url.scheme(), "http" | "https") {
            return Err(bad_url("it is neither http nor https"));
        }
        if !api_url.username().is_empty() || api_url.password().is_some() {
            return Err(bad_url("it contains a user name or password"));
        }
        if api_url.query().is_some() || api_url.fragment().is_some() {
            return Err(bad_url("it contains a query or a fragment"));
        }
        if http::HeaderValue::from_str(user_agent).is_err() {
            return Err(GitHubError::UserAgent);
        }
        let root: Uri = api_url
            .as_str()
            .parse()
            .map_err(|why: http::uri::InvalidUri| bad_url(&why.to_string()))?;
        let https = api_url.scheme() == "https";
        let tls = tls(https)?;
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls.clone());
        let connector = if https {
            connector.https_only()
        } else {
            connector.https_or_http()
        };
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Half of the total, to tell a connection that cannot be made from a missing response.
        tcp.set_connect_timeout(Some(request_timeout / 2));
        let client: Client<_, OctoBody> = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector.enable_http1().wrap_connector(tcp));
        let Ok(anonymous) = OctocrabBuilder::new_empty()
            .with_service(client)
            .with_layer(&BaseUriLayer::new(root))
            .with_auth(AuthState::None)
            .build();
        Ok(Self {
            timeout: request_timeout,
            user_agent: user_agent.to_owned(),
            tls,
            anonymous,
        })
    }

    /// Returns a client that sends this bearer token.
    pub(super) fn with_token(&self, token: &str) -> Result<Octocrab, octocrab::Error> {
        self.anonymous.user_access_token(token)
    }

    /// Returns a client that sends a person's token, which may contain anything.
    pub(super) fn with_person_token(&self, token: &SecretString) -> Result<Octocrab, GitHubError> {
        let token = token.expose_secret();
        let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.is_empty() || !visible {
            return Err(GitHubError::Token);
        }
        self.with_token(token).map_err(|_| GitHubError::Token)
    }

    /// Sends the request once, to `path`.
    pub(super) async fn send(
        &self,
        client: &Octocrab,
        request: &Request,
        path: &str,
    ) -> Result<Response, TransportError> {
        match tokio::time::timeout(self.timeout, self.exchange(client, request, path)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(TransportError::Unknown(format!(
                "no answer within {} ms",
                self.timeout.as_millis()
            ))),
        }
    }

    async fn exchange(
        &self,
        client: &Octocrab,
        request: &Request,
        path: &str,
    ) -> Result<Response, TransportError> {
        let builder = http::Request::builder()
            .method(request.method.clone())
            .uri(path)
            .header(ACCEPT, request.format.accept())
            .header(USER_AGENT, &self.user_agent);
        let builder = match &request.unless {
            Some(etag) => builder.header(IF_NONE_MATCH, etag),
            None => builder,
        };
        // Adds `X-GitHub-Api-Version: 2022-11-28` and the content type.
        let built = client
            .build_request(builder, request.body.as_ref())
            .map_err(|why| TransportError::NotSent(error_chain(&why)))?;
        let response = client.execute(built).await.map_err(|why| {
            if connection_failed(&why) {
                TransportError::NotSent(error_chain(&why))
            } else {
                TransportError::Unknown(error_chain(&why))
            }
        })?;
        let (parts, body) = response.into_parts();
        let mut response = Response {
            status: parts.status,
            headers: parts.headers,
            body: Bytes::new(),
            stream: None,
            what: request.what.clone(),
            is_read: request.is_read(),
        };
        if request.format == Format::Raw && response.status.is_success() {
            response.stream = Some(body);
            return Ok(response);
        }
        response.body = match Limited::new(body, MAX_RESPONSE).collect().await {
            Ok(body) => body.to_bytes(),
            // The status alone tells that nothing was done.
            Err(_) if response.status.is_client_error() => Bytes::new(),
            Err(why) => return Err(TransportError::Unknown(error_chain(why.as_ref()))),
        };
        Ok(response)
    }
}

/// Loads the system's root certificates; none without `https`, because the simulator is plain HTTP
/// and must run where there are no certificates.
fn tls(https: bool) -> Result<ClientConfig, GitHubError> {
    let tls = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|why| GitHubError::Tls(why.to_string()))?;
    let tls = if https {
        tls.with_native_roots()
            .map_err(|why| GitHubError::Tls(why.to_string()))?
    } else {
        tls.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(tls.with_no_client_auth())
}

/// Whether the request failed before there was a connection (refused, unknown name, TLS handshake).
pub(super) fn connection_failed(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        cause
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect)
    })
}
