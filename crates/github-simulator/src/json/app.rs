//! JSON of the App, its installations and its webhook deliveries.

use serde_json::{Value, json};

use super::{Renderer, iso, node_id};
use crate::model::{Delivery, Installation};
use crate::state::Webhook;

impl Renderer<'_> {
    /// Renders `integration`.
    pub(crate) fn app(&self) -> Value {
        let app = &self.state.app;
        let web = &self.urls.web;
        json!({
            "id": app.id,
            "client_id": app.client_id(),
            "slug": app.slug,
            "node_id": node_id("A", app.id),
            "owner": self.user(&app.owner),
            "name": app.slug,
            "description": "",
            "external_url": web,
            "html_url": format!("{web}/apps/{}", app.slug),
            "created_at": iso(app.created),
            "updated_at": iso(app.created),
            "permissions": app.permissions,
            "events": app.events,
            "installations_count": self.state.installations.len(),
        })
    }

    /// Renders `installation`.
    pub(crate) fn installation(&self, installation: &Installation) -> Value {
        let id = installation.id;
        let app = &self.state.app;
        let account = self.user(&installation.account);
        json!({
            "id": id,
            "client_id": app.client_id(),
            "account": account,
            "repository_selection": "selected",
            "access_tokens_url": format!("{}/app/installations/{id}/access_tokens", self.urls.api),
            "repositories_url": format!("{}/installation/repositories", self.urls.api),
            "html_url": format!("{}/settings/installations/{id}", self.urls.web),
            "app_id": app.id,
            "app_slug": app.slug,
            "target_id": installation.account.id,
            "target_type": installation.account.kind.as_str(),
            "permissions": installation.permissions,
            "events": app.events,
            "created_at": iso(installation.created),
            "updated_at": iso(installation.updated),
            "single_file_name": null,
            "has_multiple_single_files": false,
            "single_file_paths": [],
            "suspended_by": installation.suspended.map(|_| &account),
            "suspended_at": installation.suspended.map(iso),
        })
    }
}

/// Renders `webhook-config`. The first URL stands for all of them.
pub(crate) fn hook_config(webhook: &Webhook) -> Value {
    let mut value = json!({
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
    });
    if let Some(url) = webhook.targets.first() {
        value["url"] = json!(url);
    }
    value
}

/// Renders `hook-delivery-item`.
pub(crate) fn delivery_item(delivery: &Delivery) -> Value {
    json!({
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": iso(delivery.delivered),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code.unwrap_or(0),
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation,
        "repository_id": delivery.repository,
        "throttled_at": null,
    })
}

/// Renders `hook-delivery`.
pub(crate) fn delivery(delivery: &Delivery) -> Value {
    let mut value = delivery_item(delivery);
    let mut payload: Value = serde_json::from_slice(&delivery.payload).unwrap_or(Value::Null);
    // GitHub returns the payload parsed: its bytes are not those that were signed.
    payload.sort_all_objects();
    value["url"] = json!("");
    value["request"] = json!({
        "headers": {
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Delivery": delivery.guid,
            "content-type": "application/json",
        },
        "payload": payload,
    });
    value["response"] = json!({"headers": {}, "payload": delivery.response});
    value
}
