"""What a shell command shows of files, and what it writes into them, as far as its text tells.

A reading says which lines a command would print. It claims nothing: what was really printed is
told by the output alone (shell_parsing.printed_lines).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from re import sub

from msgspec import Struct

from sightline.model.spans import Spans
from sightline.shell_parsing.command_line import Simple, joined, pipelines
from sightline.shell_parsing.readers import Filter, filter_of

READINGS_MAX = 50
WORTH = 20
"""Characters from which on a text that stands in a command cannot stand there by chance."""

SHELLS = ("bash", "sh", "zsh", "dash")
SEARCHERS = ("grep", "egrep", "fgrep", "rg", "ag", "git")


class Reading(Struct, frozen=True):
    """A file that a command shows. path: absolute. cuts: one after the other, which lines of
    those left so far are let through; a negative number counts from the end (-1 is the last).
    numbered: each line comes with its number. some: only some of these lines, nobody can tell
    which, or not all of them as they are."""

    path: str
    cuts: tuple[Spans, ...] = ()
    numbered: bool = False
    some: bool = False

    def lines(self, total: int) -> Sequence[int]:
        """The numbers of the lines it would print of a file of so many."""
        left: Sequence[int] = range(1, total + 1)
        for cut in self.cuts:
            parts = [_slice(left, first, last) for first, last in cut]
            left = parts[0] if len(parts) == 1 else [line for part in parts for line in part]
        return left


class Writing(Struct, frozen=True):
    """A text that a command puts into a file: whole, or behind what stands there."""

    path: str
    text: str
    appended: bool = False


def readings(command: str, cwd: str) -> tuple[Reading, ...]:
    """The files that a command line shows, in order. cwd: an absolute folder."""
    found: list[Reading] = []
    for pipe in all_pipes(command, cwd):
        found += shown(pipe)
        if len(found) >= READINGS_MAX:
            break
    return tuple(found[:READINGS_MAX])


def writings(command: str, cwd: str) -> tuple[Writing, ...]:
    """The texts that a command line itself puts into files, in order."""
    return tuple(
        writing for pipe in all_pipes(command, cwd) for simple in pipe for writing in put(simple)
    )


def written(command: str, text: str) -> bool:
    """Whether a text stands in a command as it is, and not by chance."""
    body = text.strip("\n")
    return len(body.strip()) >= WORTH and body in command


def searches(command: str, cwd: str) -> tuple[str, ...]:
    """The folders in which a command line searches, so that it prints "path:line:text"."""
    simples = (simple for pipe in all_pipes(command, cwd) for simple in pipe)
    found = [each.cwd for each in simples if each.words[:1] and each.words[0] in SEARCHERS]
    return tuple(dict.fromkeys(folder for folder in found if folder is not None))


def all_pipes(command: str, cwd: str, depth: int = 2) -> Iterator[list[Simple]]:
    """The pipelines of a command line, and of those that it hands another shell (bash -c "...")."""
    for pipe in pipelines(command, cwd):
        yield pipe
        for simple in pipe:
            inner = _inner(simple)
            if inner and simple.cwd and depth:
                yield from all_pipes(inner, simple.cwd, depth - 1)


def _inner(simple: Simple) -> str | None:
    words = simple.words
    if not words or words[0] is None or words[0].rpartition("/")[2] not in SHELLS:
        return None
    for at, word in enumerate(words[1:-1], 1):
        if word and word.startswith("-") and word.endswith("c"):
            return words[at + 1]
    return None


def shown(pipe: list[Simple]) -> list[Reading]:
    """The files that one pipeline prints, in order; none where it prints anything else."""
    found: list[Reading] = []
    for simple in pipe:
        step = filter_of(simple.words)
        if step is None:
            found = []
            continue
        files = step.files or simple.inputs
        found = _from_files(simple, step, files) if files else [_through(r, step) for r in found]
        if any(path != "/dev/stdout" for path, _ in simple.outputs) and not step.passes:
            found = []
    return found


def _from_files(simple: Simple, step: Filter, files: tuple[str | None, ...]) -> list[Reading]:
    if step.numbered:
        files = files[:1]  # the numbers go on from file to file
    paths = [joined(simple.cwd, file) for file in files[:READINGS_MAX]]
    return [_through(Reading(path), step) for path in paths if path is not None]


def _through(reading: Reading, step: Filter) -> Reading:
    """What is left of a reading behind one more command."""
    cuts = reading.cuts if step.cut is None else (*reading.cuts, step.cut)
    numbered = reading.numbered or (step.numbered and not reading.cuts)
    changed = step.some or (step.numbered and bool(reading.cuts))
    return Reading(reading.path, cuts, numbered, reading.some or changed)


def put(simple: Simple) -> Iterator[Writing]:
    """The texts that one command puts into files."""
    name = simple.words[0] if simple.words else None
    targets = list(simple.outputs)
    texts = list(simple.bodies)
    if name == "tee":
        behind = "-a" in simple.words
        targets += [(word, behind) for word in simple.words[1:] if word and word[0] != "-"]
    elif name in ("echo", "printf"):
        texts = _printed(name, simple.words[1:])
    elif name != "cat" or len(simple.words) > 1:
        return
    for target, behind in targets:
        path = joined(simple.cwd, target)
        if path is not None:
            yield from (Writing(path, text, behind) for text in texts)


def _printed(name: str, words: tuple[str | None, ...]) -> list[str]:
    """What echo or printf may print; which of several holds, the file tells."""
    if not words or None in words:
        return []
    known = [word for word in words if word is not None]
    if name == "echo":
        bare = known[:1] in (["-n"], ["-e"], ["-en"], ["-ne"])
        text = " ".join(known[1:] if bare else known)
        ended = text if bare and "n" in known[0] else text + "\n"
        return [ended, _escapes(ended)]
    form = _escapes(known[0]).replace("%%", "%")
    if "%s" not in form:
        return [form] if "%" not in known[0].replace("%%", "") else []
    if form.count("%s") == 1 and form.count("%") == 1:
        return ["".join(form.replace("%s", word) for word in known[1:] or [""])]
    return []


def _escapes(text: str) -> str:
    signs = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    return sub(r"\\([ntr\\])", lambda match: signs[match[1]], text)


def _slice(left: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Lines first..last of these; negative ones from the end."""
    total = len(left)
    start = first - 1 if first > 0 else max(total + first, 0)
    end = last if last >= 0 else total + last + 1
    return left[start : max(end, 0)]
