//! The Landlock rules of the sandbox.

use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, RestrictSelf, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Policy, Protection};

/// The interface that the rules are written for. An older kernel enforces the subset it supports.
const MAX_ABI: ABI = ABI::V9;

/// Programs and libraries.
const SYSTEM: &[&str] = &["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin"];

/// Files that programs read at start, and to find and authenticate a server. Users and passwords
/// are not among them.
const FILES: &[&str] = &[
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/dev/random",
    "/dev/urandom",
];

/// Devices that store nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Returns the files and directories that every agent in the sandbox can read.
pub(crate) fn system_paths() -> impl Iterator<Item = &'static Path> {
    SYSTEM.iter().chain(FILES).map(Path::new)
}

/// Returns what the kernel offers.
pub(crate) fn available() -> Protection {
    // The only way to ask with this crate is a domain that restricts nothing. The kernel requires
    // `no_new_privs` only for one that does.
    match RestrictSelf::default().no_new_privs(false).apply() {
        Ok(status) => describe(&status.landlock),
        Err(error) => Protection::None {
            why: format!("the kernel does not say whether it has Landlock: {error}"),
        },
    }
}

fn describe(status: &LandlockStatus) -> Protection {
    match status {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => Protection::Landlock {
            abi: kernel_abi
                .and_then(|abi| u32::try_from(abi).ok())
                .unwrap_or(*effective_abi as u32),
        },
        LandlockStatus::NotEnabled => Protection::None {
            why: "the kernel has Landlock, but it is not enabled: add landlock to the lsm= boot parameter".to_owned(),
        },
        LandlockStatus::NotImplemented => Protection::None {
            why: "the kernel has no Landlock: it came with Linux 5.13, and a container's seccomp profile can hide it"
                .to_owned(),
        },
    }
}

/// Permanently puts the calling thread, and everything it starts from now on, into the sandbox.
///
/// # Errors
/// The reason why the sandbox cannot be entered.
pub(crate) fn enter(policy: &Policy) -> Result<(), String> {
    match restrict(policy).map_err(|error| error.to_string())? {
        RulesetStatus::NotEnforced => Err(available().to_string()),
        _ => Ok(()),
    }
}

fn restrict(policy: &Policy) -> Result<RulesetStatus, RulesetError> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let own = (AccessFs::from_all(MAX_ABI) & !AccessFs::Execute)
        & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(MAX_ABI))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if policy.network.is_some() {
        ruleset = ruleset.handle_access(AccessNet::from_all(MAX_ABI))?;
    }
    let port = policy.network.as_ref().map(|network| network.port);
    let port = port.map(|port| Ok(NetPort::new(port, AccessNet::ConnectTcp)));
    let status = ruleset
        .create()?
        // Paths that do not exist are skipped.
        .add_rules(path_beneath_rules(SYSTEM, run))?
        .add_rules(path_beneath_rules(FILES, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(&policy.reads, run))?
        .add_rules(path_beneath_rules(&policy.writes, own))?
        .add_rules(port.into_iter().collect::<Vec<Result<_, RulesetError>>>())?
        .restrict_self()?;
    Ok(status.ruleset)
}
