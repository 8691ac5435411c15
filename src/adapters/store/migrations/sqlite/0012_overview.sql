-- Lists for operators: names of repositories, plans that can be searched, the output of agents.
-- A released migration is never edited: a change is a new file.

-- Repositories in which runs were started, by the name that was last seen.
CREATE TABLE repositories (
    id           INTEGER PRIMARY KEY,
    installation INTEGER NOT NULL,
    owner        TEXT    NOT NULL,
    name         TEXT    NOT NULL
) STRICT;

ALTER TABLE saved ADD COLUMN actor TEXT NOT NULL DEFAULT ''; -- login of the person who asked for it
ALTER TABLE saved ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE saved ADD COLUMN words TEXT NOT NULL DEFAULT ''; -- the words of title and text, separated by spaces

-- Triggers keep the index up to date, so that a copy of `saved` is complete. Letters with diacritics
-- differ from those without, as on PostgreSQL.
CREATE VIRTUAL TABLE saved_words USING fts5 (
    words, content = 'saved', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 0');
CREATE TRIGGER saved_inserted AFTER INSERT ON saved
BEGIN
    INSERT INTO saved_words (rowid, words) VALUES (NEW.seq, NEW.words);
END;
CREATE TRIGGER saved_updated AFTER UPDATE OF words ON saved
BEGIN
    INSERT INTO saved_words (saved_words, rowid, words) VALUES ('delete', OLD.seq, OLD.words);
    INSERT INTO saved_words (rowid, words) VALUES (NEW.seq, NEW.words);
END;
CREATE TRIGGER saved_deleted AFTER DELETE ON saved
BEGIN
    INSERT INTO saved_words (saved_words, rowid, words) VALUES ('delete', OLD.seq, OLD.words);
END;
INSERT INTO saved_words (saved_words) VALUES ('rebuild');

-- What agents have printed, in portions.
CREATE TABLE agent_output (
    id    INTEGER PRIMARY KEY, -- order of a run's portions
    run   TEXT    NOT NULL REFERENCES runs (id),
    at_ms INTEGER NOT NULL,
    text  TEXT    NOT NULL
) STRICT;
CREATE INDEX agent_output_run ON agent_output (run, id);

-- What a person did.
CREATE INDEX audit_actor ON audit (lower(actor), id);
