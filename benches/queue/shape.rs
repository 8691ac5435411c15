//! The backlogs that are measured: who has how many runs where.

use planwright::engine::model::intake::Source;
use planwright::engine::model::run::RunId;
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::engine::store::{NewDelivery, NewRun};
use planwright::formats::command::Command;

/// Where a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) installation: u64,
    pub(crate) repo: u64,
    pub(crate) number: u64,
}

/// How the runs of a backlog are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Ten repositories in each installation, ten issues in each repository.
    Many,
    /// One installation with one repository. A fifth of its runs is blocked behind the first one at
    /// one issue.
    HotIssue,
    /// A repository for each run, ten repositories in each installation.
    OneEach,
    /// One installation has asked for all but the last hundredth, in a tenth as many repositories;
    /// the others are behind it.
    OneTenant,
}

impl Shape {
    pub(crate) const ALL: [Self; 4] = [Self::Many, Self::HotIssue, Self::OneEach, Self::OneTenant];

    /// Returns the name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Many => "many",
            Self::HotIssue => "hot issue",
            Self::OneEach => "one each",
            Self::OneTenant => "one tenant",
        }
    }

    /// Returns where the run with this number is in a backlog of `size`, which later runs follow.
    /// The first one at an issue is ready, and the others are blocked.
    pub(crate) fn place(self, number: u64, size: u64) -> Place {
        let place = |installation, repo, number| Place {
            installation,
            repo,
            number,
        };
        match self {
            Self::Many => {
                let repo = number % (size / 10);
                place(repo / 10, repo, number)
            }
            Self::HotIssue if number.is_multiple_of(5) => place(1, 1, 0),
            Self::HotIssue => place(1, 1, number),
            Self::OneEach => place(number / 10, number, number),
            Self::OneTenant if number < size - size / 100 => place(0, number % (size / 10), number),
            Self::OneTenant => place(number, size + number, number),
        }
    }
}

/// The time at which the run with this number was accepted.
pub(crate) fn at(number: u64) -> Millis {
    Millis(1_700_000_000_000 + i64::try_from(number).unwrap_or(i64::MAX))
}

/// Returns the command at a place.
pub(crate) fn trigger(place: Place, at: Millis) -> Trigger {
    Trigger {
        command: Command::SavePlan,
        actor: Actor {
            id: 7,
            login: "octocat".into(),
            bot: false,
        },
        place: IssueRef {
            repo: Repo {
                installation: place.installation,
                id: place.repo,
                owner: format!("owner{}", place.installation),
                name: format!("repository{}", place.repo),
            },
            number: place.number,
            pull_request: false,
        },
        origin: Origin::Label {
            name: "save-plan".into(),
        },
        options: Vec::new(),
        guidance: Some("keep the sessions over a restart".to_owned()),
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: None,
        at,
    }
}

/// Returns a delivery with one run at a place.
pub(crate) fn delivery(guid: String, place: Place, at: Millis) -> NewDelivery {
    let trigger = trigger(place, at);
    let key = trigger.place.key();
    let run = NewRun {
        id: RunId::new(),
        command: "save-plan".to_owned(),
        serial: Some(key.clone()),
        place: key,
        repo_id: place.repo,
        installation: place.installation,
        trigger,
    };
    NewDelivery {
        source: Source::Webhook,
        guid,
        event: "issues".to_owned(),
        action: Some("labeled".to_owned()),
        installation: place.installation,
        dedup_key: None,
        received: at,
        payload: None,
        runs: vec![run],
        installation_gone: false,
    }
}
