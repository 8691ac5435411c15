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
    /// A value of an operation is not one of those that are allowed.
    #[error("`{found}` is not a {name}: it is one of {allowed}")]
    Value {
        /// Name of the member.
        name: &'static str,
        /// The value.
        found: String,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// The RSA key pair of the App cannot be generated.
    #[error("the simulator cannot generate a key pair: {message}")]
    Keys {
        /// Reason given by the cryptography library.
        message: String,
    },
    /// A text is not a private key.
    #[error(
        "it is no RSA private key in PEM form, whose first line is -----BEGIN RSA PRIVATE KEY-----"
    )]
    NoKey,
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

    pub(crate) fn value(name: &'static str, found: &str, allowed: &'static str) -> Self {
        Self::Value {
            name,
            found: found.to_owned(),
            allowed,
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
        assert_eq!(
            SimulatorError::value("role", "owner", "read, write").to_string(),
            "`owner` is not a role: it is one of read, write"
        );
        let message = "no randomness".to_owned();
        assert_eq!(
            SimulatorError::Keys { message }.to_string(),
            "the simulator cannot generate a key pair: no randomness"
        );
    }
}
