-- For people and other programs that ask in SQL: rows as they read best. Nothing of Belay reads them.

-- The JSON in an envelope; null for one that is compressed or encrypted, or that jsonb can't hold
-- (U+0000 in a text).
CREATE FUNCTION belay.envelope_json(envelope bytea) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
BEGIN
  IF substr(envelope, 1, 8) <> '\x040000006a736f6e'::bytea THEN
    RETURN NULL;
  END IF;
  RETURN convert_from(substr(envelope, 9), 'UTF8')::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END
$function$;

-- The same for a text, or bytes, that may be JSON.
CREATE FUNCTION belay.bytes_json(bytes bytea) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $function$
BEGIN
  RETURN convert_from(bytes, 'UTF8')::jsonb;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END
$function$;

-- A row a run.
CREATE VIEW belay.agent_execution_logs AS
SELECT
  r.run_id::text AS id,
  r.tenant AS tenant_id,
  r.thread_id,
  s.graph AS agent_type,
  r.status,
  belay.envelope_json(s.input) AS input,
  nullif(r.outcome, '') AS output,
  nullif(r.error, '') AS error,
  CASE WHEN r.status IN ('completed', 'failed', 'cancelled')
    THEN greatest(r.worked_ms, 1) END AS duration_ms,
  r.retry_count,
  s.created_at AS started_at,
  CASE WHEN r.status IN ('completed', 'failed', 'cancelled')
    THEN r.updated_at END AS completed_at
FROM belay.runs r
JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id;
CREATE INDEX runs_by_status ON belay.runs (status, run_number);
CREATE INDEX run_starts_of_graph ON belay.run_starts (graph, created_at DESC);

-- A row a graph and day (UTC) on which runs of it ended.
CREATE VIEW belay.agent_metrics AS
SELECT
  md5(s.graph || '/' || (r.updated_at AT TIME ZONE 'UTC')::date)::uuid::text AS id,
  s.graph AS agent_type,
  (r.updated_at AT TIME ZONE 'UTC')::date AS date,
  count(*)::integer AS total_executions,
  (count(*) FILTER (WHERE r.status = 'completed'))::integer AS successful_executions,
  (count(*) FILTER (WHERE r.status <> 'completed'))::integer AS failed_executions,
  greatest(round(avg(r.worked_ms)), 1)::integer AS avg_duration_ms,
  greatest(percentile_cont(0.95) WITHIN GROUP (ORDER BY r.worked_ms), 1)::integer
    AS p95_duration_ms,
  sum(r.retry_count)::integer AS total_retries,
  min(r.updated_at) AS created_at
FROM belay.runs r
JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id
WHERE r.status IN ('completed', 'failed', 'cancelled')
GROUP BY s.graph, (r.updated_at AT TIME ZONE 'UTC')::date;

-- A row a checkpoint. The columns from `stock_ticker` on belong to agents that work through
-- subtasks; they are null where they do not apply.
CREATE VIEW belay.agent_checkpoints AS
SELECT
  c.checkpoint_id::text AS id,
  c.tenant AS tenant_id,
  r.thread_id,
  -- The value of each channel as of this checkpoint. Null for one that is stored in parts (a list
  -- that grows), compressed or encrypted: `belay state` puts those together.
  (SELECT jsonb_object_agg(v.channel,
            CASE WHEN v.kind IS NULL THEN belay.envelope_json(v.envelope) END)
     FROM (SELECT DISTINCT ON (w.channel) w.channel, w.kind, w.envelope
             FROM belay.channel_values w
            WHERE w.tenant = c.tenant AND w.run_id = c.run_id AND w.namespace = c.namespace
              AND w.seq <= c.state_seq AND w.kind IS DISTINCT FROM 'reduce'
            ORDER BY w.channel, w.seq DESC, w.value_index DESC) v) AS state,
  c.node AS node_id,
  s.graph AS agent_type,
  c.created_at,
  c.run_id::text AS run_id,
  c.namespace,
  c.seq,
  c.epoch,
  c.kind,
  c.superstep,
  c.status,
  belay.bytes_json(c.next_tasks) AS next_tasks,
  c.retry_count,
  CASE WHEN length(c.chain_hash) = 32 THEN encode(c.chain_hash, 'hex') END AS chain_hash,
  NULL::text AS stock_ticker,
  NULL::text AS analysis_id,
  NULL::integer AS progress_pct,
  NULL::text AS current_subtask,
  NULL::jsonb AS completed_subtasks,
  NULL::jsonb AS pending_subtasks,
  NULL::jsonb AS working_memory,
  NULL::jsonb AS interim_results,
  NULL::jsonb AS agent_config,
  CASE WHEN c.kind = 'failure' THEN nullif(r.error, '') END AS failure_reason,
  NULL::jsonb AS error_details,
  c.created_at AS checkpoint_time,
  encode(s.graph_hash, 'hex') AS agent_version
FROM belay.checkpoints c
JOIN belay.runs r ON r.tenant = c.tenant AND r.run_id = c.run_id
JOIN belay.run_starts s ON s.tenant = c.tenant AND s.run_id = c.run_id;
