-- Packs: texts that were kept together, packed as one stream, because neighbours resemble each other
-- and because a small text wastes most of its pages. Rows of the blobs table stay what they are.
-- since: as in the table ahead, of all texts of a pack; 0 when they came with their fact. size: of
-- the texts before packing. lengths: of each, in order, with spaces between. Ids are never given
-- out twice: a process may still hold the texts of a pack that is gone.
CREATE TABLE packs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  since INTEGER NOT NULL,
  size INTEGER NOT NULL,
  lengths TEXT NOT NULL,
  body BLOB NOT NULL
);

-- revision: its 32 bytes. place: which of the pack's texts, from 0.
CREATE TABLE packed (
  revision BLOB PRIMARY KEY,
  pack INTEGER NOT NULL,
  place INTEGER NOT NULL
) WITHOUT ROWID;

-- Packs of which texts were forgotten: bytes of these, before packing. A table of its own, because
-- changing a row of packs would write its body again.
CREATE TABLE thinned (
  pack INTEGER PRIMARY KEY,
  gone INTEGER NOT NULL
);
