//! The accept loop.
//!
//! `axum::serve` limits neither connections nor the time for headers, so hyper is driven directly.
//! A connection that does not send its headers in time, or idles, is closed; connections over the
//! limit wait in the backlog. One address on the internet can use half of the limit, so that the
//! rest stays available to GitHub.

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

/// Time limit for the headers of a request and for idle connections. Well below the 10 seconds
/// after which GitHub gives up, so that a waiting delivery gets the slot of an idle or slow client
/// in time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum read buffer of a connection, in bytes. GitHub's headers are about 1 kB, most bodies
/// below 32 kB.
const MAX_CONNECTION_BUFFER: usize = 64 * 1024;

/// Time limit for requests in flight during shutdown. GitHub waits no longer than 10 seconds.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after a failed accept (out of file descriptors), to avoid a busy loop.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` until `stop`, then accepts no more connections, finishes the requests in flight and
/// returns.
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
        .max_buf_size(MAX_CONNECTION_BUFFER);
    let service = TowerToHyperService::new(app);
    let peers = Peers::new(max_connections);
    while let Some((slot, stream, address)) = next(&listener, &slots, &stop).await {
        let Some(peer) = peers.admit(address.ip()) else {
            tracing::debug!(%address, "connection refused: too many from this address");
            continue;
        };
        // A response is one small segment, which must not wait for more data. A broken socket fails
        // at the first read.
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
    if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(open, "connections did not end in time");
    }
}

/// Accepts the next connection with its slot; `None` on shutdown.
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
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    tracing::error!(error = %error, "cannot accept connections");
                    tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
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

/// Whether the connection broke before it was accepted, so that the listener is fine.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// The number of open connections of each address.
#[derive(Clone)]
struct Peers {
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
    max: usize,
}

/// Counts a connection for its address until dropped.
struct Peer {
    peers: Peers,
    address: IpAddr,
}

impl Peers {
    fn new(max_connections: usize) -> Self {
        Self {
            open: Arc::default(),
            max: max_connections.div_ceil(2),
        }
    }

    /// Counts a connection from `address`; `None` if it has too many.
    fn admit(&self, address: IpAddr) -> Option<Peer> {
        let address = client_key(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= self.max && !may_be_proxy(address) {
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

/// Returns the key of a client: an IPv4 address, or an IPv6 network of 64 bits, which one client
/// may own.
fn client_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        short @ IpAddr::V4(_) => short,
    }
}

/// Whether the address can be that of a reverse proxy with many clients.
fn may_be_proxy(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(short) => short.is_loopback() || short.is_private() || short.is_link_local(),
        // The network of the loopback address is `::`.
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
        let peers = Peers::new(4);
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
        let peers = Peers::new(2);
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
