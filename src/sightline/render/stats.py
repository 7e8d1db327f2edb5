"""How searches for files went, in words for a person, and as JSON."""

from __future__ import annotations

from sightline.render.views import count, one_line, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sightline.core.finding.success import FindStats, Stats, Tally

HEAD = ("PATTERN", "TRIED", "FOUND FIRST", "FURTHER DOWN", "BY A GUESS", "NOT FOUND")

NAMES = {
    "path": "a path",
    "name": "a name in any folder",
    "ending": "all of an ending",
    "glob": "any other glob",
    "outside": "outside the workspace",
}
"""Kind of pattern -> what a person calls it."""


def text(found: Stats) -> str:
    """All of it; "" where nothing was looked for yet."""
    find = found.find
    if not find.searches.asked:
        return ""
    rows = [HEAD, *(_row(NAMES[kind], each) for kind, each in find.kinds)]
    lines = [_searches(find), "", *table(rows)]
    if find.failing:
        lines += ["", "Most often matched nothing:"]
        lines += [f"  {one_line(each)} ({count(times, 'time')})" for each, times in find.failing]
    return "\n".join(lines)


def as_json(found: Stats) -> dict[str, Any]:
    """For programs."""
    find = found.find
    return {
        "schema": 1,
        "find": {
            "searches": dict(find.searches.items()),
            "kinds": [{"kind": kind, **dict(each.items())} for kind, each in find.kinds],
            "timed_out": find.timed_out,
            "failing": [{"pattern": each, "times": times} for each, times in find.failing],
        },
    }


def _searches(find: FindStats) -> str:
    each = find.searches
    ends = [
        (each.found_first, "by their first pattern"),
        (each.found_further, "by a later one"),
        (each.helped, "by a guess that was read next"),
    ]
    found = ", ".join(f"{number:,} {how}" for number, how in ends)
    many = "1 search" if each.asked == 1 else f"{each.asked:,} searches"
    said = f"{many} for files: {found}; {each.not_found:,} found nothing."
    late = f" Time ran out in {find.timed_out:,}." if find.timed_out else ""
    return said + late


def _row(name: str, each: Tally) -> tuple[str, ...]:
    return name, *(f"{number:,}" for _, number in each.items())
