-- With a key a row's texts are not kept in plain, and nobody without it can change what the row says:
-- its seal holds the texts, bound to all the rest. An older Belay would write rows without seals, so
-- it must not open the schema any more.
--
-- A seal is empty without a key, and in rows that were written before there was one. Beside a seal
-- the texts that it holds are empty: error and reason of a run, options of its start, an event's
-- body, an approval's question, who decided it, for whom and with which comment, a message's error.
--
-- What it costs. Without a key one empty value a row, and a number an event. The columns with a
-- default are added without a look at the rows; numbering the events writes that table anew, which
-- commits wait for.

ALTER TABLE belay.threads ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
ALTER TABLE belay.runs ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
ALTER TABLE belay.run_starts ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
-- Of the question, and of what the decision sets once there is one.
ALTER TABLE belay.approvals ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
ALTER TABLE belay.approvals ADD COLUMN IF NOT EXISTS decision_seal bytea NOT NULL DEFAULT '';
ALTER TABLE belay.outbox ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
-- Of what it is indexed by.
ALTER TABLE belay.records ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';
ALTER TABLE belay.events ADD COLUMN IF NOT EXISTS seal bytea NOT NULL DEFAULT '';

ALTER TABLE belay.events ADD COLUMN IF NOT EXISTS event_number bigint GENERATED ALWAYS AS IDENTITY;
CREATE INDEX IF NOT EXISTS events_places ON belay.events USING brin (event_number);
