"""Edits of real texts in forty encodings: the bytes of untouched lines stay, or the edit is refused.

    python bench/encodings.py [--share N]

The texts are parts of 50 programs, catalogues, manuals and pages in 40 languages (bench/documents). Each is
written in every encoding that has its characters, every other one with CRLF. One line of it is edited: one
of ASCII alone, or one with other characters, to which characters of another line are added. The edit is a
replacement, a whole write, a patch, and one by a product's own tool: behind its hook, behind its hook where no
session read the file, and with no hook before. After each an undo is to bring the first bytes back.

A refusal counts as false where all that is added is ASCII, or where the text is UTF-8 or begins with the mark
of UTF-16. A tool that decodes with replacement is refused every other file: it would destroy its bytes.

The exit status is 1 where bytes were lost, or where a refusal was false.
"""

from __future__ import annotations

import codecs
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

import sightline
from sightline.config.settings import Settings
from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace
from sightline.model.hook_events import NOTHING, Attempted, Wrote

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "ascii", "latin-1", "iso8859-2", "iso8859-3", "iso8859-4"),
    *("iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-10", "iso8859-13"),
    *("iso8859-14", "iso8859-15", "iso8859-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254"),
    *("cp1255", "cp1256", "cp1257", "cp1258", "cp437", "cp850", "cp852", "cp866", "koi8-r"),
    *("koi8-u", "mac-roman", "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"),
)

SURE = ("utf-8", "utf-8-sig", "utf-16", "ascii")
"""Encodings that a text itself tells."""

DOCUMENTS = Path(__file__).with_name("documents")

WAYS = ("edit", "write", "patch", "tool", "tool, unread", "tool without a hook")

ADDED = " more of it"

GOOD = ("kept", "refused", "damaged, and brought back")


class Play(Struct, frozen=True):
    """One edit of one text. name: of the text. line: 0-based, the line that is edited; added: what is put
    behind it."""

    name: str
    encoding: str
    text: str
    line: int
    added: str

    @property
    def data(self) -> bytes:
        """Return the bytes of the text."""
        return self.text.encode(self.encoding)

    @property
    def after(self) -> str:
        """Return the text after the edit."""
        return edited(self.text, self.line, self.added)

    @property
    def is_sure(self) -> bool:
        """Return whether no right tool refuses the edit: all that it adds is ASCII, or the text tells its
        encoding."""
        return self.added.isascii() or self.encoding in SURE


def edited(text: str, line: int, added: str) -> str:
    """Return a text with something added to a line."""
    lines = text.split("\n")
    whole = lines[line].removesuffix("\r")
    lines[line] = whole + added + lines[line][len(whole) :]
    return "\n".join(lines)


def plays(share: int = 1) -> Iterator[Play]:
    """Yield the plays of every encoding. share: one of so many texts."""
    files = sorted(DOCUMENTS.glob("*.txt"))
    for number, file in enumerate(files):
        if number % share:
            continue
        text = file.read_text("utf-8")
        text = text.replace("\n", "\r\n") if number % 2 else text
        for place, encoding in enumerate(ENCODINGS):
            if has(encoding, text):
                yield play_of(file.stem, encoding, text, number + place)


def play_of(name: str, encoding: str, text: str, seed: int) -> Play:
    """Return a play whose line the seed chooses; of an even seed, what it adds is of the text's own language."""
    dice = random.Random(seed)  # noqa: S311 - the same plays on every run
    lines = [line.rstrip("\r") for line in text.split("\n")]
    usable = [n for n, line in enumerate(lines) if line.strip() and lines.count(line) == 1]
    beyond = [n for n in usable if not lines[n].isascii()]
    if not beyond or seed % 2:
        return Play(name, encoding, text, dice.choice(usable), ADDED)
    source = dice.choice(beyond)
    word = next(word for word in lines[source].split() if not word.isascii())
    return Play(name, encoding, text, dice.choice(beyond), f" {word}")


def has(encoding: str, text: str) -> bool:
    """Return whether an encoding has all characters of a text."""
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeError:
        return False


def played(root: Path, state: str, play: Play, way: str) -> str:
    """Play one way of editing; return kept, refused, refused falsely, or what was lost."""
    session = sightline.open_session(root, settings=Settings(state_home=state))
    data, file = play.data, root / "a.txt"
    file.write_bytes(data)
    try:
        if way == "tool, unread":
            lost = carried_out_by_tool(session, file, play, has_hook=True)
            return lost or outcome(file, play, way)
        shown = session.read("a.txt").text
        then = session.checkpoint()
        try:
            lost = edit(session, file, shown, play, way)
        except sightline.SightlineError:
            return outcome(file, play, way)
        what = lost or outcome(file, play, way)
        session.rewind(then)
        return what if what not in GOOD or file.read_bytes() == data else "undo lost"
    finally:
        session.close()


def outcome(file: Path, play: Play, way: str) -> str:
    """Return what became of the bytes."""
    found, wanted = file.read_bytes(), play.after.encode(play.encoding)
    is_tools = way.startswith("tool")
    if found == play.data:
        is_right = not keeps(play.data) if is_tools else not play.is_sure
        return "refused" if is_right else "refused falsely"
    if way == "tool without a hook" and not keeps(play.data):
        return "damaged, and brought back"  # played() looks whether it was
    return "kept" if found == wanted else "bytes lost"


def edit(session: sightline.Session, file: Path, shown: str, play: Play, way: str) -> str:
    """Edit a file that was read, as an agent that has only what was shown; return what was lost."""
    old = shown.split("\n")[play.line]
    if way == "edit":
        session.edit("a.txt", old, old + play.added)
    elif way == "write":
        session.write("a.txt", edited(shown, play.line, play.added))
    elif way == "patch":
        session.patch(f"--- a/a.txt\n+++ b/a.txt\n@@\n-{old}\n+{old}{play.added}\n")
    else:
        return carried_out_by_tool(session, file, play, has_hook=way == "tool")
    return ""


def keeps(data: bytes) -> bool:
    """Return whether a tool that decodes with replacement keeps all bytes of a file."""
    codec = codec_of(data)
    return data.decode(codec, "replace").encode(codec) == data


def codec_of(data: bytes) -> str:
    """Return the codec with which such a tool reads and writes a file."""
    return "utf-16" if data.startswith(codecs.BOM_UTF16_LE) else "utf-8"


def carried_out_by_tool(
    session: sightline.Session, file: Path, play: Play, *, has_hook: bool
) -> str:
    """Have a product's tool edit a file; return "damage not told" where it destroyed bytes and neither agent
    nor person heard of it."""
    data = file.read_bytes()
    before = data.decode(codec_of(data), "replace").replace("\r\n", "\n")
    line = before.removeprefix("\ufeff").split("\n")[play.line]
    attempt = Replace(line, line + play.added)
    if has_hook and attend(session, Attempted.single("a.txt", attempt, "c")).refuse:
        return ""
    after = edited(data.decode(codec_of(data), "replace"), play.line, play.added)
    file.write_bytes(after.encode(codec_of(data)))
    told = attend(
        session, Wrote("a.txt", "c", before, content=after.replace("\r\n", "\n"), whole=False)
    )
    is_told = "U+FFFD" in told.context and "U+FFFD" in told.tell
    if keeps(data) and told != NOTHING and "U+FFFD" in told.context:
        return "told of no damage"
    return "" if keeps(data) or is_told else "damage not told"


@click.command()
@click.option("--share", type=int, default=1, help="Play one of so many texts.")
def main(share: int) -> None:
    """Print for each way how often the bytes stayed, and how often it was refused."""
    counts: Counter[tuple[str, str]] = Counter()
    letters: dict[str, Counter[str]] = {}
    wrong = []
    with tempfile.TemporaryDirectory() as home:
        root = Path(home, "ws")
        root.mkdir()
        for play in plays(share):
            for way in WAYS:
                what = played(root, f"{home}/state", play, way)
                counts[way, what] += 1
                if way == "edit" and not play.added.isascii():
                    letters.setdefault(play.encoding, Counter())[what] += 1
                if what not in GOOD:
                    wrong.append((play.name, play.encoding, way, what, repr(play.added)))
    for way in WAYS:
        cells = [f"{what} {n:,}" for (each, what), n in sorted(counts.items()) if each == way]
        print(f"{way:20}  {', '.join(cells)}")
    unsure = [f"{name} {n['refused']}" for name, n in letters.items() if n["refused"]]
    edits = sum(n.total() for n in letters.values())
    print(f"letters of the text's own, {edits:,} edits; refused: {', '.join(unsure) or 'none'}")
    for each in wrong:
        print(*each)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
