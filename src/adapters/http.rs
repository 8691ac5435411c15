//! Stand-in until the HTTP client module is merged: `post` over plain HTTP.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use url::Url;

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HttpError(String);

/// Sends `body` to `url`.
pub async fn post(
    url: &Url,
    headers: &[(&str, String)],
    body: Vec<u8>,
    timeout: Duration,
) -> Result<Reply, HttpError> {
    let fail = |error: &dyn std::fmt::Display| HttpError(error.to_string());
    let mut request = http::Request::post(url.as_str());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| fail(&error))?;
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let sent = tokio::time::timeout(timeout, client.request(request))
        .await
        .map_err(|error| fail(&error))?
        .map_err(|error| fail(&error))?;
    let status = sent.status().as_u16();
    let body = sent
        .into_body()
        .collect()
        .await
        .map_err(|error| fail(&error))?;
    Ok(Reply {
        status,
        body: body.to_bytes().to_vec(),
    })
}
