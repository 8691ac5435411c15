//! An agent that says what the test wrote down for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use planwright::engine::agent::{About, Agent, Ending, Report, Session, Spent, Task};
use planwright::engine::run::RunId;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// What one turn does.
pub(crate) enum Act {
    /// Succeeds with this text.
    Say(String),
    /// The same, made from what it was asked.
    Answer(Box<dyn Fn(&Task) -> String + Send + Sync>),
    /// Ends like this.
    End(Ending),
    /// Works until it is told to stop; `begun` is told.
    Hang,
}

#[derive(Clone)]
pub(crate) struct FakeAgent {
    script: Arc<Mutex<VecDeque<Act>>>,
    pub(crate) tasks: Arc<Mutex<Vec<Task>>>,
    pub(crate) forgotten: Arc<Mutex<Vec<RunId>>>,
    pub(crate) begun: Arc<Notify>,
    resumes: bool,
    /// Others use it.
    pub(crate) full: Arc<AtomicBool>,
    /// Cost of one turn in millionths of a dollar.
    pub(crate) price: u64,
}

impl FakeAgent {
    pub(crate) fn new(script: Vec<Act>) -> Self {
        Self {
            script: Arc::new(Mutex::new(script.into())),
            tasks: Arc::default(),
            forgotten: Arc::default(),
            begun: Arc::default(),
            resumes: true,
            full: Arc::default(),
            price: 10_000,
        }
    }

    /// The same without sessions.
    pub(crate) fn forgetful(script: Vec<Act>) -> Self {
        Self {
            resumes: false,
            ..Self::new(script)
        }
    }

    /// What it was asked, one entry a turn.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let tasks = self.tasks.lock().unwrap();
        tasks.iter().map(|task| task.prompt.clone()).collect()
    }

    pub(crate) fn left(&self) -> usize {
        self.script.lock().unwrap().len()
    }
}

#[async_trait]
impl Agent for FakeAgent {
    fn about(&self) -> About {
        About {
            name: "Testy".to_owned(),
            resumes: self.resumes,
        }
    }

    fn full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    async fn work(
        &self,
        task: &Task,
        seen: &watch::Sender<Spent>,
        stop: CancellationToken,
    ) -> Report {
        self.tasks.lock().unwrap().push(task.clone());
        let act = self.script.lock().unwrap().pop_front();
        let spent = Spent {
            turns: 1,
            tools: 0,
            cost: self.price,
            session_cost: task.cost_before + self.price,
            millis: 1_500,
        };
        seen.send_replace(spent);
        let success = |text: String| Ending::Success {
            text,
            structured: None,
            denials: 0,
        };
        let ending = match act {
            Some(Act::Say(text)) => success(text),
            Some(Act::Answer(make)) => success(make(task)),
            Some(Act::End(ending)) => ending,
            Some(Act::Hang) => {
                self.begun.notify_one();
                stop.cancelled().await;
                Ending::Cancelled
            }
            None => panic!("the agent was asked once more: {}", task.prompt),
        };
        let texts = match &ending {
            Ending::Success { text, .. } => vec![text.clone()],
            _ => Vec::new(),
        };
        let (Session::New(id) | Session::Resume(id)) = &task.session;
        Report {
            ending,
            texts,
            session: Some(id.clone()),
            spent,
            stderr: String::new(),
            redacted: 0,
        }
    }

    async fn forget(&self, run: &RunId) {
        self.forgotten.lock().unwrap().push(run.clone());
    }

    async fn kept(&self) -> Vec<RunId> {
        let tasks = self.tasks.lock().unwrap();
        tasks.iter().map(|task| task.run.clone()).collect()
    }
}
