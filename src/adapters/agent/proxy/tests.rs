//! What the proxy lets through, for whom, and for how long.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::net::SocketAddr;

use async_trait::async_trait;
use secrecy::ExposeSecret;
use url::Url;

use super::*;
use crate::adapters::clock::SystemClock;
use crate::engine::model::time::Millis;

/// A clock on which waits of one length are over at once, and others never.
struct OverAtOnce(Duration);

#[async_trait]
impl Clock for OverAtOnce {
    fn now(&self) -> Millis {
        SystemClock.now()
    }

    async fn sleep(&self, duration: Duration) {
        if duration != self.0 {
            std::future::pending::<()>().await;
        }
    }
}

fn network(hosts: &[&str], environment: &[(&str, &str)]) -> ModelNetwork {
    let hosts = hosts.iter().map(|host| AllowedHost::parse(host).unwrap());
    let environment: Vec<_> = environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)))
        .collect();
    ModelNetwork::new(hosts.collect(), &environment).unwrap()
}

fn open(network: &ModelNetwork, clock: impl Clock) -> (Proxy, Access) {
    let proxy = Proxy::open(network, Arc::new(clock), Redactor::default()).unwrap();
    let access = proxy.admit(&RunId::new()).unwrap();
    (proxy, access)
}

/// A server that sends back what it gets, on a free port.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    address
}

/// The value of `Proxy-Authorization` for an address with credentials.
fn credential(url: &SecretString) -> String {
    let url = Url::parse(url.expose_secret()).unwrap();
    let pair = format!("{}:{}", url.username(), url.password().unwrap());
    format!("Basic {}", STANDARD.encode(pair))
}

async fn send(proxy: &Proxy, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port()))
        .await
        .unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Everything that the proxy answers until it closes the connection.
async fn answer(proxy: &Proxy, request: &str) -> String {
    let mut stream = send(proxy, request).await;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// The status line and the body of the answer.
async fn outcome(proxy: &Proxy, request: &str) -> String {
    let text = answer(proxy, request).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.lines().next().unwrap();
    format!("{status} | {}", body.trim_end())
}

fn connect_to(server: &str, credential: &str) -> String {
    format!(
        "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\nProxy-Authorization: {credential}\r\n\r\n"
    )
}

/// A tunnel that is known to work.
async fn tunnel(proxy: &Proxy, server: &str, access: &Access) -> TcpStream {
    let mut stream = send(proxy, &connect_to(server, &credential(&access.url))).await;
    stream.write_all(b"hello").await.unwrap();
    let expected = b"HTTP/1.1 200 Connection established\r\n\r\nhello";
    let mut read = vec![0; expected.len()];
    stream.read_exact(&mut read).await.unwrap();
    assert_eq!(read, expected);
    stream
}

#[tokio::test]
async fn a_turn_reaches_an_allowed_host_and_only_as_long_as_it_lasts() {
    let server = echo().await.to_string();
    let (proxy, access) = open(&network(&[&server], &[]), SystemClock);
    let other = proxy.admit(&RunId::new()).unwrap();
    let mut stream = tunnel(&proxy, &server, &access).await;
    let mut others = tunnel(&proxy, &server, &other).await;
    let used = credential(&access.url);
    assert_ne!(used, credential(&other.url));
    drop(access);
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    assert!(
        outcome(&proxy, &connect_to(&server, &used))
            .await
            .starts_with("HTTP/1.1 407 ")
    );
    others.write_all(b"!").await.unwrap();
    assert_eq!(others.read(&mut [0; 1]).await.unwrap(), 1);
    drop(proxy);
    assert_eq!(others.read(&mut [0; 1]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn everything_else_is_refused_with_the_reason() {
    let server = echo().await;
    let port = server.port();
    let (proxy, access) = open(&network(&[&server.to_string()], &[]), SystemClock);
    let own = credential(&access.url);
    let stranger = "HTTP/1.1 407 Proxy Authentication Required | planwright: this proxy serves \
                    running agents, by the credential in their HTTPS_PROXY";
    let elsewhere = |server: &str| {
        format!(
            "HTTP/1.1 403 Forbidden | planwright: agents may not connect to {server}: agent.hosts \
             does not name it"
        )
    };
    let bad = |why: &str| format!("HTTP/1.1 400 Bad Request | planwright: {why}");
    let short = own.get(..own.len() - 4).unwrap();
    let table = [
        (
            connect_to(&server.to_string(), "Basic dHVybjp4"),
            stranger.to_owned(),
        ),
        (connect_to(&server.to_string(), short), stranger.to_owned()),
        (
            connect_to(&server.to_string(), "Bearer x"),
            stranger.to_owned(),
        ),
        (connect_to(&server.to_string(), ""), stranger.to_owned()),
        (
            format!("CONNECT {server} HTTP/1.1\r\n\r\n"),
            stranger.to_owned(),
        ),
        (
            connect_to("evil.example:443", &own),
            elsewhere("evil.example:443"),
        ),
        (connect_to("127.0.0.1:1", &own), elsewhere("127.0.0.1:1")),
        (connect_to("127.1:1", &own), elsewhere("127.0.0.1:1")),
        (
            connect_to(&format!("localhost:{port}"), &own),
            elsewhere(&format!("localhost:{port}")),
        ),
        (
            format!("GET http://evil.example/ HTTP/1.1\r\nProxy-Authorization: {own}\r\n\r\n"),
            elsewhere("evil.example:80"),
        ),
        (
            connect_to("evil.example", &own),
            bad("CONNECT needs a host and a port"),
        ),
        (
            connect_to("user@evil.example:443", &own),
            bad("CONNECT needs a host and a port"),
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
            bad("this is a proxy: it takes CONNECT HOST:PORT and http:// addresses"),
        ),
        (
            "GET https://a/ HTTP/1.1\r\n\r\n".to_owned(),
            bad("this is a proxy: it takes CONNECT HOST:PORT and http:// addresses"),
        ),
        (
            "GET http://u:p@a/ HTTP/1.1\r\n\r\n".to_owned(),
            bad("the address of the request names no valid host"),
        ),
        ("\0\r\n\r\n".to_owned(), bad("this is not an HTTP request")),
        (
            format!(
                "GET http://a/ HTTP/1.1\r\nA: {}\r\n",
                "a".repeat(MAX_HEAD_BYTES)
            ),
            "HTTP/1.1 431 Request Header Fields Too Large | planwright: the head of the request \
             has more than 32768 bytes"
                .to_owned(),
        ),
    ];
    for (request, expected) in table {
        assert_eq!(outcome(&proxy, &request).await, expected, "{request}");
    }
}

#[tokio::test]
async fn a_plain_request_is_forwarded_without_what_is_for_the_proxy() {
    let server = echo().await.to_string();
    let (proxy, access) = open(&network(&[&server], &[]), SystemClock);
    let own = credential(&access.url);
    let request = format!(
        "POST http://{server}/v1/messages?beta=true HTTP/1.1\r\nHost: evil.example\r\n\
         Proxy-Connection: keep-alive\r\nConnection: keep-alive\r\nProxy-Authorization: {own}\r\n\
         x-api-key: the key\r\nContent-Length: 4\r\n\r\nbody"
    );
    let mut stream = send(&proxy, &request).await;
    stream.shutdown().await.unwrap();
    let mut forwarded = String::new();
    stream.read_to_string(&mut forwarded).await.unwrap();
    assert_eq!(
        forwarded,
        format!(
            "POST /v1/messages?beta=true HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\
             x-api-key: the key\r\nContent-Length: 4\r\n\r\nbody"
        )
    );
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_refused_unless_that_is_named() {
    let server = echo().await;
    let request = Request {
        host: Host::Domain("localhost".to_owned()),
        port: server.port(),
        credential: None,
        forwarded: None,
    };
    let refused = Connector::new(&network(&["*.localhost.example"], &[]));
    assert_eq!(
        refused.connect(&request).await.unwrap_err(),
        Refusal::new(
            "403 Forbidden",
            "localhost has no public network address, and agent.hosts does not name its address"
        )
    );
    for named in ["localhost:1", "127.0.0.1:1"] {
        let connector = Connector::new(&network(&[named], &[]));
        assert!(connector.connect(&request).await.is_ok(), "{named}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap().to_string();
    drop(listener);
    let (proxy, access) = open(&network(&[&server], &[]), SystemClock);
    let said = outcome(&proxy, &connect_to(&server, &credential(&access.url))).await;
    let start = format!("HTTP/1.1 502 Bad Gateway | planwright: {server} cannot be reached: ");
    assert!(
        said.starts_with(&start) && said.contains("refused"),
        "{said}"
    );
}

/// A proxy of the operator that answers with `status`, and the first connection that it gets.
async fn upstream(status: &'static str) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (head, _) = read_head(&mut stream).await.unwrap().unwrap();
        let answer = format!("HTTP/1.1 {status}\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        tokio::spawn(async move {
            let (mut from, mut to) = stream.split();
            let _ = tokio::io::copy(&mut from, &mut to).await;
        });
        String::from_utf8(head).unwrap()
    });
    (address, asked)
}

#[tokio::test]
async fn the_operators_own_proxy_is_used_with_its_password_and_not_for_this_computer() {
    let (address, asked) = upstream("200 OK").await;
    let own = format!("http://agent:hush@{address}");
    let server = echo().await.to_string();
    let given = [("HTTPS_PROXY", own.as_str())];
    let network = network(&["model.example", &server], &given);
    let (proxy, access) = open(&network, SystemClock);
    tunnel(&proxy, &server, &access).await;
    tunnel(&proxy, "model.example:443", &access).await;
    let asked = asked.await.unwrap();
    assert!(
        asked.starts_with("CONNECT model.example:443 HTTP/1.1\r\n"),
        "{asked}"
    );
    let password = format!("Basic {}", STANDARD.encode("agent:hush"));
    assert!(asked.contains(&password), "{asked}");
    assert!(!asked.contains(&credential(&access.url)), "{asked}");
}

#[tokio::test]
async fn a_refusal_of_the_operators_proxy_is_told() {
    let (address, _asked) = upstream("407 Proxy Authentication Required").await;
    let own = format!("http://{address}");
    let network = network(&["model.example"], &[("ALL_PROXY", &own)]);
    let (proxy, access) = open(&network, SystemClock);
    let request = connect_to("model.example:443", &credential(&access.url));
    assert_eq!(
        outcome(&proxy, &request).await,
        "HTTP/1.1 502 Bad Gateway | planwright: model.example:443 cannot be reached through the \
         operator's proxy: tunnel error: proxy authorization required"
    );
}

#[tokio::test]
async fn a_turn_has_a_limited_number_of_connections() {
    let server = echo().await.to_string();
    let (proxy, access) = open(&network(&[&server], &[]), SystemClock);
    let mut open = Vec::new();
    for _ in 0..MAX_TURN_CONNECTIONS {
        open.push(tunnel(&proxy, &server, &access).await);
    }
    let request = connect_to(&server, &credential(&access.url));
    assert_eq!(
        outcome(&proxy, &request).await,
        "HTTP/1.1 503 Service Unavailable | planwright: an agent may have 64 connections at once"
    );
    let other = proxy.admit(&RunId::new()).unwrap();
    tunnel(&proxy, &server, &other).await;
}

#[tokio::test]
async fn slow_heads_and_idle_connections_are_ended() {
    let server = echo().await.to_string();
    let hosts = network(&[&server], &[]);
    let (proxy, _access) = open(&hosts, OverAtOnce(MAX_HEAD_TIME));
    assert!(
        answer(&proxy, "CONNECT ")
            .await
            .starts_with("HTTP/1.1 408 Request Timeout\r\n")
    );
    let (proxy, access) = open(&hosts, OverAtOnce(MAX_IDLE));
    let request = connect_to(&server, &credential(&access.url));
    assert_eq!(
        answer(&proxy, &request).await,
        "HTTP/1.1 200 Connection established\r\n\r\n"
    );
}
