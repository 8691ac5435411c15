//! Files that people attach to comments. GitHub has no API for them: its pages redirect to a store with a signed address,
//! and show a private repository's ones only to people who are signed in (public issue threads, octokit/octokit.js#2786).

use bytes::Bytes;
use http::StatusCode;

use crate::api::Call;
use crate::json::segment;
use crate::model::Attachment;
use crate::reply::Answer;
use crate::state::{Base, State};

/// First segment of the store's addresses; GitHub has it on another host.
const STORE: &str = "attachment-store";

/// Where the attachment is, as in a comment.
pub(crate) fn address(base: &Base, id: u64, attachment: &Attachment) -> String {
    format!(
        "{}/user-attachments/files/{id}/{}",
        base.web,
        segment(&attachment.name)
    )
}

/// Paths that [`answer`] serves.
pub(crate) fn is_one(path: &[String]) -> bool {
    matches!(path, [first, second, _, _] if first == "user-attachments" && second == "files")
        || matches!(path, [first, _] if first == STORE)
}

/// A redirect to the store, a file of the store, or a page that says 404.
pub(crate) fn answer(state: &State, call: &Call) -> Answer {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    let find = |id: &str| state.attachments.get(&id.parse().ok()?);
    let found = match path.as_slice() {
        ["user-attachments", "files", id, name] => find(id)
            .filter(|attachment| attachment.name == *name && !attachment.private)
            .map(|_| Answer {
                status: StatusCode::FOUND,
                ..Answer::empty()
            })
            .map(|answer| {
                let to = format!("{}/{STORE}/{id}?signature=shown-to-nobody", call.base.web);
                answer.header("location", to)
            }),
        [STORE, id] => find(id)
            .filter(|_| call.query("signature").is_some())
            .map(|attachment| {
                Answer::bytes("application/octet-stream", attachment.content.clone())
            }),
        _ => None,
    };
    found.unwrap_or_else(|| Answer {
        status: StatusCode::NOT_FOUND,
        ..Answer::bytes(
            "text/html; charset=utf-8",
            Bytes::from_static(b"<!doctype html><title>Not found</title>\n"),
        )
    })
}
