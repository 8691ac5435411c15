//! Settings that this process asks the system for.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Keeps the memory of this process, which contains keys and tokens, out of core dumps and away
/// from other processes of the same user.
///
/// Where the system refuses, its own settings apply.
pub fn keep_memory_private() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    // The limit does not apply to dumps that are piped to a program.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
