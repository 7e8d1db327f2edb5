"""Pure values and algorithms: texts, spans, diffs, merges, facts, and the views folded from facts."""

PUBLIC = PURE = (
    "active_claims",
    "attempts",
    "belief",
    "diff",
    "events",
    "json_text",
    "locate",
    "manifest",
    "merge",
    "nearest",
    "path",
    "projections",
    "relocation",
    "results",
    "revision",
    "spans",
    "text",
    "timeline",
    "units",
    "validation",
)
