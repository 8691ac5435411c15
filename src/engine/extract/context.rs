//! Scores candidates by their context: the position and author of the post, and the title of the
//! conversation.

use std::collections::HashSet;

use super::reference::{overlap, telling_words};
use super::{Found, add, posts, score};
use crate::engine::model::candidate::Reason;
use crate::engine::model::conversation::{Conversation, Post};
use crate::formats::plan::title::descriptive_title;
use crate::formats::vocabulary::{Class, Phrases, fold};

/// Maximum number of posts in a short conversation, in which the position of a post says little.
const FEW_POSTS: usize = 4;
/// Points for the opening text, which mostly describes a problem or a wish. Reduced to a quarter in
/// short conversations.
pub(super) const OPENING: i32 = -24;
/// Points for the first answer, which is often advice. Not applied in short conversations.
const FIRST_ANSWER: i32 = -12;
/// Points for an author without a role in a repository whose members take part in the conversation.
const OUTSIDER: i32 = -6;
/// Points for a text in a conversation whose title is a question.
const QUESTION: i32 = -14;
/// Points for a text written by a bot.
const PROGRAM: i32 = -8;

/// Adds points for the position and the author of a text, and for the title of the conversation.
pub(super) fn score_context(found: &mut [Found], thread: &Conversation) {
    let title = fold(&thread.title);
    let phrases = Phrases::of(&title);
    let says_plan = descriptive_title(&thread.title)
        .is_none_or(|said| fold(&said).len() < title.trim().len())
        && phrases.has(Class::Plan);
    let other = phrases.has(Class::Other);
    let question = title.trim_end().ends_with(['?', '？']);
    let how_to = question && phrases.begins(Class::HowTo, 0).is_some();
    let about: HashSet<String> = telling_words(&title);
    let robots: HashSet<u64> = thread
        .posts
        .iter()
        .filter(|post| score::is_template(&post.body))
        .filter_map(|post| post.author.as_ref().filter(|author| author.bot))
        .map(|author| author.id)
        .collect();
    let members = thread.posts.iter().any(posts::belongs);
    let talk = |post: &&Post| !post.own && !post.body.trim_start().starts_with('/');
    let few = thread.posts.iter().filter(talk).count() <= FEW_POSTS;
    for it in found.iter_mut().filter(|it| it.candidate.score > 0) {
        let position = it.parts.first().map_or(0, |(position, _)| *position);
        let post = thread.posts.get(position);
        let opening = post.is_some_and(|post| post.id.is_none());
        let bot = it.author.as_ref().is_some_and(|author| author.bot);
        let titled = it.has_reason(|why| matches!(why, Reason::Title(_)));
        let candidate = &mut it.candidate;
        if opening && says_plan {
            add(candidate, 8, Reason::Conversation);
        } else if opening && other {
            add(candidate, -20, "the conversation is called something else");
        } else if opening && !titled {
            // The description of a pull request says what is going to be done.
            let points = match (few, thread.place.pull_request) {
                (true, _) => OPENING / 4,
                (false, true) => OPENING / 2,
                (false, false) => OPENING,
            };
            add(candidate, points, "is the opening text");
        } else if position == 1 && !few {
            add(candidate, FIRST_ANSWER, "is the first answer");
        }
        let outsider = members && post.is_some_and(|post| !bot && post.association == "NONE");
        let marks = bot && post.is_some_and(|post| post.body.contains("<!--"));
        let author = it.author.as_ref();
        let templates = author.is_some_and(|author| robots.contains(&author.id));
        for (applies, points, why) in [
            (
                outsider,
                OUTSIDER,
                "its author has no role in the repository",
            ),
            (how_to, -40, "answers how something is done"),
            (
                question && other && !opening,
                QUESTION,
                "the conversation is called something else",
            ),
            (
                question && !how_to,
                QUESTION,
                "the conversation is a question",
            ),
            (
                bot && opening && !titled,
                -15,
                "is a program's opening text",
            ),
            (bot, PROGRAM, "was written by a program"),
            (marks, -20, "has a program's marks"),
            (templates, -40, "its author fills in templates"),
        ] {
            if applies {
                add(candidate, points, why);
            }
        }
        if candidate.score > 0
            && about.len() >= 2
            && overlap(&about, &telling_words(&fold(&candidate.text))) >= 30
        {
            add(candidate, 4, "is about what the title names");
        }
    }
}
