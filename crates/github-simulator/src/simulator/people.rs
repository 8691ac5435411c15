//! Setup of a simulator, and actions of people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use secrecy::SecretString;

use super::Simulator;
use crate::actions::{IssueChange, ReactionTarget};
use crate::error::{Result, SimulatorError};
use crate::faults::WebhookFault;
use crate::model::{
    Actor, Attachment, DEFAULT_BRANCH, Delivery, Installation, Repository, Role, Token,
    TokenFormat, TokenOwner, User, UserKind,
};
use crate::state::{ACTIONS, State};
use crate::task_list::toggle_checkbox;
use crate::{attachments, auth, sender};

impl State {
    /// Adds a repository with one empty commit and returns its id.
    pub(super) fn add_repository(
        &mut self,
        owner: User,
        name: &str,
        private: bool,
        fork: bool,
    ) -> u64 {
        let id = self.new_id();
        let created = self.now();
        let mut repository = Repository {
            id,
            owner,
            name: name.to_owned(),
            private,
            has_issues: true,
            archived: false,
            roles: BTreeMap::new(),
            labels: Vec::new(),
            issues: BTreeMap::new(),
            removed_issues: BTreeMap::new(),
            fork,
            commits: BTreeMap::new(),
            branches: BTreeMap::new(),
            check_runs: BTreeMap::new(),
            created,
        };
        repository.add_commit(DEFAULT_BRANCH, None, &[], created);
        self.repositories.insert(id, repository);
        id
    }
}

/// Accounts, repositories and installations.
impl Simulator {
    /// Creates an account, unless there is one with this login, and returns it.
    pub fn add_user(&self, login: &str, kind: UserKind) -> User {
        self.shared.with(|state| state.user_or_new(login, kind))
    }

    /// Gives a login to a new account, as when somebody deletes an account and somebody else
    /// registers its name.
    pub fn replace_user(&self, login: &str) -> User {
        self.shared.with(|state| {
            let other = |user: &User| !user.login.eq_ignore_ascii_case(login);
            state.users.retain(other);
            state.user_or_new(login, UserKind::User)
        })
    }

    /// Creates the repository `owner/name` and returns its id. The owner is created if needed.
    pub fn add_repository(&self, full_name: &str, private: bool) -> Result<u64> {
        let (owner, name) = full_name
            .split_once('/')
            .ok_or_else(|| SimulatorError::missing(format_args!("owner in `{full_name}`")))?;
        self.shared.with(|state| {
            let owner = state.user_or_new(owner, UserKind::Organization);
            Ok(state.add_repository(owner, name, private, false))
        })
    }

    /// Renames a repository. Requests for the old name are not redirected.
    pub fn rename_repository(&self, full_name: &str, name: &str) -> Result {
        self.in_repository(full_name, |state, id| {
            name.clone_into(&mut state.repository_mut(id)?.name);
            Ok(())
        })
    }

    /// Enables or disables the issues of a repository.
    pub fn set_issues_enabled(&self, repository: &str, enabled: bool) -> Result {
        self.in_repository(repository, |state, id| {
            state.repository_mut(id)?.has_issues = enabled;
            Ok(())
        })
    }

    /// Archives or unarchives a repository.
    pub fn set_archived(&self, repository: &str, archived: bool) -> Result {
        self.in_repository(repository, |state, id| {
            state.repository_mut(id)?.archived = archived;
            Ok(())
        })
    }

    /// Omits issues and comments from lists until they are `lag` old, like GitHub's replicas.
    pub fn set_list_lag(&self, lag: Duration) {
        self.shared.with(|state| state.list_lag = lag);
    }

    /// Grants a role in a repository to a person and returns the account.
    pub fn grant(&self, repository: &str, login: &str, role: Role) -> Result<User> {
        self.act(repository, login, |state, actor, id| {
            let roles = &mut state.repository_mut(id)?.roles;
            roles.insert(actor.user.id, role);
            Ok(actor.user.clone())
        })
    }

    /// Creates a person's fine-grained token with read permissions, which does not expire.
    pub fn personal_token(&self, login: &str) -> SecretString {
        self.add_token(login, "read")
    }

    /// Creates a person's token with read permissions and write permission for issues.
    pub fn writing_token(&self, login: &str) -> SecretString {
        self.add_token(login, "write")
    }

    /// Creates the token of a job of GitHub Actions in a repository, with these permissions: name
    /// and `read` or `write`. The job writes as `github-actions[bot]`.
    pub fn job_token(
        &self,
        repository: &str,
        permissions: &[(&str, &str)],
    ) -> Result<SecretString> {
        self.in_repository(repository, |state, id| {
            state.user_or_new(ACTIONS, UserKind::Bot);
            let permissions = permissions.iter();
            let access = Token {
                owner: TokenOwner::Job(id),
                permissions: permissions
                    .map(|(name, level)| ((*name).to_owned(), (*level).to_owned()))
                    .collect(),
                ..Token::anonymous()
            };
            let token = auth::installation_token(TokenFormat::Classic, state.app.id);
            state.tokens.insert(token.clone(), access);
            Ok(SecretString::from(token))
        })
    }

    fn add_token(&self, login: &str, issues: &str) -> SecretString {
        self.shared.with(|state| {
            let permissions = [
                ("contents", "read"),
                ("issues", issues),
                ("metadata", "read"),
                ("pull_requests", "read"),
            ];
            let access = Token {
                owner: TokenOwner::Person(state.person(login).user.id),
                permissions: permissions
                    .map(|(name, level)| (name.to_owned(), level.to_owned()))
                    .into(),
                ..Token::anonymous()
            };
            let token = auth::personal_token();
            state.tokens.insert(token.clone(), access);
            SecretString::from(token)
        })
    }

    /// Installs the App for repositories of one owner and returns the installation's id.
    pub fn install(&self, repositories: &[&str]) -> Result<u64> {
        self.shared.with(|state| {
            let ids = repositories.iter().map(|name| state.repository_id(name));
            let ids = ids.collect::<Result<BTreeSet<u64>>>()?;
            state.install_app(ids)
        })
    }

    /// Adds the repository `other` to the installation that has `repository`. GitHub's webhook for
    /// it is not simulated.
    pub fn add_to_installation(&self, repository: &str, other: &str) -> Result {
        self.in_repository(repository, |state, id| {
            let other = state.repository_id(other)?;
            let mut installations = state.installations.values_mut();
            let installation = installations.find(|one| one.repositories.contains(&id));
            let installation = installation.ok_or_else(|| {
                SimulatorError::missing(format_args!("installation for {repository}"))
            })?;
            installation.repositories.insert(other);
            Ok(())
        })
    }

    fn change_installation(
        &self,
        id: u64,
        action: &str,
        change: impl FnOnce(&State, &mut Installation),
    ) -> Result {
        self.shared.with(|state| {
            let mut installation = state.installation(id)?.clone();
            change(state, &mut installation);
            installation.updated = state.now();
            let actor = Actor::person(installation.account.clone());
            state.installations.insert(id, installation);
            state.emit_installation(&actor, id, action)
        })
    }

    /// Suspends an installation: it gets neither tokens nor webhooks.
    pub fn suspend(&self, installation: u64) -> Result {
        self.change_installation(installation, "suspend", |state, installation| {
            installation.suspended = Some(state.now());
        })
    }

    /// Ends the suspension of an installation.
    pub fn unsuspend(&self, installation: u64) -> Result {
        self.change_installation(installation, "unsuspend", |_, installation| {
            installation.suspended = None;
        })
    }

    /// Sets a permission of an installation to `read` or `write`, or revokes it with `None`.
    pub fn set_permission(&self, installation: u64, name: &str, level: Option<&str>) -> Result {
        let action = "new_permissions_accepted";
        self.change_installation(installation, action, |_, installation| {
            let permissions = &mut installation.permissions;
            match level {
                Some(level) => permissions.insert(name.to_owned(), level.to_owned()),
                None => permissions.remove(name),
            };
        })
    }

    /// Removes an installation.
    pub fn uninstall(&self, installation: u64) -> Result {
        self.change_installation(installation, "deleted", |_, _| {})?;
        self.shared
            .with(|state| state.installations.remove(&installation));
        Ok(())
    }
}

/// Issues, comments, labels and reactions.
impl Simulator {
    /// Opens an issue and returns its number.
    pub fn open_issue(
        &self,
        repository: &str,
        login: &str,
        title: &str,
        body: &str,
    ) -> Result<u64> {
        self.act(repository, login, |state, actor, id| {
            state.open_issue(actor, id, None, title, Some(body), &[])
        })
    }

    /// Edits title or body of an issue; `None` leaves them unchanged.
    pub fn edit_issue(
        &self,
        repository: &str,
        number: u64,
        login: &str,
        title: Option<&str>,
        body: Option<&str>,
    ) -> Result {
        let change = IssueChange {
            title: title.map(str::to_owned),
            body: body.map(str::to_owned),
            ..IssueChange::default()
        };
        self.act(repository, login, |state, actor, id| {
            state.edit_issue(actor, id, number, change)
        })
    }

    /// Closes or reopens an issue.
    pub fn set_closed(&self, repository: &str, number: u64, login: &str, closed: bool) -> Result {
        let change = IssueChange {
            closed: Some(closed),
            ..IssueChange::default()
        };
        self.act(repository, login, |state, actor, id| {
            state.edit_issue(actor, id, number, change)
        })
    }

    /// Locks or unlocks a conversation.
    pub fn set_locked(&self, repository: &str, number: u64, login: &str, locked: bool) -> Result {
        self.act(repository, login, |state, actor, id| {
            state.set_locked(actor, id, number, locked)
        })
    }

    /// Deletes an issue with its comments.
    pub fn delete_issue(&self, repository: &str, number: u64, login: &str) -> Result {
        self.act(repository, login, |state, actor, id| {
            state.delete_issue(actor, id, number)
        })
    }

    /// Transfers an issue to another repository and returns its number there.
    pub fn transfer_issue(&self, repository: &str, number: u64, to: &str) -> Result<u64> {
        self.in_repository(repository, |state, from| {
            let to = state.repository_id(to)?;
            state.transfer_issue(from, number, to)
        })
    }

    /// Adds a comment and returns its id.
    pub fn comment(&self, repository: &str, number: u64, login: &str, body: &str) -> Result<u64> {
        self.act(repository, login, |state, actor, id| {
            state.add_comment(actor, id, number, body)
        })
    }

    /// Adds a comment by the App without a request to the API, and returns its id.
    pub fn comment_as_app(&self, repository: &str, number: u64, body: &str) -> Result<u64> {
        self.in_repository(repository, |state, id| {
            state.add_comment(&state.app_actor(), id, number, body)
        })
    }

    /// Edits a comment, whoever wrote it.
    pub fn edit_comment(&self, comment: u64, login: &str, body: &str) -> Result {
        self.shared.with(|state| {
            let actor = state.person(login);
            state.edit_comment(&actor, comment, body)
        })
    }

    /// Deletes a comment.
    pub fn delete_comment(&self, comment: u64, login: &str) -> Result {
        self.shared.with(|state| {
            let actor = state.person(login);
            state.delete_comment(&actor, comment)
        })
    }

    /// Hides a comment for a reason (`spam`, `outdated`, …), or shows it again with `None`.
    pub fn hide_comment(&self, comment: u64, reason: Option<&str>) -> Result {
        self.shared.with(|state| {
            state.comment_mut(comment)?.hidden = reason.map(str::to_owned);
            Ok(())
        })
    }

    /// Toggles the checkbox of a comment with this index, counted from 0.
    pub fn toggle_checkbox(&self, comment: u64, login: &str, index: usize) -> Result {
        self.shared.with(|state| {
            let body = toggle_checkbox(&state.comment(comment)?.body, index).ok_or_else(|| {
                SimulatorError::missing(format_args!("box {index} in comment {comment}"))
            })?;
            let actor = state.person(login);
            state.edit_comment(&actor, comment, &body)
        })
    }

    /// Sets the creation time of an issue (if `comment` is `None`) or of a comment on it.
    pub fn set_created(
        &self,
        repository: &str,
        number: u64,
        comment: Option<u64>,
        at: DateTime<Utc>,
    ) -> Result {
        self.in_repository(repository, |state, id| {
            match comment {
                None => state.issue_mut(id, number)?.created = at,
                Some(comment) => {
                    let comment = state.comment_mut(comment)?;
                    comment.created = at;
                    comment.updated = at;
                }
            }
            Ok(())
        })
    }

    /// Adds a label to an issue. A label that the repository does not have is created.
    pub fn label(&self, repository: &str, number: u64, login: &str, name: &str) -> Result {
        self.act(repository, login, |state, actor, id| {
            state.add_labels(actor, id, number, &[name.to_owned()])
        })
    }

    /// Removes a label from an issue and returns whether the issue had it.
    pub fn unlabel(&self, repository: &str, number: u64, login: &str, name: &str) -> Result<bool> {
        self.act(repository, login, |state, actor, id| {
            state.remove_label(actor, id, number, name)
        })
    }

    /// Adds a reaction to a comment.
    pub fn react(&self, repository: &str, comment: u64, login: &str, content: &str) -> Result {
        self.act(repository, login, |state, actor, id| {
            let target = ReactionTarget::Comment(comment);
            state.add_reaction(actor, id, target, content)?;
            Ok(())
        })
    }

    /// Uploads a file and returns the URL to put into an issue or comment.
    pub fn attach(&self, name: &str, content: impl Into<Bytes>, private: bool) -> String {
        self.shared.with(|state| {
            let id = state.new_id();
            let attachment = Attachment {
                name: name.to_owned(),
                content: content.into(),
                private,
            };
            let url = attachments::url(&state.urls, id, &attachment);
            state.attachments.insert(id, attachment);
            url
        })
    }

    /// Sets the person who uses the pages, who can toggle checkboxes and write comments there.
    /// Without one, the pages are read-only.
    pub fn set_visitor(&self, login: &str) {
        self.shared
            .with(|state| state.visitor = Some(state.person(login)));
    }

    /// Returns the client id of the App.
    pub fn client_id(&self) -> String {
        self.shared.with(|state| state.app.client_id())
    }

    /// Returns the client secret of the App.
    pub fn client_secret(&self) -> SecretString {
        self.shared.with(|state| state.app.client_secret.clone())
    }

    /// Sets the callback URLs of the App, to which people may be sent after a login.
    pub fn set_callback_urls(&self, urls: Vec<String>) {
        self.shared.with(|state| state.app.callback_urls = urls);
    }
}

/// Webhooks.
impl Simulator {
    /// Sets the webhook URLs. Deliveries go to them in turn, as behind a load balancer.
    pub fn set_targets(&self, targets: Vec<String>) {
        self.shared.with(|state| state.webhook.targets = targets);
    }

    /// Changes the webhook secret.
    pub fn set_webhook_secret(&self, secret: SecretString) {
        self.shared.with(|state| state.webhook.secret = secret);
    }

    /// Sends the event `ping`.
    pub fn ping(&self) {
        self.shared.with(State::emit_ping);
    }

    /// Sets what happens to new deliveries: `fault` is called for each and returns `None` if it is
    /// sent as usual.
    pub fn set_webhook_faults(
        &self,
        fault: impl Fn(&Delivery) -> Option<WebhookFault> + Send + 'static,
    ) {
        self.shared
            .with(|state| state.webhook.faults = Some(Box::new(fault)));
    }

    /// Ends the faults of deliveries. Those that are held back stay so.
    pub fn clear_webhook_faults(&self) {
        self.shared.with(|state| state.webhook.faults = None);
    }

    /// Sends the deliveries that are held back, in order or the newest first.
    pub fn release_deliveries(&self, newest_first: bool) {
        self.shared
            .with(|state| state.release_deliveries(newest_first));
    }

    /// Sets the age below which attempts are missing from the log of deliveries.
    pub fn set_delivery_log_lag(&self, lag: Duration) {
        self.shared.with(|state| state.log_lag = lag);
    }

    /// Adds `count` attempts at deliveries that concern nobody to the log, one a second up to now.
    pub fn fill_delivery_log(&self, count: u32) {
        self.shared.with(|state| state.fill_delivery_log(count));
    }

    /// Queues a delivery once more and returns the id of the new attempt.
    pub fn redeliver(&self, delivery: u64) -> Result<u64> {
        self.shared.with(|state| state.redeliver(delivery))
    }

    /// Sends a delivery `count` more times at once, with the same GUID, and returns the status
    /// codes.
    pub async fn duplicate(&self, delivery: u64, count: usize) -> Result<Vec<Option<u16>>> {
        let attempts = self.shared.with(|state| {
            let copies = (0..count).map(|_| state.copy_delivery(delivery));
            copies.collect::<Result<Vec<u64>>>()
        })?;
        let client = sender::client();
        let shared = Arc::clone(&self.shared);
        let sent = attempts
            .iter()
            .map(|id| sender::send(&shared, &client, *id));
        join_all(sent).await;
        Ok(self.shared.with(|state| {
            let codes = attempts
                .iter()
                .map(|id| state.deliveries.get(id)?.status_code);
            codes.collect()
        }))
    }
}
