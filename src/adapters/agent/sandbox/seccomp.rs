//! The system call filter of agents that may reach nothing but one TCP port. Landlock has rules for
//! `connect` and `bind` of TCP; this filter leaves them no other socket and no other call.
//!
//! An agent can create sockets of TCP over IPv4 and IPv6, and pairs of connected sockets. So it has
//! no UDP and no DNS, and cannot connect to named sockets, such as those of a container engine or
//! of the system's resolver. What is denied fails with `EACCES`.

use std::collections::BTreeMap;

use libc::{
    AF_INET, AF_INET6, AF_UNIX, EACCES, IPPROTO_TCP, MSG_FASTOPEN, SOCK_SEQPACKET, SOCK_STREAM,
    SYS_io_uring_setup, SYS_listen, SYS_request_key, SYS_sendmmsg, SYS_sendmsg, SYS_sendto,
    SYS_setsockopt, SYS_socket, SYS_socketpair, TCP_ULP, c_int,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// The bits of the type of a socket that are no flags (`SOCK_TYPE_MASK` of the kernel).
const TYPE_BITS: u64 = 0xf;

/// Bit of the system calls of x32, a second interface of some kernels for x86-64.
const X32_BIT: i64 = 0x4000_0000;

/// Numbers of x32 for system calls that have another number there (`syscall_64.tbl` of the kernel).
const X32_NUMBERS: [(i64, i64); 3] = [
    (SYS_sendmsg, 518),
    (SYS_sendmmsg, 538),
    (SYS_setsockopt, 541),
];

/// Checks that a filter can be installed, on a thread that ends.
///
/// # Errors
/// The reason why there is no filter.
pub(crate) fn check_filter() -> Result<(), String> {
    std::thread::spawn(enter_filter)
        .join()
        .unwrap_or_else(|_| Err("the thread that installs it panicked".to_owned()))
}

/// Permanently puts the calling thread, and everything it starts from now on, under the filter.
///
/// # Errors
/// The reason why the filter cannot be installed.
pub(crate) fn enter_filter() -> Result<(), String> {
    let arch = std::env::consts::ARCH;
    let target = TargetArch::try_from(arch)
        .map_err(|_| format!("filters for {arch} processors are not supported"))?;
    let program = program(target).map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&program).map_err(|error| error.to_string())
}

fn program(target: TargetArch) -> Result<BpfProgram, BackendError> {
    let mut denied = denied()?;
    if matches!(target, TargetArch::x86_64) {
        let x32 = denied.iter().map(|(number, rules)| {
            let other = X32_NUMBERS.iter().find(|(own, _)| own == number);
            let number = other.map_or(*number, |(_, x32)| *x32);
            (number | X32_BIT, rules.clone())
        });
        let x32: Vec<_> = x32.collect();
        denied.extend(x32);
    }
    SeccompFilter::new(
        denied,
        SeccompAction::Allow,
        SeccompAction::Errno(EACCES.unsigned_abs()),
        target,
    )?
    .try_into()
}

/// Returns the calls that are denied: each if one of its rules holds, or if it has none.
fn denied() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let not = |argument, value| condition(argument, SeccompCmpOp::Ne, value);
    let rule = SeccompRule::new;
    let flag = |argument| {
        let set = SeccompCmpOp::MaskedEq(bits(MSG_FASTOPEN));
        rule(vec![condition(argument, set, MSG_FASTOPEN)?])
    };
    let mut rules = BTreeMap::from([
        (
            SYS_socket,
            vec![
                rule(vec![not(0, AF_INET)?, not(0, AF_INET6)?])?,
                // MPTCP, SCTP and SMC have streams, too, and Landlock has no rules for them.
                rule(vec![not(2, 0)?, not(2, IPPROTO_TCP)?])?,
            ],
        ),
        (SYS_socketpair, vec![rule(vec![not(0, AF_UNIX)?])?]),
        // It binds a free port by itself, which Landlock does not see.
        (SYS_listen, Vec::new()),
        // TCP Fast Open connects without `connect`, and Linux 6.18 does not ask Landlock then.
        (SYS_sendto, vec![flag(3)?]),
        (SYS_sendmsg, vec![flag(2)?]),
        (SYS_sendmmsg, vec![flag(3)?]),
        // Replaces TCP in a socket by another protocol, such as SMC.
        (
            SYS_setsockopt,
            vec![rule(vec![
                condition(1, SeccompCmpOp::Eq, IPPROTO_TCP)?,
                condition(2, SeccompCmpOp::Eq, TCP_ULP)?,
            ])?],
        ),
        // A ring makes system calls that no filter sees.
        (SYS_io_uring_setup, Vec::new()),
        // Makes the kernel resolve names.
        (SYS_request_key, Vec::new()),
    ]);
    // Types of sockets are a few bits of an argument, for which there is only the comparison for
    // equality: every other type is denied.
    for kind in 0..=TYPE_BITS {
        let is = || {
            let operator = SeccompCmpOp::MaskedEq(TYPE_BITS);
            rule(vec![SeccompCondition::new(
                1,
                SeccompCmpArgLen::Dword,
                operator,
                kind,
            )?])
        };
        if kind != bits(SOCK_STREAM) {
            rules.entry(SYS_socket).or_default().push(is()?);
            // A pair of datagram sockets can send to named sockets.
            if kind != bits(SOCK_SEQPACKET) {
                rules.entry(SYS_socketpair).or_default().push(is()?);
            }
        }
    }
    Ok(rules)
}

/// A condition on the lower half of an argument: the kernel ignores the upper half of an `int`.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: c_int,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, bits(value))
}

fn bits(value: c_int) -> u64 {
    value.unsigned_abs().into()
}
