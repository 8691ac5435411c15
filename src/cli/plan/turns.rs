//! Runs the planner's turns for `plan SPEC`: saves the state after each step, asks questions, waits
//! after errors and returns the plan.

use crate::engine::settings::Role;
use std::sync::Arc;

use serde_json::json;

use super::output::Target;
use crate::cli::failure::print;
use crate::cli::work::answers::{AnswerSource, Answers};
use crate::cli::work::asking::{self, NoAnswer};
use crate::cli::work::progress::{Progress, Shown};
use crate::cli::work::run_state::Run;
use crate::cli::work::{Project, stopped};
use crate::cli::{Failure, terminal};
use crate::engine::agent::{Agent, Task, TurnObserver};
use crate::engine::clock::Clock;
use crate::engine::knowledge::Knowledge;
use crate::engine::messages;
use crate::engine::model::agent::{Ending, Report, Session};
use crate::engine::model::progress::{Round, TurnResult};
use crate::engine::planner::{self, FILES, PlanFiles, Step, restart};
use crate::engine::prompt::{self, PlanPromptInput, PromptContext};
use crate::engine::settings::{AgentSettings, Backoff};
use crate::engine::steps::planning;
use crate::engine::stop::StopFlag;
use crate::formats::question::Answer;

/// State and settings of the planner.
pub(super) struct Planner<'p> {
    pub(super) project: &'p Project,
    pub(super) agent: Arc<dyn Agent>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) progress: Arc<Progress>,
    pub(super) stop: &'p StopFlag,
    pub(super) guidance: Option<&'p str>,
    pub(super) answers: &'p Answers,
    /// Maximum number of question rounds.
    pub(super) rounds: u32,
    /// Whether open questions are also printed as JSON.
    pub(super) json: bool,
    pub(super) target: &'p Target,
    pub(super) run: Run,
}

impl Planner<'_> {
    /// Writes the agent's documents if they are missing, for example because its directory was
    /// lost.
    ///
    /// # Errors
    /// Returns an error if the documents cannot be written.
    pub(super) async fn provide(&self, knowledge: &Knowledge) -> Result<(), Failure> {
        // Existing documents are not replaced, because earlier prompts refer to them.
        if !self.agent.about().writes || self.agent.given(&self.run.id).await {
            return Ok(());
        }
        let kept = &self.run.kept;
        let laid_out = planning::lay_out(knowledge, kept.research.as_ref(), &kept.work.nonce);
        let given = self.agent.give(&self.run.id, laid_out.documents).await;
        given.map_err(Failure::Failed)
    }

    /// Runs turns until there is a plan.
    ///
    /// # Errors
    /// Returns an error if there is no plan, questions are open, or the command was stopped. The
    /// state is saved before.
    pub(super) async fn work(&mut self) -> Result<PlanFiles, Failure> {
        let before = self.run.kept.work.spent.cost;
        loop {
            if self.stop.token().is_cancelled() {
                return Err(stopped());
            }
            if self.run.kept.work.open_round().is_some() {
                self.ask().await?;
                continue;
            }
            // A cancelled turn is run again when the command is resumed.
            let came = self.run.kept.work.came.take();
            let came = match came.filter(|came| came.report.ending != Ending::Cancelled) {
                Some(came) => came,
                None => self.turn(before).await?,
            };
            if came.report.ending == Ending::Cancelled {
                self.run.save()?;
                return Err(stopped());
            }
            let rounds = planner::rounds_left(&self.run.kept.work, self.rounds);
            let tries = self.project.config.limits.tries;
            let step = planner::turn_ended(&mut self.run.kept.work, came, rounds, tries);
            if let Some(plan) = self.step(step).await? {
                return Ok(plan);
            }
        }
    }

    /// Handles the result of a turn. Returns the plan if there is one; otherwise saves the state
    /// first.
    async fn step(&mut self, step: Step) -> Result<Option<PlanFiles>, Failure> {
        match step {
            Step::Plan { mut files, unasked } => {
                let mut missed = std::mem::take(&mut self.run.kept.work.unasked);
                missed.extend(unasked);
                files.notes.extend(messages::agent::unasked(&missed));
                return Ok(Some(self.finished(files)));
            }
            Step::Rescued { mut files, ending } => {
                let why = messages::agent::ended(&ending).1;
                files.notes.insert(0, messages::planning::cut_short(&why));
                return Ok(Some(self.finished(files)));
            }
            Step::Ask | Step::Again => self.run.save()?,
            Step::Wait(faults) => {
                self.run.save()?;
                let wait = Backoff::default().after(faults);
                let seconds = wait.as_secs();
                let again = format!("the agent failed temporarily; retrying in {seconds} s");
                self.progress.say(&again);
                let token = self.stop.token();
                tokio::select! {
                    () = self.clock.sleep(wait) => {}
                    () = token.cancelled() => {}
                }
            }
            Step::Check { .. } => {
                return Err(Failure::failed(
                    "the planner was given no specification".to_owned(),
                ));
            }
            Step::Obeyed => {
                self.run.save()?;
                return Err(Failure::failed(
                    "the agent followed an instruction in the specification, the project or its \
                     documents, so its output was discarded; look there for text that addresses \
                     agents, then run the same command again",
                ));
            }
            Step::GivenUp { why } => {
                // Write the draft before `restart` discards it.
                let there = match self.run.kept.work.draft.clone() {
                    Some(draft) => {
                        format!("an unfinished draft is in {}", self.target.draft(&draft)?)
                    }
                    None => "nothing was written".to_owned(),
                };
                restart(&mut self.run.kept.work);
                self.run.save()?;
                return Err(Failure::failed(format!(
                    "no plan was written: {why}; {there}; run the same command to try again"
                )));
            }
            Step::Failed(report) => {
                self.run.save()?;
                return Err(agent_failed(&report));
            }
        }
        Ok(None)
    }

    /// Adds the notes on how the plan was made.
    fn finished(&self, mut files: PlanFiles) -> PlanFiles {
        let work = &self.run.kept.work;
        let first = work.brief.as_ref().map(|brief| brief.notes.clone());
        files.notes.splice(0..0, first.unwrap_or_default());
        files.notes.extend(messages::agent::redacted(work.redacted));
        files
            .notes
            .extend(messages::agent::decided_by_agent(&work.without_answer()));
        files
    }

    /// Runs one turn of the agent and saves the state before and after it.
    async fn turn(&mut self, before: u64) -> Result<TurnResult, Failure> {
        let task = self.task(before)?;
        self.run.kept.work.turns += 1;
        self.run.save()?;
        let shown = Shown {
            agent: Arc::clone(&self.agent),
            progress: Arc::clone(&self.progress),
            names: vec!["plan".to_owned()],
        };
        let (seen, _) = TurnObserver::new();
        let report = shown.work(&task, &seen, self.stop.token()).await;
        let work = &mut self.run.kept.work;
        work.add(&report.spent);
        work.redacted = work.redacted.saturating_add(report.redacted);
        let came = TurnResult {
            report,
            session: task.session,
        };
        work.came = Some(came.clone());
        self.run.save()?;
        self.run.kept.work.came = None;
        Ok(came)
    }

    fn task(&self, before: u64) -> Result<Task, Failure> {
        let work = &self.run.kept.work;
        let about = self.agent.about();
        let goes_on = about.resumes && work.session.is_some();
        let brief = work.brief.clone().unwrap_or_default();
        let given = PlanPromptInput {
            title: &brief.title,
            text: &brief.text,
            guidance: self.guidance,
            reports: &brief.reports,
            around: PromptContext {
                nonce: &work.nonce,
                canary: &work.canary,
                documents: &brief.documents,
                inline: &brief.inline,
                project: Some(prompt::Project::Folder(&self.project.shown)),
                writes: about.writes,
            },
            rounds: planner::rounds_left(work, self.rounds),
            most: AgentSettings::default().max_prompt,
        };
        let (session, cost_before) = match work.session.clone().filter(|_| goes_on) {
            Some(id) => (Session::Resume(id), work.session_cost),
            None => (Session::New(uuid::Uuid::new_v4().to_string()), 0),
        };
        let mut limits = self.project.limits();
        if let Some(most) = self.project.config.limits.max_cost {
            let left = most.saturating_sub(work.spent.cost.saturating_sub(before));
            if left == 0 {
                return Err(Failure::failed(format!(
                    "the cost limit of one plan is reached ({}); run the same command to spend \
                     that amount again, or raise limits.max_cost_usd",
                    messages::agent::dollars(most)
                )));
            }
            limits.cost = Some(left);
        }
        Ok(Task {
            run: self.run.id.clone(),
            part: 0,
            system: Role::Planner.instructions().to_owned(),
            prompt: planner::ask(work, &given, goes_on),
            session,
            cost_before,
            limits,
            wanted: FILES.map(str::to_owned).into(),
            files: work.written.clone(),
            model: None,
            repository: None,
        })
    }

    /// Takes answers from the file, and asks the user for the others.
    async fn ask(&mut self) -> Result<(), Failure> {
        if self.rounds == 0 {
            planner::left_open(&mut self.run.kept.work);
            return self.run.save();
        }
        let rounds = self.run.kept.work.rounds.clone();
        let Some((round, earlier)) = rounds.split_last() else {
            return Ok(());
        };
        let first: usize = earlier.iter().map(|round| round.questions.len()).sum();
        let (round, count) = (round.clone(), round.questions.len());
        for at in round.open() {
            let question = &round.questions[at];
            let found = self.answers.find(question, first + at + 1, &rounds)?;
            if let AnswerSource::Answer(answer) = found {
                self.take(at, Some(answer))?;
            } else if found == AnswerSource::Left {
                self.take(at, None)?;
            } else if asking::can_ask() {
                let token = self.stop.token();
                match asking::ask(at, count, question, &token).await {
                    Ok(one) => {
                        self.take(at, one.answer)?;
                        if one.rest {
                            self.leave_rest()?;
                            break;
                        }
                    }
                    Err(NoAnswer::Stopped) => return Err(stopped()),
                    Err(NoAnswer::InputEnded) => return self.wait(first),
                }
            }
        }
        let open = self.run.kept.work.open_round().is_some();
        if open { self.wait(first) } else { Ok(()) }
    }

    fn take(&mut self, at: usize, answer: Option<Answer>) -> Result<(), Failure> {
        planner::answered(&mut self.run.kept.work, at, answer);
        self.run.save()
    }

    /// Leaves all open questions to the agent.
    fn leave_rest(&mut self) -> Result<(), Failure> {
        let open = self.run.kept.work.open_round();
        for at in open.map(|(_, round)| round.open()).unwrap_or_default() {
            self.take(at, None)?;
        }
        Ok(())
    }

    /// Prints the open questions and how to answer them, because no user is present. `first` is the
    /// number of questions in earlier rounds.
    ///
    /// # Errors
    /// Returns [`Failure::Waiting`] if questions are open.
    fn wait(&self, first: usize) -> Result<(), Failure> {
        let Some((_, round)) = self.run.kept.work.open_round() else {
            return Ok(());
        };
        let open = round.open();
        let count = round.questions.len();
        for at in &open {
            eprint!("{}", asking::shown(*at, count, &round.questions[*at]));
        }
        if self.json {
            let text = format!("{:#}\n", waiting(round, first));
            print(&terminal::json(&text))?;
        }
        let questions = match open.len() {
            1 => "1 question is waiting".to_owned(),
            many => format!("{many} questions are waiting"),
        };
        let at = open.first().copied().unwrap_or(0);
        let example = json!({ key(round, at, first): "1" });
        Err(Failure::Waiting(format!(
            "{questions} for answers; run the same command in a terminal, with --answers FILE \
             (e.g. {example}), or with --no-questions to let the agent decide"
        )))
    }
}

/// Returns the key of a question in a file of answers: its header, or else its number.
fn key(round: &Round, at: usize, first: usize) -> String {
    let header = round
        .questions
        .get(at)
        .map(|question| question.header.trim());
    let header = header.filter(|header| !header.is_empty());
    header.map_or_else(|| (first + at + 1).to_string(), ToOwned::to_owned)
}

/// Returns the open questions as JSON.
fn waiting(round: &Round, first: usize) -> serde_json::Value {
    let questions: Vec<_> = round
        .open()
        .into_iter()
        .map(|at| {
            let question = &round.questions[at];
            json!({
                "number": first + at + 1,
                "header": question.header,
                "question": question.question,
                "multi": question.multi,
                "options": question.options,
            })
        })
        .collect();
    json!({ "success": false, "waiting": true, "questions": questions })
}

/// Converts a failed turn to a failure of the command, with the end of the agent's error output.
fn agent_failed(report: &Report) -> Failure {
    let message = match &report.ending {
        Ending::NotStarted(why) => format!("The agent could not be started: {why}"),
        ending => messages::agent::ended(ending).1,
    };
    let stderr = report.stderr.trim();
    let tail: String = match stderr.char_indices().rev().nth(299) {
        Some((at, _)) => stderr[at..].to_owned(),
        None => stderr.to_owned(),
    };
    let said = if tail.is_empty() {
        String::new()
    } else {
        format!(
            "; the end of its error output: {}",
            terminal::one_line(&tail)
        )
    };
    Failure::failed(format!(
        "{}{said}; run the same command again to continue",
        message.trim_end_matches('.')
    ))
}
