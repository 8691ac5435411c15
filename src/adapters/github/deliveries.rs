//! GitHub's log of the App's deliveries.
//!
//! <https://docs.github.com/en/rest/apps/webhooks>

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::header::LINK;
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::auth::{AppKey, Credentials};
use super::client::PER_PAGE;
use super::response::Response;
use super::transport::Request;
use super::{GitHub, link};
use crate::engine::forge::ForgeError;
use crate::engine::intake::Authentic;
use crate::engine::model::intake::{LoggedAttempt, Source};
use crate::engine::model::time::Millis;
use crate::engine::sweep::{DeliveryLog, LogPage};

/// What is requested, in error messages.
const LOG: &str = "the App's delivery log";

/// A delivery read from the log. Only [`DeliveryLog::delivery`] creates one: it is authentic
/// because GitHub's API returned it to the App.
#[derive(Debug)]
pub struct LoggedDelivery {
    guid: String,
    event: String,
    body: Bytes,
}

impl Authentic for LoggedDelivery {
    fn source(&self) -> Source {
        Source::DeliveryLog
    }

    fn guid(&self) -> &str {
        &self.guid
    }

    fn event(&self) -> &str {
        &self.event
    }

    fn body(&self) -> &Bytes {
        &self.body
    }
}

/// An item of `GET /app/hook/deliveries`.
#[derive(Debug, Deserialize)]
struct Item {
    id: u64,
    guid: String,
    delivered_at: DateTime<Utc>,
    event: String,
    #[serde(default)]
    action: Option<String>,
    #[serde(default)]
    status_code: i64,
    #[serde(default)]
    repository_id: Option<u64>,
}

impl From<Item> for LoggedAttempt {
    fn from(item: Item) -> Self {
        Self {
            id: item.id,
            guid: item.guid,
            event: item.event,
            action: item.action,
            delivered: item.delivered_at.into(),
            // Zero is an attempt that is not answered yet.
            status_code: u16::try_from(item.status_code).unwrap_or_default(),
            repo: item.repository_id,
        }
    }
}

/// `GET /app/hook/deliveries/{id}`.
#[derive(Debug, Deserialize)]
struct Detail {
    guid: String,
    event: String,
    request: DetailRequest,
}

#[derive(Debug, Deserialize)]
struct DetailRequest {
    payload: Box<RawValue>,
}

#[async_trait]
impl DeliveryLog for GitHub {
    type Delivery = LoggedDelivery;

    fn time(&self) -> Millis {
        self.api.github_time()
    }

    async fn page(&self, cursor: Option<&str>) -> Result<LogPage, ForgeError> {
        let mut path = self
            .api
            .path(&format!("/app/hook/deliveries?per_page={PER_PAGE}"));
        if let Some(cursor) = cursor {
            path.push_str("&cursor=");
            path.push_str(&link::encode(cursor));
        }
        let request = Request::get(path, LOG.to_owned());
        let response = self.api.call_as_app(self.app_key()?, &request).await?;
        let response = response.error_for_status()?;
        let items: Vec<Item> = response.json()?;
        Ok(LogPage {
            next: next_cursor(&self.api.api_url, &response),
            attempts: items.into_iter().map(LoggedAttempt::from).collect(),
        })
    }

    async fn delivery(&self, attempt: &LoggedAttempt) -> Result<LoggedDelivery, ForgeError> {
        let path = self
            .api
            .path(&format!("/app/hook/deliveries/{}", attempt.id));
        let request = Request::get(path, format!("the delivery {}", attempt.guid));
        let response = self.api.call_as_app(self.app_key()?, &request).await?;
        let detail: Detail = response.error_for_status()?.json()?;
        Ok(LoggedDelivery {
            guid: detail.guid,
            event: detail.event,
            body: Bytes::from(String::from(Box::<str>::from(detail.request.payload))),
        })
    }
}

impl GitHub {
    /// Returns the key with which requests are sent as the App itself.
    pub(super) fn app_key(&self) -> Result<&AppKey, ForgeError> {
        match &self.api.credentials {
            Credentials::App(key) => Ok(key),
            Credentials::Person(_) | Credentials::Anonymous => Err(ForgeError::Unauthorized {
                what: LOG.to_owned(),
                message: "only an App has one".to_owned(),
            }),
        }
    }
}

/// Returns the id of the comment that a delivery is about.
pub(super) fn commented_in(delivery: &LoggedDelivery) -> Option<u64> {
    #[derive(Deserialize)]
    struct Payload {
        comment: Comment,
    }
    #[derive(Deserialize)]
    struct Comment {
        id: u64,
    }
    let payload: Payload = serde_json::from_slice(&delivery.body).ok()?;
    Some(payload.comment.id)
}

/// Returns the cursor in the link to the next page.
fn next_cursor(api_url: &Url, response: &Response) -> Option<String> {
    let mut links = response.headers.get_all(LINK).iter();
    let next = links.find_map(|header| link::next_page(header.to_str().ok()?))?;
    let next = api_url.join(next).ok()?;
    let mut query = next.query_pairs();
    query.find_map(|(name, value)| (name == "cursor").then(|| value.into_owned()))
}
