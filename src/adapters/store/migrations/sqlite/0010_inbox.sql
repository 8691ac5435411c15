-- Deliveries that are acknowledged and whose runs are not queued yet: what the statements that do so need,
-- one row for each commit of the receiver. Every other use of the database empties it first.
-- A released migration is never edited: a change is a new file.

CREATE TABLE inbox (
    id         INTEGER PRIMARY KEY, -- order of acceptance
    payloads   BLOB    NOT NULL,    -- payloads and texts, to which the deliveries refer by offset
    deliveries TEXT    NOT NULL,    -- JSON
    runs       TEXT    NOT NULL,    -- JSON
    triggers   BLOB    NOT NULL,
    texts      TEXT    NOT NULL,    -- JSON: offsets of the triggers
    refused    TEXT                 -- why it could not be stored; such a row is kept for the operator
) STRICT;

-- All ready runs, for the age of the oldest one: `runs_ready` is without deferred runs.
CREATE INDEX runs_oldest ON runs (created_ms) WHERE state = 'ready';
