-- Which plans were saved from where, so that the same one is not saved twice.
-- A released migration is never edited: a change is a new file.

-- No foreign key to runs: a plan issue stays for longer than its run. Only the newest of a place are kept.
CREATE TABLE saved (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    run      TEXT    NOT NULL UNIQUE,
    place    TEXT    NOT NULL,
    at_ms    INTEGER NOT NULL,
    text     TEXT    NOT NULL,                              -- digest of the plan's text as it was found
    request  TEXT    NOT NULL,                              -- digest of the text and of what was asked for
    complete INTEGER NOT NULL CHECK (complete IN (0, 1)),   -- 0: a fallback, not what was asked for
    issue    INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    replaces INTEGER                                        -- number of the plan issue that this one replaces
) STRICT;

CREATE INDEX saved_place ON saved (place, seq);
