//! A whole conversation: the issue and every page of its comments.

use super::call::{Asker, PER_PAGE, Way};
use super::{answer, wire};
use crate::engine::forge::ForgeError;
use crate::engine::thread::{Hidden, Thread};
use crate::engine::trigger::{Place, Repo};

/// How an issue is called in messages.
pub(super) fn issue_of(repo: &Repo, number: u64) -> String {
    format!("issue #{number} of {}", repo.full_name())
}

/// The texts of a conversation as GitHub gives them, and where it is now.
pub(super) struct Texts {
    place: Place,
    issue: wire::Issue,
    comments: Vec<wire::Comment>,
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
    let comments = way.pages(asker, path, &what, |_| true).await?;
    Ok(Texts {
        place,
        issue,
        comments,
    })
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
    // A comment that arrived between two pages can stand on both.
    comments.sort_by_key(|comment| comment.id);
    comments.dedup_by_key(|comment| comment.id);
    let unlisted = issue.comments.saturating_sub(comments.len());
    let mut hidden = Vec::new();
    let mut posts = Vec::with_capacity(comments.len() + 1);
    for comment in comments {
        match comment.minimized {
            None => posts.push(post(Some(comment.id), comment.text)),
            Some(minimized) => hidden.push(Hidden {
                id: comment.id,
                author: comment.text.login(),
                reason: minimized.reason.unwrap_or_default(),
            }),
        }
    }
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
    }
}
