"""The live view of `sightline up`: layout, drawing, waiting."""

PUBLIC = ()
