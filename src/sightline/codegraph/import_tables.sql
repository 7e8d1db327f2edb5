CREATE TABLE state (edition TEXT NOT NULL, epoch INTEGER NOT NULL);
CREATE TABLE file (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  language TEXT,
  listed INTEGER NOT NULL,
  revision TEXT,
  signature TEXT,
  read_at_ns INTEGER,
  too_large INTEGER NOT NULL DEFAULT 0,
  resolved INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX file_unresolved ON file (path) WHERE revision NOT NULL AND NOT resolved;
CREATE TABLE reference (
  source INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  module TEXT NOT NULL,
  line INTEGER NOT NULL,
  level INTEGER NOT NULL,
  names TEXT NOT NULL,
  kind TEXT NOT NULL
);
CREATE INDEX reference_source ON reference (source);
CREATE TABLE edge (
  source INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES file ON DELETE CASCADE,
  line INTEGER NOT NULL,
  direct INTEGER NOT NULL,
  share REAL NOT NULL
);
CREATE INDEX edge_source ON edge (source);
CREATE INDEX edge_target ON edge (target);
CREATE TABLE setting (
  language TEXT NOT NULL,
  path TEXT NOT NULL,
  revision TEXT,
  signature TEXT,
  read_at_ns INTEGER,
  PRIMARY KEY (language, path)
);
