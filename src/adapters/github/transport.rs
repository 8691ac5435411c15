//! One request, sent once: octocrab over its own hyper service, without retries, redirects or page helpers.
//!
//! octocrab's ready-made client is not used because it adds a second `User-Agent` and reports every 5xx as an error of
//! its own. hyper itself repeats a request only when a pooled connection turned out closed before its first byte was written.
//! The service below knows one thing more: whether a failed request can have reached GitHub.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HeaderMap, USER_AGENT};
use http::{Method, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
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
use crate::adapters::redact::redact;

/// A page of a hundred comments of 262,144 bytes, escaped, stays under this; more is not an answer of the API.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// GitHub's load balancer closes idle connections after a minute; a connection is dropped well before, because a
/// request sent on a closing one has an unknown outcome.
const IDLE: Duration = Duration::from_secs(30);

/// What GitHub answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// HTTP status.
    pub(super) status: StatusCode,
    /// Headers.
    pub(super) headers: HeaderMap,
    /// The whole body; empty when it is in `rest`.
    pub(super) body: Bytes,
    /// The body of a success that was asked for as [`Form::Raw`], unread.
    pub(super) rest: Option<Rest>,
}

/// A body that is read piece by piece.
pub(super) type Rest = BoxBody<Bytes, octocrab::Error>;

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, read at once.
    Json,
    /// A file as it is, handed on piece by piece.
    Raw,
}

impl Form {
    /// Media types: <https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types>.
    fn accept(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.github+json",
            Self::Raw => "application/vnd.github.raw+json",
        }
    }
}

impl Answer {
    /// A header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// No connection: GitHub cannot have seen the request.
    NotSent(String),
    /// The request went out, or may have.
    Unknown(String),
}

/// A request as the API sees it.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Method.
    pub(super) method: Method,
    /// Path below the API's base, and query.
    pub(super) path: String,
    /// JSON body.
    pub(super) body: Option<Value>,
    /// Form of the answer.
    pub(super) form: Form,
    /// What it is, for error messages, e.g. `issue #7 of o/r`.
    pub(super) what: String,
}

impl Request {
    /// Whether it only reads.
    pub(super) fn reads(&self) -> bool {
        self.method == Method::GET
    }
}

/// Sends requests; cheap to clone. All clients share one connection pool.
#[derive(Debug, Clone)]
pub(super) struct Transport {
    pub(super) timeout: Duration,
    pub(super) user_agent: String,
    /// The one TLS setup.
    pub(super) tls: ClientConfig,
    /// Without credentials.
    bare: Octocrab,
}

impl Transport {
    /// Checks the settings. Must be called inside a Tokio runtime (octocrab starts its queue there).
    pub(super) fn new(
        api_url: &Url,
        request_timeout: Duration,
        user_agent: &str,
    ) -> Result<Self, GitHubError> {
        let bad_url = |why: &str| GitHubError::ApiUrl {
            // Without a password that somebody may have put there.
            url: redact(api_url.as_str()).into_owned(),
            why: why.to_owned(),
        };
        if !matches!(api_url.scheme(), "http" | "https") {
            return Err(bad_url("it is neither http nor https"));
        }
        if !api_url.username().is_empty() || api_url.password().is_some() {
            return Err(bad_url("it holds a user name or password"));
        }
        if api_url.query().is_some() || api_url.fragment().is_some() {
            return Err(bad_url("it holds a query or a fragment"));
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
        // Half of the whole, so that a connection that cannot be made is told from an answer that does not come.
        tcp.set_connect_timeout(Some(request_timeout / 2));
        let client: Client<_, OctoBody> = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector.enable_http1().wrap_connector(tcp));
        let Ok(bare) = OctocrabBuilder::new_empty()
            .with_service(client)
            .with_layer(&BaseUriLayer::new(root))
            .with_auth(AuthState::None)
            .build();
        Ok(Self {
            timeout: request_timeout,
            user_agent: user_agent.to_owned(),
            tls,
            bare,
        })
    }

    /// A client that sends no credentials.
    pub(super) fn bare(&self) -> Octocrab {
        self.bare.clone()
    }

    /// A client that sends this bearer token.
    pub(super) fn client(&self, token: &str) -> Result<Octocrab, octocrab::Error> {
        self.bare.user_access_token(token)
    }

    /// A client that sends a person's token, which comes from wherever people keep such things.
    pub(super) fn person(&self, token: &SecretString) -> Result<Octocrab, GitHubError> {
        let token = token.expose_secret();
        let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.is_empty() || !visible {
            return Err(GitHubError::Token);
        }
        self.client(token).map_err(|_| GitHubError::Token)
    }

    /// Sends the request once, to `path`, and reads the whole answer.
    pub(super) async fn send(
        &self,
        client: &Octocrab,
        request: &Request,
        path: &str,
    ) -> Result<Answer, Lost> {
        match tokio::time::timeout(self.timeout, self.exchange(client, request, path)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Lost::Unknown(format!(
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
    ) -> Result<Answer, Lost> {
        let builder = http::Request::builder()
            .method(request.method.clone())
            .uri(path)
            .header(ACCEPT, request.form.accept())
            .header(USER_AGENT, &self.user_agent);
        // Adds `X-GitHub-Api-Version: 2022-11-28` and the content type.
        let built = client
            .build_request(builder, request.body.as_ref())
            .map_err(|why| Lost::NotSent(chain(&why)))?;
        let response = client.execute(built).await.map_err(|why| {
            if connection_failed(&why) {
                Lost::NotSent(chain(&why))
            } else {
                Lost::Unknown(chain(&why))
            }
        })?;
        let (parts, body) = response.into_parts();
        if request.form == Form::Raw && parts.status.is_success() {
            return Ok(Answer {
                status: parts.status,
                headers: parts.headers,
                body: Bytes::new(),
                rest: Some(body),
            });
        }
        let body = match Limited::new(body, MAX_ANSWER).collect().await {
            Ok(body) => body.to_bytes(),
            // The status alone says that nothing was done.
            Err(_) if parts.status.is_client_error() => Bytes::new(),
            Err(why) => return Err(Lost::Unknown(chain(why.as_ref()))),
        };
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body,
            rest: None,
        })
    }
}

/// The system's roots; none without `https`: the simulator is plain HTTP and must run where there are no certificates.
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

/// Whether the failure came before there was a connection (refused, no such name, TLS handshake).
pub(super) fn connection_failed(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        cause
            .downcast_ref::<hyper_util::client::legacy::Error>()
            .is_some_and(hyper_util::client::legacy::Error::is_connect)
    })
}

/// The messages of an error and its causes, each once.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let message = cause.to_string();
        if text.is_empty() {
            text = message;
        } else if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
    }
    text
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
