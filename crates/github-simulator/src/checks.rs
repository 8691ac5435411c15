//! Endpoints for check runs. Only Apps write them.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::api::{Call, Scope, text};
use crate::commits::unknown;
use crate::model::{Annotation, CheckRun, Repository};
use crate::reply::Answer;
use crate::state::State;
use crate::tokens::Holder;
use crate::{json, paging};

/// Most annotations in one request (the description of `checks/create`).
const MOST_ANNOTATIONS: usize = 50;

/// Longest summary and text. The description says characters; public issue threads say bytes.
const MOST_TEXT: usize = 65_535;

/// Longest message and raw details of an annotation, in bytes ("64 KB").
const MOST_MESSAGE: usize = 64 * 1024;

/// Longest title of an annotation, in characters.
const MOST_TITLE: usize = 255;

/// Everything below `…/check-runs`.
pub(crate) fn answer(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    rest: &[&str],
) -> Result<Answer, Answer> {
    let writes = call.method != http::Method::GET;
    if writes && matches!(scope.token.holder, Holder::Person(_)) {
        // GitHub's words, from public issue threads.
        let words = "You must authenticate via a GitHub App.";
        return Err(Answer::refuse(StatusCode::FORBIDDEN, words));
    }
    scope.need(&["checks"], writes)?;
    match (call.method.as_str(), rest) {
        ("POST", []) => create(state, call, scope),
        ("GET", [id]) => {
            let repository = state.repository(scope.repository)?;
            let run = find(repository, id)?;
            Ok(Answer::ok(json::check_run(
                state, &call.base, repository, run,
            )))
        }
        ("PATCH", [id]) => update(state, call, scope, id),
        ("GET", [id, "annotations"]) => {
            let repository = state.repository(scope.repository)?;
            let run = find(repository, id)?;
            let id = Some(repository.id);
            Ok(paging::page(call, id, &run.annotations, |one| {
                json::annotation(&call.base, repository, run, one)
            }))
        }
        _ => Err(Answer::not_found()),
    }
}

/// `GET …/commits/{ref}/check-runs`.
pub(crate) fn of_commit(
    state: &State,
    call: &Call,
    scope: &Scope,
    name: &str,
) -> Result<Answer, Answer> {
    scope.need(&["checks"], false)?;
    let repository = state.repository(scope.repository)?;
    let commit = repository.commit(Some(name)).ok_or_else(|| unknown(name))?;
    let latest = match call.query("filter") {
        None | Some("latest") => true,
        Some("all") => false,
        Some(_) => return Err(Answer::invalid("CheckRun", "filter", "invalid", None)),
    };
    let ours = call
        .query("app_id")
        .is_none_or(|id| id == state.app.id.to_string());
    let mut runs: Vec<&CheckRun> = repository
        .check_runs
        .values()
        .rev()
        .filter(|run| ours && run.head_sha == commit.sha)
        .filter(|run| call.query("check_name").is_none_or(|name| run.name == name))
        .filter(|run| call.query("status").is_none_or(|word| run.status == word))
        .collect();
    if latest {
        let mut seen = std::collections::BTreeSet::new();
        runs.retain(|run| seen.insert(run.name.as_str()));
    }
    let mut answer = paging::page(call, Some(repository.id), &runs, |run| {
        json::check_run(state, &call.base, repository, run)
    });
    answer.body = answer
        .body
        .map(|list| json!({"total_count": runs.len(), "check_runs": list}));
    Ok(answer)
}

fn find<'a>(repository: &'a Repository, id: &str) -> Result<&'a CheckRun, Answer> {
    id.parse()
        .ok()
        .and_then(|id: u64| repository.check_runs.get(&id))
        .ok_or_else(Answer::not_found)
}

/// 422 in the form of GitHub's schema checks.
fn invalid(why: &str) -> Answer {
    Answer::refuse(
        StatusCode::UNPROCESSABLE_ENTITY,
        &format!("Invalid request.\n\n{why}"),
    )
}

/// What a request says of a run's progress.
struct Progress {
    status: Option<String>,
    conclusion: Option<String>,
}

fn progress(members: &Map<String, Value>) -> Result<Progress, Answer> {
    const STATUS: [&str; 3] = ["queued", "in_progress", "completed"];
    const CONCLUSION: [&str; 7] = [
        "action_required",
        "cancelled",
        "failure",
        "neutral",
        "success",
        "skipped",
        "timed_out",
    ];
    let one_of = |name: &str, words: &[&str]| match text(members, name)? {
        Some(word) if !words.contains(&word) => Err(invalid(&format!(
            "For 'properties/{name}', {word} is not a member of {words:?}."
        ))),
        other => Ok(other.map(str::to_owned)),
    };
    let status = one_of("status", &STATUS)?;
    let conclusion = one_of("conclusion", &CONCLUSION)?;
    let ended = status.as_deref() == Some("completed") || members.contains_key("completed_at");
    if ended && conclusion.is_none() {
        return Err(invalid("\"conclusion\" wasn't supplied."));
    }
    Ok(Progress { status, conclusion })
}

/// What a request says of a run's output.
struct Output {
    title: String,
    summary: String,
    text: Option<String>,
    annotations: Vec<Annotation>,
}

fn output(members: &Map<String, Value>) -> Result<Option<Output>, Answer> {
    let output = match members.get("output") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(output)) => output,
        Some(other) => return Err(invalid(&format!("{other} is not an object."))),
    };
    let limited = |members, name: &str, most: usize| {
        let found = text(members, name)?;
        match found.map(str::len).filter(|length| *length > most) {
            Some(length) => Err(invalid(&format!(
                "Only {most} characters are allowed; {length} were supplied."
            ))),
            None => Ok(found.map(str::to_owned)),
        }
    };
    let needed = |value: Option<String>, name: &str| value.ok_or_else(|| Answer::missing(name));
    let list = match output.get("annotations") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(list)) => list.as_slice(),
        Some(other) => return Err(invalid(&format!("{other} is not an array."))),
    };
    if list.len() > MOST_ANNOTATIONS {
        return Err(invalid(&format!(
            "No more than {MOST_ANNOTATIONS} items are allowed; {} were supplied.",
            list.len()
        )));
    }
    let annotations = list.iter().map(|one| {
        let Value::Object(one) = one else {
            return Err(invalid(&format!("{one} is not an object.")));
        };
        let number = |name: &str| match one.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number > 0) {
                Some(number) => Ok(Some(number)),
                None => Err(invalid(&format!("{value} is not a positive integer."))),
            },
        };
        let found = Annotation {
            path: needed(limited(one, "path", usize::MAX)?, "path")?,
            start_line: number("start_line")?.ok_or_else(|| Answer::missing("start_line"))?,
            end_line: number("end_line")?.ok_or_else(|| Answer::missing("end_line"))?,
            start_column: number("start_column")?,
            end_column: number("end_column")?,
            level: needed(
                text(one, "annotation_level")?.map(str::to_owned),
                "annotation_level",
            )?,
            title: text(one, "title")?.map(str::to_owned),
            message: needed(limited(one, "message", MOST_MESSAGE)?, "message")?,
            raw_details: limited(one, "raw_details", MOST_MESSAGE)?,
        };
        let columns = found.start_column.is_some() || found.end_column.is_some();
        let long = |title: &String| title.chars().count() > MOST_TITLE;
        if found.end_line < found.start_line
            || columns && found.end_line != found.start_line
            || !matches!(found.level.as_str(), "notice" | "warning" | "failure")
            || found.title.as_ref().is_some_and(long)
        {
            return Err(Answer::invalid("CheckAnnotation", "data", "invalid", None));
        }
        Ok(found)
    });
    Ok(Some(Output {
        title: needed(text(output, "title")?.map(str::to_owned), "title")?,
        summary: needed(limited(output, "summary", MOST_TEXT)?, "summary")?,
        text: limited(output, "text", MOST_TEXT)?,
        annotations: annotations.collect::<Result<_, _>>()?,
    }))
}

fn create(state: &mut State, call: &Call, scope: &Scope) -> Result<Answer, Answer> {
    let members = call.members()?;
    let needed = |name| text(&members, name)?.ok_or_else(|| Answer::missing(name));
    let (name, sha) = (needed("name")?, needed("head_sha")?);
    let repository = state.repository(scope.repository)?;
    if !repository.commits.contains_key(sha) {
        return Err(unknown(sha));
    }
    let mut run = CheckRun {
        id: 0,
        name: name.to_owned(),
        head_sha: sha.to_owned(),
        external_id: text(&members, "external_id")?
            .unwrap_or_default()
            .to_owned(),
        // "If the integrator does not provide this, then the homepage of the GitHub app is used."
        details_url: format!("{}/apps/{}", state.base.web, state.app.slug),
        status: "queued".to_owned(),
        conclusion: None,
        started: state.now(),
        completed: None,
        title: None,
        summary: None,
        text: None,
        annotations: Vec::new(),
    };
    change(state, &mut run, &members)?;
    run.id = state.id();
    let id = run.id;
    let repository = state.repository_mut(scope.repository)?;
    repository.check_runs.insert(id, run);
    shown(state, call, scope, id).map(Answer::created)
}

fn update(state: &mut State, call: &Call, scope: &Scope, id: &str) -> Result<Answer, Answer> {
    let members = call.members()?;
    let mut run = find(state.repository(scope.repository)?, id)?.clone();
    if let Some(name) = text(&members, "name")? {
        name.clone_into(&mut run.name);
    }
    if let Some(external_id) = text(&members, "external_id")? {
        external_id.clone_into(&mut run.external_id);
    }
    change(state, &mut run, &members)?;
    let id = run.id;
    let repository = state.repository_mut(scope.repository)?;
    repository.check_runs.insert(id, run);
    shown(state, call, scope, id).map(Answer::ok)
}

/// What creation and update have in common. Annotations are added to those that are there.
fn change(state: &State, run: &mut CheckRun, members: &Map<String, Value>) -> Result<(), Answer> {
    let Progress { status, conclusion } = progress(members)?;
    let output = output(members)?;
    if let Some(url) = text(members, "details_url")? {
        url.clone_into(&mut run.details_url);
    }
    if conclusion.is_some() {
        // "Providing `conclusion` will automatically set the `status` parameter to `completed`."
        "completed".clone_into(&mut run.status);
        run.completed = Some(state.now());
        run.conclusion = conclusion;
    } else if let Some(status) = status {
        run.status = status;
        run.completed = None;
        run.conclusion = None;
    }
    if let Some(output) = output {
        run.title = Some(output.title);
        run.summary = Some(output.summary);
        run.text = output.text;
        run.annotations.extend(output.annotations);
    }
    Ok(())
}

fn shown(state: &State, call: &Call, scope: &Scope, id: u64) -> Result<Value, Answer> {
    let repository = state.repository(scope.repository)?;
    let run = find(repository, &id.to_string())?;
    Ok(json::check_run(state, &call.base, repository, run))
}
