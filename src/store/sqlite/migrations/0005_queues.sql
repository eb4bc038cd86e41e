-- Queues: which one a run belongs to, what goes first, and what is limited together.

-- Null: the queue "default".
ALTER TABLE runs ADD COLUMN queue TEXT;
-- The greater goes first.
ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
-- Null: none.
ALTER TABLE runs ADD COLUMN concurrency_key TEXT;

-- What a worker takes next; and who is at work, by whose status nothing else need be looked at.
CREATE INDEX runs_next ON runs (tenant_id, priority DESC, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_running ON runs (tenant_id) WHERE status = 'running';

-- Queues that somebody has paused or limited; the others need no row.
CREATE TABLE queues (
  queue_number INTEGER PRIMARY KEY,
  tenant_id    INTEGER NOT NULL,
  name         TEXT NOT NULL,
  paused       INTEGER NOT NULL,
  runs_max     INTEGER NOT NULL,  -- at the same time; 0: as many as any queue
  per_key_max  INTEGER NOT NULL,  -- of one concurrency key; 0: as many as in any queue
  updated_at   INTEGER NOT NULL,
  UNIQUE (tenant_id, name)
) STRICT;
