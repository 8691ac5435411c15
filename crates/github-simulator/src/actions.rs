//! What can be done on GitHub, by people and by the App alike; each change sends its webhooks.

use serde_json::{Value, json};

use crate::SimulatorError;
use crate::model::{Comment, Gone, Issue, Label, Pull, Reaction};
use crate::state::{Doer, State};

/// The colour GitHub gives a label that is made by setting it.
const DEFAULT_COLOUR: &str = "ededed";

/// What changes in an issue; `None` leaves a member as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct IssueChange {
    pub(crate) title: Option<String>,
    /// An empty body is no body.
    pub(crate) body: Option<String>,
    pub(crate) closed: Option<bool>,
    pub(crate) state_reason: Option<String>,
    pub(crate) labels: Option<Vec<String>>,
}

/// Where a reaction hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reacted {
    /// Issue or pull request by number.
    Issue(u64),
    /// Comment by id.
    Comment(u64),
}

impl State {
    pub(crate) fn open(
        &mut self,
        by: &Doer,
        repository: u64,
        pull: Option<Pull>,
        title: &str,
        body: Option<&str>,
        labels: &[String],
    ) -> Result<u64, SimulatorError> {
        let now = self.now();
        let id = self.id();
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
                author: by.user.clone(),
                via_app: by.via_app,
                labels: Vec::new(),
                locked: false,
                closed: None,
                state_reason: None,
                closed_by: None,
                comments: Vec::new(),
                reactions: Vec::new(),
                created: now,
                updated: now,
            },
        );
        let mut new = Vec::new();
        for name in labels {
            let label = self.label_or_new(by, repository, name)?;
            let issue = self.issue_mut(repository, number)?;
            if !issue.labels.contains(&label.name) {
                issue.labels.push(label.name.clone());
                new.push(label);
            }
        }
        self.announce_issue(by, repository, number, "opened", &json!({}))?;
        for label in &new {
            self.announce_label(by, repository, number, "labeled", label)?;
        }
        Ok(number)
    }

    pub(crate) fn edit(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        change: IssueChange,
    ) -> Result<(), SimulatorError> {
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
            self.announce_issue(by, repository, number, "edited", &changes)?;
        }
        if let Some(wanted) = change.labels {
            self.replace_labels(by, repository, number, &wanted)?;
        }
        let issue = self.issue_mut(repository, number)?;
        if let Some(closed) = change.closed
            && closed != issue.closed.is_some()
        {
            issue.closed = closed.then_some(now);
            issue.closed_by = closed.then(|| by.user.clone());
            let usual = if closed { "completed" } else { "reopened" };
            issue.state_reason = change.state_reason.or_else(|| Some(usual.to_owned()));
            issue.updated = now;
            let action = if closed { "closed" } else { "reopened" };
            self.announce_issue(by, repository, number, action, &json!({}))?;
        }
        Ok(())
    }

    fn replace_labels(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        wanted: &[String],
    ) -> Result<(), SimulatorError> {
        let present = self.issue(repository, number)?.labels.clone();
        for name in present {
            if !wanted.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
                self.remove_label(by, repository, number, &name)?;
            }
        }
        self.add_labels(by, repository, number, wanted)
    }

    /// The repository's label of this name; GitHub makes one that is set without being there.
    fn label_or_new(
        &mut self,
        by: &Doer,
        repository: u64,
        name: &str,
    ) -> Result<Label, SimulatorError> {
        if let Some(label) = self.repository(repository)?.label(name) {
            return Ok(label.clone());
        }
        self.create_label(by, repository, name, DEFAULT_COLOUR, None)
    }

    pub(crate) fn create_label(
        &mut self,
        by: &Doer,
        repository: u64,
        name: &str,
        colour: &str,
        description: Option<&str>,
    ) -> Result<Label, SimulatorError> {
        let label = Label {
            id: self.id(),
            name: name.to_owned(),
            colour: colour.to_ascii_lowercase(),
            description: description.map(str::to_owned),
        };
        self.repository_mut(repository)?.labels.push(label.clone());
        self.announce_new_label(by, repository, &label)?;
        Ok(label)
    }

    pub(crate) fn add_labels(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        names: &[String],
    ) -> Result<(), SimulatorError> {
        let now = self.now();
        for name in names {
            let label = self.label_or_new(by, repository, name)?;
            let issue = self.issue_mut(repository, number)?;
            if issue.labels.contains(&label.name) {
                continue;
            }
            issue.labels.push(label.name.clone());
            issue.updated = now;
            self.announce_label(by, repository, number, "labeled", &label)?;
        }
        Ok(())
    }

    /// True when the label was on the issue.
    pub(crate) fn remove_label(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        name: &str,
    ) -> Result<bool, SimulatorError> {
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
            self.announce_label(by, repository, number, "unlabeled", &label)?;
        }
        Ok(true)
    }

    pub(crate) fn comment_on(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        body: &str,
    ) -> Result<u64, SimulatorError> {
        let now = self.now();
        let id = self.id();
        let issue = self.issue_mut(repository, number)?;
        issue.comments.push(id);
        issue.updated = now;
        self.comments.insert(
            id,
            Comment {
                id,
                repository,
                number,
                author: by.user.clone(),
                via_app: by.via_app,
                body: body.to_owned(),
                hidden: None,
                reactions: Vec::new(),
                created: now,
                updated: now,
            },
        );
        self.announce_comment(by, id, "created", &json!({}))?;
        Ok(id)
    }

    /// Whether a locked conversation shuts somebody out of commenting and reacting: everybody without write permission, and
    /// Apps whatever their permissions are (probot/stale#25, renovatebot/renovate#6215).
    pub(crate) fn is_locked_for(
        &self,
        by: &Doer,
        repository: u64,
        number: u64,
    ) -> Result<bool, SimulatorError> {
        let locked = self.issue(repository, number)?.locked;
        let role = self.repository(repository)?.role(by.user.id);
        let writes = matches!(role.permission(), "write" | "admin");
        Ok(locked && (by.via_app || !writes))
    }

    /// Deletes an issue and its comments.
    pub(crate) fn delete_issue(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
    ) -> Result<(), SimulatorError> {
        self.announce_issue(by, repository, number, "deleted", &json!({}))?;
        let home = self.repository_mut(repository)?;
        home.gone.insert(number, Gone::Deleted);
        let issue = home.issues.remove(&number);
        for id in issue.into_iter().flat_map(|issue| issue.comments) {
            self.comments.remove(&id);
        }
        Ok(())
    }

    /// Transfers an issue to another repository; gives its number there. Its comments get new ids. The webhook that GitHub
    /// sends for it is not simulated.
    pub(crate) fn transfer(
        &mut self,
        from: u64,
        number: u64,
        to: u64,
    ) -> Result<u64, SimulatorError> {
        let mut issue = self.issue(from, number)?.clone();
        let new = self.repository(to)?.next_number();
        let old = std::mem::take(&mut issue.comments);
        for id in old {
            let Some(comment) = self.comments.remove(&id) else {
                continue;
            };
            let id = self.id();
            issue.comments.push(id);
            let moved = Comment {
                id,
                repository: to,
                number: new,
                ..comment
            };
            self.comments.insert(id, moved);
        }
        issue.id = self.id();
        issue.number = new;
        let home = self.repository_mut(from)?;
        home.issues.remove(&number);
        let moved = Gone::Moved {
            repository: to,
            number: new,
        };
        home.gone.insert(number, moved);
        self.repository_mut(to)?.issues.insert(new, issue);
        Ok(new)
    }

    /// Whether somebody may edit or delete a comment: the author, people with write, and the App, which needs nothing but
    /// its permission ("Repository roles for an organization" of GitHub's documentation).
    pub(crate) fn may_edit(&self, by: &Doer, id: u64) -> Result<bool, SimulatorError> {
        let comment = self.comment(id)?;
        let role = self.repository(comment.repository)?.role(by.user.id);
        Ok(by.via_app
            || comment.author.id == by.user.id
            || matches!(role.permission(), "write" | "admin"))
    }

    pub(crate) fn edit_comment(
        &mut self,
        by: &Doer,
        id: u64,
        body: &str,
    ) -> Result<(), SimulatorError> {
        let now = self.now();
        let comment = self.comment_mut(id)?;
        if comment.body == body {
            return Ok(());
        }
        let from = std::mem::replace(&mut comment.body, body.to_owned());
        comment.updated = now;
        self.announce_comment(
            by,
            id,
            "edited",
            &json!({"changes": {"body": {"from": from}}}),
        )
    }

    pub(crate) fn delete_comment(&mut self, by: &Doer, id: u64) -> Result<(), SimulatorError> {
        let comment = self.comment(id)?.clone();
        self.announce_comment(by, id, "deleted", &json!({}))?;
        self.comments.remove(&id);
        let issue = self.issue_mut(comment.repository, comment.number)?;
        issue.comments.retain(|other| *other != id);
        Ok(())
    }

    pub(crate) fn reactions(
        &self,
        repository: u64,
        on: Reacted,
    ) -> Result<&Vec<Reaction>, SimulatorError> {
        match on {
            Reacted::Issue(number) => Ok(&self.issue(repository, number)?.reactions),
            Reacted::Comment(id) => Ok(&self.comment(id)?.reactions),
        }
    }

    pub(crate) fn reactions_mut(
        &mut self,
        repository: u64,
        on: Reacted,
    ) -> Result<&mut Vec<Reaction>, SimulatorError> {
        match on {
            Reacted::Issue(number) => Ok(&mut self.issue_mut(repository, number)?.reactions),
            Reacted::Comment(id) => Ok(&mut self.comment_mut(id)?.reactions),
        }
    }

    /// The reaction, and whether it is new: an account has each content once.
    pub(crate) fn react(
        &mut self,
        by: &Doer,
        repository: u64,
        on: Reacted,
        content: &str,
    ) -> Result<(Reaction, bool), SimulatorError> {
        let now = self.now();
        let id = self.id();
        let reactions = self.reactions_mut(repository, on)?;
        if let Some(same) = reactions
            .iter()
            .find(|other| other.user.id == by.user.id && other.content == content)
        {
            return Ok((same.clone(), false));
        }
        let reaction = Reaction {
            id,
            user: by.user.clone(),
            content: content.to_owned(),
            created: now,
        };
        reactions.push(reaction.clone());
        Ok((reaction, true))
    }
}
