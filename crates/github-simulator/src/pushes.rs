//! What people do with code on the simulated GitHub: commits, pull requests, pushes.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::json;

use crate::model::{Edits, Entry, MAIN, Pull, Repository, User};
use crate::people::Outcome;
use crate::state::{Doer, State};
use crate::{Simulator, SimulatorError};

/// A pull request that somebody opens.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// Title.
    pub title: String,
    /// Opening text.
    pub body: String,
    /// What its first commit does.
    pub edits: Vec<(String, Option<Entry>)>,
    /// It comes from a fork of the author's own, made if needed.
    pub fork: bool,
    /// Not ready for review.
    pub draft: bool,
}

impl State {
    /// A repository with one commit that holds nothing; gives its id.
    pub(crate) fn new_repository(
        &mut self,
        owner: User,
        name: &str,
        private: bool,
        fork: bool,
    ) -> u64 {
        let id = self.id();
        let created = self.now();
        let mut repository = Repository {
            id,
            owner,
            name: name.to_owned(),
            private,
            has_issues: true,
            archived: false,
            gone: std::collections::BTreeMap::new(),
            roles: BTreeMap::new(),
            labels: Vec::new(),
            issues: BTreeMap::new(),
            fork,
            commits: BTreeMap::new(),
            branches: BTreeMap::new(),
            check_runs: BTreeMap::new(),
            created,
        };
        repository.add_commit(MAIN, None, &[], created);
        self.repositories.insert(id, repository);
        id
    }

    fn propose(&mut self, by: &Doer, id: u64, proposal: &Proposal) -> Outcome<u64> {
        let now = self.now();
        let home = self.repository(id)?;
        let (name, private) = (home.name.clone(), home.private);
        let number = home.next_number();
        let branch = format!("topic-{number}");
        let head_repository = if proposal.fork {
            match self.repository_named(&by.user.login, &name) {
                Some(fork) => fork.id,
                None => self.new_repository(by.user.clone(), &name, private, true),
            }
        } else {
            id
        };
        let home = self.repository_mut(id)?;
        let base = home.branches.get(MAIN).cloned().unwrap_or_default();
        // As on GitHub, the repository has a fork's commits too, on a name that no branch of its own has.
        let kept = if proposal.fork {
            format!("pull/{number}/head")
        } else {
            branch.clone()
        };
        let head = home.add_commit(&kept, Some(&base), &proposal.edits, now);
        let pull = Pull {
            head_repository,
            branch,
            head,
            base,
            draft: proposal.draft,
        };
        self.open(
            by,
            id,
            Some(pull),
            &proposal.title,
            Some(&proposal.body),
            &[],
        )
    }

    fn push(&mut self, by: &Doer, id: u64, number: u64, edits: &Edits) -> Outcome<String> {
        let now = self.now();
        let no_pull = || SimulatorError::missing(format!("pull request #{number}"));
        let home = self.repository_mut(id)?;
        let issue = home.issues.get(&number).ok_or_else(no_pull)?;
        let pull = issue.pull.clone().ok_or_else(no_pull)?;
        let branch = if pull.head_repository == id {
            pull.branch.clone()
        } else {
            format!("pull/{number}/head")
        };
        let head = home.add_commit(&branch, Some(&pull.head), edits, now);
        let issue = self.issue_mut(id, number)?;
        issue.updated = now;
        issue.pull = Some(Pull {
            head: head.clone(),
            ..pull.clone()
        });
        let more = json!({"before": pull.head, "after": head});
        self.announce_issue(by, id, number, "synchronize", &more)?;
        Ok(head)
    }
}

impl Simulator {
    /// Puts a file on the default branch.
    pub fn put_file(&self, repository: &str, path: &str, content: impl Into<Bytes>) -> Outcome {
        self.put_file_on(repository, MAIN, path, content)
    }

    /// Puts a file on a branch, made if needed; of what stands on the default branch a new one has nothing.
    pub fn put_file_on(
        &self,
        repository: &str,
        branch: &str,
        path: &str,
        content: impl Into<Bytes>,
    ) -> Outcome {
        let edits = [(path.to_owned(), Some(Entry::file(content)))];
        self.commit(repository, branch, &edits).map(|_| ())
    }

    /// Puts a commit on a branch; gives its name. Pull requests from that branch do not hear of it: see
    /// [`Simulator::push`].
    pub fn commit(&self, repository: &str, branch: &str, edits: &Edits) -> Outcome<String> {
        self.shared.with(|state| {
            let id = state.repository_id(repository)?;
            let now = state.now();
            let home = state.repository_mut(id)?;
            let parent = home.branches.get(branch).cloned();
            Ok(home.add_commit(branch, parent.as_deref(), edits, now))
        })
    }

    /// Opens a pull request that changes nothing; gives its number.
    pub fn open_pull_request(
        &self,
        repository: &str,
        login: &str,
        title: &str,
        body: &str,
    ) -> Outcome<u64> {
        let proposal = Proposal {
            title: title.to_owned(),
            body: body.to_owned(),
            ..Proposal::default()
        };
        self.propose(repository, login, &proposal)
    }

    /// Opens a pull request with one commit; gives its number.
    pub fn propose(&self, repository: &str, login: &str, proposal: &Proposal) -> Outcome<u64> {
        self.act(repository, login, |state, by, id| {
            state.propose(by, id, proposal)
        })
    }

    /// Pushes one more commit to a pull request (`pull_request.synchronize`); gives the commit's name.
    pub fn push(
        &self,
        repository: &str,
        number: u64,
        login: &str,
        edits: &Edits,
    ) -> Outcome<String> {
        self.act(repository, login, |state, by, id| {
            state.push(by, id, number, edits)
        })
    }
}
