-- Values in parts, the work of parallel supersteps, effects, messages, large values, retention.
--
-- What a row does not say is null, or its default, and costs a byte: most rows have none of it.

DROP VIEW agent_checkpoints;

-- Retention leaves a preserved thread alone.
ALTER TABLE threads ADD COLUMN preserve INTEGER NOT NULL DEFAULT 0;

-- When the run can go on by itself; null: never by itself.
ALTER TABLE runs ADD COLUMN due_at INTEGER;
-- Processes that died with it since it last got on.
ALTER TABLE runs ADD COLUMN lost_claims INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_due ON runs (tenant_id, due_at) WHERE due_at IS NOT NULL;

-- Both null unless it is a fork: the run, by its id (it may be gone), and the commit there.
ALTER TABLE run_starts ADD COLUMN forked_from BLOB;
ALTER TABLE run_starts ADD COLUMN forked_at INTEGER;

-- A checkpoint's state are the values up to this seq; null: up to its own. Also since this version:
-- an empty parent_id means the checkpoint of seq - 1 in the same namespace.
ALTER TABLE checkpoints ADD COLUMN state_seq INTEGER;
-- A subgraph's namespace numbers its checkpoints by itself.
DROP INDEX checkpoints_key;
CREATE UNIQUE INDEX checkpoints_key ON checkpoints (tenant_id, run_number, namespace, seq);

-- A channel's new value, or what is added to the one before: only changed channels are written. The
-- value as of a state_seq is the newest row without a kind up to it, and all rows after that one,
-- by (seq, value_index). The envelope comes last, so that the rest is read without it.
CREATE TABLE channel_values_2 (
  tenant_id   INTEGER NOT NULL,
  run_number  INTEGER NOT NULL REFERENCES runs,
  namespace   TEXT NOT NULL,
  channel     TEXT NOT NULL,
  seq         INTEGER NOT NULL,  -- one more than the state_seq before it
  value_index INTEGER NOT NULL,  -- position of the task that wrote it in its superstep
  kind        TEXT,              -- null: the whole value; else how it adds to it
  envelope    BLOB NOT NULL
) STRICT;
INSERT INTO channel_values_2
  SELECT tenant_id, run_number, namespace, channel, seq, 0, NULL, envelope
    FROM channel_values ORDER BY rowid;
DROP TABLE channel_values;
ALTER TABLE channel_values_2 RENAME TO channel_values;
CREATE UNIQUE INDEX channel_values_key
  ON channel_values (tenant_id, run_number, namespace, channel, seq, value_index);

-- The tasks of supersteps of several: the last word on each.
CREATE TABLE tasks (
  tenant_id  INTEGER NOT NULL,
  run_number INTEGER NOT NULL REFERENCES runs,
  namespace  TEXT NOT NULL,
  superstep  INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  task_id    BLOB NOT NULL,
  status     TEXT NOT NULL,
  envelope   BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX tasks_key
  ON tasks (tenant_id, run_number, namespace, superstep, position);

-- Effects on the outside world: the journal that says which have happened.
CREATE TABLE effects (
  effect_number INTEGER PRIMARY KEY,  -- grows: in the order in which they were begun
  tenant_id    INTEGER NOT NULL,
  run_number   INTEGER NOT NULL REFERENCES runs,
  task_id      BLOB NOT NULL,
  name         TEXT NOT NULL,
  node         TEXT NOT NULL,
  effect_class TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  envelope     BLOB NOT NULL          -- its result or error; empty before
) STRICT;
CREATE UNIQUE INDEX effects_key ON effects (tenant_id, run_number, task_id, name);
CREATE INDEX effects_unfinished ON effects (tenant_id) WHERE status IN ('intended', 'uncertain');

-- Messages that were committed with a run's step, to be delivered at least once.
CREATE TABLE outbox (
  message_number INTEGER PRIMARY KEY,  -- grows: the oldest has the least
  tenant_id     INTEGER NOT NULL,
  run_number    INTEGER NOT NULL REFERENCES runs,
  seq           INTEGER NOT NULL,
  message_index INTEGER NOT NULL,
  topic         TEXT NOT NULL,
  status        TEXT NOT NULL,
  attempts      INTEGER NOT NULL,      -- begun so far
  error         TEXT NOT NULL,         -- of the last one
  due_at        INTEGER NOT NULL,      -- not to be tried before
  created_at    INTEGER NOT NULL,
  envelope      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX outbox_key ON outbox (tenant_id, run_number, seq, message_index);
CREATE INDEX outbox_waiting ON outbox (tenant_id, due_at) WHERE status = 'waiting';

-- Large values, each once however many rows name it.
CREATE TABLE blobs (
  blob_number INTEGER PRIMARY KEY,
  tenant_id INTEGER NOT NULL,
  blob_id   BLOB NOT NULL,
  envelope  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_key ON blobs (tenant_id, blob_id);

-- To find the records of a run that is forgotten: they stay, and no longer name it.
CREATE INDEX records_of_run ON records (tenant_id, run_number) WHERE run_number IS NOT NULL;

-- For people and other programs: a row a checkpoint. The columns from `stock_ticker` on belong to
-- agents that work through subtasks; they are null where they do not apply.
CREATE VIEW agent_checkpoints AS
SELECT
  lower(printf('%s-%s-%s-%s-%s', substr(hex(c.checkpoint_id), 1, 8),
    substr(hex(c.checkpoint_id), 9, 4), substr(hex(c.checkpoint_id), 13, 4),
    substr(hex(c.checkpoint_id), 17, 4), substr(hex(c.checkpoint_id), 21))) AS id,
  n.name AS tenant_id,
  t.thread_id,
  -- The value of each channel as of this checkpoint. Null for one that is stored in parts (a list
  -- that grows), compressed or encrypted: `belay state` puts those together.
  (SELECT json_group_object(v.channel,
            iif(v.kind IS NULL AND substr(v.envelope, 1, 8) = x'040000006a736f6e'
                AND json_valid(CAST(substr(v.envelope, 9) AS TEXT)),
                json(CAST(substr(v.envelope, 9) AS TEXT)), NULL))
     FROM channel_values v
    WHERE v.tenant_id = c.tenant_id AND v.run_number = c.run_number
      AND v.namespace = c.namespace
      AND (v.seq, v.value_index) =
          (SELECT w.seq, w.value_index FROM channel_values w
            WHERE w.tenant_id = v.tenant_id AND w.run_number = v.run_number
              AND w.namespace = v.namespace AND w.channel = v.channel
              AND w.seq <= coalesce(c.state_seq, c.seq) AND w.kind IS NOT 'reduce'
            ORDER BY w.seq DESC, w.value_index DESC LIMIT 1)) AS state,
  c.node AS node_id,
  g.name AS agent_type,
  strftime('%Y-%m-%dT%H:%M:%S', c.created_at / 1000000, 'unixepoch')
    || printf('.%06dZ', c.created_at % 1000000) AS created_at,
  lower(printf('%s-%s-%s-%s-%s', substr(hex(r.run_id), 1, 8), substr(hex(r.run_id), 9, 4),
    substr(hex(r.run_id), 13, 4), substr(hex(r.run_id), 17, 4), substr(hex(r.run_id), 21)))
    AS run_id,
  c.namespace,
  c.seq,
  c.epoch,
  c.kind,
  c.superstep,
  c.status,
  c.next_tasks,
  c.retry_count,
  lower(hex(c.chain_hash)) AS chain_hash,
  NULL AS stock_ticker,
  NULL AS analysis_id,
  NULL AS progress_pct,
  NULL AS current_subtask,
  NULL AS completed_subtasks,
  NULL AS pending_subtasks,
  NULL AS working_memory,
  NULL AS interim_results,
  NULL AS agent_config,
  iif(c.kind = 'failure', nullif(r.error, ''), NULL) AS failure_reason,
  NULL AS error_details,
  strftime('%Y-%m-%dT%H:%M:%S', c.created_at / 1000000, 'unixepoch')
    || printf('.%06dZ', c.created_at % 1000000) AS checkpoint_time,
  lower(hex(g.content_hash)) AS agent_version
FROM checkpoints c
JOIN runs r ON r.run_number = c.run_number
JOIN run_starts s ON s.run_number = r.run_number
JOIN tenants n ON n.tenant_id = c.tenant_id
JOIN threads t ON t.thread_number = r.thread_number
JOIN graphs g ON g.graph_number = s.graph_number;
