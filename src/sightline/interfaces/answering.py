"""What `doctor` finds of those who answer hooks: `up`, and the process that a hook starts."""

from __future__ import annotations

import os

from sightline.interfaces import running
from sightline.interfaces.hook_client import stamp
from sightline.services.health import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.interfaces.running import Running
    from sightline.services.health import State


def findings(root: str, answerer: str | None) -> Iterator[Finding]:
    """Who answers hooks of this workspace. answerer: the setting, None where it cannot be told."""
    told = list(running.answerers(root, os.environ, os.path.expanduser("~")))
    ups, autos = ([each for each in told if each.kind == kind] for kind in ("up", "auto"))
    yield Finding("up", *_up(ups), {})
    if hasattr(os, "posix_spawn") and hasattr(os, "getuid"):
        yield _auto(root, autos, answerer, up=any(map(_asked, ups)))


def _up(found: list[Running]) -> tuple[State, str]:
    if any(map(_asked, found)):
        return "ok", "running"
    return ("warning", "outdated") if found else ("ok", "not running")


def _auto(root: str, found: list[Running], answerer: str | None, *, up: bool) -> Finding:
    for each in found:
        facts = {"pid": each.pid, "since": each.since, "calls": each.calls}
        return Finding("answerer", "ok", "running" if _asked(each) else "outdated", facts)
    silent = running.silent(root, os.environ, os.path.expanduser("~"))
    if silent:
        return Finding("answerer", "warning", "silent", {"pid": silent[0]})
    if answerer == "off":
        return Finding("answerer", "ok", "off", {})
    return Finding("answerer", "ok", "not needed" if up else "not running", {})


def _asked(answerer: Running) -> bool:
    """Whether hooks of this installation ask it."""
    return answerer.installation == stamp()
