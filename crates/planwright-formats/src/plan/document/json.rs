//! Parsing of the JSON object that extractors returned before they used Markdown.
//!
//! A plan has `success: true`, `mode`, `plan_title`, `plan_content`, and in `enrichment` the fields
//! `guidance_applied`, `guidance_text`, `questions_asked`, `clarifications[]`, `context_extracted`,
//! `context_categories[]`. An error has `success: false`, `error`, `message`.

use serde_json::{Map, Value};

use super::{
    CATEGORIES, Enrichment, ErrorDocument, Guidance, Mode, ParsedDocument, PlanDocument,
    parse::clarification,
};
use crate::markdown::{self, BlockKind, Lines};
use crate::plan::inline::Item;
use crate::plan::title::title_of;
use crate::text::one_line;

/// Parses the object; `None` if `text` contains none.
pub(super) fn parse(text: &str) -> Option<ParsedDocument> {
    let object: Map<String, Value> = serde_json::from_str(source(text)?).ok()?;
    let neither = |reason: &str| Some(ParsedDocument::Neither(reason.to_owned()));
    if !object.get("success")?.as_bool()? {
        return Some(ParsedDocument::Error(ErrorDocument {
            code: string(&object, "error").unwrap_or("unknown").to_owned(),
            message: string(&object, "message").unwrap_or_default().to_owned(),
            details: None,
        }));
    }
    let Some(body) = string(&object, "plan_content").filter(|body| !body.trim().is_empty()) else {
        return neither("The answer says `success`, but its `plan_content` is missing or empty.");
    };
    let title = string(&object, "plan_title").map(one_line);
    let title = title.filter(|title| !title.is_empty());
    let Some(title) = title.or_else(|| title_of(body)) else {
        return neither("The answer has no `plan_title`, and its `plan_content` has no title.");
    };
    Some(ParsedDocument::Plan(PlanDocument {
        title,
        enrichment: enrichment(&object),
        body: body.to_owned(),
    }))
}

/// Returns the source of the object, which is the whole text or the content of a `json` fence
/// without text around it.
fn source(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    if trimmed.starts_with('{') {
        return Some(trimmed);
    }
    if !(trimmed.starts_with("```") || trimmed.starts_with("~~~")) {
        return None;
    }
    let blocks = markdown::blocks(trimmed);
    let [block] = blocks.as_slice() else {
        return None;
    };
    let BlockKind::Code { info, closed, .. } = &block.kind else {
        return None;
    };
    let lines = Lines::new(trimmed);
    let end = if *closed {
        lines.start(lines.at(block.span.end.saturating_sub(1)))
    } else {
        block.span.end
    };
    let inside = trimmed.get(lines.start(block.line + 1)..end)?;
    info.eq_ignore_ascii_case("json").then_some(inside)
}

fn enrichment(object: &Map<String, Value>) -> Enrichment {
    let mut found = Enrichment::raw();
    if string(object, "mode") == Some("enriched") {
        found.mode = Mode::Enriched;
    }
    let Some(Value::Object(facts)) = object.get("enrichment") else {
        return found;
    };
    let applied = facts.get("guidance_applied").and_then(Value::as_bool) == Some(true);
    let text = string(facts, "guidance_text").filter(|text| !text.is_empty());
    if applied || text.is_some() {
        found.guidance = Some(Guidance {
            text: text.unwrap_or_default().to_owned(),
            applied,
        });
    }
    let questions = facts.get("questions_asked").and_then(Value::as_u64);
    found.questions = questions.and_then(|n| n.try_into().ok()).unwrap_or(0);
    found.clarifications = list(facts, "clarifications")
        .filter_map(clarified)
        .collect();
    for named in list(facts, "context_categories").filter_map(Value::as_str) {
        for (name, set) in CATEGORIES.iter().zip(&mut found.categories) {
            *set |= named.trim().eq_ignore_ascii_case(name);
        }
    }
    found
}

/// Parses a clarification: a string `topic: answer`, or an object with one of the field names that
/// models used.
fn clarified(value: &Value) -> Option<(String, String)> {
    match value {
        Value::String(text) => Some(clarification(&Item {
            label: None,
            text: text.clone(),
        })),
        Value::Object(object) => {
            let topic = string(object, "topic").or_else(|| string(object, "question"));
            let answer = string(object, "answer").or_else(|| string(object, "resolution"))?;
            Some((topic.unwrap_or("Question").to_owned(), answer.to_owned()))
        }
        _ => None,
    }
}

fn string<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a Value> {
    object
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests;
