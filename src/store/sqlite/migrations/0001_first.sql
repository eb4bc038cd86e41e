-- The first schema of a Belay store.
--
-- Ids: a uuid is a blob of 16 bytes, a digest one of 32. Instants are microseconds since 1970, UTC.
-- Enumerators are kept by name. Envelopes (input, payload, value, record) are a 4-byte
-- little-endian length, a type ("json"), then the data.
--
-- tenant_id comes first in every key. It, and the numbers of threads, runs, graphs and sessions,
-- stand in for the long ids, so that a row of a busy table costs a few bytes for them.

CREATE TABLE tenants (
  tenant_id INTEGER PRIMARY KEY,
  name      TEXT NOT NULL UNIQUE
) STRICT;

-- A process that may own runs. It lives while it holds a lock on byte `number` of the file
-- PATH-sessions, on the machine that was booted as `boot_id`.
CREATE TABLE sessions (
  number     INTEGER PRIMARY KEY,
  session_id BLOB NOT NULL UNIQUE,
  pid        INTEGER,
  boot_id    BLOB,               -- null: never was a process of this store (an import)
  started_at INTEGER NOT NULL,
  wrote      INTEGER NOT NULL    -- 1 once a run or checkpoint names it; it is never pruned then
) STRICT;

-- Each version of a graph that a run began with.
CREATE TABLE graphs (
  graph_number INTEGER PRIMARY KEY,
  tenant_id    INTEGER NOT NULL,
  name         TEXT NOT NULL,
  content_hash BLOB NOT NULL,
  UNIQUE (tenant_id, name, content_hash)
) STRICT;

CREATE TABLE threads (
  thread_number INTEGER PRIMARY KEY,  -- grows: the newest thread has the greatest
  tenant_id     INTEGER NOT NULL,
  thread_id     TEXT NOT NULL,
  user_id       TEXT NOT NULL,
  graph         TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  UNIQUE (tenant_id, thread_id)
) STRICT;

-- What changes with every commit of a run; what never does is in run_starts.
CREATE TABLE runs (
  run_number     INTEGER PRIMARY KEY,  -- grows: the newest run has the greatest
  tenant_id      INTEGER NOT NULL,
  run_id         BLOB NOT NULL,
  thread_number  INTEGER NOT NULL REFERENCES threads,
  status         TEXT NOT NULL,
  reason         TEXT NOT NULL,        -- paused: what it waits for
  outcome        TEXT NOT NULL,        -- completed: "saved", "rejected", ...
  error_code     TEXT NOT NULL,
  error          TEXT NOT NULL,
  seq            INTEGER NOT NULL,     -- commits so far
  epoch          INTEGER NOT NULL,     -- grows whenever the owner changes
  session_number INTEGER REFERENCES sessions,  -- the owner; null: nobody works on it
  node           TEXT NOT NULL,
  retry_count    INTEGER NOT NULL,
  worked_ms      INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  UNIQUE (tenant_id, run_id)
) STRICT;
CREATE INDEX runs_of_thread ON runs (tenant_id, thread_number);
CREATE INDEX runs_unfinished ON runs (tenant_id)
  WHERE status IN ('queued', 'running', 'paused', 'quarantined');

CREATE TABLE run_starts (
  run_number   INTEGER PRIMARY KEY REFERENCES runs,
  user_id      TEXT NOT NULL,
  graph_number INTEGER NOT NULL REFERENCES graphs,
  input        BLOB NOT NULL,  -- envelope: the state that the run began with
  options      TEXT NOT NULL,  -- JSON
  created_at   INTEGER NOT NULL
) STRICT;

-- One row a commit: checkpoint_id is the commit's id too. A commit that is sent again after a lost
-- reply is known by finding it here.
CREATE TABLE checkpoints (
  tenant_id      INTEGER NOT NULL,
  run_number     INTEGER NOT NULL REFERENCES runs,
  seq            INTEGER NOT NULL,
  checkpoint_id  BLOB NOT NULL,  -- sorts by time (UUID version 6)
  parent_id      BLOB,           -- null for a first checkpoint without one
  namespace      TEXT NOT NULL,  -- of a subgraph; empty for the run's own graph
  epoch          INTEGER NOT NULL,
  session_number INTEGER REFERENCES sessions,  -- who committed
  kind           TEXT NOT NULL,
  node           TEXT NOT NULL,
  superstep      INTEGER NOT NULL,
  next_tasks     TEXT NOT NULL,  -- JSON: what runs next, decided once and for all
  chain_hash     BLOB NOT NULL,  -- over the parent's hash and all that this checkpoint says
  retry_count    INTEGER NOT NULL,
  status         TEXT NOT NULL,  -- the run's after this commit
  created_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX checkpoints_key ON checkpoints (tenant_id, run_number, seq);

-- A channel's new value: only changed channels are written.
CREATE TABLE channel_values (
  tenant_id  INTEGER NOT NULL,
  run_number INTEGER NOT NULL REFERENCES runs,
  namespace  TEXT NOT NULL,
  channel    TEXT NOT NULL,
  seq        INTEGER NOT NULL,  -- of the commit that wrote it
  envelope   BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX channel_values_key
  ON channel_values (tenant_id, run_number, namespace, channel, seq);

-- Durable events, written in the commit that they tell of.
CREATE TABLE events (
  tenant_id   INTEGER NOT NULL,
  run_number  INTEGER NOT NULL REFERENCES runs,
  seq         INTEGER NOT NULL,
  event_index INTEGER NOT NULL,
  type        TEXT NOT NULL,
  body        TEXT NOT NULL,  -- JSON
  created_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_key ON events (tenant_id, run_number, seq, event_index);

CREATE TABLE approvals (
  approval_number INTEGER PRIMARY KEY,  -- grows: the newest approval has the greatest
  tenant_id    INTEGER NOT NULL,
  interrupt_id BLOB NOT NULL,
  run_number   INTEGER NOT NULL REFERENCES runs,
  task_id      BLOB NOT NULL,
  node         TEXT NOT NULL,
  question     TEXT NOT NULL,
  payload      BLOB NOT NULL,     -- envelope: what is shown
  payload_hash BLOB NOT NULL,
  roles        TEXT NOT NULL,
  seq          INTEGER NOT NULL,  -- of the commit that asked
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  status       TEXT NOT NULL,
  decided_by   TEXT,              -- this and what follows: null until it is decided
  comment      TEXT,
  edited       BLOB,              -- envelope of an edited payload
  edited_hash  BLOB,
  decided_at   INTEGER,
  UNIQUE (tenant_id, interrupt_id)
) STRICT;
CREATE INDEX approvals_of_run ON approvals (tenant_id, run_number);
CREATE INDEX approvals_open ON approvals (tenant_id, expires_at) WHERE status = 'open';

-- An agent's own rows.
CREATE TABLE records (
  record_number INTEGER PRIMARY KEY,
  tenant_id  INTEGER NOT NULL,
  collection TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  key        TEXT NOT NULL,
  envelope   BLOB NOT NULL,
  indexed    TEXT NOT NULL,     -- JSON: the [field, value] pairs in record_index
  run_number INTEGER REFERENCES runs,  -- whose commit saved it; null for an import
  seq        INTEGER NOT NULL,  -- of that commit
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant_id, collection, user_id, key)
) STRICT;

CREATE TABLE record_index (
  tenant_id  INTEGER NOT NULL,
  collection TEXT NOT NULL,
  user_id    TEXT NOT NULL,
  field      TEXT NOT NULL,
  value      TEXT NOT NULL,
  key        TEXT NOT NULL,
  PRIMARY KEY (tenant_id, collection, user_id, field, value, key)
) STRICT, WITHOUT ROWID;

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
FROM runs r
JOIN run_starts s ON s.run_number = r.run_number
JOIN tenants n ON n.tenant_id = r.tenant_id
JOIN threads t ON t.thread_number = r.thread_number
JOIN graphs g ON g.graph_number = s.graph_number;

-- For people and other programs: a row a checkpoint. The columns from `stock_ticker` on belong to
-- agents that work through subtasks; they are null where they do not apply.
CREATE VIEW agent_checkpoints AS
SELECT
  lower(printf('%s-%s-%s-%s-%s', substr(hex(c.checkpoint_id), 1, 8),
    substr(hex(c.checkpoint_id), 9, 4), substr(hex(c.checkpoint_id), 13, 4),
    substr(hex(c.checkpoint_id), 17, 4), substr(hex(c.checkpoint_id), 21))) AS id,
  n.name AS tenant_id,
  t.thread_id,
  -- The newest value of each channel as of this checkpoint.
  (SELECT json_group_object(v.channel,
            iif(json_valid(CAST(substr(v.envelope, 9) AS TEXT)),
                json(CAST(substr(v.envelope, 9) AS TEXT)), NULL))
     FROM channel_values v
    WHERE v.tenant_id = c.tenant_id AND v.run_number = c.run_number
      AND v.namespace = c.namespace
      AND substr(v.envelope, 1, 8) = x'040000006a736f6e'
      AND v.seq = (SELECT max(w.seq) FROM channel_values w
                    WHERE w.tenant_id = v.tenant_id AND w.run_number = v.run_number
                      AND w.namespace = v.namespace AND w.channel = v.channel
                      AND w.seq <= c.seq)) AS state,
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
