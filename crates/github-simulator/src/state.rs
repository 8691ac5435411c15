//! The state of the simulated GitHub and lookups in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use secrecy::SecretString;
use tokio::sync::{mpsc, watch};

use crate::app_manifest::Registration;
use crate::clock::Clock;
use crate::error::{Result, SimulatorError};
use crate::faults::WebhookFault;
use crate::model::{
    Actor, ArchiveToken, Attachment, Authorization, Comment, Delivery, Installation, Issue,
    Repository, Role, Token, TokenFormat, TokenOwner, User, UserKind,
};
use crate::options::SimulatorOptions;
use crate::urls::BaseUrls;

/// Id of the first delivery attempt. Since February 2026 they have 19 digits
/// (octokit/request.js#797): 64 bits, which a floating-point number cannot hold.
const FIRST_DELIVERY_ID: u64 = 3_804_004_623_172_239_366;

/// Time for which deliveries are kept
/// (<https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks>).
const DELIVERY_RETENTION: Duration = Duration::from_hours(72);

/// Login of the account with which jobs of GitHub Actions write.
pub(crate) const ACTIONS: &str = "github-actions[bot]";

/// The registered App.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) id: u64,
    pub(crate) slug: String,
    pub(crate) public_pem: String,
    pub(crate) owner: User,
    /// Account that authors the App's issues and comments.
    pub(crate) bot: User,
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) events: Vec<String>,
    pub(crate) created: DateTime<Utc>,
    pub(crate) client_secret: SecretString,
    /// Where people may be sent after a login.
    pub(crate) callback_urls: Vec<String>,
}

impl App {
    /// Returns the client id, which GitHub accepts as the issuer of a JWT too.
    pub(crate) fn client_id(&self) -> String {
        format!("Iv23li{:014}", self.id)
    }
}

/// Returns what happens to a delivery; `None` if it is sent as usual.
type ChooseFault = Box<dyn Fn(&Delivery) -> Option<WebhookFault> + Send>;

/// The webhook of the App.
pub(crate) struct Webhook {
    pub(crate) id: u64,
    pub(crate) targets: Vec<String>,
    /// Whether each delivery goes to all targets.
    pub(crate) broadcast: bool,
    pub(crate) secret: SecretString,
    /// Ids of delivery attempts in the order in which they are to be sent.
    pub(crate) queue: mpsc::UnboundedSender<u64>,
    /// Number of attempts that are queued or in flight.
    pub(crate) pending: watch::Sender<usize>,
    /// Faults of new deliveries.
    pub(crate) faults: Option<ChooseFault>,
    /// Ids of attempts that are held back, in the order in which they were made.
    pub(crate) held: Vec<u64>,
}

/// The whole state, guarded by one lock.
pub(crate) struct State {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) urls: BaseUrls,
    pub(crate) app: App,
    /// Apps whose credentials were not fetched yet, by code.
    pub(crate) registrations: BTreeMap<String, Registration>,
    /// Confirmed logins through the App, by code.
    pub(crate) authorizations: BTreeMap<String, Authorization>,
    /// Ids of the people who have confirmed a login.
    pub(crate) authorized: BTreeSet<u64>,
    pub(crate) token_format: TokenFormat,
    pub(crate) comment_placeholder: String,
    pub(crate) users: Vec<User>,
    /// Person who uses the pages.
    pub(crate) visitor: Option<Actor>,
    pub(crate) repositories: BTreeMap<u64, Repository>,
    pub(crate) comments: BTreeMap<u64, Comment>,
    pub(crate) attachments: BTreeMap<u64, Attachment>,
    /// Archives that replace those of commits, by id of the repository and commit.
    pub(crate) archives: BTreeMap<(u64, String), Bytes>,
    pub(crate) archive_tokens: BTreeMap<String, ArchiveToken>,
    pub(crate) installations: BTreeMap<u64, Installation>,
    pub(crate) tokens: BTreeMap<String, Token>,
    pub(crate) deliveries: BTreeMap<u64, Delivery>,
    pub(crate) webhook: Webhook,
    /// Requests counted against the primary rate limit by token owner, with the start of the hour.
    pub(crate) used_requests: BTreeMap<u64, (DateTime<Utc>, u32)>,
    /// Age below which issues and comments are missing from lists.
    pub(crate) list_lag: Duration,
    /// Age below which attempts are missing from the log of deliveries.
    pub(crate) log_lag: Duration,
    last_delivery: u64,
    last_id: u64,
}

impl State {
    /// Returns the state of a GitHub that has only the App, its account and the App's owner.
    pub(crate) fn new(
        options: SimulatorOptions,
        web: String,
        queue: mpsc::UnboundedSender<u64>,
    ) -> Self {
        let account = |id, login, kind| User { id, login, kind };
        let first_id = options.first_id;
        let owner = format!("{}-labs", options.slug);
        let owner = account(first_id + 1, owner, UserKind::User);
        let bot = format!("{}[bot]", options.slug);
        let bot = account(first_id + 2, bot, UserKind::Bot);
        Self {
            urls: BaseUrls {
                api: web.clone(),
                web,
            },
            users: vec![owner.clone(), bot.clone()],
            app: App {
                id: options.app_id,
                slug: options.slug,
                public_pem: options.public_pem,
                owner,
                bot,
                permissions: options.permissions,
                events: options.events,
                created: options.clock.now(),
                client_secret: options.client_secret,
                callback_urls: options.callback_urls,
            },
            registrations: BTreeMap::new(),
            authorizations: BTreeMap::new(),
            authorized: BTreeSet::new(),
            token_format: options.token_format,
            comment_placeholder: options.comment_placeholder,
            visitor: None,
            repositories: BTreeMap::new(),
            comments: BTreeMap::new(),
            attachments: BTreeMap::new(),
            archives: BTreeMap::new(),
            archive_tokens: BTreeMap::new(),
            installations: BTreeMap::new(),
            tokens: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            webhook: Webhook {
                id: first_id + 3,
                targets: options.targets,
                broadcast: options.broadcast,
                secret: options.webhook_secret,
                queue,
                pending: watch::Sender::new(0),
                faults: None,
                held: Vec::new(),
            },
            used_requests: BTreeMap::new(),
            list_lag: Duration::ZERO,
            log_lag: Duration::ZERO,
            last_delivery: FIRST_DELIVERY_ID,
            last_id: first_id + 100,
            clock: options.clock,
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Returns whether an object created at this time is in lists already, given the list lag.
    pub(crate) fn is_listed(&self, created: DateTime<Utc>) -> bool {
        self.list_lag.is_zero() || self.now() - self.list_lag >= created
    }

    /// Returns a new id, unique over all kinds of objects.
    pub(crate) fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Returns the id of a new delivery attempt.
    pub(crate) fn new_delivery_id(&mut self) -> u64 {
        // GitHub's are not consecutive.
        self.last_delivery += 1009;
        self.last_delivery
    }

    /// Returns whether the log of deliveries still has an attempt of this time.
    pub(crate) fn is_retained(&self, delivery: &Delivery) -> bool {
        delivery.delivered + DELIVERY_RETENTION >= self.now()
    }

    pub(crate) fn user(&self, login: &str) -> Option<&User> {
        let mut users = self.users.iter();
        users.find(|user| user.login.eq_ignore_ascii_case(login))
    }

    /// Returns the account with this login, creating it if there is none.
    pub(crate) fn user_or_new(&mut self, login: &str, kind: UserKind) -> User {
        if let Some(user) = self.user(login) {
            return user.clone();
        }
        let user = User {
            id: self.new_id(),
            login: login.to_owned(),
            kind,
        };
        self.users.push(user.clone());
        user
    }

    /// Returns the person with this login as an actor, creating the account if there is none.
    pub(crate) fn person(&mut self, login: &str) -> Actor {
        Actor::person(self.user_or_new(login, UserKind::User))
    }

    /// Returns the App as an actor.
    pub(crate) fn app_actor(&self) -> Actor {
        Actor {
            user: self.app.bot.clone(),
            via_app: true,
        }
    }

    /// Returns the actor behind a token.
    pub(crate) fn actor(&self, token: &Token) -> Actor {
        let person = match token.owner {
            TokenOwner::Person(id) => self.users.iter().find(|user| user.id == id),
            TokenOwner::Job(_) => self.user(ACTIONS),
            TokenOwner::Installation(_) | TokenOwner::Anonymous => None,
        };
        person.map_or_else(|| self.app_actor(), |user| Actor::person(user.clone()))
    }

    /// Returns whether a token has access to a repository beyond what is public.
    pub(crate) fn has_access(&self, token: &Token, repository: &Repository) -> bool {
        let id = repository.id;
        match token.owner {
            TokenOwner::Installation(installation) => {
                let installation = self.installations.get(&installation);
                let limit = token.repositories.as_ref();
                installation.is_some_and(|installation| installation.repositories.contains(&id))
                    && limit.is_none_or(|limit| limit.contains(&id))
            }
            TokenOwner::Person(person) => repository.role(person) != Role::None,
            TokenOwner::Job(repository) => repository == id,
            TokenOwner::Anonymous => false,
        }
    }

    pub(crate) fn repository_named(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.values().find(|repository| {
            repository.owner.login.eq_ignore_ascii_case(owner)
                && repository.name.eq_ignore_ascii_case(name)
        })
    }

    /// Returns the id of `owner/name`.
    pub(crate) fn repository_id(&self, full_name: &str) -> Result<u64> {
        let (owner, name) = full_name.split_once('/').unwrap_or_default();
        let repository = self.repository_named(owner, name);
        found(repository, "repository", full_name).map(|repository| repository.id)
    }

    pub(crate) fn repository(&self, id: u64) -> Result<&Repository> {
        found(self.repositories.get(&id), "repository", id)
    }

    pub(crate) fn repository_mut(&mut self, id: u64) -> Result<&mut Repository> {
        found(self.repositories.get_mut(&id), "repository", id)
    }

    pub(crate) fn issue(&self, repository: u64, number: u64) -> Result<&Issue> {
        let issues = &self.repository(repository)?.issues;
        found(issues.get(&number), "issue", format_args!("#{number}"))
    }

    pub(crate) fn issue_mut(&mut self, repository: u64, number: u64) -> Result<&mut Issue> {
        let issues = &mut self.repository_mut(repository)?.issues;
        found(issues.get_mut(&number), "issue", format_args!("#{number}"))
    }

    pub(crate) fn comment(&self, id: u64) -> Result<&Comment> {
        found(self.comments.get(&id), "comment", id)
    }

    pub(crate) fn comment_mut(&mut self, id: u64) -> Result<&mut Comment> {
        found(self.comments.get_mut(&id), "comment", id)
    }

    pub(crate) fn delivery(&self, id: u64) -> Result<&Delivery> {
        let delivery = self.deliveries.get(&id);
        found(delivery.filter(|one| self.is_retained(one)), "delivery", id)
    }

    pub(crate) fn installation(&self, id: u64) -> Result<&Installation> {
        found(self.installations.get(&id), "installation", id)
    }

    /// Returns the installation that has access to a repository, suspended or not.
    pub(crate) fn installation_for(&self, repository: u64) -> Option<&Installation> {
        let mut installations = self.installations.values();
        installations.find(|installation| installation.repositories.contains(&repository))
    }
}

/// Returns the object, or an error that names it.
fn found<T>(object: Option<T>, kind: &str, name: impl Display) -> Result<T> {
    object.ok_or_else(|| SimulatorError::missing(format_args!("{kind} {name}")))
}
