//! `planwright plan`, as a program.
