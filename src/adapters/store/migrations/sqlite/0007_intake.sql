-- Events that arrive in several ways: where each came from, what was decided, what was missed.
-- A released migration is never edited: a change is a new file.

ALTER TABLE deliveries ADD COLUMN source TEXT NOT NULL DEFAULT 'webhook';

-- Time of the request by GitHub's clock: the order of runs at one place.
ALTER TABLE runs ADD COLUMN said_ms INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET said_ms = created_ms;
DROP INDEX runs_blocked;
CREATE INDEX runs_blocked ON runs (serial, said_ms, seq) WHERE state = 'blocked';

-- Decisions about events that were not accepted; the others are in deliveries.
CREATE TABLE decisions (
    id      INTEGER PRIMARY KEY, -- in order of time
    at_ms   INTEGER NOT NULL,
    source  TEXT    NOT NULL,
    guid    TEXT    NOT NULL,
    event   TEXT    NOT NULL,
    action  TEXT,
    repo    INTEGER,
    number  INTEGER,
    comment INTEGER,
    verdict TEXT    NOT NULL CHECK (verdict IN ('duplicate', 'requeued', 'ignored', 'refused')),
    why     TEXT
) STRICT;

-- Not by GUID alone, whose order is random: every row would write a page of its own.
CREATE INDEX decisions_at ON decisions (at_ms, guid);
CREATE INDEX decisions_place ON decisions (repo, number, comment) WHERE repo IS NOT NULL;

-- Attempts in GitHub's delivery log whose payloads are to be fetched.
CREATE TABLE missed (
    id           INTEGER PRIMARY KEY, -- of the attempt
    guid         TEXT    NOT NULL UNIQUE,
    event        TEXT    NOT NULL,
    action       TEXT,
    delivered_ms INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    repo         INTEGER
) STRICT;

-- How far GitHub's delivery log was read, as JSON.
CREATE TABLE delivery_log (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    state TEXT NOT NULL
) STRICT;

-- How far the comments and issues of a repository were scanned, as JSON.
CREATE TABLE scans (
    repo  INTEGER PRIMARY KEY,
    state TEXT NOT NULL
) STRICT;
