-- Claims find their run without walking through all repositories that have ready runs.
-- A released migration is never edited: a change is a new file.

-- No release has used the indexes that are dropped here, so that need not wait for a later one.
DROP INDEX runs_ready;
CREATE INDEX runs_ready ON runs (installation, repo_id, run_at_ms, seq)
    WHERE state = 'ready' AND deferred = 0 AND lease_owner IS NULL;
-- Runs that are due become ready before a run is claimed.
DROP INDEX runs_waiting;

-- The repositories with ready runs, those left out that are deferred or being acknowledged. head_ms is at most the run_at_ms of the
-- first of them. Triggers keep the table up to date, but leave rows as they are that another transaction has
-- locked; claims then correct what they find.
CREATE TABLE repository_heads (
    installation BIGINT NOT NULL,
    repo_id      BIGINT NOT NULL,
    head_ms      BIGINT NOT NULL,
    PRIMARY KEY (installation, repo_id) INCLUDE (head_ms)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX repository_heads_first ON repository_heads (installation, head_ms, repo_id);

-- The installations of these repositories. head_ms is at most that of the first repository.
CREATE TABLE installation_heads (
    installation BIGINT PRIMARY KEY,
    head_ms      BIGINT NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX installation_heads_first ON installation_heads (head_ms);

-- Sets head_ms of repositories ([[installation, repo_id], …]; repo_id may be null) and of their installations
-- to what it is, and deletes the rows without ready runs. Rows that another transaction has locked are left
-- as they are. Each query sees what was committed before the lock was granted.
CREATE FUNCTION correct_heads(places JSON) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place RECORD;
    head  RECORD;
    first BIGINT;
BEGIN
    FOR place IN
        SELECT DISTINCT (value ->> 0)::bigint AS installation, (value ->> 1)::bigint AS repo_id
        FROM json_array_elements(places) WHERE value ->> 1 IS NOT NULL
    LOOP
        SELECT head_ms INTO head FROM repository_heads
        WHERE installation = place.installation AND repo_id = place.repo_id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        SELECT run_at_ms INTO first FROM runs
        WHERE installation = place.installation AND repo_id = place.repo_id
          AND state = 'ready' AND deferred = 0 AND lease_owner IS NULL
        ORDER BY run_at_ms, seq LIMIT 1;
        IF first IS NULL THEN
            DELETE FROM repository_heads
            WHERE installation = place.installation AND repo_id = place.repo_id;
        ELSIF first <> head.head_ms THEN
            UPDATE repository_heads SET head_ms = first
            WHERE installation = place.installation AND repo_id = place.repo_id;
        END IF;
    END LOOP;
    FOR place IN
        SELECT DISTINCT (value ->> 0)::bigint AS installation FROM json_array_elements(places)
    LOOP
        SELECT head_ms INTO head FROM installation_heads
        WHERE installation = place.installation FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        SELECT head_ms INTO first FROM repository_heads
        WHERE installation = place.installation ORDER BY head_ms, repo_id LIMIT 1;
        IF first IS NULL THEN
            DELETE FROM installation_heads WHERE installation = place.installation;
        ELSIF first <> head.head_ms THEN
            UPDATE installation_heads SET head_ms = first WHERE installation = place.installation;
        END IF;
    END LOOP;
END
$$;

-- Locks the rows of all repositories whose runs became ready, also where it leaves them as they are, until
-- the end of the transaction. Nobody raises head_ms meanwhile without having seen these runs. The order of
-- the rows is the same in every transaction, so that two cannot wait for each other.
CREATE FUNCTION runs_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    places JSON;
BEGIN
    WITH noted AS (
        INSERT INTO repository_heads AS head (installation, repo_id, head_ms)
        SELECT installation, repo_id, min(run_at_ms) FROM new_runs
        WHERE state = 'ready' AND deferred = 0 AND lease_owner IS NULL
        GROUP BY installation, repo_id ORDER BY installation, repo_id
        ON CONFLICT (installation, repo_id) DO UPDATE SET head_ms = excluded.head_ms
        WHERE excluded.head_ms < head.head_ms
        RETURNING head.installation, head.head_ms
    )
    INSERT INTO installation_heads AS head (installation, head_ms)
    SELECT installation, min(head_ms) FROM noted GROUP BY installation ORDER BY installation
    ON CONFLICT (installation) DO UPDATE SET head_ms = excluded.head_ms
    WHERE excluded.head_ms < head.head_ms;
    IF TG_OP = 'UPDATE' THEN
        SELECT json_agg(DISTINCT jsonb_build_array(before.installation, before.repo_id)) INTO places
        FROM old_runs AS before JOIN new_runs AS after ON after.seq = before.seq
        WHERE before.state = 'ready' AND before.deferred = 0 AND before.lease_owner IS NULL
          AND NOT (after.state = 'ready' AND after.deferred = 0 AND after.lease_owner IS NULL);
        IF places IS NOT NULL THEN
            PERFORM correct_heads(places);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER runs_inserted AFTER INSERT ON runs
    REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION runs_changed();
CREATE TRIGGER runs_updated AFTER UPDATE ON runs
    REFERENCING OLD TABLE AS old_runs NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION runs_changed();

INSERT INTO repository_heads (installation, repo_id, head_ms)
SELECT installation, repo_id, min(run_at_ms) FROM runs WHERE state = 'ready' AND deferred = 0 AND lease_owner IS NULL
GROUP BY installation, repo_id;
INSERT INTO installation_heads (installation, head_ms)
SELECT installation, min(head_ms) FROM repository_heads GROUP BY installation;
