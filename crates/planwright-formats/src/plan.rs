//! Plans: their documents, titles and names, the gates they must pass, summaries, references to
//! their issues, and parts that fit into comments.

pub mod check;
pub mod document;
pub mod enriched;
pub mod files;
pub mod gate;
pub(crate) mod inline;
pub mod names;
pub mod reference;
mod sentence;
pub mod split;
pub mod steps;
pub mod stored;
pub mod summary;
pub mod title;
