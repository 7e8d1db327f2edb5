-- Texts in one form: a zstd frame for each. dictionary: id of the text that the frame needs as its
-- dictionary. depth: how many texts, at most, have to be read one after the other for that.
-- A row has its id because a text that others need is found by a short key.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  revision TEXT NOT NULL UNIQUE,
  dictionary INTEGER,
  depth INTEGER NOT NULL,
  frame BLOB NOT NULL
);
CREATE INDEX texts_by_dictionary ON texts (dictionary) WHERE dictionary IS NOT NULL;

-- Texts that were kept ahead of the fact that names them: position is that of the newest fact
-- then, so that a text about to be named is not taken for a text that nobody needs.
CREATE TABLE kept_ahead (
  text INTEGER PRIMARY KEY,
  position INTEGER NOT NULL
);

-- store.old_texts walks the old tables by these. They go with their tables in the next step.
CREATE INDEX packed_by_pack ON packed (pack, place);
CREATE INDEX patched_by_depth ON patched (depth);
