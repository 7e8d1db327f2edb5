-- What a damaged disk may not change in silence. checksum: CRC-32 of the other columns of a row that
-- was written since this step (codec.sealed). newest_message: position of the session's newest fact
-- MessageAppended; any other that is lost shows as a gap in the chain of messages.
ALTER TABLE events ADD COLUMN checksum INTEGER;
ALTER TABLE knowledge ADD COLUMN checksum INTEGER;
ALTER TABLE disk ADD COLUMN checksum INTEGER;
ALTER TABLE stamps ADD COLUMN checksum INTEGER;
ALTER TABLE claims ADD COLUMN checksum INTEGER;
ALTER TABLE sessions ADD COLUMN newest_message INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN checksum INTEGER;
UPDATE sessions SET newest_message = coalesce(
  (SELECT max(position) FROM events WHERE session = sessions.id AND kind = 'MessageAppended'), 0
);
