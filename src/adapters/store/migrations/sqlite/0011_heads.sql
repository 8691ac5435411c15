-- Claims find their run without walking through all repositories that have ready runs.
-- A released migration is never edited: a change is a new file.

DROP INDEX runs_ready;
CREATE INDEX runs_ready ON runs (installation, repo_id, run_at_ms, seq)
    WHERE state = 'ready' AND deferred = 0 AND lease_owner IS NULL;
-- Runs that are due become ready before a run is claimed.
DROP INDEX runs_waiting;

-- The repositories with ready runs, those left out that are deferred or being acknowledged, with the run_at_ms of the first of them.
-- Triggers keep the table up to date.
CREATE TABLE repository_heads (
    installation INTEGER NOT NULL,
    repo_id      INTEGER NOT NULL,
    head_ms      INTEGER NOT NULL,
    PRIMARY KEY (installation, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX repository_heads_first ON repository_heads (installation, head_ms);

-- The installations of these repositories, with the first head_ms.
CREATE TABLE installation_heads (
    installation INTEGER PRIMARY KEY,
    head_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX installation_heads_first ON installation_heads (head_ms);

INSERT INTO repository_heads (installation, repo_id, head_ms)
SELECT installation, repo_id, min(run_at_ms) FROM runs WHERE state = 'ready' AND deferred = 0 AND lease_owner IS NULL
GROUP BY installation, repo_id;
INSERT INTO installation_heads (installation, head_ms)
SELECT installation, min(head_ms) FROM repository_heads GROUP BY installation;

CREATE TRIGGER runs_inserted_ready AFTER INSERT ON runs
WHEN NEW.state = 'ready' AND NEW.deferred = 0 AND NEW.lease_owner IS NULL
BEGIN
    INSERT INTO repository_heads (installation, repo_id, head_ms)
    VALUES (NEW.installation, NEW.repo_id, NEW.run_at_ms)
    ON CONFLICT DO UPDATE SET head_ms = excluded.head_ms WHERE excluded.head_ms < head_ms;
    INSERT INTO installation_heads (installation, head_ms) VALUES (NEW.installation, NEW.run_at_ms)
    ON CONFLICT DO UPDATE SET head_ms = excluded.head_ms WHERE excluded.head_ms < head_ms;
END;

CREATE TRIGGER runs_became_ready AFTER UPDATE OF state, run_at_ms, deferred, lease_owner ON runs
WHEN NEW.state = 'ready' AND NEW.deferred = 0 AND NEW.lease_owner IS NULL
BEGIN
    INSERT INTO repository_heads (installation, repo_id, head_ms)
    VALUES (NEW.installation, NEW.repo_id, NEW.run_at_ms)
    ON CONFLICT DO UPDATE SET head_ms = excluded.head_ms WHERE excluded.head_ms < head_ms;
    INSERT INTO installation_heads (installation, head_ms) VALUES (NEW.installation, NEW.run_at_ms)
    ON CONFLICT DO UPDATE SET head_ms = excluded.head_ms WHERE excluded.head_ms < head_ms;
END;

CREATE TRIGGER runs_left_ready AFTER UPDATE OF state, run_at_ms, deferred, lease_owner ON runs
WHEN OLD.state = 'ready' AND OLD.deferred = 0 AND OLD.lease_owner IS NULL
  AND NOT (NEW.state = 'ready' AND NEW.deferred = 0 AND NEW.lease_owner IS NULL)
BEGIN
    DELETE FROM repository_heads
    WHERE installation = OLD.installation AND repo_id = OLD.repo_id AND NOT EXISTS (
        SELECT 1 FROM runs
        WHERE installation = OLD.installation AND repo_id = OLD.repo_id
          AND state = 'ready' AND deferred = 0 AND lease_owner IS NULL);
    UPDATE repository_heads SET head_ms = (
        SELECT run_at_ms FROM runs
        WHERE installation = OLD.installation AND repo_id = OLD.repo_id
          AND state = 'ready' AND deferred = 0 AND lease_owner IS NULL
        ORDER BY run_at_ms, seq LIMIT 1)
    WHERE installation = OLD.installation AND repo_id = OLD.repo_id;
    DELETE FROM installation_heads
    WHERE installation = OLD.installation AND NOT EXISTS (
        SELECT 1 FROM repository_heads WHERE installation = OLD.installation);
    UPDATE installation_heads SET head_ms = (
        SELECT head_ms FROM repository_heads WHERE installation = OLD.installation ORDER BY head_ms LIMIT 1)
    WHERE installation = OLD.installation;
END;
