"""docs/security.md names tests that exist, for every threat."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
THREATS = (
    "A hostile repository",
    "Hostile names and texts",
    "Other users on the machine",
    "A hostile local page or program",
    "Secrets",
)


def test_every_threat_names_tests_that_exist():
    page = (ROOT / "docs/security.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert tuple(sections) == THREATS
    for section in sections.values():
        rows = [row for row in section.splitlines() if row.startswith("| ")][1:]
        assert rows
        for row in rows:
            named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
            assert named, row
            assert len(named) == row.count("`tests/"), row
            for file, name in named:
                assert f"def {name}(" in (ROOT / file).read_text("utf-8"), row
