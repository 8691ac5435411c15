//! Checkpoints beside the writing connection, so that commits do not wait while what is in the WAL
//! is written into the database file.
//!
//! SQLite would do that itself with every thousandth page, within the commit that reaches it.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use tokio_util::sync::CancellationToken;

use super::super::errors::sentence;
use super::Writer;

/// Writes what it can into the database file and waits for nobody.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Makes a checkpoint whenever one is due, until `stop`.
pub(super) async fn run(writer: &Writer, options: &SqliteConnectOptions, stop: &CancellationToken) {
    // Connected when the first one is due, because an idle bot needs none.
    let mut connection = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = writer.checkpoint_due() => {}
        }
        if let Err(error) = checkpoint(writer, options, &mut connection).await {
            // Nothing is lost, and the writer makes one itself when the WAL is long.
            tracing::warn!(error = %sentence(&error), "no checkpoint could be made");
            connection = None;
        }
    }
}

async fn checkpoint(
    writer: &Writer,
    options: &SqliteConnectOptions,
    connection: &mut Option<SqliteConnection>,
) -> sqlx::Result<()> {
    if connection.is_none() {
        *connection = Some(options.connect().await?);
    }
    if let Some(connection) = connection {
        sqlx::query(CHECKPOINT).execute(connection).await?;
    }
    // The WAL is written from its beginning again only after a checkpoint of all of it. Little has
    // been added meanwhile.
    writer.checkpoint(CHECKPOINT).await
}
