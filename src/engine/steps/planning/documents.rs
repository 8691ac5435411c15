//! The repository's documents and the research reports, as agents find them in their working directory.

use std::sync::Arc;

use super::super::super::agent::{Agent, Document};
use super::super::super::code::{Code, Failure};
use super::super::super::effects::Stop;
use super::super::super::knowledge::{Knowledge, Limits};
use super::super::super::prompt::{self, Handed, Indexed};
use super::super::super::research::{Research, State};
use super::super::super::say::planning as sentences;
use super::super::enrich::work;
use super::super::{Context, knowledge, report};
use crate::formats::report as reports;

/// Folder of the repository's documents in the working directory.
const KNOWLEDGE: &str = "knowledge";
/// Folder of the research reports there.
const REPORTS: &str = "reports";

/// Documents with names of ours, and what an agent is told of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaidOut {
    /// The repository's documents, for a prompt.
    pub index: Vec<Indexed>,
    /// The reports in short, in the order of their topics.
    pub reports: Vec<Handed>,
    /// All of them, as files.
    pub documents: Vec<Document>,
}

/// Gives the documents names of ours: the repository's own could mean something to a client (`CLAUDE.md`).
pub fn lay_out(knowledge: &Knowledge, research: Option<&Research>, nonce: &str) -> LaidOut {
    let mut out = LaidOut::default();
    for (at, one) in knowledge.documents.iter().enumerate() {
        let name = reports::report_file(&format!("{:03}", at + 1), &one.title);
        let file = format!("{KNOWLEDGE}/{name}");
        let text = prompt::document(&one.path, &one.text, nonce);
        out.index.push(Indexed {
            file: file.clone(),
            path: one.path.clone(),
            title: one.title.clone(),
            bytes: text.len(),
        });
        out.documents.push(Document { path: file, text });
    }
    let topics = research.map_or(&[][..], |research| &research.topics);
    for topic in topics {
        let Some(report) = &topic.report else {
            continue;
        };
        let file = format!("{REPORTS}/{}", topic.file);
        let metadata = reports::metadata(report);
        out.reports.push(Handed {
            topic: topic.topic.clone(),
            text: handed(&file, report, &metadata),
            file: file.clone(),
            degraded: topic.state == State::Degraded,
        });
        out.documents.push(Document {
            path: file,
            text: prompt::document(&topic.topic, report, nonce),
        });
    }
    out
}

/// What the planner gets of a report: its metadata, or all of it where that is not longer.
pub fn handed(file: &str, report: &str, metadata: &reports::ReportMetadata) -> String {
    let short = reports::render_digest(file, metadata);
    if reports::Reduction::of(report, &short).keeps_full() {
        return format!("Path: {file}\n\n{report}");
    }
    short
}

/// All documents as one text, for an agent that cannot open files.
pub fn inline(documents: &[Document]) -> String {
    let texts = documents.iter().map(|one| one.text.as_str());
    texts.collect::<Vec<_>>().join("\n\n-----\n\n")
}

/// Reads the repository's documents.
///
/// # Errors
/// GitHub does not answer.
pub(in crate::engine::steps) async fn read(context: &mut Context) -> Result<Knowledge, Stop> {
    report::step(context, "reading the repository's documents").await?;
    let repo = context.trigger.place.repo.clone();
    let forge = Arc::clone(&context.effects.forge);
    knowledge::gather(&*forge, &repo, Limits::default()).await
}

/// Keeps documents for the run's agents.
///
/// # Errors
/// [`Stop::Failed`] with `agent_unavailable`.
pub(in crate::engine::steps) async fn give(
    context: &Context,
    agent: &Arc<dyn Agent>,
    documents: Vec<Document>,
) -> Result<(), Stop> {
    let given = agent.give(context.run(), documents).await;
    given.map_err(|why| {
        tracing::error!(run.id = %context.run(), why, "the agent could not be given its documents");
        Stop::Failed(Failure {
            code: Code::AgentUnavailable,
            message: sentences::NOT_GIVEN.to_owned(),
            details: Vec::new(),
            remedy: sentences::OPERATOR.to_owned(),
        })
    })
}

/// Sees to it that the planner finds its documents: what is kept with the agent can be lost with the computer it was on.
///
/// # Errors
/// GitHub does not answer; as [`give`].
pub(in crate::engine::steps) async fn provide(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
) -> Result<(), Stop> {
    if !agent.about().writes || agent.given(context.run()).await {
        return Ok(());
    }
    let knowledge = read(context).await?;
    let nonce = work(context).nonce.clone();
    let laid_out = lay_out(&knowledge, context.progress.research.as_ref(), &nonce);
    give(context, agent, laid_out.documents).await?;
    // The repository may have changed meanwhile, and with it the names of the files.
    if let Some(brief) = &mut work(context).brief {
        brief.documents = laid_out.index;
    }
    context.remember().await
}
