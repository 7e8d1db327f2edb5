"""The tour: a recorded session of a real agent, played through the library."""

PUBLIC = ()
