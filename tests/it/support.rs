//! What the tests share: GitHub's published description as a judge, and the peers nobody here wrote.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

pub(crate) mod openapi;
pub(crate) mod peers;
pub(crate) mod webhook_examples;
