-- With a key no digest of plain text is kept. An older Belay would take what stands in its place for
-- damage, so it must not open the store any more.
--
-- An empty payload_hash or edited_hash of an approval, also since this version: it is the hash of
-- what payload or edited holds.

DROP VIEW agent_checkpoints;

-- The copy gives each row a number that VACUUM leaves as it is: re-encryption finds it by that.
CREATE TABLE checkpoints_2 (
  checkpoint_number INTEGER PRIMARY KEY,
  tenant_id      INTEGER NOT NULL,
  run_number     INTEGER NOT NULL REFERENCES runs,
  seq            INTEGER NOT NULL,
  checkpoint_id  BLOB NOT NULL,  -- sorts by time (UUID version 6)
  parent_id      BLOB,           -- null for a first one; empty: the checkpoint of seq - 1
  namespace      TEXT NOT NULL,  -- of a subgraph; empty for the run's own graph
  epoch          INTEGER NOT NULL,
  session_number INTEGER REFERENCES sessions,  -- who committed
  kind           TEXT NOT NULL,
  node           TEXT NOT NULL,
  superstep      INTEGER NOT NULL,
  next_tasks     ANY NOT NULL,   -- JSON: what runs next, decided once and for all; a blob: sealed
  chain_hash     BLOB NOT NULL,  -- over the parent's hash and all that this checkpoint says; other
                                 -- than 32 bytes: masked
  retry_count    INTEGER NOT NULL,
  status         TEXT NOT NULL,  -- the run's after this commit
  created_at     INTEGER NOT NULL,
  state_seq      INTEGER         -- its state are the values up to this; null: up to its own seq
) STRICT;
INSERT INTO checkpoints_2
  SELECT rowid, tenant_id, run_number, seq, checkpoint_id, parent_id, namespace, epoch,
         session_number, kind, node, superstep, next_tasks, chain_hash, retry_count, status,
         created_at, state_seq
    FROM checkpoints ORDER BY rowid;
DROP TABLE checkpoints;
ALTER TABLE checkpoints_2 RENAME TO checkpoints;
CREATE UNIQUE INDEX checkpoints_key ON checkpoints (tenant_id, run_number, namespace, seq);

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
FROM checkpoints c
JOIN runs r ON r.run_number = c.run_number
JOIN run_starts s ON s.run_number = r.run_number
JOIN tenants n ON n.tenant_id = c.tenant_id
JOIN threads t ON t.thread_number = r.thread_number
JOIN graphs g ON g.graph_number = s.graph_number;
