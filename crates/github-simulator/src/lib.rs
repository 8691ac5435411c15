//! A stateful GitHub for tests of GitHub Apps: REST API, webhook sender, web pages and fault
//! injection in one process.
//!
//! A [`Simulator`] listens on 127.0.0.1 and has one registered App. Tests play the people:
//! [`Simulator::open_issue`], [`Simulator::comment`], [`Simulator::label`] and so on change the
//! state and send the webhooks that GitHub would send. The App under test talks HTTP to
//! [`Simulator::api_url`], or to [`Simulator::enterprise_api_url`] for the paths of an Enterprise
//! Server. [`Simulator::faults`] makes requests fail, [`Simulator::requests`] and
//! [`Simulator::deliveries`] show what was exchanged, and a browser shows the pages at
//! [`Simulator::url`].
//!
//! Responses have the shapes of GitHub's OpenAPI description. Behaviour that it does not describe
//! follows GitHub's documentation or public issue threads, which are cited in the source.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use github_simulator::model::Role;
//! use github_simulator::{AppKeys, Fault, FaultKind, Simulator, SimulatorOptions, SystemClock};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let keys = AppKeys::generate()?;
//! let clock = Arc::new(SystemClock);
//! let options = SimulatorOptions::new("my-app", clock, keys.public_pem, "secret".into());
//! let github = Simulator::start(options).await?;
//! github.add_repository("acme/widgets", false)?;
//! github.grant("acme/widgets", "ada", Role::Write)?;
//! github.install(&["acme/widgets"])?;
//!
//! // The first attempt to comment fails after the comment was written.
//! let path = "/repos/*/*/issues/*/comments";
//! github.faults().push(Fault::on("POST", path, FaultKind::BadGatewayAfter));
//!
//! // Start the App with `github.api_url()` and `keys.private_pem`, then:
//! let number = github.open_issue("acme/widgets", "ada", "Please help", "Details")?;
//! github.comment("acme/widgets", number, "ada", "/command")?;
//! github.settle().await;
//! assert_eq!(github.comments("acme/widgets", number)?.len(), 1);
//! assert_eq!(github.deliveries().len(), 3); // installation, issues, issue_comment
//! github.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//!
//! Modules import only from modules above them.
//!
//! | module | contents |
//! |---|---|
//! | `error`, `clock`, `keys`, [`model`], `faults`, `documentation`, `task_list`, `app_manifest` | values without state |
//! | `options`, `urls`, `state` | the state and lookups in it |
//! | `json`, `webhooks`, `actions`, `registration` | JSON of objects, webhook events, changes that send events, new Apps |
//! | `response`, `request`, `auth`, `rate_limit`, `repository_call` | parts of a call to the API |
//! | `oauth` | logins of people through the App |
//! | `endpoints`, `archives`, `attachments`, `pages` | handlers of requests |
//! | `shared`, `server`, `sender` | HTTP server and webhook sender |
//! | `simulator` | the handle that tests use, and the same over HTTP |

mod actions;
mod app_manifest;
mod archives;
mod attachments;
mod auth;
mod clock;
mod documentation;
mod endpoints;
mod error;
mod faults;
mod json;
mod keys;
pub mod model;
mod oauth;
mod options;
mod pages;
mod rate_limit;
mod registration;
mod repository_call;
mod request;
mod response;
mod sender;
mod server;
mod shared;
mod simulator;
mod state;
mod task_list;
mod urls;
mod webhooks;

pub use clock::{Clock, SystemClock};
pub use documentation::OPERATIONS;
pub use error::SimulatorError;
pub use faults::{Fault, FaultKind, Faults, RandomFaults, WebhookFault};
pub use keys::AppKeys;
pub use options::SimulatorOptions;
pub use shared::LoggedRequest;
pub use simulator::{FaultName, NewPullRequest, Operation, Simulator, WebhookFaultName};
