//! Files and plans to check.

use std::collections::BTreeMap;

use crate::action_plan::check::{PathState, ProjectFiles};
use crate::action_plan::{
    Action, ActionPlan, Create, Edit, Execute, Header, Invoke, ProjectPath, Prune, Read,
    Replacement, Resource, Return, Span, Step,
};

/// Files by their paths; the folders that they are in are there as well.
#[derive(Default)]
pub(super) struct Tree(BTreeMap<String, PathState<'static>>);

impl Tree {
    pub(super) fn with(mut self, path: &str, found: PathState<'static>) -> Self {
        self.0.insert(path.to_owned(), found);
        self
    }
}

impl ProjectFiles for Tree {
    fn get(&self, path: &ProjectPath) -> PathState<'_> {
        if let Some(found) = self.0.get(path.as_str()) {
            return *found;
        }
        let below = format!("{path}/");
        if self.0.keys().any(|other| other.starts_with(&below)) {
            PathState::Folder
        } else {
            PathState::Missing
        }
    }
}

pub(super) fn path(text: &str) -> ProjectPath {
    ProjectPath::parse(text).unwrap()
}

pub(super) fn plan(actions: Vec<Action>) -> ActionPlan {
    let steps = actions.into_iter().enumerate().map(|(index, action)| Step {
        number: index + 1,
        span: Span::new(10 * (index + 1), 10 * (index + 1) + 9),
        action,
    });
    ActionPlan {
        title: "Plan".to_owned(),
        header: Header::default(),
        rationale: String::new(),
        memos: None,
        actions: steps.collect(),
    }
}

pub(super) fn create(at: &str, content: &str) -> Action {
    Action::Create(Create {
        path: path(at),
        description: None,
        content: content.to_owned(),
        content_span: Span::line(12),
    })
}

pub(super) fn edit(at: &str, pairs: &[(&str, &str)]) -> Action {
    let pairs = pairs.iter().enumerate();
    Action::Edit(Edit {
        path: path(at),
        description: None,
        edits: pairs
            .map(|(index, (find, replace))| Replacement {
                find: (*find).to_owned(),
                replace: (*replace).to_owned(),
                find_span: Span::new(100 * (index + 1), 100 * (index + 1) + 2),
                replace_span: Span::new(100 * (index + 1) + 4, 100 * (index + 1) + 6),
            })
            .collect(),
    })
}

pub(super) fn read(resource: &str) -> Action {
    Action::Read(Read {
        resource: Resource::parse(resource).unwrap(),
        description: None,
    })
}

pub(super) fn prune(resource: &str) -> Action {
    Action::Prune(Prune {
        resource: Resource::parse(resource).unwrap(),
        description: None,
    })
}

pub(super) fn execute(command: &str, cwd: Option<&str>) -> Action {
    Action::Execute(Execute {
        command: command.to_owned(),
        description: None,
        expected_outcome: None,
        cwd: cwd.map(path),
        env: Vec::new(),
        command_span: Span::new(13, 15),
    })
}

pub(super) fn invoke(resources: &[&str]) -> Action {
    let resources = resources.iter().map(|it| Resource::parse(it).unwrap());
    Action::Invoke(Invoke {
        agent: "Architect".to_owned(),
        handoff_resources: resources.collect(),
        message: "Go on.".to_owned(),
    })
}

pub(super) fn hand_back(resources: &[&str]) -> Action {
    let resources = resources.iter().map(|it| Resource::parse(it).unwrap());
    Action::Return(Return {
        handoff_resources: resources.collect(),
        message: "Done.".to_owned(),
    })
}
