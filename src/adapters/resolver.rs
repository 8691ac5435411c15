//! Resolves names to public network addresses only: a name that anybody may own must not lead into
//! the operator's network.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower::Service;

/// Text of the error for a name without a public address.
pub(super) const NO_PUBLIC_ADDRESS: &str = "has no public network address";

/// The system's resolver without private addresses, except for trusted names and addresses.
#[derive(Debug, Clone)]
pub(super) struct PublicResolver {
    system: GaiResolver,
    trusted: Arc<HashSet<String>>,
    addresses: Arc<HashSet<IpAddr>>,
}

impl PublicResolver {
    /// Creates a resolver. The names in `trusted` may have any address.
    pub(super) fn new(trusted: impl Iterator<Item = String>) -> Self {
        Self {
            system: GaiResolver::new(),
            trusted: Arc::new(trusted.collect()),
            addresses: Arc::default(),
        }
    }

    /// Accepts these addresses for every name.
    pub(super) fn with_addresses(mut self, addresses: impl Iterator<Item = IpAddr>) -> Self {
        self.addresses = Arc::new(addresses.collect());
        self
    }
}

impl Service<Name> for PublicResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let any = self.trusted.contains(name.as_str());
        let addresses = Arc::clone(&self.addresses);
        let text = name.to_string();
        let found = self.system.call(name);
        Box::pin(async move {
            let found: Vec<SocketAddr> = found
                .await?
                .map(|address| (address, address.ip().to_canonical()))
                .filter(|(_, ip)| any || is_public(*ip) || addresses.contains(ip))
                .map(|(address, _)| address)
                .collect();
            if found.is_empty() {
                return Err(io::Error::other(format!("{text} {NO_PUBLIC_ADDRESS}")));
            }
            Ok(found.into_iter())
        })
    }
}

/// Whether the address is public: neither of a private network nor of the machine itself
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>, `iana-ipv6-special-registry`).
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && matches!(b, 18 | 19)))
}

/// Only global unicast (2000::/3) is public. Addresses that embed an IPv4 address count as that
/// one.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, second, ..] if second < 0x200 || second == 0xdb8 => false,
        [first, ..] => (0x2000..0x4000).contains(&first) && first != 0x3fff,
    }
}
