//! Options of a simulator.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;

use crate::clock::Clock;
use crate::model::TokenFormat;

/// Default of the lowest id. It exceeds 2^31 so that clients that store ids in 32 bits fail in
/// tests.
const FIRST_ID: u64 = 3_100_000_000;

/// Options of the simulated GitHub and of the one App that is registered on it.
#[derive(Clone)]
pub struct SimulatorOptions {
    /// Clock for timestamps, token lifetimes, rate limits and delays.
    pub clock: Arc<dyn Clock>,
    /// Port on 127.0.0.1; 0 binds a free one.
    pub port: u16,
    /// Id of the App.
    pub app_id: u64,
    /// Slug of the App; the login of its account is `<slug>[bot]`.
    pub slug: String,
    /// Public key of the App, as PEM.
    pub public_pem: String,
    /// Secret that webhooks are signed with.
    pub webhook_secret: SecretString,
    /// Webhook URLs. Deliveries go to them in turn, as behind a load balancer. See
    /// [`Simulator::set_targets`](crate::Simulator::set_targets) to set them later.
    pub targets: Vec<String>,
    /// Default format of installation tokens.
    pub token_format: TokenFormat,
    /// Permissions of the App and of new installations: name and `read` or `write`.
    pub permissions: BTreeMap<String, String>,
    /// Events that the App is subscribed to. `installation` and `ping` are sent in any case.
    pub events: Vec<String>,
    /// Client secret of the App, for logins of people; see
    /// [`Simulator::client_id`](crate::Simulator::client_id).
    pub client_secret: SecretString,
    /// Callback URLs of the App, to which people may be sent after a login.
    pub callback_urls: Vec<String>,
    /// Whether each delivery goes to all `targets`, as copies with GUIDs of their own, instead of
    /// to one of them.
    pub broadcast: bool,
    /// Whether programs can control the simulator over HTTP, below `/_simulator`.
    pub control: bool,
    /// Lowest id of accounts, repositories, comments and so on. Programs that remember ids need
    /// other ones after a restart of the simulator.
    pub first_id: u64,
    /// Placeholder of the comment form on the pages.
    pub comment_placeholder: String,
}

impl SimulatorOptions {
    /// Returns the options of an App with id 4711 that may write issues, pull requests and checks
    /// and read contents, on a free port, with classic tokens, a random client secret and without a
    /// webhook URL.
    pub fn new(
        slug: &str,
        clock: Arc<dyn Clock>,
        public_pem: String,
        webhook_secret: SecretString,
    ) -> Self {
        Self {
            clock,
            port: 0,
            app_id: 4711,
            slug: slug.to_owned(),
            public_pem,
            webhook_secret,
            targets: Vec::new(),
            token_format: TokenFormat::default(),
            permissions: [
                ("checks", "write"),
                ("contents", "read"),
                ("issues", "write"),
                ("metadata", "read"),
                ("pull_requests", "write"),
            ]
            .map(|(name, level)| (name.to_owned(), level.to_owned()))
            .into(),
            events: ["issue_comment", "issues", "label", "pull_request"]
                .map(str::to_owned)
                .into(),
            client_secret: uuid::Uuid::new_v4().simple().to_string().into(),
            callback_urls: Vec::new(),
            broadcast: false,
            control: false,
            first_id: FIRST_ID,
            comment_placeholder: String::new(),
        }
    }
}
