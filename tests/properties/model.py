"""The plain model: files as full texts, and what an accepted attempt may have made of them.

Nothing here diffs. A merge is judged by counting lines and by their order, a replaced region by
walking over the bytes around it.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from sightline.model.text import split

BOMS = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1", "broken")


class File(NamedTuple):
    """A file as its user sees it: lines (text, line end), and how they are put into bytes."""

    lines: tuple[tuple[str, str], ...]
    encoding: str = "utf-8"

    @property
    def data(self) -> bytes:
        """The bytes on disk."""
        body = "".join(text + end for text, end in self.lines)
        if self.encoding == "broken":
            return body.encode("utf-8", "surrogateescape")
        name = self.encoding.removesuffix("-sig")
        return BOMS.get(self.encoding, b"") + body.encode(name)

    @property
    def plain(self) -> str:
        """The text with every line end one newline."""
        return "".join(text + "\n" * bool(end) for text, end in self.lines)


def parsed(data: bytes, encoding: str) -> File:
    """Bytes that Sightline wrote, as a file of that encoding."""
    bom = BOMS.get(encoding, b"")
    assert data.startswith(bom)
    errors = "surrogateescape" if encoding == "broken" else "strict"
    name = "utf-8" if encoding == "broken" else encoding.removesuffix("-sig")
    body = data[len(bom) :].decode(name, errors)
    found = []
    for line in split(body):
        text = line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
        found.append((text, line[len(text) :]))
    return File(tuple(found), encoding)


def spliced(before: File, after: File, old: str, new: str) -> bool:
    """Return whether `after` is `before` with every `old` become `new` and each byte between untouched."""
    raw = [end if at == len(text) else text[at] for text, end in before.lines for at in range(len(text) + bool(end))]  # fmt: skip
    out = "".join(text + end for text, end in after.lines)
    plain, at, place = before.plain, 0, 0
    while True:
        found = plain.find(old, at)
        kept = "".join(raw[at : found if found >= 0 else len(raw)])
        if not out.startswith(kept, place):
            return False
        place += len(kept)
        if found < 0:
            return place == len(out)
        at = found + len(old)
        for letter in new:
            ends = ("\r\n", "\n") if letter == "\n" else (letter,)
            end = next((end for end in ends if out.startswith(end, place)), None)
            if end is None:
                return False
            place += len(end)


def placed(before: str, after: str, block: list[str], put: list[str], beside: list[str]) -> bool:
    """Return whether `after` is `before` with one `block` of its lines become `put`; for an empty block,
    with `put` standing beside one of the lines it was asked to stand between."""
    have, want = split(before), split(after)
    for at in range(len(have) - len(block) + 1):
        if have[at : at + len(block)] != block:
            continue
        near = have[max(at - 1, 0) : at + 1]
        inner = 0 < at < len(have)  # the file's edges stay where they are
        if not block and inner and not set(near) & set(beside):
            continue
        if have[:at] + put + have[at + len(block) :] == want:
            return True
    return False


def merged(base: str, ours: str, theirs: str, out: str) -> bool:
    """Return whether both sides' lines are in `out`: each as often as the two changes add up to, and
    what is not ours in the order that it has on disk."""
    b, o, t, got = (Counter(bare(text)) for text in (base, ours, theirs, out))
    for line in b | o | t | got:
        mine, other = o[line] - b[line], t[line] - b[line]
        most = least = b[line] + mine + other
        if mine * other > 0:  # both did the same, perhaps to the same lines
            least, most = sorted((most, b[line] + max(mine, other, key=abs)))
        if not least <= got[line] <= most:
            return False
    new = set(o) - set(b) - set(t)
    return subsequence([line for line in bare(out) if line not in new], bare(theirs))


def bare(text: str) -> list[str]:
    """Lines without their newlines."""
    return [line.removesuffix("\n") for line in split(text)]


def subsequence(some: list[str], whole: list[str]) -> bool:
    """Return whether the first is the second with lines left out."""
    left = iter(whole)
    return all(line in left for line in some)


def changed_part(one: str, other: str) -> tuple[int, int]:
    """Lines [start, end) of `one` outside which both are the same at their two ends."""
    a, b = split(one), split(other)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, len(a) - end


def apart(base: str, ours: str, theirs: str) -> bool:
    """Return whether the two changes leave a line between them however they are read."""
    (a0, a1), (b0, b1) = changed_part(base, ours), changed_part(base, theirs)
    return a1 < b0 or b1 < a0


def embeds(believed: str, shown: tuple[tuple[int, int], ...], disk: str) -> bool:
    """Return whether the runs of lines that were shown stand on disk, each in one piece, in order."""
    have, want, at = split(disk), split(believed), 0
    for first, last in shown:
        run = want[first - 1 : last]
        while have[at : at + len(run)] != run:
            at += 1
            if at + len(run) > len(have):
                return False
        at += len(run)
    return True
