"""Edits of texts in forty encodings: the bytes of untouched lines stay, or the edit is refused.

Each text is one article of the Declaration of Human Rights in one of several languages, as the comment of a
program, a page, a settings file and others. Each is written in every encoding that has its characters. Then
it is edited by a replacement, a whole write, a patch, and a product's own tool with and without its hook
before; after each an undo is to bring the first bytes back.

The exit status is 1 where bytes were lost.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

import sightline
from sightline.agents.hook_events import Attempted, Wrote
from sightline.config.settings import Settings
from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "ascii", "latin-1", "iso8859-2", "iso8859-3", "iso8859-4"),
    *("iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13"),
    *("iso8859-14", "iso8859-15", "iso8859-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254"),
    *(
        "cp1255",
        "cp1256",
        "cp1257",
        "cp1258",
        "cp437",
        "cp850",
        "cp852",
        "cp866",
        "koi8-r",
        "koi8-u",
    ),
    *("mac-roman", "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"),
)

ARTICLES = (
    "All human beings are born free and equal in dignity and rights.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos. ¿Y el corazón?",
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "人人生而自由，在尊严和权利上一律平等。",
    "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
)

FRAMES = (
    "# {}\nx = 1\n# {}\n",
    "/* {} */\r\nint x = 1;\r\n// {}\r\n",
    "[app]\nname = {}\nx = 1\nend = {}",
    "<p>{}</p>\n<p>x = 1</p>\n<p>{}</p>\n",
    "{}\n\nx = 1\n\n{}\n",
)

OLD, NEW = "x = 1", "x = 2"

WAYS = ("edit", "write", "patch", "tool", "tool without a hook")


def texts(share: int) -> Iterator[tuple[str, str]]:
    """Yield each encoding with a text that it can hold. share: one of so many."""
    every = [frame.format(article, article[::-1]) for article in ARTICLES for frame in FRAMES]
    for encoding in ENCODINGS:
        for number, text in enumerate(every):
            if number % share == 0 and _has(encoding, text):
                yield encoding, text


def _has(encoding: str, text: str) -> bool:
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeError:
        return False


def played(root: Path, state: str, encoding: str, text: str, way: str) -> str:
    """Play one way of editing; return kept, refused, or what was lost."""
    session = sightline.open_session(root, settings=Settings(state_home=state))
    data = text.encode(encoding)
    file = root / "a.txt"
    file.write_bytes(data)
    try:
        shown = session.read("a.txt").text
        then = session.checkpoint()
        try:
            _edit(session, file, shown, way)
        except sightline.SightlineError:
            return "refused" if file.read_bytes() == data else "refused, and changed"
        bare = encoding.removesuffix("-sig") if encoding != "utf-16" else "utf-16-le"
        wanted = data.replace(OLD.encode(bare), NEW.encode(bare))
        found = file.read_bytes()
        if way != "tool without a hook" and found not in (wanted, data):
            return "bytes lost"
        session.rewind(then)
        if file.read_bytes() != data:
            return "undo lost"
        return "refused" if found == data else "kept"
    finally:
        session.close()


def _edit(session: sightline.Session, file: Path, shown: str, way: str) -> None:
    if way == "edit":
        session.edit("a.txt", OLD, NEW)
    elif way == "write":
        session.write("a.txt", shown.replace(OLD, NEW))
    elif way == "patch":
        line = next(each for each in shown.split("\n") if OLD in each)
        session.patch(f"--- a/a.txt\n+++ b/a.txt\n@@\n-{line}\n+{line.replace(OLD, NEW)}\n")
    else:
        if way == "tool" and attend(session, Attempted("a.txt", Replace(OLD, NEW), "c")).refuse:
            return
        data = file.read_bytes()
        codec = "utf-16" if data.startswith(b"\xff\xfe") else "utf-8"
        before = data.decode(codec, "replace")
        after = before.replace(OLD, NEW)
        file.write_bytes(after.encode(codec))
        attend(session, Wrote("a.txt", "c", before, content=after))


@click.command()
@click.option("--share", type=int, default=1, help="Play one of so many texts.")
def main(share: int) -> None:
    """Print for each way how often the bytes stayed, and how often it was refused."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as home:
        root = Path(home, "ws")
        root.mkdir()
        for encoding, text in texts(share):
            for way in WAYS:
                what = played(root, f"{home}/state", encoding, text, way)
                counts[way, what] += 1
                if what not in ("kept", "refused"):
                    wrong.append((encoding, way, what, text[:20]))
    for way in WAYS:
        cells = [
            f"{what} {number}" for (each, what), number in sorted(counts.items()) if each == way
        ]
        print(f"{way:20}  {', '.join(cells)}")
    for each in wrong[:20]:
        print(*each)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
