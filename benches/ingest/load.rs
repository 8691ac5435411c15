//! A closed-loop HTTP/1.1 load generator: each of N keep-alive connections sends its next request
//! when the last one is answered.

use std::collections::BTreeMap;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use planwright::adapters::signature;
use secrecy::SecretString;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Outcome;

/// Bodies and the secret to sign them. Every request gets its own delivery ID and comment ID.
pub(crate) struct Mix {
    pub(crate) event: &'static str,
    /// Each body with the offset of its comment ID, which has [`COMMENT_DIGITS`] digits.
    pub(crate) bodies: Vec<(Vec<u8>, usize)>,
    pub(crate) secret: SecretString,
}

/// Number of digits of a comment ID.
pub(crate) const COMMENT_DIGITS: usize = 10;

/// The answers to the requests.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Response times of all counted answers, in microseconds.
    micros: Vec<u32>,
    /// Number of counted answers by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Numbers (see [`guid`]) of all deliveries that were answered with 2xx.
    pub(crate) acknowledged: Vec<u64>,
}

impl Answers {
    /// Returns the number of counted answers.
    pub(crate) fn count(&self) -> usize {
        self.micros.len()
    }

    /// Returns a quantile of the response times, in milliseconds.
    pub(crate) fn quantile_ms(&mut self, share: f64) -> f64 {
        self.micros.sort_unstable();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a length"
        )]
        let index = (self.micros.len() as f64 * share) as usize;
        let last = self.micros.len().saturating_sub(1);
        self.micros
            .get(index.min(last))
            .map_or(0.0, |micros| f64::from(*micros) / 1000.0)
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Returns the delivery ID for a number. The number is scrambled (splitmix64, a bijection, so IDs
/// are unique) because GUIDs are random, and consecutive IDs would make the store's index faster
/// than it is in practice.
pub(crate) fn guid(number: u64) -> String {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    format!(
        "{:08x}-{:04x}-4{:03x}-8000-{:012x}",
        z >> 32,
        (z >> 16) & 0xffff,
        z & 0xfff,
        z & 0xffff_ffff_ffff
    )
}

/// Sends requests to `address` for `warm`, which is not counted, and then for `time`. Calls
/// `started` when counting starts. Broken connections are reopened; the run ends early if the
/// server no longer listens.
pub(crate) fn run(
    address: SocketAddr,
    mix: &Arc<Mix>,
    connections: usize,
    (warm, time): (Duration, Duration),
    started: impl FnOnce(),
) -> Outcome<Answers> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let warm = Instant::now() + warm;
    let end = warm + time;
    let all = runtime.block_on(async {
        let loads: Vec<_> = (0..connections)
            .map(|index| tokio::spawn(connection(address, Arc::clone(mix), index, warm, end)))
            .collect();
        tokio::time::sleep_until(warm.into()).await;
        started();
        join_all(loads).await
    });
    let mut sum = Answers::default();
    for one in all {
        let one = one?;
        sum.micros.extend(one.micros);
        sum.acknowledged.extend(one.acknowledged);
        for (status, count) in one.statuses {
            *sum.statuses.entry(status).or_default() += count;
        }
    }
    Ok(sum)
}

async fn connection(
    address: SocketAddr,
    mix: Arc<Mix>,
    first: usize,
    warm: Instant,
    end: Instant,
) -> Answers {
    let mut answers = Answers::default();
    let mut stream = None;
    let mut buffer = vec![0_u8; 4096];
    for (body, id) in mix.bodies.iter().cycle().skip(first) {
        if Instant::now() >= end {
            break;
        }
        let Some(open) = &mut stream else {
            let Ok(new) = TcpStream::connect(address).await else {
                break;
            };
            // Otherwise Nagle's algorithm may delay small segments. Failure only affects the
            // measured time.
            drop(new.set_nodelay(true));
            stream = Some(new);
            continue;
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut body = body.clone();
        body[*id..id + COMMENT_DIGITS]
            .copy_from_slice(format!("{:010}", 1_000_000_000 + number).as_bytes());
        let signature = signature::sign(&mix.secret, &body);
        let head = head(mix.event, number, &signature, body.len());
        let sent = Instant::now();
        let answer = match send(open, head.as_bytes(), &body).await {
            Ok(()) => answer(open, &mut buffer).await,
            Err(_) => None,
        };
        let Some((status, last)) = answer else {
            stream = None;
            continue;
        };
        let now = Instant::now();
        if (200..300).contains(&status) {
            answers.acknowledged.push(number);
        }
        if now >= warm {
            let micros = u32::try_from((now - sent).as_micros());
            answers.micros.push(micros.unwrap_or(u32::MAX));
            *answers.statuses.entry(status).or_default() += 1;
        }
        if last {
            stream = None;
        }
    }
    answers
}

/// Returns the request head, with the headers that GitHub sends.
fn head(event: &str, number: u64, signature: &str, length: usize) -> String {
    format!(
        "POST /webhook HTTP/1.1\r\nHost: localhost\r\nUser-Agent: GitHub-Hookshot/044aadd\r\nAccept: */*\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nX-GitHub-Delivery: {}\r\n\
         X-GitHub-Event: {event}\r\nX-GitHub-Hook-ID: 4711\r\n\
         X-GitHub-Hook-Installation-Target-ID: {}\r\n\
         X-GitHub-Hook-Installation-Target-Type: integration\r\nX-Hub-Signature-256: {signature}\r\n\r\n",
        guid(number),
        crate::server::APP_ID,
    )
}

/// Sends head and body, in one segment if the socket accepts it. The body is not copied.
async fn send(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> std::io::Result<()> {
    let mut sent = 0;
    while sent < head.len() {
        sent += stream
            .write_vectored(&[IoSlice::new(&head[sent..]), IoSlice::new(body)])
            .await?;
    }
    stream.write_all(&body[sent - head.len()..]).await
}

/// Reads one answer. Returns its status and whether the server closes the connection.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Option<(u16, bool)> {
    let mut filled = 0;
    loop {
        let read = stream.read(buffer.get_mut(filled..)?).await.ok()?;
        if read == 0 {
            return None;
        }
        filled += read;
        let seen = &buffer[..filled];
        let Some(head) = seen.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&seen[..head]).ok()?;
        let status = text.get(9..12)?.parse().ok()?;
        let header = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim())
            })
        };
        let length: usize = header("content-length")?.parse().ok()?;
        let last = header("connection") == Some("close");
        let mut missing = (head + 4 + length).saturating_sub(filled);
        while missing > 0 {
            let room = missing.min(buffer.len());
            let read = stream.read(&mut buffer[..room]).await.ok()?;
            if read == 0 {
                return None;
            }
            missing -= read;
        }
        return Some((status, last));
    }
}
