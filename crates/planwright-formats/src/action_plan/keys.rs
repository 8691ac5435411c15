//! The lists of keys below the title and below the heading of an action.

use comrak::nodes::AstNode;

use super::action::{Header, Span};
use super::blocks::{Block, Document, block_span, preview};
use super::error::{ErrorKind, MAX_ERRORS, PlanError};
use super::execute;
use super::grammar::{self, ActionSpec, Field, KeySpec};
use super::items::{self, Item, Notation};
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

/// Parses the list below the title. Every key is kept; the known ones must have their exact
/// spelling.
pub(super) fn header<'a>(
    document: &Document<'a>,
    list: &Block<'a>,
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
        } else if let Err(error) = check_scalar(document, &item) {
            errors.push(error);
        } else {
            header
                .entries
                .push((item.key.into_owned(), item.value.into_owned()));
        }
    }
    header
}

/// Parses the list of keys of an action and reports every invalid key in `errors`.
pub(super) fn fields<'a>(
    document: &Document<'a>,
    spec: &ActionSpec,
    list: &Block<'a>,
    errors: &mut Vec<PlanError>,
) -> Fields {
    let mut fields = Fields::default();
    let mut seen = vec![false; spec.keys.len()];
    let before = errors.len();
    let items = items::items(document, list.ast, errors);
    // A required key may be in an item that could not be parsed.
    let incomplete = errors.len() > before;
    for item in items {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        let Some(at) = spec.keys.iter().position(|key| key.text == item.key) else {
            let mut keys = spec.keys.iter().zip(&mut seen);
            match keys.find(|(key, _)| key.text.eq_ignore_ascii_case(&item.key)) {
                Some((key, seen)) => {
                    // A misspelled key is not reported as missing as well.
                    *seen = true;
                    errors.push(miscased(&item, key.text));
                }
                None => errors.push(unknown(&item, spec)),
            }
            continue;
        };
        if std::mem::replace(&mut seen[at], true) {
            errors.push(duplicate(&item));
            continue;
        }
        if let Err(error) = set_field(document, &spec.keys[at], item, &mut fields, errors) {
            errors.push(error);
        }
    }
    for (key, seen) in spec.keys.iter().zip(seen) {
        if key.required && !incomplete && !seen {
            errors.push(PlanError::new(
                ErrorKind::MissingKey,
                format!("the key `{}`", key.text),
                "no such key in the list",
                list.span,
                format!("Add `- **{}:** …` to the list.", key.text),
            ));
        }
    }
    if spec.has_text() {
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

fn set_field<'a>(
    document: &Document<'a>,
    key: &KeySpec,
    item: Item<'a>,
    fields: &mut Fields,
    errors: &mut Vec<PlanError>,
) -> Result<(), PlanError> {
    if !matches!(key.field, Field::Env | Field::Handoff) {
        check_scalar(document, &item)?;
    }
    match key.field {
        Field::Description => fields.description = Some(item.value.into_owned()),
        Field::ExpectedOutcome => fields.expected_outcome = Some(item.value.into_owned()),
        Field::Agent => fields.agent = Some(agent_name(&item.value)),
        Field::FilePath => {
            fields.path = Some(target(&item, ProjectPath::parse, ProjectPath::from_link)?);
        }
        Field::Resource => {
            fields.resource = Some(target(&item, Resource::parse, Resource::from_link)?);
        }
        Field::Cwd => {
            fields.cwd = Some(target(&item, execute::cwd, ProjectPath::from_link)?);
        }
        Field::Env => fields.env = variables(document, nested_list(key, &item)?, errors),
        Field::Handoff => fields.handoff = resources(document, nested_list(key, &item)?, errors),
    }
    Ok(())
}

/// Returns the name of an agent, without the code span around it.
fn agent_name(value: &str) -> String {
    match items::code_span(value) {
        Some(inner) if !inner.contains('`') && !inner.trim().is_empty() => inner.trim().to_owned(),
        _ => value.to_owned(),
    }
}

/// Parses a value that names a path or an address, with the parser for its notation.
fn target<T>(
    item: &Item<'_>,
    bare: impl Fn(&str) -> Result<T, PathError>,
    link: impl Fn(&str) -> Result<T, PathError>,
) -> Result<T, PlanError> {
    let of_key = || match item.key.as_ref() {
        "" => String::new(),
        key => format!(" of `{}`", preview(key)),
    };
    let result = match items::notation(&item.value, item.paragraph) {
        Ok(Notation::Link(target)) => link(&target),
        Ok(Notation::Bare(text)) => bare(text),
        Err(found) => {
            return Err(PlanError::new(
                ErrorKind::MalformedValue,
                format!(
                    "one link, one code span or bare text as the value{}",
                    of_key()
                ),
                format!("{found} in \"{}\"", preview(&item.value)),
                item.span,
                "Write only the link, such as `[docs/a.md](/docs/a.md)`.",
            ));
        }
    };
    result.map_err(|error| {
        PlanError::new(
            ErrorKind::BadPath,
            format!("a valid path or address as the value{}", of_key()),
            format!("\"{}\": {error}", preview(&item.value)),
            item.span,
            error.remedy(),
        )
    })
}

/// Returns the list below `key`, which must have no value of its own.
fn nested_list<'a>(key: &KeySpec, item: &Item<'a>) -> Result<&'a AstNode<'a>, PlanError> {
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
    for item in items::values(document, list, errors) {
        let resource = check_no_list(document, &item)
            .and_then(|()| target(&item, Resource::parse, Resource::from_link));
        match resource {
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
        let quoted = ['"', '\'']
            .iter()
            .find_map(|quote| item.value.strip_prefix(*quote)?.strip_suffix(*quote));
        let result = if let Err(error) = check_no_list(document, &item) {
            Err(error)
        } else if !execute::is_variable_name(name) {
            Err(bad_variable(name, "which is not a valid name", item.span))
        } else if found.iter().any(|(known, _)| known == name) {
            Err(bad_variable(name, "which is set already", item.span))
        } else {
            check_value(&item)
        };
        match result {
            Ok(()) => {
                let value = quoted.unwrap_or(&item.value);
                found.push((name.to_owned(), value.to_owned()));
            }
            Err(error) => errors.push(error),
        }
    }
    found
}

/// Returns the error for an environment variable.
pub(super) fn bad_variable(name: &str, why: &str, span: Span) -> PlanError {
    PlanError::new(
        ErrorKind::BadVariable,
        "the name of an environment variable, each once",
        format!("`{}`, {why}", preview(name)),
        span,
        "Use letters, digits and `_`, no digit first, and set every variable in one place only.",
    )
}

/// Rejects an item that has a list below it or no value.
fn check_scalar(document: &Document<'_>, item: &Item<'_>) -> Result<(), PlanError> {
    check_no_list(document, item)?;
    check_value(item)
}

fn check_no_list(document: &Document<'_>, item: &Item<'_>) -> Result<(), PlanError> {
    let Some(list) = item.nested else {
        return Ok(());
    };
    let at = block_span(document.lines, list);
    Err(PlanError::new(
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

fn check_value(item: &Item<'_>) -> Result<(), PlanError> {
    if !item.value.is_empty() {
        return Ok(());
    }
    Err(PlanError::new(
        ErrorKind::EmptyValue,
        format!("a value after the key `{}`", preview(&item.key)),
        "nothing",
        item.span,
        "Write the value after the colon, or remove the item.",
    ))
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
        None => "Remove the item, or move its content to the description.".to_owned(),
    };
    PlanError::new(
        ErrorKind::UnknownKey,
        format!("a key of {}: {}", spec.text, grammar::listed(keys)),
        format!("`{}`", preview(&item.key)),
        item.span,
        hint,
    )
}
