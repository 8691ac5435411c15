//! Changes that people and the App can make. Each change sends its webhooks.

use serde_json::{Value, json};

use crate::error::Result;
use crate::model::{Actor, Comment, Issue, Label, PullRequest, Reaction, RemovedIssue};
use crate::state::State;

/// Colour of a label that is created by adding it to an issue.
const DEFAULT_COLOUR: &str = "ededed";

/// Changes to an issue; `None` leaves a member unchanged.
#[derive(Debug, Clone, Default)]
pub(crate) struct IssueChange {
    pub(crate) title: Option<String>,
    /// An empty text removes the body.
    pub(crate) body: Option<String>,
    pub(crate) closed: Option<bool>,
    pub(crate) state_reason: Option<String>,
    pub(crate) labels: Option<Vec<String>>,
}

/// Object that a reaction belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReactionTarget {
    /// An issue or pull request, by number.
    Issue(u64),
    /// A comment, by id.
    Comment(u64),
}

impl State {
    /// Opens an issue or a pull request and returns its number.
    pub(crate) fn open_issue(
        &mut self,
        actor: &Actor,
        repository: u64,
        pull: Option<PullRequest>,
        title: &str,
        body: Option<&str>,
        labels: &[String],
    ) -> Result<u64> {
        let now = self.now();
        let id = self.new_id();
        let home = self.repository_mut(repository)?;
        let number = home.next_number();
        home.issues.insert(
            number,
            Issue {
                id,
                number,
                pull,
                title: title.to_owned(),
                body: body.filter(|body| !body.is_empty()).map(str::to_owned),
                author: actor.user.clone(),
                via_app: actor.via_app,
                labels: Vec::new(),
                locked: false,
                closed: None,
                state_reason: None,
                closed_by: None,
                comments: Vec::new(),
                events: Vec::new(),
                reactions: Vec::new(),
                created: now,
                updated: now,
            },
        );
        let mut new = Vec::new();
        for name in labels {
            let label = self.label_or_new(actor, repository, name)?;
            let issue = self.issue_mut(repository, number)?;
            if !issue.labels.contains(&label.name) {
                issue.labels.push(label.name.clone());
                new.push(label);
            }
        }
        self.emit_issue(actor, repository, number, "opened", &json!({}))?;
        for label in &new {
            self.emit_label(actor, repository, number, "labeled", label)?;
        }
        Ok(number)
    }

    pub(crate) fn edit_issue(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        change: IssueChange,
    ) -> Result {
        let now = self.now();
        let mut changes = serde_json::Map::new();
        let issue = self.issue_mut(repository, number)?;
        if let Some(title) = change.title
            && title != issue.title
        {
            changes.insert("title".to_owned(), json!({"from": issue.title}));
            issue.title = title;
        }
        if let Some(body) = change
            .body
            .map(|body| Some(body).filter(|body| !body.is_empty()))
            && body != issue.body
        {
            let from = issue.body.clone().unwrap_or_default();
            changes.insert("body".to_owned(), json!({"from": from}));
            issue.body = body;
        }
        if !changes.is_empty() {
            issue.updated = now;
            let changes = json!({"changes": Value::Object(changes)});
            self.emit_issue(actor, repository, number, "edited", &changes)?;
        }
        if let Some(wanted) = change.labels {
            self.replace_labels(actor, repository, number, &wanted)?;
        }
        let issue = self.issue_mut(repository, number)?;
        if let Some(closed) = change.closed
            && closed != issue.closed.is_some()
        {
            issue.closed = closed.then_some(now);
            issue.closed_by = closed.then(|| actor.user.clone());
            let default = if closed { "completed" } else { "reopened" };
            issue.state_reason = change.state_reason.or_else(|| Some(default.to_owned()));
            issue.updated = now;
            let action = if closed { "closed" } else { "reopened" };
            self.emit_issue(actor, repository, number, action, &json!({}))?;
        }
        Ok(())
    }

    fn replace_labels(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        wanted: &[String],
    ) -> Result {
        let present = self.issue(repository, number)?.labels.clone();
        for name in present {
            if !wanted.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
                self.remove_label(actor, repository, number, &name)?;
            }
        }
        self.add_labels(actor, repository, number, wanted)
    }

    /// Returns the repository's label with this name, creating it if there is none, as GitHub does.
    fn label_or_new(&mut self, actor: &Actor, repository: u64, name: &str) -> Result<Label> {
        if let Some(label) = self.repository(repository)?.label(name) {
            return Ok(label.clone());
        }
        self.create_label(actor, repository, name, DEFAULT_COLOUR, None)
    }

    pub(crate) fn create_label(
        &mut self,
        actor: &Actor,
        repository: u64,
        name: &str,
        colour: &str,
        description: Option<&str>,
    ) -> Result<Label> {
        let label = Label {
            id: self.new_id(),
            name: name.to_owned(),
            colour: colour.to_ascii_lowercase(),
            description: description.map(str::to_owned),
        };
        self.repository_mut(repository)?.labels.push(label.clone());
        self.emit_label_created(actor, repository, &label)?;
        Ok(label)
    }

    pub(crate) fn add_labels(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        names: &[String],
    ) -> Result {
        let now = self.now();
        for name in names {
            let label = self.label_or_new(actor, repository, name)?;
            let issue = self.issue_mut(repository, number)?;
            if issue.labels.contains(&label.name) {
                continue;
            }
            issue.labels.push(label.name.clone());
            issue.updated = now;
            self.emit_label(actor, repository, number, "labeled", &label)?;
        }
        Ok(())
    }

    /// Removes a label from an issue; returns whether the issue had it.
    pub(crate) fn remove_label(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        name: &str,
    ) -> Result<bool> {
        let now = self.now();
        let label = self.repository(repository)?.label(name).cloned();
        let issue = self.issue_mut(repository, number)?;
        let before = issue.labels.len();
        issue
            .labels
            .retain(|other| !other.eq_ignore_ascii_case(name));
        if issue.labels.len() == before {
            return Ok(false);
        }
        issue.updated = now;
        if let Some(label) = label {
            self.emit_label(actor, repository, number, "unlabeled", &label)?;
        }
        Ok(true)
    }

    /// Adds a comment and returns its id.
    pub(crate) fn add_comment(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        body: &str,
    ) -> Result<u64> {
        let now = self.now();
        let id = self.new_id();
        let issue = self.issue_mut(repository, number)?;
        issue.comments.push(id);
        issue.updated = now;
        self.comments.insert(
            id,
            Comment {
                id,
                repository,
                number,
                author: actor.user.clone(),
                via_app: actor.via_app,
                body: body.to_owned(),
                hidden: None,
                reactions: Vec::new(),
                created: now,
                updated: now,
            },
        );
        self.emit_comment(actor, id, "created", &json!({}))?;
        Ok(id)
    }

    /// Returns whether the conversation is locked for the actor: for everybody without write
    /// permission, and for Apps regardless of their permissions (probot/stale#25,
    /// renovatebot/renovate#6215).
    pub(crate) fn is_locked_for(
        &self,
        actor: &Actor,
        repository: u64,
        number: u64,
    ) -> Result<bool> {
        let locked = self.issue(repository, number)?.locked;
        let role = self.repository(repository)?.role(actor.user.id);
        Ok(locked && (actor.via_app || !role.can_write()))
    }

    /// Locks or unlocks a conversation.
    pub(crate) fn set_locked(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        locked: bool,
    ) -> Result {
        self.issue_mut(repository, number)?.locked = locked;
        let action = if locked { "locked" } else { "unlocked" };
        self.emit_issue(actor, repository, number, action, &json!({}))
    }

    /// Deletes an issue and its comments.
    pub(crate) fn delete_issue(&mut self, actor: &Actor, repository: u64, number: u64) -> Result {
        self.emit_issue(actor, repository, number, "deleted", &json!({}))?;
        let home = self.repository_mut(repository)?;
        home.removed_issues.insert(number, RemovedIssue::Deleted);
        let issue = home.issues.remove(&number);
        for id in issue.into_iter().flat_map(|issue| issue.comments) {
            self.comments.remove(&id);
        }
        Ok(())
    }

    /// Transfers an issue to another repository and returns its number there. Its comments get new
    /// ids. GitHub's webhook for it is not simulated.
    pub(crate) fn transfer_issue(&mut self, from: u64, number: u64, to: u64) -> Result<u64> {
        let mut issue = self.issue(from, number)?.clone();
        let new = self.repository(to)?.next_number();
        let old = std::mem::take(&mut issue.comments);
        for id in old {
            let Some(comment) = self.comments.remove(&id) else {
                continue;
            };
            let id = self.new_id();
            issue.comments.push(id);
            let moved = Comment {
                id,
                repository: to,
                number: new,
                ..comment
            };
            self.comments.insert(id, moved);
        }
        issue.id = self.new_id();
        issue.number = new;
        let home = self.repository_mut(from)?;
        home.issues.remove(&number);
        let moved = RemovedIssue::Transferred {
            repository: to,
            number: new,
        };
        home.removed_issues.insert(number, moved);
        self.repository_mut(to)?.issues.insert(new, issue);
        Ok(new)
    }

    /// Returns whether the actor can edit and delete a comment: the author, people with write
    /// permission, and the App, which needs only its own permission ("Repository roles for an
    /// organization" of GitHub's documentation).
    pub(crate) fn can_edit_comment(&self, actor: &Actor, id: u64) -> Result<bool> {
        let comment = self.comment(id)?;
        let role = self.repository(comment.repository)?.role(actor.user.id);
        Ok(actor.via_app || comment.author.id == actor.user.id || role.can_write())
    }

    pub(crate) fn edit_comment(&mut self, actor: &Actor, id: u64, body: &str) -> Result {
        let now = self.now();
        let comment = self.comment_mut(id)?;
        if comment.body == body {
            return Ok(());
        }
        let from = std::mem::replace(&mut comment.body, body.to_owned());
        comment.updated = now;
        self.emit_comment(
            actor,
            id,
            "edited",
            &json!({"changes": {"body": {"from": from}}}),
        )
    }

    pub(crate) fn delete_comment(&mut self, actor: &Actor, id: u64) -> Result {
        let comment = self.comment(id)?.clone();
        self.emit_comment(actor, id, "deleted", &json!({}))?;
        self.comments.remove(&id);
        let issue = self.issue_mut(comment.repository, comment.number)?;
        issue.comments.retain(|other| *other != id);
        Ok(())
    }

    pub(crate) fn reactions(
        &self,
        repository: u64,
        target: ReactionTarget,
    ) -> Result<&Vec<Reaction>> {
        match target {
            ReactionTarget::Issue(number) => Ok(&self.issue(repository, number)?.reactions),
            ReactionTarget::Comment(id) => Ok(&self.comment(id)?.reactions),
        }
    }

    pub(crate) fn reactions_mut(
        &mut self,
        repository: u64,
        target: ReactionTarget,
    ) -> Result<&mut Vec<Reaction>> {
        match target {
            ReactionTarget::Issue(number) => Ok(&mut self.issue_mut(repository, number)?.reactions),
            ReactionTarget::Comment(id) => Ok(&mut self.comment_mut(id)?.reactions),
        }
    }

    /// Returns the reaction and whether it is new: an account can have each content only once.
    pub(crate) fn add_reaction(
        &mut self,
        actor: &Actor,
        repository: u64,
        target: ReactionTarget,
        content: &str,
    ) -> Result<(Reaction, bool)> {
        let now = self.now();
        let id = self.new_id();
        let reactions = self.reactions_mut(repository, target)?;
        if let Some(same) = reactions
            .iter()
            .find(|other| other.user.id == actor.user.id && other.content == content)
        {
            return Ok((same.clone(), false));
        }
        let reaction = Reaction {
            id,
            user: actor.user.clone(),
            content: content.to_owned(),
            created: now,
        };
        reactions.push(reaction.clone());
        Ok((reaction, true))
    }
}
