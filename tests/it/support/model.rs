//! A stub of Anthropic's Messages API on the loopback interface, which streams scripted answers.
//!
//! It answers only `POST /v1/messages`; all other requests get status 404. All requests are
//! recorded. The stub ends with the runtime of its test.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri, header};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Maximum size of a request body, in bytes.
const MOST_BODY: usize = 32 * 1024 * 1024;
/// Maximum number of requests that are answered, so that a client in a loop is stopped.
const MAX_REQUESTS: usize = 200;
/// Timeout for a request that a test expects.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum length of the text in one event, in characters.
const PIECE: usize = 16 * 1024;

/// One answer of the model.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    blocks: Vec<Value>,
    tokens: u64,
    end: End,
}

#[derive(Debug, Clone)]
enum End {
    /// The message is complete.
    Well,
    /// The connection breaks after the blocks.
    Cut,
    /// Nothing follows the blocks, and the connection stays open.
    Hang,
    /// An error response instead of a message: status and body.
    Refusal(StatusCode, Value),
}

impl Turn {
    fn new(blocks: Vec<Value>) -> Self {
        Self {
            blocks,
            tokens: 20,
            end: End::Well,
        }
    }

    /// Creates an answer with a text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(vec![json!({ "type": "text", "text": text.into() })])
    }

    /// Creates an answer with a call of one tool.
    pub(crate) fn tool(name: &str, input: &Value) -> Self {
        Self::new(vec![
            json!({ "type": "tool_use", "name": name, "input": input }),
        ])
    }

    /// Creates an API error from its HTTP status, its type and its message.
    pub(crate) fn error(status: u16, kind: &str, message: &str) -> Self {
        let mut turn = Self::new(Vec::new());
        turn.end = End::Refusal(
            StatusCode::from_u16(status).unwrap(),
            json!({ "type": "error", "error": { "type": kind, "message": message } }),
        );
        turn
    }

    /// Makes the connection break before the message is complete.
    pub(crate) fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// Makes the answer hang before the message is complete.
    pub(crate) fn hanging(mut self) -> Self {
        self.end = End::Hang;
        self
    }

    /// Sets the number of output tokens.
    pub(crate) fn costing(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// Returns the events of the answer, in the form in which they are sent.
    fn events(&self, number: usize, model: &Value) -> Vec<String> {
        let mut events = vec![json!({ "type": "message_start", "message": {
            "id": format!("msg_{number:04}"), "type": "message", "role": "assistant", "model": model,
            "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": { "input_tokens": 100, "output_tokens": 1 },
        }})];
        for (index, block) in self.blocks.iter().enumerate() {
            let (start, deltas) = parts(block, number, index);
            events.push(
                json!({ "type": "content_block_start", "index": index, "content_block": start }),
            );
            for delta in deltas {
                events
                    .push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            }
            if matches!(self.end, End::Well) {
                events.push(json!({ "type": "content_block_stop", "index": index }));
            }
        }
        if matches!(self.end, End::Well) {
            let calls = self.blocks.iter().any(|block| block["type"] == "tool_use");
            let reason = if calls { "tool_use" } else { "end_turn" };
            events.push(json!({
                "type": "message_delta",
                "delta": { "stop_reason": reason, "stop_sequence": null },
                "usage": { "output_tokens": self.tokens },
            }));
            events.push(json!({ "type": "message_stop" }));
        }
        let line = |event: &Value| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap()
            )
        };
        events.iter().map(line).collect()
    }
}

/// Splits a block into the content of its start event and its deltas.
fn parts(block: &Value, number: usize, index: usize) -> (Value, Vec<Value>) {
    if block["type"] == "tool_use" {
        let start = json!({
            "type": "tool_use", "id": format!("toolu_{number:04}{index}"), "name": block["name"], "input": {},
        });
        let input = block["input"].to_string();
        return (
            start,
            vec![json!({ "type": "input_json_delta", "partial_json": input })],
        );
    }
    let text: Vec<char> = block["text"].as_str().unwrap().chars().collect();
    let pieces = text
        .chunks(PIECE)
        .map(|piece| json!({ "type": "text_delta", "text": piece.iter().collect::<String>() }));
    (json!({ "type": "text", "text": "" }), pieces.collect())
}

/// A request of a client.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method and path, such as `POST /v1/messages?beta=true`.
    pub(crate) line: String,
    /// The request headers.
    pub(crate) headers: HeaderMap,
    /// The request body; null if it is not JSON.
    pub(crate) body: Value,
}

impl Asked {
    /// Returns all system texts, joined by line breaks.
    pub(crate) fn system(&self) -> String {
        text_of(&self.body["system"])
    }

    /// Returns the texts of all user messages, including attached files and tool results, joined by
    /// line breaks.
    pub(crate) fn said(&self) -> String {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let users = messages.filter(|message| message["role"] == "user");
        let texts: Vec<_> = users.map(|message| text_of(&message["content"])).collect();
        texts.join("\n")
    }

    /// Returns the number of tool results in the request, which shows how many tool calls of the
    /// script are done.
    pub(crate) fn results(&self) -> usize {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let blocks = messages.filter_map(|message| message["content"].as_array());
        let results = blocks.flatten();
        results
            .filter(|block| block["type"] == "tool_result")
            .count()
    }

    /// Returns the sorted names of the tools that the model may call.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let mut names: Vec<_> = tools.filter_map(|tool| tool["name"].as_str()).collect();
        names.sort_unstable();
        names
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["type"].as_str() {
                Some("tool_result") => text_of(&block["content"]),
                _ => text_of(&block["text"]),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Computes the answer to a request.
type Decision = Box<dyn Fn(&Asked) -> Turn + Send + Sync>;

struct Shared {
    script: Mutex<VecDeque<Turn>>,
    otherwise: Option<Decision>,
    asked: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
}

/// A running stub.
pub(crate) struct Model {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: AbortHandle,
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Model {
    /// Answers with `turns` in order. Further requests get an error that clients do not retry.
    pub(crate) async fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::serve(turns.into_iter().collect(), None).await
    }

    /// Gives the same answer to every request.
    pub(crate) async fn always(turn: Turn) -> Self {
        Self::deciding(move |_| turn.clone()).await
    }

    /// Answers each request with the result of `decide`, which can tell several concurrent clients
    /// apart by their requests.
    pub(crate) async fn deciding(decide: impl Fn(&Asked) -> Turn + Send + Sync + 'static) -> Self {
        Self::serve(VecDeque::new(), Some(Box::new(decide))).await
    }

    async fn serve(script: VecDeque<Turn>, otherwise: Option<Decision>) -> Self {
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            otherwise,
            asked: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(MOST_BODY))
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            shared,
            address,
            server: server.abort_handle(),
        }
    }

    /// Returns `http://127.0.0.1:PORT`, the base URL of the API for clients.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Waits until `count` requests have arrived.
    pub(crate) async fn wait_for(&self, count: usize) {
        let mut seen = self.shared.count.subscribe();
        let come = seen.wait_for(|now| *now >= count);
        tokio::time::timeout(PATIENCE, come)
            .await
            .unwrap_or_else(|_| panic!("request number {count} did not come"))
            .unwrap();
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let model = body["model"].clone();
    let own = Asked {
        line: format!("{method} {uri}"),
        headers,
        body,
    };
    let number = {
        let mut asked = shared.asked.lock().unwrap();
        asked.push(own.clone());
        asked.len()
    };
    shared.count.send_replace(number);
    if method != Method::POST || uri.path() != "/v1/messages" || number > MAX_REQUESTS {
        return refusal(
            StatusCode::NOT_FOUND,
            &json!({ "type": "error", "error": { "type": "not_found_error", "message": "not here" } }),
        );
    }
    let next = shared.script.lock().unwrap().pop_front();
    let decided = || shared.otherwise.as_ref().map(|decide| decide(&own));
    let Some(turn) = next.or_else(decided) else {
        return refusal(
            StatusCode::FORBIDDEN,
            &json!({ "type": "error", "error": { "type": "permission_error", "message": "the script is over" } }),
        );
    };
    if let End::Refusal(status, body) = &turn.end {
        return refusal(*status, body);
    }
    let events = stream::iter(turn.events(number, &model)).map(Ok::<_, std::io::Error>);
    let response = Response::builder().header(header::CONTENT_TYPE, "text/event-stream");
    let body = match turn.end {
        End::Cut => {
            let cut = stream::once(async { Err(std::io::Error::other("cut")) });
            Body::from_stream(events.chain(cut))
        }
        End::Hang => {
            let never = stream::pending::<Result<String, std::io::Error>>();
            Body::from_stream(events.chain(never))
        }
        _ => Body::from_stream(events),
    };
    response.body(body).unwrap()
}

fn refusal(status: StatusCode, body: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}
