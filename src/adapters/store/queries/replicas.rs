//! What processes agree on. The tables exist on PostgreSQL only.

use std::time::Duration;

use super::super::errors::WriteError;
use super::super::sql::{Connection, Value, column, number};
use crate::engine::model::time::Millis;
use crate::engine::replicas::{PlannedWrite, Slot};

const LEAD: &str = "
INSERT INTO tasks (name, owner, until_ms) VALUES ($1, $2, $4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
WHERE tasks.owner = excluded.owner OR tasks.until_ms <= $3";

/// Parameters: the installation, the time, and the two gaps. The second gap is NULL for a write that
/// does not notify: it waits for no such write, and none waits for it.
const RESERVE: &str = "
INSERT INTO lanes (installation, write_ms, notify_ms) VALUES ($1, $2, CASE WHEN $4 IS NULL THEN 0 ELSE $2 END)
ON CONFLICT (installation) DO UPDATE SET
    write_ms = greatest($2, lanes.write_ms + $3, lanes.notify_ms + $4),
    notify_ms = CASE WHEN $4 IS NULL THEN lanes.notify_ms
                     ELSE greatest($2, lanes.write_ms + $3, lanes.notify_ms + $4) END
WHERE lanes.limited_ms <= $2
RETURNING write_ms";

const LIMITED: &str = "SELECT limited_ms FROM lanes WHERE installation = $1";

const LIMIT: &str = "
INSERT INTO lanes (installation, write_ms, notify_ms, limited_ms) VALUES ($1, 0, 0, $2)
ON CONFLICT (installation) DO UPDATE SET limited_ms = greatest(lanes.limited_ms, excluded.limited_ms)";

pub(crate) async fn lead(
    connection: &mut Connection<'_>,
    task: &str,
    owner: &str,
    now: Millis,
    until: Millis,
) -> Result<bool, WriteError> {
    let values = [task.into(), owner.into(), now.into(), until.into()];
    Ok(connection.execute(LEAD, &values).await? > 0)
}

pub(crate) async fn reserve_write(
    connection: &mut Connection<'_>,
    write: PlannedWrite,
    now: Millis,
) -> Result<Slot, WriteError> {
    let installation = Value::from(number(write.installation)?);
    let gap = |gap: Duration| i64::try_from(gap.as_millis()).unwrap_or(i64::MAX / 2);
    let values = [
        installation.clone(),
        now.into(),
        gap(write.gap).into(),
        write.notify_gap.map(gap).into(),
    ];
    if let Some(row) = connection.row(RESERVE, &values).await? {
        return Ok(Slot::At(Millis(column(&row, "write_ms")?)));
    }
    let limited: Option<i64> = connection.scalar(LIMITED, &[installation]).await?;
    Ok(Slot::LimitedUntil(limited.map_or(now, Millis)))
}

pub(crate) async fn limit_requests(
    connection: &mut Connection<'_>,
    installation: u64,
    until: Millis,
) -> Result<(), WriteError> {
    let values = [number(installation)?.into(), until.into()];
    connection.execute(LIMIT, &values).await?;
    Ok(())
}
