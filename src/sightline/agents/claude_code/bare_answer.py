"""Print a hook's answer to Claude Code with the standard library alone, after Sightline was removed.

`hooks.client` loads the module of this name in the folder of the product that called.
"""

from __future__ import annotations

import json

UNSHOWN = (b"InstructionsLoaded", b"FileChanged", b"SessionEnd")
"""Events whose answer reaches no user."""


def tell(words: str, raw: bytes) -> bytes:
    """Return the answer that shows words to the user; b"" for an event whose answer reaches no user. raw: the
    payload."""
    if any(b'"%b"' % event in raw for event in UNSHOWN):
        return b""
    return json.dumps({"systemMessage": words}).encode()
