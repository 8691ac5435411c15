//! Connections to the servers that agents may reach: to public addresses and those that the
//! operator named, or through the operator's own proxy.

use std::sync::Arc;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt};
use url::Host;

use super::super::network::ModelNetwork;
use super::request::{Refusal, Request};
use crate::adapters::resolver::{NO_PUBLIC_ADDRESS, PublicResolver};
use crate::adapters::text::error_chain;
use crate::engine::settings::hosts::AllowedHost;

/// The name of this computer, which may be named like an address.
const LOCALHOST: &str = "localhost";

/// Connects to servers.
pub(super) struct Connector {
    direct: HttpConnector<PublicResolver>,
    upstream: Option<Arc<Matcher>>,
}

impl Connector {
    pub(super) fn new(network: &ModelNetwork) -> Self {
        let hosts = &network.hosts;
        let local = hosts.iter().any(|entry| is_localhost(entry.host()));
        let resolver = PublicResolver::new(local.then(|| LOCALHOST.to_owned()).into_iter())
            .with_addresses(hosts.iter().filter_map(AllowedHost::address));
        let mut direct = HttpConnector::new_with_resolver(resolver);
        direct.set_nodelay(true);
        Self {
            direct,
            upstream: network.upstream.clone(),
        }
    }

    /// Connects to the server of a request that is allowed.
    ///
    /// # Errors
    /// The answer for the client.
    pub(super) async fn connect(&self, request: &Request) -> Result<TcpStream, Refusal> {
        let Request { host, port, .. } = request;
        let scheme = match request.forwarded {
            Some(_) => "http",
            None => "https",
        };
        let uri = |scheme: &str| {
            format!("{scheme}://{host}:{port}/")
                .parse::<Uri>()
                .map_err(|_| Refusal::new("400 Bad Request", format!("{host} is not a valid host")))
        };
        let wanted = uri(scheme)?;
        let upstream = self.upstream.as_ref().filter(|_| !is_this_computer(host));
        let failed = |through: &str, error: &(dyn std::error::Error + 'static)| {
            let reasons = error_chain(error);
            let reasons: String = reasons.chars().filter(|c| !c.is_control()).collect();
            if reasons.contains(NO_PUBLIC_ADDRESS) {
                return Refusal::new(
                    "403 Forbidden",
                    format!(
                        "{host} {NO_PUBLIC_ADDRESS}, and agent.hosts does not name its address"
                    ),
                );
            }
            Refusal::new(
                "502 Bad Gateway",
                format!("{host}:{port} cannot be reached{through}: {reasons}"),
            )
        };
        let proxy = upstream.and_then(|upstream| upstream.intercept(&wanted));
        let stream = if let Some(proxy) = proxy {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), HttpConnector::new());
            if let Some(credential) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(credential.clone());
            }
            let connected = tunnel.call(wanted).await;
            connected.map_err(|error| failed(" through the operator's proxy", &error))
        } else {
            let connected = self.direct.clone().oneshot(uri("http")?).await;
            connected.map_err(|error| failed("", &error))
        };
        Ok(stream?.into_inner())
    }
}

fn is_localhost(host: &Host) -> bool {
    matches!(host, Host::Domain(name) if name == LOCALHOST)
}

/// Whether the host is this computer, which no other proxy can reach.
fn is_this_computer(host: &Host) -> bool {
    match host {
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
        Host::Domain(_) => is_localhost(host),
    }
}
