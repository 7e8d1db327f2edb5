"""Measure a conversation beside the least that could keep one, in the same run.

    python bench/conversation.py [--json] [--only NAME]...

Messages are of 2 kB. Each figure is timed in turns with its floor; medians, and the fastest round
beside them. bench/README.md says how each is made.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import sys
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING, Any

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.asking import printed
from bench.filling import opened
from bench.speed import table
from bench.stopwatch import Figure, Limit, Row, interleaved, measure_each

from sightline.messages.message_codec import encode
from sightline.model.events import MessageAppended
from sightline.store.port import Append

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bench.stopwatch import Times

    from sightline import Session

LINES = "".join(f"value_{n} = compute({n}, mode={n % 7})\n" for n in range(50))
BATCH = 500
LONG = 50_000
"""Messages of 100 MB."""


def message(number: int) -> dict[str, Any]:
    """One of the conversation: a question, a call, its result, in turn."""
    name, text = f"c{number // 2}", f"{number}\n{LINES}"
    if number % 2:
        given = {"file_path": f"src/f{number % 40}.py", "content": text}
        used = {"type": "tool_use", "id": name, "name": "Write", "input": given}
        return {"role": "assistant", "content": [used]}
    told = {"type": "tool_result", "tool_use_id": f"c{(number - 1) // 2}", "content": text}
    asked = {"type": "text", "text": text}
    return {"role": "user", "content": [told if number else asked]}


def fill(session: Session, messages: int) -> None:
    """A conversation of so many messages, as append() would have put them there."""
    store, parent = session._context.store, None  # noqa: SLF001  append() would take a minute
    for start in range(0, messages, BATCH):
        facts, texts = [], []
        for number in range(start, min(start + BATCH, messages)):
            kept = encode(message(number), parent)
            texts.append(kept.text)
            role = "model" if number % 2 else "user"
            facts.append(
                MessageAppended(kept.id, parent, role, _revision(kept.text), formats=("anthropic",))
            )
            parent = kept.id
        store.append(Append(session.id, facts, at=time_ns() // 1000, texts=texts))


def _revision(text: bytes) -> str:
    from sightline.model.revision import revision_of

    return revision_of(text)


def appending(messages: int) -> Callable[[str], Times]:
    """One append behind so many messages, beside the least that keeps one: its JSON, hashed and
    packed, and SQLite's own transaction of the same two rows."""

    def measured(folder: str) -> Times:
        with opened(folder) as session:
            fill(session, messages)
            conversation = session.conversation
            number = iter(range(messages, 1 << 30))
            bare = _bare(folder)
            return interleaved(
                lambda: conversation.append(message(next(number))),
                lambda: bare(message(next(number))),
                1_000,
            )

    return measured


def _bare(folder: str) -> Callable[[dict[str, Any]], None]:
    from hashlib import sha256

    from sightline.store import codec
    from sightline.store.blobs import PUT, compress
    from sightline.store.sqlite import PUT_EVENT
    from sightline.store.sqlite_file import open_file

    file = os.path.join(folder, "bare.db")
    open_file(file).close()
    db = sqlite3.connect(file, isolation_level=None)
    for pragma in ("wal_autocheckpoint=0", "synchronous=NORMAL"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    kept = encode(message(1), None)
    revision = _revision(kept.text)
    fact = MessageAppended(kept.id, kept.id, "model", revision, formats=("anthropic",))
    body, positions = codec.encode(fact), itertools.count(1)

    def transaction(said: dict[str, Any]) -> None:
        text = json.dumps(said).encode()
        name, frame = sha256(text).hexdigest(), compress(text)
        event = codec.sealed((next(positions), "s", "MessageAppended", 2, 2, body))
        db.execute("BEGIN IMMEDIATE")
        db.execute(PUT_EVENT, (*event, None))
        db.execute(PUT, (name, frame))
        db.execute("COMMIT")

    return transaction


def newest(folder: str) -> Times:
    """A process that opens a conversation of 100 MB asks for its last 50 messages, beside reading
    a file of those alone."""
    with opened(folder, id="s") as session:
        fill(session, LONG)
        last = Path(folder, "last.json")
        last.write_text(json.dumps([message(n) for n in range(LONG - 50, LONG)]))
    again = opened(folder, id="s")
    fresh: list[Session] = []

    def reopened() -> None:
        fresh.append(opened(folder, id="s"))

    def ours() -> None:
        assert len(fresh[-1].conversation.messages(last=50)) == 50
        fresh.pop().close()

    times = interleaved(ours, lambda: json.loads(last.read_text()), 40, before=reopened)
    again.close()
    return times


SHOWN = 5_000
"""Messages of a view."""


def viewing(folder: str) -> Times:
    """The whole view behind one more message, of 5,000 that were folded before: with its messages
    looked through for what a provider would refuse. Beside their JSON, as it is sent."""
    with opened(folder) as session:
        fill(session, SHOWN)
        conversation = session.conversation
        view = conversation.view()
        number = iter(range(SHOWN, 1 << 30))
        return interleaved(
            conversation.view,
            lambda: json.dumps(view),
            10,
            before=lambda: [conversation.append(message(next(number))) for _ in range(2)],
        )


BARE = "JSON, hash, pack, bare transaction"
FIGURES = (
    Figure("append", "append of a message, the first thousand", BARE, Limit(4), appending(1)),
    Figure("append-long", "the same behind 50,000 messages", BARE, Limit(4), appending(LONG)),
    Figure("last-50", "the last 50 messages of 100 MB, opened anew", "a file of those", Limit(ms=50), newest),
    Figure("view", "the view of 5,000 messages", "its JSON", Limit(), viewing),
)  # fmt: skip
"""In the order of the table."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chosen figures and print them. Exit 1 when a limit is missed, 2 when nothing has
    that name."""
    return printed(__doc__, (figure.name for figure in FIGURES), run, table, arguments)


def run(only: Sequence[str]) -> Iterator[Row]:
    """Measure each figure whose name begins so, in a folder of its own."""
    return measure_each(FIGURES, only, "sightline-talk-")


if __name__ == "__main__":
    sys.exit(main())
