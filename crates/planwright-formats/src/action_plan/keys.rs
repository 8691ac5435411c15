//! The list of keys below an action's heading, and the one below the title: exact keys, each once, each with its value.

use std::borrow::Cow;

use comrak::nodes::AstNode;

use super::action::{Header, Span};
use super::blocks::{Document, Node, preview};
use super::error::{ErrorKind, MAX_ERRORS, PlanError};
use super::execute;
use super::grammar::{self, ActionSpec, Body, Field, Key};
use super::items::{self, Item, Written, written};
use super::path::{PathError, ProjectPath, Resource};

/// The values of an action's keys.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) path: Option<ProjectPath>,
    pub(super) resource: Option<Resource>,
    pub(super) description: Option<String>,
    pub(super) expected_outcome: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) cwd: Option<ProjectPath>,
    pub(super) env: Vec<(String, String)>,
    pub(super) handoff: Vec<Resource>,
}

/// Reads the list below the title. Every key is kept; the known ones must be spelled as they are.
pub(super) fn header<'a>(
    document: &Document<'a>,
    list: &Node<'a>,
    errors: &mut Vec<PlanError>,
) -> Header {
    let mut header = Header::default();
    for item in items::items(document, list.ast, errors) {
        let known = grammar::HEADER_KEYS
            .iter()
            .find(|key| key.eq_ignore_ascii_case(&item.key));
        if let Some(key) = known.filter(|key| **key != item.key) {
            errors.push(miscased(&item, key));
        } else if header.get(&item.key).is_some() {
            errors.push(duplicate(&item));
        } else if let Some(error) = no_list(document, &item).or_else(|| no_value(&item)) {
            errors.push(error);
        } else {
            header
                .entries
                .push((item.key.into_owned(), item.value.into_owned()));
        }
    }
    header
}

/// Reads the list of an action. Keys that are wrong are all in `errors`.
pub(super) fn fields<'a>(
    document: &Document<'a>,
    spec: &ActionSpec,
    list: &Node<'a>,
    errors: &mut Vec<PlanError>,
) -> Fields {
    let mut fields = Fields::default();
    // One bit for each key of the action.
    let mut seen = 0_u32;
    let before = errors.len();
    let items = items::items(document, list.ast, errors);
    // A key may be in an item that cannot be read.
    let unread = errors.len() > before;
    for item in items {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        let Some(at) = spec.keys.iter().position(|key| key.text == item.key) else {
            let near = spec
                .keys
                .iter()
                .position(|key| key.text.eq_ignore_ascii_case(&item.key));
            match near {
                Some(at) => {
                    // It is there, only misspelled: not missing as well.
                    seen |= 1 << at;
                    errors.push(miscased(&item, spec.keys[at].text));
                }
                None => errors.push(unknown(&item, spec)),
            }
            continue;
        };
        if seen & (1 << at) != 0 {
            errors.push(duplicate(&item));
            continue;
        }
        seen |= 1 << at;
        if let Err(error) = value(document, &spec.keys[at], item, &mut fields, errors) {
            errors.push(error);
        }
    }
    for (at, key) in spec.keys.iter().enumerate() {
        if key.required && !unread && seen & (1 << at) == 0 {
            errors.push(PlanError::new(
                ErrorKind::MissingKey,
                format!("the key `{}`", key.text),
                "no such key in the list",
                list.span,
                format!("Add `- **{}:** …` to the list.", key.text),
            ));
        }
    }
    if spec.body == Body::Text {
        for error in &mut errors[before..] {
            if matches!(error.kind, ErrorKind::MalformedItem | ErrorKind::UnknownKey) {
                error.hints.push(
                    "A list directly below the heading is the list of keys. If it is the start of the text, put a \
                     sentence before it."
                        .to_owned(),
                );
            }
        }
    }
    fields
}

fn value<'a>(
    document: &Document<'a>,
    key: &Key,
    item: Item<'a>,
    fields: &mut Fields,
    errors: &mut Vec<PlanError>,
) -> Result<(), PlanError> {
    if matches!(key.field, Field::Env | Field::Handoff) {
        let list = below(key, &item)?;
        match key.field {
            Field::Env => fields.env = variables(document, list, errors),
            _ => fields.handoff = resources(document, list, errors),
        }
        return Ok(());
    }
    if let Some(error) = no_list(document, &item).or_else(|| no_value(&item)) {
        return Err(error);
    }
    match key.field {
        Field::Description => fields.description = Some(item.value.into_owned()),
        Field::ExpectedOutcome => fields.expected_outcome = Some(item.value.into_owned()),
        Field::Agent => fields.agent = Some(name(&item.value)),
        Field::FilePath => {
            fields.path = Some(read(
                &item.key,
                &item.value,
                item.paragraph,
                item.span,
                ProjectPath::parse,
                ProjectPath::from_link,
            )?);
        }
        Field::Resource => fields.resource = Some(resource(&item)?),
        Field::Cwd => {
            fields.cwd = Some(read(
                &item.key,
                &item.value,
                item.paragraph,
                item.span,
                execute::cwd,
                ProjectPath::from_link,
            )?);
        }
        Field::Env | Field::Handoff => {}
    }
    Ok(())
}

/// A name, out of its code span when it is in one.
fn name(value: &str) -> String {
    match items::code_span(value) {
        Some(inner) if !inner.contains('`') && !inner.trim().is_empty() => inner.trim().to_owned(),
        _ => value.to_owned(),
    }
}

fn resource(item: &Item<'_>) -> Result<Resource, PlanError> {
    read(
        &item.key,
        &item.value,
        item.paragraph,
        item.span,
        Resource::parse,
        Resource::from_link,
    )
}

/// Reads a value that names something, by the way in which it is written.
fn read<'a, T>(
    key: &str,
    value: &str,
    paragraph: &'a AstNode<'a>,
    span: Span,
    bare: impl Fn(&str) -> Result<T, PathError>,
    link: impl Fn(&str) -> Result<T, PathError>,
) -> Result<T, PlanError> {
    let of = || {
        if key.is_empty() {
            String::new()
        } else {
            format!(" of `{}`", preview(key))
        }
    };
    let result = match written(value, paragraph) {
        Ok(Written::Link(target)) => link(&target),
        Ok(Written::Bare(text)) => bare(text),
        Err(found) => {
            return Err(PlanError::new(
                ErrorKind::MalformedValue,
                format!("one link, one code span or bare text as the value{}", of()),
                format!("{found} in \"{}\"", preview(value)),
                span,
                "Write only the link, such as `[docs/a.md](/docs/a.md)`.",
            ));
        }
    };
    result.map_err(|error| {
        PlanError::new(
            ErrorKind::BadPath,
            format!("something that an action can work on as the value{}", of()),
            format!("\"{}\": {error}", preview(value)),
            span,
            error.remedy(),
        )
    })
}

/// The list below `key`, which must have no value of its own.
fn below<'a>(key: &Key, item: &Item<'a>) -> Result<&'a AstNode<'a>, PlanError> {
    let hint = match key.field {
        Field::Env => "Write one indented item for each variable below the key: `  - NAME: value`.",
        _ => {
            "Write one indented link for each resource below the key: `  - [docs/a.md](/docs/a.md)`."
        }
    };
    let expected = format!("a list below the key `{}`", key.text);
    match item.nested {
        Some(list) if item.value.is_empty() => Ok(list),
        None if item.value.is_empty() => Err(PlanError::new(
            ErrorKind::EmptyValue,
            expected,
            "nothing",
            item.span,
            hint,
        )),
        _ => Err(PlanError::new(
            ErrorKind::MalformedValue,
            expected,
            format!("\"{}\" on the key's own line", preview(&item.value)),
            item.span,
            hint,
        )),
    }
}

fn resources<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<Resource> {
    let mut found = Vec::new();
    for entry in items::entries(document, list, errors) {
        let item = Item {
            key: Cow::Borrowed(""),
            value: entry.text,
            span: entry.span,
            paragraph: entry.paragraph,
            nested: entry.nested,
        };
        match no_list(document, &item).map_or_else(|| resource(&item), Err) {
            Ok(resource) => found.push(resource),
            Err(error) => errors.push(error),
        }
    }
    found
}

fn variables<'a>(
    document: &Document<'a>,
    list: &'a AstNode<'a>,
    errors: &mut Vec<PlanError>,
) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for item in items::items(document, list, errors) {
        let name = items::code_span(&item.key).unwrap_or(&item.key);
        let value = ['"', '\'']
            .iter()
            .find_map(|quote| item.value.strip_prefix(*quote)?.strip_suffix(*quote));
        if let Some(error) = no_list(document, &item) {
            errors.push(error);
        } else if !execute::is_name(name) {
            errors.push(bad_variable(name, "which is no such name", item.span));
        } else if found.iter().any(|(known, _)| known == name) {
            errors.push(bad_variable(name, "which is set already", item.span));
        } else if value.is_none() && item.value.is_empty() {
            errors.push(no_value(&item).unwrap_or_else(|| duplicate(&item)));
        } else {
            let value = value.unwrap_or(&item.value).to_owned();
            found.push((name.to_owned(), value));
        }
    }
    found
}

/// The error for an environment variable.
pub(super) fn bad_variable(name: &str, why: &str, span: Span) -> PlanError {
    PlanError::new(
        ErrorKind::BadVariable,
        "the name of an environment variable, each once",
        format!("`{}`, {why}", preview(name)),
        span,
        "Use letters, digits and `_`, no digit first, and set every variable in one place only.",
    )
}

fn no_list(document: &Document<'_>, item: &Item<'_>) -> Option<PlanError> {
    let list = item.nested?;
    let at = super::blocks::span(document.lines, list);
    Some(PlanError::new(
        ErrorKind::BlockInItem,
        "only a key and its value in the item",
        format!(
            "a list below it, \"{}\"",
            preview(document.lines.text(at.start).trim())
        ),
        at,
        "Write the value on the line of its key.",
    ))
}

fn no_value(item: &Item<'_>) -> Option<PlanError> {
    item.value.is_empty().then(|| {
        PlanError::new(
            ErrorKind::EmptyValue,
            format!("a value behind the key `{}`", preview(&item.key)),
            "nothing",
            item.span,
            "Write the value behind the colon, or remove the item.",
        )
    })
}

fn miscased(item: &Item<'_>, key: &str) -> PlanError {
    PlanError::new(
        ErrorKind::MiscasedKey,
        format!("the key `{key}`"),
        format!("`{}`", preview(&item.key)),
        item.span,
        format!("Write it as `{key}`: capitals count."),
    )
}

fn duplicate(item: &Item<'_>) -> PlanError {
    PlanError::new(
        ErrorKind::DuplicateKey,
        "every key once",
        format!("`{}` for a second time", preview(&item.key)),
        item.span,
        "Keep one of the two.",
    )
}

fn unknown(item: &Item<'_>, spec: &ActionSpec) -> PlanError {
    let keys = spec.keys.iter().map(|key| key.text);
    let hint = match grammar::nearest(&item.key, keys.clone()) {
        Some(key) => format!("Did you mean `{key}`? Otherwise remove the item."),
        None => "Remove the item, or say it in the description.".to_owned(),
    };
    PlanError::new(
        ErrorKind::UnknownKey,
        format!("a key of {}: {}", spec.text, grammar::listed(keys)),
        format!("`{}`", preview(&item.key)),
        item.span,
        hint,
    )
}
