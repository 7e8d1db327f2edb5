"""Handle each hook event."""

PUBLIC = ()
