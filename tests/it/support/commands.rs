//! Commands on the issues of many installations.

use rand::RngExt as _;
use rand::rngs::StdRng;

use super::system::System;

const ISSUES_PER_OWNER: usize = 5;

/// An issue that commands are commented on.
pub(crate) struct Place {
    repository: String,
    issue: u64,
    pub(crate) has_plan: bool,
}

/// A command as somebody commented it.
pub(crate) struct Asked {
    pub(crate) repository: String,
    pub(crate) issue: u64,
    pub(crate) comment: u64,
    pub(crate) has_plan: bool,
}

/// Opens five issues in the repository of each of `owners` owners. Four of them begin with `plan`,
/// the other one holds none.
pub(crate) fn open_issues(system: &System, owners: usize, plan: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for owner in 0..owners {
        let repository = format!("team{owner}/search");
        system.repository(&repository, false);
        for number in 0..ISSUES_PER_OWNER {
            let has_plan = number != 3;
            let body = if has_plan { plan } else { "How are you?" };
            let issue = system.sim.open_issue(&repository, "bob", "Search", body);
            places.push(Place {
                repository: repository.clone(),
                issue: issue.unwrap(),
                has_plan,
            });
        }
    }
    places
}

/// Comments a random command on a random issue.
pub(crate) fn ask(system: &System, random: &mut StdRng, places: &[Place]) -> Asked {
    let place = &places[random.random_range(0..places.len())];
    let text = match random.random_range(0..10) {
        0..6 => "/save-plan",
        6..9 => "/save-raw-plan",
        _ => "/plan-status",
    };
    let comment = system
        .sim
        .comment(&place.repository, place.issue, "ada", text);
    Asked {
        repository: place.repository.clone(),
        issue: place.issue,
        comment: comment.unwrap(),
        has_plan: place.has_plan,
    }
}
