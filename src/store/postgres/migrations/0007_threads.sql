-- Threads with several runs. The first run of a thread, and every subgraph, has values of its own;
-- the later runs share the values of the thread's state. An older Belay would look for these values
-- in the wrong table, so it must not open the schema any more.
--
-- Beside a seal of a thread its title and metadata are empty. Seals from before this version hold
-- no texts.
--
-- What it costs. No commit of a first run writes more than before: a commit that goes on with a run
-- changes no column of runs_unfinished. The columns are added without a look at the rows; making
-- the index reads runs once, and commits wait for that.

ALTER TABLE belay.threads ADD COLUMN IF NOT EXISTS title text NOT NULL DEFAULT '';
-- A JSON object; empty: none.
ALTER TABLE belay.threads ADD COLUMN IF NOT EXISTS metadata text NOT NULL DEFAULT '';
-- Null: never.
ALTER TABLE belay.threads ADD COLUMN IF NOT EXISTS expires_at timestamptz;
-- Null: never edited.
ALTER TABLE belay.threads ADD COLUMN IF NOT EXISTS updated_at timestamptz;

-- The number of runs that the thread had had before this one.
ALTER TABLE belay.run_starts ADD COLUMN IF NOT EXISTS ordinal bigint NOT NULL DEFAULT 0;

-- The values of threads' states: as in channel_values, but the seq also contains the ordinal of the
-- run that wrote it, in the bits from 32 on. They outlive that run.
CREATE TABLE IF NOT EXISTS belay.thread_values (
  tenant       text COLLATE "C" NOT NULL,
  thread_id    text COLLATE "C" NOT NULL,
  channel      text COLLATE "C" NOT NULL,
  seq          bigint NOT NULL,  -- (ordinal << 32) + one more than the state_seq before it
  value_index  bigint NOT NULL,  -- position of the task that wrote it in its superstep
  value_number bigint GENERATED ALWAYS AS IDENTITY,
  kind         text,             -- null: the whole value; else how it adds to it
  envelope     bytea NOT NULL,
  PRIMARY KEY (tenant, thread_id, channel, seq, value_index)
);
CREATE INDEX IF NOT EXISTS thread_values_places ON belay.thread_values USING brin (value_number);

-- Also finds the runs of one thread that have not ended.
DROP INDEX IF EXISTS belay.runs_unfinished;
CREATE INDEX runs_unfinished ON belay.runs (tenant, thread_id, run_number)
  WHERE status IN ('queued', 'running', 'paused', 'quarantined');

-- For the views: a row a checkpoint, with the state as of then.
--
-- A channel's value are its newest whole one up to state_seq and all rows after it; where it was
-- never whole, what a first run's input says comes first. Of what a long run has overwritten only
-- the key is gone through. An operand of a reducer of the graph's own ('reduce') is always followed
-- by what came of it, and not needed.
CREATE OR REPLACE VIEW belay.checkpoint_states AS
SELECT c.*, s.user_id, s.graph, s.graph_hash, s.options, s.created_at AS started_at,
  belay.envelope_json(coalesce((SELECT b.envelope FROM belay.blobs b
      WHERE b.tenant = s.tenant AND b.blob_id = belay.blob_in(s.input)), s.input)) AS input,
  belay.bytes_json(c.next_tasks) AS tasks,
  CASE WHEN s.ordinal = 0 OR c.namespace <> '' THEN
  (SELECT CASE WHEN NOT base.is_encrypted AND written.is_encrypted IS NOT TRUE
     THEN base.json || coalesce(written.json, '{}') END
     FROM (SELECT belay.is_encrypted(s.input) AS is_encrypted,
             CASE WHEN c.namespace <> '' THEN '{}' ELSE
               belay.envelope_json(coalesce((SELECT b.envelope FROM belay.blobs b
                 WHERE b.tenant = s.tenant AND b.blob_id = belay.blob_in(s.input)), s.input))
             END AS json OFFSET 0) base
    CROSS JOIN LATERAL (
       SELECT bool_or(rows.is_encrypted) AS is_encrypted, jsonb_object_agg(n.channel,
           belay.combined(rows.kind, CASE WHEN whole.seq IS NULL
             THEN coalesce(base.json -> n.channel, 'null') END, rows.parts)) AS json
         FROM (SELECT v.channel FROM belay.channel_values v
                WHERE v.tenant = c.tenant AND v.run_id = c.run_id AND v.namespace = c.namespace
                GROUP BY v.channel) n
         LEFT JOIN LATERAL (
           SELECT v.seq, v.value_index FROM belay.channel_values v
            WHERE v.tenant = c.tenant AND v.run_id = c.run_id AND v.namespace = c.namespace
              AND v.channel = n.channel AND v.seq <= c.state_seq AND v.kind IS NULL
            ORDER BY v.seq DESC, v.value_index DESC LIMIT 1) whole ON true
         CROSS JOIN LATERAL (
           SELECT count(*) AS count, max(v.kind) AS kind,
               bool_or(belay.is_encrypted(v.envelope)) AS is_encrypted,
               array_agg(coalesce((SELECT b.envelope FROM belay.blobs b
                   WHERE b.tenant = v.tenant AND b.blob_id = belay.blob_in(v.envelope)),
                   v.envelope) ORDER BY v.seq, v.value_index) AS parts
             FROM belay.channel_values v
            WHERE v.tenant = c.tenant AND v.run_id = c.run_id AND v.namespace = c.namespace
              AND v.channel = n.channel AND v.seq <= c.state_seq
              AND (v.seq, v.value_index) >= (coalesce(whole.seq, 0),
                                             coalesce(whole.value_index, 0))
              AND v.kind IS DISTINCT FROM 'reduce') rows
        WHERE rows.count > 0) written)
  ELSE
  (SELECT CASE WHEN NOT belay.is_encrypted(s.input) AND written.is_encrypted IS NOT TRUE
     THEN coalesce(written.json, '{}') END
     FROM belay.runs h
    CROSS JOIN LATERAL (
       SELECT bool_or(rows.is_encrypted) AS is_encrypted, jsonb_object_agg(n.channel,
           belay.combined(rows.kind, CASE WHEN whole.seq IS NULL THEN 'null'::jsonb END,
                          rows.parts)) AS json
         FROM (SELECT v.channel FROM belay.thread_values v
                WHERE v.tenant = h.tenant AND v.thread_id = h.thread_id
                GROUP BY v.channel) n
         LEFT JOIN LATERAL (
           SELECT v.seq, v.value_index FROM belay.thread_values v
            WHERE v.tenant = h.tenant AND v.thread_id = h.thread_id AND v.channel = n.channel
              AND v.seq <= (s.ordinal << 32) + c.state_seq AND v.kind IS NULL
            ORDER BY v.seq DESC, v.value_index DESC LIMIT 1) whole ON true
         CROSS JOIN LATERAL (
           SELECT count(*) AS count, max(v.kind) AS kind,
               bool_or(belay.is_encrypted(v.envelope)) AS is_encrypted,
               array_agg(coalesce((SELECT b.envelope FROM belay.blobs b
                   WHERE b.tenant = v.tenant AND b.blob_id = belay.blob_in(v.envelope)),
                   v.envelope) ORDER BY v.seq, v.value_index) AS parts
             FROM belay.thread_values v
            WHERE v.tenant = h.tenant AND v.thread_id = h.thread_id AND v.channel = n.channel
              AND v.seq <= (s.ordinal << 32) + c.state_seq
              AND (v.seq, v.value_index) >= (coalesce(whole.seq, 0),
                                             coalesce(whole.value_index, 0))
              AND v.kind IS DISTINCT FROM 'reduce') rows
        WHERE rows.count > 0) written
    WHERE h.tenant = c.tenant AND h.run_id = c.run_id)
  END AS state
FROM belay.checkpoints c
JOIN belay.run_starts s ON s.tenant = c.tenant AND s.run_id = c.run_id;
