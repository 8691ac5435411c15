//! Limits of the receiver: sizes, floods, slow senders, health checks, and orderly shutdown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::StatusCode;
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use planwright::adapters::webhook::{LARGE_BODIES, MAX_BODY, SMALL_BODY};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::receiver_support::{CREATED, Delivery, got, start, start_bounded};

/// JSON of exactly `size` bytes.
fn padded(size: usize) -> Bytes {
    let frame = r#"{"padding":""}"#.len();
    format!(r#"{{"padding":"{}"}}"#, "x".repeat(size - frame)).into()
}

#[tokio::test]
async fn twenty_five_mebibytes_are_taken_and_one_byte_more_is_not() {
    let rig = start().await;
    let taken = rig.send(&Delivery::new("push", padded(MAX_BODY))).await;
    assert_eq!(taken.status, 200, "{}", taken.text);
    for size in [MAX_BODY + 1, 26 * 1024 * 1024] {
        let refused = rig.send(&Delivery::new("push", padded(size))).await;
        assert_eq!(refused.status, 413);
        assert_eq!(
            refused.json()["message"],
            "the body is larger than 25 MiB, which is more than GitHub sends"
        );
    }
}

#[tokio::test]
async fn a_body_that_does_not_announce_its_size_is_bounded_too() {
    let rig = start().await;
    for (mebibytes, status) in [(1, 401), (26, 413)] {
        let delivery = Delivery::new("push", "{}").with("transfer-encoding", "chunked");
        let piece = Bytes::from(vec![b' '; 1024 * 1024]);
        let pieces =
            (0..mebibytes).map(move |_| Ok::<_, std::io::Error>(Frame::data(piece.clone())));
        let body = StreamBody::new(futures_util::stream::iter(pieces));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let request = delivery.request(&rig).body(body).unwrap();
        let got = got(client.request(request).await.unwrap()).await;
        assert_eq!(got.status, status, "{}", got.text);
    }
}

#[tokio::test]
async fn the_limit_is_for_the_webhook_alone() {
    let rig = start().await;
    assert_eq!(rig.get("/webhook").await.status, 405);
    assert_eq!(rig.get("/elsewhere").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_delivery_a_hundred_times_at_once_is_stored_once() {
    let rig = start().await;
    let delivery = Delivery::new("issue_comment", CREATED);
    let answers = join_all((0..100).map(|_| rig.send(&delivery))).await;
    let accepted = answers.iter().filter(|got| got.status == 202).count();
    let duplicates = answers.iter().filter(|got| got.status == 200).count();
    assert_eq!((accepted, duplicates), (1, 99));
    assert_eq!(rig.store.stored(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_deliveries_at_once_are_all_stored() {
    let rig = start().await;
    let deliveries: Vec<_> = (0..100)
        .map(|_| Delivery::new("issue_comment", CREATED))
        .collect();
    let answers = join_all(deliveries.iter().map(|delivery| rig.send(delivery))).await;
    assert!(answers.iter().all(|got| got.status == StatusCode::ACCEPTED));
    assert_eq!(rig.store.stored(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_forged_signatures_is_counted_and_leaves_nothing() {
    let rig = start().await;
    let forged = Delivery::new("issue_comment", CREATED).signed_with("guessed");
    for _ in 0..10 {
        let answers = join_all((0..50).map(|_| rig.send(&forged))).await;
        assert!(answers.iter().all(|got| got.status == 401));
    }
    assert_eq!(rig.receiver.forged(), 500);
    assert_eq!(rig.store.stored(), 0);
}

/// Sends raw bytes, keeps the connection open and reads what comes until the server closes it.
async fn raw(address: std::net::SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_sender_that_asks_first_is_refused_without_being_told_to_continue() {
    let rig = start().await;
    for (kind, length, status) in [
        ("text/plain", 100, "415"),
        ("application/json", 27_000_000, "413"),
    ] {
        let head = format!(
            "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\nx-github-event: push\r\n\
             x-github-delivery: a\r\nx-hub-signature-256: sha256=00\r\ncontent-length: {length}\r\n\
             expect: 100-continue\r\nconnection: close\r\n\r\n"
        );
        let answer = raw(rig.address, head.as_bytes()).await;
        let first = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&first), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_dribbles_in_is_given_up() {
    let rig = start().await;
    let head = "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-github-event: push\r\n\
                x-github-delivery: a\r\nx-hub-signature-256: sha256=00\r\ncontent-length: 100\r\n\r\nhalf";
    let before = tokio::time::Instant::now();
    let answer = raw(rig.address, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(
        answer.contains("the body stopped arriving: less than 16 KiB of it came in 3 seconds"),
        "{answer}"
    );
    assert!(before.elapsed() >= Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn headers_that_dribble_in_end_the_connection() {
    let rig = start().await;
    let before = tokio::time::Instant::now();
    let answer = raw(rig.address, b"POST /webhook HTTP/1.1\r\nhost: x\r\nx-a").await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408 "),
        "{answer}"
    );
    let waited = before.elapsed();
    assert!(
        waited >= Duration::from_secs(5) && waited < Duration::from_secs(10),
        "{waited:?}"
    );
}

#[tokio::test]
async fn large_bodies_that_are_announced_and_not_sent_keep_nobody_waiting() {
    let rig = start().await;
    let head = "POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-github-event: push\r\n\
                x-github-delivery: a\r\nx-hub-signature-256: sha256=00\r\ncontent-length: 1000000\r\n\
                expect: 100-continue\r\nconnection: close\r\n\r\n";
    let mut announcing = Vec::new();
    for _ in 0..LARGE_BODIES + 4 {
        let mut stream = TcpStream::connect(rig.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server asks for the body.
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 100");
        announcing.push(stream);
    }
    for size in [SMALL_BODY, SMALL_BODY + 1, 1_000_000] {
        let sent = rig.send(&Delivery::new("push", padded(size))).await;
        assert_eq!(sent.status, 200, "{}", sent.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_long_comments_are_decided() {
    let rig = start().await;
    let mut payload: serde_json::Value = serde_json::from_str(CREATED).unwrap();
    let text = "/plan-help\n\n".to_owned() + &"*_".repeat(32_000);
    payload["comment"]["body"] = json!(text);
    let deliveries: Vec<_> = (0..8)
        .map(|_| Delivery::new("issue_comment", payload.to_string()))
        .collect();
    let all = join_all(deliveries.iter().map(|delivery| rig.send(delivery)));
    let (answers, healthy) = tokio::join!(all, async {
        let mut healthy = 0;
        for _ in 0..20 {
            healthy += usize::from(rig.get("/livez").await.status == 200);
        }
        healthy
    });
    assert!(answers.iter().all(|got| got.status == StatusCode::ACCEPTED));
    assert_eq!((healthy, rig.store.stored()), (20, 8));
}

#[tokio::test(start_paused = true)]
async fn connections_over_the_limit_wait_until_one_ends() {
    let rig = start_bounded(false, 1).await;
    let request = b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let mut idle = TcpStream::connect(rig.address).await.unwrap();
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let before = tokio::time::Instant::now();
    let answer = raw(rig.address, request).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // That is when the idle one is closed.
    assert!(before.elapsed() >= Duration::from_secs(5));
}

#[tokio::test]
async fn shutdown_finishes_what_is_being_acknowledged_and_takes_nothing_new() {
    let rig = start().await;
    rig.store.gate.forget_permits(usize::MAX >> 3);
    let delivery = Delivery::new("issue_comment", CREATED);
    let address = rig.address;
    let (answer, refused) = tokio::join!(rig.send(&delivery), async {
        rig.store.entered.acquire().await.unwrap().forget();
        rig.stop.cancel();
        // The listener is gone as soon as the accept loop has seen the signal.
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        rig.store.gate.add_permits(1);
        true
    });
    assert!(refused);
    assert_eq!(answer.status, 202);
    assert_eq!(rig.store.stored(), 1);
    rig.served.await.unwrap();
}

#[tokio::test]
async fn health_says_which_check_fails_not_why_and_looks_once_a_second() {
    let rig = start().await;
    assert_eq!(rig.get("/livez").await.status, 200);
    let ready = rig.get("/readyz").await;
    assert_eq!(ready.status, 200);
    assert_eq!(
        ready.json(),
        json!({"ready": true, "checks": [{"name": "store", "ok": true}]})
    );
    rig.store.ping_fails.store(true, Ordering::SeqCst);
    rig.clock.0.fetch_add(999, Ordering::SeqCst);
    assert_eq!(rig.get("/readyz").await.status, 200);
    assert_eq!(rig.store.pings.load(Ordering::SeqCst), 1);
    rig.clock.0.fetch_add(1, Ordering::SeqCst);
    let broken = rig.get("/readyz").await;
    assert_eq!(broken.status, 503);
    // Whoever can reach the port reads this: the reason is for the log.
    assert_eq!(
        broken.json(),
        json!({"ready": false, "checks": [{"name": "store", "ok": false}]})
    );
    assert_eq!(rig.get("/livez").await.status, 200);
}
