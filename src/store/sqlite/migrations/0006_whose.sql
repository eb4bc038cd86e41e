-- Whose threads and runs they are, and for whom a decision was made.

-- Null: decided_by acted for nobody else.
ALTER TABLE approvals ADD COLUMN on_behalf_of TEXT;

-- A user's threads and runs, newest first: both end in the number of their row.
ALTER TABLE run_starts ADD COLUMN tenant_id INTEGER NOT NULL DEFAULT 0;
UPDATE run_starts SET tenant_id = (SELECT r.tenant_id FROM runs r
                                    WHERE r.run_number = run_starts.run_number);
CREATE INDEX threads_of_user ON threads (tenant_id, user_id);
CREATE INDEX run_starts_of_user ON run_starts (tenant_id, user_id);
