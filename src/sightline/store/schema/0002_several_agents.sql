-- Several agents on one tree: who holds a session, and what sessions claim.
-- owner: "machine:pid:start" of the process that a session lives with (EnvironmentSeen.owner).
ALTER TABLE sessions ADD COLUMN owner TEXT;

-- Claims that were not released. Few, so nothing but the id is looked up by.
CREATE TABLE claims (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  paths TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  exclusive INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  position INTEGER NOT NULL
) WITHOUT ROWID;
