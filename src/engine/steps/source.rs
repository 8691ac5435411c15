//! x
pub mod attachment;
