//! Conversations from files, for `extract` and `try`.

use crate::engine::clock::Millis;
use crate::engine::thread::{Post, Thread};
use crate::engine::trigger::{Actor, Origin, Place, Repo, Trigger};
use crate::formats::command::{self, Command, Invocation};
use crate::formats::plan::title::title_of;
use crate::formats::thread_file::{self, ThreadFileError};

/// A conversation file, read.
pub(super) struct Local {
    /// The conversation.
    pub(super) thread: Thread,
    /// The last post that holds a command, and its first command.
    pub(super) command: Option<(usize, Invocation)>,
}

/// Reads a conversation file. A file of one text without posts has that text's title, or none. Posts without a time follow one another by a minute.
pub(super) fn read_thread(text: &str) -> Result<Local, ThreadFileError> {
    let file = thread_file::parse(text)?;
    // A lone text is saved under a title of its own or not at all; a conversation always has one.
    let title = match file.posts.as_slice() {
        [lone] if lone.body == text => title_of(text).unwrap_or_default(),
        _ => file.title,
    };
    let mut at = Millis(1_767_225_600_000);
    let mut posts = Vec::new();
    let mut command = None;
    for (index, post) in file.posts.into_iter().enumerate() {
        let written = post.created.as_deref().and_then(|time| time.parse().ok());
        at = written.map_or(
            Millis(at.0 + 60_000),
            |time: chrono::DateTime<chrono::Utc>| time.into(),
        );
        let mut body = post.body;
        if let Some(first) = command::parse(&body).into_iter().next() {
            command = Some((index, first));
            if index == 0 {
                // The opening text is searched as it stands; its command is no plan text.
                body = command::without_commands(&body);
            }
        }
        let number = index as u64;
        posts.push(Post {
            id: (index > 0).then_some(number),
            author: Some(Actor {
                id: 1000 + number,
                bot: post.author.ends_with("[bot]"),
                login: post.author,
            }),
            own: false,
            association: "NONE".to_owned(),
            created: at,
            updated: at,
            body,
            url: String::new(),
        });
    }
    let repo = Repo {
        installation: 0,
        id: 0,
        owner: "local".to_owned(),
        name: "file".to_owned(),
    };
    let place = Place {
        repo,
        number: 1,
        pull_request: false,
    };
    let thread = Thread {
        place,
        title,
        url: String::new(),
        state: "open".to_owned(),
        posts,
    };
    Ok(Local { thread, command })
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
