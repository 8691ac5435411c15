//! Operations as data: what the control API and seed files do.

use std::time::Duration;

use chrono::Utc;
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Simulator;
use crate::error::{Result, SimulatorError};
use crate::faults::{Fault, FaultKind, WebhookFault};
use crate::model::{Role, UserKind};

/// An operation on a simulator, as JSON with the member `do`. `by` is the login of the person who
/// does it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "the members are those of the methods of `Simulator`"
)]
pub enum Operation {
    /// Adds an account. `kind` is `user`, `bot` or `organization`.
    AddUser { login: String, kind: Option<String> },
    /// Adds the repository `owner/name`.
    AddRepository {
        repository: String,
        #[serde(default)]
        private: bool,
    },
    /// Archives or unarchives a repository.
    Archive {
        repository: String,
        #[serde(default = "yes")]
        archived: bool,
    },
    /// Enables or disables the issues of a repository.
    EnableIssues { repository: String, enabled: bool },
    /// Grants a role: `read`, `triage`, `write`, `maintain`, `admin` or `none`.
    Grant {
        repository: String,
        login: String,
        role: String,
    },
    /// Commits a file to the default branch.
    PutFile {
        repository: String,
        path: String,
        text: String,
    },
    /// Installs the App in repositories of one account.
    Install { repositories: Vec<String> },
    /// Suspends an installation.
    Suspend { installation: u64 },
    /// Ends the suspension of an installation.
    Unsuspend { installation: u64 },
    /// Removes an installation.
    Uninstall { installation: u64 },
    /// Opens an issue.
    OpenIssue {
        repository: String,
        by: String,
        title: String,
        #[serde(default)]
        body: String,
    },
    /// Opens a pull request without changes.
    OpenPullRequest {
        repository: String,
        by: String,
        title: String,
        #[serde(default)]
        body: String,
    },
    /// Closes or reopens an issue.
    Close {
        repository: String,
        number: u64,
        by: String,
        #[serde(default = "yes")]
        closed: bool,
    },
    /// Locks or unlocks a conversation.
    Lock {
        repository: String,
        number: u64,
        by: String,
        #[serde(default = "yes")]
        locked: bool,
    },
    /// Deletes an issue.
    DeleteIssue {
        repository: String,
        number: u64,
        by: String,
    },
    /// Transfers an issue to another repository.
    TransferIssue {
        repository: String,
        number: u64,
        to: String,
    },
    /// Writes a comment.
    Comment {
        repository: String,
        number: u64,
        by: String,
        body: String,
    },
    /// Edits a comment.
    EditComment {
        comment: u64,
        by: String,
        body: String,
    },
    /// Deletes a comment.
    DeleteComment { comment: u64, by: String },
    /// Adds a label.
    Label {
        repository: String,
        number: u64,
        by: String,
        label: String,
    },
    /// Removes a label.
    Unlabel {
        repository: String,
        number: u64,
        by: String,
        label: String,
    },
    /// Sets the person who uses the pages.
    Visit { login: String },
    /// Creates a token of a person with write permission for issues.
    CreateToken { login: String },
    /// Sets the callback URLs of the App, and returns its client id and client secret.
    SetCallbackUrls { urls: Vec<String> },
    /// Sets the webhook URLs.
    SetTargets { urls: Vec<String> },
    /// Sends the event `ping`.
    Ping {},
    /// Omits new issues and comments from lists for some seconds.
    SetListLag { seconds: u64 },
    /// Omits new attempts from the log of deliveries for some seconds.
    SetLogLag { seconds: u64 },
    /// Injects a fault into requests to the API. `method` is `*` for all.
    AddFault {
        method: String,
        path: String,
        fault: FaultName,
        /// Matching requests that pass first.
        #[serde(default)]
        after: u32,
        /// Number of requests that are affected.
        #[serde(default = "once")]
        times: u32,
    },
    /// Removes all faults of requests.
    ClearFaults {},
    /// Sets what happens to new deliveries, of one event or of all.
    SetWebhookFault {
        fault: WebhookFaultName,
        event: Option<String>,
    },
    /// Ends the faults of deliveries. Those that are held back stay so.
    ClearWebhookFaults {},
    /// Sends the deliveries that are held back.
    ReleaseDeliveries {
        #[serde(default)]
        newest_first: bool,
    },
    /// Sends a delivery once more.
    Redeliver { delivery: u64 },
}

fn yes() -> bool {
    true
}

fn once() -> u32 {
    1
}

/// A [`FaultKind`] as data.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the members are those of `FaultKind`")]
pub enum FaultName {
    /// The response is delayed.
    Delay { milliseconds: u64 },
    /// 502 without handling the request.
    BadGatewayBefore,
    /// 502 after handling the request.
    BadGatewayAfter,
    /// The request is handled, and the connection closed without a response.
    LostResponse,
    /// 403 of the secondary rate limit.
    SecondaryLimit { retry_after: Option<u64> },
    /// 403 of the primary rate limit, which is reset after some seconds.
    PrimaryLimit { seconds: u32 },
    /// 401.
    BadCredentials,
    /// 503.
    Unavailable,
    /// Any response.
    Response { status: u16, body: Value },
}

/// A [`WebhookFault`] as data.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the members are those of `WebhookFault`")]
pub enum WebhookFaultName {
    /// The delivery is never created.
    NotCreated,
    /// A proxy answers with this status.
    Proxy { status: u16 },
    /// It is held back until `release_deliveries`.
    Held,
    /// It is sent twice.
    Duplicated,
}

impl WebhookFaultName {
    fn fault(&self) -> WebhookFault {
        match self {
            Self::NotCreated => WebhookFault::NotCreated,
            Self::Proxy { status } => WebhookFault::Proxy(*status),
            Self::Held => WebhookFault::Held,
            Self::Duplicated => WebhookFault::Duplicated,
        }
    }
}

fn role(name: &str) -> Result<Role> {
    Ok(match name {
        "none" => Role::None,
        "read" => Role::Read,
        "triage" => Role::Triage,
        "write" => Role::Write,
        "maintain" => Role::Maintain,
        "admin" => Role::Admin,
        _ => {
            return Err(SimulatorError::value(
                "role",
                name,
                "none, read, triage, write, maintain, admin",
            ));
        }
    })
}

fn kind(name: Option<&str>) -> Result<UserKind> {
    Ok(match name {
        None | Some("user") => UserKind::User,
        Some("bot") => UserKind::Bot,
        Some("organization") => UserKind::Organization,
        Some(other) => {
            return Err(SimulatorError::value(
                "kind",
                other,
                "user, bot, organization",
            ));
        }
    })
}

impl Simulator {
    /// Performs an operation and returns what it created, as JSON.
    ///
    /// # Errors
    /// Something that the operation names does not exist, or a value is not one of those allowed.
    pub fn perform(&self, operation: &Operation) -> Result<Value> {
        use Operation as O;
        let done = || json!({});
        Ok(match operation {
            O::AddUser { login, kind: name } => {
                json!({ "id": self.add_user(login, kind(name.as_deref())?).id })
            }
            O::AddRepository {
                repository,
                private,
            } => json!({ "id": self.add_repository(repository, *private)? }),
            O::Archive {
                repository,
                archived,
            } => {
                self.set_archived(repository, *archived)?;
                done()
            }
            O::EnableIssues {
                repository,
                enabled,
            } => {
                self.set_issues_enabled(repository, *enabled)?;
                done()
            }
            O::Grant {
                repository,
                login,
                role: name,
            } => json!({ "id": self.grant(repository, login, role(name)?)?.id }),
            O::PutFile {
                repository,
                path,
                text,
            } => {
                self.put_file(repository, path, text.clone())?;
                done()
            }
            O::Install { repositories } => {
                let names: Vec<&str> = repositories.iter().map(String::as_str).collect();
                json!({ "installation": self.install(&names)? })
            }
            O::Suspend { installation } => {
                self.suspend(*installation)?;
                done()
            }
            O::Unsuspend { installation } => {
                self.unsuspend(*installation)?;
                done()
            }
            O::Uninstall { installation } => {
                self.uninstall(*installation)?;
                done()
            }
            O::OpenIssue {
                repository,
                by,
                title,
                body,
            } => json!({ "number": self.open_issue(repository, by, title, body)? }),
            O::OpenPullRequest {
                repository,
                by,
                title,
                body,
            } => json!({ "number": self.open_pull_request(repository, by, title, body)? }),
            O::Close {
                repository,
                number,
                by,
                closed,
            } => {
                self.set_closed(repository, *number, by, *closed)?;
                done()
            }
            O::Lock {
                repository,
                number,
                by,
                locked,
            } => {
                self.set_locked(repository, *number, by, *locked)?;
                done()
            }
            O::DeleteIssue {
                repository,
                number,
                by,
            } => {
                self.delete_issue(repository, *number, by)?;
                done()
            }
            O::TransferIssue {
                repository,
                number,
                to,
            } => json!({ "number": self.transfer_issue(repository, *number, to)? }),
            O::Comment {
                repository,
                number,
                by,
                body,
            } => json!({ "comment": self.comment(repository, *number, by, body)? }),
            O::EditComment { comment, by, body } => {
                self.edit_comment(*comment, by, body)?;
                done()
            }
            O::DeleteComment { comment, by } => {
                self.delete_comment(*comment, by)?;
                done()
            }
            O::Label {
                repository,
                number,
                by,
                label,
            } => {
                self.label(repository, *number, by, label)?;
                done()
            }
            O::Unlabel {
                repository,
                number,
                by,
                label,
            } => {
                self.unlabel(repository, *number, by, label)?;
                done()
            }
            O::Visit { login } => {
                self.set_visitor(login);
                done()
            }
            O::CreateToken { login } => {
                json!({ "token": self.writing_token(login).expose_secret() })
            }
            O::SetCallbackUrls { urls } => {
                self.set_callback_urls(urls.clone());
                let secret = self.client_secret();
                json!({ "client_id": self.client_id(), "client_secret": secret.expose_secret() })
            }
            O::SetTargets { urls } => {
                self.set_targets(urls.clone());
                done()
            }
            O::Ping {} => {
                self.ping();
                done()
            }
            O::SetListLag { seconds } => {
                self.set_list_lag(Duration::from_secs(*seconds));
                done()
            }
            O::SetLogLag { seconds } => {
                self.set_delivery_log_lag(Duration::from_secs(*seconds));
                done()
            }
            O::AddFault {
                method,
                path,
                fault,
                after,
                times,
            } => {
                let fault = Fault::on(method, path, self.fault_kind(fault));
                self.faults().push(fault.after(*after).times(*times));
                done()
            }
            O::ClearFaults {} => {
                self.faults().clear();
                done()
            }
            O::SetWebhookFault { fault, event } => {
                let (fault, event) = (fault.fault(), event.clone());
                self.set_webhook_faults(move |delivery| {
                    let matches = event.as_ref().is_none_or(|event| *event == delivery.event);
                    matches.then_some(fault)
                });
                done()
            }
            O::ClearWebhookFaults {} => {
                self.clear_webhook_faults();
                done()
            }
            O::ReleaseDeliveries { newest_first } => {
                self.release_deliveries(*newest_first);
                done()
            }
            O::Redeliver { delivery } => json!({ "delivery": self.redeliver(*delivery)? }),
        })
    }

    fn fault_kind(&self, name: &FaultName) -> FaultKind {
        match name {
            FaultName::Delay { milliseconds } => {
                FaultKind::Delay(Duration::from_millis(*milliseconds))
            }
            FaultName::BadGatewayBefore => FaultKind::BadGatewayBefore,
            FaultName::BadGatewayAfter => FaultKind::BadGatewayAfter,
            FaultName::LostResponse => FaultKind::LostResponse,
            FaultName::SecondaryLimit { retry_after } => FaultKind::SecondaryLimit {
                retry_after: *retry_after,
            },
            FaultName::PrimaryLimit { seconds } => {
                let wait = Duration::from_secs(u64::from(*seconds));
                let reset = self.shared.clock.now().with_timezone(&Utc) + wait;
                FaultKind::PrimaryLimit { reset }
            }
            FaultName::BadCredentials => FaultKind::BadCredentials,
            FaultName::Unavailable => FaultKind::Unavailable,
            FaultName::Response { status, body } => FaultKind::Response {
                status: *status,
                body: body.clone(),
            },
        }
    }
}
