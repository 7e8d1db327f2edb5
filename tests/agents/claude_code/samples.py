"""What the real client said, captured (see data/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sightline.agents.claude_code.product import PRODUCT
from sightline.model.hook_events import Event

DATA = Path(__file__).parent / "data"
CLAUDE: Any = PRODUCT.dialect
FILES = sorted(path.name for path in DATA.glob("hooks-*.jsonl"))


def payloads(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def told(name: str, *kinds: type[Event]) -> list[Any]:
    """The events of all hooks of a run, or those of some kinds."""
    found = [event for payload in payloads(name) for event in CLAUDE.events(payload)]
    return [event for event in found if not kinds or isinstance(event, kinds)]


def payload(event: str, **more: Any) -> dict[str, Any]:
    common = {"session_id": "s1", "cwd": "/home/me/demo", "transcript_path": "/home/me/t/s1.jsonl"}
    return {**common, "hook_event_name": event, **more}


def tool(event: str, name: str, given: Any, **more: Any) -> dict[str, Any]:
    return payload(event, tool_name=name, tool_input=given, tool_use_id="c1", **more)
