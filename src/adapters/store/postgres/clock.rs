//! The database's clock. Processes that share a database take every time from it, so that leases
//! and waits do not depend on how well the clocks of their machines agree.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::PgPool;

use crate::engine::clock::Clock;
use crate::engine::model::time::Millis;

const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Tells the time of the database, which is read from time to time. In between, the time of the
/// machine is measured with its monotonic clock.
#[derive(Debug)]
pub(crate) struct DatabaseClock(Mutex<Reading>);

#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Instant,
    time: Millis,
}

impl DatabaseClock {
    /// Reads the clock of the database.
    pub(super) async fn new(pool: &PgPool) -> sqlx::Result<Self> {
        Ok(Self(Mutex::new(read(pool).await?)))
    }

    /// Reads the clock of the database again.
    pub(super) async fn correct(&self, pool: &PgPool) -> sqlx::Result<()> {
        let reading = read(pool).await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reading;
        Ok(())
    }
}

/// Reads the clock. Half of the round trip is assumed to be the way back.
async fn read(pool: &PgPool) -> sqlx::Result<Reading> {
    let mut connection = pool.acquire().await?;
    let asked = Instant::now();
    let time: i64 = sqlx::query_scalar(CLOCK)
        .fetch_one(&mut *connection)
        .await?;
    let way_back = asked.elapsed() / 2;
    Ok(Reading {
        at: Instant::now(),
        time: Millis(time).plus(way_back),
    })
}

#[async_trait]
impl Clock for DatabaseClock {
    fn now(&self) -> Millis {
        let reading = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reading.time.plus(reading.at.elapsed())
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
