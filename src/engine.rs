//! The middle floor: decides and runs. Owns the traits through which the outside is reached:
//! [`store::Store`], [`forge::Forge`] and [`clock::Clock`].

pub mod clock;
pub mod forge;
pub mod run;
pub mod steps;
pub mod store;
pub mod thread;
pub mod trigger;
