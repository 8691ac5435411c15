//! Tests of the GitHub client against a scripted server on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
#![allow(
    clippy::unnecessary_wraps,
    reason = "a script gives Option<Reply>, and so do the helpers it is made of"
)]

mod archives;
mod checks;
mod credentials;
mod files;
mod limits;
mod outcomes;
mod pages;
mod pulls;
mod requests;
mod secrecy;
mod stub;
mod trees;
