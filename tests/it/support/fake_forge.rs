//! A small state machine that implements `Forge`, with faults at chosen calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use planwright::engine::clock::Clock;
use planwright::engine::forge::{
    Access, ChangedFile, CheckReport, CheckRun, FileAt, Forge, ForgeError, LabelSpec,
    MAX_ANNOTATIONS, NewCheckRun, PullRequest, ReactTo, Reaction, ReadError, Take, Tree, Written,
};
use planwright::engine::model::conversation::{Conversation, Hidden, Post, Reactions};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Repo};
use planwright::formats::command::Permission;

use super::clock::ManualClock;

/// An event on GitHub just before a write of the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happening {
    /// The conversation is locked. An App can then neither comment nor react there.
    Lock,
    /// The conversation is locked, and the App's comments there cannot be edited either.
    LockEdits,
    /// The repository is archived.
    Archive,
    /// The issue is deleted.
    Delete,
    /// The issue is transferred to another repository, where its comments have new IDs.
    Transfer,
}

/// The issue that an event happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// The issue with this number.
    Number(u64),
    /// The App's first issue, if it exists by then.
    Plan,
}

/// The response to writes to recently created objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unripe {
    /// Status 404.
    NotFound,
    /// Status 422.
    Unprocessable,
}

/// The target of a write.
#[derive(Debug, Clone, Copy)]
enum On {
    /// The repository.
    Repository,
    /// An issue that is edited or labelled.
    Issue(u64),
    /// A new comment on an issue.
    NewComment(u64),
    /// A comment that is edited or deleted.
    Comment(u64),
    /// A reaction on an issue or one of its comments, with the number of the issue.
    Reaction(u64),
}

/// ID of the repository that issues are transferred to.
pub(crate) const OTHER_REPOSITORY: u64 = 43;

/// A fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Status 502; nothing happened.
    LostBefore,
    /// The write happened, but the response is lost.
    LostAfter,
    /// The rate limit is exceeded for this time.
    Limited(Duration),
    /// The call never returns and nothing happened: the process dies at this point.
    DieBefore,
    /// The write happened, then the process dies.
    DieAfter,
    /// Refused permanently.
    Forbidden,
    /// The target of the write does not exist any more.
    Missing,
}

#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) labels: Vec<String>,
    pub(crate) own: bool,
    pub(crate) created: Millis,
    pub(crate) comments: Vec<u64>,
    pub(crate) closed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    /// The author, and the association that GitHub shows.
    pub(crate) by: (Actor, &'static str),
    pub(crate) body: String,
    pub(crate) own: bool,
    pub(crate) created: Millis,
    pub(crate) edits: u32,
}

/// A check run. Its report accumulates all annotations.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    pub(crate) id: u64,
    pub(crate) external_id: String,
    pub(crate) head_sha: String,
    pub(crate) name: String,
    pub(crate) report: CheckReport,
    /// Number of requests that created or updated it.
    pub(crate) requests: u32,
}

impl Check {
    fn seen(&self) -> CheckRun {
        CheckRun {
            id: self.id,
            url: format!("https://github.test/runs/{}", self.id),
            external_id: self.external_id.clone(),
            annotations: self.report.annotations.len(),
        }
    }
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one behaviour of GitHub on"
)]
pub(crate) struct World {
    pub(crate) issues: BTreeMap<u64, Issue>,
    pub(crate) comments: BTreeMap<u64, Comment>,
    pub(crate) reactions: Vec<(u64, String, Reaction)>,
    pub(crate) labels: Vec<String>,
    pub(crate) roles: BTreeMap<String, (u64, Permission)>,
    pub(crate) writes: u64,
    pub(crate) calls: u64,
    /// Faults by write number (from 1).
    pub(crate) faults: BTreeMap<u64, Fault>,
    /// Files by `path@ref`, contents by `blob ID`, and attachments by address.
    pub(crate) files: BTreeMap<String, Result<Vec<u8>, ReadError>>,
    /// Archives by commit.
    pub(crate) archives: BTreeMap<String, Result<Vec<u8>, ReadError>>,
    /// Names of all files, blobs, attachments and archives read, in order.
    pub(crate) read: Vec<String>,
    /// Logins whose role was requested, in order.
    pub(crate) roles_asked: Vec<String>,
    /// The files of the repository; `None` if it has no commit.
    pub(crate) tree: Option<Tree>,
    /// Number of listings of files.
    pub(crate) trees_listed: u64,
    /// Pull requests by number.
    pub(crate) pulls: BTreeMap<u64, (PullRequest, Vec<ChangedFile>)>,
    /// The App's check runs.
    pub(crate) checks: Vec<Check>,
    /// Whether every call fails as unreachable.
    pub(crate) down: bool,
    /// GitHub's time minus the bot's, in milliseconds.
    pub(crate) offset: i64,
    /// Age below which objects are missing from lists.
    pub(crate) lag: Duration,
    /// Age below which writes to an object are refused, and the response.
    pub(crate) unripe: Option<(Duration, Unripe)>,
    /// Whether reactions are refused everywhere.
    pub(crate) no_reactions: bool,
    /// Events by the number of the write (from 1) that they precede.
    pub(crate) happenings: BTreeMap<u64, (Happening, Where)>,
    /// Locked issues, and whether comments there can still be edited.
    pub(crate) locked: BTreeMap<u64, bool>,
    /// Whether the repository is archived.
    pub(crate) archived: bool,
    /// Deleted issues.
    pub(crate) deleted: BTreeSet<u64>,
    /// Transferred issues and their new numbers.
    pub(crate) moved: BTreeMap<u64, u64>,
    /// Hidden comments.
    pub(crate) hidden: Vec<Hidden>,
    /// Whether the comment with the command exists even if it is not listed.
    pub(crate) command_exists: bool,
    next: u64,
}

/// The default author.
fn ada() -> (Actor, &'static str) {
    let ada = Actor {
        id: 7,
        login: "ada".into(),
        bot: false,
    };
    (ada, "MEMBER")
}

#[derive(Clone)]
pub(crate) struct FakeForge {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) clock: Arc<ManualClock>,
    /// Notified when a call with a `Die…` fault is reached.
    pub(crate) died: Arc<tokio::sync::Notify>,
}

impl FakeForge {
    pub(crate) fn new(clock: Arc<ManualClock>) -> Self {
        let world = World {
            next: 1000,
            ..World::default()
        };
        Self {
            world: Arc::new(Mutex::new(world)),
            clock,
            died: Arc::default(),
        }
    }

    /// Creates a conversation at `number`: the opening text, then comments by people.
    pub(crate) fn open(&self, number: u64, title: &str, posts: &[&str]) {
        let created = self.clock.now().minus(Duration::from_hours(1));
        let mut world = self.world.lock().unwrap();
        let mut comments = Vec::new();
        for body in &posts[1..] {
            let id = world.id();
            let comment = Comment {
                by: ada(),
                body: (*body).to_owned(),
                own: false,
                created,
                edits: 0,
            };
            world.comments.insert(id, comment);
            comments.push(id);
        }
        let issue = Issue {
            title: title.to_owned(),
            body: posts[0].to_owned(),
            labels: Vec::new(),
            own: false,
            created,
            comments,
            closed: false,
        };
        world.issues.insert(number, issue);
    }

    /// Adds a comment at `number`, written half an hour ago. `association` is what GitHub shows
    /// beside the author's name.
    pub(crate) fn post(&self, number: u64, by: Actor, association: &'static str, body: &str) {
        let created = self.clock.now().minus(Duration::from_mins(30));
        let mut world = self.world.lock().unwrap();
        let id = world.id();
        let comment = Comment {
            by: (by, association),
            body: body.to_owned(),
            own: false,
            created,
            edits: 0,
        };
        world.comments.insert(id, comment);
        world.issues.get_mut(&number).unwrap().comments.push(id);
    }

    pub(crate) fn grant(&self, login: &str, id: u64, role: Permission) {
        self.world
            .lock()
            .unwrap()
            .roles
            .insert(login.to_owned(), (id, role));
    }

    /// Makes write number `write` (from 1) fail.
    pub(crate) fn fail(&self, write: u64, fault: Fault) {
        self.world.lock().unwrap().faults.insert(write, fault);
    }

    /// Adds a person's comment, written now.
    pub(crate) fn comment(&self, number: u64, body: &str) -> u64 {
        let created = self.github_time();
        let mut world = self.world.lock().unwrap();
        let id = world.id();
        let comment = Comment {
            by: ada(),
            body: body.to_owned(),
            own: false,
            created,
            edits: 0,
        };
        world.comments.insert(id, comment);
        world.issues.get_mut(&number).unwrap().comments.push(id);
        id
    }

    /// Returns the IDs of the comments at `number`, in order.
    pub(crate) fn comments_of(&self, number: u64) -> Vec<u64> {
        self.world.lock().unwrap().issues[&number].comments.clone()
    }

    /// Returns GitHub's time.
    pub(crate) fn github_time(&self) -> Millis {
        let offset = self.world.lock().unwrap().offset;
        Millis(self.clock.now().0 + offset)
    }

    /// Shifts GitHub's clock, and all times recorded there, by `offset` milliseconds against the
    /// bot's clock.
    pub(crate) fn shift(&self, offset: i64) {
        let mut world = self.world.lock().unwrap();
        world.offset = offset;
        let World {
            issues, comments, ..
        } = &mut *world;
        let issues = issues.values_mut().map(|issue| &mut issue.created);
        let comments = comments.values_mut().map(|comment| &mut comment.created);
        for created in issues.chain(comments) {
            created.0 += offset;
        }
    }

    /// Schedules an event before write number `write` (from 1).
    pub(crate) fn happen(&self, write: u64, happening: Happening, to: Where) {
        let mut world = self.world.lock().unwrap();
        world.happenings.insert(write, (happening, to));
    }

    /// Returns the issues that the App created.
    pub(crate) fn plans(&self) -> Vec<(u64, Issue)> {
        let world = self.world.lock().unwrap();
        world
            .issues
            .iter()
            .filter(|(_, i)| i.own)
            .map(|(n, i)| (*n, i.clone()))
            .collect()
    }

    /// Deletes the App's comments at `number`.
    pub(crate) fn forget_own_comments(&self, number: u64) {
        let mut world = self.world.lock().unwrap();
        let World {
            issues, comments, ..
        } = &mut *world;
        let ids = &mut issues.get_mut(&number).unwrap().comments;
        ids.retain(|id| !comments.get(id).is_some_and(|comment| comment.own));
        let kept: Vec<u64> = issues
            .values()
            .flat_map(|i| i.comments.iter().copied())
            .collect();
        comments.retain(|id, _| kept.contains(id));
    }

    /// Returns the bodies of the App's comments at `number`, in order.
    pub(crate) fn own_bodies(&self, number: u64) -> Vec<String> {
        let world = self.world.lock().unwrap();
        world.issues[&number]
            .comments
            .iter()
            .filter_map(|id| world.comments.get(id))
            .filter(|c| c.own)
            .map(|c| c.body.clone())
            .collect()
    }

    /// Reads an entry of [`World::files`] in small pieces.
    fn pour(&self, name: &str, most: u64, take: &mut Take<'_>) -> Result<(), ReadError> {
        let found = self.read(|world| world.files.get(name).cloned())?;
        self.world.lock().unwrap().read.push(name.to_owned());
        let content = found.unwrap_or(Err(ReadError::NoFile))?;
        if content.len() as u64 > most {
            return Err(ReadError::TooLarge { most });
        }
        for piece in content.chunks(100) {
            if !take(piece) {
                break;
            }
        }
        Ok(())
    }

    fn read<T>(&self, act: impl FnOnce(&World) -> T) -> Result<T, ForgeError> {
        let mut world = self.world.lock().unwrap();
        world.calls += 1;
        if world.down {
            return Err(ForgeError::Unreachable {
                what: "a read".into(),
                message: "down".into(),
            });
        }
        Ok(act(&world))
    }

    async fn write<T: Send>(
        &self,
        on: On,
        act: impl FnOnce(&mut World, Millis) -> T + Send,
    ) -> Result<T, ForgeError> {
        let what = "a write".to_owned();
        let message = "scripted".to_owned();
        let now = self.clock.now();
        let github = self.github_time();
        let (fault, done) = {
            let mut world = self.world.lock().unwrap();
            if world.down {
                return Err(ForgeError::Unreachable { what, message });
            }
            world.calls += 1;
            world.writes += 1;
            let number = world.writes;
            if let Some((happening, to)) = world.happenings.remove(&number) {
                world.happens(happening, to);
            }
            let fault = world.faults.remove(&number);
            match fault {
                Some(Fault::LostBefore | Fault::DieBefore) => (fault, None),
                Some(Fault::Limited(wait)) => {
                    return Err(ForgeError::Limited {
                        what,
                        until: now.plus(wait),
                    });
                }
                Some(Fault::Forbidden) => return Err(ForgeError::Forbidden { what, message }),
                Some(Fault::Missing) => return Err(ForgeError::NotFound { what }),
                _ => {
                    if let Some(refusal) = world.refusal(on, github) {
                        return Err(refusal);
                    }
                    (fault, Some(act(&mut world, github)))
                }
            }
        };
        match fault {
            Some(Fault::LostBefore | Fault::LostAfter) => {
                Err(ForgeError::Unknown { what, message })
            }
            Some(Fault::DieBefore | Fault::DieAfter) => {
                self.died.notify_one();
                std::future::pending().await
            }
            _ => done.ok_or(ForgeError::Unknown { what, message }),
        }
    }
}

impl World {
    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn happens(&mut self, happening: Happening, to: Where) {
        let own = self.issues.iter().find(|(_, issue)| issue.own);
        let number = match to {
            Where::Number(number) => Some(number),
            Where::Plan => own.map(|(number, _)| *number),
        };
        let Some(number) = number else { return };
        match happening {
            Happening::Lock => drop(self.locked.insert(number, true)),
            Happening::LockEdits => drop(self.locked.insert(number, false)),
            Happening::Archive => self.archived = true,
            Happening::Delete => {
                let issue = self.issues.remove(&number).unwrap();
                self.comments.retain(|id, _| !issue.comments.contains(id));
                self.deleted.insert(number);
            }
            Happening::Transfer => {
                let mut issue = self.issues.remove(&number).unwrap();
                for id in &mut issue.comments {
                    let comment = self.comments.remove(id);
                    self.next += 1;
                    *id = self.next;
                    if let Some(comment) = comment {
                        self.comments.insert(*id, comment);
                    }
                }
                let new = self.id();
                self.issues.insert(new, issue);
                self.moved.insert(number, new);
            }
        }
    }

    /// Returns GitHub's error for a write at this moment, if it is refused.
    fn refusal(&self, on: On, now: Millis) -> Option<ForgeError> {
        let what = format!("{on:?}");
        let said = |message: &str| (what.clone(), message.to_owned());
        if self.archived {
            let (what, message) = said("Repository was archived so is read-only.");
            return Some(ForgeError::Archived { what, message });
        }
        let of_comment = |id: u64| {
            let mut issues = self.issues.iter();
            issues.find(|(_, issue)| issue.comments.contains(&id))
        };
        let (number, created) = match on {
            On::Repository => return None,
            On::Issue(number) | On::NewComment(number) | On::Reaction(number) => {
                if self.deleted.contains(&number) {
                    let (what, message) = said("This issue was deleted");
                    return Some(ForgeError::Deleted { what, message });
                }
                let Some(issue) = self.issues.get(&number) else {
                    return Some(ForgeError::NotFound { what });
                };
                (number, issue.own.then_some(issue.created))
            }
            On::Comment(id) => {
                let Some((number, _)) = of_comment(id) else {
                    return Some(ForgeError::NotFound { what });
                };
                let comment = &self.comments[&id];
                (*number, comment.own.then_some(comment.created))
            }
        };
        let edits = self.locked.get(&number);
        match (on, edits) {
            (On::Reaction(_), _) if self.no_reactions || edits.is_some() => {
                let (what, message) = said("Resource not accessible by integration");
                return Some(ForgeError::Forbidden { what, message });
            }
            (On::NewComment(_), Some(_)) | (On::Comment(_), Some(false)) => {
                let (what, message) = said("Unable to create comment because issue is locked.");
                return Some(ForgeError::Locked { what, message });
            }
            _ => {}
        }
        let (within, how) = self.unripe?;
        let fresh = created.is_some_and(|created| now.since(created) < within);
        match how {
            _ if !fresh => None,
            Unripe::NotFound => Some(ForgeError::NotFound { what }),
            Unripe::Unprocessable => Some(ForgeError::Rejected {
                what,
                status: 422,
                message: "Could not resolve to a node with the global id of 'I_1'.".to_owned(),
            }),
        }
    }

    /// Returns the current number of an issue.
    fn current(&self, number: u64) -> Result<u64, ForgeError> {
        let what = format!("issue #{number}");
        if self.deleted.contains(&number) {
            let message = "This issue was deleted".to_owned();
            return Err(ForgeError::Deleted { what, message });
        }
        let number = self.moved.get(&number).copied().unwrap_or(number);
        if self.issues.contains_key(&number) {
            Ok(number)
        } else {
            Err(ForgeError::NotFound { what })
        }
    }

    /// Returns whether lists contain an object that was created at `created`.
    fn listed(&self, created: Millis, now: Millis) -> bool {
        now.since(created) >= self.lag
    }
}

fn refuse_too_many(report: &CheckReport) -> Result<(), ForgeError> {
    let supplied = report.annotations.len();
    if supplied <= MAX_ANNOTATIONS {
        return Ok(());
    }
    Err(ForgeError::Rejected {
        what: "a check run".into(),
        status: 422,
        message: format!("No more than 50 items are allowed; {supplied} were supplied."),
    })
}

fn written(id: u64, body: &str) -> Written {
    Written {
        id,
        url: format!("https://github.test/{id}"),
        body: body.to_owned(),
    }
}

#[async_trait]
impl Forge for FakeForge {
    async fn access(&self, _repo: &Repo, login: &str) -> Result<Access, ForgeError> {
        self.world
            .lock()
            .unwrap()
            .roles_asked
            .push(login.to_owned());
        self.read(|world| {
            let found = world.roles.get(login);
            Access {
                user_id: found.map_or(0, |f| f.0),
                permission: found.map(|f| f.1),
            }
        })
    }

    async fn repository_id(&self, repo: &Repo) -> Result<u64, ForgeError> {
        self.read(|_| repo.id)
    }

    async fn thread(&self, place: &IssueRef) -> Result<Conversation, ForgeError> {
        let mut place = place.clone();
        let now = self.github_time();
        self.read(|world| {
            let number = world.current(place.number)?;
            if number != place.number {
                place.number = number;
                place.repo.id = OTHER_REPOSITORY;
            }
            let issue = &world.issues[&number];
            let post = |id: Option<u64>,
                        by: (Actor, &'static str),
                        body: &str,
                        own: bool,
                        created: Millis| Post {
                id,
                author: Some(by.0),
                own,
                association: by.1.into(),
                created,
                updated: created,
                body: body.to_owned(),
                url: "https://github.test/post".into(),
                reactions: Reactions::default(),
            };
            let mut posts = vec![post(None, ada(), &issue.body, issue.own, issue.created)];
            let mut unlisted = 0;
            for id in &issue.comments {
                let Some(c) = world.comments.get(id) else {
                    continue;
                };
                if !world.listed(c.created, now) {
                    unlisted += 1;
                } else if !world.hidden.iter().any(|hidden| hidden.id == *id) {
                    posts.push(post(Some(*id), c.by.clone(), &c.body, c.own, c.created));
                }
            }
            let here = |hidden: &&Hidden| issue.comments.contains(&hidden.id);
            Ok(Conversation {
                url: "https://github.test/issue".into(),
                title: issue.title.clone(),
                state: "open".into(),
                hidden: world.hidden.iter().filter(here).cloned().collect(),
                unlisted,
                place,
                dropped: 0,
                posts,
            })
        })?
    }

    async fn locate(&self, place: &IssueRef) -> Result<IssueRef, ForgeError> {
        let mut now = place.clone();
        now.number = self.read(|world| world.current(place.number))??;
        if now.number != place.number {
            now.repo.id = OTHER_REPOSITORY;
        }
        Ok(now)
    }

    async fn is_open(&self, place: &IssueRef) -> Result<bool, ForgeError> {
        self.read(|world| {
            let number = world.current(place.number)?;
            Ok(!world.issues[&number].closed)
        })?
    }

    async fn comment_exists(&self, _repo: &Repo, comment: u64) -> Result<bool, ForgeError> {
        self.read(|world| world.comments.contains_key(&comment) || world.command_exists)
    }

    async fn file(
        &self,
        _repo: &Repo,
        path: &str,
        reference: Option<&str>,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<FileAt, ReadError> {
        self.pour(
            &format!("{path}@{}", reference.unwrap_or("HEAD")),
            most,
            take,
        )?;
        Ok(FileAt {
            commit: "0123456789012345678901234567890123456789".into(),
            url: format!("https://github.test/blob/{path}"),
        })
    }

    async fn tree(
        &self,
        _repo: &Repo,
        folders: &[&str],
        _reference: Option<&str>,
    ) -> Result<Option<Tree>, ForgeError> {
        self.world.lock().unwrap().trees_listed += 1;
        let tree = self.read(|world| world.tree.clone())?;
        Ok(tree.map(|mut tree| {
            let wanted = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
            tree.entries.retain(|entry| wanted(&entry.path));
            tree.cut.retain(|folder| wanted(folder));
            tree
        }))
    }

    async fn blob(
        &self,
        _repo: &Repo,
        id: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        self.pour(&format!("blob {id}"), most, take)
    }

    async fn attachment(
        &self,
        address: &str,
        most: u64,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        self.pour(address, most, take)
    }

    async fn archive(
        &self,
        _repo: &Repo,
        commit: &str,
        take: &mut Take<'_>,
    ) -> Result<(), ReadError> {
        let found = self.read(|world| world.archives.get(commit).cloned())?;
        let name = format!("archive {commit}");
        self.world.lock().unwrap().read.push(name.clone());
        let archive = found.unwrap_or(Err(ForgeError::NotFound { what: name }.into()))?;
        for piece in archive.chunks(1_000) {
            // Lets a test stop the download between any two pieces.
            tokio::task::yield_now().await;
            if !take(piece) {
                break;
            }
        }
        Ok(())
    }

    async fn pull_request(&self, place: &IssueRef) -> Result<PullRequest, ForgeError> {
        let what = format!("pull request #{}", place.number);
        self.read(|world| world.pulls.get(&place.number).map(|pull| pull.0.clone()))?
            .ok_or(ForgeError::NotFound { what })
    }

    async fn changed_files(&self, place: &IssueRef) -> Result<Vec<ChangedFile>, ForgeError> {
        let what = format!("pull request #{}", place.number);
        self.read(|world| world.pulls.get(&place.number).map(|pull| pull.1.clone()))?
            .ok_or(ForgeError::NotFound { what })
    }

    async fn own_check_runs(
        &self,
        _repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError> {
        self.read(|world| {
            let own = world.checks.iter();
            own.filter(|check| check.head_sha == head_sha && check.name == name)
                .map(Check::seen)
                .collect()
        })
    }

    async fn check_run(&self, _repo: &Repo, id: u64) -> Result<CheckRun, ForgeError> {
        let what = format!("check run {id}");
        self.read(|world| {
            world
                .checks
                .iter()
                .find(|check| check.id == id)
                .map(Check::seen)
        })?
        .ok_or(ForgeError::NotFound { what })
    }

    async fn create_check_run(
        &self,
        _repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError> {
        refuse_too_many(&new.report)?;
        self.write(On::Repository, |world, _| {
            let check = Check {
                id: world.id(),
                external_id: external_id.to_owned(),
                head_sha: new.head_sha.clone(),
                name: new.name.clone(),
                report: new.report.clone(),
                requests: 1,
            };
            world.checks.push(check.clone());
            check.seen()
        })
        .await
    }

    async fn update_check_run(
        &self,
        _repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError> {
        refuse_too_many(report)?;
        self.write(On::Repository, |world, _| {
            let what = format!("check run {id}");
            let check = world.checks.iter_mut().find(|check| check.id == id);
            let check = check.ok_or(ForgeError::NotFound { what })?;
            let mut annotations = std::mem::take(&mut check.report.annotations);
            annotations.extend(report.annotations.iter().cloned());
            check.report = CheckReport {
                annotations,
                ..report.clone()
            };
            check.requests += 1;
            Ok(())
        })
        .await?
    }

    async fn own_issues(&self, _repo: &Repo, since: Millis) -> Result<Vec<Written>, ForgeError> {
        let now = self.github_time();
        self.read(|world| {
            let own = world
                .issues
                .iter()
                .rev()
                .filter(|(_, i)| i.own && i.created >= since && world.listed(i.created, now));
            own.map(|(n, i)| written(*n, &i.body)).collect()
        })
    }

    async fn own_comments(
        &self,
        _repo: &Repo,
        number: u64,
        since: Millis,
    ) -> Result<Vec<Written>, ForgeError> {
        let now = self.github_time();
        self.read(|world| {
            let what = format!("the comments of issue #{number}");
            let issue = world.issues.get(&number);
            let ids = &issue.ok_or(ForgeError::NotFound { what })?.comments;
            let comments = ids
                .iter()
                .filter_map(|id| Some((*id, world.comments.get(id)?)));
            Ok(comments
                .filter(|(_, c)| c.own && c.created >= since && world.listed(c.created, now))
                .map(|(id, c)| written(id, &c.body))
                .collect())
        })?
    }

    async fn create_issue(
        &self,
        _repo: &Repo,
        title: &str,
        body: &str,
        labels: &[&str],
    ) -> Result<Written, ForgeError> {
        self.write(On::Repository, |world, now| {
            let number = world.id();
            let issue = Issue {
                title: title.to_owned(),
                body: body.to_owned(),
                labels: labels.iter().map(|l| (*l).to_owned()).collect(),
                own: true,
                created: now,
                comments: Vec::new(),
                closed: false,
            };
            world.issues.insert(number, issue);
            written(number, body)
        })
        .await
    }

    async fn update_issue_body(
        &self,
        _repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        self.write(On::Issue(number), |world, _| {
            body.clone_into(&mut world.issues.get_mut(&number).unwrap().body);
        })
        .await
    }

    async fn retire_issue(&self, _repo: &Repo, number: u64, body: &str) -> Result<(), ForgeError> {
        self.write(On::Issue(number), |world, _| {
            let issue = world.issues.get_mut(&number).unwrap();
            body.clone_into(&mut issue.body);
            issue.labels.clear();
            issue.closed = true;
        })
        .await
    }

    async fn create_comment(
        &self,
        _repo: &Repo,
        number: u64,
        body: &str,
    ) -> Result<Written, ForgeError> {
        self.write(On::NewComment(number), |world, now| {
            let id = world.id();
            let comment = Comment {
                by: ada(),
                body: body.to_owned(),
                own: true,
                created: now,
                edits: 0,
            };
            world.comments.insert(id, comment);
            world.issues.get_mut(&number).unwrap().comments.push(id);
            written(id, body)
        })
        .await
    }

    async fn update_comment(
        &self,
        _repo: &Repo,
        comment: u64,
        body: &str,
    ) -> Result<(), ForgeError> {
        self.write(On::Comment(comment), |world, _| {
            let what = format!("comment {comment}");
            let comment = world
                .comments
                .get_mut(&comment)
                .ok_or(ForgeError::NotFound { what })?;
            body.clone_into(&mut comment.body);
            comment.edits += 1;
            Ok(())
        })
        .await?
    }

    async fn delete_comment(&self, _repo: &Repo, comment: u64) -> Result<(), ForgeError> {
        let deleted = self.write(On::Comment(comment), |world, _| {
            world.comments.remove(&comment);
            for issue in world.issues.values_mut() {
                issue.comments.retain(|id| *id != comment);
            }
        });
        match deleted.await {
            Err(ForgeError::NotFound { .. }) => Ok(()),
            done => done,
        }
    }

    async fn ensure_label(&self, _repo: &Repo, label: &LabelSpec) -> Result<(), ForgeError> {
        self.write(On::Repository, |world, _| {
            if !world.labels.iter().any(|l| l == label.name) {
                world.labels.push(label.name.to_owned());
            }
        })
        .await
    }

    async fn remove_label(&self, place: &IssueRef, name: &str) -> Result<(), ForgeError> {
        let number = place.number;
        self.write(On::Issue(number), |world, _| {
            world
                .issues
                .get_mut(&number)
                .unwrap()
                .labels
                .retain(|l| l != name);
        })
        .await
    }

    async fn react(
        &self,
        place: &IssueRef,
        to: &ReactTo,
        reaction: Reaction,
    ) -> Result<u64, ForgeError> {
        let to = format!("{to:?}");
        self.write(On::Reaction(place.number), |world, _| {
            let there = world
                .reactions
                .iter()
                .find(|(_, t, r)| *t == to && *r == reaction);
            if let Some((id, ..)) = there {
                return *id;
            }
            let id = world.id();
            world.reactions.push((id, to, reaction));
            id
        })
        .await
    }

    async fn unreact(&self, place: &IssueRef, _to: &ReactTo, id: u64) -> Result<(), ForgeError> {
        self.write(On::Reaction(place.number), |world, _| {
            world.reactions.retain(|(other, ..)| *other != id);
        })
        .await
    }
}
