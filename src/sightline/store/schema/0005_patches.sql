-- Texts as what they have in place of a part of another one, their base. depth: how many such lead
-- to a whole text; head, tail: bytes that both begin and end with; form, body: as in blobs, of what
-- stands between. Found by base, too, because a base that is forgotten must not take them with it.
CREATE TABLE patched (
  revision BLOB PRIMARY KEY,
  base BLOB NOT NULL,
  depth INTEGER NOT NULL,
  head INTEGER NOT NULL,
  tail INTEGER NOT NULL,
  form TEXT NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX patched_base ON patched (base);
