"""Make the paths of a host absolute: relative to its agent's folder, from home, or as a URI."""

from __future__ import annotations

import os
from urllib.parse import unquote

from msgspec import structs

from sightline.agents.hook_events import Answered, Event, Prompted

URI = "file://"


def with_absolute_paths(event: Event, cwd: str, home: str) -> Event:
    """Return the event with absolute paths. cwd: the agent's folder."""
    if isinstance(event, Answered):
        failed = [structs.replace(f, path=absolute(f.path, cwd, home)) for f in event.failed]
        return structs.replace(event, failed=tuple(failed))
    if isinstance(event, Prompted):
        mentions = [(absolute(path, cwd, home), lines) for path, lines in event.mentions]
        return structs.replace(event, mentions=tuple(mentions))
    path = getattr(event, "path", None)
    if not isinstance(path, str) or not path:
        return event
    return structs.replace(event, path=absolute(path, cwd, home))


def absolute(path: str, cwd: str, home: str) -> str:
    """Return a host's path in this system's spelling, absolute. An empty path stays empty."""
    if path.startswith(URI):
        path = _path_of_uri(path)
    elif path.startswith("~/"):
        path = os.path.join(home, path[2:])
    return os.path.join(cwd, path)


def _path_of_uri(uri: str) -> str:
    """Return the path of a file URI (RFC 8089): "file:///a%20b" is "/a b". The host's name is left
    out, and so is the slash before a drive."""
    path = unquote("/" + uri[len(URI) :].partition("/")[2], errors="surrogateescape")
    return path[1:] if os.name == "nt" and path[2:3] == ":" else path
