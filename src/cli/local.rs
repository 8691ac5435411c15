//! Reads conversations from files, for `extract` and `try`.

use std::collections::BTreeMap;

use crate::engine::extract::Trust;
use crate::engine::model::conversation::{Conversation, Hidden, Post, Reactions};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use crate::formats::command::{self, Command, Invocation};
use crate::formats::plan::title::title_of;
use crate::formats::thread_file::{self, ThreadFileError};

/// The contents of a conversation file.
pub(super) struct Local {
    pub(super) thread: Conversation,
    /// Index of the last post that contains a command, and the first command in it.
    pub(super) command: Option<(usize, Invocation)>,
    /// Whether any post has an `author_association`. Without it, the plans of all authors count.
    pub(super) has_roles: bool,
    /// Labels in the head of the file, which test corpora use for the expected result.
    pub(super) labels: BTreeMap<String, String>,
    /// Comment id of each visible post (`None` for the opening post), and its 1-based number in the
    /// file.
    pub(super) numbers: Vec<(Option<u64>, usize)>,
}

impl Local {
    /// Returns the authors whose plans count: everybody if the file contains no associations,
    /// otherwise owners, members and collaborators of the repository.
    pub(super) fn trust(&self) -> Trust {
        if !self.has_roles {
            return Trust::Everybody;
        }
        let belongs =
            |post: &&Post| matches!(&*post.association, "OWNER" | "MEMBER" | "COLLABORATOR");
        let ids = self.thread.posts.iter().filter(belongs);
        Trust::Writers(
            ids.filter_map(|post| Some(post.author.as_ref()?.id))
                .collect(),
        )
    }
}

/// Parses a conversation file. If the file is a single text without post headers, the title is that
/// of the text, or empty. A post without a time is dated one minute after the one before it.
pub(super) fn read_thread(text: &str) -> Result<Local, ThreadFileError> {
    let file = thread_file::parse(text)?;
    // A single text is saved under its own title or not at all; a conversation always has a title.
    let title = match file.posts.as_slice() {
        [lone] if lone.body == text => title_of(text).unwrap_or_default(),
        _ => file.title,
    };
    let place = IssueRef {
        repo: Repo {
            installation: 0,
            id: 0,
            owner: "local".to_owned(),
            name: "file".to_owned(),
        },
        number: 1,
        pull_request: file.pull_request,
    };
    let has_roles = file.posts.iter().any(|post| post.association.is_some());
    let mut logins: Vec<String> = Vec::new();
    let mut at = Millis(1_767_225_600_000);
    let mut thread = Conversation {
        place,
        title,
        url: String::new(),
        state: "open".to_owned(),
        dropped: 0,
        posts: Vec::new(),
        hidden: Vec::new(),
        unlisted: 0,
    };
    let mut command = None;
    let mut numbers = Vec::new();
    for (index, post) in file.posts.into_iter().enumerate() {
        at = time(post.created.as_deref()).unwrap_or(Millis(at.0 + 60_000));
        let id = post.id.unwrap_or(index as u64);
        if let Some(reason) = post.hidden {
            thread.hidden.push(Hidden {
                id,
                author: Some(post.author),
                reason,
            });
            continue;
        }
        numbers.push(((index > 0).then_some(id), index + 1));
        let mut body = post.body;
        if let Some(first) = command::parse(&body).into_iter().next() {
            command = Some((thread.posts.len(), first));
            if index == 0 {
                // The opening post is searched for a plan, and its command is not part of one.
                body = command::without_commands(&body);
            }
        }
        let account = logins.iter().position(|login| *login == post.author);
        let account = account.unwrap_or_else(|| {
            logins.push(post.author.clone());
            logins.len() - 1
        });
        thread.posts.push(Post {
            id: (index > 0).then_some(id),
            author: Some(Actor {
                id: 1000 + account as u64,
                bot: post.author.ends_with("[bot]"),
                login: post.author,
            }),
            own: false,
            association: post.association.unwrap_or_else(|| "NONE".to_owned()),
            created: at,
            updated: time(post.edited.as_deref()).unwrap_or(at),
            body,
            url: format!("#{}", index + 1),
            reactions: Reactions::from_counts(
                post.reactions
                    .iter()
                    .map(|(name, count)| (name.as_str(), *count)),
            ),
        });
    }
    Ok(Local {
        thread,
        command,
        has_roles,
        labels: file.labels,
        numbers,
    })
}

fn time(written: Option<&str>) -> Option<Millis> {
    let time: chrono::DateTime<chrono::Utc> = written?.parse().ok()?;
    Some(time.into())
}

/// Returns the trigger that the last command of the conversation would cause. If there is no
/// command, the trigger is `/save-plan` by a placeholder user.
pub(super) fn trigger_for(thread: &Conversation, command: Option<&(usize, Invocation)>) -> Trigger {
    let post = command.and_then(|(index, _)| thread.posts.get(*index));
    let invocation = command.map(|(_, invocation)| invocation);
    let last = thread.posts.last().map_or(Millis(0), |post| post.created);
    let nobody = || Actor {
        id: 1,
        login: "someone".to_owned(),
        bot: false,
    };
    Trigger {
        command: invocation.map_or(Command::SavePlan, |invocation| invocation.command),
        actor: post
            .and_then(|post| post.author.clone())
            .unwrap_or_else(nobody),
        place: thread.place.clone(),
        origin: Origin::Comment {
            id: post.and_then(|post| post.id).unwrap_or(u64::MAX),
            // The opening post is among the searched posts, so its text is not given again.
            text: post
                .filter(|post| post.id.is_some())
                .map_or_else(String::new, |post| post.body.clone()),
            url: String::new(),
        },
        options: invocation.map_or_else(Vec::new, |invocation| invocation.options.clone()),
        guidance: invocation.and_then(|invocation| invocation.guidance.clone()),
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: invocation.and_then(|invocation| invocation.inline.clone()),
        opening: None,
        at: post.map_or(last, |post| post.created),
    }
}
