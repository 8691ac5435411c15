//! The limits on what the processes of one agent may use of the computer.

use crate::setting::Rule::Integer;
use crate::setting::{limit, megabyte_limit, settings};

settings! {
    /// Limits on the resources of the bot's host that one agent may use.
    pub struct ResourceLimits in "agent" {
        /// Maximum memory of all processes of one agent together, in megabytes; 0 for no limit.
        /// With a delegated cgroup the kernel enforces it; otherwise the processes are checked
        /// several times a second, and the agent is ended when it uses more.
        memory("max_memory_mb"): Option<u64> as "megabyte_limit" = 4096,
            Integer(0, 16_777_216, "megabytes");
        /// Maximum number of processes and threads of one agent; 0 for no limit. It is enforced
        /// like `max_memory_mb`.
        processes("max_processes"): Option<u64> as "limit" = 512,
            Integer(0, 1_000_000, "processes and threads");
        /// Maximum number of files that each process of an agent may have open; 0 for no
        /// additional limit. The agent is ended when a process has as many files open.
        open_files("max_open_files"): Option<u64> as "limit" = 4096,
            Integer(0, 1_000_000, "files");
        /// Maximum size of a file that an agent writes, in megabytes; 0 for no limit. The agent is
        /// ended when a file in its folder has reached this size.
        file_size("max_file_mb"): Option<u64> as "megabyte_limit" = 1024,
            Integer(0, 16_777_216, "megabytes");
        /// Maximum space that the files in an agent's private folder may take on disk, in megabytes;
        /// 0 for no limit. The folder is measured during a turn and at its end; every file counts as
        /// at least 4 KB.
        disk("max_disk_mb"): Option<u64> as "megabyte_limit" = 2048,
            Integer(0, 16_777_216, "megabytes");
    }
}
