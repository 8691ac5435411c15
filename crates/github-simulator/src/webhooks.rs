//! Webhook events: payloads in the shape of GitHub's webhook descriptions, logged and queued in
//! order.
//!
//! A payload is built when the change happens, so it describes the state at that time, whenever it
//! is delivered.

use bytes::Bytes;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::Result;
use crate::faults::WebhookFault;
use crate::json::{extend, iso, minimal_repository, node_id};
use crate::model::{Actor, Delivery, Label, LabelEvent};
use crate::state::State;

impl State {
    /// Logs a delivery of an event and queues it, unless a fault prevents that.
    fn emit(
        &mut self,
        event: &str,
        installation: Option<u64>,
        repository: Option<u64>,
        payload: &Value,
    ) {
        let targets = if self.webhook.broadcast {
            self.webhook.targets.iter().cloned().map(Some).collect()
        } else {
            vec![None]
        };
        for target in targets {
            self.emit_to(target, event, installation, repository, payload);
        }
    }

    /// Logs a delivery to `target`, or to the next of all targets, and queues it.
    fn emit_to(
        &mut self,
        target: Option<String>,
        event: &str,
        installation: Option<u64>,
        repository: Option<u64>,
        payload: &Value,
    ) {
        let action = payload.get("action").and_then(Value::as_str);
        let id = self.new_delivery_id();
        let delivery = Delivery {
            id,
            target,
            guid: Uuid::new_v4().to_string(),
            event: event.to_owned(),
            action: action.map(str::to_owned),
            installation,
            repository,
            payload: Bytes::from(payload.to_string()),
            delivered: self.now(),
            redelivery: false,
            duration: 0.0,
            status_code: None,
            status: String::new(),
            response: String::new(),
        };
        let fault = self
            .webhook
            .faults
            .as_ref()
            .and_then(|fault| fault(&delivery));
        if fault == Some(WebhookFault::NotCreated) {
            return;
        }
        self.deliveries.insert(id, delivery);
        match fault {
            Some(WebhookFault::Held) => self.webhook.held.push(id),
            Some(WebhookFault::Proxy(status)) => self.answer_by_proxy(id, status),
            Some(WebhookFault::Duplicated) => {
                self.queue_delivery(id);
                // The delivery was logged above.
                let _ = self.redeliver(id);
            }
            Some(WebhookFault::NotCreated) | None => self.queue_delivery(id),
        }
    }

    /// Adds attempts at deliveries of other events to the log, one a second up to now.
    pub(crate) fn fill_delivery_log(&mut self, count: u32) {
        for index in (0..count).rev() {
            let id = self.new_delivery_id();
            let delivered = self.now() - std::time::Duration::from_secs(u64::from(index));
            let delivery = Delivery {
                id,
                target: None,
                guid: Uuid::new_v4().to_string(),
                event: "push".to_owned(),
                action: None,
                installation: None,
                repository: None,
                payload: Bytes::from_static(b"{}"),
                delivered,
                redelivery: false,
                duration: 0.1,
                status_code: Some(200),
                status: "OK".to_owned(),
                response: String::new(),
            };
            self.deliveries.insert(id, delivery);
        }
    }

    /// Queues the deliveries that are held back.
    pub(crate) fn release_deliveries(&mut self, newest_first: bool) {
        let mut held = std::mem::take(&mut self.webhook.held);
        if newest_first {
            held.reverse();
        }
        for id in held {
            self.queue_delivery(id);
        }
    }

    /// Queues a logged delivery for the sender.
    fn queue_delivery(&mut self, id: u64) {
        self.webhook.pending.send_modify(|pending| *pending += 1);
        if self.webhook.queue.send(id).is_err() {
            // The sender has stopped because the simulator is shutting down.
            self.webhook.pending.send_modify(|pending| *pending -= 1);
        }
    }

    /// Logs a further attempt with the same GUID and the same bytes, without queueing it.
    pub(crate) fn copy_delivery(&mut self, id: u64) -> Result<u64> {
        let first = self.delivery(id)?.clone();
        let id = self.new_delivery_id();
        let attempt = Delivery {
            id,
            redelivery: true,
            delivered: self.now(),
            status_code: None,
            status: String::new(),
            response: String::new(),
            ..first
        };
        self.deliveries.insert(id, attempt);
        Ok(id)
    }

    /// Logs and queues a further attempt, unless a proxy answers it; returns its id.
    pub(crate) fn redeliver(&mut self, id: u64) -> Result<u64> {
        let fault = {
            let delivery = self.delivery(id)?;
            let fault = self.webhook.faults.as_ref();
            fault.and_then(|fault| fault(delivery))
        };
        let id = self.copy_delivery(id)?;
        match fault {
            Some(WebhookFault::Proxy(status)) => self.answer_by_proxy(id, status),
            _ => self.queue_delivery(id),
        }
        Ok(id)
    }

    fn answer_by_proxy(&mut self, id: u64, status: u16) {
        if let Some(delivery) = self.deliveries.get_mut(&id) {
            delivery.status_code = Some(status);
            delivery.status = format!("Invalid HTTP Response: {status}");
        }
    }

    /// Emits an event of a repository if the App is subscribed to it and an installation that is
    /// not suspended has access to the repository.
    fn emit_repository_event(
        &mut self,
        actor: &Actor,
        repository: u64,
        event: &str,
        mut payload: Value,
    ) -> Result {
        if !self.app.events.iter().any(|subscribed| subscribed == event) {
            return Ok(());
        }
        let installation = match self.installation_for(repository) {
            Some(installation) if installation.suspended.is_none() => installation.id,
            _ => return Ok(()),
        };
        let renderer = self.renderer(&self.urls);
        let rest = json!({
            "repository": renderer.repository(self.repository(repository)?),
            "sender": renderer.user(&actor.user),
            "installation": {
                "id": installation,
                "node_id": node_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", installation),
            },
        });
        extend(&mut payload, rest);
        self.emit(event, Some(installation), Some(repository), &payload);
        Ok(())
    }

    /// Emits `issues` or `pull_request`, with the members of `more`.
    pub(crate) fn emit_issue(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        action: &str,
        more: &Value,
    ) -> Result {
        let issue = self.issue(repository, number)?;
        let renderer = self.renderer(&self.urls);
        let stored = self.repository(repository)?;
        let (event, mut payload) = if let Some(pull) = &issue.pull {
            let pull = renderer.pull_request(stored, issue, pull);
            let payload = json!({"action": action, "number": number, "pull_request": pull});
            ("pull_request", payload)
        } else {
            let issue = renderer.issue(stored, issue);
            ("issues", json!({"action": action, "issue": issue}))
        };
        extend(&mut payload, more.clone());
        self.emit_repository_event(actor, repository, event, payload)
    }

    /// Records and emits `labeled` or `unlabeled` of an issue or pull request.
    pub(crate) fn emit_label(
        &mut self,
        actor: &Actor,
        repository: u64,
        number: u64,
        action: &str,
        label: &Label,
    ) -> Result {
        let event = LabelEvent {
            id: self.new_id(),
            event: action.to_owned(),
            actor: actor.user.clone(),
            via_app: actor.via_app,
            label: label.name.clone(),
            colour: label.colour.clone(),
            created: self.issue(repository, number)?.updated,
        };
        self.issue_mut(repository, number)?.events.push(event);
        let renderer = self.renderer(&self.urls);
        let label = renderer.label(self.repository(repository)?, label);
        self.emit_issue(actor, repository, number, action, &json!({"label": label}))
    }

    pub(crate) fn emit_label_created(
        &mut self,
        actor: &Actor,
        repository: u64,
        label: &Label,
    ) -> Result {
        let renderer = self.renderer(&self.urls);
        let label = renderer.label(self.repository(repository)?, label);
        let payload = json!({"action": "created", "label": label});
        self.emit_repository_event(actor, repository, "label", payload)
    }

    /// Emits `issue_comment`, with the members of `more`.
    pub(crate) fn emit_comment(
        &mut self,
        actor: &Actor,
        id: u64,
        action: &str,
        more: &Value,
    ) -> Result {
        let comment = self.comment(id)?;
        let repository = self.repository(comment.repository)?;
        let issue = self.issue(comment.repository, comment.number)?;
        let renderer = self.renderer(&self.urls);
        let mut payload = json!({
            "action": action,
            "issue": renderer.issue(repository, issue),
            "comment": renderer.comment(repository, issue, comment),
        });
        extend(&mut payload, more.clone());
        self.emit_repository_event(actor, repository.id, "issue_comment", payload)
    }

    pub(crate) fn emit_installation(&mut self, actor: &Actor, id: u64, action: &str) -> Result {
        let installation = self.installation(id)?;
        let renderer = self.renderer(&self.urls);
        let repositories = installation.repositories.iter();
        let repositories = repositories.filter_map(|id| self.repositories.get(id));
        let payload = json!({
            "action": action,
            "installation": renderer.installation(installation),
            "repositories": repositories.map(minimal_repository).collect::<Value>(),
            "sender": renderer.user(&actor.user),
        });
        self.emit("installation", Some(id), None, &payload);
        Ok(())
    }

    /// Emits the event that GitHub sends when a webhook URL is set.
    pub(crate) fn emit_ping(&mut self) {
        let created = iso(self.app.created);
        let id = self.webhook.id;
        let payload = json!({
            "zen": "Keep it logically awesome.",
            "hook_id": id,
            "hook": {
                "type": "App",
                "id": id,
                "name": "web",
                "active": true,
                "events": self.app.events,
                "config": {
                    "content_type": "json",
                    "insecure_ssl": "0",
                    "secret": "********",
                    "url": self.webhook.targets.first().unwrap_or(&self.urls.web),
                },
                "updated_at": created,
                "created_at": created,
                "app_id": self.app.id,
                "deliveries_url": format!("{}/app/hook/deliveries", self.urls.api),
            },
        });
        self.emit("ping", None, None, &payload);
    }
}
