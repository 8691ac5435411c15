//! A small HTTP proxy on the loopback interface, through which confined agents reach the hosts of
//! their model and nothing else.
//!
//! It passes bytes on (`CONNECT`) and forwards plain HTTP requests (`GET http://…`), one per
//! connection. It resolves names itself, so agents need no DNS. Every turn has a credential of its
//! own, so that other programs of this computer cannot use the proxy, and all connections of a turn
//! are closed when it ends.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::io::InspectReader;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Host;
use uuid::Uuid;

use self::connect::Connector;
use self::request::{Refusal, Request};
use super::network::ModelNetwork;
use crate::adapters::redact::Redactor;
use crate::engine::clock::Clock;
use crate::engine::model::run::RunId;
use crate::engine::settings::hosts::AllowedHost;

mod connect;
mod request;

/// Maximum number of connections of one turn. Claude Code has up to ten.
const MAX_TURN_CONNECTIONS: usize = 64;

/// Maximum number of connections of all turns, and of programs without a credential. Further ones
/// wait.
const MAX_CONNECTIONS: usize = 1_024;

/// Maximum length of the head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Maximum time for the head of a request.
const MAX_HEAD_TIME: Duration = Duration::from_secs(10);

/// Maximum time for a connection to a server, including the resolution of its name.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(30);

/// Time without a byte in either direction after which a connection is closed: as long as Claude
/// Code waits for an answer. It takes up to twice as long.
const MAX_IDLE: Duration = Duration::from_mins(10);

/// Maximum number of bytes that are read from a client after a refusal, so that it reads the answer
/// before the connection is closed.
const MAX_UNREAD_BYTES: u64 = 1024 * 1024;

/// Maximum number of refused connections of one turn that are logged.
const MAX_LOGGED_REFUSALS: u32 = 20;

/// Pause after a failed accept (out of file descriptors), to avoid a busy loop.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// User name in the credential of a turn.
const USER: &str = "turn";

/// The proxy. It ends when this value is dropped.
pub(super) struct Proxy {
    shared: Arc<Shared>,
    port: u16,
    /// Taken when the proxy starts to serve, which needs a runtime.
    listener: Mutex<Option<StdListener>>,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

struct Shared {
    hosts: Vec<AllowedHost>,
    connector: Connector,
    clock: Arc<dyn Clock>,
    redactor: Redactor,
    turns: Mutex<HashMap<CredentialHash, Arc<Turn>>>,
}

/// Hash of the value of `Proxy-Authorization`: finding it takes the same time for any wrong value.
type CredentialHash = [u8; 32];

/// A turn that may use the proxy.
struct Turn {
    run: RunId,
    /// The span of log lines about the run.
    span: tracing::Span,
    ended: CancellationToken,
    slots: Arc<Semaphore>,
    refusals: AtomicU32,
}

/// The access of one turn. Dropping it makes the credential invalid and closes the turn's
/// connections.
pub(super) struct Access {
    shared: Arc<Shared>,
    hash: CredentialHash,
    turn: Arc<Turn>,
    /// Address of the proxy with the credential.
    pub(super) url: SecretString,
}

impl Drop for Access {
    fn drop(&mut self) {
        self.shared.turns().remove(&self.hash);
        self.turn.ended.cancel();
    }
}

impl Proxy {
    /// Binds a free port of the loopback interface. Connections are served once there is a turn.
    pub(super) fn open(
        network: &ModelNetwork,
        clock: Arc<dyn Clock>,
        redactor: Redactor,
    ) -> io::Result<Self> {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let stop = CancellationToken::new();
        Ok(Self {
            port: listener.local_addr()?.port(),
            listener: Mutex::new(Some(listener)),
            shared: Arc::new(Shared {
                hosts: network.hosts.clone(),
                connector: Connector::new(network),
                clock,
                redactor,
                turns: Mutex::default(),
            }),
            _stop_on_drop: stop.clone().drop_guard(),
            stop,
        })
    }

    /// Returns the port.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Admits a turn of `run`. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// The runtime cannot watch the socket.
    pub(super) fn admit(&self, run: &RunId) -> io::Result<Access> {
        let first = self
            .listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(listener) = first {
            let listener = TcpListener::from_std(listener)?;
            tokio::spawn(serve(Arc::clone(&self.shared), listener, self.stop.clone()));
        }
        let key = Uuid::new_v4().simple().to_string();
        let turn = Arc::new(Turn {
            run: run.clone(),
            span: tracing::Span::current(),
            ended: self.stop.child_token(),
            slots: Arc::new(Semaphore::new(MAX_TURN_CONNECTIONS)),
            refusals: AtomicU32::new(0),
        });
        let hash = hash(STANDARD.encode(format!("{USER}:{key}")).as_bytes());
        self.shared.turns().insert(hash, Arc::clone(&turn));
        let url = format!("http://{USER}:{key}@{}:{}", Ipv4Addr::LOCALHOST, self.port);
        Ok(Access {
            shared: Arc::clone(&self.shared),
            hash,
            turn,
            url: url.into(),
        })
    }
}

fn hash(credential: &[u8]) -> CredentialHash {
    Sha256::digest(credential).into()
}

/// Accepts connections until `stop`.
async fn serve(shared: Arc<Shared>, listener: TcpListener, stop: CancellationToken) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accept = async {
        // Nobody closes the semaphore.
        while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (shared, stop) = (Arc::clone(&shared), stop.clone());
                    tokio::spawn(async move {
                        let served = stop.run_until_cancelled(shared.connection(stream));
                        served.await;
                        drop(slot);
                    });
                }
                Err(error) => {
                    tracing::debug!(%error, "the agents' proxy cannot accept a connection");
                    shared.clock.sleep(ACCEPT_RETRY_PAUSE).await;
                }
            }
        }
    };
    stop.run_until_cancelled(accept).await;
}

impl Shared {
    fn turns(&self) -> std::sync::MutexGuard<'_, HashMap<CredentialHash, Arc<Turn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one connection of a client.
    async fn connection(&self, mut client: TcpStream) {
        let Some(Err(refusal)) = self.request(&mut client).await else {
            return;
        };
        let answer = async {
            client.write_all(&refusal.response()).await?;
            client.shutdown().await?;
            // Closing a socket with unread data resets the connection, and the answer is lost.
            let mut rest = (&mut client).take(MAX_UNREAD_BYTES);
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
        };
        // A client that does not read it is none the wiser.
        let _ = self.within(MAX_HEAD_TIME, answer).await;
    }

    /// Reads the request and does what it asks for. `None` if the connection is over.
    async fn request(&self, client: &mut TcpStream) -> Option<Result<(), Refusal>> {
        let read = self.within(MAX_HEAD_TIME, read_head(client)).await;
        let (head, rest) = match read {
            None => {
                let text = "the head of the request took too long";
                return Some(Err(Refusal::new("408 Request Timeout", text)));
            }
            Some(Err(_)) => return None,
            Some(Ok(None)) => {
                let text = format!("the head of the request has more than {MAX_HEAD_BYTES} bytes");
                return Some(Err(Refusal::new(
                    "431 Request Header Fields Too Large",
                    text,
                )));
            }
            Some(Ok(Some(read))) => read,
        };
        let request = match request::parse(&head) {
            Ok(request) => request,
            Err(refusal) => return Some(Err(refusal)),
        };
        let (turn, _slot) = match self.admitted(&request) {
            Ok(admitted) => admitted,
            Err(refusal) => return Some(Err(refusal)),
        };
        let ended = turn.ended.clone();
        let relayed = self.relay(client, &turn, &request, &rest);
        ended.run_until_cancelled(relayed).await
    }

    /// Finds the turn that makes a request, and takes one of its connections.
    fn admitted(&self, request: &Request) -> Result<(Arc<Turn>, OwnedSemaphorePermit), Refusal> {
        let credential = request.credential.as_deref().and_then(|value| {
            let (scheme, credential) = value.split_at_checked("Basic ".len())?;
            scheme.eq_ignore_ascii_case(b"Basic ").then_some(credential)
        });
        let turn = credential.and_then(|credential| self.turns().get(&hash(credential)).cloned());
        let turn = turn.ok_or_else(|| {
            Refusal::new(
                "407 Proxy Authentication Required",
                "this proxy serves running agents, by the credential in their HTTPS_PROXY",
            )
        })?;
        match Arc::clone(&turn.slots).try_acquire_owned() {
            Ok(slot) => Ok((turn, slot)),
            Err(_) => Err(Refusal::new(
                "503 Service Unavailable",
                format!("an agent may have {MAX_TURN_CONNECTIONS} connections at once"),
            )),
        }
    }

    /// Connects to the server and passes bytes in both directions until one side is done.
    async fn relay(
        &self,
        client: &mut TcpStream,
        turn: &Turn,
        request: &Request,
        rest: &[u8],
    ) -> Result<(), Refusal> {
        let Request { host, port, .. } = request;
        if !self.hosts.iter().any(|allowed| allowed.allows(host, *port)) {
            let refusal = Refusal::new(
                "403 Forbidden",
                format!("agents may not connect to {host}:{port}: agent.hosts does not name it"),
            );
            self.log(turn, host, *port, &refusal);
            return Err(refusal);
        }
        let connected = self.within(MAX_CONNECT_TIME, self.connector.connect(request));
        let connected = connected.await.unwrap_or_else(|| {
            let text = format!("{host}:{port} does not accept the connection");
            Err(Refusal::new("504 Gateway Timeout", text))
        });
        let mut server = connected.inspect_err(|refusal| self.log(turn, host, *port, refusal))?;
        let started = if let Some(head) = &request.forwarded {
            server.write_all(head).await
        } else {
            let done = b"HTTP/1.1 200 Connection established\r\n\r\n";
            client.write_all(done).await
        };
        if started.is_err() || server.write_all(rest).await.is_err() {
            return Ok(());
        }
        let passed = AtomicU64::new(0);
        let count = |bytes: &[u8]| {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            passed.fetch_add(length, Ordering::Relaxed);
        };
        let mut client = InspectReader::new(client, count);
        let mut server = InspectReader::new(server, count);
        tokio::select! {
            // How a connection breaks is the business of its two ends.
            _ = copy_bidirectional(&mut client, &mut server) => {}
            () = idle(self.clock.as_ref(), &passed) => {}
        }
        Ok(())
    }

    /// Logs why a connection failed. The host is the agent's choice, so it may hold anything that
    /// the agent knows.
    fn log(&self, turn: &Turn, host: &Host, port: u16, refusal: &Refusal) {
        let _span = turn.span.enter();
        let before = turn.refusals.fetch_add(1, Ordering::Relaxed);
        if before < MAX_LOGGED_REFUSALS {
            let server = format!("{host}:{port}");
            tracing::warn!(
                run.id = %turn.run,
                server = %self.redactor.redact(&server),
                why = %self.redactor.redact(&refusal.text),
                "an agent's connection was refused"
            );
        } else if before == MAX_LOGGED_REFUSALS {
            tracing::warn!(
                run.id = %turn.run,
                "more of the agent's connections were refused; they are not logged"
            );
        }
    }

    /// Waits for `work`; `None` if it takes longer than `limit`.
    async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.clock.sleep(limit) => None,
        }
    }
}

/// Waits until no byte was passed for [`MAX_IDLE`].
async fn idle(clock: &dyn Clock, passed: &AtomicU64) {
    let mut before = passed.load(Ordering::Relaxed);
    loop {
        clock.sleep(MAX_IDLE).await;
        let now = passed.load(Ordering::Relaxed);
        if now == before {
            return;
        }
        before = now;
    }
}

/// Reads up to the empty line that ends the head of a request. Returns the head and what was read
/// behind it, or `None` if the head is too long.
async fn read_head(client: &mut TcpStream) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    const END: &[u8] = b"\r\n\r\n";
    let mut head = Vec::with_capacity(1024);
    loop {
        let seen = head.len().saturating_sub(END.len() - 1);
        if client.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let found = head.get(seen..).and_then(|new| memmem::find(new, END));
        let end = found.map(|at| seen + at + END.len());
        if end.unwrap_or(head.len()) > MAX_HEAD_BYTES {
            return Ok(None);
        }
        if let Some(end) = end {
            let rest = head.split_off(end);
            return Ok(Some((head, rest)));
        }
    }
}

#[cfg(test)]
mod tests;
