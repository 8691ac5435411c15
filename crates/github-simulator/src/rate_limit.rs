//! The primary rate limit: requests per hour of an installation or a person.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::model::{Token, TokenOwner};
use crate::response::ApiResponse;
use crate::state::State;

/// Maximum number of requests per hour
/// (<https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>).
const MAX_REQUESTS: u32 = 5000;

/// Maximum number of requests per hour without credentials. It is shown, not enforced.
const MAX_ANONYMOUS: u32 = 60;

/// Window of the limit.
const HOUR: Duration = Duration::from_hours(1);

impl State {
    /// Returns the requests used in the current hour and the time at which it ends.
    fn used_requests(&self, token: &Token) -> (u32, DateTime<Utc>) {
        let now = self.now();
        match self.used_requests.get(&token.owner.id()) {
            Some(&(start, used)) if now < start + HOUR => (used, start + HOUR),
            _ => (0, now + HOUR),
        }
    }

    /// Returns the time at which the limit of a token is reset if it is used up.
    pub(crate) fn rate_limited_until(&self, token: &Token) -> Option<DateTime<Utc>> {
        let (used, reset) = self.used_requests(token);
        (used >= MAX_REQUESTS).then_some(reset)
    }

    /// Counts a request against the limit of a token.
    pub(crate) fn count_request(&mut self, token: &Token) {
        let (used, reset) = self.used_requests(token);
        self.used_requests
            .insert(token.owner.id(), (reset - HOUR, used.saturating_add(1)));
    }

    /// Adds the rate limit headers of a token to a response.
    pub(crate) fn with_rate_limit(&self, token: &Token, response: ApiResponse) -> ApiResponse {
        let (used, reset) = self.used_requests(token);
        with_headers(response, limit(token), used, reset)
    }

    /// Returns the body of `GET /rate_limit`.
    pub(crate) fn rate_limit(&self, token: &Token) -> Value {
        let (used, reset) = self.used_requests(token);
        let resource = |limit: u32, used: u32| {
            json!({
                "limit": limit,
                "used": used,
                "remaining": limit.saturating_sub(used),
                "reset": reset.timestamp(),
            })
        };
        json!({
            "resources": {
                "core": resource(MAX_REQUESTS, used),
                "search": resource(30, 0),
                "graphql": resource(5000, 0),
            },
            "rate": resource(MAX_REQUESTS, used),
        })
    }
}

/// Returns the 403 for a request beyond the limit. The message is from "Rate limits for the REST
/// API".
pub(crate) fn exceeded(reset: DateTime<Utc>) -> ApiResponse {
    let response = ApiResponse::forbidden("API rate limit exceeded for installation.");
    with_headers(response, MAX_REQUESTS, MAX_REQUESTS, reset)
}

/// Returns the limit of a token.
fn limit(token: &Token) -> u32 {
    match token.owner {
        TokenOwner::Anonymous => MAX_ANONYMOUS,
        TokenOwner::Installation(_) | TokenOwner::Person(_) | TokenOwner::Job(_) => MAX_REQUESTS,
    }
}

fn with_headers(response: ApiResponse, limit: u32, used: u32, reset: DateTime<Utc>) -> ApiResponse {
    let remaining = limit.saturating_sub(used);
    response
        .header("x-ratelimit-limit", limit.to_string())
        .header("x-ratelimit-remaining", remaining.to_string())
        .header("x-ratelimit-used", used.to_string())
        .header("x-ratelimit-reset", reset.timestamp().to_string())
        .header("x-ratelimit-resource", "core")
}
