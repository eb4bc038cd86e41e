-- agent_metrics as on PostgreSQL, with the sums of the runs that retention has deleted.
--
-- A commit costs no more than before: the view reads the runs that have ended when it is queried.
-- The deletion of a run inserts or changes one row.

-- How many of the deleted runs of a graph ended on a day (UTC), and how. The class is that of the
-- time they worked, eight to each power of two, so that the 95th percentile of a day remains known
-- within a tenth.
CREATE TABLE daily_sums (
  sum_number     INTEGER PRIMARY KEY,
  tenant_id      INTEGER NOT NULL,
  graph          TEXT NOT NULL,
  date           TEXT NOT NULL,     -- 'YYYY-MM-DD'
  duration_class INTEGER NOT NULL,
  executions     INTEGER NOT NULL,
  successful     INTEGER NOT NULL,
  worked_ms      INTEGER NOT NULL,
  retries        INTEGER NOT NULL,
  first_ended_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX daily_sums_key ON daily_sums (tenant_id, graph, date, duration_class);

-- The row in run_starts is deleted before the one in runs. The class is the least c with
-- ms <= 2^(c/8), computed without functions that a build of SQLite can lack: `doublings` is the
-- number of whole powers of two, and `part` the remaining factor, from 1 to below 2.
CREATE TRIGGER keep_daily_sums BEFORE DELETE ON run_starts
BEGIN
  INSERT INTO daily_sums (tenant_id, graph, date, duration_class, executions, successful, worked_ms,
    retries, first_ended_at)
  SELECT tenant_id, graph, date(ended_at / 1000000, 'unixepoch'),
      8 * doublings + (part > 1.0000000000000000) + (part > 1.0905077326652577)
        + (part > 1.1892071150027210) + (part > 1.2968395546510096) + (part > 1.4142135623730951)
        + (part > 1.5422108254079407) + (part > 1.6817928305074290) + (part > 1.8340080864093424),
      1, is_completed, ms, retries, ended_at
    FROM (
      SELECT *, CAST(ms AS REAL) / (1 << doublings) AS part
        FROM (
          SELECT *, (ms >= 2) + (ms >= 4) + (ms >= 8) + (ms >= 16) + (ms >= 32) + (ms >= 64) +
            (ms >= 128) + (ms >= 256) + (ms >= 512) + (ms >= 1024) + (ms >= 2048) +
            (ms >= 4096) + (ms >= 8192) + (ms >= 16384) + (ms >= 32768) + (ms >= 65536) +
            (ms >= 131072) + (ms >= 262144) + (ms >= 524288) + (ms >= 1048576) +
            (ms >= 2097152) + (ms >= 4194304) + (ms >= 8388608) + (ms >= 16777216) +
            (ms >= 33554432) + (ms >= 67108864) + (ms >= 134217728) + (ms >= 268435456) +
            (ms >= 536870912) + (ms >= 1073741824) + (ms >= 2147483648) +
            (ms >= 4294967296) + (ms >= 8589934592) + (ms >= 17179869184) +
            (ms >= 34359738368) + (ms >= 68719476736) + (ms >= 137438953472) +
            (ms >= 274877906944) + (ms >= 549755813888) AS doublings
            FROM (
              SELECT r.tenant_id, g.name AS graph, r.updated_at AS ended_at,
                  r.status = 'completed' AS is_completed, max(r.worked_ms, 1) AS ms,
                  r.retry_count AS retries
                FROM runs r
                JOIN graphs g ON g.graph_number = OLD.graph_number
               WHERE r.run_number = OLD.run_number
                 AND r.status IN ('completed', 'failed', 'cancelled'))))
   WHERE true
  ON CONFLICT (tenant_id, graph, date, duration_class) DO UPDATE SET
    executions = executions + 1, successful = successful + excluded.successful,
    worked_ms = worked_ms + excluded.worked_ms, retries = retries + excluded.retries,
    first_ended_at = min(first_ended_at, excluded.first_ended_at);
END;

-- The steps of MD5 within a block, with their constants: see agent_metrics.
CREATE TABLE md5_steps (
  step     INTEGER PRIMARY KEY,
  constant INTEGER NOT NULL,
  shift    INTEGER NOT NULL,
  word     INTEGER NOT NULL
) STRICT;
INSERT INTO md5_steps VALUES
  (0, 3614090360, 7, 0), (1, 3905402710, 12, 1), (2, 606105819, 17, 2),
  (3, 3250441966, 22, 3), (4, 4118548399, 7, 4), (5, 1200080426, 12, 5),
  (6, 2821735955, 17, 6), (7, 4249261313, 22, 7), (8, 1770035416, 7, 8),
  (9, 2336552879, 12, 9), (10, 4294925233, 17, 10), (11, 2304563134, 22, 11),
  (12, 1804603682, 7, 12), (13, 4254626195, 12, 13), (14, 2792965006, 17, 14),
  (15, 1236535329, 22, 15), (16, 4129170786, 5, 1), (17, 3225465664, 9, 6),
  (18, 643717713, 14, 11), (19, 3921069994, 20, 0), (20, 3593408605, 5, 5),
  (21, 38016083, 9, 10), (22, 3634488961, 14, 15), (23, 3889429448, 20, 4),
  (24, 568446438, 5, 9), (25, 3275163606, 9, 14), (26, 4107603335, 14, 3),
  (27, 1163531501, 20, 8), (28, 2850285829, 5, 13), (29, 4243563512, 9, 2),
  (30, 1735328473, 14, 7), (31, 2368359562, 20, 12), (32, 4294588738, 4, 5),
  (33, 2272392833, 11, 8), (34, 1839030562, 16, 11), (35, 4259657740, 23, 14),
  (36, 2763975236, 4, 1), (37, 1272893353, 11, 4), (38, 4139469664, 16, 7),
  (39, 3200236656, 23, 10), (40, 681279174, 4, 13), (41, 3936430074, 11, 0),
  (42, 3572445317, 16, 3), (43, 76029189, 23, 6), (44, 3654602809, 4, 9),
  (45, 3873151461, 11, 12), (46, 530742520, 16, 15), (47, 3299628645, 23, 2),
  (48, 4096336452, 6, 0), (49, 1126891415, 10, 7), (50, 2878612391, 15, 14),
  (51, 4237533241, 21, 5), (52, 1700485571, 6, 12), (53, 2399980690, 10, 3),
  (54, 4293915773, 15, 10), (55, 2240044497, 21, 1), (56, 1873313359, 6, 8),
  (57, 4264355552, 10, 15), (58, 2734768916, 15, 6), (59, 1309151649, 21, 13),
  (60, 4149444226, 6, 4), (61, 3174756917, 10, 11), (62, 718787259, 15, 2),
  (63, 3951481745, 21, 9);

-- A row per tenant, graph and day (UTC) on which runs of it ended: those that are stored, found by
-- the commit that ended them, and the sums of those that retention has deleted. The percentile is
-- the time within which 95 of 100 runs were done.
--
-- The id is that of PostgreSQL: the MD5 hash of tenant, graph and date. SQLite has no function for
-- it, and any program can read this view, so it is computed here, as RFC 1321 describes it. `hex` is
-- the padded text. `hash` takes three turns for each step: the sum, the shift, and at the end of a
-- block the addition of h0 to h3, which are the hash before it.
CREATE VIEW agent_metrics AS
SELECT
  (WITH RECURSIVE
    padded (hex, blocks) AS (
      SELECT hex(name) || '80' || hex(zeroblob((119 - length(name) % 64) % 64))
          || printf('%02X%02X%02X%02X00000000', (8 * length(name)) & 255,
               ((8 * length(name)) >> 8) & 255, ((8 * length(name)) >> 16) & 255,
               ((8 * length(name)) >> 24) & 255),
          (length(name) + 72) / 64
        FROM (SELECT CAST(m.tenant_id || '/' || m.agent_type || '/' || m.date AS BLOB) AS name)),
    hash (turns, a, b, c, d, sum, h0, h1, h2, h3, hex, blocks) AS (
      SELECT 0, 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0,
          0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, hex, blocks
        FROM padded
      UNION ALL
      SELECT turns + 1,
          CASE turns % 3 WHEN 1 THEN d WHEN 2 THEN (a + iif(step = 63, h0, 0)) & 0xffffffff
            ELSE a END,
          CASE turns % 3 WHEN 1 THEN (b + ((sum << shift) | (sum >> (32 - shift)))) & 0xffffffff
            WHEN 2 THEN (b + iif(step = 63, h1, 0)) & 0xffffffff ELSE b END,
          CASE turns % 3 WHEN 1 THEN b WHEN 2 THEN (c + iif(step = 63, h2, 0)) & 0xffffffff
            ELSE c END,
          CASE turns % 3 WHEN 1 THEN c WHEN 2 THEN (d + iif(step = 63, h3, 0)) & 0xffffffff
            ELSE d END,
          iif(turns % 3, 0, (a + constant
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 1, 1)) << 4)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 2, 1)) << 0)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 3, 1)) << 12)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 4, 1)) << 8)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 5, 1)) << 20)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 6, 1)) << 16)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 7, 1)) << 28)
            + (instr('123456789ABCDEF', substr(hex, 128 * (turns / 192) + 8 * word + 8, 1)) << 24)
            + CASE step / 16
                WHEN 0 THEN (b & c) | (~b & 0xffffffff & d)
                WHEN 1 THEN (d & b) | (~d & 0xffffffff & c)
                WHEN 2 THEN (b | c | d) - ((b & c) | (b & d) | (c & d)) + (b & c & d)
                ELSE (c | b | (~d & 0xffffffff)) - (c & (b | (~d & 0xffffffff)))
              END) & 0xffffffff),
          iif(turns % 192 = 191, (a + h0) & 0xffffffff, h0),
          iif(turns % 192 = 191, (b + h1) & 0xffffffff, h1),
          iif(turns % 192 = 191, (c + h2) & 0xffffffff, h2),
          iif(turns % 192 = 191, (d + h3) & 0xffffffff, h3),
          hex, blocks
        FROM hash
        JOIN md5_steps ON step = turns % 192 / 3
       WHERE turns < 192 * blocks)
    SELECT printf('%s-%s-%s-%s-%s', substr(digits, 1, 8), substr(digits, 9, 4),
             substr(digits, 13, 4), substr(digits, 17, 4), substr(digits, 21))
      FROM (
        SELECT printf('%02x%02x%02x%02x', a & 255, (a >> 8) & 255, (a >> 16) & 255, a >> 24)
            || printf('%02x%02x%02x%02x', b & 255, (b >> 8) & 255, (b >> 16) & 255, b >> 24)
            || printf('%02x%02x%02x%02x', c & 255, (c >> 8) & 255, (c >> 16) & 255, c >> 24)
            || printf('%02x%02x%02x%02x', d & 255, (d >> 8) & 255, (d >> 16) & 255, d >> 24)
            AS digits
          FROM hash
         WHERE turns = 192 * blocks)) AS id,
  m.*
FROM (
  SELECT
    e.tenant AS tenant_id,
    e.graph AS agent_type,
    e.date,
    sum(e.executions) AS total_executions,
    sum(e.successful) AS successful_executions,
    sum(e.executions) - sum(e.successful) AS failed_executions,
    (2 * sum(e.worked_ms) + sum(e.executions)) / (2 * sum(e.executions)) AS avg_duration_ms,
    min(e.typical_ms) FILTER (WHERE 20 * e.reached >= 19 * e.of_all) AS p95_duration_ms,
    sum(e.retries) AS total_retries,
    strftime('%Y-%m-%dT%H:%M:%S', min(e.first_ended_at) / 1000000, 'unixepoch')
      || printf('.%06dZ', min(e.first_ended_at) % 1000000) AS created_at
  FROM (
    SELECT d.*,
        sum(d.executions) OVER (PARTITION BY d.tenant, d.graph, d.date ORDER BY d.typical_ms)
          AS reached,
        sum(d.executions) OVER (PARTITION BY d.tenant, d.graph, d.date) AS of_all
      FROM (
        SELECT n.name AS tenant, k.graph, k.date, k.executions, k.successful, k.worked_ms,
            k.retries, k.first_ended_at, k.worked_ms / k.executions AS typical_ms
          FROM daily_sums k
          JOIN tenants n ON n.tenant_id = k.tenant_id
        UNION ALL
        SELECT n.name, g.name, date(c.created_at / 1000000, 'unixepoch'), 1,
            c.status = 'completed', max(r.worked_ms, 1), r.retry_count, c.created_at,
            max(r.worked_ms, 1)
          FROM tenants n
          JOIN runs r ON r.tenant_id = n.tenant_id
          JOIN run_starts s ON s.run_number = r.run_number
          JOIN graphs g ON g.graph_number = s.graph_number
          JOIN checkpoints c ON c.tenant_id = r.tenant_id AND c.run_number = r.run_number
           AND c.namespace = '' AND c.seq = r.seq
         WHERE c.status IN ('completed', 'failed', 'cancelled')) d) e
  GROUP BY e.tenant, e.graph, e.date) m;
