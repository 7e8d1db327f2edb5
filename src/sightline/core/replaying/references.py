"""What a call's arguments refer to: paths, long identifiers, hashes, URLs, lines of errors."""

from __future__ import annotations

import re

from sightline.core.replaying.haystack import arguments, strings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.window.blocks import Block

LONGEST = 400
"""Characters of a reference; what is longer is no reference but content."""

_PATTERN = re.compile(
    r"""(?P<url>https?://[^\s"'<>)\]}`\\]+)
      | (?P<path>(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]*\w)
      | (?P<hash>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b)
      | (?P<word>\b[A-Za-z_]\w{13,}\b)""",
    re.VERBOSE | re.ASCII,
)
_ERROR = re.compile(r"^.*(?:Error|Exception|error|FAILED|panic):.*$", re.MULTILINE)

SHORTEST = {"url": 10, "path": 6, "hash": 7, "word": 14}


def references(call: Block) -> list[str]:
    """What the arguments of a call refer to, each once, in the order in which it is named."""
    found: dict[str, None] = {}
    for text in strings(arguments(call)):
        for match in _PATTERN.finditer(text):
            if SHORTEST[match.lastgroup or "url"] <= len(match[0]) <= LONGEST:
                found[match[0]] = None
        for match in _ERROR.finditer(text):
            line = match[0].strip()
            if SHORTEST["word"] <= len(line) <= LONGEST:
                found[line] = None
    return list(found)
