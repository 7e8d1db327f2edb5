"""Changes on the disk as they happen, by the watcher that this machine has."""

PUBLIC = (
    "event_support",
    "watcher",
)
