//! What an agent can reach on this computer: its own installation, the system's libraries, a few files of `/etc`, its
//! private folders. Nothing else can be opened, listed, made, removed or written to.
//!
//! On Linux this is Landlock: the kernel holds it over the process and all that it starts, nobody can take it off
//! again, and no privilege is needed. It is held as far as the kernel knows it: since ABI 6 an agent can signal nobody
//! outside and reach no abstract socket; before ABI 3 `truncate(2)` empties files of its user, and before ABI 9 named
//! sockets can be connected to. Whether a file is there, its mode, its times and its owner are out of Landlock's hands:
//! an agent can see and change them where its user can. Connections by TCP stay open: the agent needs its model.
//!
//! Landlock also refuses to trace, and so to look into, processes outside: `/proc/<pid>/environ` and `mem` of the bot
//! stay closed. A kernel that gives memory to read to holders of `CAP_PERFMON` asks Landlock too late, so agents have
//! no capabilities at all, also when the bot runs as root.

use std::fmt;
use std::path::{Path, PathBuf};

use super::SandboxMode;

#[cfg(target_os = "linux")]
mod landlocked;

/// What an agent may reach besides what every program needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Read and executed.
    pub reads: Vec<PathBuf>,
    /// Read and written, not executed.
    pub writes: Vec<PathBuf>,
}

/// What protects this computer from agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// Landlock, with the version of its interface.
    Landlock {
        /// 1 (Linux 5.13) and up; `truncate(2)` is held back since 3 (Linux 6.2), signals since 6 (Linux 6.12).
        abi: u32,
    },
    /// Nothing.
    None {
        /// Why, for people.
        why: String,
    },
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock { abi } if *abi < 3 => {
                write!(
                    f,
                    "Landlock (ABI {abi}; cutting files is not held back before ABI 3, signals not before ABI 6)"
                )
            }
            Self::Landlock { abi } if *abi < 6 => {
                write!(
                    f,
                    "Landlock (ABI {abi}; signals are not held back before ABI 6)"
                )
            }
            Self::Landlock { abi } => write!(f, "Landlock (ABI {abi})"),
            Self::None { why } => write!(f, "none ({why})"),
        }
    }
}

/// What agents run in with this setting on this computer, for `config` and the log.
pub fn active(setting: SandboxMode) -> Protection {
    match setting {
        SandboxMode::Off => Protection::None {
            why: "agent.sandbox is \"off\"".to_owned(),
        },
        SandboxMode::Auto | SandboxMode::Required => offered(),
    }
}

/// Whether agents go into a sandbox; an error says why there is none although one is required.
pub(super) fn wanted(setting: SandboxMode, offered: &Protection) -> Result<bool, String> {
    match (setting, offered) {
        (SandboxMode::Off, _) | (SandboxMode::Auto, Protection::None { .. }) => Ok(false),
        (SandboxMode::Required, Protection::None { why }) => Err(why.clone()),
        (_, Protection::Landlock { .. }) => Ok(true),
    }
}

/// What this computer offers.
#[cfg(target_os = "linux")]
pub(super) fn offered() -> Protection {
    landlocked::offered()
}

/// What this computer offers.
#[cfg(not(target_os = "linux"))]
pub(super) fn offered() -> Protection {
    Protection::None {
        why: "sandboxes are there on Linux only".to_owned(),
    }
}

/// Folders and files that every agent in the sandbox reads.
#[cfg(target_os = "linux")]
pub(super) fn system() -> impl Iterator<Item = &'static Path> {
    landlocked::system()
}

/// There is no sandbox here.
#[cfg(not(target_os = "linux"))]
pub(super) fn system() -> impl Iterator<Item = &'static Path> {
    std::iter::empty()
}

/// Puts the calling thread, and whatever it starts from now on, into the sandbox for good. An error says what failed.
#[cfg(target_os = "linux")]
pub(super) fn enter(policy: &Policy) -> Result<(), String> {
    landlocked::enter(policy)
}

/// There is none here.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter(_policy: &Policy) -> Result<(), String> {
    Err(offered().to_string())
}

/// Takes every privilege from the calling thread, and from whatever it starts, for good.
#[cfg(target_os = "linux")]
pub(super) fn drop_privileges() -> rustix::io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capability_is_in_bounding_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    };
    // A program started as root gets whatever is left in the bounding set. Those who may not change the set have
    // nothing to lose from it: set-user-id and file capabilities end with `no_new_privs`.
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(capability) {
            Ok(true) if remove_capability_from_bounding_set(capability).is_err() => break,
            Ok(_) => {}
            // The kernel knows no more.
            Err(_) => break,
        }
    }
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )
}

/// Nothing is known of privileges here.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(super) fn drop_privileges() -> rustix::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
