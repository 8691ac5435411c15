//! A whole conversation: the issue and every page of its comments, with a limit on what is kept of them.

use super::call::{Asker, PER_PAGE, Way};
use super::{answer, wire};
use crate::engine::forge::ForgeError;
use crate::engine::thread::{MAX_THREAD_BYTES, Thread};
use crate::engine::trigger::{Place, Repo};

/// How an issue is called in messages.
pub(super) fn issue_of(repo: &Repo, number: u64) -> String {
    format!("issue #{number} of {}", repo.full_name())
}

/// The texts of a conversation as GitHub gives them.
pub(super) struct Texts {
    issue: wire::Issue,
    comments: Vec<wire::Comment>,
    /// Comments that were not kept.
    dropped: usize,
}

/// Reads the texts of a conversation, page by page.
pub(super) async fn texts(
    way: Way<'_>,
    asker: &impl Asker,
    place: &Place,
) -> Result<Texts, ForgeError> {
    let what = issue_of(&place.repo, place.number);
    let path = way.repo_path(&place.repo, &format!("/issues/{}", place.number));
    let (request, answer) = way.get(asker, path, what.clone()).await?;
    let issue: wire::Issue = answer::read(&answer, &request)?;
    let path = format!("/issues/{}/comments?per_page={PER_PAGE}", place.number);
    let path = way.repo_path(&place.repo, &path);
    let what = format!("the comments of {what}");
    let mut kept = Kept::default();
    let take = |page| {
        kept.add(page);
        true
    };
    way.each_page::<Vec<wire::Comment>>(asker, path, &what, take)
        .await?;
    let (comments, dropped) = kept.comments();
    Ok(Texts {
        issue,
        comments,
        dropped,
    })
}

/// The comments read so far, with at most [`MAX_THREAD_BYTES`] of text. What is too much is dropped oldest first; comments
/// of strangers go before those of people who belong to the repository, so that a flood does not hide the plan.
#[derive(Default)]
struct Kept {
    comments: Vec<Option<wire::Comment>>,
    bytes: usize,
    dropped: usize,
    /// All comments before these places, of strangers and of anybody, were looked at for dropping.
    next: [usize; 2],
}

impl Kept {
    fn add(&mut self, page: Vec<wire::Comment>) {
        for comment in page {
            self.bytes += comment.text.length();
            self.comments.push(Some(comment));
        }
        for (strangers_only, next) in [true, false].into_iter().zip(&mut self.next) {
            while self.bytes > MAX_THREAD_BYTES && *next < self.comments.len() {
                let place = &mut self.comments[*next];
                let stranger = |comment: &wire::Comment| !comment.text.by_insider();
                if !strangers_only || place.as_ref().is_some_and(stranger) {
                    if let Some(comment) = place.take() {
                        self.bytes -= comment.text.length();
                        self.dropped += 1;
                    }
                }
                *next += 1;
            }
        }
    }

    fn comments(self) -> (Vec<wire::Comment>, usize) {
        let comments = self.comments.into_iter().flatten().collect();
        (comments, self.dropped)
    }
}

/// The conversation that the texts are; `own` says what the App itself has written.
pub(super) fn thread(place: &Place, texts: Texts, own: impl Fn(&wire::Text) -> bool) -> Thread {
    let Texts {
        issue,
        comments,
        dropped,
    } = texts;
    let post = |id, text: wire::Text| {
        let own = own(&text);
        text.post(id, own)
    };
    let url = issue.text.html_url.clone();
    let mut posts: Vec<_> = comments
        .into_iter()
        .map(|comment| post(Some(comment.id), comment.text))
        .collect();
    posts.sort_by_key(|post| (post.created, post.id));
    // A comment that arrived between two pages can stand on both.
    posts.dedup_by_key(|post| post.id);
    posts.insert(0, post(None, issue.text));
    Thread {
        place: Place {
            pull_request: issue.pull_request.is_some(),
            ..place.clone()
        },
        title: issue.title,
        url,
        state: issue.state,
        posts,
        dropped,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    /// A page of comments with these ids, by people of this association, each of 60 KiB.
    fn page(ids: std::ops::Range<u64>, association: &str) -> Vec<wire::Comment> {
        ids.map(|id| {
            serde_json::from_value(json!({
                "id": id, "html_url": "", "body": "x".repeat(60 * 1024), "author_association": association,
                "created_at": "2026-11-20T12:00:00Z", "updated_at": "2026-11-20T12:00:00Z",
            }))
            .unwrap()
        })
        .collect()
    }

    #[test]
    fn a_long_conversation_keeps_four_mebibytes_and_those_of_strangers_go_first() {
        let mut kept = Kept::default();
        kept.add(page(0..10, "MEMBER"));
        for start in [100, 200, 300] {
            kept.add(page(start..start + 100, "NONE"));
            assert!(kept.bytes <= MAX_THREAD_BYTES);
        }
        kept.add(page(400..405, "OWNER"));
        let (comments, dropped) = kept.comments();
        let ids: Vec<u64> = comments.iter().map(|comment| comment.id).collect();
        // 68 comments of 60 KiB fit.
        let expected: Vec<u64> = (0..10).chain(347..405).collect();
        assert_eq!(ids, expected);
        assert_eq!(dropped, 315 - ids.len());
    }

    #[test]
    fn of_people_who_belong_to_the_repository_the_newest_comments_are_kept() {
        let mut kept = Kept::default();
        kept.add(page(0..100, "OWNER"));
        kept.add(page(100..110, "COLLABORATOR"));
        let (comments, dropped) = kept.comments();
        assert_eq!((comments.len(), dropped), (68, 42));
        assert_eq!(comments[0].id, 42);
    }
}
