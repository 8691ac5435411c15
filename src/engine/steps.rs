//! The steps of a run, one module each. A step takes values and returns values.

pub mod extract;
