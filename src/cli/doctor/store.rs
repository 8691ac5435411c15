//! Checks of the database.

use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;

use super::report::Report;
use crate::adapters::store::volume::{self, FileSystem};
use crate::adapters::store::{Inspected, SCHEMA, inspect, inspect_postgres};
use crate::cli::database;
use crate::config::Loaded;
use crate::engine::store::StoreError;

/// Free space below which an error is reported, in bytes (64 MiB): four times the largest file that
/// a burst leaves beside the database.
const MIN_FREE: u64 = 64 << 20;

/// Free space below which a warning is given, in bytes (512 MiB).
const LOW_FREE: u64 = 512 << 20;

/// Time of a write from which on a warning is given. GitHub waits ten seconds for the answer to a
/// delivery, which takes one or two writes.
const SLOW: Duration = Duration::from_millis(500);

/// Checks the database. Returns whether a running bot uses it, as far as that can be known.
pub(super) async fn examine(report: &mut Report, loaded: &Loaded) -> bool {
    if let Some(url) = database::postgres_url(&loaded.config, &loaded.secrets) {
        postgres(report, &url, loaded.config.store.max_connections).await;
        return false;
    }
    // Relative paths depend on the working directory, which may not be that of the bot.
    let path = &std::path::absolute(&loaded.config.store.path)
        .unwrap_or_else(|_| loaded.config.store.path.clone());
    let in_use = match inspect(path).await {
        Ok(found) => {
            opened(report, path, found);
            found.in_use
        }
        Err(error) => {
            let text = error.to_string();
            let other = "check the file, or set store.path to another one";
            let (seen, remedy) = text.rsplit_once(": ").unwrap_or((&text, other));
            report.error("store", seen, remedy);
            false
        }
    };
    if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
        if let Some(free) = volume::free_bytes(folder) {
            space(report, folder, free);
        }
        file_system(report, folder, volume::file_system(folder));
        match volume::sync_time(folder) {
            Ok(time) => sync(report, folder, time),
            Err(error) => report.skipped(
                "store.sync",
                format!("nothing can be written to {}: {error}", folder.display()),
                None,
            ),
        }
    }
    in_use
}

async fn postgres(report: &mut Report, url: &SecretString, connections: u32) {
    let found = match inspect_postgres(url).await {
        Ok(found) => found,
        Err(error) => {
            let text = match error {
                StoreError::Failed(text) => text,
                other => other.to_string(),
            };
            let other = "check store.url";
            let (seen, remedy) = text.rsplit_once(": ").unwrap_or((&text, other));
            report.error("store", seen, remedy);
            return;
        }
    };
    let encrypted = if found.encrypted {
        "encrypted"
    } else {
        "not encrypted"
    };
    report.ok(
        "store",
        format!(
            "PostgreSQL {} can be used; the connection is {encrypted}",
            found.server
        ),
    );
    match found.schema {
        None => report.ok(
            "store.schema",
            "the database is empty; the first start creates the tables",
        ),
        Some(schema) => report.ok("store.schema", format!("{schema}")),
    }
    durability(report, &found.not_durable);
    // One more listens.
    let needed = connections + 1;
    let seen = format!(
        "one process needs {needed} connections, and the server allows {}",
        found.max_connections
    );
    if needed < found.max_connections {
        report.ok("store.connections", seen);
    } else {
        report.error(
            "store.connections",
            seen,
            "lower store.max_connections, or raise max_connections of the server",
        );
    }
}

/// Connections that do not wait for the disk are refused, so only the server's own settings are left.
fn durability(report: &mut Report, off: &[String]) {
    match off {
        [] => report.ok("store.sync", "what is committed survives a crash of the server's machine"),
        off => report.warning(
            "store.sync",
            format!(
                "a crash of the server's machine may lose what was committed, because of its settings {} = off",
                off.join(" = off, ")
            ),
            "set them on, unless its storage never writes part of a page and flushes by itself",
        ),
    }
}

fn opened(report: &mut Report, path: &Path, found: Inspected) {
    let shown = path.display();
    let used = if found.in_use {
        "a running bot uses it"
    } else {
        "no bot uses it now"
    };
    let Some(schema) = found.schema else {
        report.ok(
            "store",
            format!("there is no database at {shown} yet; the first start creates it"),
        );
        return;
    };
    report.ok("store", format!("{shown} can be used; {used}"));
    match schema {
        schema if schema > SCHEMA => report.error(
            "store.schema",
            format!("a newer planwright wrote the database: its schema is {schema}, this program knows {SCHEMA}"),
            "install the newer version",
        ),
        schema if schema < SCHEMA && found.in_use => report.warning(
            "store.schema",
            format!("the running bot is older than this program: its schema is {schema}, this program's {SCHEMA}"),
            "back up the database and restart the bot with this program",
        ),
        schema if schema < SCHEMA => report.warning(
            "store.schema",
            format!("an older planwright wrote the database: its schema is {schema}, this program's {SCHEMA}"),
            "back up the database if you may want to go back; the next start updates it",
        ),
        schema => report.ok("store.schema", format!("{schema}, the one of this program")),
    }
}

fn space(report: &mut Report, folder: &Path, free: u64) {
    let seen = format!("{} MiB are free in {}", free >> 20, folder.display());
    let remedy = "make room on the disk, or lower store.retention_days";
    if free < MIN_FREE {
        report.error("store.space", seen, remedy);
    } else if free < LOW_FREE {
        report.warning("store.space", seen, remedy);
    } else {
        report.ok("store.space", seen);
    }
}

fn file_system(report: &mut Report, folder: &Path, kind: FileSystem) {
    let shown = folder.display();
    match kind {
        FileSystem::Local => report.ok("store.disk", format!("{shown} is neither in memory nor on a known network file system")),
        FileSystem::Memory => report.warning(
            "store.disk",
            format!("{shown} is in memory: the database is lost when the computer restarts"),
            "set store.path to a file on a disk",
        ),
        FileSystem::Network(protocol) => report.warning(
            "store.disk",
            format!("{shown} is on a network file system ({protocol}), where SQLite's locks are not reliable"),
            "set store.path to a file on a local disk",
        ),
    }
}

fn sync(report: &mut Report, folder: &Path, time: Duration) {
    let seen = format!(
        "a synced write to {} takes {:.1} ms",
        folder.display(),
        time.as_secs_f64() * 1000.0
    );
    if time < SLOW {
        report.ok("store.sync", seen);
    } else {
        report.warning(
            "store.sync",
            seen,
            "put the database on a faster disk: every delivery waits for such a write before it is acknowledged",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_that_are_full_slow_or_elsewhere_are_found() {
        let folder = Path::new("/data");
        let said = |check: &dyn Fn(&mut Report)| {
            let mut report = Report::default();
            check(&mut report);
            let text = report.to_string();
            text.lines()
                .take_while(|line| !line.contains(" skipped"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let room = "\n         to do: make room on the disk, or lower store.retention_days";
        for (free, text) in [
            (
                (64 << 20) - 1,
                format!("error    store.space: 63 MiB are free in /data{room}"),
            ),
            (
                64 << 20,
                format!("warning  store.space: 64 MiB are free in /data{room}"),
            ),
            (
                512 << 20,
                "ok       store.space: 512 MiB are free in /data".to_owned(),
            ),
        ] {
            assert_eq!(said(&|report| space(report, folder, free)), text);
        }
        assert_eq!(
            said(&|report| sync(report, folder, Duration::from_millis(500))),
            "warning  store.sync: a synced write to /data takes 500.0 ms\n         to do: put the database on a faster \
             disk: every delivery waits for such a write before it is acknowledged"
        );
        assert_eq!(
            said(&|report| sync(report, folder, Duration::from_micros(1_250))),
            "ok       store.sync: a synced write to /data takes 1.2 ms"
        );
        assert_eq!(
            said(&|report| file_system(report, folder, FileSystem::Network("NFS"))),
            "warning  store.disk: /data is on a network file system (NFS), where SQLite's locks are not reliable\n\
             \x20        to do: set store.path to a file on a local disk"
        );
        assert_eq!(
            said(&|report| file_system(report, folder, FileSystem::Memory)),
            "warning  store.disk: /data is in memory: the database is lost when the computer restarts\n\
             \x20        to do: set store.path to a file on a disk"
        );
    }

    #[test]
    fn a_server_that_does_not_flush_is_warned_of() {
        let said = |off: &[&str]| {
            let mut report = Report::default();
            let off: Vec<String> = off.iter().map(|name| (*name).to_owned()).collect();
            durability(&mut report, &off);
            report.to_string()
        };
        assert!(said(&[]).starts_with("ok       store.sync: what is committed survives"));
        let text = said(&["fsync", "full_page_writes"]);
        assert!(
            text.starts_with(
                "warning  store.sync: a crash of the server's machine may lose what was committed, because of its \
                 settings fsync = off, full_page_writes = off\n         to do: set them on, unless"
            ),
            "{text}"
        );
    }

    #[test]
    fn an_older_schema_depends_on_whether_a_bot_uses_it() {
        let said = |in_use, schema| {
            let mut report = Report::default();
            opened(
                &mut report,
                Path::new("p.db"),
                Inspected {
                    in_use,
                    schema: Some(schema),
                },
            );
            report.to_string()
        };
        assert!(said(true, SCHEMA - 1).contains("restart the bot with this program"));
        assert!(said(false, SCHEMA - 1).contains("the next start updates it"));
        assert!(said(true, SCHEMA).contains("p.db can be used; a running bot uses it"));
        assert!(said(false, SCHEMA + 1).contains("to do: install the newer version"));
    }
}
