//! What all pages have in common: headers that limit what a browser does with a response, and limits
//! for the bodies of requests.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, StatusCode};

/// Maximum size of a form, in bytes. The pages' own forms take far less.
const MAX_FORM: usize = 16 * 1024;

/// Time limit for the body of a request, so that slow clients do not hold connections.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The headers of every response of the pages.
///
/// With the referrer policy `no-referrer`, browsers would send forms with `Origin: null`.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
             form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// Adds the security headers to every response of `router`, and limits the bodies of its requests
/// to 16 KiB and 5 seconds.
pub fn secure(router: Router) -> Router {
    router
        .layer(from_fn(limit_body))
        .layer(from_fn(add_headers))
}

async fn add_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, value);
    }
    response
}

async fn limit_body(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_FORM)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Ok(Err(_)) => (StatusCode::PAYLOAD_TOO_LARGE, "the form is too large\n").into_response(),
        Err(_) => {
            let text = "the form did not arrive within 5 seconds\n";
            (StatusCode::REQUEST_TIMEOUT, text).into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use axum::routing::post;
    use futures_util::stream;
    use tower::ServiceExt as _;

    use super::*;

    async fn send(body: Body) -> (u16, String) {
        let router = secure(Router::new().route("/", post(|body: String| async { body })));
        let request = http::Request::post("/").body(body).unwrap();
        let response = router.oneshot(request).await.unwrap();
        let policy = &response.headers()[CONTENT_SECURITY_POLICY];
        assert!(policy.to_str().unwrap().starts_with("default-src 'none';"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(response.headers()[name], value);
        }
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn every_response_has_the_headers_and_bodies_are_limited() {
        assert_eq!(send(Body::from("a=1")).await, (200, "a=1".to_owned()));
        let long = Body::from(vec![b'a'; MAX_FORM + 1]);
        let refused = (413, "the form is too large\n".to_owned());
        assert_eq!(send(long).await, refused);
        let never = stream::pending::<Result<String, std::io::Error>>();
        let refused = (408, "the form did not arrive within 5 seconds\n".to_owned());
        assert_eq!(send(Body::from_stream(never)).await, refused);
    }
}
