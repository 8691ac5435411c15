//! The migrations of a schema, compiled into the program.

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// Creates the migrator of a schema. The position in the list is the schema version, from 1.
///
/// Not `sqlx::migrate!`: that macro compiles the drivers a second time, for the compiler.
pub(super) fn migrator(migrations: &'static [(&'static str, &'static str)]) -> Migrator {
    let migrations = (1..).zip(migrations).map(|(version, (description, sql))| {
        let sql = sql.into_sql_str();
        let description = (*description).into();
        Migration::new(version, description, MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.collect())
}
