-- Texts that were kept ahead of the fact that names them: position is that of the newest fact
-- then, so that what is about to be named is not taken for a text that nobody needs.
-- A table of its own: in the blobs table the column would stand behind the bytes, and reading it
-- would walk through all of them.
CREATE TABLE ahead (
  revision TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) WITHOUT ROWID;
