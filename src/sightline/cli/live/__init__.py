"""The live view of `sightline up`."""

PUBLIC = ()

PURE = ("view",)
