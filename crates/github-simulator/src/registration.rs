//! Registration of an App from a manifest
//! (<https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>).

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt as _;
use rand::distr::Alphanumeric;
use secrecy::{ExposeSecret as _, SecretString};

use crate::app_manifest::{Manifest, Registration, slug};
use crate::error::{Result, SimulatorError};
use crate::keys::AppKeys;
use crate::model::{Actor, Installation, User, UserKind};
use crate::state::{App, State};

/// Time in which a code must be exchanged.
const CODE_LIFETIME: Duration = Duration::from_hours(1);

/// The credentials of a new App, which only the exchange of its code returns.
pub(crate) struct Credentials {
    pub(crate) private_pem: SecretString,
    pub(crate) webhook_secret: SecretString,
    pub(crate) client_secret: SecretString,
}

fn random(length: usize) -> String {
    let letters = rand::rng().sample_iter(Alphanumeric).take(length);
    letters.map(char::from).collect()
}

impl State {
    /// Registers an App and returns the code for its credentials.
    pub(crate) fn register_app(&mut self, manifest: Manifest, owner: User) -> String {
        let code = random(40).to_lowercase();
        let registration = Registration {
            manifest,
            owner,
            created: self.now(),
        };
        self.registrations.insert(code.clone(), registration);
        code
    }

    /// Exchanges a code for the credentials of its App, which takes the place of the simulator's
    /// App. Returns `None` if the code is unknown, too old or was exchanged already.
    pub(crate) fn exchange_code(&mut self, code: &str) -> Option<Result<Credentials>> {
        let registration = self.registrations.remove(code)?;
        (self.now() < registration.created + CODE_LIFETIME).then(|| self.replace_app(registration))
    }

    fn replace_app(&mut self, registration: Registration) -> Result<Credentials> {
        let Registration {
            manifest, owner, ..
        } = registration;
        let keys = AppKeys::generate()?;
        let slug = slug(&manifest.name);
        let bot = self.user_or_new(&format!("{slug}[bot]"), UserKind::Bot);
        let mut permissions = manifest.default_permissions;
        permissions.insert("metadata".to_owned(), "read".to_owned());
        let credentials = Credentials {
            private_pem: keys.private_pem,
            webhook_secret: SecretString::from(random(40).to_lowercase()),
            client_secret: SecretString::from(random(40).to_lowercase()),
        };
        self.app = App {
            id: self.new_id(),
            slug,
            public_pem: keys.public_pem,
            owner,
            bot,
            permissions,
            events: manifest.default_events,
            created: self.now(),
            client_secret: credentials.client_secret.clone(),
            callback_urls: manifest.callback_urls,
        };
        self.authorizations.clear();
        self.authorized.clear();
        self.installations.clear();
        self.tokens.clear();
        let hook = manifest.hook_attributes.filter(|hook| hook.active);
        self.webhook.targets = hook.and_then(|hook| hook.url).into_iter().collect();
        self.webhook.secret = credentials.webhook_secret.expose_secret().into();
        Ok(credentials)
    }

    /// Installs the App in repositories of one account, which is the App's owner if there are none,
    /// and returns the installation's id.
    pub(crate) fn install_app(&mut self, repositories: BTreeSet<u64>) -> Result<u64> {
        let account = match repositories.first() {
            Some(id) => self.repository(*id)?.owner.clone(),
            None => self.app.owner.clone(),
        };
        let foreign = repositories
            .iter()
            .filter_map(|id| self.repositories.get(id))
            .find(|repository| repository.owner.id != account.id);
        if let Some(repository) = foreign {
            return Err(SimulatorError::missing(format_args!(
                "repository {} of {}",
                repository.name, account.login
            )));
        }
        let id = self.new_id();
        let now = self.now();
        let installation = Installation {
            id,
            account: account.clone(),
            repositories,
            permissions: self.app.permissions.clone(),
            suspended: None,
            created: now,
            updated: now,
        };
        self.installations.insert(id, installation);
        self.emit_installation(&Actor::person(account), id, "created")?;
        Ok(id)
    }
}
