//! Builds the first prompt from the input, the plan and the conversation, and shortens it if
//! necessary.

use serde_json::json;

use super::{FIRST, PromptInput, data, filled};
use crate::engine::extract::{late, unfit};
use crate::engine::messages;
use crate::engine::model::candidate::Unconfirmed;
use crate::engine::model::conversation::Post;
use crate::engine::model::trigger::Origin;
use crate::formats::block;
use crate::formats::command::without_commands;

/// Maximum length of a single post, in characters, before its middle is left out.
const MAX_POST: usize = 60_000;
/// Number of last posts that are never left out, because the command is most likely about them.
const LAST: usize = 5;
/// Minimum length that a post is truncated to, in characters.
const MIN_POST: usize = 200;

/// The text above several plans.
const WHICH: &str = "Several plans were found, and only one of them is meant. Decide from the conversation which one: \
     what people agreed on last counts. Take that one as the plan, keep its text, and leave the others out. Where the \
     conversation does not say which one is meant, ask.";

/// A post formatted as data.
struct RenderedPost {
    /// The author, their role and the time.
    head: String,
    body: String,
}

/// Returns the prompt with at most `most` characters.
pub(super) fn write(given: &PromptInput<'_>, most: usize) -> String {
    let (posts, older) = posts(given, most);
    let candidates: Vec<String> = given
        .candidates
        .iter()
        .map(|candidate| data::text(&candidate.text, given.nonce))
        .collect();
    let mut cap = MAX_POST;
    let mut plan_cap = usize::MAX;
    let mut left_out = 0;
    loop {
        let prompt = render(
            given,
            &posts,
            &candidates,
            (cap, plan_cap),
            (left_out, older),
        );
        let length = prompt.chars().count();
        let droppable = posts.len().saturating_sub(LAST + 1);
        if length <= most {
            return prompt;
        }
        if left_out < droppable {
            let mut over = length - most;
            // Room for the line about the posts that are left out.
            over += 80;
            while left_out < droppable && over > 0 {
                left_out += 1;
                let gone = &posts[left_out];
                over = over
                    .saturating_sub(gone.head.chars().count() + gone.body.chars().count().min(cap));
            }
        } else if cap > MIN_POST {
            cap = (cap / 2).max(MIN_POST);
        } else {
            let longest = candidates.iter().map(|plan| plan.chars().count()).max();
            let plan = longest.unwrap_or(0);
            let next = plan.min(plan_cap) / 2;
            if next < MIN_POST {
                return prompt;
            }
            plan_cap = next;
        }
    }
}

fn render(
    given: &PromptInput<'_>,
    posts: &[RenderedPost],
    candidates: &[String],
    (cap, plan_cap): (usize, usize),
    (left_out, older): (usize, usize),
) -> String {
    let nonce = given.nonce;
    let plan = match candidates {
        [] => String::new(),
        [plan] => format!(
            "The plan that was found:\n\n{}",
            data::between(nonce, "plan", &data::cut(plan, plan_cap))
        ),
        several => {
            let plans: Vec<String> = several
                .iter()
                .zip(1_usize..)
                .map(|(plan, number)| {
                    let name = format!("plan {number}");
                    data::between(nonce, &name, &data::cut(plan, plan_cap))
                })
                .collect();
            format!("{WHICH}\n\n{}", plans.join("\n\n"))
        }
    };
    let repository = given.project.map_or_else(String::new, |project| {
        format!("{}\n", project.describe(nonce))
    });
    let mut talk = format!(
        "The conversation:\n\n{}",
        data::begin(nonce, "conversation")
    );
    talk.push_str(&format!(
        "Title: {}\n",
        data::line(&given.thread.title, nonce)
    ));
    let decoy = posts.len() / 2;
    let all = posts.len() + older;
    for (at, post) in posts.iter().enumerate() {
        if at == 1 && left_out + older > 0 {
            talk.push_str(&format!(
                "\n----- {nonce}: {} of {all} posts are left out here, as they are too long together -----\n",
                left_out + older,
            ));
        }
        if (1..=left_out).contains(&at) {
            continue;
        }
        let number = if at == 0 { 1 } else { at + 1 + older };
        talk.push_str(&format!(
            "\n----- {nonce}: post {number} of {all}, {} -----\n\n{}\n",
            post.head,
            data::cut(post.body.trim(), cap)
        ));
        // The bait follows the middle post, or the first one after those that are left out, so that
        // it is always included.
        if at == decoy.max(left_out + 1).min(posts.len() - 1) {
            talk.push_str(&data::bait(given.canary));
        }
    }
    if posts.is_empty() {
        talk.push_str(&data::bait(given.canary));
    }
    talk.push_str(&data::end(nonce, "conversation"));
    filled(
        FIRST,
        &[
            ("input", &input(given, candidates.len())),
            ("repository", &repository),
            ("plan", &plan),
            ("conversation", &talk),
            ("nonce", nonce),
        ],
    )
}

/// Returns the request and the facts about the place as JSON.
fn input(given: &PromptInput<'_>, found: usize) -> String {
    let trigger = given.trigger;
    let place = &trigger.place;
    let line = |text: &str| data::line(text, given.nonce);
    let value = json!({
        "mode": "enriched",
        "guidance": data::text(trigger.guidance.as_deref().unwrap_or_default(), given.nonce),
        "plan_content": match found {
            0 => "",
            1 => "the data \"plan\" below",
            _ => "one of the data \"plan 1\", \"plan 2\", … below",
        },
        "rounds_of_questions": given.rounds,
        "place": {
            "repository": line(&place.repo.full_name()),
            "kind": if place.pull_request { "pull request" } else { "issue" },
            "number": place.number,
            "state": line(&given.thread.state),
        },
        "asked_by": line(&trigger.actor.login),
        "asked_at": trigger.at.iso(),
        "roles": {
            "owner": "owns the repository",
            "member": "belongs to the organisation that owns it",
            "collaborator": "was invited to work on it",
            "contributor": "had changes accepted before",
            "newcomer": "had none accepted so far",
            "nobody": "has no tie to it",
            "bot": "a program",
        },
    });
    // Plain data with string keys always serialises.
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

/// Formats the posts that the search for plans reads, and the plans in the bot's own posts; the
/// comment with the command comes last. Also returns how many posts between the opening text and
/// the others were skipped without formatting, because newer posts already fill the prompt of
/// `most` characters and formatting takes time.
fn posts(given: &PromptInput<'_>, most: usize) -> (Vec<RenderedPost>, usize) {
    let trigger = given.trigger;
    let own_comment = match &trigger.origin {
        Origin::Comment { id, text, .. } => Some((*id, text)),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => None,
    };
    let mut told = Vec::new();
    let mut older = given.thread.dropped;
    let mut bytes = 0_usize;
    for post in given.thread.posts.iter().rev() {
        if own_comment.is_some_and(|(id, _)| post.id == Some(id)) {
            continue;
        }
        // The agent could take an unconfirmed plan from this comment. The opening text is always
        // included, because the conversation is about it.
        let ignored = |it: &Unconfirmed| it.post.is_some() && it.post == post.id;
        if given.unconfirmed.iter().any(ignored) {
            continue;
        }
        if post.id.is_some() && told.len() >= LAST && bytes > most {
            older += usize::from(late(post, trigger).is_none());
            continue;
        }
        bytes += post.body.len();
        let body = if post.own {
            let plans = if late(post, trigger).is_some() {
                Vec::new()
            } else {
                block::plans(&post.body)
            };
            plans.join("\n\n")
        } else if unfit(post, trigger).is_some() {
            continue;
        } else {
            post.body.clone()
        };
        let body = data::text(&body, given.nonce);
        if !body.trim().is_empty() {
            told.push(RenderedPost {
                head: head(post, given),
                body,
            });
        }
    }
    told.reverse();
    if let Some((_, text)) = own_comment {
        let body = data::text(&without_commands(text), given.nonce);
        if !body.trim().is_empty() {
            let who = data::line(&trigger.actor.login, given.nonce);
            told.push(RenderedPost {
                head: format!(
                    "the comment with the command, by {who}, {}",
                    trigger.at.iso()
                ),
                body,
            });
        }
    }
    (told, older)
}

fn head(post: &Post, given: &PromptInput<'_>) -> String {
    let nonce = given.nonce;
    let what = if post.id.is_some() {
        "comment"
    } else {
        "opening text"
    };
    let who = match &post.author {
        Some(author) => {
            let role = if post.own {
                "this bot, an earlier plan"
            } else if author.bot {
                "bot"
            } else {
                role(&post.association)
            };
            let not_the_plan = if given
                .unconfirmed
                .iter()
                .any(|it| it.post.is_none() && post.id.is_none())
            {
                ", not to be taken for the plan"
            } else {
                ""
            };
            format!(
                "{} ({role}){not_the_plan}",
                data::line(&author.login, nonce)
            )
        }
        None => "a deleted account".to_owned(),
    };
    format!(
        "{what} by {who}, {}",
        messages::one_line(&post.created.iso())
    )
}

/// Returns a word for GitHub's author association. The input explains these words.
fn role(association: &str) -> &'static str {
    match association {
        "OWNER" => "owner",
        "MEMBER" => "member",
        "COLLABORATOR" => "collaborator",
        "CONTRIBUTOR" => "contributor",
        "FIRST_TIME_CONTRIBUTOR" | "FIRST_TIMER" => "newcomer",
        _ => "nobody",
    }
}
