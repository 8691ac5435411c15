//! The types of a parsed plan.

use serde::Serialize;

use super::path::{ProjectPath, Resource};

/// A range of lines of the plan, 1-based and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// First line.
    pub start: usize,
    /// Last line, not before the first.
    pub end: usize,
}

impl Span {
    /// Creates a range from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// Creates a range of one line.
    pub fn line(line: usize) -> Self {
        Self::new(line, line)
    }
}

/// A valid action plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionPlan {
    /// Text of the first heading without markup.
    pub title: String,
    /// The list below the title.
    pub header: Header,
    /// The code block below `Rationale`, without line ends at its end.
    pub rationale: String,
    /// The code block below `Memos`, without line ends at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memos: Option<String>,
    /// The actions in order; at least one.
    pub actions: Vec<Step>,
}

/// The metadata below the title, in order, as Markdown. Keys are unique.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Key and value of each item.
    pub entries: Vec<(String, String)>,
}

impl Header {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
}

impl Serialize for Header {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries.iter().map(|(key, value)| (key, value)))
    }
}

/// An action with its number and location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// 1-based.
    pub number: usize,
    /// From its heading to the last line that belongs to it.
    pub span: Span,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
}

/// An action. Serialized as its fields, with its name as `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "UPPERCASE")]
pub enum Action {
    /// Write a new file.
    Create(Create),
    /// Change parts of a file.
    Edit(Edit),
    /// Read a resource.
    Read(Read),
    /// Forget a resource that was read.
    Prune(Prune),
    /// Run a command.
    Execute(Execute),
    /// Answer questions by research.
    Research(Research),
    /// Send a message or a question to the user.
    #[serde(rename = "CHAT_WITH_USER")]
    Chat(Chat),
    /// Hand over to another agent.
    Invoke(Invoke),
    /// Return to the agent that invoked this one.
    Return(Return),
}

/// `CREATE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Create {
    /// The new file.
    pub path: ProjectPath,
    /// Reason for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text of the file without line breaks at its end; empty for an empty file.
    pub content: String,
    /// The code block, fences included.
    #[serde(skip)]
    pub content_span: Span,
}

/// `EDIT`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// The file.
    pub path: ProjectPath,
    /// Reason for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The changes in order; at least one.
    pub edits: Vec<Replacement>,
}

/// One change of an `EDIT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// The text to replace, without line breaks at its end; never empty.
    pub find: String,
    /// The replacement, without line breaks at its end; empty to delete.
    pub replace: String,
    /// The code block with [`Replacement::find`], fences included.
    #[serde(skip)]
    pub find_span: Span,
    /// The code block with [`Replacement::replace`], fences included.
    #[serde(skip)]
    pub replace_span: Span,
}

/// `READ`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Read {
    /// The resource to read.
    pub resource: Resource,
    /// Reason for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `PRUNE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prune {
    /// The resource to forget.
    pub resource: Resource,
    /// Reason for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `EXECUTE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Execute {
    /// Shell text without the `cd` and `export` lines at its top; trimmed, never empty.
    pub command: String,
    /// The command in words, and its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The expected result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Folder to run it in; the root of the project if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<ProjectPath>,
    /// Environment variables in the order of the plan; names are unique.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// The code block, fences included.
    #[serde(skip)]
    pub command_span: Span,
}

/// `RESEARCH`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Research {
    /// Reason for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The queries, one for each code block; at least one, none blank.
    pub queries: Vec<String>,
}

/// `CHAT_WITH_USER`, also written `PROMPT` or `MESSAGE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chat {
    /// Markdown of the message; never blank.
    pub prompt: String,
}

/// `INVOKE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invoke {
    /// Name of the agent.
    pub agent: String,
    /// Resources that the agent should read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoff_resources: Vec<Resource>,
    /// Markdown of the message; never blank.
    pub message: String,
}

/// `RETURN`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Return {
    /// Resources that the receiver should read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoff_resources: Vec<Resource>,
    /// Markdown of the message; never blank.
    pub message: String,
}

fn as_map<S: serde::Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

impl Action {
    /// Returns the name in the heading.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create(_) => "CREATE",
            Self::Edit(_) => "EDIT",
            Self::Read(_) => "READ",
            Self::Prune(_) => "PRUNE",
            Self::Execute(_) => "EXECUTE",
            Self::Research(_) => "RESEARCH",
            Self::Chat(_) => "CHAT_WITH_USER",
            Self::Invoke(_) => "INVOKE",
            Self::Return(_) => "RETURN",
        }
    }

    /// Returns the value of `Description`.
    pub fn description(&self) -> Option<&str> {
        let (Self::Create(Create { description, .. })
        | Self::Edit(Edit { description, .. })
        | Self::Read(Read { description, .. })
        | Self::Prune(Prune { description, .. })
        | Self::Execute(Execute { description, .. })
        | Self::Research(Research { description, .. })) = self
        else {
            return None;
        };
        description.as_deref()
    }

    /// Returns what the action works on: a path, an address, a command, an agent, or the first
    /// query.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Create(Create { path, .. }) | Self::Edit(Edit { path, .. }) => {
                Some(path.as_str())
            }
            Self::Read(Read { resource, .. }) | Self::Prune(Prune { resource, .. }) => {
                Some(resource.as_str())
            }
            Self::Execute(it) => Some(&it.command),
            Self::Research(it) => it.queries.first().map(String::as_str),
            Self::Invoke(it) => Some(&it.agent),
            Self::Chat(_) | Self::Return(_) => None,
        }
    }
}
