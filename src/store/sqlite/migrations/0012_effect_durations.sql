-- The duration of an effect's newest call, in milliseconds; -1: no process has seen its end. Model
-- calls had theirs in the envelope, which is no longer read.
ALTER TABLE effects ADD COLUMN took_ms INTEGER NOT NULL DEFAULT -1;
