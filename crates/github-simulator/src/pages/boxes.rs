//! What the visitor of a page can do: click boxes in comments, and write a comment.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::html::{self, escape};
use crate::api::Call;
use crate::model::Comment;
use crate::state::State;
use crate::tasks;

/// Why a click does nothing.
enum Refusal {
    Nowhere,
    Foreign,
    Forbidden,
    Stale,
    Nobody,
    Empty,
}

impl Refusal {
    fn response(&self) -> Response {
        let (status, text) = match self {
            Self::Nowhere => (StatusCode::NOT_FOUND, "there is no such box here"),
            Self::Foreign => (StatusCode::FORBIDDEN, "that was sent from another site"),
            Self::Forbidden => (
                StatusCode::FORBIDDEN,
                "boxes can be ticked by the comment's author and by people with write access",
            ),
            Self::Stale => (
                StatusCode::CONFLICT,
                "the comment has changed since the page was shown: go back and load it again",
            ),
            Self::Nobody => (
                StatusCode::FORBIDDEN,
                "comments are written by the visitor, and there is none",
            ),
            Self::Empty => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "the comment is empty: go back and write something",
            ),
        };
        let title = format!("{}: {text}", status.as_u16());
        let main = format!("<h1 class=\"title\">{}</h1>\n", escape(&title));
        super::page(status, html::page(&title, "", &main))
    }
}

/// A comment's text as HTML, with boxes that the visitor may click.
pub(super) fn form(state: &State, address: &str, comment: &Comment) -> Option<String> {
    let visitor = state.visitor.as_ref()?;
    if !state.may_edit(visitor, comment.id).ok()? || tasks::tasks(&comment.body).is_empty() {
        return None;
    }
    Some(format!(
        "<form method=\"post\" action=\"{address}\"><input type=\"hidden\" name=\"comment\" value=\"{}\">\
         <input type=\"hidden\" name=\"version\" value=\"{}\">\n{}</form>",
        comment.id,
        digest(&comment.body),
        html::render_with_buttons(&comment.body)
    ))
}

/// The form for a new comment, where there is a visitor to write it.
pub(super) fn new_comment(state: &State, address: &str) -> String {
    let Some(visitor) = &state.visitor else {
        return String::new();
    };
    format!(
        "<form class=\"new\" method=\"post\" action=\"{address}\"><label>Comment as <b>{}</b><br>\
         <textarea name=\"body\" rows=\"6\" required placeholder=\"/plan-help\"></textarea></label><br>\
         <button type=\"submit\">Comment</button></form>\n",
        escape(&visitor.user.login)
    )
}

/// Does what a form of the page asks for, and shows the page at `address` again. `place` is the
/// repository and the number of the issue, `comments` are those on the page.
pub(super) fn answer(
    state: &mut State,
    call: &Call,
    address: &str,
    place: (u64, u64),
    comments: &[u64],
) -> Response {
    let done = match field(call, "body") {
        Some(body) => write(state, call, place, &body),
        None => click(state, call, comments),
    };
    match done {
        Ok(comment) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SEE_OTHER;
            let place = format!("{address}#issuecomment-{comment}");
            if let Ok(place) = HeaderValue::from_str(&place) {
                response.headers_mut().insert(header::LOCATION, place);
            }
            response
        }
        Err(refusal) => refusal.response(),
    }
}

/// A field of the form that was sent.
fn field(call: &Call, name: &str) -> Option<String> {
    form_urlencoded::parse(&call.body)
        .find(|(other, _)| other == name)
        .map(|(_, value)| value.into_owned())
}

/// Refuses forms of other sites. Browsers name the site whose form it is; the simulator's pages
/// have no other.
fn same_site(call: &Call) -> Result<(), Refusal> {
    let origin = call.header("origin");
    if origin.is_some_and(|origin| origin != call.base.web) {
        return Err(Refusal::Foreign);
    }
    Ok(())
}

/// Writes a comment of the visitor; gives its id.
fn write(state: &mut State, call: &Call, place: (u64, u64), body: &str) -> Result<u64, Refusal> {
    same_site(call)?;
    let by = state.visitor.clone().ok_or(Refusal::Nobody)?;
    if body.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    // Browsers send CRLF line ends, which GitHub keeps, too.
    state
        .comment_on(&by, place.0, place.1, body)
        .map_err(|_| Refusal::Nowhere)
}

/// Clicks a box in one of `comments`; gives the comment's id.
fn click(state: &mut State, call: &Call, comments: &[u64]) -> Result<u64, Refusal> {
    same_site(call)?;
    let field = |name: &str| field(call, name).ok_or(Refusal::Nowhere);
    let id = field("comment")?.parse().map_err(|_| Refusal::Nowhere)?;
    let nth = field("box")?.parse().map_err(|_| Refusal::Nowhere)?;
    let comment = state
        .comments
        .get(&id)
        .filter(|_| comments.contains(&id))
        .ok_or(Refusal::Nowhere)?;
    let by = state.visitor.clone().ok_or(Refusal::Forbidden)?;
    if !matches!(state.may_edit(&by, id), Ok(true)) {
        return Err(Refusal::Forbidden);
    }
    if digest(&comment.body) != field("version")? {
        return Err(Refusal::Stale);
    }
    let body = tasks::click(&comment.body, nth).ok_or(Refusal::Nowhere)?;
    state
        .edit_comment(&by, id, &body)
        .map_err(|_| Refusal::Nowhere)?;
    Ok(id)
}

/// SHA-256 of a comment's text, in hex: tells a form that was made from an older text.
fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
