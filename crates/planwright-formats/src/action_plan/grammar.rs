//! The grammar as data: the slots before the actions, the actions, their keys. Everything else reads these tables.

use super::blocks::Kind;
use super::error::ErrorKind;

/// A place of the plan before its actions.
pub(super) struct Slot {
    /// What is reported when something else is there.
    pub(super) missing: ErrorKind,
    /// What may be there.
    pub(super) accepts: fn(&Kind) -> bool,
    /// Whether it must be there.
    pub(super) need: Need,
    /// What is due, in an error.
    pub(super) description: &'static str,
    /// What is due, in the blueprint.
    pub(super) blueprint: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Always,
    Never,
    /// When the slot before it is filled.
    WithPrevious,
}

/// The slots in order. What follows them are actions.
pub(super) const SLOTS: [Slot; 7] = [
    Slot {
        missing: ErrorKind::NoTitle,
        accepts: |kind| heading(kind, 1).is_some(),
        need: Need::Always,
        description: "a Level 1 Heading at the start of the document",
        blueprint: "Heading (Level 1)",
    },
    Slot {
        missing: ErrorKind::NoMetadata,
        accepts: |kind| matches!(kind, Kind::List),
        need: Need::Always,
        description: "a List (Metadata) immediately following the title",
        blueprint: "List (Metadata)",
    },
    Slot {
        missing: ErrorKind::NoRationale,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Rationale")),
        need: Need::Always,
        description: "a Level 2 Heading containing 'Rationale'",
        blueprint: "Heading (Level 2: Rationale)",
    },
    Slot {
        missing: ErrorKind::NoRationaleCode,
        accepts: is_code,
        need: Need::Always,
        description: "a CodeFence or BlockCode containing the rationale content",
        blueprint: "CodeFence or BlockCode (Rationale Content)",
    },
    Slot {
        missing: ErrorKind::NoActionPlan,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Memos")),
        need: Need::Never,
        description: "a Level 2 Heading containing 'Memos'",
        blueprint: "[Optional] Heading (Level 2: Memos)",
    },
    Slot {
        missing: ErrorKind::NoMemosCode,
        accepts: is_code,
        need: Need::WithPrevious,
        description: "a CodeFence or BlockCode containing the memos content",
        blueprint: "[Optional] CodeFence or BlockCode (Memos Content)",
    },
    Slot {
        missing: ErrorKind::NoActionPlan,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Action Plan")),
        need: Need::Always,
        description: "a Level 2 Heading containing 'Action Plan'",
        blueprint: "Heading (Level 2: Action Plan)",
    },
];

/// What is due behind the slots and behind every action.
pub(super) const ACTION_DUE: &str = "a Level 3 Action Heading";

/// What follows the slots, in the blueprint.
pub(super) const ACTIONS_BLUEPRINT: [&str; 2] = [
    "Heading (Level 3: Action Type)",
    "(the list, code and text of the action)",
];

/// Text of an ATX heading of `level`.
fn heading(kind: &Kind, wanted: u8) -> Option<&str> {
    match kind {
        Kind::Heading {
            level,
            setext: false,
            text,
            ..
        } if *level == wanted => Some(text),
        _ => None,
    }
}

fn is_code(kind: &Kind) -> bool {
    matches!(kind, Kind::Fence { .. } | Kind::Indented)
}

/// An action: its names, and what follows its heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ActionSpec {
    /// Which one.
    pub(super) name: Name,
    /// The name in the heading.
    pub(super) text: &'static str,
    /// Other names for it.
    pub(super) aliases: &'static [&'static str],
    /// Whether a list of keys follows.
    pub(super) list: List,
    /// The keys of that list.
    pub(super) keys: &'static [Key],
    /// What follows the list.
    pub(super) body: Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Create,
    Edit,
    Read,
    Prune,
    Execute,
    Research,
    Chat,
    Invoke,
    Return,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Required,
    Optional,
    /// A list is part of the text.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Nothing,
    /// One fence; what is in it.
    Fence(&'static str),
    /// `FIND:` and `REPLACE:` with code, once or more.
    Pairs,
    /// Fences, once or more.
    Fences,
    /// Anything up to the next action.
    Text,
}

/// A key of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) text: &'static str,
    pub(super) required: bool,
    pub(super) field: Field,
}

/// Where a value goes; this also says how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A path.
    FilePath,
    /// A path or an address.
    Resource,
    /// Text.
    Description,
    /// Text.
    ExpectedOutcome,
    /// Text.
    Agent,
    /// A path that must not look absolute.
    Cwd,
    /// A list of `NAME: value` below the key.
    Env,
    /// A list of paths and addresses below the key.
    Handoff,
}

const fn key(text: &'static str, required: bool, field: Field) -> Key {
    Key {
        text,
        required,
        field,
    }
}

const FILE_PATH: Key = key("File Path", true, Field::FilePath);
const RESOURCE: Key = key("Resource", true, Field::Resource);
const DESCRIPTION: Key = key("Description", false, Field::Description);
const HANDOFF: Key = key("Handoff Resources", false, Field::Handoff);

/// All actions, and nothing else is one.
pub(super) const ACTIONS: [ActionSpec; 9] = [
    ActionSpec {
        name: Name::Create,
        text: "CREATE",
        aliases: &[],
        list: List::Required,
        keys: &[FILE_PATH, DESCRIPTION],
        body: Body::Fence("content"),
    },
    ActionSpec {
        name: Name::Edit,
        text: "EDIT",
        aliases: &[],
        list: List::Required,
        keys: &[FILE_PATH, DESCRIPTION],
        body: Body::Pairs,
    },
    ActionSpec {
        name: Name::Read,
        text: "READ",
        aliases: &[],
        list: List::Required,
        keys: &[RESOURCE, DESCRIPTION],
        body: Body::Nothing,
    },
    ActionSpec {
        name: Name::Prune,
        text: "PRUNE",
        aliases: &[],
        list: List::Required,
        keys: &[RESOURCE, DESCRIPTION],
        body: Body::Nothing,
    },
    ActionSpec {
        name: Name::Execute,
        text: "EXECUTE",
        aliases: &[],
        list: List::Required,
        keys: &[
            DESCRIPTION,
            key("Expected Outcome", false, Field::ExpectedOutcome),
            key("cwd", false, Field::Cwd),
            key("env", false, Field::Env),
        ],
        body: Body::Fence("command"),
    },
    ActionSpec {
        name: Name::Research,
        text: "RESEARCH",
        aliases: &[],
        list: List::Required,
        keys: &[DESCRIPTION],
        body: Body::Fences,
    },
    ActionSpec {
        name: Name::Chat,
        text: "CHAT_WITH_USER",
        aliases: &["PROMPT", "MESSAGE"],
        list: List::None,
        keys: &[],
        body: Body::Text,
    },
    ActionSpec {
        name: Name::Invoke,
        text: "INVOKE",
        aliases: &[],
        list: List::Required,
        keys: &[key("Agent", true, Field::Agent), HANDOFF],
        body: Body::Text,
    },
    ActionSpec {
        name: Name::Return,
        text: "RETURN",
        aliases: &[],
        list: List::Optional,
        keys: &[HANDOFF],
        body: Body::Text,
    },
];

/// Keys of the list below the title that mean something. Others are kept.
pub(super) const HEADER_KEYS: [&str; 4] = ["Status", "Plan Type", "Agent", "Goal"];

/// The action with this name, exactly.
pub(super) fn action(name: &str) -> Option<&'static ActionSpec> {
    ACTIONS
        .iter()
        .find(|spec| spec.text == name || spec.aliases.contains(&name))
}

/// `name` differs from an action only in capitals, in signs, or by one letter.
pub(super) fn is_nearly_action(name: &str) -> bool {
    if name.len() > 32 {
        return false;
    }
    let name: String = name
        .chars()
        .filter(|c| c.is_alphabetic() || *c == '_')
        .flat_map(char::to_uppercase)
        .collect();
    names().any(|known| {
        name == known || known.len() > 4 && strsim::damerau_levenshtein(&name, known) == 1
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    ACTIONS
        .iter()
        .flat_map(|spec| std::iter::once(spec.text).chain(spec.aliases.iter().copied()))
}

/// The name of an action that somebody may have meant.
pub(super) fn nearest_action(name: &str) -> Option<&'static str> {
    // `READ: the docs` and `READ the docs` mean READ.
    let first = name.split([':', ' ']).next().unwrap_or(name);
    nearest(first, names())
}

/// The one of `names` that is nearest to `given`, when one is near.
pub(super) fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let given: String = given.chars().take(64).collect::<String>().to_lowercase();
    names
        .map(|name| {
            let lower = name.to_lowercase();
            let inside = given.len() > 3 && (given.contains(&lower) || lower.contains(&given));
            let score = strsim::jaro_winkler(&given, &lower);
            (name, if inside { score.max(0.9) } else { score })
        })
        .filter(|(_, score)| *score >= 0.78)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, _)| name)
}

/// Names in back-ticks, separated by commas.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
