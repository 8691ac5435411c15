//! Answer shapes, after GitHub's OpenAPI description (2022-11-28): every required member is there.

mod app;
mod check;
mod issue;
mod pull;
mod repository;

pub(crate) use app::{client_id, delivery, delivery_item, installation, integration};
pub(crate) use check::{annotation, check_run};
pub(crate) use issue::{comment, issue, label, reaction};
pub(crate) use pull::{changed_file, minimal_pull, pull_request};
pub(crate) use repository::{minimal_repository, repository};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::model::{Role, User, UserKind};
use crate::state::Base;

/// What stays as it is in one path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// `text` as one path segment.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Puts the members of `more` behind those of `value`.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(members), Value::Object(more)) = (value, more) {
        members.extend(more);
    }
}

/// A GraphQL node id: opaque to clients, unique over kinds.
pub(crate) fn node_id(kind: &str, id: u64) -> String {
    format!("{kind}_kwDO{id:012x}")
}

/// `simple-user`.
pub(crate) fn user(base: &Base, user: &User) -> Value {
    let api = format!("{}/users/{}", base.api, segment(&user.login));
    let page = match (user.kind, user.login.strip_suffix("[bot]")) {
        (UserKind::Bot, Some(slug)) => format!("{}/apps/{slug}", base.web),
        _ => format!("{}/{}", base.web, segment(&user.login)),
    };
    json!({
        "login": user.login,
        "id": user.id,
        "node_id": node_id("U", user.id),
        "avatar_url": format!("{}/avatars/u/{}?v=4", base.web, user.id),
        "gravatar_id": "",
        "url": api,
        "html_url": page,
        "followers_url": format!("{api}/followers"),
        "following_url": format!("{api}/following{{/other_user}}"),
        "gists_url": format!("{api}/gists{{/gist_id}}"),
        "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{api}/subscriptions"),
        "organizations_url": format!("{api}/orgs"),
        "repos_url": format!("{api}/repos"),
        "events_url": format!("{api}/events{{/privacy}}"),
        "received_events_url": format!("{api}/received_events"),
        "type": user.kind.as_str(),
        "user_view_type": "public",
        "site_admin": false,
    })
}

/// `public-user`.
pub(crate) fn account(base: &Base, of: &User) -> Value {
    let mut value = user(base, of);
    let nothing = [
        "name", "company", "blog", "location", "email", "hireable", "bio",
    ];
    extend(
        &mut value,
        nothing
            .map(|name| (name.to_owned(), Value::Null))
            .into_iter()
            .collect(),
    );
    let more = json!({
        "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
        "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
    });
    extend(&mut value, more);
    value
}

/// `repository-collaborator-permission`.
pub(crate) fn permission(base: &Base, account: &User, role: &Role) -> Value {
    let level = match role.permission() {
        "admin" => 3,
        "write" => 2,
        "read" => 1,
        _ => 0,
    };
    let mut member = user(base, account);
    if let Some(member) = member.as_object_mut() {
        member.insert(
            "permissions".to_owned(),
            json!({
                "admin": level >= 3,
                "maintain": level >= 3 || *role == Role::Maintain,
                "push": level >= 2,
                "triage": level >= 2 || *role == Role::Triage,
                "pull": level >= 1,
            }),
        );
        member.insert("role_name".to_owned(), json!(role.role_name()));
    }
    json!({
        "permission": role.permission(),
        "user": member,
        "role_name": role.role_name(),
    })
}
