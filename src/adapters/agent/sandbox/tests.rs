//! When agents run in a sandbox, and how the protection is described.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;

#[test]
fn a_missing_sandbox_is_an_error_if_one_is_required() {
    let none = Protection::None {
        why: "the kernel has no Landlock".to_owned(),
    };
    let landlock = Protection::Landlock { abi: 7 };
    let table = [
        (SandboxMode::Auto, &none, Ok(false)),
        (SandboxMode::Auto, &landlock, Ok(true)),
        (SandboxMode::Off, &none, Ok(false)),
        (SandboxMode::Off, &landlock, Ok(false)),
        (
            SandboxMode::Required,
            &none,
            Err("the kernel has no Landlock".to_owned()),
        ),
        (SandboxMode::Required, &landlock, Ok(true)),
    ];
    for (setting, available, expected) in table {
        assert_eq!(
            is_used(setting, available),
            expected,
            "{setting:?} {available}"
        );
    }
}

#[test]
fn the_description_of_the_protection_names_its_gaps() {
    let texts = [1, 3, 6].map(|abi| Protection::Landlock { abi }.to_string());
    assert_eq!(
        texts,
        [
            "Landlock (ABI 1; truncating files is not restricted before ABI 3, signals not before ABI 6)",
            "Landlock (ABI 3; signals are not restricted before ABI 6)",
            "Landlock (ABI 6)"
        ]
    );
    assert_eq!(
        active(SandboxMode::Off).to_string(),
        "none (agent.sandbox is \"off\")"
    );
}

#[test]
fn what_keeps_the_network_open_is_named() {
    let none = Protection::None {
        why: "the kernel has no Landlock".to_owned(),
    };
    let [old, new] = [3, 4].map(|abi| Protection::Landlock { abi });
    let no_filter = || Err("Invalid argument".to_owned());
    let old_text = "Landlock ABI 3 has no rules for TCP, which came with ABI 4 (Linux 6.7)";
    let filter_text = "UDP, DNS, named sockets and TCP Fast Open are not denied, because there is \
                       no system call filter: Invalid argument";
    for (here, filter, expected) in [
        (&new, Ok(()), None),
        (&new, no_filter(), Some(filter_text.to_owned())),
        (&old, Ok(()), Some(old_text.to_owned())),
        (
            &old,
            no_filter(),
            Some(format!("{old_text}; {filter_text}")),
        ),
        (&none, Ok(()), Some("the kernel has no Landlock".to_owned())),
    ] {
        assert_eq!(describe_gap(here, filter), expected);
    }
    assert_eq!(
        network_gap(SandboxMode::Off, &new).unwrap(),
        "agent.sandbox is \"off\""
    );
}
