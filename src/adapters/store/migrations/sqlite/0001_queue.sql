-- Deliveries, runs (the queue), effects and the audit. Times are milliseconds since 1970-01-01T00:00:00Z.
-- A released migration is never edited: a change is a new file.

PRAGMA application_id = 0x504c4e57; -- "PLNW": tells our files from other SQLite files.

-- The GUID is random, so its index is the only one that a new delivery touches in a random place;
-- everything else refers to the sequential id.
CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY,
    guid         TEXT    NOT NULL UNIQUE,
    event        TEXT    NOT NULL,
    action       TEXT,
    installation INTEGER NOT NULL,
    received_ms  INTEGER NOT NULL,
    payload      BLOB
) STRICT;

CREATE INDEX deliveries_received ON deliveries (received_ms);

CREATE TABLE runs (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT, -- order of acceptance
    id               TEXT    NOT NULL UNIQUE,
    delivery         INTEGER NOT NULL REFERENCES deliveries (id),
    idx              INTEGER NOT NULL,                  -- which run of its delivery
    command          TEXT    NOT NULL,
    serial           TEXT,
    place            TEXT    NOT NULL,
    repo_id          INTEGER NOT NULL,
    installation     INTEGER NOT NULL,
    state            TEXT    NOT NULL
        CHECK (state IN ('blocked', 'ready', 'running', 'waiting', 'succeeded', 'failed', 'cancelled')),
    run_at_ms        INTEGER NOT NULL,
    attempt          INTEGER NOT NULL DEFAULT 0,
    round            INTEGER NOT NULL DEFAULT 0,        -- how often it was put back in line after it ended
    fence            INTEGER NOT NULL DEFAULT 0,
    lease_owner      TEXT,
    lease_until_ms   INTEGER,
    acknowledged     INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1)),
    cancel_requested TEXT,
    cancel_told      INTEGER NOT NULL DEFAULT 0 CHECK (cancel_told IN (0, 1)), -- the worker has seen the request
    code             TEXT,
    note             TEXT,
    created_ms       INTEGER NOT NULL,
    started_ms       INTEGER,
    finished_ms      INTEGER,
    UNIQUE (delivery, idx),
    CHECK ((lease_owner IS NULL) = (lease_until_ms IS NULL)),
    CHECK (state <> 'running' OR lease_owner IS NOT NULL),
    CHECK (state <> 'blocked' OR serial IS NOT NULL),
    CHECK ((finished_ms IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled'))),
    CHECK (finished_ms IS NULL OR lease_owner IS NULL)
) STRICT;

-- The database itself enforces that runs at one place follow one another.
CREATE UNIQUE INDEX runs_active ON runs (serial)
    WHERE state IN ('ready', 'running', 'waiting') AND serial IS NOT NULL;
CREATE INDEX runs_blocked ON runs (serial, seq) WHERE state = 'blocked';
CREATE INDEX runs_ready ON runs (repo_id, run_at_ms, seq) WHERE state = 'ready';
CREATE INDEX runs_waiting ON runs (repo_id, run_at_ms, seq) WHERE state = 'waiting';
CREATE INDEX runs_due ON runs (run_at_ms) WHERE state = 'waiting';
CREATE INDEX runs_running ON runs (repo_id) WHERE state = 'running';
CREATE INDEX runs_unacknowledged ON runs (state, created_ms, seq)
    WHERE acknowledged = 0 AND state IN ('blocked', 'ready');
CREATE INDEX runs_leased ON runs (lease_until_ms) WHERE lease_owner IS NOT NULL;
CREATE INDEX runs_ended ON runs (state) WHERE state IN ('succeeded', 'failed', 'cancelled');
CREATE INDEX runs_serial ON runs (serial, seq) WHERE serial IS NOT NULL;

-- The long texts stand apart: SQLite rewrites a whole row when a lease moves.
CREATE TABLE texts (
    run      INTEGER PRIMARY KEY REFERENCES runs (seq),
    trigger  TEXT NOT NULL,
    progress TEXT
) STRICT;

CREATE TABLE effects (
    run      TEXT    NOT NULL REFERENCES runs (id),
    key      TEXT    NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms  INTEGER NOT NULL,
    done_ms  INTEGER,
    result   TEXT,
    PRIMARY KEY (run, key),
    CHECK ((done_ms IS NULL) = (result IS NULL))
) STRICT;

-- No foreign key to runs: an entry is never refused.
CREATE TABLE audit (
    id       INTEGER PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    run      TEXT,
    guid     TEXT,
    actor    TEXT    NOT NULL,
    decision TEXT    NOT NULL,
    why      TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_run ON audit (run, id) WHERE run IS NOT NULL;
CREATE INDEX audit_at ON audit (at_ms);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit is append-only');
END;

-- One row that readiness checks write to.
CREATE TABLE pulse (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    beats INTEGER NOT NULL
) STRICT;
INSERT INTO pulse (id, beats) VALUES (1, 0);
