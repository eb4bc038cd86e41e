-- Records with versions, an end, and ordered indexes. The entries of an ordered index are rows of
-- record_index whose field begins with "order:": their values are ordered as texts.
ALTER TABLE records ADD COLUMN version INTEGER NOT NULL DEFAULT 1;  -- increases with each save
ALTER TABLE records ADD COLUMN expires_at INTEGER;                  -- null: never
CREATE INDEX records_expiring ON records (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
