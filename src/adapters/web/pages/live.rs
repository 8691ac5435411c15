//! `/ui/runs/<id>/output`: what the agents of a run print, as server-sent events. It is read from the
//! store, so that it survives restarts and every replica has it.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use http::{HeaderMap, HeaderName};

use super::super::login::Viewer;
use super::layout::clean;
use super::{Id, Logged, MAX_WATCHING, MAX_WATCHING_OF_ONE, Pages, Problem, Shared};
use crate::engine::model::run::RunId;
use crate::engine::model::time::Millis;
use crate::engine::overview::Output;

/// Pause between two looks at the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Pause after which a comment is sent, so that proxies keep the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Time after which a stream ends. The browser connects again, if its session has not ended and the
/// viewer can still read the repository.
const MAX_TIME: Duration = Duration::from_mins(10);

/// Number of portions that are read at once.
const PORTIONS: u32 = 16;

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A request that watches a run.
struct Watch {
    pages: Arc<Pages>,
    run: RunId,
    /// Number of the last portion that was sent.
    last: i64,
    ready: Vec<Event>,
    has_ended: bool,
    until: Millis,
    _counted: Counted,
}

/// Counts a request that watches a run until it is dropped.
struct Counted {
    pages: Arc<Pages>,
    viewer: Viewer,
}

impl Counted {
    /// Counts a request; `None` if there are too many.
    fn new(pages: &Arc<Pages>, viewer: &Viewer) -> Option<Self> {
        let mut watching = pages
            .watching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let all: usize = watching.values().sum();
        let own = watching.get(viewer).copied().unwrap_or_default();
        let is_person = *viewer != Viewer::Operator;
        if all >= MAX_WATCHING || (is_person && own >= MAX_WATCHING_OF_ONE) {
            return None;
        }
        watching.insert(viewer.clone(), own + 1);
        Some(Self {
            pages: Arc::clone(pages),
            viewer: viewer.clone(),
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let watching = &self.pages.watching;
        let mut watching = watching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = watching.get_mut(&self.viewer) {
            *own -= 1;
            if *own == 0 {
                watching.remove(&self.viewer);
            }
        }
    }
}

/// `GET /ui/runs/<id>/output`. Sends each portion as an event with its number as id; the header
/// `Last-Event-ID` continues after one. An event `state` with the name of the state is sent when the
/// run has ended and everything was sent.
pub(super) async fn watch(
    State(pages): Shared,
    Extension(session): Logged,
    Path(id): Id,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = super::run::find(&pages, &session, &id).await?.view.id;
    let last = match headers.get(LAST_EVENT_ID) {
        None => 0,
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.parse().ok());
            id.ok_or_else(|| Problem::Invalid("Last-Event-ID must be a number".to_owned()))?
        }
    };
    let counted = Counted::new(&pages, session.viewer()).ok_or(Problem::Busy(
        "too many pages watch runs now; close some, or reload this one later",
    ))?;
    let watch = Watch {
        _counted: counted,
        until: pages.clock.now().plus(MAX_TIME),
        pages,
        run,
        last,
        ready: Vec::new(),
        has_ended: false,
    };
    let events = unfold(watch, |mut watch| async {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    // nginx would keep events back until its buffer is full.
    let unbuffered = [(X_ACCEL_BUFFERING, "no")];
    Ok((unbuffered, Sse::new(events).keep_alive(keep_alive)).into_response())
}

impl Watch {
    /// Waits for the next event; `None` at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if !self.ready.is_empty() {
                return Some(self.ready.remove(0));
            }
            if self.has_ended || self.pages.clock.now() >= self.until {
                return None;
            }
            self.read().await?;
            if !self.ready.is_empty() {
                continue;
            }
            let clock = Arc::clone(&self.pages.clock);
            tokio::select! {
                () = clock.sleep(PAUSE) => {}
                () = self.pages.stop.cancelled() => return None,
            }
        }
    }

    /// Reads what is new. Ends the stream, so that the browser connects again, if the store fails.
    async fn read(&mut self) -> Option<()> {
        let history = &self.pages.history;
        let seen = history.watch(&self.run, self.last, PORTIONS).await;
        let (state, output) = seen.ok()??;
        if let Some(last) = output.last() {
            self.last = last.id;
        } else if state.is_terminal() {
            self.has_ended = true;
            self.ready
                .push(Event::default().event("state").data(state.name()));
        }
        self.ready.extend(output.iter().map(portion));
        Some(())
    }
}

fn portion(output: &Output) -> Event {
    // Carriage returns would end lines of the event.
    let text = clean(&output.text.replace("\r\n", "\n"));
    Event::default().id(output.id.to_string()).data(text)
}
