"""Claude Code's recordings: rows of transcripts, messages, sessions, and the results of its tools."""

PUBLIC = ("recorded_sessions", "tool_results", "transcript_messages", "transcripts")
