//! Everything the simulator remembers, and how things in it are found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use tokio::sync::{mpsc, watch};

use super::SimulatorError;
use super::model::{
    Attachment, Comment, Delivery, Installation, Issue, Repository, User, UserKind,
};
use super::tokens::{Token, TokenShape};
use crate::engine::clock::{Clock, Millis};

/// Addresses that answers are built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    /// Root of the REST API, e.g. `http://127.0.0.1:4000/api/v3`.
    pub(super) api: String,
    /// Root of the pages, e.g. `http://127.0.0.1:4000`.
    pub(super) web: String,
}

/// The registered App.
#[derive(Debug, Clone)]
pub(super) struct App {
    pub(super) id: u64,
    pub(super) slug: String,
    pub(super) public_pem: String,
    pub(super) owner: User,
    /// The account its issues and comments appear under.
    pub(super) bot: User,
    pub(super) permissions: BTreeMap<String, String>,
    pub(super) events: Vec<String>,
    pub(super) created: Millis,
}

/// Who does something: an account, and whether through the App.
#[derive(Debug, Clone)]
pub(super) struct Doer {
    pub(super) user: User,
    pub(super) via_app: bool,
}

/// Where deliveries go.
pub(super) struct Hook {
    pub(super) id: u64,
    pub(super) targets: Vec<String>,
    pub(super) secret: SecretString,
    /// Ids of delivery attempts in the order in which they are to be sent.
    pub(super) queue: mpsc::UnboundedSender<u64>,
    /// Attempts queued or on their way.
    pub(super) pending: watch::Sender<usize>,
}

/// The whole state; one lock around it.
pub(super) struct State {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) base: Base,
    pub(super) app: App,
    pub(super) token_shape: TokenShape,
    pub(super) users: Vec<User>,
    /// Who looks at the pages and may tick boxes there.
    pub(super) visitor: Option<Doer>,
    pub(super) repositories: BTreeMap<u64, Repository>,
    pub(super) comments: BTreeMap<u64, Comment>,
    /// Files that people attached, by id.
    pub(super) attachments: BTreeMap<u64, Attachment>,
    pub(super) installations: BTreeMap<u64, Installation>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) deliveries: BTreeMap<u64, Delivery>,
    pub(super) hook: Hook,
    /// Requests counted against the primary limit by installation or person, with the start of the hour.
    pub(super) used: BTreeMap<u64, (Millis, u32)>,
    /// Lists leave out what was created less than this ago.
    pub(super) list_lag: Duration,
    pub(super) next_id: u64,
}

/// Ids start above 2^31: a client that keeps them in 32 bits must fail here, not at GitHub.
pub(super) const FIRST_ID: u64 = 3_100_000_000;

impl State {
    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Whether lists have what was created then: GitHub's lag behind its writes.
    pub(super) fn is_listed(&self, created: Millis) -> bool {
        self.list_lag.is_zero() || self.now().since(created) >= self.list_lag
    }

    /// A new id, unique over all kinds.
    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn user(&self, login: &str) -> Option<&User> {
        self.users
            .iter()
            .find(|user| user.login.eq_ignore_ascii_case(login))
    }

    /// The account with this login, made if it is not there.
    pub(super) fn user_or_new(&mut self, login: &str, kind: UserKind) -> User {
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

    pub(super) fn repository_named(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.values().find(|repository| {
            repository.owner.login.eq_ignore_ascii_case(owner)
                && repository.name.eq_ignore_ascii_case(name)
        })
    }

    /// Id of `owner/name`.
    pub(super) fn repository_id(&self, full_name: &str) -> Result<u64, SimulatorError> {
        full_name
            .split_once('/')
            .and_then(|(owner, name)| self.repository_named(owner, name))
            .map(|repository| repository.id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {full_name}")))
    }

    pub(super) fn repository(&self, id: u64) -> Result<&Repository, SimulatorError> {
        self.repositories
            .get(&id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {id}")))
    }

    pub(super) fn repository_mut(&mut self, id: u64) -> Result<&mut Repository, SimulatorError> {
        self.repositories
            .get_mut(&id)
            .ok_or_else(|| SimulatorError::missing(format!("repository {id}")))
    }

    pub(super) fn issue(&self, repository: u64, number: u64) -> Result<&Issue, SimulatorError> {
        self.repository(repository)?
            .issues
            .get(&number)
            .ok_or_else(|| SimulatorError::missing(format!("issue #{number}")))
    }

    pub(super) fn issue_mut(
        &mut self,
        repository: u64,
        number: u64,
    ) -> Result<&mut Issue, SimulatorError> {
        self.repository_mut(repository)?
            .issues
            .get_mut(&number)
            .ok_or_else(|| SimulatorError::missing(format!("issue #{number}")))
    }

    pub(super) fn comment(&self, id: u64) -> Result<&Comment, SimulatorError> {
        self.comments
            .get(&id)
            .ok_or_else(|| SimulatorError::missing(format!("comment {id}")))
    }

    pub(super) fn comment_mut(&mut self, id: u64) -> Result<&mut Comment, SimulatorError> {
        self.comments
            .get_mut(&id)
            .ok_or_else(|| SimulatorError::missing(format!("comment {id}")))
    }

    /// The installation that can reach a repository, suspended or not.
    pub(super) fn installation_for(&self, repository: u64) -> Option<&Installation> {
        self.installations
            .values()
            .find(|installation| installation.repositories.contains(&repository))
    }
}
