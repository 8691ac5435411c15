-- What agents have used, by day, for longer than the runs are kept.
-- A released migration is never edited: a change is a new file.

-- Tokens of a turn, zero until it has ended and in rows of earlier versions.
ALTER TABLE spending ADD COLUMN input INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN output INTEGER NOT NULL DEFAULT 0;

CREATE TABLE usage (
    repo    INTEGER NOT NULL,
    day     INTEGER NOT NULL,                              -- days since 1970-01-01, UTC, on which the turns began
    actor   INTEGER NOT NULL,
    command TEXT    NOT NULL,
    runs    INTEGER NOT NULL,
    turns   INTEGER NOT NULL,
    cost    INTEGER NOT NULL,                              -- millionths of a US dollar
    input   INTEGER NOT NULL,                              -- tokens, those from the cache included
    cached  INTEGER NOT NULL,
    output  INTEGER NOT NULL,
    PRIMARY KEY (repo, day, actor, command)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_day ON usage (day);

-- Turns of the last days that have ended. Their runs may be gone, and with them the command.
INSERT INTO usage (repo, day, actor, command, runs, turns, cost, input, cached, output)
SELECT spending.repo, spending.at_ms / 86400000, spending.actor, coalesce(runs.command, ''), sum(spending.first),
       sum(spending.turns), sum(min(spending.cost, 1000000000000000)), 0, 0, 0
FROM spending LEFT JOIN runs ON runs.id = spending.run
WHERE spending.cost IS NOT NULL
GROUP BY 1, 2, 3, 4;
