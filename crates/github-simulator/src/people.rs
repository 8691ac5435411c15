//! What people do on the simulated GitHub, and how it is furnished.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use secrecy::SecretString;

use crate::actions::{IssueChange, Reacted};
use crate::model::{Attachment, Installation, Role, User, UserKind};
use crate::state::{Doer, State};
use crate::{Simulator, SimulatorError, attachments, sender};
use chrono::{DateTime, Utc};

pub(crate) type Outcome<T = ()> = Result<T, SimulatorError>;

/// Somebody with this login, known from now on.
fn person(state: &mut State, login: &str) -> Doer {
    Doer {
        user: state.user_or_new(login, UserKind::User),
        via_app: false,
    }
}

impl Simulator {
    /// Does something as `login` in `owner/name`.
    pub(crate) fn act<T>(
        &self,
        repository: &str,
        login: &str,
        work: impl FnOnce(&mut State, &Doer, u64) -> Outcome<T>,
    ) -> Outcome<T> {
        self.shared.with(|state| {
            let repository = state.repository_id(repository)?;
            let by = person(state, login);
            work(state, &by, repository)
        })
    }

    /// Makes an account; an existing one is given back.
    pub fn add_user(&self, login: &str, kind: UserKind) -> User {
        self.shared.with(|state| state.user_or_new(login, kind))
    }

    /// Gives a login to a new account, as when somebody deletes an account and somebody else takes the name.
    pub fn replace_user(&self, login: &str) -> User {
        self.shared.with(|state| {
            state
                .users
                .retain(|user| !user.login.eq_ignore_ascii_case(login));
            state.user_or_new(login, UserKind::User)
        })
    }

    /// Makes `owner/name`; gives its id. The owner is made if needed.
    pub fn add_repository(&self, full_name: &str, private: bool) -> Outcome<u64> {
        self.shared.with(|state| {
            let (owner, name) = full_name
                .split_once('/')
                .ok_or_else(|| SimulatorError::missing(format!("owner in `{full_name}`")))?;
            let owner = state.user_or_new(owner, UserKind::Organization);
            Ok(state.new_repository(owner, name, private, false))
        })
    }

    /// Switches issues on or off.
    pub fn set_issues_enabled(&self, repository: &str, enabled: bool) -> Outcome {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            state.repository_mut(id)?.has_issues = enabled;
            Ok(())
        })
    }

    /// Archives a repository, or unarchives it.
    pub fn set_archived(&self, repository: &str, archived: bool) -> Outcome {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            state.repository_mut(id)?.archived = archived;
            Ok(())
        })
    }

    /// Lets lists of issues and comments leave out what was created less than `lag` ago.
    pub fn set_list_lag(&self, lag: Duration) {
        self.shared.with(|state| state.list_lag = lag);
    }

    /// Attaches a file to whatever the address it gives is put into.
    pub fn attach(&self, name: &str, content: impl Into<Bytes>, private: bool) -> String {
        self.shared.with(|state| {
            let id = state.id();
            let attachment = Attachment {
                name: name.to_owned(),
                content: content.into(),
                private,
            };
            let address = attachments::address(&state.base, id, &attachment);
            state.attachments.insert(id, attachment);
            address
        })
    }

    /// Gives somebody a role.
    pub fn grant(&self, repository: &str, login: &str, role: Role) -> Outcome<User> {
        self.act(repository, login, |state, by, id| {
            state.repository_mut(id)?.roles.insert(by.user.id, role);
            Ok(by.user.clone())
        })
    }

    /// Installs the App for these repositories of one owner; gives the installation's id.
    pub fn install(&self, repositories: &[&str]) -> Outcome<u64> {
        self.shared.with(|state| {
            let ids = repositories
                .iter()
                .map(|name| state.repository_id(name))
                .collect::<Outcome<std::collections::BTreeSet<u64>>>()?;
            let account = match ids.first() {
                Some(id) => state.repository(*id)?.owner.clone(),
                None => state.app.owner.clone(),
            };
            let id = state.id();
            let now = state.now();
            let installation = Installation {
                id,
                account: account.clone(),
                repositories: ids,
                permissions: state.app.permissions.clone(),
                suspended: None,
                created: now,
                updated: now,
            };
            state.installations.insert(id, installation);
            let by = Doer {
                user: account,
                via_app: false,
            };
            state.announce_installation(&by, id, "created")?;
            Ok(id)
        })
    }

    /// Lets the installation that has one repository reach another one, too. The webhook that GitHub sends for it is not
    /// simulated.
    pub fn add_to_installation(&self, repository: &str, other: &str) -> Outcome {
        self.shared.with(|state| {
            let has = state.repository_id(repository)?;
            let new = state.repository_id(other)?;
            let mut all = state.installations.values_mut();
            let one = all.find(|one| one.repositories.contains(&has));
            one.ok_or_else(|| SimulatorError::missing(format!("installation for {repository}")))?
                .repositories
                .insert(new);
            Ok(())
        })
    }

    fn change_installation(
        &self,
        id: u64,
        action: &str,
        change: impl FnOnce(&mut State, &mut Installation),
    ) -> Outcome {
        self.shared.with(|state| {
            let mut installation = state
                .installations
                .get(&id)
                .cloned()
                .ok_or_else(|| SimulatorError::missing(format!("installation {id}")))?;
            change(state, &mut installation);
            installation.updated = state.now();
            let by = Doer {
                user: installation.account.clone(),
                via_app: false,
            };
            state.installations.insert(id, installation);
            state.announce_installation(&by, id, action)
        })
    }

    /// Suspends an installation: no tokens, no webhooks.
    pub fn suspend(&self, installation: u64) -> Outcome {
        self.change_installation(installation, "suspend", |state, one| {
            one.suspended = Some(state.now());
        })
    }

    /// Ends a suspension.
    pub fn unsuspend(&self, installation: u64) -> Outcome {
        self.change_installation(installation, "unsuspend", |_, one| one.suspended = None)
    }

    /// Takes a permission away from an installation, or gives one (`read`, `write`).
    pub fn set_permission(&self, installation: u64, name: &str, level: Option<&str>) -> Outcome {
        self.change_installation(installation, "new_permissions_accepted", |_, one| {
            match level {
                Some(level) => one.permissions.insert(name.to_owned(), level.to_owned()),
                None => one.permissions.remove(name),
            };
        })
    }

    /// Removes an installation.
    pub fn uninstall(&self, installation: u64) -> Outcome {
        self.change_installation(installation, "deleted", |_, _| {})?;
        self.shared.with(|state| {
            state.installations.remove(&installation);
        });
        Ok(())
    }

    /// Opens an issue; gives its number.
    pub fn open_issue(
        &self,
        repository: &str,
        login: &str,
        title: &str,
        body: &str,
    ) -> Outcome<u64> {
        self.act(repository, login, |state, by, id| {
            state.open(by, id, None, title, Some(body), &[])
        })
    }

    /// Edits title or body of an issue; `None` leaves it.
    pub fn edit_issue(
        &self,
        repository: &str,
        number: u64,
        login: &str,
        title: Option<&str>,
        body: Option<&str>,
    ) -> Outcome {
        self.act(repository, login, |state, by, id| {
            let change = IssueChange {
                title: title.map(str::to_owned),
                body: body.map(str::to_owned),
                ..IssueChange::default()
            };
            state.edit(by, id, number, change)
        })
    }

    /// Closes an issue, or opens it again.
    pub fn set_closed(&self, repository: &str, number: u64, login: &str, closed: bool) -> Outcome {
        self.act(repository, login, |state, by, id| {
            let change = IssueChange {
                closed: Some(closed),
                ..IssueChange::default()
            };
            state.edit(by, id, number, change)
        })
    }

    /// Locks a conversation, or unlocks it.
    pub fn set_locked(&self, repository: &str, number: u64, login: &str, locked: bool) -> Outcome {
        self.act(repository, login, |state, by, id| {
            state.issue_mut(id, number)?.locked = locked;
            let action = if locked { "locked" } else { "unlocked" };
            state.announce_issue(by, id, number, action, &serde_json::json!({}))
        })
    }

    /// Deletes an issue with its comments.
    pub fn delete_issue(&self, repository: &str, number: u64, login: &str) -> Outcome {
        self.act(repository, login, |state, by, id| {
            state.delete_issue(by, id, number)
        })
    }

    /// Transfers an issue to another repository; gives its number there.
    pub fn transfer_issue(&self, repository: &str, number: u64, to: &str) -> Outcome<u64> {
        self.shared.with(|state| {
            let from = state.repository_id(repository)?;
            let to = state.repository_id(to)?;
            state.transfer(from, number, to)
        })
    }

    /// Hides a comment for a reason (`spam`, `outdated`, …), or shows it again.
    pub fn hide_comment(&self, comment: u64, reason: Option<&str>) -> Outcome {
        self.shared.with(|state| {
            state.comment_mut(comment)?.hidden = reason.map(str::to_owned);
            Ok(())
        })
    }

    /// Comments; gives the comment's id.
    pub fn comment(&self, repository: &str, number: u64, login: &str, body: &str) -> Outcome<u64> {
        self.act(repository, login, |state, by, id| {
            state.comment_on(by, id, number, body)
        })
    }

    /// Sets when an issue was opened (`comment` is `None`) or when a comment in it was written.
    pub fn set_created(
        &self,
        repository: &str,
        number: u64,
        comment: Option<u64>,
        at: DateTime<Utc>,
    ) -> Outcome {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            match comment {
                None => state.issue_mut(id, number)?.created = at,
                Some(comment) => {
                    let missing = || SimulatorError::missing(format!("comment {comment}"));
                    let comment = state.comments.get_mut(&comment).ok_or_else(missing)?;
                    comment.created = at;
                    comment.updated = at;
                }
            }
            Ok(())
        })
    }

    /// Edits a comment, also somebody else's.
    pub fn edit_comment(&self, comment: u64, login: &str, body: &str) -> Outcome {
        self.shared.with(|state| {
            let by = person(state, login);
            state.edit_comment(&by, comment, body)
        })
    }

    /// Deletes a comment.
    pub fn delete_comment(&self, comment: u64, login: &str) -> Outcome {
        self.shared.with(|state| {
            let by = person(state, login);
            state.delete_comment(&by, comment)
        })
    }

    /// Sets a label; a new one is made in the repository.
    pub fn label(&self, repository: &str, number: u64, login: &str, name: &str) -> Outcome {
        self.act(repository, login, |state, by, id| {
            state.add_labels(by, id, number, &[name.to_owned()])
        })
    }

    /// Takes a label off; true when it was on.
    pub fn unlabel(&self, repository: &str, number: u64, login: &str, name: &str) -> Outcome<bool> {
        self.act(repository, login, |state, by, id| {
            state.remove_label(by, id, number, name)
        })
    }

    /// Reacts to a comment.
    pub fn react(&self, repository: &str, comment: u64, login: &str, content: &str) -> Outcome {
        self.act(repository, login, |state, by, id| {
            state.react(by, id, Reacted::Comment(comment), content)?;
            Ok(())
        })
    }

    /// Sets the webhook addresses; deliveries go to them in turn, as behind a load balancer.
    pub fn set_targets(&self, targets: Vec<String>) {
        self.shared.with(|state| state.hook.targets = targets);
    }

    /// Changes the webhook secret.
    pub fn set_webhook_secret(&self, secret: SecretString) {
        self.shared.with(|state| state.hook.secret = secret);
    }

    /// Sends `ping`.
    pub fn ping(&self) {
        self.shared.with(State::announce_ping);
    }

    /// Delivers once more what was delivered before, in turn with everything else; gives the new attempt's id.
    pub fn redeliver(&self, delivery: u64) -> Outcome<u64> {
        self.shared.with(|state| state.redeliver(delivery))
    }

    /// Sends a delivery `count` times more at the same moment, with the same GUID; gives the status codes.
    pub async fn duplicate(&self, delivery: u64, count: usize) -> Outcome<Vec<Option<u16>>> {
        let attempts = self.shared.with(|state| state.copies(delivery, count))?;
        let client = sender::client();
        let shared = Arc::clone(&self.shared);
        join_all(
            attempts
                .iter()
                .map(|attempt| sender::send(&shared, &client, *attempt)),
        )
        .await;
        Ok(self.shared.with(|state| {
            attempts
                .iter()
                .map(|attempt| state.deliveries.get(attempt)?.status_code)
                .collect()
        }))
    }
}
