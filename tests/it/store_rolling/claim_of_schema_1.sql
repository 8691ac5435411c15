-- The claim of the last version for schema 1; of what it returned, what the test reads.
WITH RECURSIVE
ready (repo) AS (
    SELECT min(repo_id) FROM runs WHERE state = 'ready' AND deferred = 0
    UNION ALL
    SELECT (SELECT min(repo_id) FROM runs WHERE state = 'ready' AND deferred = 0 AND repo_id > ready.repo)
    FROM ready WHERE ready.repo IS NOT NULL
),
waiting (repo) AS (
    SELECT min(repo_id) FROM runs WHERE state = 'waiting' AND deferred = 0
    UNION ALL
    SELECT (SELECT min(repo_id) FROM runs WHERE state = 'waiting' AND deferred = 0 AND repo_id > waiting.repo)
    FROM waiting WHERE waiting.repo IS NOT NULL
),
heads (seq) AS (
    SELECT (SELECT seq FROM runs
            WHERE repo_id = ready.repo AND state = 'ready' AND deferred = 0 AND (lease_owner IS NULL OR $2 >= coalesce((
              SELECT until_ms FROM heartbeats
              WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms))
            ORDER BY run_at_ms, seq LIMIT 1) FROM ready
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE repo_id = waiting.repo AND state = 'waiting' AND deferred = 0 AND run_at_ms <= $2 AND (lease_owner IS NULL OR $2 >= coalesce((
              SELECT until_ms FROM heartbeats
              WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms))
            ORDER BY run_at_ms, seq LIMIT 1) FROM waiting
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE deferred = 1 AND state = 'ready' AND (lease_owner IS NULL OR $2 >= coalesce((
              SELECT until_ms FROM heartbeats
              WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms))
              AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
                              AND other.installation = runs.installation)
            ORDER BY run_at_ms, seq LIMIT 1)
    UNION ALL
    SELECT (SELECT seq FROM runs
            WHERE deferred = 1 AND state = 'waiting' AND run_at_ms <= $2 AND (lease_owner IS NULL OR $2 >= coalesce((
              SELECT until_ms FROM heartbeats
              WHERE heartbeats.run = runs.seq AND heartbeats.fence = runs.fence), lease_until_ms))
              AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.deferred = 1 AND other.state = 'running'
                              AND other.installation = runs.installation)
            ORDER BY run_at_ms, seq LIMIT 1)
),
candidates (seq, deferred, of_installation, of_repository, run_at_ms) AS (
    SELECT head.seq, head.deferred,
           (SELECT count(*) FROM runs AS busy WHERE busy.state = 'running' AND busy.installation = head.installation),
           (SELECT count(*) FROM runs AS busy
            WHERE busy.state = 'running' AND busy.installation = head.installation AND busy.repo_id = head.repo_id),
           head.run_at_ms
    FROM heads CROSS JOIN runs AS head WHERE head.seq = heads.seq
)
UPDATE runs
SET state = 'running', attempt = attempt + 1, fence = fence + 1, lease_owner = $1, lease_until_ms = $3,
    started_ms = coalesce(started_ms, $2), cancel_told = CASE WHEN cancel_requested IS NULL THEN 0 ELSE 1 END,
    heard = told
WHERE seq = (
    SELECT runs.seq FROM candidates CROSS JOIN runs
    WHERE runs.seq = candidates.seq AND runs.state IN ('ready', 'waiting')
      AND candidates.of_installation < $4 AND candidates.of_repository < $5
    ORDER BY candidates.deferred, candidates.of_installation, candidates.of_repository, candidates.run_at_ms,
             candidates.seq
    LIMIT 1 FOR UPDATE OF runs SKIP LOCKED)
RETURNING id, fence
