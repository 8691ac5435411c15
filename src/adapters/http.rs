//! A small HTTP client for requests other than GitHub's REST API: sending webhooks, and asking
//! services whether they answer.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::OnceCell;

use super::text::error_chain;

/// Maximum size of a response body, in bytes. Webhook receivers answer with little.
const MAX_RESPONSE: usize = 1024 * 1024;

/// An error of a request without a complete response.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address cannot be used.
    #[error("`{url}` is not an http or https address: give a full URL such as https://host/path")]
    Url {
        /// As given.
        url: String,
    },
    /// The system's certificate store cannot be read.
    #[error(
        "the system's root certificates cannot be loaded for {host}: {source}; install ca-certificates"
    )]
    Roots {
        /// Host of the address.
        host: String,
        /// Why.
        source: std::io::Error,
    },
    /// No connection: nothing was sent.
    #[error("{host} cannot be reached: {message}")]
    Unreachable {
        /// Host of the address.
        host: String,
        /// Why.
        message: String,
    },
    /// The connection broke before the response was complete.
    #[error("{host} gave no complete answer: {message}")]
    Broken {
        /// Host of the address.
        host: String,
        /// Why.
        message: String,
    },
    /// No complete response in time.
    #[error("{host} did not answer within {} s", after.as_secs())]
    Timeout {
        /// Host of the address.
        host: String,
        /// The limit.
        after: Duration,
    },
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, at most 1 MiB.
    pub body: Bytes,
}

/// A client that reuses connections. Root certificates are loaded with the first `https` request.
#[derive(Debug)]
pub struct Client {
    plain: Legacy<HttpConnector, Full<Bytes>>,
    secure: OnceCell<Legacy<HttpsConnector<HttpConnector>, Full<Bytes>>>,
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// Creates a client without connections.
    pub fn new() -> Self {
        Self {
            plain: Legacy::builder(TokioExecutor::new()).build_http(),
            secure: OnceCell::new(),
        }
    }

    /// Posts `body` and reads the whole response within `timeout`. Any status is a response.
    pub async fn post(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        timeout: Duration,
    ) -> Result<Response, HttpError> {
        self.send(Method::POST, url, headers, body, timeout).await
    }

    /// Sends a `GET` and reads the whole response within `timeout`. Any status is a response.
    pub async fn get(
        &self,
        url: &str,
        headers: HeaderMap,
        timeout: Duration,
    ) -> Result<Response, HttpError> {
        self.send(Method::GET, url, headers, Bytes::new(), timeout)
            .await
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        timeout: Duration,
    ) -> Result<Response, HttpError> {
        let unusable = || HttpError::Url {
            url: url.to_owned(),
        };
        let uri: Uri = url.parse().map_err(|_| unusable())?;
        let host = uri.authority().ok_or_else(unusable)?.host().to_owned();
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(unusable()),
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        match tokio::time::timeout(timeout, self.exchange(request, secure, &host)).await {
            Ok(response) => response,
            Err(_) => Err(HttpError::Timeout {
                host,
                after: timeout,
            }),
        }
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        secure: bool,
        host: &str,
    ) -> Result<Response, HttpError> {
        let response = if secure {
            self.secure(host).await?.request(request).await
        } else {
            self.plain.request(request).await
        };
        let response = response.map_err(|error| {
            let message = error_chain(&error);
            let host = host.to_owned();
            if error.is_connect() {
                HttpError::Unreachable { host, message }
            } else {
                HttpError::Broken { host, message }
            }
        })?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MAX_RESPONSE)
            .collect()
            .await
            .map_err(|error| HttpError::Broken {
                host: host.to_owned(),
                message: error.to_string(),
            })?
            .to_bytes();
        Ok(Response {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        })
    }

    async fn secure(
        &self,
        host: &str,
    ) -> Result<&Legacy<HttpsConnector<HttpConnector>, Full<Bytes>>, HttpError> {
        self.secure
            .get_or_try_init(|| async {
                let connector = HttpsConnectorBuilder::new()
                    .with_provider_and_native_roots(rustls::crypto::ring::default_provider())?
                    .https_only()
                    .enable_http1()
                    .build();
                Ok(Legacy::builder(TokioExecutor::new()).build(connector))
            })
            .await
            .map_err(|source| HttpError::Roots {
                host: host.to_owned(),
                source,
            })
    }
}

/// Posts `body` with a new client; see [`Client::post`].
pub async fn post(
    url: &str,
    headers: HeaderMap,
    body: Bytes,
    timeout: Duration,
) -> Result<Response, HttpError> {
    Client::new().post(url, headers, body, timeout).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use tokio::net::TcpListener;

    use super::*;

    async fn fails(url: &str, timeout: Duration) -> HttpError {
        let sent = post(url, HeaderMap::new(), Bytes::from("{}"), timeout).await;
        sent.unwrap_err()
    }

    #[tokio::test]
    async fn posts_body_and_headers_and_reads_the_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = axum::Router::new().route(
            "/hook",
            axum::routing::post(|headers: HeaderMap, body: String| async move {
                let kind = headers["x-kind"].to_str().unwrap().to_owned();
                (http::StatusCode::IM_A_TEAPOT, format!("{kind}:{body}"))
            }),
        );
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut headers = HeaderMap::new();
        headers.insert("x-kind", "tea".parse().unwrap());
        let timeout = Duration::from_secs(10);
        let reply = post(&url, headers, Bytes::from("{}"), timeout)
            .await
            .unwrap();
        assert_eq!(reply.status, 418);
        assert_eq!(reply.body, "tea:{}");
    }

    #[tokio::test]
    async fn says_why_there_is_no_answer() {
        let timeout = Duration::from_secs(10);
        for url in ["/path", "ftp://host/", "not a url", ""] {
            let error = fails(url, timeout).await.to_string();
            assert!(error.contains("is not an http or https address"), "{error}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = fails(&format!("http://{address}/"), timeout)
            .await
            .to_string();
        assert!(
            error.starts_with("127.0.0.1 cannot be reached: "),
            "{error}"
        );
        assert!(error.contains("refused"), "{error}");
    }

    #[tokio::test]
    async fn tells_a_broken_answer_from_a_late_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let error = fails(&url, Duration::ZERO).await;
        assert_eq!(error.to_string(), "127.0.0.1 did not answer within 0 s");
        tokio::spawn(async move {
            loop {
                drop(listener.accept().await);
            }
        });
        let error = fails(&url, Duration::from_secs(10)).await.to_string();
        assert!(
            error.starts_with("127.0.0.1 gave no complete answer: "),
            "{error}"
        );
    }

    #[test]
    fn names_the_certificates_when_they_are_missing() {
        let error = HttpError::Roots {
            host: "example.org".to_owned(),
            source: std::io::Error::other("none found"),
        };
        assert_eq!(
            error.to_string(),
            "the system's root certificates cannot be loaded for example.org: none found; install ca-certificates"
        );
    }
}
