"""Which files a shell command says it writes, as far as its text names them."""

from __future__ import annotations

from sightline.core.calls import patches
from sightline.core.commandline import joined
from sightline.core.shell import all_pipes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sightline.core.commandline import Simple

    Words = list[str]


def written(command: str, cwd: str) -> tuple[str, ...]:
    """Absolute paths, in order. cwd: an absolute folder. A command may write more than it names."""
    found = (path for pipe in all_pipes(command, cwd) for simple in pipe for path in named(simple))
    return tuple(dict.fromkeys(found))


def named(simple: Simple) -> Iterator[str]:
    """The files that one command says it writes."""
    targets = [target for target, _ in simple.outputs]
    for text in (*simple.words, *simple.bodies):
        targets += patches.paths(text) if text and patches.BEGIN in text else ()
    name = (simple.words[0] or "").rpartition("/")[2] if simple.words else ""
    if name in _WRITERS:
        targets += _WRITERS[name]([word for word in simple.words[1:] if word])
    for target in targets:
        path = joined(simple.cwd, target)
        if path is not None:
            yield path


def _operands(words: Words) -> Words:
    return [word for word in words if not word.startswith("-")]


def _in_place(words: Words) -> Words:
    """Of sed and perl: the files behind the script, with -i."""
    if not any(_is_in_place(word) for word in words):
        return []
    files: Words = []
    scripts = 0
    takes = False
    for word in words:
        if takes or word.startswith("-"):
            scripts += takes or word.startswith("--expression=")
            takes = not takes and word in (
                "-e",
                "-f",
                "-pe",
                "-pie",
                "-ne",
                "--expression",
                "--file",
            )
        else:
            files.append(word)
    return files if scripts else files[1:]


def _is_in_place(word: str) -> bool:
    short = word[:1] == "-" and word[1:2] != "-"
    return word.startswith("--in-place") or (short and "i" in word)


def _moved(words: Words) -> Words:
    """Of mv: what goes, and what it becomes."""
    return [*_operands(words)[:-1], *_copied(words)]


def _copied(words: Words) -> Words:
    *sources, last = _operands(words) or [""]
    if last.endswith("/"):
        return [f"{last}{each.rstrip('/').rpartition('/')[2]}" for each in sources]
    return [last] if sources else []


_WRITERS: dict[str, Callable[[Words], Words]] = {
    "tee": _operands,
    "rm": _operands,
    "unlink": _operands,
    "touch": _operands,
    "sed": _in_place,
    "gsed": _in_place,
    "perl": _in_place,
    "mv": _moved,
    "cp": _copied,
}
