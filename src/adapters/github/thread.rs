//! Reads a whole conversation: the issue and every page of its comments, with a limit on what is
//! kept.

use super::client::{ApiClient, PER_PAGE};
use super::wire;
use crate::engine::forge::ForgeError;
use crate::engine::model::conversation::{Conversation, Hidden, MAX_THREAD_BYTES};
use crate::engine::model::trigger::{IssueRef, Repo};

/// Returns the name of an issue in messages.
pub(super) fn issue_name(repo: &Repo, number: u64) -> String {
    format!("issue #{number} of {}", repo.full_name())
}

/// The posts of a conversation, and its current location.
pub(super) struct Posts {
    place: IssueRef,
    issue: wire::Issue,
    comments: Comments,
}

/// Reads the issue or pull request at `place`. GitHub redirects from a transferred issue to its
/// current location, which is returned.
pub(super) async fn read_issue(
    api: &ApiClient,
    place: &IssueRef,
) -> Result<(wire::Issue, IssueRef), ForgeError> {
    let what = issue_name(&place.repo, place.number);
    let path = format!("/issues/{}", place.number);
    let issue: wire::Issue = api.get_json(&place.repo, &path, what).await?;
    let mut now = IssueRef {
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

/// Reads the issue with its comments. GitHub redirects only the issue itself, so the comments of a
/// transferred one are requested at its current location.
pub(super) async fn read(api: &ApiClient, place: &IssueRef) -> Result<Posts, ForgeError> {
    let (issue, place) = read_issue(api, place).await?;
    let path = format!("/issues/{}/comments?per_page={PER_PAGE}", place.number);
    let what = format!("the comments of {}", issue_name(&place.repo, place.number));
    let mut comments = Comments::default();
    let take = |page| {
        comments.add(page);
        true
    };
    api.each_page::<Vec<wire::Comment>>(&place.repo, &path, &what, take)
        .await?;
    Ok(Posts {
        place,
        issue,
        comments,
    })
}

/// The comments read so far, with at most [`MAX_THREAD_BYTES`] of text. The oldest are dropped
/// first, and those of people outside the repository before those of its members, so that a flood
/// does not displace the plan.
#[derive(Default)]
struct Comments {
    kept: Vec<Option<wire::Comment>>,
    /// Size of the kept comments, in bytes.
    bytes: usize,
    dropped: usize,
    hidden: Vec<Hidden>,
    /// Next comment to drop: among outsiders' comments, and among all.
    next: [usize; 2],
}

impl Comments {
    fn add(&mut self, page: Vec<wire::Comment>) {
        for comment in page {
            if let Some(minimized) = comment.minimized {
                self.hidden.push(Hidden {
                    id: comment.id,
                    author: comment.post.login(),
                    reason: minimized.reason.unwrap_or_default(),
                });
                continue;
            }
            self.bytes += comment.post.length();
            self.kept.push(Some(comment));
        }
        for (outsiders_only, next) in [true, false].into_iter().zip(&mut self.next) {
            while self.bytes > MAX_THREAD_BYTES && *next < self.kept.len() {
                let place = &mut self.kept[*next];
                let outsider = |comment: &wire::Comment| !comment.post.by_insider();
                if (!outsiders_only || place.as_ref().is_some_and(outsider))
                    && let Some(comment) = place.take()
                {
                    self.bytes -= comment.post.length();
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

impl Posts {
    /// Converts the posts to a conversation; `is_own` tells the posts of the App itself.
    pub(super) fn into_thread(self, is_own: impl Fn(&wire::Post) -> bool) -> Conversation {
        let Self {
            place,
            issue,
            mut comments,
        } = self;
        let convert = |id, post: wire::Post| {
            let own = is_own(&post);
            post.into_thread_post(id, own)
        };
        let url = issue.post.html_url.clone();
        let mut hidden = std::mem::take(&mut comments.hidden);
        hidden.dedup_by_key(|comment| comment.id);
        let (comments, dropped) = comments.kept();
        let listed = comments.len() + dropped + hidden.len();
        let mut posts: Vec<_> = comments
            .into_iter()
            .map(|comment| convert(Some(comment.id), comment.post))
            .collect();
        posts.sort_by_key(|post| (post.created, post.id));
        posts.insert(0, convert(None, issue.post));
        Conversation {
            place,
            title: issue.title,
            url,
            state: issue.state,
            posts,
            hidden,
            unlisted: issue.comments.saturating_sub(listed),
            dropped,
        }
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
