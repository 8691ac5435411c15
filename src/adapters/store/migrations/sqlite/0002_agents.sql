-- What agents need: messages for runs that wait for people, and what agents' turns cost.
-- A released migration is never edited: a change is a new file.

-- A run that parks although more was told than at its claim would sleep over a message.
ALTER TABLE runs ADD COLUMN told INTEGER NOT NULL DEFAULT 0;  -- messages so far
ALTER TABLE runs ADD COLUMN heard INTEGER NOT NULL DEFAULT 0; -- messages when it was last claimed

CREATE TABLE messages (
    id      INTEGER PRIMARY KEY, -- order of arrival
    run     TEXT    NOT NULL REFERENCES runs (id),
    at_ms   INTEGER NOT NULL,
    message TEXT    NOT NULL
) STRICT;

CREATE INDEX messages_run ON messages (run, id);

-- No foreign key to runs: what was spent counts for a day, also when its run is gone.
CREATE TABLE spending (
    run   TEXT    NOT NULL,
    key   TEXT    NOT NULL,                              -- which turn of the run
    repo  INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,                              -- the turn was allowed
    first INTEGER NOT NULL CHECK (first IN (0, 1)),      -- the run's first turn: the one that counts the run
    cost  INTEGER,                                       -- millionths of a US dollar; NULL until the turn has ended
    turns INTEGER,
    tools INTEGER,
    PRIMARY KEY (run, key),
    CHECK ((cost IS NULL) = (turns IS NULL) AND (cost IS NULL) = (tools IS NULL))
) STRICT;

CREATE UNIQUE INDEX spending_first ON spending (run) WHERE first = 1;
CREATE INDEX spending_runs ON spending (at_ms) WHERE first = 1;
CREATE INDEX spending_runs_actor ON spending (actor, at_ms) WHERE first = 1;
CREATE INDEX spending_runs_repo ON spending (repo, at_ms) WHERE first = 1;
CREATE INDEX spending_at ON spending (at_ms, cost);
CREATE INDEX spending_repo ON spending (repo, at_ms, cost);
