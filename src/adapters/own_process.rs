//! What this process asks of the system for itself.

/// Keeps the memory of this process out of core dumps and of other processes of its user: it holds keys and tokens.
///
/// Best effort: where the system refuses, its own settings hold.
#[cfg(unix)]
pub fn keep_memory_private() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    // Also where dumps go to a program, which the limit does not hold back.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Nothing can be asked for here.
#[cfg(not(unix))]
pub fn keep_memory_private() {}
