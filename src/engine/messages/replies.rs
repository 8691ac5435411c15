//! Replies of a single comment, e.g. refusals.

use super::{asked, person};
use crate::engine::model::trigger::Trigger;
use crate::formats::command::Permission;

/// Returns the refusal of a command, one line. No run is started.
pub fn refusal(trigger: &Trigger, has: Option<Permission>) -> String {
    let needs = permission_name(trigger.command.spec().permission);
    let has = has.map_or("no access", permission_name);
    format!(
        "😕 {}: {} needs `{needs}` permission in {}; you have `{has}`.",
        person(trigger),
        asked(trigger),
        trigger.place.repo.full_name()
    )
}

/// Returns the name of a role as GitHub shows it.
pub fn permission_name(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "read",
        Permission::Triage => "triage",
        Permission::Write => "write",
        Permission::Maintain => "maintain",
        Permission::Admin => "admin",
    }
}
