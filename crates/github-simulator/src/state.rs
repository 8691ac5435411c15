//! Everything the simulator remembers, and how things in it are found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use tokio::sync::{mpsc, watch};

use crate::SimulatorError;
use crate::clock::Clock;
use crate::model::{
    Attachment, Comment, Delivery, Installation, Issue, Repository, User, UserKind,
};
use crate::tokens::{Token, TokenShape};
use chrono::{DateTime, Utc};

/// Addresses that answers are built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Base {
    /// Root of the REST API, e.g. `http://127.0.0.1:4000/api/v3`.
    pub(crate) api: String,
    /// Root of the pages, e.g. `http://127.0.0.1:4000`.
    pub(crate) web: String,
}

/// The registered App.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) id: u64,
    pub(crate) slug: String,
    pub(crate) public_pem: String,
    pub(crate) owner: User,
    /// The account its issues and comments appear under.
    pub(crate) bot: User,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) events: Vec<String>,
    pub(crate) created: DateTime<Utc>,
}

/// Who does something: an account, and whether through the App.
#[derive(Debug, Clone)]
pub(crate) struct Doer {
    pub(crate) user: User,
    pub(crate) via_app: bool,
}

/// Where deliveries go.
pub(crate) struct Hook {
    pub(crate) id: u64,
    pub(crate) targets: Vec<String>,
    pub(crate) secret: SecretString,
    /// Ids of delivery attempts in the order in which they are to be sent.
    pub(crate) queue: mpsc::UnboundedSender<u64>,
    /// Attempts queued or on their way.
    pub(crate) pending: watch::Sender<usize>,
}

/// The whole state; one lock around it.
pub(crate) struct State {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) base: Base,
    pub(crate) app: App,
    pub(crate) token_shape: TokenShape,
    pub(crate) users: Vec<User>,
    /// Who looks at the pages and may tick boxes there.
    pub(crate) visitor: Option<Doer>,
    pub(crate) repositories: BTreeMap<u64, Repository>,
    pub(crate) comments: BTreeMap<u64, Comment>,
    /// Files that people attached, by id.
    pub(crate) attachments: BTreeMap<u64, Attachment>,
    pub(crate) installations: BTreeMap<u64, Installation>,
    pub(crate) tokens: BTreeMap<String, Token>,
    pub(crate) deliveries: BTreeMap<u64, Delivery>,
    pub(crate) hook: Hook,
    /// Requests counted against the primary limit by installation or person, with the start of the hour.
    pub(crate) used: BTreeMap<u64, (DateTime<Utc>, u32)>,
    /// Lists leave out what was created less than this ago.
    pub(crate) list_lag: Duration,
    pub(crate) next_id: u64,
}

/// Ids start above 2^31: a client that keeps them in 32 bits must fail here, not at GitHub.
pub(crate) const FIRST_ID: u64 = 3_100_000_000;

impl State {
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Whether lists have what was created then: GitHub's lag behind its writes.
    pub(crate) fn is_listed(&self, created: DateTime<Utc>) -> bool {
        self.list_lag.is_zero() || self.now() - self.list_lag >= created
    }

    /// A new id, unique over all kinds.
    pub(crate) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn user(&self, login: &str) -> Option<&User> {
        self.users
            .iter()
            .find(|user| user.login.eq_ignore_ascii_case(login))
    }

    /// The account with this login, made if it is not there.
    pub(crate) fn user_or_new(&mut self, login: &str, kind: UserKind) -> User {
        if let Some(user) = self.user(login) {
            return user.clone();
        }
        let user = User {
            id: self.id(),
            login: login.to_owned(),
            kind,
        };
        self.users.push(user.clone());
        user
    }

    pub(crate) fn repository_named(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.values().find(|repository| {
            repository.owner.login.eq_ignore_ascii_case(owner)
                && repository.name.eq_ignore_ascii_case(name)
        })
    }

    /// Id of `owner/name`.
    pub(crate) fn repository_id(&self, full_name: &str) -> Result<u64, SimulatorError> {
        full_name
            .split_once('/')
            .and_then(|(owner, name)| self.repository_named(owner, name))
            .map(|repository| repository.id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {full_name}")))
    }

    pub(crate) fn repository(&self, id: u64) -> Result<&Repository, SimulatorError> {
        self.repositories
            .get(&id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {id}")))
    }

    pub(crate) fn repository_mut(&mut self, id: u64) -> Result<&mut Repository, SimulatorError> {
        self.repositories
            .get_mut(&id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {id}")))
    }

    pub(crate) fn issue(&self, repository: u64, number: u64) -> Result<&Issue, SimulatorError> {
        self.repository(repository)?
            .issues
            .get(&number)
            .ok_or_else(|| SimulatorError::missing(format!("issue #{number}")))
    }

    pub(crate) fn issue_mut(
        &mut self,
        repository: u64,
        number: u64,
    ) -> Result<&mut Issue, SimulatorError> {
        self.repository_mut(repository)?
            .issues
            .get_mut(&number)
            .ok_or_else(|| SimulatorError::missing(format!("issue #{number}")))
    }

    pub(crate) fn comment(&self, id: u64) -> Result<&Comment, SimulatorError> {
        self.comments
            .get(&id)
            .ok_or_else(|| SimulatorError::missing(format!("comment {id}")))
    }

    pub(crate) fn comment_mut(&mut self, id: u64) -> Result<&mut Comment, SimulatorError> {
        self.comments
            .get_mut(&id)
            .ok_or_else(|| SimulatorError::missing(format!("comment {id}")))
    }

    /// The installation that can reach a repository, suspended or not.
    pub(crate) fn installation_for(&self, repository: u64) -> Option<&Installation> {
        self.installations
            .values()
            .find(|installation| installation.repositories.contains(&repository))
    }
}
