-- agent_usage_analytics: the totals of the usage of agents as a view, a row per tenant, agent and
-- day (UTC). Its columns are members of the JSON of the records; null in an encrypted store, except
-- for the id, the date, the agent and the time of the last change.
-- compatible from: 7
CREATE VIEW belay.agent_usage_analytics AS
SELECT
  r.tenant || '/' || r.key AS id,
  r.tenant AS tenant_id,
  left(r.key, 10)::date AS date,
  substr(r.key, 12) AS agent_id,
  (r.totals ->> 'invocation_count')::bigint AS invocation_count,
  (r.totals ->> 'success_count')::bigint AS success_count,
  (r.totals ->> 'error_count')::bigint AS error_count,
  (r.totals ->> 'total_input_tokens')::bigint AS total_input_tokens,
  (r.totals ->> 'total_output_tokens')::bigint AS total_output_tokens,
  (r.totals ->> 'total_cost')::bigint AS total_cost,
  (r.totals ->> 'total_retries')::bigint AS total_retries,
  (r.totals ->> 'total_latency_ms')::bigint AS total_latency_ms,
  (r.totals ->> 'min_latency_ms')::bigint AS min_latency_ms,
  (r.totals ->> 'max_latency_ms')::bigint AS max_latency_ms,
  (r.totals ->> 'avg_latency_ms')::bigint AS avg_latency_ms,
  (r.totals ->> 'p50_latency_ms')::bigint AS p50_latency_ms,
  (r.totals ->> 'p95_latency_ms')::bigint AS p95_latency_ms,
  (r.totals ->> 'created_at')::timestamptz AS created_at,
  r.updated_at
FROM (
  -- OFFSET 0: the JSON is read once a row, not once a column.
  SELECT t.tenant, t.key, t.updated_at, belay.envelope_json(t.envelope) AS totals
    FROM belay.records t
   WHERE t.collection = 'agent_usage_analytics' AND t.user_id = ''
  OFFSET 0) r;
