-- Records with versions, an end, and ordered indexes. The entries of an ordered index are rows of
-- record_index whose field begins with "order:": their values are ordered as bytes.
-- An older Belay would save records without raising their versions, so it must not open the schema
-- any more.
ALTER TABLE belay.records ADD COLUMN IF NOT EXISTS version bigint NOT NULL DEFAULT 1;
ALTER TABLE belay.records ADD COLUMN IF NOT EXISTS expires_at timestamptz;
CREATE INDEX IF NOT EXISTS records_expiring ON belay.records (tenant, expires_at)
  WHERE expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS record_index_ordered
  ON belay.record_index (tenant, collection, user_id, field, (value COLLATE "C"), key)
  WHERE field LIKE 'order:%';
