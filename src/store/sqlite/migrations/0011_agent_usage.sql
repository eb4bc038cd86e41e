-- agent_usage_analytics: the totals of the usage of agents as a view, a row per tenant, agent and
-- day (UTC). Its columns are members of the JSON of the records; null in an encrypted store, except
-- for the id, the date, the agent and the time of the last change.
CREATE VIEW agent_usage_analytics AS
SELECT
  t.tenant || '/' || t.key AS id,
  t.tenant AS tenant_id,
  substr(t.key, 1, 10) AS date,
  substr(t.key, 12) AS agent_id,
  json_extract(t.totals, '$.invocation_count') AS invocation_count,
  json_extract(t.totals, '$.success_count') AS success_count,
  json_extract(t.totals, '$.error_count') AS error_count,
  json_extract(t.totals, '$.total_input_tokens') AS total_input_tokens,
  json_extract(t.totals, '$.total_output_tokens') AS total_output_tokens,
  json_extract(t.totals, '$.total_cost') AS total_cost,
  json_extract(t.totals, '$.total_retries') AS total_retries,
  json_extract(t.totals, '$.total_latency_ms') AS total_latency_ms,
  json_extract(t.totals, '$.min_latency_ms') AS min_latency_ms,
  json_extract(t.totals, '$.max_latency_ms') AS max_latency_ms,
  json_extract(t.totals, '$.avg_latency_ms') AS avg_latency_ms,
  json_extract(t.totals, '$.p50_latency_ms') AS p50_latency_ms,
  json_extract(t.totals, '$.p95_latency_ms') AS p95_latency_ms,
  json_extract(t.totals, '$.created_at') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%S', t.updated_at / 1000000, 'unixepoch')
    || printf('.%06dZ', t.updated_at % 1000000) AS updated_at
FROM (
  -- An envelope of the type `json`: any other is encrypted or compressed.
  SELECT n.name AS tenant, r.key, r.updated_at,
      CASE WHEN substr(r.envelope, 1, 8) = x'040000006a736f6e'
        THEN CAST(substr(r.envelope, 9) AS TEXT) END AS totals
    FROM tenants n
   CROSS JOIN records r ON r.tenant_id = n.tenant_id
     AND r.collection = 'agent_usage_analytics' AND r.user_id = '') t;
