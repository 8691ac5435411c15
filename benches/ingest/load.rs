//! A closed-loop HTTP/1.1 load generator: N keep-alive connections, each sends the next request when the last is answered.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What to send: bodies with their signatures; every request gets a delivery id of its own.
pub struct Mix {
    pub event: &'static str,
    pub bodies: Vec<(Vec<u8>, String)>,
}

/// What came back in one measurement.
#[derive(Debug, Default, Clone)]
pub struct Figures {
    pub per_second: f64,
    pub p50: Duration,
    pub p99: Duration,
    /// Answers by status.
    pub statuses: std::collections::BTreeMap<u16, u64>,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// Loads `address` over `connections` for `time`; answers during the first fifth are not counted.
pub fn run(address: SocketAddr, mix: &Arc<Mix>, connections: usize, time: Duration) -> Figures {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let counted = Arc::new(Mutex::new((Vec::<u32>::new(), Figures::default())));
        let began = Instant::now();
        let warm = began + time / 5;
        let end = warm + time;
        let tasks: Vec<_> = (0..connections)
            .map(|index| {
                let (mix, counted) = (Arc::clone(mix), Arc::clone(&counted));
                tokio::spawn(async move {
                    let (micros, statuses) = connection(address, &mix, index, warm, end).await;
                    let mut counted = counted.lock().expect("no panic holds it");
                    counted.0.extend(micros);
                    for (status, n) in statuses {
                        *counted.1.statuses.entry(status).or_default() += n;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("connection task");
        }
        let (mut micros, mut figures) = std::mem::take(&mut *counted.lock().expect("all tasks ended"));
        micros.sort_unstable();
        let at = |share: f64| {
            let index = ((micros.len() as f64 * share) as usize).min(micros.len().saturating_sub(1));
            Duration::from_micros(micros.get(index).copied().unwrap_or(0).into())
        };
        figures.per_second = micros.len() as f64 / time.as_secs_f64();
        (figures.p50, figures.p99) = (at(0.5), at(0.99));
        figures
    })
}

async fn connection(
    address: SocketAddr,
    mix: &Mix,
    index: usize,
    warm: Instant,
    end: Instant,
) -> (Vec<u32>, Vec<(u16, u64)>) {
    let mut micros = Vec::new();
    let mut statuses = std::collections::BTreeMap::<u16, u64>::new();
    let mut stream = TcpStream::connect(address).await.expect("connect");
    stream.set_nodelay(true).expect("nodelay");
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut turn = index;
    while Instant::now() < end {
        let (body, signature) = &mix.bodies[turn % mix.bodies.len()];
        turn += 1;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut request = format!(
            "POST /webhook HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             user-agent: GitHub-Hookshot/bench\r\nx-github-event: {}\r\n\
             x-github-delivery: 00000000-0000-4000-8000-{id:012x}\r\nx-hub-signature-256: {signature}\r\n\
             content-length: {}\r\n\r\n",
            mix.event,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(body);
        let sent = Instant::now();
        if stream.write_all(&request).await.is_err() {
            stream = TcpStream::connect(address).await.expect("reconnect");
            continue;
        }
        let Some((status, close)) = answer(&mut stream, &mut buffer).await else {
            stream = TcpStream::connect(address).await.expect("reconnect");
            continue;
        };
        let now = Instant::now();
        if now >= warm {
            micros.push(u32::try_from((now - sent).as_micros()).unwrap_or(u32::MAX));
            *statuses.entry(status).or_default() += 1;
        }
        if close {
            stream = TcpStream::connect(address).await.expect("reconnect");
        }
    }
    (micros, statuses.into_iter().collect())
}

/// Reads one answer; its status and whether the server closes the connection.
async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Option<(u16, bool)> {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await.ok()?;
        if read == 0 {
            return None;
        }
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&buffer[..head]).ok()?.to_ascii_lowercase();
        let status = text.get(9..12)?.parse().ok()?;
        let length: usize = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(0);
        let close = text.contains("connection: close");
        while filled < head + 4 + length {
            let read = stream.read(&mut buffer[filled..]).await.ok()?;
            if read == 0 {
                return None;
            }
            filled += read;
        }
        return Some((status, close));
    }
}
