//! Conversations from files, for `extract` and `try`.

use std::collections::BTreeMap;

use crate::engine::extract::Trust;
use crate::engine::model::conversation::{Hidden, Post, Reactions, Thread};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, Origin, Place, Repo, Trigger};
use crate::formats::command::{self, Command, Invocation};
use crate::formats::plan::title::title_of;
use crate::formats::thread_file::{self, ThreadFileError};

/// A conversation file, read.
pub(super) struct Local {
    /// The conversation.
    pub(super) thread: Thread,
    /// The last post that holds a command, and its first command.
    pub(super) command: Option<(usize, Invocation)>,
    /// Posts have GitHub's `author_association`, so that it can be told whose plans count.
    pub(super) has_roles: bool,
    /// Labels of a test corpus in the head of the file.
    pub(super) labels: BTreeMap<String, String>,
    /// Ids of the posts, and their numbers in the file from 1.
    pub(super) numbers: Vec<(Option<u64>, usize)>,
}

impl Local {
    /// Whose plans count: where the file gives roles, those of people who belong to the repository.
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

/// Reads a conversation file. A file of one text without posts has that text's title, or none. Posts without a time follow one another by a minute.
pub(super) fn read_thread(text: &str) -> Result<Local, ThreadFileError> {
    let file = thread_file::parse(text)?;
    // A lone text is saved under a title of its own or not at all; a conversation always has one.
    let title = match file.posts.as_slice() {
        [lone] if lone.body == text => title_of(text).unwrap_or_default(),
        _ => file.title,
    };
    let place = Place {
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
    let mut thread = Thread {
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
                // The opening text is searched as it is; its command is no plan text.
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

/// The trigger that the conversation's last command would be; `/save-plan` by nobody where it has none.
pub(super) fn trigger_for(thread: &Thread, command: Option<&(usize, Invocation)>) -> Trigger {
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
            text: post.map_or_else(String::new, |post| post.body.clone()),
            url: String::new(),
        },
        options: invocation.map_or_else(Vec::new, |invocation| invocation.options.clone()),
        guidance: invocation.map_or_else(String::new, |invocation| invocation.guidance.clone()),
        also: Vec::new(),
        inline: invocation.and_then(|invocation| invocation.inline.clone()),
        opening: None,
        at: post.map_or(last, |post| post.created),
    }
}
