//! A whole conversation: the issue and every page of its comments.

use super::call::{Asker, PER_PAGE, Way};
use super::{answer, wire};
use crate::engine::forge::ForgeError;
use crate::engine::thread::Thread;
use crate::engine::trigger::{Place, Repo};

/// How an issue is called in messages.
pub(super) fn issue_of(repo: &Repo, number: u64) -> String {
    format!("issue #{number} of {}", repo.full_name())
}

/// The texts of a conversation as GitHub gives them.
pub(super) async fn texts(
    way: Way<'_>,
    asker: &impl Asker,
    place: &Place,
) -> Result<(wire::Issue, Vec<wire::Comment>), ForgeError> {
    let what = issue_of(&place.repo, place.number);
    let path = way.repo_path(&place.repo, &format!("/issues/{}", place.number));
    let (request, answer) = way.get(asker, path, what.clone()).await?;
    let issue: wire::Issue = answer::read(&answer, &request)?;
    let path = format!("/issues/{}/comments?per_page={PER_PAGE}", place.number);
    let path = way.repo_path(&place.repo, &path);
    let what = format!("the comments of {what}");
    let comments = way.pages(asker, path, &what, |_| true).await?;
    Ok((issue, comments))
}

/// The conversation that the texts are; `own` says what the App itself has written.
pub(super) fn thread(
    place: &Place,
    (issue, comments): (wire::Issue, Vec<wire::Comment>),
    own: impl Fn(&wire::Text) -> bool,
) -> Thread {
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
    }
}
