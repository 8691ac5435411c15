//! What the proxy reads from its clients and answers itself: the head of one request, and refusals.

use http::Uri;
use http::uri::Authority;
use url::Host;

use crate::engine::settings::hosts::host_name;

/// Maximum number of header fields of a request.
const MAX_FIELDS: usize = 100;

/// Port of plain HTTP.
const HTTP_PORT: u16 = 80;

/// Header fields that are for this proxy, or that it writes itself.
const OWN_FIELDS: [&str; 6] = [
    "connection",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "upgrade",
];

/// A request of a client.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// The server that the client wants to reach.
    pub(super) host: Host,
    /// Its port.
    pub(super) port: u16,
    /// Value of `Proxy-Authorization`.
    pub(super) credential: Option<Vec<u8>>,
    /// The head for the server, for a request that is forwarded (`GET http://…`). `None` for
    /// `CONNECT`.
    pub(super) forwarded: Option<Vec<u8>>,
}

/// An answer of the proxy itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Status code and reason phrase.
    pub(super) status: &'static str,
    /// The reason, one line without control characters.
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn new(status: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { status, text }
    }

    fn bad(text: &str) -> Self {
        Self::new("400 Bad Request", text)
    }

    /// Returns the whole response.
    pub(super) fn response(&self) -> Vec<u8> {
        let Self { status, text } = self;
        let asks = if status.starts_with("407") {
            "Proxy-Authenticate: Basic realm=\"planwright\"\r\n"
        } else {
            ""
        };
        let body = format!("planwright: {text}\n");
        format!(
            "HTTP/1.1 {status}\r\n{asks}Content-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// Parses the head of a request, which ends with an empty line.
///
/// # Errors
/// It is not the head of a request to a proxy.
pub(super) fn parse(head: &[u8]) -> Result<Request, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let complete = parsed.parse(head).is_ok_and(|status| status.is_complete());
    let (true, Some(method), Some(target), Some(version)) =
        (complete, parsed.method, parsed.path, parsed.version)
    else {
        return Err(Refusal::bad("this is not an HTTP request"));
    };
    let credential = parsed
        .headers
        .iter()
        .find(|field| field.name.eq_ignore_ascii_case("proxy-authorization"))
        .map(|field| field.value.to_vec());
    if method == "CONNECT" {
        let (host, port) = target
            .parse::<Authority>()
            .ok()
            .and_then(|authority| server(&authority, None))
            .ok_or_else(|| Refusal::bad("CONNECT needs a host and a port"))?;
        return Ok(Request {
            host,
            port,
            credential,
            forwarded: None,
        });
    }
    let target: Uri = target
        .parse()
        .map_err(|_| Refusal::bad("the address of the request is not valid"))?;
    let (Some("http"), Some(authority)) = (target.scheme_str(), target.authority()) else {
        return Err(Refusal::bad(
            "this is a proxy: it takes CONNECT HOST:PORT and http:// addresses",
        ));
    };
    let (host, port) = server(authority, Some(HTTP_PORT))
        .ok_or_else(|| Refusal::bad("the address of the request names no valid host"))?;
    let path = target.path_and_query().map_or("/", |path| path.as_str());
    let named = if port == HTTP_PORT {
        host.to_string()
    } else {
        format!("{host}:{port}")
    };
    // The server closes the connection after its response, so every connection is one request.
    let mut forwarded =
        format!("{method} {path} HTTP/1.{version}\r\nHost: {named}\r\nConnection: close\r\n")
            .into_bytes();
    for field in parsed.headers.iter() {
        if !OWN_FIELDS
            .iter()
            .any(|own| field.name.eq_ignore_ascii_case(own))
        {
            forwarded.extend_from_slice(field.name.as_bytes());
            forwarded.extend_from_slice(b": ");
            forwarded.extend_from_slice(field.value);
            forwarded.extend_from_slice(b"\r\n");
        }
    }
    forwarded.extend_from_slice(b"\r\n");
    Ok(Request {
        host,
        port,
        credential,
        forwarded: Some(forwarded),
    })
}

/// Returns host and port; `None` if there are credentials, or no valid host and port.
fn server(authority: &Authority, port: Option<u16>) -> Option<(Host, u16)> {
    if authority.as_str().contains('@') {
        return None;
    }
    // `a:` and `a:x` have no port, which differs from a missing one.
    let bare = authority.as_str() == authority.host();
    let port = authority.port_u16().or(port.filter(|_| bare))?;
    Some((host_name(authority.host())?, port)).filter(|_| port > 0)
}
