//! Saves a plan: label, issue, plan comments, and a final update of the body that completes the
//! header.

use super::authorise::Authorised;
use super::{Context, known, report};
use crate::engine::effects::StepError;
use crate::engine::forge::{ForgeError, LabelSpec};
use crate::engine::messages;
use crate::engine::messages::failures;
use crate::engine::model::progress::{Prepared, Saved};
use crate::engine::model::trigger::IssueRef;
use crate::engine::settings::Settings;
use crate::formats::block::{PlanForm, plan_comment, render_content, schema};
use crate::formats::plan::names::worktree_name;
use crate::formats::plan::split::{Limits, split};

/// Label of plan issues; name, colour and description are erk's.
pub const PLAN_LABEL: LabelSpec = LabelSpec {
    name: "erk-plan",
    colour: "0E8A16",
    description: "Implementation plan for manual execution",
};

/// Maximum size of a whole body. GitHub's limits are 65,536 characters and 262,144 bytes; sources
/// differ on which one is enforced, so both are checked, with room for the effect's marker.
const BODY: Limits = Limits {
    chars: 63_800,
    bytes: 261_800,
};

/// Initial maximum size of one part: the frame (block, part line) needs less than 800 characters.
const PART: Limits = Limits {
    chars: 63_000,
    bytes: 260_000,
};

/// Name of the block that holds a document attached to a plan.
pub const DOCUMENT_BLOCK: &str = "planwright-document";

/// Key of the effect that creates the plan issue.
const ISSUE: &str = "plan-issue";

/// Returns the key of an effect of the current plan issue. A new issue that replaces a deleted one
/// gets new keys.
fn key(context: &Context, name: &str) -> String {
    match context.progress.issue_lost {
        0 => name.to_owned(),
        lost => format!("{name}~{}", lost + 1),
    }
}

/// Returns the comments that hold a document, ready to post: each a plan in `form`, headed by
/// `part i/n` if there are several.
///
/// Neutralising mentions and frame tokens makes a text longer, so the parts are made smaller until
/// every body fits.
pub fn comments(document: &str, form: PlanForm) -> Vec<String> {
    parted(document, |text, place| {
        let block = plan_comment(text, form);
        match place {
            None => block,
            Some((part, many)) => format!("part {part}/{many}\n\n{block}"),
        }
    })
}

/// Splits `text` into as many comments as needed. `frame` renders one comment from a part, its
/// number and the number of parts.
fn parted(text: &str, frame: impl Fn(&str, Option<(usize, usize)>) -> String) -> Vec<String> {
    let mut limits = PART;
    loop {
        let parts = split(text, &limits);
        let many = parts.len();
        let framed = parts
            .iter()
            .enumerate()
            .map(|(index, part)| frame(&part.text, (many > 1).then_some((index + 1, many))));
        let bodies: Vec<String> = framed.collect();
        let fits = |body: &String| body.len() <= BODY.bytes && body.chars().count() <= BODY.chars;
        if bodies.iter().all(fits) || limits.chars < 1_000 {
            return bodies;
        }
        limits = Limits {
            chars: limits.chars * 4 / 5,
            bytes: limits.bytes * 4 / 5,
        };
    }
}

/// Returns the comments that hold the documents attached to the plan, each with its name and, if
/// one comment is not enough, `part i/n`.
pub fn attachments(prepared: &Prepared) -> Vec<String> {
    let mut bodies = Vec::new();
    for attached in &prepared.attached {
        let title = messages::planning::attached(&attached.name);
        bodies.extend(parted(&attached.text, |text, place| {
            let block = render_content(DOCUMENT_BLOCK, &title, text, true);
            match place {
                None => format!("{title}\n\n{block}"),
                Some((part, many)) => format!("{title}, part {part}/{many}\n\n{block}"),
            }
        }));
    }
    bodies
}

/// Returns the `plan-header` block with the fields that the team's version of erk accepts (see
/// [`schema::new_header`]).
fn header(
    context: &Context,
    prepared: &Prepared,
    comment: Option<u64>,
) -> Result<String, StepError> {
    let created = context.progress.started.unwrap_or(context.trigger.at);
    let comment = comment.filter(|_| context.settings.erk.version.accepts_comment_id());
    let fields = schema::new_header(
        &created.iso(),
        &context.trigger.actor.login,
        &worktree_name(&prepared.title),
        comment,
    );
    schema::write("plan-header", &fields).map_err(|error| {
        let what = format!("The header of the plan would not be valid: {error}.");
        StepError::Failed(failures::internal(&what))
    })
}

/// Saves the prepared plan as an issue with comments, and updates the status comment. Every write
/// is made exactly once, however often this function is called.
///
/// # Errors
/// Returns an error if GitHub or the store fails, or if the plan needs more comments than the
/// operator allows.
pub async fn publish(
    context: &mut Context,
    prepared: &Prepared,
    _allowed: &Authorised,
) -> Result<Saved, StepError> {
    let bodies = fitting(prepared, &context.settings)?;
    report::step(context, "saving the plan as an issue").await?;
    loop {
        match save(context, prepared, &bodies).await {
            Err(StepError::Forge(error))
                if error.is_absence() && context.again_at(&error).is_none() =>
            {
                missing(context, error).await?;
            }
            Ok(saved) => {
                let key = key(context, "plan-replaced");
                known::record(context, prepared, &saved, &key).await?;
                return Ok(saved);
            }
            failed => return failed,
        }
    }
}

/// Handles an absence error during saving. A deleted plan issue of an earlier round is given up, so
/// that a new one is created; in all other cases the run ends.
async fn missing(context: &mut Context, error: ForgeError) -> Result<(), StepError> {
    let Some(saved) = context.progress.saved.clone() else {
        return Err(error.into());
    };
    let place = IssueRef {
        repo: context.trigger.place.repo.clone(),
        number: saved.number,
        pull_request: false,
    };
    match context.effects.forge.locate(&place).await {
        Ok(now) if now.number == place.number && now.repo.id == place.repo.id => Err(error.into()),
        Ok(now) => Err(StepError::Failed(failures::plan_issue_moved(
            &saved.url, &now,
        ))),
        Err(ForgeError::NotFound { .. } | ForgeError::Deleted { .. }) => {
            context.progress.saved = None;
            context.progress.publishing = false;
            context.progress.issue_lost += 1;
            context.remember().await?;
            if context.progress.saved_in < context.round {
                return Ok(());
            }
            Err(StepError::Failed(failures::plan_issue_deleted(&saved.url)))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the comments of the plan, unless there are too many.
///
/// # Errors
/// Returns [`StepError::Failed`] with `plan_too_large`.
pub(in crate::engine) fn fitting(
    prepared: &Prepared,
    settings: &Settings,
) -> Result<Vec<String>, StepError> {
    let most = settings.publish.max_parts;
    let bodies = comments(&prepared.document, settings.erk.plan_form());
    let all = bodies.len() + attachments(prepared).len();
    if all > most {
        return Err(StepError::Failed(failures::plan_too_large(all, most)));
    }
    Ok(bodies)
}

/// Makes the writes of [`publish`]. The caller must ensure that the credentials in use permit them.
pub(in crate::engine) async fn save(
    context: &mut Context,
    prepared: &Prepared,
    bodies: &[String],
) -> Result<Saved, StepError> {
    let repo = &context.trigger.place.repo.clone();
    let effects = context.effects.clone();
    effects
        .idempotent("plan-label", effects.forge.ensure_label(repo, &PLAN_LABEL))
        .await?;

    let made_by = key(context, ISSUE);
    if !context.progress.publishing {
        context.progress.publishing = true;
        context.remember().await?;
    }
    let header_only = header(context, prepared, None)?;
    let body = messages::plan_issue_begun(&context.trigger, context.run(), prepared, &header_only);
    let issue = effects
        .create_issue(
            &made_by,
            repo,
            &prepared.issue_title,
            &body,
            &[PLAN_LABEL.name],
        )
        .await?;
    let mut saved = Saved {
        number: issue.id(),
        url: issue.url().to_owned(),
        comments: Vec::new(),
    };
    if issue.fresh() || context.progress.saved.is_none() {
        context.progress.saved_in = context.round;
        context.progress.created = Some(effects.clock.now());
    }
    context.progress.saved = Some(saved.clone());
    context.progress.outage = None;
    context.remember().await?;

    for (index, body) in bodies.iter().enumerate() {
        let key = key(context, &format!("plan-part-{}", index + 1));
        saved.comments.push(
            effects
                .create_comment(&key, repo, saved.number, body)
                .await?
                .id(),
        );
    }
    for (index, body) in attachments(prepared).iter().enumerate() {
        let key = key(context, &format!("plan-document-{}", index + 1));
        effects
            .create_comment(&key, repo, saved.number, body)
            .await?;
    }
    let complete = header(context, prepared, saved.comments.first().copied())?;
    let body = messages::plan_issue_done(
        &context.trigger,
        context.run(),
        prepared,
        &complete,
        &saved,
        &messages::next_steps(&context.settings, &context.trigger.place, &saved),
    );
    let complete_by = key(context, "plan-issue-complete");
    effects
        .edit_issue(&complete_by, repo, saved.number, &made_by, &body)
        .await?;
    context.progress.saved = Some(saved.clone());
    context.remember().await?;
    Ok(saved)
}
