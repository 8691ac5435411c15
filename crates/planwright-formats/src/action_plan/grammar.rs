//! The grammar as tables: the blocks before the actions, the actions and their keys.

use super::blocks::BlockKind;
use super::error::ErrorKind;

/// A block that comes before the actions.
pub(super) struct Slot {
    /// The error when another block is in its place.
    pub(super) missing: ErrorKind,
    pub(super) accepts: fn(&BlockKind) -> bool,
    pub(super) presence: Presence,
    /// The block in error messages.
    pub(super) description: &'static str,
    /// The block in the expected structure of the diff.
    pub(super) blueprint: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Required if and only if the slot before it is filled.
    WithPrevious,
}

/// The slots in order. Actions follow them.
pub(super) const SLOTS: [Slot; 7] = [
    Slot {
        missing: ErrorKind::NoTitle,
        accepts: |kind| heading(kind, 1).is_some(),
        presence: Presence::Required,
        description: "a Level 1 Heading at the start of the document",
        blueprint: "Heading (Level 1)",
    },
    Slot {
        missing: ErrorKind::NoMetadata,
        accepts: |kind| *kind == BlockKind::List,
        presence: Presence::Required,
        description: "a List (Metadata) immediately following the title",
        blueprint: "List (Metadata)",
    },
    Slot {
        missing: ErrorKind::NoRationale,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Rationale")),
        presence: Presence::Required,
        description: "a Level 2 Heading containing 'Rationale'",
        blueprint: "Heading (Level 2: Rationale)",
    },
    Slot {
        missing: ErrorKind::NoRationaleCode,
        accepts: BlockKind::is_code,
        presence: Presence::Required,
        description: "a CodeFence or BlockCode containing the rationale content",
        blueprint: "CodeFence or BlockCode (Rationale Content)",
    },
    Slot {
        missing: ErrorKind::NoActionPlan,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Memos")),
        presence: Presence::Optional,
        description: "a Level 2 Heading containing 'Memos'",
        blueprint: "[Optional] Heading (Level 2: Memos)",
    },
    Slot {
        missing: ErrorKind::NoMemosCode,
        accepts: BlockKind::is_code,
        presence: Presence::WithPrevious,
        description: "a CodeFence or BlockCode containing the memos content",
        blueprint: "[Optional] CodeFence or BlockCode (Memos Content)",
    },
    Slot {
        missing: ErrorKind::NoActionPlan,
        accepts: |kind| heading(kind, 2).is_some_and(|text| text.contains("Action Plan")),
        presence: Presence::Required,
        description: "a Level 2 Heading containing 'Action Plan'",
        blueprint: "Heading (Level 2: Action Plan)",
    },
];

/// The block that must follow the slots and every action, in error messages.
pub(super) const ACTION_DUE: &str = "a Level 3 Action Heading";

/// The blocks after the slots in the expected structure of the diff.
pub(super) const ACTIONS_BLUEPRINT: [&str; 2] = [
    "Heading (Level 3: Action Type)",
    "(the list, code and text of the action)",
];

/// Returns the text of an ATX heading of the wanted level.
fn heading(kind: &BlockKind, wanted: u8) -> Option<&str> {
    match kind {
        BlockKind::Heading {
            level,
            setext: false,
            text,
            ..
        } if *level == wanted => Some(text),
        _ => None,
    }
}

/// An action: its names and its list of keys.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ActionSpec {
    pub(super) name: ActionName,
    /// The name in the heading.
    pub(super) text: &'static str,
    /// Other accepted names.
    pub(super) aliases: &'static [&'static str],
    /// Whether a list of keys follows the heading.
    pub(super) list: KeyList,
    /// The keys of that list.
    pub(super) keys: &'static [KeySpec],
}

impl ActionSpec {
    const fn new(
        name: ActionName,
        text: &'static str,
        list: KeyList,
        keys: &'static [KeySpec],
    ) -> Self {
        Self {
            name,
            text,
            aliases: &[],
            list,
            keys,
        }
    }

    /// Whether the action ends with free text.
    pub(super) fn has_text(&self) -> bool {
        use ActionName::{Chat, Invoke, Return};
        matches!(self.name, Chat | Invoke | Return)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionName {
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
pub(super) enum KeyList {
    Required,
    Optional,
    /// A list is part of the text.
    None,
}

/// A key of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeySpec {
    pub(super) text: &'static str,
    pub(super) required: bool,
    pub(super) field: Field,
}

/// The field that a key sets, which also determines how its value is parsed.
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

const fn key(text: &'static str, required: bool, field: Field) -> KeySpec {
    KeySpec {
        text,
        required,
        field,
    }
}

const FILE_PATH: KeySpec = key("File Path", true, Field::FilePath);
const RESOURCE: KeySpec = key("Resource", true, Field::Resource);
const DESCRIPTION: KeySpec = key("Description", false, Field::Description);
const OUTCOME: KeySpec = key("Expected Outcome", false, Field::ExpectedOutcome);
const CWD: KeySpec = key("cwd", false, Field::Cwd);
const ENV: KeySpec = key("env", false, Field::Env);
const AGENT: KeySpec = key("Agent", true, Field::Agent);
const HANDOFF: KeySpec = key("Handoff Resources", false, Field::Handoff);

/// All actions.
pub(super) const ACTIONS: [ActionSpec; 9] = {
    use ActionName as A;
    use KeyList::{Optional, Required};
    [
        ActionSpec::new(A::Create, "CREATE", Required, &[FILE_PATH, DESCRIPTION]),
        ActionSpec::new(A::Edit, "EDIT", Required, &[FILE_PATH, DESCRIPTION]),
        ActionSpec::new(A::Read, "READ", Required, &[RESOURCE, DESCRIPTION]),
        ActionSpec::new(A::Prune, "PRUNE", Required, &[RESOURCE, DESCRIPTION]),
        ActionSpec::new(
            A::Execute,
            "EXECUTE",
            Required,
            &[DESCRIPTION, OUTCOME, CWD, ENV],
        ),
        ActionSpec::new(A::Research, "RESEARCH", Required, &[DESCRIPTION]),
        ActionSpec {
            aliases: &["PROMPT", "MESSAGE"],
            ..ActionSpec::new(A::Chat, "CHAT_WITH_USER", KeyList::None, &[])
        },
        ActionSpec::new(A::Invoke, "INVOKE", Required, &[AGENT, HANDOFF]),
        ActionSpec::new(A::Return, "RETURN", Optional, &[HANDOFF]),
    ]
};

/// Keys of the list below the title that have a meaning. Others are kept.
pub(super) const HEADER_KEYS: [&str; 4] = ["Status", "Plan Type", "Agent", "Goal"];

/// Returns the action with exactly this name.
pub(super) fn action(name: &str) -> Option<&'static ActionSpec> {
    ACTIONS
        .iter()
        .find(|spec| spec.text == name || spec.aliases.contains(&name))
}

/// Maximum length of a heading that may be a misspelled action, in bytes.
const MAX_MISSPELLED_BYTES: usize = 32;
/// Maximum length of the part of a name that is compared with known names, in characters.
const MAX_COMPARED_CHARS: usize = 64;
/// Minimum Jaro-Winkler similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.78;
/// Similarity of a name that contains the other one.
const CONTAINED_SIMILARITY: f64 = 0.9;

/// Whether `name` differs from the name of an action only in case, in punctuation, or by one edit.
pub(super) fn is_nearly_action(name: &str) -> bool {
    if name.len() > MAX_MISSPELLED_BYTES {
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

/// Returns the name of the action that the author probably meant.
pub(super) fn nearest_action(name: &str) -> Option<&'static str> {
    // `READ: the docs` and `READ the docs` mean `READ`.
    let first = name.split([':', ' ']).next().unwrap_or(name);
    nearest(first, names())
}

/// Returns the one of `names` that is most similar to `given`, if any is similar enough.
pub(super) fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let given: String = given.chars().take(MAX_COMPARED_CHARS).collect();
    let given = given.to_lowercase();
    names
        .map(|name| {
            let lower = name.to_lowercase();
            let inside = given.len() > 3 && (given.contains(&lower) || lower.contains(&given));
            let score = strsim::jaro_winkler(&given, &lower);
            (
                name,
                if inside {
                    score.max(CONTAINED_SIMILARITY)
                } else {
                    score
                },
            )
        })
        .filter(|(_, score)| *score >= MIN_SIMILARITY)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(name, _)| name)
}

/// Lists names in backticks, separated by commas.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
