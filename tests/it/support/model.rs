//! A stub of the model's API on the loopback: Anthropic's Messages API as a stream of events, answered from a script.
//!
//! It answers `POST /v1/messages` only; whatever else is asked for gets 404 and is recorded like the rest. It ends with
//! the runtime of its test.

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

/// Longest request that is read, in bytes.
const MOST_BODY: usize = 32 * 1024 * 1024;
/// Most requests that are answered: a client that never stops asking is stopped.
const MOST_REQUESTS: usize = 200;
/// Longest wait for a request that a test expects.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest piece of text in one event.
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
    /// Nothing comes after the blocks, and the connection stays.
    Hang,
    /// No message at all: a status and a body.
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

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(vec![json!({ "type": "text", "text": text.into() })])
    }

    /// A call of one tool.
    pub(crate) fn tool(name: &str, input: &Value) -> Self {
        Self::new(vec![
            json!({ "type": "tool_use", "name": name, "input": input }),
        ])
    }

    /// An error of the API: its HTTP status, its type, its text.
    pub(crate) fn error(status: u16, kind: &str, message: &str) -> Self {
        let mut turn = Self::new(Vec::new());
        turn.end = End::Refusal(
            StatusCode::from_u16(status).unwrap(),
            json!({ "type": "error", "error": { "type": kind, "message": message } }),
        );
        turn
    }

    /// The same, but the connection breaks before the message is complete.
    pub(crate) fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// The same, but nothing comes after it and the message is never complete.
    pub(crate) fn hanging(mut self) -> Self {
        self.end = End::Hang;
        self
    }

    /// The same, at the price of so many tokens of output.
    pub(crate) fn costing(mut self, tokens: u64) -> Self {
        self.tokens = tokens;
        self
    }

    /// The events of the whole answer, as they are sent, up to its end.
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

/// How a block begins, and what follows piece by piece.
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

/// What a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `POST /v1/messages?beta=true`.
    pub(crate) line: String,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    /// Its body; null where it is not JSON.
    pub(crate) body: Value,
}

impl Asked {
    /// All system texts, one after the other.
    pub(crate) fn system(&self) -> String {
        text_of(&self.body["system"])
    }

    /// The texts of what users said, attached files among them, one after the other.
    pub(crate) fn said(&self) -> String {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let users = messages.filter(|message| message["role"] == "user");
        let texts: Vec<_> = users.map(|message| text_of(&message["content"])).collect();
        texts.join("\n")
    }

    /// How many results of tools it holds: how far the turns of the model have come.
    pub(crate) fn results(&self) -> usize {
        let messages = self.body["messages"].as_array().into_iter().flatten();
        let blocks = messages.filter_map(|message| message["content"].as_array());
        let results = blocks.flatten();
        results
            .filter(|block| block["type"] == "tool_result")
            .count()
    }

    /// Names of the tools that the model may call, sorted.
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

/// What is answered to a request.
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
    /// Answers `turns` in order; whoever asks more often gets an error that is not worth another try.
    pub(crate) async fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::serve(turns.into_iter().collect(), None).await
    }

    /// Gives every request the same answer.
    pub(crate) async fn always(turn: Turn) -> Self {
        Self::deciding(move |_| turn.clone()).await
    }

    /// Answers each request as `decide` says: several clients at once are told apart by what they ask.
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

    /// `http://127.0.0.1:PORT`, what a client takes as the root of the API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked for so far, in order.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Waits until `count` requests have come.
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
    if method != Method::POST || uri.path() != "/v1/messages" || number > MOST_REQUESTS {
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
