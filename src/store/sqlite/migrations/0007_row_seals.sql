-- With a key a row's texts are not kept in plain, and nobody without it can change what the row says:
-- its seal holds the texts, bound to all the rest. An older Belay would write rows without seals, so
-- it must not open the store any more.
--
-- A seal is null without a key, and in rows that were written before there was one. Beside a seal
-- the texts that it holds are empty: error and reason of a run, options of its start, an event's
-- body, an approval's question, who decided it, for whom and with which comment, a message's error.

ALTER TABLE threads ADD COLUMN seal BLOB;
ALTER TABLE runs ADD COLUMN seal BLOB;
ALTER TABLE run_starts ADD COLUMN seal BLOB;
ALTER TABLE approvals ADD COLUMN seal BLOB;           -- of the question
ALTER TABLE approvals ADD COLUMN decision_seal BLOB;  -- null until it is decided
ALTER TABLE outbox ADD COLUMN seal BLOB;
ALTER TABLE records ADD COLUMN seal BLOB;             -- of what it is indexed by

-- The copy gives each row a number that VACUUM leaves as it is: re-encryption finds it by that.
CREATE TABLE events_2 (
  event_number INTEGER PRIMARY KEY,
  tenant_id   INTEGER NOT NULL,
  run_number  INTEGER NOT NULL REFERENCES runs,
  seq         INTEGER NOT NULL,
  event_index INTEGER NOT NULL,
  type        TEXT NOT NULL,
  body        TEXT NOT NULL,  -- JSON
  created_at  INTEGER NOT NULL,
  seal        BLOB
) STRICT;
INSERT INTO events_2
  SELECT rowid, tenant_id, run_number, seq, event_index, type, body, created_at, NULL
    FROM events ORDER BY rowid;
DROP TABLE events;
ALTER TABLE events_2 RENAME TO events;
CREATE UNIQUE INDEX events_key ON events (tenant_id, run_number, seq, event_index);

-- The views go from tenants to threads, and on by the keys: who names a thread does not have all
-- checkpoints looked at.
DROP VIEW agent_execution_logs;
DROP VIEW agent_checkpoints;

-- For people and other programs: a row a run.
CREATE VIEW agent_execution_logs AS
SELECT
  lower(printf('%s-%s-%s-%s-%s', substr(hex(r.run_id), 1, 8), substr(hex(r.run_id), 9, 4),
    substr(hex(r.run_id), 13, 4), substr(hex(r.run_id), 17, 4), substr(hex(r.run_id), 21))) AS id,
  n.name AS tenant_id,
  t.thread_id,
  g.name AS agent_type,
  r.status,
  iif(substr(s.input, 5, 4) = CAST('json' AS BLOB) AND substr(s.input, 1, 4) = x'04000000',
    CAST(substr(s.input, 9) AS TEXT), NULL) AS input,
  nullif(r.outcome, '') AS output,
  nullif(r.error, '') AS error,
  iif(r.status IN ('completed', 'failed', 'cancelled'), max(r.worked_ms, 1), NULL) AS duration_ms,
  r.retry_count,
  strftime('%Y-%m-%dT%H:%M:%S', s.created_at / 1000000, 'unixepoch')
    || printf('.%06dZ', s.created_at % 1000000) AS started_at,
  iif(r.status IN ('completed', 'failed', 'cancelled'),
    strftime('%Y-%m-%dT%H:%M:%S', r.updated_at / 1000000, 'unixepoch')
      || printf('.%06dZ', r.updated_at % 1000000), NULL) AS completed_at
FROM tenants n
CROSS JOIN threads t ON t.tenant_id = n.tenant_id
CROSS JOIN runs r ON r.tenant_id = n.tenant_id AND r.thread_number = t.thread_number
CROSS JOIN run_starts s ON s.run_number = r.run_number
CROSS JOIN graphs g ON g.graph_number = s.graph_number;

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
FROM tenants n
CROSS JOIN threads t ON t.tenant_id = n.tenant_id
CROSS JOIN runs r ON r.tenant_id = n.tenant_id AND r.thread_number = t.thread_number
CROSS JOIN run_starts s ON s.run_number = r.run_number
CROSS JOIN graphs g ON g.graph_number = s.graph_number
CROSS JOIN checkpoints c ON c.tenant_id = n.tenant_id AND c.run_number = r.run_number;
