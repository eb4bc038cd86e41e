-- When each large value was last put, by a number that is never given twice: so that one that was
-- found to have no name is not forgotten if a commit has named it meanwhile.
CREATE TABLE blob_puts (
  put_number  INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id   INTEGER NOT NULL,
  blob_number INTEGER NOT NULL REFERENCES blobs
) STRICT;
CREATE UNIQUE INDEX blob_puts_key ON blob_puts (tenant_id, blob_number);
INSERT INTO blob_puts (tenant_id, blob_number)
  SELECT tenant_id, blob_number FROM blobs ORDER BY blob_number;
