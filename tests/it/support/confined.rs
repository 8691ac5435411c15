//! Whether this computer can confine agents to their model.

use planwright::adapters::agent::SandboxMode;
use planwright::adapters::agent::sandbox::{active, network_gap};

/// Returns whether agents can be confined here, and prints a line with `skipped` and the reason if
/// they cannot.
pub(crate) fn confined() -> bool {
    let gap = network_gap(SandboxMode::Required, &active(SandboxMode::Required));
    if let Some(gap) = &gap {
        println!("skipped: {gap}");
    }
    gap.is_none()
}
