-- The schema behind every step, which a new store takes at once. Whoever adds a step changes this file,
-- too: tests/store/test_migrations.py compares the two. Columns stand in the order in which the steps
-- added them. The reasons stand in the steps.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  happened_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  path TEXT,
  body TEXT NOT NULL,
  checksum INTEGER
);
CREATE INDEX events_of_session ON events (session, kind);
CREATE INDEX events_of_session_path ON events (session, path, kind) WHERE path IS NOT NULL;
CREATE INDEX events_of_path ON events (path, kind) WHERE path IS NOT NULL;
CREATE INDEX events_of_kind ON events (kind) WHERE path IS NULL;
CREATE TABLE event_paths (
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  position INTEGER NOT NULL,
  session TEXT NOT NULL,
  PRIMARY KEY (path, kind, position)
) WITHOUT ROWID;

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
  checksum INTEGER,
  PRIMARY KEY (session, path)
) WITHOUT ROWID;
CREATE INDEX knowledge_named ON knowledge (session, name) WHERE name IS NOT NULL;
CREATE INDEX knowledge_of_path ON knowledge (path, position);

CREATE TABLE disk (
  path TEXT PRIMARY KEY,
  revision TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  cause TEXT,
  mode INTEGER,
  moved_to TEXT,
  last_external_edit INTEGER,
  checksum INTEGER
) WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  started INTEGER NOT NULL,
  parent TEXT,
  ended INTEGER,
  turn INTEGER NOT NULL,
  model TEXT,
  owner TEXT,
  newest_message INTEGER NOT NULL DEFAULT 0,
  checksum INTEGER
) WITHOUT ROWID;
CREATE INDEX sessions_open ON sessions (started) WHERE ended IS NULL;
CREATE INDEX sessions_held ON sessions (owner) WHERE ended IS NULL AND owner IS NOT NULL;
CREATE INDEX sessions_ended ON sessions (ended) WHERE ended IS NOT NULL;
CREATE INDEX sessions_of_parent ON sessions (parent) WHERE parent IS NOT NULL;

CREATE TABLE intents (position INTEGER PRIMARY KEY);

CREATE TABLE stamps (
  path TEXT PRIMARY KEY,
  signature TEXT NOT NULL,
  revision TEXT NOT NULL,
  read_at_ns INTEGER NOT NULL,
  checksum INTEGER
) WITHOUT ROWID;

CREATE TABLE claims (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  paths TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  exclusive INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  position INTEGER NOT NULL,
  checksum INTEGER
) WITHOUT ROWID;

CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  revision TEXT NOT NULL UNIQUE,
  dictionary INTEGER,
  depth INTEGER NOT NULL,
  frame BLOB NOT NULL
);
CREATE INDEX texts_by_dictionary ON texts (dictionary) WHERE dictionary IS NOT NULL;
CREATE TABLE kept_ahead (
  text INTEGER PRIMARY KEY,
  position INTEGER NOT NULL
);

CREATE TABLE marks (
  revision TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  frame BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('marks_key', lower(hex(randomblob(32))));
