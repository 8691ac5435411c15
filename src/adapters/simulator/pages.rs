//! Pages.
use super::api::Call;
use super::reply::Answer;
use super::state::State;
use axum::response::Response;
pub(super) fn answer(_state: &State, _call: &Call) -> Response {
    Answer::not_found().into_response()
}
