-- Commands of people without triage permission: answered one at a time, and only within budgets.
-- A released migration is never edited: a change is a new file.

-- 1: claimed when nothing else is ready, and while no other run of the same installation with 1 is
-- running.
ALTER TABLE runs ADD COLUMN deferred INTEGER NOT NULL DEFAULT 0 CHECK (deferred IN (0, 1));
CREATE INDEX runs_deferred ON runs (state, run_at_ms, seq) WHERE deferred = 1;

-- What became of each command: no foreign key to runs, because an answer counts for its window,
-- also when its run is gone.
CREATE TABLE asks (
    run          TEXT    PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    installation INTEGER NOT NULL,
    place        TEXT    NOT NULL,
    actor        INTEGER NOT NULL,
    comment      INTEGER,                                        -- NULL when no comment asked for it
    outsider     INTEGER NOT NULL CHECK (outsider IN (0, 1)),    -- the actor had no triage permission
    refused      INTEGER NOT NULL CHECK (refused IN (0, 1)),     -- the actor lacked the command's permission
    ignored      TEXT                                            -- why it is not answered
) STRICT;

CREATE INDEX asks_comment ON asks (comment, outsider) WHERE comment IS NOT NULL;
CREATE INDEX asks_actor ON asks (installation, actor, at_ms, ignored, refused) WHERE outsider = 1 OR refused = 1;
CREATE INDEX asks_place ON asks (place, at_ms) WHERE outsider = 1 AND ignored IS NULL;
CREATE INDEX asks_installation ON asks (installation, at_ms) WHERE outsider = 1 AND ignored IS NULL;
CREATE INDEX asks_at ON asks (at_ms);
