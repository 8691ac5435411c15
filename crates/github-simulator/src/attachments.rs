//! Files attached to comments.
//!
//! GitHub has no API for them: its pages redirect to a file store with a signed URL, and serve the
//! files of a private repository only to signed-in people (public issue threads,
//! octokit/octokit.js#2786).

use bytes::Bytes;
use http::StatusCode;

use crate::model::Attachment;
use crate::request::ApiRequest;
use crate::response::ApiResponse;
use crate::state::State;
use crate::urls::{BaseUrls, encode_segment};

/// First path segment of the file store, which is on another host on GitHub.
const STORE: &str = "attachment-store";

/// Returns the URL of an attachment, as comments contain it.
pub(crate) fn url(urls: &BaseUrls, id: u64, attachment: &Attachment) -> String {
    let name = encode_segment(&attachment.name);
    format!("{}/user-attachments/files/{id}/{name}", urls.web)
}

/// Returns whether [`handle`] serves the path of a request.
pub(crate) fn is_attachment(request: &ApiRequest) -> bool {
    matches!(
        *request.segments(),
        ["user-attachments", "files", _, _] | [STORE, _]
    )
}

/// Returns a redirect to the store, a file of the store, or a 404 page.
pub(crate) fn handle(state: &State, request: &ApiRequest) -> ApiResponse {
    let find = |id: &str| state.attachments.get(&id.parse().ok()?);
    let found = match *request.segments() {
        ["user-attachments", "files", id, name] => find(id)
            .filter(|attachment| attachment.name == name && !attachment.private)
            .map(|_| {
                let web = &request.urls.web;
                ApiResponse::found(format!("{web}/{STORE}/{id}?signature=shown-to-nobody"))
            }),
        [STORE, id] => find(id)
            .filter(|_| request.query("signature").is_some())
            .map(|attachment| {
                let content = attachment.content.clone();
                ApiResponse::raw(StatusCode::OK, "application/octet-stream", content)
            }),
        _ => None,
    };
    found.unwrap_or_else(|| {
        let page = Bytes::from_static(b"<!doctype html><title>Not found</title>\n");
        ApiResponse::raw(StatusCode::NOT_FOUND, "text/html; charset=utf-8", page)
    })
}
