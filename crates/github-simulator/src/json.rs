//! JSON of responses and webhooks, as in GitHub's OpenAPI description (2022-11-28): every required
//! member is present.

mod app;
mod checks;
mod issue;
mod pull;
mod repository;

pub(crate) use app::{delivery, delivery_item, hook_config};
pub(crate) use repository::minimal_repository;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::model::{Role, User, UserKind};
use crate::state::State;
use crate::urls::{BaseUrls, encode_segment};

/// Renders objects as JSON.
#[derive(Clone, Copy)]
pub(crate) struct Renderer<'a> {
    state: &'a State,
    urls: &'a BaseUrls,
}

impl State {
    /// Returns a renderer that builds URLs from `urls`.
    pub(crate) fn renderer<'a>(&'a self, urls: &'a BaseUrls) -> Renderer<'a> {
        Renderer { state: self, urls }
    }
}

/// Formats a time as GitHub does: ISO 8601 with seconds and `Z`.
pub(crate) fn iso(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Appends the members of the object `more` to the object `value`.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(members), Value::Object(more)) = (value, more) {
        members.extend(more);
    }
}

/// Returns a GraphQL node id, opaque to clients and unique over all kinds of objects.
pub(crate) fn node_id(kind: &str, id: u64) -> String {
    format!("{kind}_kwDO{id:012x}")
}

/// Renders the member `permissions` of repositories and collaborators.
pub(crate) fn role_permissions(role: &Role) -> Value {
    let admin = role.permission() == "admin";
    json!({
        "admin": admin,
        "maintain": admin || *role == Role::Maintain,
        "push": role.can_write(),
        "triage": role.can_write() || *role == Role::Triage,
        "pull": role.permission() != "none",
    })
}

impl Renderer<'_> {
    /// Renders `simple-user`.
    pub(crate) fn user(&self, user: &User) -> Value {
        let web = &self.urls.web;
        let login = encode_segment(&user.login);
        let api = format!("{}/users/{login}", self.urls.api);
        let page = match (user.kind, user.login.strip_suffix("[bot]")) {
            (UserKind::Bot, Some(slug)) => format!("{web}/apps/{slug}"),
            _ => format!("{web}/{login}"),
        };
        json!({
            "login": user.login,
            "id": user.id,
            "node_id": node_id("U", user.id),
            "avatar_url": format!("{web}/avatars/u/{}?v=4", user.id),
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

    /// Renders `public-user`.
    pub(crate) fn public_user(&self, user: &User) -> Value {
        let mut value = self.user(user);
        let more = json!({
            "name": null, "company": null, "blog": null, "location": null, "email": null,
            "hireable": null, "bio": null,
            "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0,
            "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
        });
        extend(&mut value, more);
        value
    }

    /// Renders `repository-collaborator-permission`.
    pub(crate) fn permission(&self, user: &User, role: &Role) -> Value {
        let mut member = self.user(user);
        member["permissions"] = role_permissions(role);
        member["role_name"] = json!(role.role_name());
        json!({
            "permission": role.permission(),
            "user": member,
            "role_name": role.role_name(),
        })
    }
}
