//! The App, its installations and its webhook deliveries in JSON.

use crate::clock::iso;
use serde_json::{Value, json};

use super::{node_id, user};
use crate::model::{Delivery, Installation};
use crate::state::{Base, State};

/// `integration`.
pub(crate) fn integration(state: &State, base: &Base) -> Value {
    let app = &state.app;
    json!({
        "id": app.id,
        "client_id": client_id(app.id),
        "slug": app.slug,
        "node_id": node_id("A", app.id),
        "owner": user(base, &app.owner),
        "name": app.slug,
        "description": "",
        "external_url": base.web,
        "html_url": format!("{}/apps/{}", base.web, app.slug),
        "created_at": iso(app.created),
        "updated_at": iso(app.created),
        "permissions": app.permissions,
        "events": app.events,
        "installations_count": state.installations.len(),
    })
}

/// Client id of an App; GitHub accepts it as `iss` too.
pub(crate) fn client_id(app: u64) -> String {
    format!("Iv23li{app:014}")
}

/// `installation`.
pub(crate) fn installation(state: &State, base: &Base, installation: &Installation) -> Value {
    let id = installation.id;
    json!({
        "id": id,
        "client_id": client_id(state.app.id),
        "account": user(base, &installation.account),
        "repository_selection": "selected",
        "access_tokens_url": format!("{}/app/installations/{id}/access_tokens", base.api),
        "repositories_url": format!("{}/installation/repositories", base.api),
        "html_url": format!("{}/settings/installations/{id}", base.web),
        "app_id": state.app.id,
        "app_slug": state.app.slug,
        "target_id": installation.account.id,
        "target_type": installation.account.kind.as_str(),
        "permissions": installation.permissions,
        "events": state.app.events,
        "created_at": iso(installation.created),
        "updated_at": iso(installation.updated),
        "single_file_name": null,
        "has_multiple_single_files": false,
        "single_file_paths": [],
        "suspended_by": installation.suspended.map(|_| user(base, &installation.account)),
        "suspended_at": installation.suspended.map(iso),
    })
}

/// `hook-delivery-item`.
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

/// `hook-delivery`.
pub(crate) fn delivery(delivery: &Delivery) -> Value {
    let mut value = delivery_item(delivery);
    if let Some(members) = value.as_object_mut() {
        let payload: Value = serde_json::from_slice(&delivery.payload).unwrap_or(Value::Null);
        members.insert("url".to_owned(), json!(""));
        members.insert(
            "request".to_owned(),
            json!({
                "headers": {
                    "X-GitHub-Event": delivery.event,
                    "X-GitHub-Delivery": delivery.guid,
                    "content-type": "application/json",
                },
                "payload": payload,
            }),
        );
        members.insert(
            "response".to_owned(),
            json!({"headers": {}, "payload": delivery.response}),
        );
    }
    value
}
