"""Compare Sightline's readers of recordings with a plain walk through the JSON.

    python bench/readers.py [PATH]... [--cut] [--json]

PATH is a recording or a folder of them; the default is the team's corpus beside the repository.
Prints calls, edits and reads for each product, and each file whose counts differ. --cut also reads
parts of each recording, without its head or its tail. Exit 1 when some counts differ, or a part is
not read although it holds a call; 2 when there is no recording.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.recordings.counts import (  # noqa: E402 (needs the path above)
    PLAIN,
    PLAIN_EDIT,
    WALKERS,
    Counts,
    command_of,
    is_shell,
    spoken_command,
)
from bench.recordings.cuts import cuts  # noqa: E402

from sightline.messages.formats.format import FORMATS  # noqa: E402
from sightline.recordings.read_recordings import find_recordings, read_recording  # noqa: E402
from sightline.recordings.recorded_conversation import Unread  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.messages.blocks import Block
    from sightline.recordings.recorded_conversation import Conversation, Message

CORPUS = ROOT.parent / "shared" / "corpus"


class Compared(NamedTuple):
    """A file. read, walked: the counts; walked is None where a damaged or merged file, or a product
    without a walker, cannot be walked; why: the reason for a file that no reader reads."""

    path: str
    agent: str = ""
    read: Counts | None = None
    walked: Counts | None = None
    why: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the readers with the plain walk and print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", default=[str(CORPUS)], metavar="PATH")
    parser.add_argument("--cut", action="store_true", help="also read parts of each recording")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    files = [compare(path) for path in find_recordings(options.paths)]
    if options.cut:
        files += [part for file in files if file.walked for part in compare_parts(file)]
    if not any(file.agent for file in files):
        print(f"No recording in {' '.join(options.paths)}", file=sys.stderr)
        return 2
    print(json.dumps(as_json(files)) if options.json else report(files))
    return int(any(differs(file) for file in files))


def compare(path: str) -> Compared:
    """Return the counts of one file."""
    found = read_recording(path)
    if isinstance(found, Unread):
        return Compared(path, why=found.why)
    walker = WALKERS.get(found.agent)
    try:
        walked = None if walker is None else walker(Path(path))
    except (AttributeError, KeyError, TypeError, ValueError):  # Markdown, or runs of sessions
        walked = None
    return Compared(path, found.agent, counts(found), walked)


def compare_parts(whole: Compared) -> Iterator[Compared]:
    """Yield the counts of each part of a file, with the cut behind its path. A part that no reader takes for
    its product's, although it holds a call, is walked alone."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in cuts(Path(whole.path)):
            part = Path(folder) / Path(whole.path).name
            part.write_bytes(data)
            found = compare(str(part))
            if found.agent != whole.agent:
                walked = WALKERS[whole.agent](part)
                found = found._replace(
                    agent=whole.agent, read=found.read or Counts(0, 0, 0), walked=walked
                )
            yield found._replace(path=f"{whole.path} {name}")


def counts(conversation: Conversation) -> Counts:
    """Return the counts of a reader's calls, edits and reads. The shell counts as the walkers count it: only a
    command with a patch or a plain command is an edit, and only a plain command is a read."""
    sums = [0, 0, 0]
    for messages in segments_once(conversation):
        asked: dict[str | None, Block] = {}
        for block in FORMATS[conversation.format].blocks(messages, len):
            if block.kind == "call":
                asked[block.call] = block
                sums[0] += 1
                sums[1] += is_edit(block)
            elif block.kind == "result" and block.deed == "read" and block.excerpts:
                is_plain = block.call in asked and PLAIN.fullmatch(command(asked[block.call]))
                sums[2] += not is_shell(block.tool or "") or bool(is_plain)
    return Counts(*sums)


def segments_once(conversation: Conversation) -> Iterator[Sequence[Message]]:
    """Yield the messages from border to border, without those that a compaction kept: they stand behind the
    border once more, with the time of the compaction."""
    edges = [0, *conversation.borders, len(conversation.messages)]
    earlier: Sequence[Message] = ()
    for first, after in pairwise(edges):
        at = conversation.times[first] if first < after else None
        own = [
            conversation.messages[n]
            for n in range(first, after)
            if conversation.times[n] != at or conversation.messages[n] not in earlier
        ]
        earlier = conversation.messages[first:after]
        yield own


def command(call: Block) -> str:
    """Return the command of a call of the shell."""
    try:
        return command_of(json.loads(call.text))
    except ValueError:  # a block of shell in the model's text
        return (spoken_command(call.text) or "").strip()


def is_edit(block: Block) -> bool:
    """Return whether a call edits as the walkers count it."""
    if not is_shell(block.tool or ""):
        return block.deed in ("edit", "write")
    is_plain = PLAIN_EDIT.fullmatch(command(block)) is not None
    return "*** Begin Patch" in block.text or (is_plain and block.deed in ("edit", "write"))


def differs(file: Compared) -> bool:
    """Return whether the two counts of a file differ."""
    return file.walked is not None and file.read != file.walked


def as_json(files: Sequence[Compared]) -> dict[str, object]:
    """All files, with the format's number."""
    return {"schema": 1, "files": [file._asdict() for file in files]}


def report(files: Sequence[Compared]) -> str:
    """The sums of each product, the files that differ, and those that no reader reads."""
    lines = [f"{'product':16}{'files':>6}{'calls':>8}{'edits':>8}{'reads':>8}{'differ':>8}"]
    for agent in sorted({file.agent for file in files} - {""}):
        own = [file for file in files if file.agent == agent]
        counted = [file.read or Counts(0, 0, 0) for file in own]
        sums = [sum(column) for column in zip(*counted, strict=True)]
        numbers = (len(own), *sums, sum(map(differs, own)))
        lines.append(f"{agent:16}{numbers[0]:>6}" + "".join(f"{n:>8}" for n in numbers[1:]))
    lines += ["", *(f"not walked: {f.path}" for f in files if f.agent and f.walked is None)]
    for file in filter(differs, files):
        lines.append(f"differs: {file.path}")
        lines += [f"  read   {file.read}", f"  walked {file.walked}"]
    reasons = Counter(file.why for file in files if not file.agent)
    return "\n".join([*lines, "", *(f"not read: {n} ({why})" for why, n in reasons.most_common())])


if __name__ == "__main__":
    sys.exit(main())
