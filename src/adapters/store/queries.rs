//! The statements of the store and the functions that execute them, for both databases.

/// Defines a [`Sql`](super::sql::Sql) that contains the elements of `$1`, a JSON list: `texts` is a
/// table with the column `value`, and `ids` a subquery of integers.
macro_rules! sql_with_list {
    ($before:expr, texts, $after:expr) => {
        crate::adapters::store::sql::Sql {
            sqlite: concat!($before, "json_each($1)", $after),
            postgres: concat!($before, "json_array_elements_text($1::json)", $after),
        }
    };
    ($before:expr, ids, $after:expr) => {
        crate::adapters::store::sql::Sql {
            sqlite: concat!($before, "(SELECT value FROM json_each($1))", $after),
            postgres: concat!(
                $before,
                "(SELECT value::bigint FROM json_array_elements_text($1::json))",
                $after
            ),
        }
    };
}

/// Defines a [`Sql`](super::sql::Sql) that reads the row of `runs` whose lease is given by `$1`
/// (run), `$2` (owner) and `$3` (fence); it must be the only table in that place. On PostgreSQL the
/// row is locked until the end of the transaction: another process that claims the run meanwhile
/// waits, and if it was first, nothing is read.
macro_rules! sql_with_lease {
    ($before:expr, held, $after:expr) => {
        crate::adapters::store::sql::Sql {
            sqlite: concat!(
                $before,
                "runs WHERE runs.id = $1 AND runs.lease_owner = $2 AND runs.fence = $3",
                $after
            ),
            postgres: concat!(
                $before,
                "runs WHERE runs.id = $1 AND runs.lease_owner = $2 AND runs.fence = $3 FOR SHARE",
                $after
            ),
        }
    };
}

#[macro_use]
pub(super) mod lease;

pub(super) mod accept;
pub(super) mod answers;
pub(super) mod claim;
pub(super) mod intake;
pub(super) mod overview;
pub(super) mod queue;
pub(super) mod records;
pub(super) mod replicas;
pub(super) mod spending;
pub(super) mod upkeep;
pub(super) mod views;
