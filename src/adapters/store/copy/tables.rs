//! The tables that are copied, in the order of their foreign keys, and the statements about them.

/// How the values of a column are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer.
    Int,
    /// A text: TEXT in both databases. PostgreSQL keeps U+FFFD for NUL.
    Text,
    /// A text that may contain NUL: TEXT in SQLite, BYTEA in PostgreSQL.
    Long,
    /// Bytes: BLOB in SQLite, BYTEA in PostgreSQL.
    Bytes,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in both databases.
    pub name: &'static str,
    /// How its values are stored.
    pub kind: Kind,
}

/// A table that exists in both databases.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The primary key, in whose order rows are copied.
    pub key: &'static [&'static str],
    /// All columns.
    pub columns: &'static [Column],
    /// The column that the database numbers, if there is one.
    pub numbered: Option<&'static str>,
}

macro_rules! tables {
    ($($name:ident ($($key:ident),+) $(numbered $numbered:ident)? { $($kind:ident: $($column:ident)+;)+ })+) => {
        /// The tables that are copied. A table follows those that its foreign keys refer to.
        pub const TABLES: &[Table] = &[$(Table {
            name: stringify!($name),
            key: &[$(stringify!($key)),+],
            columns: &[$($(Column { name: stringify!($column), kind: Kind::$kind },)+)+],
            numbered: tables!(@ $($numbered)?),
        }),+];
    };
    (@) => { None };
    (@ $numbered:ident) => { Some(stringify!($numbered)) };
}

tables! {
    deliveries (id) numbered id {
        Int: id installation received_ms;
        Text: guid event action said source;
        Long: text;
        Bytes: payload;
    }
    runs (seq) numbered seq {
        Int: seq delivery idx repo_id installation run_at_ms attempt round fence lease_until_ms acknowledged
             cancel_told created_ms started_ms finished_ms told heard deferred said_ms;
        Text: id command serial place state lease_owner cancel_requested code note;
    }
    texts (run) {
        Int: run;
        Long: trigger progress;
    }
    messages (id) numbered id {
        Int: id at_ms;
        Text: run;
        Long: message;
    }
    audit (id) numbered id {
        Int: id at_ms;
        Text: run guid actor decision why;
    }
    spending (run, key) {
        Int: repo actor at_ms first cost turns tools input cached output;
        Text: run key;
    }
    usage (repo, day, actor, command) {
        Int: repo day actor runs turns cost input cached output;
        Text: command;
    }
    asks (run) {
        Int: at_ms installation actor comment outsider refused;
        Text: run place ignored;
    }
    saved (seq) numbered seq {
        Int: seq at_ms complete issue replaces;
        Text: run place text request url actor title words;
    }
    repositories (id) {
        Int: id installation;
        Text: owner name;
    }
    agent_output (id) numbered id {
        Int: id at_ms;
        Text: run text;
    }
    decisions (id) numbered id {
        Int: id last_ms repo number;
        Text: records;
    }
    missed (id) {
        Int: id delivered_ms status repo;
        Text: guid event action;
    }
    delivery_log (id) {
        Int: id;
        Text: state;
    }
    scans (repo) {
        Int: repo;
        Text: state;
    }
    // Last, because opening the SQLite store changes the times of writes whose outcome is unknown:
    // a copy that continues writes what follows the first difference again.
    effects (run, key) {
        Int: first_ms last_ms done_ms;
        Text: run key;
        Long: result;
    }
}

/// The tables that are not copied, with the reason.
pub const NOT_COPIED: &[(&str, &str)] = &[
    ("_sqlx_migrations", "belongs to the schema"),
    ("compatibility", "belongs to the schema"),
    ("copy_of", "marks the copy"),
    ("heartbeats", "of leases, which end with the process"),
    ("installation_heads", "is filled when runs are"),
    ("repository_heads", "is filled when runs are"),
    ("inbox", "is empty after SQLite is opened"),
    (
        "lanes",
        "pauses between writes, which SQLite keeps in memory; GitHub names a limit again",
    ),
    ("pulse", "counts what happened to the database itself"),
    ("saved_words", "is filled when saved is"),
    ("saved_words_config", "belongs to saved_words"),
    ("saved_words_data", "belongs to saved_words"),
    ("saved_words_docsize", "belongs to saved_words"),
    ("saved_words_idx", "belongs to saved_words"),
    ("sqlite_sequence", "is set to the numbers of the source"),
    ("tasks", "leases of running processes"),
];

/// Numbers the placeholders of a statement.
struct Placeholders {
    is_postgres: bool,
    used: usize,
}

impl Placeholders {
    /// SQLite searches every `$n` among those before it; `?` is found at once.
    fn next(&mut self) -> String {
        self.used += 1;
        if self.is_postgres {
            format!("${}", self.used)
        } else {
            "?".to_owned()
        }
    }

    /// Returns `count` placeholders in parentheses.
    fn list(&mut self, count: usize) -> String {
        let list: Vec<_> = (0..count).map(|_| self.next()).collect();
        format!("({})", list.join(", "))
    }
}

impl Table {
    /// Returns the columns of the key.
    pub(super) fn key_columns(&self) -> Vec<Column> {
        let of_key = |name: &&str| self.columns.iter().copied().find(|one| one.name == *name);
        self.key.iter().filter_map(of_key).collect()
    }

    fn ordered(&self) -> String {
        self.key.join(", ")
    }

    /// Returns the conditions on the key: after one and up to another. The parameters are the
    /// columns of the first, then those of the second.
    fn range(&self, of: &mut Placeholders, after: bool, until: bool) -> String {
        let mut bound = |operator: &str| {
            let values = of.list(self.key.len());
            format!("({}) {operator} {values}", self.ordered())
        };
        let bounds: Vec<_> = [(after, ">"), (until, "<=")]
            .into_iter()
            .filter(|(is_there, _)| *is_there)
            .map(|(_, operator)| bound(operator))
            .collect();
        if bounds.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", bounds.join(" AND "))
        }
    }

    /// Selects the keys of the next rows, with the number of bytes of each row in `bytes`. The last
    /// parameter is the number of rows.
    pub(super) fn select_keys(&self, is_postgres: bool, after: bool) -> String {
        let mut of = Placeholders {
            is_postgres,
            used: 0,
        };
        let sizes: Vec<_> = self
            .columns
            .iter()
            .filter(|column| column.kind != Kind::Int)
            .map(|column| format!("coalesce(CAST(octet_length({}) AS BIGINT), 0)", column.name))
            .collect();
        let sizes = if sizes.is_empty() {
            "0".to_owned()
        } else {
            sizes.join(" + ")
        };
        let range = self.range(&mut of, after, false);
        let (name, key) = (self.name, self.ordered());
        format!(
            "SELECT {key}, {sizes} AS bytes FROM {name}{range} ORDER BY {key} LIMIT {}",
            of.next()
        )
    }

    /// Selects the rows up to a key. The last parameter is the maximum number of rows.
    pub(super) fn select_rows(&self, is_postgres: bool, after: bool) -> String {
        let mut of = Placeholders {
            is_postgres,
            used: 0,
        };
        let columns: Vec<_> = self.columns.iter().map(|column| column.name).collect();
        let range = self.range(&mut of, after, true);
        let (name, key) = (self.name, self.ordered());
        format!(
            "SELECT {} FROM {name}{range} ORDER BY {key} LIMIT {}",
            columns.join(", "),
            of.next()
        )
    }

    /// Inserts a number of rows.
    pub(super) fn insert(&self, is_postgres: bool, rows: usize) -> String {
        let mut of = Placeholders {
            is_postgres,
            used: 0,
        };
        let columns: Vec<_> = self.columns.iter().map(|column| column.name).collect();
        let rows: Vec<_> = (0..rows).map(|_| of.list(columns.len())).collect();
        format!(
            "INSERT INTO {} ({}) VALUES {}",
            self.name,
            columns.join(", "),
            rows.join(", ")
        )
    }

    /// Deletes the rows after a key, or all.
    pub(super) fn delete(&self, is_postgres: bool, after: bool) -> String {
        let mut of = Placeholders {
            is_postgres,
            used: 0,
        };
        format!(
            "DELETE FROM {}{}",
            self.name,
            self.range(&mut of, after, false)
        )
    }

    /// Selects the highest number that the database has given to a row of this table, whether or not
    /// the row still exists.
    pub(super) fn select_last_number(&self, is_postgres: bool, column: &str) -> String {
        let name = self.name;
        let given = if is_postgres {
            format!(
                "coalesce(pg_sequence_last_value(pg_get_serial_sequence('{name}', '{column}')::regclass), 0)"
            )
        } else {
            format!("coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{name}'), 0)")
        };
        let greatest = if is_postgres { "greatest" } else { "max" };
        format!(
            "SELECT {greatest}(coalesce((SELECT max({column}) FROM {name}), 0), {given}) AS number"
        )
    }

    /// Lets the database continue to number the rows of this table behind a number, the parameter.
    pub(super) fn continue_numbers(&self, is_postgres: bool, column: &str) -> Vec<String> {
        let name = self.name;
        if is_postgres {
            return vec![format!(
                "SELECT setval(pg_get_serial_sequence('{name}', '{column}'), $1)"
            )];
        }
        // Only AUTOINCREMENT keeps a number there.
        vec![
            format!("DELETE FROM sqlite_sequence WHERE name = '{name}' AND seq < ?"),
            format!(
                "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_schema
                 WHERE type = 'table' AND name = '{name}' AND sql LIKE '%AUTOINCREMENT%'
                   AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE sqlite_sequence.name = '{name}')"
            ),
        ]
    }
}
