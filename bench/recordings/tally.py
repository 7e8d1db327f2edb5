"""The counts of a replay, and their words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts over recorded edits. The lists name each case, one line each.

    Of belief: what Sightline thought the file was before an edit, against what the recording says
    it was. `shown`: it differs and the recording shows an outside change, counted by what tells of
    it. `unexplained` must stay empty. Of verdicts: Sightline's against the product's;
    refused_by_rule: refusals of ours alone that the recording explains; only_we_refused: the others.
    """

    recordings: int = 0
    unreadable: int = 0
    edits: int = 0
    reads: int = 0
    shell_reads: int = 0
    originals: int = 0
    created: int = 0
    belief_none: int = 0
    belief_equal: int = 0
    belief_differs_shown: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    not_judged: Counter[str] = field(default_factory=Counter)
    both_allowed: int = 0
    both_refused: Counter[str] = field(default_factory=Counter)
    refused_by_rule: Counter[str] = field(default_factory=Counter)
    only_we_refused: list[str] = field(default_factory=list)
    only_product_refused: Counter[str] = field(default_factory=Counter)
    result_equal: int = 0
    result_differs: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count another replay in."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def as_json(self) -> dict[str, object]:
        """Return all counts, with the format's number."""
        return {"schema": 1, **vars(self)}

    def report(self) -> str:
        """For a person, at most 100 columns but for the listed cases."""
        rows = [
            ("recordings", str(self.recordings)),
            ("pieces that are no record", str(self.unreadable)),
            ("reads of files edited later", str(self.reads)),
            ("  by commands", str(self.shell_reads)),
            ("edits", str(self.edits)),
            ("", ""),
            ("file before the edit is known", str(self.originals)),
            ("  never shown to the agent", str(self.belief_none)),
            ("  belief equal", str(self.belief_equal)),
            ("  belief differs, change shown", _counted(self.belief_differs_shown)),
            ("  unexplained", str(len(self.unexplained))),
            ("", ""),
            ("allowed by both", str(self.both_allowed)),
            ("  result equal", str(self.result_equal)),
            ("  result differs", str(len(self.result_differs))),
            ("refused by both", _counted(self.both_refused)),
            ("refused by us, explained", _counted(self.refused_by_rule)),
            ("refused by us only", str(len(self.only_we_refused))),
            ("refused by the product only", _counted(self.only_product_refused)),
            ("not judged", _counted(self.not_judged)),
        ]
        lines = [f"{name:34}{value}".rstrip() for name, value in rows]
        for title, cases in (
            ("unexplained", self.unexplained),
            ("refused by us only", self.only_we_refused),
            ("result differs", self.result_differs),
        ):
            lines += ["", f"{title}:", *(f"  {case}" for case in cases)] if cases else []
        return "\n".join(lines)


def _counted(counts: Counter[str]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
    return f"{counts.total()} ({kinds})" if counts else "0"
