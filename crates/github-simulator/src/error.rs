//! Errors of the simulator itself, as opposed to the errors that it answers requests with.

use std::fmt::Display;
use std::net::SocketAddr;

/// An error of the simulator itself.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// A repository, issue or other object that a call names does not exist.
    #[error("the simulator has no {what}: add it first")]
    Missing {
        /// Description of the object, e.g. `repository acme/widgets`.
        what: String,
    },
    /// The RSA key pair of the App cannot be generated.
    #[error("the simulator cannot generate a key pair: {message}")]
    Keys {
        /// Reason given by the cryptography library.
        message: String,
    },
    /// The port cannot be bound.
    #[error("the simulator cannot listen on {address}: {source}; choose another port")]
    Listen {
        /// Address that was tried.
        address: SocketAddr,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

impl SimulatorError {
    pub(crate) fn missing(what: impl Display) -> Self {
        Self::Missing {
            what: what.to_string(),
        }
    }
}

/// Result of a call to the simulator.
pub(crate) type Result<T = ()> = std::result::Result<T, SimulatorError>;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn errors_name_the_object_and_the_remedy() {
        assert_eq!(
            SimulatorError::missing("repository a/b").to_string(),
            "the simulator has no repository a/b: add it first"
        );
        let listen = SimulatorError::Listen {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
            source: std::io::Error::other("in use"),
        };
        assert_eq!(
            listen.to_string(),
            "the simulator cannot listen on 127.0.0.1:80: in use; choose another port"
        );
        let message = "no randomness".to_owned();
        assert_eq!(
            SimulatorError::Keys { message }.to_string(),
            "the simulator cannot generate a key pair: no randomness"
        );
    }
}
