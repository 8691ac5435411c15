//! The GitHub client against a scripted server on the loopback interface.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod credentials;
mod limits;
mod outcomes;
mod pages;
mod requests;
mod stub;
