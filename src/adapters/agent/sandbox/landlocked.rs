//! The sandbox as Landlock rules.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, LandlockStatus, RestrictSelf, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

use super::{Policy, Protection};

/// The newest interface that the rules were written for. An older kernel holds as much of them as it knows.
const WRITTEN_FOR: ABI = ABI::V9;

/// Programs and libraries.
const SYSTEM: &[&str] = &["/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin"];

/// What programs read at start and to find and trust a server. Users and passwords are not among it.
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

/// Devices without a memory.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Folders and files that every agent reads.
pub(super) fn system() -> impl Iterator<Item = &'static Path> {
    SYSTEM.iter().chain(FILES).map(Path::new)
}

pub(super) fn offered() -> Protection {
    // The only way to ask in the crate's interface: a domain that restricts nothing. Without privileges the kernel
    // wants `no_new_privs` for a real one; nothing is enforced here, so that is left alone.
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

pub(super) fn enter(policy: &Policy) -> Result<(), String> {
    let status = restrict(policy).map_err(|error| error.to_string())?;
    match status {
        RulesetStatus::NotEnforced => Err(offered().to_string()),
        _ => Ok(()),
    }
}

fn restrict(policy: &Policy) -> Result<RulesetStatus, RulesetError> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = read | AccessFs::Execute;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let own = (AccessFs::from_all(WRITTEN_FOR) & !AccessFs::Execute)
        & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(WRITTEN_FOR))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        // What is not there is left out: there is nothing to open then.
        .add_rules(path_beneath_rules(SYSTEM, run))?
        .add_rules(path_beneath_rules(FILES, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(
            policy.reads.iter().map(AsRef::<Path>::as_ref),
            run,
        ))?
        .add_rules(path_beneath_rules(
            policy.writes.iter().map(AsRef::<Path>::as_ref),
            own,
        ))?
        .restrict_self()?;
    Ok(status.ruleset)
}
