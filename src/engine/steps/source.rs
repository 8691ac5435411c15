//! Session logs as the source of the plan: named with `session=PATH[@REF]`, or attached to the command's own comment.
//!
//! What a comment names counts: a log that cannot be used, or that holds no plan, ends the run with an error that says what
//! was looked for. The conversation is searched only when no log was named. An attachment called `.json`, `.log` or `.txt`
//! names a log only if it turns out to be one; anything else that people attach is left alone.
//!
//! A repository's file is read with the installation's token: whoever may give the command may read it, too. It is
//! always the repository of the issue or pull request, asked for a branch, tag or commit; refs of pull requests, which may
//! come from forks, are refused. What GitHub itself finds under the full id of a commit is read: that may be a commit of a fork,
//! as forks share their objects. Without `@REF` it is the default branch, also on a pull request, because what stands there
//! somebody has agreed to.

pub mod attachment;
mod reading;

use crate::engine::effects::Stop;
use crate::engine::forge::{Forge, ForgeError, ReadError};
use crate::engine::model::progress::{LogPlan, Logs};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::say::sources::{self, Log};
use crate::engine::settings::Settings;
use crate::formats::command::{Options, RepositoryFile, read_options};
use crate::formats::session::{PlanSource, ScanResult, SessionPlan};
use attachment::{Attachment, Kind};
use reading::{Reading, What};

/// Most attached logs of one comment that are read. A session and its helpers are a few.
const MOST_ATTACHED: usize = 4;

/// How often an outage is waited out for a file that may be no log at all. With the default pauses that is half a minute.
const PATIENCE: u32 = 3;

/// Whether the command has options, which [`look`] judges, or attaches what may be a session log.
pub fn named(trigger: &Trigger, settings: &Settings) -> bool {
    !trigger.options.is_empty() || !attached(trigger, settings).is_empty()
}

/// Whether the command names a session log, or attaches what may be one.
pub fn reads_log(trigger: &Trigger, settings: &Settings) -> bool {
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    options.session.is_some() || !attached(trigger, settings).is_empty()
}

/// Reads the logs that the command names. Nothing named: no plan, no notes. `faults` is how often the run has waited for
/// GitHub already, since a step last succeeded.
///
/// # Errors
/// [`Stop::Failed`] with `invalid_input`, `session_not_found` or `no_plan_found`; [`Stop::Forge`] when GitHub does not
/// answer.
pub async fn look(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    faults: u32,
) -> Result<Logs, Stop> {
    let options = read_options(trigger.command, &trigger.options)
        .map_err(|error| Stop::Failed(sources::invalid_option(trigger.command.spec(), &error)))?;
    let attached = attached(trigger, settings);
    let surely = attached.iter().filter(|one| one.kind == Kind::Log);
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
            notes: sources::unread(&unread, "the plan stands in the command's own comment"),
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
            Some(_) => Err(Stop::Failed(sources::session_id_alone())),
            None => Ok(Logs::default()),
        };
    }
    if names.len() > MOST_ATTACHED {
        let failure = sources::too_many_attached(names.len(), MOST_ATTACHED);
        return Err(Stop::Failed(failure));
    }
    comment(forge, trigger, settings, &options, &attached, faults).await
}

/// What may be a session log among the attachments of the command's own comment.
fn attached(trigger: &Trigger, settings: &Settings) -> Vec<Attachment> {
    match &trigger.origin {
        Origin::Comment { text, .. } => attachment::in_comment(&settings.web, text),
        Origin::Label { .. }
        | Origin::Push { .. }
        | Origin::Boxes { .. }
        | Origin::Local { .. } => Vec::new(),
    }
}

/// Reads the log in the repository.
async fn repository(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    options: &Options,
    file: &RepositoryFile,
) -> Result<Logs, Stop> {
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
    let most = settings.most_log;
    let read = forge.file(repo, &file.path, reference, most, &mut take);
    let at = match read.await {
        Ok(at) => at,
        Err(ReadError::Forge(error)) => return Err(error.into()),
        Err(error) => return Err(Stop::Failed(sources::unreadable(&log, &error))),
    };
    log.url = Some(at.url);
    if reading.is_pointer() {
        return Err(Stop::Failed(sources::pointer(&log)));
    }
    let (scanned, _) = reading.finish();
    match &scanned.plan {
        Some(plan) => Ok(found(&log, Some(&at.commit), plan)),
        None => Err(Stop::Failed(sources::no_plan(&[(log, scanned)], session))),
    }
}

/// Reads the attached logs; of several plans the newest counts.
async fn comment(
    forge: &dyn Forge,
    trigger: &Trigger,
    settings: &Settings,
    options: &Options,
    attached: &[Attachment],
    faults: u32,
) -> Result<Logs, Stop> {
    let session = options.session_id.as_deref();
    let mut notes = Vec::new();
    let mut best: Option<(Log, SessionPlan)> = None;
    let mut read: Vec<(Log, ScanResult)> = Vec::new();
    let perhaps = attached.iter().filter(|one| one.kind == Kind::Perhaps);
    let surely = attached.iter().filter(|one| one.kind == Kind::Log);
    for one in surely.chain(perhaps.take(MOST_ATTACHED)) {
        let log = Log {
            name: one.name.clone(),
            place: sources::attached(&one.name, &trigger.place.repo.full_name()),
            url: Some(one.address.clone()),
        };
        let what = match one.kind {
            Kind::Log => What::Log,
            Kind::Perhaps => What::Perhaps,
        };
        let mut reading = Reading::new(session, what);
        let done = forge
            .attachment(&one.address, settings.most_log, &mut |piece| {
                reading.push(piece)
            })
            .await;
        match done {
            Ok(()) => {}
            // Nobody said that this is a session log.
            Err(error)
                if one.kind == Kind::Perhaps
                    && session.is_none()
                    && (lasting(&error) || faults >= PATIENCE) =>
            {
                notes.push(sources::perhaps_unreadable(&one.name, &error));
                continue;
            }
            Err(ReadError::Forge(error)) => return Err(error.into()),
            Err(error) => return Err(Stop::Failed(sources::unreadable(&log, &error))),
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
        return Err(Stop::Failed(sources::no_plan(&read, session)));
    }
    Ok(Logs { plan: None, notes })
}

/// Whether another try would come to the same.
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

/// A plan, and what its reader should know of it.
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
