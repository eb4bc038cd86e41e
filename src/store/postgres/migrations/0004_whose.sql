-- Whose threads and runs they are, and for whom a decision was made.
-- compatible from: 2
--
-- What it costs. No commit of a run that goes on writes more than before: both indexes get one entry
-- when a thread, or a run, begins. Making them reads threads and run_starts once; commits that begin
-- something wait for that.

-- Empty: decided_by acted for nobody else.
ALTER TABLE belay.approvals ADD COLUMN IF NOT EXISTS on_behalf_of text NOT NULL DEFAULT '';

-- A user's threads and runs, newest first.
CREATE INDEX IF NOT EXISTS threads_of_user ON belay.threads (tenant, user_id, thread_number);
CREATE INDEX IF NOT EXISTS run_starts_of_user ON belay.run_starts (tenant, user_id, start_number);
