//! `planwright research`: lets agents research topics in parallel and writes a report for each.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::work::progress::Progress;
use super::work::run_state::{Begun, Run, hash};
use super::work::topics::{self, Researchers, too_few};
use super::work::{
    AGENT, Done, EXIT_CODES, Project, Where, agent, dollars, open_or_create, stop_on_signal,
};
use super::{Failure, block_on, terminal};
use crate::adapters::clock::SystemClock;
use crate::adapters::project_folder::ProjectFolder;
use crate::engine::agent::Agent;
use crate::engine::clock::Clock;
use crate::engine::messages;
use crate::engine::model::research::{Research, Topic};
use crate::formats::report::{next_number, report_file};

const HELP: &str = "\
Reports are written to .planwright/research/NNN-topic.md, numbered after the
existing ones. Only files count as reports; a topic without one is tried three
times, with stricter instructions. After that, a replacement is assembled from
the agent's output and marked as degraded; it does not count as a report. The
command succeeds if at least half of the topics have a report. Paths are printed
on standard output, everything else on standard error.

JSON fields:
  success, reports    for each topic: topic, state, file (or null), note (or
                      null)
  enough              whether at least half of the topics have a report
  turns, cost_usd
On failure without reports: success false, error, resumable.";

const EXAMPLES: &str = "\
Examples:
  planwright research \"how retries work here\"
  planwright research \"how retries work; which queue fits\" \"what the logs hold\"
  planwright research \"how retries work\" --output docs/research --json";

fn help() -> String {
    format!("{HELP}\n\n{AGENT}\n\n{EXIT_CODES}\n\n{EXAMPLES}")
}

/// Default directory for the reports, relative to the project.
const FOLDER: &str = ".planwright/research";

/// Research topics with agents, one each, and write reports
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(super) struct ResearchTopics {
    /// Topics, one sentence each, as arguments or separated by `;`
    #[arg(value_name = "TOPIC", required = true)]
    topics: Vec<String>,
    /// Write the reports into this folder
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: Where,
}

impl ResearchTopics {
    pub(super) fn run(self) -> Result<(), Failure> {
        let kept = Cell::new(false);
        let done = self.prepare().and_then(|(project, topics, ready)| {
            block_on(self.work(&project, &topics, ready, &kept))
        });
        match done {
            Ok((done, last)) => {
                self.place.finish(Ok(done), false)?;
                last
            }
            Err(failure) => self.place.finish(Err(failure), kept.get()),
        }
    }

    fn prepare(&self) -> Result<(Project, Vec<String>, agent::Ready), Failure> {
        let project = self.place.project()?;
        let topics = topics::read(&self.topics.join("\n"), &topics::settings(&project))?;
        let model = project.config.models.default.as_str();
        let ready = agent::ready(&project, (!model.is_empty()).then_some(model))?;
        Ok((project, topics, ready))
    }

    /// Runs the research and writes the reports. The inner result is the command's result after
    /// [`Done`] is printed.
    async fn work(
        &self,
        project: &Project,
        topics: &[String],
        ready: agent::Ready,
        is_kept: &Cell<bool>,
    ) -> Result<(Done, Result<(), Failure>), Failure> {
        let stop = stop_on_signal();
        let all = hash(topics.iter().map(String::as_str));
        let place = format!("research {}", topics.join("; "));
        let (mut run, begun) = Run::open(project, &place, &all, &[])?;
        is_kept.set(true);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let local: Arc<dyn Agent> = ready.open(&run.agents, &clock)?;
        let progress = Arc::new(Progress::new());
        let going_on = if begun == Begun::Again {
            ": resuming"
        } else {
            ""
        };
        let count = match topics.len() {
            1 => "1 topic".to_owned(),
            many => format!("{many} topics"),
        };
        progress.say(&format!("{count}, with {}{going_on}", local.about().name));
        let known = project.knowledge()?;
        let researchers = Researchers {
            project,
            agent: local,
            clock,
            progress: Arc::clone(&progress),
            knowledge: &known,
            place: None,
        };
        let research = researchers.work(&mut run, topics, &stop).await?;
        let files = self.write(project, &mut run, &research)?;
        progress.say(&table(&research, &files));
        progress.say(&messages::research::reduced(&research).replace("**", ""));
        drop(researchers);
        let enough = research.tally().passes();
        let last = if enough {
            run.done();
            Ok(())
        } else {
            Err(too_few(&research))
        };
        Ok((done(&research, &files, enough), last))
    }

    /// Writes the new reports in the order of the topics. Returns the path of each topic's file, if
    /// there is one.
    fn write(
        &self,
        project: &Project,
        run: &mut Run,
        research: &Research,
    ) -> Result<Vec<Option<String>>, Failure> {
        let (folder, within, shown) = if let Some(output) = &self.output {
            (open_or_create(output)?, String::new(), output.clone())
        } else {
            project.folder.make_folder(FOLDER)?;
            let folder = ProjectFolder::open(&project.root)?;
            (folder, format!("{FOLDER}/"), project.seen_from_here(FOLDER))
        };
        let listed = if within.is_empty() { "." } else { FOLDER };
        run.kept.written.resize(research.topics.len(), None);
        for (at, topic) in research.topics.iter().enumerate() {
            let Some(report) = &topic.report else {
                continue;
            };
            if let Some(name) = &run.kept.written[at] {
                let path = format!("{within}{name}");
                // The report may have been degraded before, and the file may have been changed or
                // moved.
                let there = folder.read(&path, MAX_BYTES)?;
                if there.as_ref() != Some(report) && topic.state.is_success() {
                    if there.is_some() {
                        folder.set_aside(&path)?;
                    }
                    folder.overwrite(&path, report)?;
                }
                continue;
            }
            let name = loop {
                let names = folder.names(listed)?;
                let number = next_number(names.iter().map(String::as_str));
                let name = report_file(&number, &topic.topic);
                if folder.write_new(&format!("{within}{name}"), report)? {
                    break name;
                }
            };
            run.kept.written[at] = Some(name);
            run.save()?;
        }
        let files = run.kept.written.iter();
        let path = |name: &String| shown.join(name).display().to_string();
        Ok(files.map(|name| name.as_ref().map(path)).collect())
    }
}

/// Maximum size of an existing report that is compared with the new one, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the topics with their states and files as a table.
fn table(research: &Research, files: &[Option<String>]) -> String {
    let rows: Vec<String> = (1..)
        .zip(research.topics.iter().zip(files))
        .map(|(number, (topic, file))| {
            let file = file.as_deref().unwrap_or("-");
            let topic_line = terminal::one_line(&topic.topic);
            format!(
                "  {number}. {topic_line}\n     {}: {file}{}",
                topics::state(topic),
                why(topic)
            )
        })
        .collect();
    format!("{}:\n{}", research.tally(), rows.join("\n"))
}

fn why(topic: &Topic) -> String {
    let note = topic.note.as_deref().map(terminal::one_line);
    note.map_or_else(String::new, |note| format!("\n     {note}"))
}

fn done(research: &Research, files: &[Option<String>], enough: bool) -> Done {
    let reports: Vec<_> = research
        .topics
        .iter()
        .zip(files)
        .map(|(topic, file)| {
            json!({"topic": topic.topic, "state": topic.state, "file": file, "note": topic.note})
        })
        .collect();
    let spent = research.spent();
    Done {
        text: files
            .iter()
            .flatten()
            .fold(String::new(), |text, file| text + file + "\n"),
        json: json!({
            "success": enough,
            "enough": enough,
            "reports": reports,
            "turns": spent.turns,
            "cost_usd": dollars(spent.cost),
        }),
    }
}
