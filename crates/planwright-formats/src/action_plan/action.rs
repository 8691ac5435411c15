//! What a plan is made of once it has been read.

use serde::Serialize;

use super::path::{ProjectPath, Resource};

/// Lines of the plan's text, 1-based, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// First line.
    pub start: usize,
    /// Last line; not before the first.
    pub end: usize,
}

impl Span {
    /// From `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// One line.
    pub fn line(line: usize) -> Self {
        Self::new(line, line)
    }
}

/// A plan that was read without a single error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionPlan {
    /// Text of the first heading, markup removed.
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

/// What the list below the title says, in its order and the author's own Markdown. No key occurs twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Key and value of every item.
    pub entries: Vec<(String, String)>,
}

impl Header {
    /// `Status`, such as `Green 🟢`.
    pub fn status(&self) -> Option<&str> {
        self.get("Status")
    }

    /// `Plan Type`, such as `Implementation`.
    pub fn plan_type(&self) -> Option<&str> {
        self.get("Plan Type")
    }

    /// `Agent`: who wrote the plan.
    pub fn agent(&self) -> Option<&str> {
        self.get("Agent")
    }

    /// `Goal`.
    pub fn goal(&self) -> Option<&str> {
        self.get("Goal")
    }

    /// The value of any key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        entries
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
}

impl Serialize for Header {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries.iter().map(|(key, value)| (key, value)))
    }
}

/// One action in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// 1-based.
    pub number: usize,
    /// From its heading to the last line that belongs to it.
    pub span: Span,
    /// What is to be done.
    #[serde(flatten)]
    pub action: Action,
}

/// What is to be done. As JSON: the fields of the action and its name as `type`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "UPPERCASE")]
pub enum Action {
    /// Write a new file.
    Create(Create),
    /// Change a file in places.
    Edit(Edit),
    /// Look at something.
    Read(Read),
    /// Forget something that was read.
    Prune(Prune),
    /// Run a command.
    Execute(Execute),
    /// Look something up.
    Research(Research),
    /// Tell or ask the user something.
    #[serde(rename = "CHAT_WITH_USER")]
    Chat(Chat),
    /// Hand on to another agent.
    Invoke(Invoke),
    /// Hand back to the agent that invoked this one.
    Return(Return),
}

/// `CREATE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Create {
    /// The new file.
    pub path: ProjectPath,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The text of the file, without line ends at its end; empty for an empty file.
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
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The changes in order; at least one.
    pub edits: Vec<Replacement>,
}

/// One change of an `EDIT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// What is there, without line ends at its end; never empty.
    pub find: String,
    /// What is to be there, without line ends at its end; empty deletes.
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
    /// What to look at.
    pub resource: Resource,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `PRUNE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prune {
    /// What to forget.
    pub resource: Resource,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// `EXECUTE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Execute {
    /// Shell text as it was written, without the `cd` and `export` lines at its top; trimmed, never empty.
    pub command: String,
    /// What is run, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What should happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// Folder to run it in; the project's root without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<ProjectPath>,
    /// Environment variables, names and values, in the order in which they are written; no name twice.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// The code block, fences included.
    #[serde(skip)]
    pub command_span: Span,
}

/// `RESEARCH`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Research {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// One for each code block; at least one, none blank.
    pub queries: Vec<String>,
}

/// `CHAT_WITH_USER`, also written `PROMPT` or `MESSAGE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chat {
    /// The author's Markdown; never blank.
    pub prompt: String,
}

/// `INVOKE`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invoke {
    /// Who.
    pub agent: String,
    /// What it should read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoff_resources: Vec<Resource>,
    /// The author's Markdown; never blank.
    pub message: String,
}

/// `RETURN`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Return {
    /// What the receiver should read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handoff_resources: Vec<Resource>,
    /// The author's Markdown; never blank.
    pub message: String,
}

fn as_map<S: serde::Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

impl Action {
    /// The name in the heading.
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

    /// What `Description` says.
    pub fn description(&self) -> Option<&str> {
        match self {
            Self::Create(it) => it.description.as_deref(),
            Self::Edit(it) => it.description.as_deref(),
            Self::Read(it) => it.description.as_deref(),
            Self::Prune(it) => it.description.as_deref(),
            Self::Execute(it) => it.description.as_deref(),
            Self::Research(it) => it.description.as_deref(),
            Self::Chat(_) | Self::Invoke(_) | Self::Return(_) => None,
        }
    }

    /// What it works on: a path, an address, a command, an agent; of several queries the first.
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Create(it) => Some(it.path.as_str()),
            Self::Edit(it) => Some(it.path.as_str()),
            Self::Read(it) => Some(it.resource.as_str()),
            Self::Prune(it) => Some(it.resource.as_str()),
            Self::Execute(it) => Some(&it.command),
            Self::Research(it) => it.queries.first().map(String::as_str),
            Self::Invoke(it) => Some(&it.agent),
            Self::Chat(_) | Self::Return(_) => None,
        }
    }
}
