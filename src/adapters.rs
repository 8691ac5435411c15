//! The top floor towards the outside world: HTTP in, GitHub out, the database, the simulator.

pub mod http;
pub mod signature;
pub mod simulator;
