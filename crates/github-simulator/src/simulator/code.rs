//! Commits, pull requests and pushes by people.

use bytes::Bytes;
use serde_json::json;

use super::Simulator;
use crate::error::{Result, SimulatorError};
use crate::model::{Actor, DEFAULT_BRANCH, FileEdits, PullRequest, TreeEntry};
use crate::state::State;

/// A pull request to open.
#[derive(Debug, Clone, Default)]
pub struct NewPullRequest {
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Changes of its first commit, as in [`FileEdits`].
    pub edits: Vec<(String, Option<TreeEntry>)>,
    /// Whether it comes from a fork of the author's, which is created if there is none.
    pub fork: bool,
    /// Whether it is a draft.
    pub draft: bool,
}

impl State {
    fn open_pull_request(&mut self, actor: &Actor, id: u64, new: &NewPullRequest) -> Result<u64> {
        let now = self.now();
        let repository = self.repository(id)?;
        let (name, private) = (repository.name.clone(), repository.private);
        let number = repository.next_number();
        let branch = format!("topic-{number}");
        let head_repository = if new.fork {
            match self.repository_named(&actor.user.login, &name) {
                Some(fork) => fork.id,
                None => self.add_repository(actor.user.clone(), &name, private, true),
            }
        } else {
            id
        };
        let repository = self.repository_mut(id)?;
        let base = repository.branches.get(DEFAULT_BRANCH).cloned();
        let base = base.unwrap_or_default();
        let mut pull = PullRequest {
            head_repository,
            branch,
            head: String::new(),
            base: base.clone(),
            draft: new.draft,
        };
        let stored_branch = stored_branch(&pull, id, number);
        pull.head = repository.add_commit(&stored_branch, Some(&base), &new.edits, now);
        self.open_issue(actor, id, Some(pull), &new.title, Some(&new.body), &[])
    }

    fn push(&mut self, actor: &Actor, id: u64, number: u64, edits: &FileEdits) -> Result<String> {
        let now = self.now();
        let missing = || SimulatorError::missing(format_args!("pull request #{number}"));
        let repository = self.repository_mut(id)?;
        let issue = repository.issues.get(&number);
        let pull = issue.and_then(|issue| issue.pull.clone());
        let pull = pull.ok_or_else(missing)?;
        let branch = stored_branch(&pull, id, number);
        let head = repository.add_commit(&branch, Some(&pull.head), edits, now);
        let more = json!({"before": pull.head, "after": head});
        let issue = self.issue_mut(id, number)?;
        issue.updated = now;
        issue.pull = Some(PullRequest {
            head: head.clone(),
            ..pull
        });
        self.emit_issue(actor, id, number, "synchronize", &more)?;
        Ok(head)
    }
}

/// Returns the branch under which a repository stores the commits of a pull request. As on GitHub,
/// it stores the commits of forks too, under a name that none of its own branches has.
fn stored_branch(pull: &PullRequest, repository: u64, number: u64) -> String {
    if pull.head_repository == repository {
        pull.branch.clone()
    } else {
        format!("pull/{number}/head")
    }
}

impl Simulator {
    /// Commits a file to the default branch.
    pub fn put_file(&self, repository: &str, path: &str, content: impl Into<Bytes>) -> Result {
        self.put_file_on(repository, DEFAULT_BRANCH, path, content)
    }

    /// Commits a file to a branch. A branch that does not exist is created without the files of the
    /// default branch.
    pub fn put_file_on(
        &self,
        repository: &str,
        branch: &str,
        path: &str,
        content: impl Into<Bytes>,
    ) -> Result {
        let edits = [(path.to_owned(), Some(TreeEntry::file(content)))];
        self.commit(repository, branch, &edits).map(|_| ())
    }

    /// Adds a commit to a branch and returns its SHA. Pull requests from that branch do not change;
    /// use [`Simulator::push`] for them.
    pub fn commit(&self, repository: &str, branch: &str, edits: &FileEdits) -> Result<String> {
        self.in_repository(repository, |state, id| {
            let now = state.now();
            let repository = state.repository_mut(id)?;
            let parent = repository.branches.get(branch).cloned();
            Ok(repository.add_commit(branch, parent.as_deref(), edits, now))
        })
    }

    /// Replaces the archive of a commit, e.g. by a hostile or damaged one.
    pub fn set_archive(&self, repository: &str, commit: &str, archive: impl Into<Bytes>) -> Result {
        self.in_repository(repository, |state, id| {
            state
                .archives
                .insert((id, commit.to_owned()), archive.into());
            Ok(())
        })
    }

    /// Opens a pull request without changes and returns its number.
    pub fn open_pull_request(
        &self,
        repository: &str,
        login: &str,
        title: &str,
        body: &str,
    ) -> Result<u64> {
        let new = NewPullRequest {
            title: title.to_owned(),
            body: body.to_owned(),
            ..NewPullRequest::default()
        };
        self.create_pull_request(repository, login, &new)
    }

    /// Opens a pull request with one commit and returns its number.
    pub fn create_pull_request(
        &self,
        repository: &str,
        login: &str,
        new: &NewPullRequest,
    ) -> Result<u64> {
        self.act(repository, login, |state, actor, id| {
            state.open_pull_request(actor, id, new)
        })
    }

    /// Pushes a commit to a pull request (`pull_request.synchronize`) and returns its SHA.
    pub fn push(
        &self,
        repository: &str,
        number: u64,
        login: &str,
        edits: &FileEdits,
    ) -> Result<String> {
        self.act(repository, login, |state, actor, id| {
            state.push(actor, id, number, edits)
        })
    }
}
