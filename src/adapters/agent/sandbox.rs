//! Limits what an agent can access on this computer: its own installation, the system's libraries,
//! a few files of `/etc`, and its private directories. Nothing else can be opened, listed, created,
//! removed or written.
//!
//! On Linux this is Landlock. The kernel enforces it for the process and all its descendants; it
//! cannot be undone and needs no privilege. How much is enforced depends on the kernel: since ABI 6
//! an agent can signal no process outside and connect to no abstract socket there; before ABI 3,
//! `truncate(2)` can empty files of the user, and before ABI 9, named sockets can be connected to.
//! Landlock does not cover the existence, mode, times and owner of files: an agent can see and
//! change them where its user can.
//!
//! An agent that may reach nothing but its model can connect to the port of the runner's proxy, to
//! no other TCP port, and can bind none (since ABI 4). A system call filter (seccomp) denies it all
//! other kinds of sockets. Landlock has no rules for addresses: the agent can connect to the same
//! port of another computer.
//!
//! Landlock also refuses ptrace access to processes outside, so `/proc/<pid>/environ` and `mem` of
//! the bot cannot be read. A kernel that grants read access to memory to holders of `CAP_PERFMON`
//! does so before it asks Landlock; therefore agents have no capabilities, even if the bot runs as
//! root.

use std::fmt;
#[cfg(not(target_os = "linux"))]
use std::path::Path;
use std::path::PathBuf;

use super::SandboxMode;

#[cfg(target_os = "linux")]
mod landlock;
#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod seccomp;
/// Stands in for the system call filter where there is none.
#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
mod seccomp {
    pub(crate) fn check_filter() -> Result<(), String> {
        Err("it is available on 64-bit Linux on x86, ARM and RISC-V only".to_owned())
    }

    pub(crate) fn enter_filter() -> Result<(), String> {
        check_filter()
    }
}

#[cfg(target_os = "linux")]
pub(super) use self::landlock::{available, enter, system_paths};
pub(super) use self::seccomp::{check_filter, enter_filter};
#[cfg(not(target_os = "linux"))]
pub(super) use no_sandbox::{available, enter, system_paths};

/// First version of Landlock with rules for TCP (Linux 6.7).
const NETWORK_ABI: u32 = 4;

/// What an agent may access in addition to what every program needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Files and directories to read and execute.
    pub reads: Vec<PathBuf>,
    /// Directories to read and write, but not to execute from.
    pub writes: Vec<PathBuf>,
    /// How the network is restricted; `None` if it is not.
    pub network: Option<NetworkPolicy>,
}

/// The only access to the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkPolicy {
    /// The only TCP port that can be connected to, where Landlock restricts that.
    pub port: u16,
    /// Whether a system call filter denies all sockets but those of TCP.
    pub filter: bool,
}

/// The protection of this computer from agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// Landlock.
    Landlock {
        /// Version of the interface: 1 since Linux 5.13. Version 3 (Linux 6.2) restricts
        /// `truncate(2)`, version 6 (Linux 6.12) signals.
        abi: u32,
    },
    /// No protection.
    None {
        /// The reason, for people.
        why: String,
    },
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landlock { abi } if *abi < 3 => {
                write!(
                    f,
                    "Landlock (ABI {abi}; truncating files is not restricted before ABI 3, signals not before ABI 6)"
                )
            }
            Self::Landlock { abi } if *abi < 6 => {
                write!(
                    f,
                    "Landlock (ABI {abi}; signals are not restricted before ABI 6)"
                )
            }
            Self::Landlock { abi } => write!(f, "Landlock (ABI {abi})"),
            Self::None { why } => write!(f, "none ({why})"),
        }
    }
}

/// Returns the protection that `setting` results in on this computer.
pub fn active(setting: SandboxMode) -> Protection {
    match setting {
        SandboxMode::Off => Protection::None {
            why: "agent.sandbox is \"off\"".to_owned(),
        },
        SandboxMode::Auto | SandboxMode::Required => available(),
    }
}

/// Whether agents run in a sandbox.
///
/// # Errors
/// A sandbox is required, but there is none. The error is the reason.
pub(super) fn is_used(setting: SandboxMode, available: &Protection) -> Result<bool, String> {
    match (setting, available) {
        (SandboxMode::Off, _) | (SandboxMode::Auto, Protection::None { .. }) => Ok(false),
        (SandboxMode::Required, Protection::None { why }) => Err(why.clone()),
        (_, Protection::Landlock { .. }) => Ok(true),
    }
}

/// Returns what keeps the network open to agents that run in a sandbox according to `setting` and
/// may reach only their model; `None` if it is closed. `here` is the protection of this computer.
pub fn network_gap(setting: SandboxMode, here: &Protection) -> Option<String> {
    if setting == SandboxMode::Off {
        return Some("agent.sandbox is \"off\"".to_owned());
    }
    describe_gap(here, check_filter())
}

fn describe_gap(here: &Protection, filter: Result<(), String>) -> Option<String> {
    let tcp = match here {
        Protection::None { why } => Some(why.clone()),
        Protection::Landlock { abi } if *abi < NETWORK_ABI => Some(format!(
            "Landlock ABI {abi} has no rules for TCP, which came with ABI {NETWORK_ABI} (Linux 6.7)"
        )),
        Protection::Landlock { .. } => None,
    };
    let others = filter.err().map(|why| {
        format!(
            "UDP, DNS, named sockets and TCP Fast Open are not denied, because there is no system call filter: {why}"
        )
    });
    let gaps: Vec<String> = tcp.into_iter().chain(others).collect();
    (!gaps.is_empty()).then(|| gaps.join("; "))
}

/// Stands in for the sandbox on systems that have none.
#[cfg(not(target_os = "linux"))]
mod no_sandbox {
    use super::{Path, Policy, Protection};

    pub(crate) fn available() -> Protection {
        Protection::None {
            why: "sandboxes are available on Linux only".to_owned(),
        }
    }

    pub(crate) fn system_paths() -> impl Iterator<Item = &'static Path> {
        std::iter::empty()
    }

    pub(crate) fn enter(_policy: &Policy) -> Result<(), String> {
        Err(available().to_string())
    }
}

/// Permanently drops all privileges of the calling thread and of everything it starts.
#[cfg(target_os = "linux")]
pub(super) fn drop_privileges() -> rustix::io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capability_is_in_bounding_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    };
    // A program started by root gains what is left in the bounding set. A user who may not change
    // the set gains nothing from it: `no_new_privs` disables set-user-id and file capabilities.
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(capability) {
            Ok(true) if remove_capability_from_bounding_set(capability).is_err() => break,
            Ok(_) => {}
            // The kernel has no further capabilities.
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

/// Does nothing: capabilities exist on Linux only.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(super) fn drop_privileges() -> rustix::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
