//! Forms of the pages, with which the visitor toggles checkboxes and writes comments.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use super::html::{self, escape};
use crate::model::{Comment, Issue, Repository};
use crate::request::ApiRequest;
use crate::state::State;
use crate::task_list::{checkboxes, toggle_checkbox};
use crate::urls::issue_path;

/// Reason for which a submitted form is refused.
enum FormError {
    NoCheckbox,
    ForeignOrigin,
    NotEditable,
    Outdated,
    NoVisitor,
    EmptyComment,
}

impl FormError {
    fn response(&self) -> Response {
        let (status, text) = match self {
            Self::NoCheckbox => (StatusCode::NOT_FOUND, "there is no such checkbox here"),
            Self::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "the request was sent from another site",
            ),
            Self::NotEditable => (
                StatusCode::FORBIDDEN,
                "checkboxes can be ticked by the comment's author and by people with write access",
            ),
            Self::Outdated => (
                StatusCode::CONFLICT,
                "the comment has changed since the page was shown: go back and load it again",
            ),
            Self::NoVisitor => (
                StatusCode::FORBIDDEN,
                "comments are written by the visitor, and no visitor is configured",
            ),
            Self::EmptyComment => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "the comment is empty: go back and write something",
            ),
        };
        let title = format!("{}: {text}", status.as_u16());
        let main = format!("<h1 class=\"title\">{}</h1>\n", escape(&title));
        super::page(status, html::page(&title, "", &main))
    }
}

/// The issue or pull request on whose page a form was submitted.
pub(super) struct FormTarget {
    path: String,
    repository: u64,
    number: u64,
    comments: Vec<u64>,
}

impl FormTarget {
    pub(super) fn new(repository: &Repository, issue: &Issue) -> Self {
        Self {
            path: format!("/{}", issue_path(repository, issue)),
            repository: repository.id,
            number: issue.number,
            comments: issue.comments.clone(),
        }
    }
}

/// Renders a comment as a form if it has checkboxes that the visitor may toggle.
pub(super) fn checkbox_form(state: &State, path: &str, comment: &Comment) -> Option<String> {
    let visitor = state.visitor.as_ref()?;
    if !state.can_edit_comment(visitor, comment.id).ok()? || checkboxes(&comment.body).is_empty() {
        return None;
    }
    Some(format!(
        "<form method=\"post\" action=\"{path}\"><input type=\"hidden\" name=\"comment\" value=\"{}\">\
         <input type=\"hidden\" name=\"version\" value=\"{}\">\n{}</form>",
        comment.id,
        version(&comment.body),
        html::render_with_buttons(&comment.body)
    ))
}

/// Renders the form for a new comment if there is a visitor.
pub(super) fn comment_form(state: &State, path: &str) -> String {
    let Some(visitor) = &state.visitor else {
        return String::new();
    };
    format!(
        "<form class=\"new\" method=\"post\" action=\"{path}\"><label>Comment as <b>{}</b><br>\
         <textarea name=\"body\" rows=\"6\" required placeholder=\"{}\"></textarea></label><br>\
         <button type=\"submit\">Comment</button></form>\n",
        escape(&visitor.user.login),
        escape(&state.comment_placeholder)
    )
}

/// Performs the action of a submitted form and redirects to the comment on the page.
pub(super) fn submit(state: &mut State, request: &ApiRequest, target: &FormTarget) -> Response {
    let comment = match field(request, "body") {
        // Browsers send CRLF as line ending, and GitHub keeps it.
        Some(body) => submit_comment(state, request, target, &body),
        None => submit_checkbox(state, request, &target.comments),
    };
    let comment = match comment {
        Ok(comment) => comment,
        Err(error) => return error.response(),
    };
    see_other(&format!("{}#issuecomment-{comment}", target.path))
}

/// Returns the redirect to the page that follows a form.
pub(super) fn see_other(location: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// Returns the values of a field of a submitted form.
pub(super) fn fields<'a>(
    request: &'a ApiRequest,
    name: &'a str,
) -> impl Iterator<Item = String> + 'a {
    form_urlencoded::parse(&request.body)
        .filter(move |(other, _)| other == name)
        .map(|(_, value)| value.into_owned())
}

/// Returns a field of a submitted form.
pub(super) fn field(request: &ApiRequest, name: &str) -> Option<String> {
    fields(request, name).next()
}

/// Returns whether a browser submitted the form from another site.
pub(super) fn is_foreign(request: &ApiRequest) -> bool {
    let origin = request.header("origin");
    origin.is_some_and(|origin| origin != request.urls.web)
}

/// Refuses forms that a browser submits from another site.
fn check_origin(request: &ApiRequest) -> Result<(), FormError> {
    if is_foreign(request) {
        return Err(FormError::ForeignOrigin);
    }
    Ok(())
}

/// Adds a comment of the visitor and returns its id.
fn submit_comment(
    state: &mut State,
    request: &ApiRequest,
    target: &FormTarget,
    body: &str,
) -> Result<u64, FormError> {
    check_origin(request)?;
    let visitor = state.visitor.clone().ok_or(FormError::NoVisitor)?;
    if body.trim().is_empty() {
        return Err(FormError::EmptyComment);
    }
    state
        .add_comment(&visitor, target.repository, target.number, body)
        .map_err(|_| FormError::NoCheckbox)
}

/// Toggles a checkbox in one of `comments` and returns the comment's id.
fn submit_checkbox(
    state: &mut State,
    request: &ApiRequest,
    comments: &[u64],
) -> Result<u64, FormError> {
    check_origin(request)?;
    let field = |name: &str| field(request, name).ok_or(FormError::NoCheckbox);
    let id = field("comment")?;
    let id = id.parse().map_err(|_| FormError::NoCheckbox)?;
    let index = field("box")?;
    let index = index.parse().map_err(|_| FormError::NoCheckbox)?;
    let comment = state.comments.get(&id);
    let comment = comment
        .filter(|_| comments.contains(&id))
        .ok_or(FormError::NoCheckbox)?;
    let visitor = state.visitor.clone().ok_or(FormError::NotEditable)?;
    if !matches!(state.can_edit_comment(&visitor, id), Ok(true)) {
        return Err(FormError::NotEditable);
    }
    if version(&comment.body) != field("version")? {
        return Err(FormError::Outdated);
    }
    let body = toggle_checkbox(&comment.body, index).ok_or(FormError::NoCheckbox)?;
    state
        .edit_comment(&visitor, id, &body)
        .map_err(|_| FormError::NoCheckbox)?;
    Ok(id)
}

/// Returns the hash of a comment's text, by which a form made from an older text is recognised.
fn version(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
