-- Each question to the timeline is a search in one index, in order of position, however many sessions
-- have ended and however many facts there are about other files. A question for several kinds of facts
-- is one search for each kind; SQLite merges the results (sqlite.py, selection).
DROP INDEX events_of;
DROP INDEX events_turning;
DROP INDEX events_changed;
CREATE INDEX events_of_session ON events (session, kind);
CREATE INDEX events_of_session_path ON events (session, path, kind) WHERE path IS NOT NULL;
CREATE INDEX events_of_path ON events (path, kind) WHERE path IS NOT NULL;
-- Facts without a path are asked of all sessions: checkpoints, git operations, warnings.
CREATE INDEX events_of_kind ON events (kind) WHERE path IS NULL;

-- Present sessions are few. Those that ended are many, and so are those whose process went away without
-- a word: a present one is found by its process, or by its newest facts.
CREATE INDEX sessions_open ON sessions (started) WHERE ended IS NULL;
CREATE INDEX sessions_held ON sessions (owner) WHERE ended IS NULL AND owner IS NOT NULL;
CREATE INDEX sessions_ended ON sessions (ended) WHERE ended IS NOT NULL;
CREATE INDEX knowledge_of_path ON knowledge (path, position);
CREATE INDEX sessions_of_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- The kind stands before the position, so that the newest facts of a kind are found at once.
CREATE TABLE event_paths_by_kind (
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  position INTEGER NOT NULL,
  session TEXT NOT NULL,
  PRIMARY KEY (path, kind, position)
) WITHOUT ROWID;
INSERT INTO event_paths_by_kind
  SELECT named.path, events.kind, events.position, events.session
  FROM event_paths AS named CROSS JOIN events ON events.position = named.position;
DROP TABLE event_paths;
ALTER TABLE event_paths_by_kind RENAME TO event_paths;
