//! A whole conversation: the issue and every page of its comments, with a limit on what is kept of them.

use super::call::{Asker, PER_PAGE, Way};
use super::{answer, wire};
use crate::engine::forge::ForgeError;
use crate::engine::model::conversation::{Hidden, MAX_THREAD_BYTES, Thread};
use crate::engine::model::trigger::{Place, Repo};

/// How an issue is called in messages.
pub(super) fn issue_of(repo: &Repo, number: u64) -> String {
    format!("issue #{number} of {}", repo.full_name())
}

/// The texts of a conversation as GitHub gives them, and where it is now.
pub(super) struct Texts {
    place: Place,
    issue: wire::Issue,
    comments: Comments,
}

/// The issue or pull request at `place`; GitHub redirects from a transferred one to where it is now.
pub(super) async fn issue(
    way: Way<'_>,
    asker: &impl Asker,
    place: &Place,
) -> Result<(wire::Issue, Place), ForgeError> {
    let what = issue_of(&place.repo, place.number);
    let path = way.repo_path(&place.repo, &format!("/issues/{}", place.number));
    let (request, answer) = way.get(asker, path, what).await?;
    let issue: wire::Issue = answer::read(&answer, &request)?;
    let mut now = Place {
        number: issue.number,
        pull_request: issue.pull_request.is_some(),
        ..place.clone()
    };
    let mut names = issue.repository_url.rsplit('/');
    if let (Some(name), Some(owner)) = (names.next(), names.next())
        && !(name.eq_ignore_ascii_case(&place.repo.name)
            && owner.eq_ignore_ascii_case(&place.repo.owner))
    {
        name.clone_into(&mut now.repo.name);
        owner.clone_into(&mut now.repo.owner);
    }
    Ok((issue, now))
}

/// The issue with its comments. GitHub redirects only the issue itself, so the comments of a transferred one are asked for
/// where it is now.
pub(super) async fn texts(
    way: Way<'_>,
    asker: &impl Asker,
    place: &Place,
) -> Result<Texts, ForgeError> {
    let (issue, place) = issue(way, asker, place).await?;
    let path = format!("/issues/{}/comments?per_page={PER_PAGE}", place.number);
    let path = way.repo_path(&place.repo, &path);
    let what = format!("the comments of {}", issue_of(&place.repo, place.number));
    let mut comments = Comments::default();
    let take = |page| {
        comments.add(page);
        true
    };
    way.each_page::<Vec<wire::Comment>>(asker, path, &what, take)
        .await?;
    Ok(Texts {
        place,
        issue,
        comments,
    })
}

/// The comments read so far, with at most [`MAX_THREAD_BYTES`] of text. The oldest are dropped
/// first, and those of people outside the repository before those of its members, so that a flood
/// does not push the plan out.
#[derive(Default)]
struct Comments {
    kept: Vec<Option<wire::Comment>>,
    /// Text of the comments that are kept.
    bytes: usize,
    dropped: usize,
    hidden: Vec<Hidden>,
    /// Where the search for comments to drop goes on: among outsiders' comments, and among all.
    next: [usize; 2],
}

impl Comments {
    fn add(&mut self, page: Vec<wire::Comment>) {
        for comment in page {
            if let Some(minimized) = comment.minimized {
                self.hidden.push(Hidden {
                    id: comment.id,
                    author: comment.text.login(),
                    reason: minimized.reason.unwrap_or_default(),
                });
                continue;
            }
            self.bytes += comment.text.length();
            self.kept.push(Some(comment));
        }
        for (outsiders_only, next) in [true, false].into_iter().zip(&mut self.next) {
            while self.bytes > MAX_THREAD_BYTES && *next < self.kept.len() {
                let place = &mut self.kept[*next];
                let outsider = |comment: &wire::Comment| !comment.text.by_insider();
                if (!outsiders_only || place.as_ref().is_some_and(outsider))
                    && let Some(comment) = place.take()
                {
                    self.bytes -= comment.text.length();
                    self.dropped += 1;
                }
                *next += 1;
            }
        }
    }

    fn kept(self) -> (Vec<wire::Comment>, usize) {
        let mut kept: Vec<_> = self.kept.into_iter().flatten().collect();
        // A comment that arrived between two pages can be on both.
        kept.sort_by_key(|comment| comment.id);
        kept.dedup_by_key(|comment| comment.id);
        (kept, self.dropped)
    }
}

/// The conversation that the texts are; `own` says what the App itself has written.
pub(super) fn thread(texts: Texts, own: impl Fn(&wire::Text) -> bool) -> Thread {
    let Texts {
        place,
        issue,
        mut comments,
    } = texts;
    let post = |id, text: wire::Text| {
        let own = own(&text);
        text.post(id, own)
    };
    let url = issue.text.html_url.clone();
    let mut hidden = std::mem::take(&mut comments.hidden);
    hidden.dedup_by_key(|comment| comment.id);
    let (comments, dropped) = comments.kept();
    let listed = comments.len() + dropped + hidden.len();
    let unlisted = issue.comments.saturating_sub(listed);
    let mut posts: Vec<_> = comments
        .into_iter()
        .map(|comment| post(Some(comment.id), comment.text))
        .collect();
    posts.sort_by_key(|post| (post.created, post.id));
    posts.insert(0, post(None, issue.text));
    Thread {
        place,
        title: issue.title,
        url,
        state: issue.state,
        posts,
        hidden,
        unlisted,
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
    fn a_long_conversation_keeps_four_mebibytes_and_drops_those_of_outsiders_first() {
        let mut kept = Comments::default();
        kept.add(page(0..10, "MEMBER"));
        for start in [100, 200, 300] {
            kept.add(page(start..start + 100, "NONE"));
            assert!(kept.bytes <= MAX_THREAD_BYTES);
        }
        kept.add(page(400..405, "OWNER"));
        let (comments, dropped) = kept.kept();
        let ids: Vec<u64> = comments.iter().map(|comment| comment.id).collect();
        // 68 comments of 60 KiB fit.
        let expected: Vec<u64> = (0..10).chain(347..405).collect();
        assert_eq!(ids, expected);
        assert_eq!(dropped, 315 - ids.len());
    }

    #[test]
    fn of_members_the_newest_comments_are_kept() {
        let mut kept = Comments::default();
        kept.add(page(0..100, "OWNER"));
        kept.add(page(100..110, "COLLABORATOR"));
        let (comments, dropped) = kept.kept();
        assert_eq!((comments.len(), dropped), (68, 42));
        assert_eq!(comments[0].id, 42);
    }
}
