//! `planwright extract`: shows what would be saved from a text, and why.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

mod evaluate;
#[cfg(test)]
mod tests {
    mod training;
}

use super::failure::print;
use super::local::{read_thread, trigger_for};
use super::{Failure, input};
use crate::engine::extract::{MIN_SCORE, Search, Trust, Verdict, scan};
use crate::engine::messages::failures::shorten;
use crate::engine::model::candidate::Candidate;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Prepared;
use crate::engine::model::trigger::Trigger;
use crate::engine::steps::verify::{document, found, settle_hidden};
use crate::formats::command::read_options;
use crate::formats::hidden;

/// Maximum number of candidates, and of skipped posts, in the output.
const MAX_SHOWN: usize = 6;

const HELP: &str = "\
FILE contains one text, or a conversation: lines like `--- @alice
2026-01-02T10:00:00Z` begin a post, and a line `title: …` above them gives the
title of the conversation. After the time, a post can have `association=…`,
`id=…`, `edited=TIME`, `hidden=REASON` and reactions such as `+1=2`. Posts of
all authors are searched, or only those of `author=LOGIN`; if posts have
associations, only those of the requester, of owners, members and collaborators,
and of Apps.

JSON fields:
  would_save     whether a plan would be saved
  title          of the plan, or null
  document       the document that would be saved, or null
  error          why nothing would be saved, or null
  error_type     error code (no_plan_found, invalid_input or validation_failed),
                 or null
  unclear        whether the bot would ask which of the candidates is meant
  minimum_score  minimum score of a text that looks like a plan by its form
  candidates     likeliest first: score, title (or null), where, characters, and
                 reasons (points, why; one gives the probability)
  left_out       what was not searched, one sentence each
  hidden         parts of the plan that are invisible on GitHub, such as HTML
                 comments

Exit codes:
  0  a plan would be saved
  1  nothing would be saved; the reason is printed
  2  the arguments are wrong, or FILE cannot be read

Examples:
  planwright extract plan.md                  the candidates with their scores,
                                              and the result
  planwright extract thread.md --document     print the document that would be
                                              saved
  gh issue view 12 --json body -q .body | planwright extract - --json
  planwright extract --evaluate fixtures/conversations
                                              how often the right plan is chosen
                                              in labelled conversations";

/// Show which plan would be saved from a text, and why
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Extract {
    /// File to read; `-` for standard input
    file: PathBuf,
    /// Print only the document that would be saved
    #[arg(long, conflicts_with = "json")]
    document: bool,
    /// Print the candidates and the result as JSON
    #[arg(long)]
    json: bool,
    /// Evaluate all labelled conversations below the folder FILE
    #[arg(long, conflicts_with = "document")]
    evaluate: bool,
}

impl Extract {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.evaluate {
            return print(&evaluate::evaluate(&self.file, self.json)?);
        }
        let name = self.file.display().to_string();
        let text = input::text(&self.file)?;
        let judged = judge(&name, &text)?;
        let text = match &judged.verdict {
            _ if self.json => format!("{:#}\n", as_json(&judged)),
            Ok(prepared) if self.document => prepared.document.clone(),
            Err(_) if self.document => String::new(),
            _ => as_text(&judged),
        };
        print(&text)?;
        match judged.verdict {
            Ok(_) => Ok(()),
            Err((_, why)) => Err(Failure::failed(format!(
                "{name}: nothing would be saved: {why}"
            ))),
        }
    }
}

/// The result for one conversation.
struct Judged {
    search: Search,
    /// Parts of the plan that are not visible on GitHub.
    hidden: Vec<String>,
    verdict: Result<Prepared, (Code, String)>,
    /// Labels in the head of the file.
    labels: BTreeMap<String, String>,
    /// Comment id of each post and its 1-based number in the file.
    numbers: Vec<(Option<u64>, usize)>,
    /// Comment id of the post with the command.
    command_post: Option<u64>,
}

/// A conversation in a file, and what the search in it needs.
struct Input {
    thread: Conversation,
    trigger: Trigger,
    trust: Trust,
    labels: BTreeMap<String, String>,
    numbers: Vec<(Option<u64>, usize)>,
    command_post: Option<u64>,
}

fn read(name: &str, text: &str) -> Result<Input, Failure> {
    let local = read_thread(text).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let trust = local.trust();
    let thread = local.thread;
    let trigger = trigger_for(&thread, local.command.as_ref());
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    Ok(Input {
        trust: options.author.map_or(trust, Trust::Named),
        labels: local.labels,
        numbers: local.numbers,
        command_post: local
            .command
            .and_then(|(index, _)| thread.posts.get(index)?.id),
        thread,
        trigger,
    })
}

fn judge(name: &str, text: &str) -> Result<Judged, Failure> {
    let input = read(name, text)?;
    let Input {
        thread, trigger, ..
    } = &input;
    let search = scan(thread, trigger).search(thread, trigger, &input.trust);
    let good = search
        .candidates
        .first()
        .filter(|_| search.verdict == Verdict::Plan);
    let hidden = good.map(|best| hidden::in_plan(&best.text));
    let verdict = match (good.cloned(), &search.verdict) {
        _ if search.unreadable.is_some() => Err((
            Code::InvalidInput,
            search.unreadable.clone().unwrap_or_default(),
        )),
        (None, Verdict::Unclear { why, .. }) => Err((
            Code::NoPlanFound,
            format!("it is not clear which plan is meant: {why}"),
        )),
        (None, _) => Err((
            Code::NoPlanFound,
            "nothing here is likely enough to be the plan".to_owned(),
        )),
        (Some(mut best), _) => settle_hidden(trigger, &mut best)
            .and_then(|hidden| document(trigger, &best, hidden, &thread.title, ""))
            .map_err(|failure| {
                let why = format!("{} {}", failure.message, failure.details.join(" "));
                (failure.code, why)
            }),
    };
    Ok(Judged {
        hidden: hidden.unwrap_or_default(),
        verdict,
        labels: input.labels,
        numbers: input.numbers,
        command_post: input.command_post,
        search,
    })
}

fn as_json(judged: &Judged) -> serde_json::Value {
    let Judged {
        search,
        hidden,
        verdict,
        ..
    } = judged;
    let shown: Vec<_> = search.candidates.iter().map(describe).collect();
    let good = verdict.as_ref().ok();
    let bad = verdict.as_ref().err();
    json!({
        "would_save": verdict.is_ok(),
        "title": good.map(|prepared| &prepared.title),
        "error": bad.map(|(_, why)| why),
        "error_type": bad.map(|(code, _)| code.name()),
        "document": good.map(|prepared| &prepared.document),
        "unclear": matches!(search.verdict, Verdict::Unclear { .. }),
        "minimum_score": MIN_SCORE,
        "candidates": shown,
        "left_out": search.left_out.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "hidden": hidden,
    })
}

fn as_text(judged: &Judged) -> String {
    let (search, hidden) = (&judged.search, &judged.hidden);
    let good = judged.verdict.as_ref().ok();
    let among = match search.verdict {
        Verdict::Unclear { among, .. } => among,
        Verdict::Plan | Verdict::None => 1,
    };
    // Shows everything up to the last candidate with at least half of the minimum score.
    let shown = search
        .candidates
        .iter()
        .rposition(|candidate| candidate.score * 2 >= MIN_SCORE)
        .map_or(0, |last| last + 1)
        .clamp(among, MAX_SHOWN)
        .min(search.candidates.len());
    let mut text: String = search.candidates[..shown].iter().map(row).collect();
    match search.candidates.len() - shown {
        0 => {}
        1 => text.push_str("and 1 other text\n"),
        more => text.push_str(&format!("and {more} other texts\n")),
    }
    for why in search.left_out.iter().take(MAX_SHOWN) {
        text.push_str(&format!("not searched: {why}\n"));
    }
    if let Some(more) = search
        .left_out
        .len()
        .checked_sub(MAX_SHOWN)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("not searched: {more} other posts\n"));
    }
    for part in hidden {
        text.push_str(&format!("hidden text: {}\n", shorten(part, 200)));
    }
    if let Some(prepared) = good {
        if let Some(hidden) = &prepared.hidden {
            let what = if hidden.kept { "kept" } else { "left out" };
            text.push_str(&format!("the hidden text would be {what}\n"));
        }
        text.push_str(&format!("\nwould save: {}\n", prepared.title));
    } else if let Verdict::Unclear { among, why } = &search.verdict {
        text.push_str(&format!(
            "\nwould ask which of the first {among} is meant: {why}\n"
        ));
    }
    text
}

fn describe(candidate: &Candidate) -> serde_json::Value {
    let reasons: Vec<_> = candidate
        .reasons
        .iter()
        .map(|(points, why)| json!({ "points": points, "why": why }))
        .collect();
    json!({
        "score": candidate.score, "title": candidate.title, "where": place(candidate),
        "characters": candidate.text.chars().count(), "reasons": reasons,
    })
}

/// Returns where a candidate was found, with the number of its post in the file.
fn place(candidate: &Candidate) -> String {
    let plain = found(&Candidate {
        url: None,
        ..candidate.clone()
    });
    match candidate
        .url
        .as_deref()
        .and_then(|url| url.strip_prefix('#'))
    {
        Some(number) => format!("{plain}, post {number}"),
        None => plain,
    }
}

fn row(candidate: &Candidate) -> String {
    let title = candidate.title.as_deref().unwrap_or("(no title)");
    let mut row = format!(
        "{:>4} points  {}  ({}, {} characters)\n",
        candidate.score,
        shorten(title, 70),
        place(candidate),
        candidate.text.chars().count()
    );
    for (points, why) in &candidate.reasons {
        row.push_str(&format!("     {points:+4}  {why}\n"));
    }
    row
}
