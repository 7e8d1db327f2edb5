"""Search for files by pattern, by approximate name and by folder, within the ignore rules."""

PUBLIC = (
    "cache",
    "chains",
    "find",
    "guesses",
    "listing",
    "listing_requests",
    "path_index",
    "stats",
    "words",
)

PURE = (
    "chains",
    "guesses",
    "path_index",
    "patterns",
)
