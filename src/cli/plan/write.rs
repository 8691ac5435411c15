//! `planwright plan SPEC`: lets an agent write a plan for a specification.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::output::Target;
use super::spec_file::SpecFile;
use super::turns::Planner;
use crate::adapters::clock::SystemClock;
use crate::cli::work::answers::Answers;
use crate::cli::work::progress::Progress;
use crate::cli::work::run_state::{Begun, Run, hash};
use crate::cli::work::topics::{self, Researchers};
use crate::cli::work::{
    AGENT, Done, EXIT_CODES, Project, Where, agent, dollars, note_on_stderr, stop_on_signal,
};
use crate::cli::{Failure, block_on};
use crate::engine::agent::Agent;
use crate::engine::clock::Clock;
use crate::engine::messages::planning as sentences;
use crate::engine::model::progress::Brief;
use crate::engine::planner::renew_words;
use crate::engine::steps::planning;
use crate::engine::stop::StopFlag;
use crate::formats::specification::complexity;

const HELP: &str = "\
SPEC is a file, or a name in .planwright/specs or .spektacular/specs; `.md` is
optional (give a specification called `get` or `list` as ./get). The plan is
written to .planwright/plans/NAME/plan.md, with context.md, research.md and
reports/ beside it if they have content. Only files that the agent wrote and
that pass the checks become a plan, never its messages; a plan that fails the
checks is kept in plan.draft.md. Paths are printed on standard output,
everything else on standard error.

Questions:
  In a terminal, questions are asked interactively. Otherwise they are printed,
  and the same command with --answers continues. The file is JSON or TOML; each
  answer is what you would type: a number, several numbers, a label, free text,
  or nothing to leave the question to the agent.
    {\"Place\": \"1\", \"Which formats?\": [1, 3], \"3\": \"free text\"}
  Questions are identified by their text, their header, or their number over all
  rounds; a list holds answers in order (TOML: answers = [\"1\", \"free text\"]).
  If an answer matches no question, the exit code is 1, after the plan was
  written.

JSON fields:
  success, plan, files, kept    paths: the plan, all written files, the backup
  title, notes, turns, cost_usd
On failure: success false, error, resumable. If questions are waiting: success
false, waiting true, questions with number, header, question, multi and options.";

const EXAMPLES: &str = "\
Examples:
  planwright plan csv-export
  planwright plan csv-export --research \"how reports are stored; CSV library\"
  planwright plan docs/wish.md --output plans/wish --guidance \"no new crate\"
  planwright plan csv-export --answers answers.json --json
  planwright plan csv-export --again --no-questions";

/// Returns the help text below the options.
pub(super) fn help() -> String {
    format!("{HELP}\n\n{AGENT}\n\n{EXIT_CODES}\n\n{EXAMPLES}")
}

/// The plan of a specification
#[derive(Debug, Args)]
pub(super) struct Write {
    /// The specification: a file, or a name in .planwright/specs
    #[arg(value_name = "SPEC")]
    specification: Option<String>,
    /// Write the plan into this folder
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Answers to the agent's questions, JSON or TOML
    #[arg(long, value_name = "FILE", conflicts_with = "no_questions")]
    answers: Option<PathBuf>,
    /// Topics to research first, separated by `;`
    #[arg(long, value_name = "TOPICS")]
    research: Option<String>,
    /// Guidance for the agent
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    guidance: String,
    #[command(flatten)]
    place: Where,
    /// Overwrite an existing plan; a backup is kept as plan.md.bak
    #[arg(long)]
    again: bool,
    /// Do not ask questions; the agent decides
    #[arg(long)]
    no_questions: bool,
}

/// Everything that is read and checked before the agent starts.
struct Prepared {
    project: Project,
    spec: SpecFile,
    answers: Answers,
    topics: Vec<String>,
    ready: agent::Ready,
    target: Target,
    /// Tier and model, for messages.
    model: String,
}

impl Write {
    pub(super) fn run(self) -> Result<(), Failure> {
        let kept = Cell::new(false);
        let done = self.prepare().and_then(|prepared| {
            // `block_on` uses a new runtime, so tasks left running end with it.
            block_on(self.work(prepared, &kept))
        });
        match done {
            Ok((done, last)) => {
                self.place.finish(Ok(done), false)?;
                last
            }
            Err(failure) => self.place.finish(Err(failure), kept.get()),
        }
    }

    fn prepare(&self) -> Result<Prepared, Failure> {
        let Some(named) = &self.specification else {
            let why = "name a specification: a file, or a name in .planwright/specs; see `planwright plan --help`";
            return Err(Failure::Usage(why.to_owned()));
        };
        let project = self.place.project()?;
        let spec = SpecFile::read(named, &project)?;
        let answers = self.answers.as_deref().map(Answers::read).transpose()?;
        let topics = match &self.research {
            Some(texts) => topics::read(texts, &topics::settings(&project))?,
            None => Vec::new(),
        };
        let models = &project.config.models;
        let tier = models.tier(complexity(&spec.specification));
        let model = models.model(tier);
        let ready = agent::ready(&project, model)?;
        let said = match model {
            Some(model) => format!("{} specification, model {model}", tier.name()),
            None => format!("{} specification", tier.name()),
        };
        let target = Target::open(self.output.as_deref(), &project, &spec.name)?;
        if !self.again {
            target.must_be_free()?;
        }
        Ok(Prepared {
            spec,
            answers: answers.unwrap_or_default(),
            topics,
            ready,
            target,
            model: said,
            project,
        })
    }

    /// Runs the research if topics are given, then the agent's turns, and writes the files. The
    /// inner result is the command's result after [`Done`] is printed.
    async fn work(
        &self,
        prepared: Prepared,
        is_kept: &Cell<bool>,
    ) -> Result<(Done, Result<(), Failure>), Failure> {
        let Prepared {
            project,
            spec,
            answers,
            topics,
            ready,
            target,
            model,
        } = prepared;
        let stop = stop_on_signal();
        let specification = &spec.specification;
        let asked_for = [&specification.title, specification.text(), &self.guidance];
        let content = hash(
            asked_for
                .into_iter()
                .chain(topics.iter().map(String::as_str)),
        );
        let place = format!("plan {}", spec.path);
        let (mut run, begun) = Run::open(&project, &place, &content, &topics)?;
        is_kept.set(true);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let local: Arc<dyn Agent> = ready.open(&run.agents, &clock)?;
        let progress = Arc::new(Progress::new());
        let name = local.about().name;
        progress.say(&match begun {
            Begun::New => format!("{} ({model}), with {name}", spec.path),
            Begun::Again => format!("{} ({model}), with {name}: resuming", spec.path),
            Begun::Changed => format!(
                "{} ({model}), with {name}: the specification, guidance or topics changed; starting over",
                spec.path
            ),
        });
        let known = project.knowledge()?;
        if run.kept.work.brief.is_none() {
            let researchers = Researchers {
                project: &project,
                agent: Arc::clone(&local),
                clock: Arc::clone(&clock),
                progress: Arc::clone(&progress),
                knowledge: &known,
                place: Some((&specification.title, specification.text())),
            };
            self.begin(&mut run, &researchers, &spec, &topics, &stop)
                .await?;
        }
        let mut planner = Planner {
            project: &project,
            agent: local,
            clock,
            progress: Arc::clone(&progress),
            stop: &stop,
            guidance: Some(self.guidance.trim()).filter(|text| !text.is_empty()),
            answers: &answers,
            rounds: if self.no_questions {
                0
            } else {
                project.config.limits.question_rounds
            },
            json: self.place.json,
            target: &target,
            run,
        };
        planner.provide(&known).await?;
        let plan = planner.work().await?;
        let Planner { run, agent, .. } = planner;
        let research = run.kept.research.as_ref();
        let (files, kept) = target.write(&plan.document, &plan.attached, research)?;
        for path in &kept {
            note_on_stderr(&format!("the previous version is kept as {path}"));
        }
        for note in &plan.notes {
            note_on_stderr(note);
        }
        let mut spent = run.kept.work.spent;
        spent.add(
            &run.kept
                .research
                .as_ref()
                .map(crate::engine::model::research::Research::spent)
                .unwrap_or_default(),
        );
        let last = answers.all_used(&run.kept.work.rounds);
        // Drop the agent first: its lock and its processes must end before its directory is
        // removed.
        drop(agent);
        run.done();
        let done = Done {
            text: files.join("\n") + "\n",
            json: json!({
                "success": true,
                "plan": files.first(),
                "files": files,
                "kept": kept,
                "title": plan.title,
                "notes": plan.notes,
                "turns": spent.turns,
                "cost_usd": dollars(spent.cost),
            }),
        };
        Ok((done, last))
    }

    /// Runs the research and saves the brief for the planner's first prompt.
    async fn begin(
        &self,
        run: &mut Run,
        with: &Researchers<'_>,
        spec: &SpecFile,
        topics: &[String],
        stop: &StopFlag,
    ) -> Result<(), Failure> {
        if !topics.is_empty() {
            let research = with.work(run, topics, stop).await?;
            if !research.tally().passes() {
                return Err(topics::too_few(&research));
            }
        }
        renew_words(&mut run.kept.work);
        let specification = &spec.specification;
        let mut notes = Vec::new();
        notes.extend(sentences::placeholders(&specification.placeholders));
        let nonce = &run.kept.work.nonce;
        let laid_out = planning::lay_out(with.knowledge, run.kept.research.as_ref(), nonce);
        let mut inline = String::new();
        if with.agent.about().writes {
            let given = with.agent.give(&run.id, laid_out.documents).await;
            given.map_err(Failure::Failed)?;
        } else {
            inline = planning::inline(&laid_out.documents);
        }
        run.kept.work.brief = Some(Brief {
            title: specification.title.clone(),
            text: specification.text().to_owned(),
            documents: laid_out.index,
            inline,
            reports: laid_out.reports,
            notes,
            ready: true,
        });
        run.save()
    }
}
