-- The tables of a store. Each index costs an append a dirty page, and a dirty page costs more than
-- anything else here. Sizes are bytes, times UTC microseconds. checksum: the CRC-32 of the other
-- columns of the row (codec.sealed), which shows what a damaged disk has changed.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Positions are 1, 2, 3, … because no fact is ever deleted. path: the file that a fact is about;
-- event_paths has the further paths that it names. Each question to the timeline is a search in one
-- index, in order of position, however many sessions have ended and however many facts there are
-- about other files. A question for several kinds of facts is one search for each kind; SQLite merges
-- the results (sqlite.py, selection).
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  kind TEXT NOT NULL,
  happened_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  path TEXT,
  body TEXT NOT NULL,
  checksum INTEGER NOT NULL
);
CREATE INDEX events_of_session ON events (session, kind);
CREATE INDEX events_of_session_path ON events (session, path, kind) WHERE path IS NOT NULL;
CREATE INDEX events_of_path ON events (path, kind) WHERE path IS NOT NULL;
-- Facts without a path are asked of all sessions: checkpoints, git operations, warnings.
CREATE INDEX events_of_kind ON events (kind) WHERE path IS NULL;

-- The kind stands before the position, so that the newest facts of a kind are found at once.
CREATE TABLE event_paths (
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  position INTEGER NOT NULL,
  session TEXT NOT NULL,
  PRIMARY KEY (path, kind, position)
) WITHOUT ROWID;

-- name: the path as it was asked for, where a symlink led from it to path.
CREATE TABLE knowledge (
  session TEXT NOT NULL,
  path TEXT NOT NULL,
  name TEXT,
  position INTEGER NOT NULL,
  via TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  last_read INTEGER NOT NULL,
  last_agent_edit INTEGER,
  first_position INTEGER NOT NULL,
  believed TEXT NOT NULL,
  shown TEXT NOT NULL,
  held TEXT NOT NULL,
  lines INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) WITHOUT ROWID;
CREATE INDEX knowledge_named ON knowledge (session, name) WHERE name IS NOT NULL;

CREATE TABLE disk (
  path TEXT PRIMARY KEY,
  revision TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  cause TEXT,
  mode INTEGER,
  moved_to TEXT,
  last_external_edit INTEGER,
  changes INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;

-- owner: "machine:pid:start" of the process that a session lives with. newest_message: the position
-- of the session's newest MessageAppended. Present sessions are few. Those that ended are many, and so
-- are those whose process went away without a word: a present one is found by its process, or by
-- active, which lies less than a minute from the time of its newest fact (model.projections).
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  started INTEGER NOT NULL,
  parent TEXT,
  ended INTEGER,
  turn INTEGER NOT NULL,
  model TEXT,
  owner TEXT,
  newest_message INTEGER NOT NULL,
  active INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_open ON sessions (started) WHERE ended IS NULL;
CREATE INDEX sessions_held ON sessions (owner) WHERE ended IS NULL AND owner IS NOT NULL;
CREATE INDEX sessions_active ON sessions (active) WHERE ended IS NULL;
CREATE INDEX sessions_ended ON sessions (ended) WHERE ended IS NOT NULL;
CREATE INDEX sessions_of_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- Writes and rewinds that have not come to an end.
CREATE TABLE intents (position INTEGER PRIMARY KEY);

-- Commands under way. Those of sessions that died without a word stay, so that a command is found by its
-- session.
CREATE TABLE commands (
  session TEXT NOT NULL,
  run TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (session, run)
) WITHOUT ROWID;

-- Entries of git's stash that a fact names and that no fact took or dropped. entry: its commit.
CREATE TABLE stashes (
  entry TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  position INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;

-- Claims that were not released. They are few, so nothing but the id is looked up by.
CREATE TABLE claims (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  paths TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  exclusive INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  position INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE stamps (
  path TEXT PRIMARY KEY,
  signature TEXT NOT NULL,
  revision TEXT NOT NULL,
  read_at_ns INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) WITHOUT ROWID;

-- One zstd frame for each text. dictionary: the id of the text that the frame needs as its dictionary.
-- depth: how many texts have to be read one after the other for that. A row has an id because a text
-- that others need is found by a short key.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  revision TEXT NOT NULL UNIQUE,
  dictionary INTEGER,
  depth INTEGER NOT NULL,
  frame BLOB NOT NULL
);
CREATE INDEX texts_by_dictionary ON texts (dictionary) WHERE dictionary IS NOT NULL;

-- Texts that were kept ahead of the fact that names them: position is that of the newest fact then, so
-- that a text about to be named is not taken for a text that nobody needs.
CREATE TABLE kept_ahead (
  text INTEGER PRIMARY KEY,
  position INTEGER NOT NULL
);

-- Marks of lines, for texts that may not be kept (model/line_marks.py): a zstd frame. The key of their
-- hashes is made here and never leaves this file, so that nobody can look up a line elsewhere.
CREATE TABLE marks (
  revision TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  frame BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('marks_key', lower(hex(randomblob(32))));
