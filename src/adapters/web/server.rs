//! The accept loop.
//!
//! `axum::serve` sets no limit on connections and no time for the headers, so hyper's connection is driven here:
//! a connection that has not sent its headers in time, or idles, is closed; one over the limit waits in the backlog. One
//! address on the internet can use up half of the limit: the rest stays open to GitHub.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Time for the headers of a request, and how long a kept-alive connection may idle. Well below the 10 seconds after which
/// GitHub gives up: a delivery that waits for a connection slot gets one from idle or slow clients in time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// Read buffer of a connection: GitHub's headers are about 1 kB, most bodies under 32 kB.
const CONNECTION_BUFFER: usize = 64 * 1024;

/// How long requests in flight may take once the server is told to stop: GitHub waits no longer than 10 seconds.
const DRAIN: Duration = Duration::from_secs(10);

/// Pause after a failed accept (out of file descriptors): trying at once would only burn the processor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` until `stop`, then takes no more connections, finishes the requests in flight and returns.
///
/// At most `max_connections` connections are open at once.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    max_connections: usize,
    stop: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(max_connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(CONNECTION_BUFFER);
    let service = TowerToHyperService::new(app);
    let peers = Peers::of(max_connections);
    while let Some((slot, stream, address)) = next(&listener, &slots, &stop).await {
        let Some(peer) = peers.admit(address.ip()) else {
            tracing::debug!(%address, "connection refused: too many from this address");
            continue;
        };
        // An acknowledgement is one small segment: it must not wait for more to send. A socket that refuses is dead
        // and says so at the first read.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), service.clone());
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::trace!(error = %error, "connection ended");
            }
            drop((slot, peer));
        });
    }
    drop(listener);
    let open = graceful.count();
    if tokio::time::timeout(DRAIN, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(open, "connections did not end in time");
    }
}

/// The next connection with its slot; `None` once told to stop.
async fn next(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(OwnedSemaphorePermit, TcpStream, SocketAddr)> {
    let accept = async {
        // Nobody closes the semaphore.
        let slot = Arc::clone(slots).acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, address)) => return Some((slot, stream, address)),
                Err(error) if is_connections_own(&error) => {}
                Err(error) => {
                    tracing::error!(error = %error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        accepted = accept => accepted,
    }
}

/// The connection broke before it was accepted: no fault of the listener.
fn is_connections_own(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// How many connections each address has open.
#[derive(Clone)]
struct Peers {
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
    most: usize,
}

/// A connection that counts for its address until this is dropped.
struct Peer {
    peers: Peers,
    address: IpAddr,
}

impl Peers {
    fn of(max_connections: usize) -> Self {
        Self {
            open: Arc::default(),
            most: max_connections.div_ceil(2),
        }
    }

    /// Counts a connection from `address`; `None` when it has too many.
    fn admit(&self, address: IpAddr) -> Option<Peer> {
        let address = client(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= self.most && !proxies(address) {
            return None;
        }
        *count += 1;
        Some(Peer {
            peers: self.clone(),
            address,
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let mut open = self
            .peers
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// What one client can use as its address: a whole IPv6 network of 64 bits.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        short @ IpAddr::V4(_) => short,
    }
}

/// The address can be that of a reverse proxy, behind which there are many clients.
fn proxies(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(short) => short.is_loopback() || short.is_private() || short.is_link_local(),
        // The loopback address ends up as `::` in its network.
        IpAddr::V6(long) => {
            long.is_unspecified() || long.is_unique_local() || long.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn one_address_on_the_internet_gets_half_of_the_connections() {
        let peers = Peers::of(4);
        for (first, same, other) in [
            ("192.0.2.7", "::ffff:192.0.2.7", "192.0.2.8"),
            ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"),
        ] {
            let [first, same, other]: [IpAddr; 3] =
                [first, same, other].map(|address| address.parse().unwrap());
            let (one, _two) = (peers.admit(first).unwrap(), peers.admit(same).unwrap());
            assert!(peers.admit(first).is_none(), "{first}");
            assert!(peers.admit(other).is_some(), "{other}");
            drop(one);
            assert!(peers.admit(same).is_some(), "{same}");
        }
        assert_eq!(peers.open.lock().unwrap().len(), 0);
    }

    #[test]
    fn a_reverse_proxy_may_use_all_connections() {
        let peers = Peers::of(2);
        for address in [
            "127.0.0.1",
            "::1",
            "10.0.0.1",
            "fd00::1",
            "::ffff:172.16.0.1",
        ] {
            let address: IpAddr = address.parse().unwrap();
            let open: Vec<Peer> = (0..4).map_while(|_| peers.admit(address)).collect();
            assert_eq!(open.len(), 4, "{address}");
        }
    }
}
