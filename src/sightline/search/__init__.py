"""Files by pattern, by approximate name and by folder, within what the ignore rules allow."""

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
    "glob_braces",
    "guesses",
    "path_index",
    "patterns",
)
