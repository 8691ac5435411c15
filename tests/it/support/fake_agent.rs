//! An agent that follows a script.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use planwright::engine::agent::TurnObserver;
use planwright::engine::agent::{About, Agent, Task};
use planwright::engine::model::agent::{
    Document, Ending, Limit, Report, Session, Spent, Tokens, Wrote,
};
use planwright::engine::model::run::RunId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The documents given to a run.
type GivenDocuments = (RunId, Vec<Document>);

/// The behaviour of one turn.
pub(crate) enum Act {
    /// Succeeds with this text.
    Say(String),
    /// Succeeds with a text computed from the task.
    Answer(Box<dyn Fn(&Task) -> String + Send + Sync>),
    /// Leaves these files and succeeds with a text.
    Write(Vec<(&'static str, String)>, String),
    /// Succeeds with a text and reports a written file that does not exist.
    Claim(Wrote, String),
    /// Leaves this file and exceeds its deadline.
    Cut(Document),
    /// Ends with this ending.
    End(Ending),
    /// Works until it is cancelled, after notifying [`FakeAgent::begun`].
    Hang,
}

type Decide = dyn Fn(&Task) -> Act + Send + Sync;

#[derive(Clone)]
pub(crate) struct FakeAgent {
    script: Arc<Mutex<VecDeque<Act>>>,
    decide: Option<Arc<Decide>>,
    /// Documents that were given to runs.
    pub(crate) given: Arc<Mutex<Vec<GivenDocuments>>>,
    pub(crate) tasks: Arc<Mutex<Vec<Task>>>,
    pub(crate) forgotten: Arc<Mutex<Vec<RunId>>>,
    pub(crate) begun: Arc<Notify>,
    resumes: bool,
    /// Whether the agent has no free capacity.
    pub(crate) full: Arc<AtomicBool>,
    /// Cost of one turn, in millionths of a US dollar.
    pub(crate) price: u64,
}

impl FakeAgent {
    pub(crate) fn new(script: Vec<Act>) -> Self {
        Self {
            script: Arc::new(Mutex::new(script.into())),
            decide: None,
            given: Arc::default(),
            tasks: Arc::default(),
            forgotten: Arc::default(),
            begun: Arc::default(),
            resumes: true,
            full: Arc::default(),
            price: 10_000,
        }
    }

    /// Creates an agent that does what `decide` returns for each turn.
    pub(crate) fn deciding(decide: impl Fn(&Task) -> Act + Send + Sync + 'static) -> Self {
        Self {
            decide: Some(Arc::new(decide)),
            ..Self::new(Vec::new())
        }
    }

    /// Creates an agent that cannot resume sessions.
    pub(crate) fn forgetful(script: Vec<Act>) -> Self {
        Self {
            resumes: false,
            ..Self::new(script)
        }
    }

    /// Returns the prompts so far, one per turn.
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
            writes: true,
        }
    }

    fn full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        self.tasks.lock().unwrap().push(task.clone());
        let act = match &self.decide {
            Some(decide) => Some(decide(task)),
            None => self.script.lock().unwrap().pop_front(),
        };
        let spent = Spent {
            turns: 1,
            tools: 0,
            cost: self.price,
            tokens: Tokens {
                input: 12_400,
                cached: 10_000,
                output: 310,
            },
            session_cost: task.cost_before + self.price,
            millis: 1_500,
        };
        seen.set_spent(spent);
        let success = |text: String| Ending::Success {
            text,
            structured: None,
            denials: 0,
        };
        let mut files = Vec::new();
        let mut wrote = Vec::new();
        let ending = match act {
            Some(Act::Say(text)) => success(text),
            Some(Act::Write(left, text)) => {
                files = left
                    .into_iter()
                    .map(|(path, text)| Document {
                        path: path.to_owned(),
                        text,
                    })
                    .collect();
                success(text)
            }
            Some(Act::Claim(one, text)) => {
                wrote.push(one);
                success(text)
            }
            Some(Act::Answer(make)) => success(make(task)),
            Some(Act::Cut(file)) => {
                files.push(file);
                Ending::Limited(Limit::Deadline)
            }
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
            files,
            wrote,
        }
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        self.given.lock().unwrap().push((run.clone(), documents));
        Ok(())
    }

    async fn given(&self, run: &RunId) -> bool {
        self.given.lock().unwrap().iter().any(|(own, _)| own == run)
    }

    async fn forget(&self, run: &RunId) {
        self.forgotten.lock().unwrap().push(run.clone());
    }

    async fn kept(&self) -> Vec<RunId> {
        let tasks = self.tasks.lock().unwrap();
        tasks.iter().map(|task| task.run.clone()).collect()
    }
}
