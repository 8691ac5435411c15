//! Sessions: who is logged in, in a signed cookie.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Viewer;
use super::seal::{Purpose, Seal, random};
use crate::engine::model::time::Millis;

/// Time after which a session ends: a working day.
pub(super) const LIFETIME: Duration = Duration::from_hours(8);

/// The session of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    viewer: Viewer,
    /// Random id of the session; `None` if the request carries the operator's token itself.
    id: Option<String>,
}

/// The content of the cookie.
#[derive(Serialize, Deserialize)]
struct Ticket {
    viewer: Viewer,
    issued: Millis,
    expires: Millis,
    id: String,
}

impl Session {
    /// Returns the session of a program that sends the operator's token with every request.
    pub(super) fn of_program() -> Self {
        Self {
            viewer: Viewer::Operator,
            id: None,
        }
    }

    /// Returns the value of the cookie of a new session.
    pub(super) fn begin(seal: &Seal, viewer: Viewer, now: Millis) -> String {
        let ticket = Ticket {
            viewer,
            issued: now,
            expires: now.plus(LIFETIME),
            id: random(),
        };
        seal.seal(Purpose::Session, &ticket)
    }

    /// Returns the session of a cookie, unless it is forged or has ended.
    pub(super) fn open(seal: &Seal, cookie: &str, now: Millis) -> Option<Self> {
        let ticket: Ticket = seal.open(Purpose::Session, cookie)?;
        // A version with a shorter lifetime also ends the sessions of an earlier one.
        let ended = now >= ticket.expires || now.since(ticket.issued) >= LIFETIME;
        (!ended).then_some(Self {
            viewer: ticket.viewer,
            id: Some(ticket.id),
        })
    }

    /// Returns who is logged in.
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Returns whether a program makes the request, with the operator's token.
    pub fn is_program(&self) -> bool {
        self.id.is_none()
    }

    /// Returns the id, to which the tokens in forms are bound.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use secrecy::SecretString;

    use super::*;

    #[test]
    fn sessions_end_after_eight_hours() {
        let seal = Seal::new([Some(&SecretString::from("token")), None]);
        let ada = Viewer::Person {
            id: 7,
            login: "ada".to_owned(),
        };
        let begun = Millis(1_000_000);
        for viewer in [Viewer::Operator, ada] {
            let cookie = Session::begin(&seal, viewer.clone(), begun);
            let other = Session::begin(&seal, viewer.clone(), begun);
            assert_ne!(cookie, other, "every session has an id of its own");
            let open = |now| Session::open(&seal, &cookie, now);
            let session = open(begun).unwrap();
            assert_eq!(session.viewer(), &viewer);
            assert_eq!(session.id().unwrap().len(), 43);
            let end = begun.plus(LIFETIME);
            assert_eq!(open(Millis(end.0 - 1)), Some(session));
            assert_eq!(open(end), None);
            assert_eq!(open(end.plus(LIFETIME)), None);
        }
    }

    #[test]
    fn cookies_of_other_kinds_are_no_sessions() {
        let seal = Seal::new([Some(&SecretString::from("token")), None]);
        let ticket = |expires| Ticket {
            viewer: Viewer::Operator,
            issued: Millis(0),
            expires: Millis(expires),
            id: "id".to_owned(),
        };
        let open = |cookie: &str| Session::open(&seal, cookie, Millis(1));
        assert!(open(&seal.seal(Purpose::Session, &ticket(2))).is_some());
        assert!(open(&seal.seal(Purpose::Session, &ticket(1))).is_none());
        assert!(open(&seal.seal(Purpose::Begun, &ticket(2))).is_none());
        assert!(open(&seal.seal(Purpose::Session, &"operator")).is_none());
        assert!(open("").is_none());
        // A version with a longer lifetime issued it.
        let late = LIFETIME.as_millis().try_into().unwrap();
        let cookie = seal.seal(Purpose::Session, &ticket(i64::MAX));
        assert!(Session::open(&seal, &cookie, Millis(late)).is_none());
    }
}
