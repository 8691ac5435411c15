//! The repository's documents and the research reports as files in the agents' working directory.

use std::sync::Arc;

use crate::engine::agent::Agent;
use crate::engine::effects::StepError;
use crate::engine::knowledge::{Knowledge, Limits};
use crate::engine::messages::planning as sentences;
use crate::engine::model::agent::Document;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::research::{Indexed, ReportDigest, Research, TopicState};
use crate::engine::prompt;
use crate::engine::steps::enrich::work;
use crate::engine::steps::{Context, knowledge, report};
use crate::engine::trace;
use crate::formats::report as reports;

/// Folder of the repository's documents in the working directory.
const KNOWLEDGE: &str = "knowledge";
/// Folder of the research reports in the working directory.
const REPORTS: &str = "reports";

/// Documents under generated names, and their descriptions for prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaidOut {
    /// The repository's documents, for the prompt.
    pub index: Vec<Indexed>,
    /// Short forms of the reports, in the order of their topics.
    pub reports: Vec<ReportDigest>,
    /// All documents and reports as files.
    pub documents: Vec<Document>,
}

/// Lays out the documents under generated names, because a client may interpret the repository's
/// own names (`CLAUDE.md`).
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
        out.reports.push(ReportDigest {
            topic: topic.topic.clone(),
            text: crate::engine::messages::research::digest_of(&file, report, &metadata),
            file: file.clone(),
            degraded: topic.state == TopicState::Degraded,
        });
        out.documents.push(Document {
            path: file,
            text: prompt::document(&topic.topic, report, nonce),
        });
    }
    out
}

/// Joins all documents into one text, for an agent that cannot open files.
pub fn inline(documents: &[Document]) -> String {
    let texts = documents.iter().map(|one| one.text.as_str());
    texts.collect::<Vec<_>>().join("\n\n-----\n\n")
}

/// Updates the status comment and reads the repository's documents.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(in crate::engine::steps) async fn read(context: &mut Context) -> Result<Knowledge, StepError> {
    report::step(context, "reading the repository's documents").await?;
    let repo = context.trigger.place.repo.clone();
    let forge = Arc::clone(&context.effects.forge);
    let gathering = knowledge::gather(&*forge, &repo, Limits::default());
    trace::step("gather", gathering).await
}

/// Hands documents to the agent, which keeps them for all sessions of the run.
///
/// # Errors
/// Returns [`StepError::Failed`] with `agent_unavailable` if the agent cannot store them.
pub(in crate::engine::steps) async fn give(
    context: &Context,
    agent: &Arc<dyn Agent>,
    documents: Vec<Document>,
) -> Result<(), StepError> {
    let given = agent.give(context.run(), documents).await;
    given.map_err(|why| {
        tracing::error!(run.id = %context.run(), why, "the agent could not be given its documents");
        StepError::Failed(Failure {
            code: Code::AgentUnavailable,
            message: sentences::NOT_GIVEN.to_owned(),
            details: Vec::new(),
            remedy: sentences::OPERATOR.to_owned(),
        })
    })
}

/// Hands the documents to the planner again if they were lost, for example with the computer on
/// which the agent kept them.
///
/// # Errors
/// See [`read`] and [`give`].
pub(in crate::engine::steps) async fn provide(
    context: &mut Context,
    agent: &Arc<dyn Agent>,
) -> Result<(), StepError> {
    if !agent.about().writes || agent.given(context.run()).await {
        return Ok(());
    }
    let knowledge = read(context).await?;
    let nonce = work(context).nonce.clone();
    let laid_out = lay_out(&knowledge, context.progress.research.as_ref(), &nonce);
    give(context, agent, laid_out.documents).await?;
    // The repository may have changed in the meantime, and with it the file names.
    if let Some(brief) = &mut work(context).brief {
        brief.documents = laid_out.index;
    }
    context.remember().await
}
