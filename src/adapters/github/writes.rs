//! What the writing operations share: a write that must succeed, a replaced text, a deletion, the comparison after it.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::call::Notifies;
use super::transport::{Answer, Request};
use super::{GitHub, answer, wire};
use crate::engine::forge::{ForgeError, Written};
use crate::engine::model::trigger::Repo;

impl GitHub {
    /// A write that must succeed.
    pub(super) async fn post(
        &self,
        repo: &Repo,
        notifies: Notifies,
        method: Method,
        path: &str,
        body: Value,
        what: String,
    ) -> Result<(Request, Answer), ForgeError> {
        let path = self.repo_path(repo, path);
        let (request, answer) = self
            .write(repo.installation, notifies, method, path, Some(body), what)
            .await?;
        answer::judge(&answer, &request)?;
        Ok((request, answer))
    }

    pub(super) async fn replace_body(
        &self,
        repo: &Repo,
        path: &str,
        body: &str,
        what: String,
    ) -> Result<(), ForgeError> {
        let body = self.redactor.redact(body);
        let (request, answer) = self
            .post(
                repo,
                Notifies::Nobody,
                Method::PATCH,
                path,
                json!({"body": body}),
                what,
            )
            .await?;
        // Done whatever the answer says; it only serves the comparison.
        if let Ok(echo) = answer::read::<wire::Echo>(&answer, &request) {
            compare(&body, echo.body.as_deref().unwrap_or_default());
        }
        Ok(())
    }

    /// A deletion; already gone is fine.
    pub(super) async fn delete(
        &self,
        repo: &Repo,
        path: &str,
        what: String,
    ) -> Result<(), ForgeError> {
        let path = self.repo_path(repo, path);
        let (request, answer) = self
            .write(
                repo.installation,
                Notifies::Nobody,
                Method::DELETE,
                path,
                None,
                what,
            )
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        answer::judge(&answer, &request)
    }
}

/// What was written, compared with what was sent.
pub(super) fn written(id: u64, echo: wire::Echo, sent: &str) -> Written {
    let body = echo.body.unwrap_or_default();
    compare(sent, &body);
    Written {
        id,
        url: echo.html_url,
        body,
    }
}

/// GitHub may alter what it stores; whoever reads it back by hash or byte for byte should find a trace of that.
fn compare(sent: &str, stored: &str) {
    if sent != stored {
        tracing::warn!(
            sent_bytes = sent.len(),
            stored_bytes = stored.len(),
            "GitHub stored another text than the one sent"
        );
    }
}
