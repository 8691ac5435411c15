//! Session logs as the source of the plan: named with `session=PATH[@REF]`, or attached to the
//! command's own comment.
//!
//! A log that is named must be usable: if it cannot be read or holds no plan, the run fails with an
//! error that lists what was searched. The conversation is searched only if no log is named. An
//! attachment with the extension `.json`, `.log` or `.txt` counts as a log only if its content is
//! one; all other attachments are ignored.
//!
//! A repository file is read with the installation's token, because everyone who may give the
//! command may also read the repository. It is always read from the repository of the issue or pull
//! request, at a branch, tag or commit. Refs of pull requests are refused because they may come
//! from forks. A full commit id, however, may be a commit of a fork, because GitHub lets forks
//! share objects. Without `@REF`, the default branch is read, also on a pull request, because only
//! content on the default branch has been accepted.

pub mod attachment;
mod reading;

use crate::engine::effects::StepError;
use crate::engine::forge::{Forge, ForgeError, ReadError};
use crate::engine::messages::sources::{self, Log};
use crate::engine::model::progress::{LogPlan, Logs};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::settings::Settings;
use crate::formats::command::{Options, RepositoryFile, read_options};
use crate::formats::session::{PlanSource, ScanResult, SessionPlan};
use attachment::{Attachment, AttachmentKind};
use reading::{Reading, What};

/// Maximum number of attached logs of one comment that are read. A session and its subagents have
/// only a few.
const MAX_ATTACHED: usize = 4;

/// Number of retries during an outage for a file that may not be a log at all: half a minute with
/// the default pauses.
const MAX_OUTAGE_RETRIES: u32 = 3;

/// Returns whether the command has options, which [`look`] validates, or attachments that may be
/// session logs.
pub fn has_options_or_logs(trigger: &Trigger, settings: &Settings) -> bool {
    !trigger.options.is_empty() || !attached(trigger, settings).is_empty()
}

/// Returns whether the command names a session log or attaches a file that may be one.
pub fn reads_log(trigger: &Trigger, settings: &Settings) -> bool {
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    options.session.is_some() || !attached(trigger, settings).is_empty()
}

/// Reads the logs that the command names. Returns an empty result if there are none. `faults` is
/// the number of times the run has waited for GitHub since a step last succeeded.
///
/// # Errors
/// Returns [`StepError::Failed`] with `invalid_input`, `session_not_found` or `no_plan_found`, and
/// [`StepError::Forge`] if GitHub does not respond.
pub async fn look(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    faults: u32,
) -> Result<Logs, StepError> {
    let options = read_options(trigger.command, &trigger.options).map_err(|error| {
        StepError::Failed(sources::invalid_option(trigger.command.spec(), &error))
    })?;
    let attached = attached(trigger, settings);
    let surely = attached
        .iter()
        .filter(|one| one.kind == AttachmentKind::Log);
    let names: Vec<&str> = surely.map(|one| one.name.as_str()).collect();
    let inline = trigger
        .inline
        .as_ref()
        .is_some_and(|text| !text.trim().is_empty());
    if inline {
        let path = options.session.as_ref().map(|file| file.path.as_str());
        let unread: Vec<&str> = path.into_iter().chain(names).collect();
        return Ok(Logs {
            plan: None,
            notes: sources::unread(&unread, "the plan is in the command's own comment"),
        });
    }
    if let Some(file) = &options.session {
        let mut logs = repository(forge, trigger, settings, &options, file).await?;
        logs.notes
            .extend(sources::unread(&names, "`session=` names another log"));
        return Ok(logs);
    }
    if attached.is_empty() {
        return match options.session_id {
            Some(_) => Err(StepError::Failed(sources::session_id_alone())),
            None => Ok(Logs::default()),
        };
    }
    if names.len() > MAX_ATTACHED {
        let failure = sources::too_many_attached(names.len(), MAX_ATTACHED);
        return Err(StepError::Failed(failure));
    }
    comment(forge, trigger, settings, &options, &attached, faults).await
}

/// Returns the attachments of the command's own comment that may be session logs.
fn attached(trigger: &Trigger, settings: &Settings) -> Vec<Attachment> {
    match &trigger.origin {
        Origin::Comment { text, .. } => attachment::in_comment(&settings.web, text),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => Vec::new(),
    }
}

/// Reads a log from the repository.
async fn repository(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    options: &Options,
    file: &RepositoryFile,
) -> Result<Logs, StepError> {
    let repo = &trigger.place.repo;
    let mut log = Log {
        name: file.path.clone(),
        place: sources::place(&repo.full_name(), file),
        url: None,
    };
    let session = options.session_id.as_deref();
    let mut reading = Reading::new(session, What::Log);
    let reference = file.reference.as_deref();
    let mut take = |piece: &[u8]| reading.push(piece);
    let most = settings.source.max_log;
    let read = forge.file(repo, &file.path, reference, most, &mut take);
    let at = match read.await {
        Ok(at) => at,
        Err(ReadError::Forge(error)) => return Err(error.into()),
        Err(error) => return Err(StepError::Failed(sources::unreadable(&log, &error))),
    };
    log.url = Some(at.url);
    if reading.is_pointer() {
        return Err(StepError::Failed(sources::pointer(&log)));
    }
    let (scanned, _) = reading.finish();
    match &scanned.plan {
        Some(plan) => Ok(found(&log, Some(&at.commit), plan)),
        None => Err(StepError::Failed(sources::no_plan(
            &[(log, scanned)],
            session,
        ))),
    }
}

/// Reads the attached logs and returns the newest plan.
async fn comment(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    options: &Options,
    attached: &[Attachment],
    faults: u32,
) -> Result<Logs, StepError> {
    let session = options.session_id.as_deref();
    let mut notes = Vec::new();
    let mut best: Option<(Log, SessionPlan)> = None;
    let mut read: Vec<(Log, ScanResult)> = Vec::new();
    let perhaps = attached
        .iter()
        .filter(|one| one.kind == AttachmentKind::Perhaps);
    let surely = attached
        .iter()
        .filter(|one| one.kind == AttachmentKind::Log);
    for one in surely.chain(perhaps.take(MAX_ATTACHED)) {
        let log = Log {
            name: one.name.clone(),
            place: sources::attached(&one.name, &trigger.place.repo.full_name()),
            url: Some(one.address.clone()),
        };
        let what = match one.kind {
            AttachmentKind::Log => What::Log,
            AttachmentKind::Perhaps => What::Perhaps,
        };
        let mut reading = Reading::new(session, what);
        let done = forge
            .attachment(&one.address, settings.source.max_log, &mut |piece| {
                reading.push(piece)
            })
            .await;
        match done {
            Ok(()) => {}
            // The file was not explicitly given as a session log, so skip it.
            Err(error)
                if one.kind == AttachmentKind::Perhaps
                    && session.is_none()
                    && (lasting(&error) || faults >= MAX_OUTAGE_RETRIES) =>
            {
                notes.push(sources::perhaps_unreadable(&one.name, &error));
                continue;
            }
            Err(ReadError::Forge(error)) => return Err(error.into()),
            Err(error) => return Err(StepError::Failed(sources::unreadable(&log, &error))),
        }
        let (scanned, is_log) = reading.finish();
        if let Some(plan) = &scanned.plan {
            let newer = best
                .as_ref()
                .is_none_or(|(_, other)| plan.is_newer_than(other));
            if newer {
                best = Some((log.clone(), plan.clone()));
            }
        }
        if is_log {
            read.push((log, scanned));
        }
    }
    if let Some((log, plan)) = best {
        let mut logs = found(&log, None, &plan);
        logs.notes.append(&mut notes);
        return Ok(logs);
    }
    if !read.is_empty() || session.is_some() {
        return Err(StepError::Failed(sources::no_plan(&read, session)));
    }
    Ok(Logs { plan: None, notes })
}

/// Returns whether a retry would fail with the same error.
fn lasting(error: &ReadError) -> bool {
    !matches!(
        error,
        ReadError::Forge(
            ForgeError::Unreachable { .. }
                | ForgeError::Unknown { .. }
                | ForgeError::Limited { .. }
        )
    )
}

/// Returns a plan with notes for its readers.
fn found(log: &Log, commit: Option<&str>, plan: &SessionPlan) -> Logs {
    let mut notes = Vec::new();
    if plan.approved == Some(false) {
        notes.push(sources::not_approved());
    }
    if plan.stale_edits > 0 {
        notes.push(sources::stale(plan.stale_edits));
    }
    Logs {
        plan: Some(LogPlan {
            text: plan.text.clone(),
            name: log.name.clone(),
            url: log.url.clone(),
            commit: commit.map(str::to_owned),
            line: plan.line,
            session: plan.session.clone(),
            timestamp: plan.timestamp.clone(),
            plan_file: match &plan.source {
                PlanSource::PlanFile { slug } => Some(slug.clone()),
                PlanSource::ExitPlanMode | PlanSource::ApprovedPlan => None,
            },
        }),
        notes,
    }
}
