//! What the App needs on GitHub for its commands: permissions and events.

use std::collections::BTreeMap;

/// A permission of the App in repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// Name in GitHub's API and in App manifests.
    pub name: &'static str,
    /// Required access: `read` or `write`.
    pub access: &'static str,
    /// What does not work without it.
    pub purpose: &'static str,
}

/// A webhook event that the App subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Name in GitHub's API and in App manifests.
    pub name: &'static str,
    /// What does not work without it.
    pub purpose: &'static str,
}

/// The permissions that the App needs. `deploy/app-manifest.json` asks for exactly these.
pub const PERMISSIONS: [Permission; 5] = [
    Permission {
        name: "checks",
        access: "write",
        purpose: "check runs of /check-plan on pull requests",
    },
    Permission {
        name: "contents",
        access: "read",
        purpose: "reading the repository's files",
    },
    Permission {
        name: "issues",
        access: "write",
        purpose: "saving plans and answering on issues",
    },
    Permission {
        name: "metadata",
        access: "read",
        purpose: "looking up the role of people who give commands",
    },
    Permission {
        name: "pull_requests",
        access: "write",
        purpose: "answering on pull requests",
    },
];

/// The events that the App must be subscribed to. A ping lists the actual subscriptions. Those about
/// installations come anyway, and GitHub refuses a manifest that names them.
pub const EVENTS: [Event; 3] = [
    Event {
        name: "issue_comment",
        purpose: "commands in comments",
    },
    Event {
        name: "issues",
        purpose: "command labels on issues",
    },
    Event {
        name: "pull_request",
        purpose: "command labels on pull requests",
    },
];

/// Returns the permissions that are missing or too weak in `granted`, which maps names to `read`,
/// `write` or `admin`.
pub fn missing_permissions(granted: &BTreeMap<String, String>) -> Vec<Permission> {
    let level = |access: &str| match access {
        "read" => 1,
        "write" => 2,
        "admin" => 3,
        _ => 0,
    };
    let held = |name: &str| granted.get(name).map_or(0, |access| level(access));
    let lacks = |one: &Permission| held(one.name) < level(one.access);
    PERMISSIONS.into_iter().filter(lacks).collect()
}

/// Returns the events that are missing in `subscribed`.
pub fn missing_events(subscribed: &[String]) -> Vec<Event> {
    let lacks = |one: &Event| !subscribed.iter().any(|event| event == one.name);
    EVENTS.into_iter().filter(lacks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weaker_access_is_missing_and_stronger_access_is_not() {
        let granted = [
            ("checks", "read"),
            ("contents", "write"),
            ("issues", "admin"),
            ("pull_requests", "write"),
            ("actions", "write"),
        ];
        let granted = granted.map(|(name, access)| (name.to_owned(), access.to_owned()));
        let missing = missing_permissions(&granted.into());
        let names: Vec<&str> = missing.iter().map(|one| one.name).collect();
        assert_eq!(names, ["checks", "metadata"]);
    }

    #[test]
    fn events_are_compared_by_name() {
        let subscribed = ["issues", "issue_comment", "label"].map(str::to_owned);
        let names: Vec<&str> = missing_events(&subscribed)
            .iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["pull_request"]);
    }
}
