-- The timeline, and the views that are stepped in the transaction of each append.
-- Why so few indexes: each costs an append a dirty page, and a dirty page costs more than
-- anything else here. One index serves both a session's facts and a path's (session, path); a
-- path alone is found through the list of sessions. Sizes in bytes, times in microseconds (UTC).
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Positions are 1, 2, 3, … because SQLite gives out max + 1 and no fact is ever deleted.
-- path: the file a fact is about; further paths it names stand in event_paths.
CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  happened_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  path TEXT,
  body TEXT NOT NULL
);
CREATE INDEX events_of ON events (session, path);
CREATE INDEX events_turning ON events (session) WHERE kind IN ('SessionForked', 'RewindEnded');
-- Who changed a file is asked with each notice, of a file that may have been read thousands of
-- times since. Only a change pays for this.
CREATE INDEX events_changed ON events (path) WHERE kind = 'Changed';
CREATE TABLE event_paths (
  path TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (path, position)
) WITHOUT ROWID;

-- name: the path as it was asked for, when a symlink led from it to path.
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
  last_external_edit INTEGER
) WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  started INTEGER NOT NULL,
  parent TEXT,
  ended INTEGER,
  turn INTEGER NOT NULL,
  model TEXT
) WITHOUT ROWID;

-- Writes that were announced and not yet settled.
CREATE TABLE intents (position INTEGER PRIMARY KEY);

-- The stat cache: signature is six numbers, "size mtime ctime dev ino mode".
CREATE TABLE stamps (
  path TEXT PRIMARY KEY,
  signature TEXT NOT NULL,
  revision TEXT NOT NULL,
  read_at_ns INTEGER NOT NULL
) WITHOUT ROWID;

-- form: raw or zlib. body is NULL when the bytes are a file of their own beside this one.
CREATE TABLE blobs (
  revision TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  form TEXT NOT NULL,
  body BLOB
);
