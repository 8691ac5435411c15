//! `/check-plan`: selects the plans that are meant, checks whether they can be executed, and
//! reports the result in one comment and, for files of a pull request, as a check run with
//! annotations.
//!
//! What is checked, in this order:
//!
//! - For the label on a pull request, and for new commits while it is set: each changed file with a
//!   plan's name, at the head.
//! - The plan in the command's comment.
//! - In a saved plan: the plan in its blocks.
//! - The opening text, or else the newest comment, that is an action plan.
//! - On a pull request: its changed files, as above.

mod judge;
mod look;

use super::CommandRun;
use crate::engine::effects::StepError;
use crate::engine::forge::{
    Annotation, Change, CheckReport, CheckState, Conclusion, Content, Level, MAX_CHANGED_FILES,
    NewCheckRun, PullRequest,
};
use crate::engine::messages::{check as sentences, code_span, failures};
use crate::engine::model::conversation::Conversation;
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{Checked, Checking, Judged};
use crate::engine::model::trigger::{Origin, Trigger};
use crate::engine::settings::CheckSettings;
use crate::engine::steps::{Context, prepare, report as reports};
use crate::engine::trace;
use crate::formats::action_plan::is_action_plan;
use crate::formats::block;
use crate::formats::plan::stored;
use look::{NotRead, Repository};

/// Name of the check run. Branch protection rules may require it, so it must never change.
pub const CHECK_RUN: &str = "planwright/plans";

/// Maximum size of a plan file that is read, in bytes. It exceeds the size limit of plans, so that
/// a plan slightly above that limit gets a specific error.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Maximum number of plan files of one pull request that are checked.
const MAX_FILES: usize = 50;

/// Maximum number of annotations of one check run; they take twenty requests.
const MAX_REMARKS: usize = 1_000;

/// The label stays set on pull requests, so that new commits are checked as well, and one comment
/// is kept up to date.
pub(super) const REPORTING: reports::Reporting = reports::Reporting {
    keeps_label_on_pull_request: true,
    shares_comment: true,
};

pub(super) async fn run(run: &mut CommandRun<'_>) -> Result<(), StepError> {
    let checked = trace::step("verify", check(run.context)).await?;
    if let Some(failure) = failure(&checked) {
        return Err(StepError::Failed(failure));
    }
    let body = sentences::passed(&run.context.trigger, run.context.run(), &checked);
    reports::succeeded(run.context, &body).await?;
    run.context
        .audit("checked", "all plans can be executed")
        .await?;
    Ok(())
}

/// Checks the plans that are meant. The result is stored, so that later attempts of the same round
/// report the same.
///
/// # Errors
/// Returns an error if there is no plan, or if GitHub or the store fails.
async fn check(context: &mut Context) -> Result<Checked, StepError> {
    let checked = match context.progress.checked.clone() {
        Some(checked) if checked.round == context.round => checked,
        _ => {
            let checked = judged(context).await?;
            context.progress.checked = Some(checked.clone());
            context.progress.checking = None;
            context.remember().await?;
            checked
        }
    };
    if let Some(head) = &checked.head {
        let repo = context.trigger.place.repo.clone();
        let new = NewCheckRun {
            name: CHECK_RUN.to_owned(),
            head_sha: head.clone(),
            details_url: None,
            report: report(&checked),
        };
        let key = format!("check-{}", context.round);
        context.effects.create_check(&key, &repo, &new).await?;
    }
    Ok(checked)
}

/// Returns the run's failure if a plan cannot be executed.
fn failure(checked: &Checked) -> Option<Failure> {
    (checked.good() < checked.plans.len()).then(|| failures::not_executable(checked))
}

async fn judged(context: &mut Context) -> Result<Checked, StepError> {
    let trigger = &context.trigger;
    let on_files = match &trigger.origin {
        Origin::Label { .. } | Origin::Push { .. } => trigger.place.pull_request,
        _ => false,
    };
    if on_files {
        return files(context).await;
    }
    let thread = trace::step("gather", prepare::current_thread(context)).await?;
    if let Some((name, text)) = meant(trigger, &thread) {
        let commit = if trigger.place.pull_request {
            pull(context).await?.head_sha
        } else {
            look::DEFAULT.to_owned()
        };
        let mut notes = Vec::new();
        let settings = &context.settings.check;
        let forge = context.effects.forge.as_ref();
        let repo = &context.trigger.place.repo;
        let mut files = Repository::new(forge, repo, &commit, settings.max_requests);
        let plan = one(settings, &mut files, &name, None, &text, &mut notes).await;
        let plan = unless_stopped(plan, &name, None)?;
        return Ok(Checked {
            round: context.round,
            head: None,
            plans: vec![plan],
            notes,
        });
    }
    if trigger.place.pull_request {
        return files(context).await;
    }
    Err(StepError::Failed(failures::no_action_plan()))
}

/// Returns the plan that is meant in a conversation, as a description of its place and its text.
fn meant(trigger: &Trigger, thread: &Conversation) -> Option<(String, String)> {
    let given = trigger.inline.as_deref();
    if let Some(text) = given.filter(|text| !text.trim().is_empty()) {
        return Some((
            "the plan in the command's comment".to_owned(),
            text.to_owned(),
        ));
    }
    if let Some(text) = saved(thread) {
        return Some(("the saved plan".to_owned(), text));
    }
    let opening = thread.posts.first().into_iter();
    let newest_first = thread.posts.iter().skip(1).rev();
    opening
        .chain(newest_first)
        .filter(|post| post.updated <= trigger.at || post.id.is_none())
        .find(|post| is_action_plan(&post.body))
        .map(|post| {
            let name = match post.id {
                None => "the opening text".to_owned(),
                Some(_) => format!("the plan in [a comment]({})", post.url),
            };
            (name, post.body.clone())
        })
}

/// Returns the action plan in the blocks of a plan issue.
fn saved(thread: &Conversation) -> Option<String> {
    let opening = thread.posts.first()?;
    block::find(&block::parse(&opening.body), "plan-header")?;
    let author = |post: &crate::engine::model::conversation::Post| {
        post.author.as_ref().map(|it| it.login.clone())
    };
    let page = stored::StoredPage {
        title: thread.title.clone(),
        author: author(opening),
        body: opening.body.clone(),
        pull_request: thread.place.pull_request,
        comments: thread.posts[1..]
            .iter()
            .filter_map(|post| {
                Some(stored::StoredComment {
                    id: post.id?,
                    author: author(post),
                    body: post.body.clone(),
                })
            })
            .collect(),
    };
    let read = stored::read(&page).ok()?;
    [read.document, read.plan]
        .into_iter()
        .find(|text| is_action_plan(text))
}

async fn pull(context: &Context) -> Result<PullRequest, StepError> {
    let place = &context.trigger.place;
    Ok(context.effects.forge.pull_request(place).await?)
}

/// Checks the changed plan files of a pull request at its head. Finished checks are stored if the
/// run has to stop.
async fn files(context: &mut Context) -> Result<Checked, StepError> {
    let mut pull = pull(context).await?;
    let mut checking = match context.progress.checking.take() {
        Some(it)
            if it.done.round == context.round && it.done.head.as_ref() == Some(&pull.head_sha) =>
        {
            it
        }
        _ => Checking::default(),
    };
    checking.done.round = context.round;
    checking.done.head = Some(std::mem::take(&mut pull.head_sha));
    match go_on(context, &pull, &mut checking).await {
        Ok(()) => Ok(checking.done),
        Err(stop) => {
            context.progress.checking = Some(checking);
            context.remember().await?;
            Err(stop)
        }
    }
}

/// Checks the files that are not checked yet.
async fn go_on(
    context: &Context,
    pull: &PullRequest,
    checking: &mut Checking,
) -> Result<(), StepError> {
    let forge = context.effects.forge.as_ref();
    let place = &context.trigger.place;
    let settings = &context.settings.check;
    let changed = forge.changed_files(place).await?;
    let mut paths: Vec<String> = changed
        .into_iter()
        .filter(|file| file.change != Change::Removed && is_plan(&file.path, &settings.files))
        .map(|file| file.path)
        .collect();
    let done = &mut checking.done;
    if done.plans.is_empty() {
        let most = budget(context);
        done.notes.clear();
        if pull.changed_files > MAX_CHANGED_FILES {
            done.notes
                .push(sentences::not_all_listed(pull.changed_files));
        }
        if paths.len() > MAX_FILES {
            done.notes
                .push(sentences::not_all_checked(paths.len(), MAX_FILES));
        }
        if paths.is_empty() {
            done.notes.push(sentences::no_plan_files(&settings.files));
        } else if context.outsider {
            let who = &context.trigger.actor.login;
            done.notes.push(sentences::pushed_by_outsider(who, most));
        }
    }
    paths.truncate(MAX_FILES);
    let head = done.head.clone().unwrap_or_default();
    let left = budget(context).saturating_sub(checking.requests);
    let mut files = Repository::new(forge, &place.repo, &head, left);
    for path in paths.iter().skip(done.plans.len()) {
        let plan = file(settings, &mut files, path, &mut done.notes).await;
        checking.requests = budget(context) - files.left.min(budget(context));
        done.plans.push(unless_stopped(plan, path, Some(path))?);
    }
    Ok(())
}

/// Returns the maximum number of requests for files in this run.
fn budget(context: &Context) -> usize {
    let most = context.settings.check.max_requests;
    if context.outsider {
        most.min(context.settings.outsiders.check_requests)
    } else {
        most
    }
}

/// Reports plans that could not be read as skipped or unreadable; only [`NotRead::StepError`] ends
/// the run.
fn unless_stopped(
    plan: Result<Judged, NotRead>,
    name: &str,
    path: Option<&str>,
) -> Result<Judged, StepError> {
    match plan {
        Ok(plan) => Ok(plan),
        Err(NotRead::Budget) => Ok(judge::skipped(name, path)),
        Err(NotRead::Unreadable(why)) => Ok(judge::unread(name, &why)),
        Err(NotRead::StepError(stop)) => Err(stop),
    }
}

/// Returns whether the file name matches one of `names`: exactly, or by its end after a leading
/// `*`. Case-sensitive, as in git.
fn is_plan(path: &str, names: &[String]) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    names.iter().any(|name| match name.strip_prefix('*') {
        Some(end) => file.len() > end.len() && file.ends_with(end),
        None => file == name,
    })
}

async fn file(
    settings: &CheckSettings,
    files: &mut Repository<'_>,
    path: &str,
    notes: &mut Vec<String>,
) -> Result<Judged, NotRead> {
    let unread = |what: String| Ok(judge::unread(path, &what));
    match files.read(path, MAX_FILE).await?.as_ref() {
        Content::Text(text) => one(settings, files, path, Some(path), text, notes).await,
        Content::Binary => unread("it is not UTF-8 text".to_owned()),
        Content::TooLarge { most } => {
            unread(format!("it is larger than {} MB", most / (1024 * 1024)))
        }
        Content::NotAFile(kind) => unread(format!("it is a {kind}, not a file")),
        Content::Missing => unread("it is no longer there".to_owned()),
    }
}

/// Checks one plan and, if the operator enabled it, the repository files that it would change.
async fn one(
    settings: &CheckSettings,
    files: &mut Repository<'_>,
    name: &str,
    path: Option<&str>,
    text: &str,
    notes: &mut Vec<String>,
) -> Result<Judged, NotRead> {
    match judge::structure(name, path, text) {
        Err(refused) => Ok(*refused),
        Ok(plan) => {
            let files = if settings.repository {
                let shown = path.map_or_else(|| name.to_owned(), code_span);
                let most = settings.max_compared_files;
                Some(look::load(files, &plan, most, &shown, notes).await?)
            } else {
                None
            };
            Ok(judge::plan(name, path, &plan, files.as_ref()))
        }
    }
}

/// Builds the report of the check run.
fn report(checked: &Checked) -> CheckReport {
    let conclusion = match (checked.plans.len(), checked.good()) {
        (0, _) => Conclusion::Skipped,
        (all, good) if all == good => Conclusion::Success,
        // Not a success, so that branch protection rules that require the check are not met.
        (all, good) if all == good + checked.skipped() => Conclusion::ActionRequired,
        _ => Conclusion::Failure,
    };
    let remarks = checked.plans.iter().flat_map(|plan| {
        let path = plan.path.clone().unwrap_or_default();
        plan.remarks.iter().map(move |remark| Annotation {
            path: path.clone(),
            start_line: remark.line,
            end_line: remark.end_line,
            level: Level::Failure,
            title: Some(remark.title.clone()),
            message: remark.message.clone(),
            raw_details: None,
        })
    });
    CheckReport {
        state: CheckState::Completed(conclusion),
        title: sentences::title(checked),
        summary: sentences::summary(checked),
        text: Some(sentences::details(checked.plans.iter())).filter(|text| !text.is_empty()),
        annotations: remarks.take(MAX_REMARKS).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_plan;

    #[test]
    fn a_plan_is_known_by_its_file_name() {
        let names = ["*.plan.md".to_owned(), "PLAN.md".to_owned()];
        for (path, want) in [
            ("a.plan.md", true),
            ("docs/deep/a.plan.md", true),
            ("PLAN.md", true),
            ("x/PLAN.md", true),
            (".plan.md", false),
            ("a.plan.md/readme", false),
            ("plan.md", false),
            ("MYPLAN.md", false),
            ("a.PLAN.MD", false),
        ] {
            assert_eq!(is_plan(path, &names), want, "{path}");
        }
    }
}
