//! Libraries in C that a process of a test loads before all others (`LD_PRELOAD`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a library in `folder` with the compiler that Rust links with.
pub(crate) fn library(folder: &Path, source: &str) -> PathBuf {
    let file = folder.join("preload.c");
    let library = folder.join("preload.so");
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&file)
        .args(["-ldl", "-lpthread"]);
    assert!(compiler.status().unwrap().success());
    library
}
