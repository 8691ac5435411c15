//! What GitHub would send: payloads in the shape of its webhook descriptions, logged and queued in order.
//!
//! Payloads are built when the change happens, so they show what was true then, whenever they arrive.

use crate::clock::iso;
use bytes::Bytes;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::SimulatorError;
use crate::json;
use crate::model::{Delivery, Label};
use crate::state::{Doer, State};

/// What an event belongs to.
#[derive(Debug, Clone, Copy, Default)]
struct Scope {
    installation: Option<u64>,
    repository: Option<u64>,
}

impl State {
    /// Logs a delivery and queues it.
    fn emit(&mut self, event: &str, scope: Scope, payload: &Value) {
        let action = payload.get("action").and_then(Value::as_str);
        let id = self.id();
        let delivery = Delivery {
            id,
            guid: Uuid::new_v4().to_string(),
            event: event.to_owned(),
            action: action.map(str::to_owned),
            installation: scope.installation,
            repository: scope.repository,
            payload: Bytes::from(payload.to_string()),
            delivered: self.now(),
            redelivery: false,
            duration: 0.0,
            status_code: None,
            status: String::new(),
            response: String::new(),
        };
        self.deliveries.insert(id, delivery);
        self.queue(id);
    }

    /// Hands a logged delivery to the sender.
    fn queue(&mut self, id: u64) {
        self.hook.pending.send_modify(|pending| *pending += 1);
        if self.hook.queue.send(id).is_err() {
            // The sender is gone: the simulator is shutting down.
            self.hook.pending.send_modify(|pending| *pending -= 1);
        }
    }

    /// Logs a further attempt with the same GUID and the same bytes.
    fn copy(&mut self, id: u64) -> Result<u64, SimulatorError> {
        let mut again = self
            .deliveries
            .get(&id)
            .cloned()
            .ok_or_else(|| SimulatorError::missing(format!("delivery {id}")))?;
        again.id = self.id();
        again.redelivery = true;
        again.delivered = self.now();
        again.status_code = None;
        again.status = String::new();
        again.response = String::new();
        let id = again.id;
        self.deliveries.insert(id, again);
        Ok(id)
    }

    /// A further attempt, in turn with everything else.
    pub(crate) fn redeliver(&mut self, id: u64) -> Result<u64, SimulatorError> {
        let id = self.copy(id)?;
        self.queue(id);
        Ok(id)
    }

    /// Further attempts that the caller sends.
    pub(crate) fn copies(&mut self, id: u64, count: usize) -> Result<Vec<u64>, SimulatorError> {
        (0..count).map(|_| self.copy(id)).collect()
    }

    /// A repository event, for the installation that reaches the repository; a suspended one hears nothing.
    fn announce(
        &mut self,
        by: &Doer,
        repository: u64,
        event: &str,
        mut payload: Value,
    ) -> Result<(), SimulatorError> {
        if !self.app.events.iter().any(|subscribed| subscribed == event) {
            return Ok(());
        }
        let Some(installation) = self
            .installation_for(repository)
            .filter(|installation| installation.suspended.is_none())
            .map(|installation| installation.id)
        else {
            return Ok(());
        };
        let rest = json!({
            "repository": json::repository(&self.base, self.repository(repository)?),
            "sender": json::user(&self.base, &by.user),
            "installation": {
                "id": installation,
                "node_id": json::node_id("MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u", installation),
            },
        });
        json::extend(&mut payload, rest);
        let scope = Scope {
            installation: Some(installation),
            repository: Some(repository),
        };
        self.emit(event, scope, &payload);
        Ok(())
    }

    /// `issues` or `pull_request`, by what the number is.
    pub(crate) fn announce_issue(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        action: &str,
        more: &Value,
    ) -> Result<(), SimulatorError> {
        let home = self.repository(repository)?;
        let issue = self.issue(repository, number)?;
        let (event, mut payload) = if let Some(pull) = &issue.pull {
            let pull = json::pull_request(self, &self.base, home, issue, pull);
            let payload = json!({"action": action, "number": number, "pull_request": pull});
            ("pull_request", payload)
        } else {
            let issue = json::issue(self, &self.base, home, issue);
            ("issues", json!({"action": action, "issue": issue}))
        };
        json::extend(&mut payload, more.clone());
        self.announce(by, repository, event, payload)
    }

    pub(crate) fn announce_label(
        &mut self,
        by: &Doer,
        repository: u64,
        number: u64,
        action: &str,
        label: &Label,
    ) -> Result<(), SimulatorError> {
        let label = json::label(&self.base, self.repository(repository)?, label);
        self.announce_issue(by, repository, number, action, &json!({"label": label}))
    }

    pub(crate) fn announce_new_label(
        &mut self,
        by: &Doer,
        repository: u64,
        label: &Label,
    ) -> Result<(), SimulatorError> {
        let label = json::label(&self.base, self.repository(repository)?, label);
        let payload = json!({"action": "created", "label": label});
        self.announce(by, repository, "label", payload)
    }

    pub(crate) fn announce_comment(
        &mut self,
        by: &Doer,
        id: u64,
        action: &str,
        more: &Value,
    ) -> Result<(), SimulatorError> {
        let comment = self.comment(id)?;
        let (repository, number) = (comment.repository, comment.number);
        let home = self.repository(repository)?;
        let issue = self.issue(repository, number)?;
        let mut payload = json!({
            "action": action,
            "issue": json::issue(self, &self.base, home, issue),
            "comment": json::comment(self, &self.base, home, issue, comment),
        });
        json::extend(&mut payload, more.clone());
        self.announce(by, repository, "issue_comment", payload)
    }

    pub(crate) fn announce_installation(
        &mut self,
        by: &Doer,
        id: u64,
        action: &str,
    ) -> Result<(), SimulatorError> {
        let installation = self
            .installations
            .get(&id)
            .ok_or_else(|| SimulatorError::missing(format!("installation {id}")))?;
        let repositories: Vec<Value> = installation
            .repositories
            .iter()
            .filter_map(|id| self.repositories.get(id))
            .map(json::minimal_repository)
            .collect();
        let payload = json!({
            "action": action,
            "installation": json::installation(self, &self.base, installation),
            "repositories": repositories,
            "sender": json::user(&self.base, &by.user),
        });
        let scope = Scope {
            installation: Some(id),
            repository: None,
        };
        self.emit("installation", scope, &payload);
        Ok(())
    }

    /// What GitHub sends when a webhook address is set.
    pub(crate) fn announce_ping(&mut self) {
        let created = iso(self.app.created);
        let hook = self.hook.id;
        let payload = json!({
            "zen": "Keep it logically awesome.",
            "hook_id": hook,
            "hook": {
                "type": "App",
                "id": hook,
                "name": "web",
                "active": true,
                "events": self.app.events,
                "config": {
                    "content_type": "json",
                    "insecure_ssl": "0",
                    "secret": "********",
                    "url": self.hook.targets.first().unwrap_or(&self.base.web),
                },
                "updated_at": created,
                "created_at": created,
                "app_id": self.app.id,
                "deliveries_url": format!("{}/app/hook/deliveries", self.base.api),
            },
        });
        self.emit("ping", Scope::default(), &payload);
    }
}
