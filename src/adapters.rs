//! The top floor towards the outside world: HTTP in, GitHub out, the database, the simulator.

pub mod clock;
pub mod github;
pub mod redact;
