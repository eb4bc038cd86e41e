-- The views for people anew: states put together from all their parts, columns with the types that
-- were asked for, and sums of each day that outlive the runs. As before nothing of Belay reads them.
-- compatible from: 2
--
-- What it costs. No commit of a run that goes on writes more than before: no index is on a column
-- of belay.runs that such a commit changes, so its row is still moved within its page (HOT).
--   runs_in_thread    in place of runs_of_thread, which had the same columns in another order
--   run_starts_newest one entry at the right edge of a small index when a run begins
--   checkpoints_ends  one entry when a run ends; for any other commit a look at two columns
--   daily_sums        one row inserted or changed when retention forgets a run
-- Making the indexes reads runs, run_starts and checkpoints once; commits wait for that.
--
-- The views are locked first, then what every commit begins with, so that whoever is in the midst
-- of something is waited for and not met half-way.

ALTER VIEW belay.agent_checkpoints RENAME TO old_agent_checkpoints;
ALTER VIEW belay.agent_execution_logs RENAME TO old_agent_execution_logs;
ALTER VIEW belay.agent_metrics RENAME TO old_agent_metrics;

-- Who looks a thread up in a view names no tenant.
DROP INDEX belay.runs_of_thread;
CREATE INDEX runs_in_thread ON belay.runs (thread_id, tenant, run_number);
CREATE INDEX run_starts_newest ON belay.run_starts (created_at DESC);

-- What is left of the runs that retention has forgotten: how many of a graph ended on a day (UTC),
-- and how. The class is that of the time they worked, eight to each power of two, so that the 95th
-- percentile of a day can still be told, within a tenth.
CREATE TABLE belay.daily_sums (
  graph          text NOT NULL,
  date           date NOT NULL,
  tenant         text COLLATE "C" NOT NULL,
  duration_class integer NOT NULL,
  executions     bigint NOT NULL,
  successful     bigint NOT NULL,
  worked_ms      bigint NOT NULL,
  retries        bigint NOT NULL,
  first_ended_at timestamptz NOT NULL,
  PRIMARY KEY (graph, date, tenant, duration_class)
) WITH (fillfactor = 70);

-- A trigger, since beside this Belay older ones forget runs, too, which know nothing of sums. With
-- its owner's rights, which is all that it needs of whoever forgets.
CREATE FUNCTION belay.keep_daily_sums() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
  INSERT INTO belay.daily_sums AS d (graph, date, tenant, duration_class, executions, successful,
    worked_ms, retries, first_ended_at)
  SELECT OLD.graph, (r.updated_at AT TIME ZONE 'UTC')::date, r.tenant,
      ceil(8 * ln(greatest(r.worked_ms, 1)::float8) / ln(2::float8))::integer, 1,
      (r.status = 'completed')::integer, greatest(r.worked_ms, 1), r.retry_count, r.updated_at
    FROM belay.runs r
   WHERE r.tenant = OLD.tenant AND r.run_id = OLD.run_id
     AND r.status IN ('completed', 'failed', 'cancelled')
  ON CONFLICT (graph, date, tenant, duration_class) DO UPDATE SET
    executions = d.executions + 1, successful = d.successful + excluded.successful,
    worked_ms = d.worked_ms + excluded.worked_ms, retries = d.retries + excluded.retries,
    first_ended_at = least(d.first_ended_at, excluded.first_ended_at);
  RETURN OLD;
END
$function$;
-- Whoever forgets a run deletes this row of it before the one in belay.runs.
CREATE TRIGGER keep_daily_sums BEFORE DELETE ON belay.run_starts
FOR EACH ROW EXECUTE FUNCTION belay.keep_daily_sums();

-- What follows reads nothing but its arguments: a function that is called in a view has the rights
-- of whoever asks, and those who may read the views may not read the tables.

-- The id of the large value that an envelope in plain stands for; null for any other.
CREATE FUNCTION belay.blob_in(envelope bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT CASE WHEN substr(envelope, 1, 13) = '\x090000006a736f6e2b626c6f62'::bytea
    THEN substr(envelope, 14) END
$function$;

-- Whether its type says that it is encrypted.
CREATE FUNCTION belay.is_encrypted(envelope bytea) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT CASE WHEN length(envelope) < 4 THEN false
    ELSE position('aes256gcm'::bytea IN substr(envelope, 5,
           get_byte(envelope, 0) + 256 * get_byte(envelope, 1))) > 0 END
$function$;

-- The sum as Belay makes it: of integers exact, otherwise of doubles. What is no number counts 0.
CREATE FUNCTION belay.sum_json(parts jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
  total jsonb := '0';
  part jsonb;
BEGIN
  FOR part IN SELECT p.value FROM jsonb_array_elements(parts) AS p LOOP
    CONTINUE WHEN jsonb_typeof(part) <> 'number';
    IF total::text ~ '^-?[0-9]+$' AND part::text ~ '^-?[0-9]+$' THEN
      total := to_jsonb(total::numeric + part::numeric);
    ELSE
      total := to_jsonb(total::float8 + part::float8);
    END IF;
  END LOOP;
  RETURN total;
END
$function$;

-- A channel's value from its parts in their order: a whole one, which is `base` or else the first
-- envelope, then what was added to it, all of one kind. Null when one of them can't be read. Lists
-- are joined as text, since they may have thousands of parts.
CREATE FUNCTION belay.combined(kind text, base jsonb, envelopes bytea[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
  texts text[];
  parts jsonb;
BEGIN
  texts := ARRAY(SELECT CASE WHEN substr(e.bytes, 1, 8) = '\x040000006a736f6e'::bytea
                          THEN convert_from(substr(e.bytes, 9), 'UTF8') END
                   FROM unnest(envelopes) WITH ORDINALITY AS e (bytes, place) ORDER BY e.place);
  IF array_position(texts, NULL) IS NOT NULL THEN
    RETURN NULL;
  END IF;
  IF base IS NOT NULL THEN
    texts := base::text || texts;
  END IF;
  IF kind IS NULL THEN
    RETURN texts[array_upper(texts, 1)]::jsonb;
  ELSIF kind = 'append' THEN
    RETURN (SELECT '[' || coalesce(string_agg(nullif(substr(t.part, 2, length(t.part) - 2), ''),
                                              ',' ORDER BY t.place), '') || ']'
              FROM unnest(texts) WITH ORDINALITY AS t (part, place)
             WHERE left(t.part, 1) = '[')::jsonb;
  END IF;
  parts := ('[' || array_to_string(texts, ',') || ']')::jsonb;
  IF kind = 'merge' THEN
    RETURN (SELECT coalesce(jsonb_object_agg(member.key, member.value ORDER BY part.ordinality),
                            '{}')
              FROM jsonb_array_elements(parts) WITH ORDINALITY AS part,
                   jsonb_each(CASE jsonb_typeof(part.value)
                     WHEN 'object' THEN part.value ELSE '{}' END) AS member);
  ELSIF kind = 'add' THEN
    RETURN belay.sum_json(parts);
  END IF;
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END
$function$;

-- The first member of an object that has one of these names.
CREATE FUNCTION belay.member_json(object jsonb, VARIADIC names text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT object -> name FROM unnest(names) WITH ORDINALITY AS n (name, place)
   WHERE jsonb_typeof(object) = 'object' AND object ? name ORDER BY place LIMIT 1
$function$;

-- The nodes that a checkpoint's next tasks name.
CREATE FUNCTION belay.nodes_in(tasks jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
  SELECT CASE jsonb_typeof(tasks) WHEN 'array' THEN ARRAY(
    SELECT task.value ->> 'node' FROM jsonb_array_elements(tasks) WITH ORDINALITY AS task
     WHERE task.value ? 'node' ORDER BY task.ordinality) END
$function$;

-- For the views: a row a checkpoint, with the state as of then.
--
-- A channel's value are its newest whole one up to state_seq and all rows after it; where it was
-- never whole, what the run's input says comes first. Of what a long run has overwritten only the
-- key is gone through. An operand of a reducer of the graph's own ('reduce') is always followed by
-- what came of it, and not needed.
CREATE VIEW belay.checkpoint_states AS
SELECT c.*, s.user_id, s.graph, s.graph_hash, s.options, s.created_at AS started_at,
  belay.envelope_json(coalesce((SELECT b.envelope FROM belay.blobs b
      WHERE b.tenant = s.tenant AND b.blob_id = belay.blob_in(s.input)), s.input)) AS input,
  belay.bytes_json(c.next_tasks) AS tasks,
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
        WHERE rows.count > 0) written) AS state
FROM belay.checkpoints c
JOIN belay.run_starts s ON s.tenant = c.tenant AND s.run_id = c.run_id;

-- A row a checkpoint. The columns from `stock_ticker` on are those of agents that work through
-- subtasks: a node is one, and an analysis is a thread. docs/postgresql.md says what is null when.
CREATE VIEW belay.agent_checkpoints AS
SELECT
  c.checkpoint_id::text AS id,
  c.tenant AS tenant_id,
  r.thread_id,
  c.state,
  c.node AS node_id,
  c.graph AS agent_type,
  c.created_at,
  c.run_id::text AS run_id,
  c.namespace,
  c.seq,
  c.epoch,
  c.kind,
  c.superstep,
  c.status,
  c.tasks AS next_tasks,
  least(c.retry_count, 2147483647)::integer AS retry_count,
  CASE WHEN length(c.chain_hash) = 32 THEN encode(c.chain_hash, 'hex') END AS chain_hash,
  belay.member_json(c.input, 'stock_ticker', 'stockTicker') #>> '{}' AS stock_ticker,
  r.thread_id AS analysis_id,
  -- How many nodes a run will come by is not in the store, and nobody knows before its end.
  CASE WHEN c.status = 'completed' THEN 100 END::numeric(5,2) AS progress_pct,
  (belay.nodes_in(chosen.tasks))[1] AS current_subtask,
  ARRAY(SELECT t.node
          FROM belay.checkpoints d,
               unnest(string_to_array(d.node, ',')) WITH ORDINALITY AS t (node, place)
         WHERE d.tenant = c.tenant AND d.run_id = c.run_id AND d.namespace = c.namespace
           AND d.seq <= c.seq
           -- A question in the midst of a node does not end it.
           AND (d.kind = 'node' OR d.kind = 'decision'
                AND d.node <> ALL (belay.nodes_in(belay.bytes_json(d.next_tasks))))
         GROUP BY t.node ORDER BY min(d.seq), min(t.place)) AS completed_subtasks,
  belay.nodes_in(chosen.tasks) AS pending_subtasks,
  belay.member_json(c.state, 'working_memory', 'workingMemory') AS working_memory,
  belay.member_json(c.state, 'interim_results', 'interimResults') AS interim_results,
  belay.bytes_json(convert_to(c.options, 'UTF8')) AS agent_config,
  coalesce(told.body ->> 'error', CASE WHEN c.namespace = '' AND c.seq = r.seq THEN
    CASE c.status WHEN 'failed' THEN nullif(r.error, '')
                  WHEN 'quarantined' THEN nullif(r.reason, '') END END) AS failure_reason,
  CASE WHEN told.body ? 'error' THEN told.body - 'error' - 'status' END AS error_details,
  c.created_at AS checkpoint_time,
  coalesce(jsonb_path_query_first(c.tasks, '$[*].version') #>> '{}',
           encode(c.graph_hash, 'hex')) AS agent_version
FROM belay.checkpoint_states c
JOIN belay.runs r ON r.tenant = c.tenant AND r.run_id = c.run_id
-- In the midst of a superstep of several the tasks are told by the commit that chose them.
CROSS JOIN LATERAL (
  SELECT CASE WHEN c.tasks -> 0 ? 'as_of'
    THEN (SELECT belay.bytes_json(d.next_tasks) FROM belay.checkpoints d
           WHERE d.tenant = c.tenant AND d.run_id = c.run_id AND d.namespace = c.namespace
             AND d.seq = (c.tasks #>> '{0,as_of}')::bigint)
    ELSE c.tasks END AS tasks) chosen
CROSS JOIN LATERAL (
  SELECT belay.bytes_json(convert_to((
    SELECT e.body FROM belay.events e
     WHERE e.tenant = c.tenant AND e.run_id = c.run_id AND e.seq = c.seq AND e.event_index = 0
       AND c.namespace = '' AND c.kind IN ('input', 'attempt', 'failure')), 'UTF8')) AS body)
  told;

-- A row a run.
CREATE VIEW belay.agent_execution_logs AS
SELECT
  r.run_id::text AS id,
  r.tenant AS tenant_id,
  r.thread_id,
  s.graph AS agent_type,
  r.status,
  belay.envelope_json(coalesce((SELECT b.envelope FROM belay.blobs b
    WHERE b.tenant = s.tenant AND b.blob_id = belay.blob_in(s.input)), s.input)) AS input,
  CASE WHEN r.status = 'completed' THEN
    (SELECT c.state FROM belay.checkpoint_states c
      WHERE c.tenant = r.tenant AND c.run_id = r.run_id AND c.namespace = '' AND c.seq = r.seq)
    END AS output,
  nullif(r.error, '') AS error,
  CASE WHEN r.status IN ('completed', 'failed', 'cancelled')
    THEN least(greatest(r.worked_ms, 1), 2147483647)::integer END AS duration_ms,
  least(r.retry_count, 2147483647)::integer AS retry_count,
  s.created_at AS started_at,
  CASE WHEN r.status IN ('completed', 'failed', 'cancelled')
    THEN r.updated_at END AS completed_at,
  nullif(r.outcome, '') AS outcome
FROM belay.runs r
JOIN belay.run_starts s ON s.tenant = r.tenant AND s.run_id = r.run_id;

-- A row a tenant, graph and day (UTC) on which runs of it ended: those that are there, found by the
-- commit that ended them, and the sums of those that retention has forgotten. The percentile is the
-- time within which 95 of 100 runs were done.
CREATE VIEW belay.agent_metrics AS
SELECT
  md5(e.tenant || '/' || e.graph || '/' || e.date)::uuid::text AS id,
  e.tenant AS tenant_id,
  e.graph AS agent_type,
  e.date,
  sum(e.executions)::integer AS total_executions,
  sum(e.successful)::integer AS successful_executions,
  (sum(e.executions) - sum(e.successful))::integer AS failed_executions,
  round(sum(e.worked_ms) / sum(e.executions))::integer AS avg_duration_ms,
  (min(e.typical_ms) FILTER (WHERE e.reached >= 0.95 * e.of_all))::integer AS p95_duration_ms,
  sum(e.retries)::integer AS total_retries,
  min(e.first_ended_at) AS created_at
FROM (
  SELECT d.*,
      sum(d.executions) OVER (PARTITION BY d.tenant, d.graph, d.date ORDER BY d.typical_ms)
        AS reached,
      sum(d.executions) OVER (PARTITION BY d.tenant, d.graph, d.date) AS of_all
    FROM (
      SELECT k.tenant, k.graph, k.date, k.executions, k.successful, k.worked_ms, k.retries,
          k.first_ended_at, k.worked_ms / k.executions AS typical_ms
        FROM belay.daily_sums k
      UNION ALL
      SELECT c.tenant, s.graph, (c.created_at AT TIME ZONE 'UTC')::date, 1::bigint,
          (c.status = 'completed')::integer::bigint, greatest(r.worked_ms, 1), r.retry_count,
          c.created_at, greatest(r.worked_ms, 1)
        FROM belay.checkpoints c
        JOIN belay.runs r ON r.tenant = c.tenant AND r.run_id = c.run_id AND r.seq = c.seq
        JOIN belay.run_starts s ON s.tenant = c.tenant AND s.run_id = c.run_id
       WHERE c.namespace = '' AND c.status IN ('completed', 'failed', 'cancelled')) d) e
GROUP BY e.tenant, e.graph, e.date;

-- Whoever could read the views still can.
DO $rights$
DECLARE
  given record;
BEGIN
  FOR given IN
    SELECT v.name, a.privilege_type, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
             AS passing_on,
           CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
             AS grantee
      FROM (VALUES ('agent_checkpoints', 'belay.old_agent_checkpoints'::regclass),
                   ('agent_execution_logs', 'belay.old_agent_execution_logs'::regclass),
                   ('agent_metrics', 'belay.old_agent_metrics'::regclass)) AS v (name, old)
      JOIN pg_class c ON c.oid = v.old
     CROSS JOIN LATERAL aclexplode(c.relacl) AS a
     WHERE a.grantee <> c.relowner
  LOOP
    EXECUTE format('GRANT %s ON belay.%I TO %s%s', given.privilege_type, given.name,
                   given.grantee, given.passing_on);
  END LOOP;
END
$rights$;
DROP VIEW belay.old_agent_checkpoints;
DROP VIEW belay.old_agent_execution_logs;
DROP VIEW belay.old_agent_metrics;

-- Last, since it takes the longest.
CREATE INDEX checkpoints_ends ON belay.checkpoints (((created_at AT TIME ZONE 'UTC')::date))
  WHERE status IN ('completed', 'failed', 'cancelled') AND namespace = '';
