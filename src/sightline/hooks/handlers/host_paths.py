"""How hosts spell paths: absolute, relative to where their agent stands, from home, as a URI."""

from __future__ import annotations

import os

from msgspec import structs

from sightline.agents.hook_events import Answered, Event, Prompted

URI = "file://"


def spelled(event: Event, cwd: str, home: str) -> Event:
    """The event with its paths absolute. cwd: where the agent stands."""
    if isinstance(event, Answered):
        failed = tuple(
            [structs.replace(each, path=absolute(each.path, cwd, home)) for each in event.failed]
        )
        return structs.replace(event, failed=failed)
    if isinstance(event, Prompted):
        places = tuple([(absolute(path, cwd, home), lines) for path, lines in event.mentions])
        return structs.replace(event, mentions=places)
    path = getattr(event, "path", None)
    return (
        structs.replace(event, path=absolute(path, cwd, home))
        if isinstance(path, str) and path
        else event
    )


def absolute(path: str, cwd: str, home: str) -> str:
    """One path as a host gives it, absolute in this system's spelling. An empty one stays so."""
    if path.startswith(URI):
        path = _of_uri(path)
    elif path.startswith("~/"):
        path = os.path.join(home, path[2:])
    return os.path.join(cwd, path)


def _of_uri(uri: str) -> str:
    """The path of a file URI (RFC 8089): "file:///a%20b" is "/a b"; a host's name is passed over,
    and a drive has no slash before it."""
    path = "/" + uri[len(URI) :].partition("/")[2]
    first, *rest = path.encode("utf-8", "surrogateescape").split(b"%")
    made = first + b"".join([_byte(part) for part in rest])
    plain = made.decode("utf-8", "surrogateescape")
    return plain[1:] if os.name == "nt" and plain[2:3] == ":" else plain


def _byte(part: bytes) -> bytes:
    try:
        return bytes.fromhex(part[:2].decode("ascii")) + part[2:] if len(part) > 1 else b"%" + part
    except ValueError:
        return b"%" + part
