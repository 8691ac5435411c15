//! Tests of the reader of named files.
