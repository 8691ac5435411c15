//! The hosts that agents may reach: the grammar of `agent.hosts`, and which addresses match.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// Port of a host that is named without one.
pub const DEFAULT_PORT: u16 = 443;

/// A host and a port that agents may reach: an exact name, an IP address, or all names that end in
/// a domain (`*.example.com`, which does not match `example.com` itself).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    /// The name in lower case, or the address. With `any_below`, the domain.
    host: Host,
    /// Whether the names below `host` are meant.
    any_below: bool,
    port: u16,
}

impl AllowedHost {
    /// Creates the entry for one host.
    pub fn new(host: Host, port: u16) -> Self {
        Self {
            host,
            any_below: false,
            port,
        }
    }

    /// Parses `host` or `host:port`, where `host` is a name, an IPv4 address, an IPv6 address in
    /// brackets, or `*.` and a domain of at least two labels. Returns `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (any_below, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !rest.ends_with(']') => {
                (host, port.parse().ok().filter(|port| *port > 0)?)
            }
            _ => (rest, DEFAULT_PORT),
        };
        let host = host_name(host)?;
        let fits = match &host {
            Host::Domain(name) => !any_below || name.contains('.'),
            Host::Ipv4(_) | Host::Ipv6(_) => !any_below,
        };
        fits.then_some(Self {
            host,
            any_below,
            port,
        })
    }

    /// Creates the entry for the host and port of an address; `None` for one that has no host.
    pub fn of_url(url: &Url) -> Option<Self> {
        Some(Self::new(
            host_name(url.host_str()?)?,
            url.port_or_known_default()?,
        ))
    }

    /// Returns whether this entry allows connections to `port` of `host`, which is normalised by
    /// [`host_name`].
    pub fn allows(&self, host: &Host, port: u16) -> bool {
        let matches = match (&self.host, host) {
            (Host::Domain(end), Host::Domain(name)) if self.any_below => name
                .strip_suffix(end.as_str())
                .is_some_and(|start| start.len() > 1 && start.ends_with('.')),
            (own, other) => own == other,
        };
        matches && port == self.port
    }

    /// Returns the host; with `*.`, the domain behind it.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the address if the entry names one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = if self.any_below { "*." } else { "" };
        write!(f, "{start}{}:{}", self.host, self.port)
    }
}

/// Parses the host of an address: a name without its final dot and in lower case, or an IP address
/// in any of its spellings (`127.1`, `0x7f000001`), which the system's resolver understands, too.
/// Returns `None` unless it is made of what host names are made of.
pub fn host_name(text: &str) -> Option<Host> {
    match Host::parse(text.strip_suffix('.').unwrap_or(text)).ok()? {
        Host::Domain(name) => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            let label = |label: &str| {
                !label.is_empty() && !label.starts_with('-') && label.bytes().all(plain)
            };
            name.split('.').all(label).then_some(Host::Domain(name))
        }
        address => Some(address),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn hosts_are_names_addresses_and_ends_of_names_with_a_port() {
        for (text, shown) in [
            ("api.anthropic.com", "api.anthropic.com:443"),
            ("API.Anthropic.COM.", "api.anthropic.com:443"),
            ("localhost:8080", "localhost:8080"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("127.1", "127.0.0.1:443"),
            ("[::1]", "[::1]:443"),
            ("[0:0::1]:65535", "[::1]:65535"),
            ("*.example.com", "*.example.com:443"),
            ("*.example.com:8443", "*.example.com:8443"),
        ] {
            assert_eq!(AllowedHost::parse(text).unwrap().to_string(), shown);
        }
        for wrong in [
            "",
            "*",
            "*.",
            "*.com",
            "*.127.0.0.1",
            "a.*.com",
            "*example.com",
            "https://a.b",
            "a.b/c",
            "u@a.b",
            "a.b:",
            "a.b:0",
            "a.b:65536",
            "a.b:x",
            "a..b",
            ".a.b",
            "::1",
            "a b",
            "a.b:1:2",
            "-a.b",
            "a,b",
            "a.b\n",
        ] {
            assert_eq!(AllowedHost::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_name_below_a_domain_is_not_one_that_merely_ends_like_it() {
        for (entry, host, port, allowed) in [
            ("a.example.com", "a.example.com", 443, true),
            ("a.example.com", "A.EXAMPLE.COM.", 443, true),
            ("a.example.com", "a.example.com", 80, false),
            ("a.example.com", "b.a.example.com", 443, false),
            ("*.example.com", "a.example.com", 443, true),
            ("*.example.com", "b.a.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "evilexample.com", 443, false),
            ("*.example.com", "example.com.evil.net", 443, false),
            ("127.0.0.1:80", "0x7f.1", 80, true),
            ("127.0.0.1:80", "127.0.0.2", 80, false),
            ("localhost:80", "127.0.0.1", 80, false),
        ] {
            let host = host_name(host).unwrap();
            assert_eq!(
                AllowedHost::parse(entry).unwrap().allows(&host, port),
                allowed,
                "{entry} {host}"
            );
        }
    }
}
