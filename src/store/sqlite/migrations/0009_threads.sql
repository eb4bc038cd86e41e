-- Threads with several runs. The first run of a thread, and every subgraph, has values of its own;
-- the later runs share the values of the thread's state. An older Belay would look for these values
-- in the wrong table, so it must not open the store any more.
--
-- Beside a seal of a thread its title and metadata are empty. Seals from before this version hold
-- no texts.

ALTER TABLE threads ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN metadata TEXT NOT NULL DEFAULT '';  -- JSON object; empty: none
ALTER TABLE threads ADD COLUMN expires_at INTEGER;                 -- null: never
ALTER TABLE threads ADD COLUMN updated_at INTEGER;                 -- null: it was never edited

-- The number of runs that the thread had had before this one.
ALTER TABLE run_starts ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;

-- The values of threads' states: as in channel_values, but the seq also contains the ordinal of the
-- run that wrote it, in the bits from 32 on. They outlive that run.
CREATE TABLE thread_values (
  value_number  INTEGER PRIMARY KEY,  -- so that VACUUM leaves it as it is
  tenant_id     INTEGER NOT NULL,
  thread_number INTEGER NOT NULL REFERENCES threads,
  channel       TEXT NOT NULL,
  seq           INTEGER NOT NULL,  -- (ordinal << 32) + one more than the state_seq before it
  value_index   INTEGER NOT NULL,  -- position of the task that wrote it in its superstep
  kind          TEXT,              -- null: the whole value; else how it adds to it
  envelope      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX thread_values_key
  ON thread_values (tenant_id, thread_number, channel, seq, value_index);

-- Also finds the runs of one thread that have not ended.
DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (tenant_id, thread_number)
  WHERE status IN ('queued', 'running', 'paused', 'quarantined');

DROP VIEW agent_checkpoints;

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
  -- that grows), compressed or encrypted: `belay state` puts those together. Of a later run of a
  -- thread these are values of the thread.
  CASE WHEN s.ordinal = 0 OR c.namespace <> '' THEN
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
            ORDER BY w.seq DESC, w.value_index DESC LIMIT 1))
  ELSE
  (SELECT json_group_object(v.channel,
            iif(v.kind IS NULL AND substr(v.envelope, 1, 8) = x'040000006a736f6e'
                AND json_valid(CAST(substr(v.envelope, 9) AS TEXT)),
                json(CAST(substr(v.envelope, 9) AS TEXT)), NULL))
     FROM thread_values v
    WHERE v.tenant_id = c.tenant_id AND v.thread_number = r.thread_number
      AND (v.seq, v.value_index) =
          (SELECT w.seq, w.value_index FROM thread_values w
            WHERE w.tenant_id = v.tenant_id AND w.thread_number = v.thread_number
              AND w.channel = v.channel
              AND w.seq <= (s.ordinal << 32) + coalesce(c.state_seq, c.seq)
              AND w.kind IS NOT 'reduce'
            ORDER BY w.seq DESC, w.value_index DESC LIMIT 1))
  END AS state,
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
  iif(typeof(c.next_tasks) = 'text', c.next_tasks, NULL) AS next_tasks,
  c.retry_count,
  iif(length(c.chain_hash) = 32, lower(hex(c.chain_hash)), NULL) AS chain_hash,
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
FROM tenants n
CROSS JOIN threads t ON t.tenant_id = n.tenant_id
CROSS JOIN runs r ON r.tenant_id = n.tenant_id AND r.thread_number = t.thread_number
CROSS JOIN run_starts s ON s.run_number = r.run_number
CROSS JOIN graphs g ON g.graph_number = s.graph_number
CROSS JOIN checkpoints c ON c.tenant_id = n.tenant_id AND c.run_number = r.run_number;
