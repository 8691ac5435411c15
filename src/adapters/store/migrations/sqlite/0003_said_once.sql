-- What was said counts once, whatever id its delivery has; its text is kept once for all runs of a delivery.
-- A released migration is never edited: a change is a new file.

-- The id of a delivery is not signed: somebody who has one signed body could send it again and again under new ids.
ALTER TABLE deliveries ADD COLUMN said TEXT; -- what was said where and when; NULL where nothing is known of it
CREATE UNIQUE INDEX deliveries_said ON deliveries (said) WHERE said IS NOT NULL;

-- Where this is set, the triggers of the delivery's runs have an empty text in their origin: this one belongs there.
ALTER TABLE deliveries ADD COLUMN text TEXT;

CREATE INDEX runs_refused ON runs (finished_ms, delivery) WHERE code = 'permission_denied';
