-- Marks of lines, for texts that may not be kept (model/line_marks.py): a zstd frame. The key of
-- their hashes is made here and never leaves this file, so that nobody can look up a line elsewhere.
CREATE TABLE marks (
  revision TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  frame BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('marks_key', lower(hex(randomblob(32))));
