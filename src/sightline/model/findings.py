"""The result of a check, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

State = Literal["ok", "warning", "problem", "unknown"]


class Finding(Struct, frozen=True):
    """The result of a check. case: selects its words in cli/doctor.txt, with these facts; fix: name
    of the repair, "" for none."""

    name: str
    state: State
    case: str
    facts: Mapping[str, Any]
    fix: str = ""
