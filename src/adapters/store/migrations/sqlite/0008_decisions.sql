-- Decisions that were written together are one row for each place, because a row of its own for
-- each made the receiver a tenth slower.
-- A released migration is never edited: a change is a new file.

ALTER TABLE decisions RENAME TO single_decisions;
DROP INDEX decisions_at;
DROP INDEX decisions_place;

CREATE TABLE decisions (
    id      INTEGER PRIMARY KEY,
    last_ms INTEGER NOT NULL, -- time of the newest
    repo    INTEGER,
    number  INTEGER,
    -- JSON: [[at_ms, source, guid, event, action, comment, verdict, why], …], oldest first
    records TEXT    NOT NULL
) STRICT;

CREATE INDEX decisions_at ON decisions (last_ms);
CREATE INDEX decisions_place ON decisions (repo, number, id) WHERE repo IS NOT NULL;

INSERT INTO decisions
SELECT id, at_ms, repo, number,
       json_array(json_array(at_ms, source, guid, event, action, comment, verdict, why))
FROM single_decisions;

DROP TABLE single_decisions;
