"""What to do for each hook event."""

PUBLIC = ()
