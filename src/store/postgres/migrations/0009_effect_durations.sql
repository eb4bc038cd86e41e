-- The duration of an effect's newest call, in milliseconds; -1: no process has seen its end. Model
-- calls had theirs in the envelope, which is no longer read.
-- compatible from: 7
ALTER TABLE belay.effects ADD COLUMN IF NOT EXISTS took_ms bigint NOT NULL DEFAULT -1;
