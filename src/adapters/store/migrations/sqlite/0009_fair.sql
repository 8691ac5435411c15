-- Claims count what runs of an installation and a repository, and step over deferred runs.
-- A released migration is never edited: a change is a new file.

DROP INDEX runs_running;
CREATE INDEX runs_running ON runs (installation, repo_id) WHERE state = 'running';
DROP INDEX runs_ready;
CREATE INDEX runs_ready ON runs (repo_id, run_at_ms, seq) WHERE state = 'ready' AND deferred = 0;
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (repo_id, run_at_ms, seq) WHERE state = 'waiting' AND deferred = 0;
