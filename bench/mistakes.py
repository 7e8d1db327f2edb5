"""Wrong guesses at real paths, made by the mistakes that agents make, the same on every run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Mistake = Callable[[str, Random, list[str]], str]

ENDINGS = (
    (".js", ".ts", ".tsx", ".jsx", ".mjs", ".d.ts"),
    (".py", ".pyi"),
    (".yml", ".yaml"),
    (".h", ".hpp", ".cc", ".cpp", ".mm"),
    (".md", ".rst", ".txt"),
)
INDEXES = ("index", "__init__", "mod")
ABOVE = ("src", "lib", "app", "packages/core")
MACHINES = ("/home/ada/project", "/Users/ada/code/app", "C:/Users/ada/app", "/workspace/repo")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def split(path: str) -> tuple[str, str, str]:
    """Folder with its "/", stem and ending."""
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if ending == "ts" and stem.endswith(".d"):
        stem, ending = stem.removesuffix(".d"), "d.ts"
    if not stem:
        stem, dot, ending = name, "", ""
    return f"{folder}/" if folder else "", stem, dot + ending


def folder(path: str, random: Random, folders: list[str]) -> str:
    """One of its folders is another one of the tree, or left out."""
    parts = path.split("/")
    if len(parts) < 2:
        return f"{random.choice(folders)}/{path}"
    at = random.randrange(len(parts) - 1)
    return "/".join(parts[:at] + random.choice([[], [random.choice(folders)]]) + parts[at + 1 :])


def case(path: str, random: Random, _: list[str]) -> str:
    """The name, or all of the path, in another case."""
    above, stem, ending = split(path)
    turned = random.choice((str.lower, str.upper, str.capitalize, str.swapcase))
    return random.choice((above + turned(stem) + ending, path.lower(), path.upper()))


def style(path: str, random: Random, _: list[str]) -> str:
    """Its words joined in another way."""
    above, stem, ending = split(path)
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", stem)
    if len(words) < 2:
        return path
    small = [word.lower() for word in words]
    large = [word.capitalize() for word in words]
    ways = ("_".join(small), "-".join(small), "".join(large), small[0] + "".join(large[1:]))
    return above + random.choice(ways) + ending


def ending(path: str, random: Random, _: list[str]) -> str:
    """Without its ending, or with another of the same language."""
    above, stem, own = split(path)
    others = [other for family in ENDINGS if own in family for other in family if other != own]
    return above + stem + random.choice(["", *others[:1] * 2, *others])


def index(path: str, random: Random, _: list[str]) -> str:
    """The folder for its index file, or an index file for a file."""
    above, stem, own = split(path)
    if stem in INDEXES and above:
        return above[:-1] + random.choice(("", own))
    if own in (".py", ".ts", ".js"):
        return f"{above}{stem}/{'__init__' if own == '.py' else 'index'}{own}"
    return path


def number(path: str, random: Random, _: list[str]) -> str:
    """A plural for a singular or the other way round, in the name or in its folder."""
    above, stem, own = split(path)

    def other(word: str) -> str:
        return word[:-1] if word.endswith("s") else word + "s"

    if above and random.random() < 0.4:
        return other(above[:-1]) + "/" + stem + own
    return above + other(stem) + own


def prefix(path: str, random: Random, _: list[str]) -> str:
    """A folder on top too many or too few."""
    parts = path.split("/")
    if len(parts) > 2 and random.random() < 0.5:
        return "/".join(parts[random.choice((1, 1, 2)) :])
    return f"{random.choice(ABOVE)}/{path}"


def machine(path: str, random: Random, _: list[str]) -> str:
    """Return the path on somebody's machine."""
    return f"{random.choice(MACHINES)}/{path}"


def separators(path: str, random: Random, _: list[str]) -> str:
    """Written as another system or another tool writes it."""
    above, stem, own = split(path)
    ways = (path.replace("/", "\\"), f"./{path}:12", f".\\{path}", f"//{path}", f"a//{path}")
    module = f"{above.replace('/', '.')}{stem}"
    return random.choice((*ways, module) if own == ".py" and above else ways)


def typo(path: str, random: Random, _: list[str]) -> str:
    """A slip or two in the name or, less often, in a folder."""
    above, stem, own = split(path)
    if above and random.random() < 0.25:
        up, slash, last = above[:-1].rpartition("/")
        return f"{up}{slash}{slip(last, random)}/{stem}{own}"
    slipped = slip(stem, random)
    return above + (slip(slipped, random) if len(stem) > 9 else slipped) + own


def slip(word: str, random: Random) -> str:
    """A letter put in, left out, changed or swapped; a word of three letters or fewer is left."""
    if len(word) < 4:
        return word
    at = random.randrange(len(word) - 1)
    letter = random.choice(LETTERS)
    return random.choice(
        (
            word[:at] + letter + word[at:],
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )


def joined(path: str, random: Random, _: list[str]) -> str:
    """Its last folder written as part of its name."""
    above, stem, own = split(path)
    if not above or stem in INDEXES:
        return path
    up, slash, last = above[:-1].rpartition("/")
    ways = (f"{last}_{stem}", f"{last}-{stem}", last + stem[:1].upper() + stem[1:])
    return f"{up}{slash}{random.choice(ways)}{own}"


def parted(path: str, random: Random, _: list[str]) -> str:
    """Words of its name written as a folder."""
    above, stem, own = split(path)
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", stem)
    if len(words) < 2:
        return path
    at = random.randrange(1, len(words))
    folder, name = "_".join(words[:at]).lower(), "_".join(words[at:]).lower()
    return f"{above}{folder}/{name}{own}"


def renamed(path: str, random: Random, folders: list[str]) -> str:
    """Return what it was called before, itself or its folder; git knows."""
    above, _, own = split(path)
    if above and random.random() < 0.5:
        parts = above.split("/")
        parts[random.randrange(len(parts) - 1)] = f"old_{random.choice(folders)}"
        return "/".join(parts) + path[len(above) :]
    return f"{above}{random.choice(folders)}_{random.choice(folders)}{own}"


def two(path: str, random: Random, folders: list[str]) -> str:
    """Two of these mistakes in one guess."""
    one, other = random.sample((folder, case, style, ending, number, prefix, machine, typo), 2)
    return other(one(path, random, folders), random, folders)


MISTAKES: dict[str, Mistake] = {
    made.__name__: made
    for made in (
        folder,
        case,
        style,
        ending,
        index,
        number,
        prefix,
        machine,
        separators,
        typo,
        joined,
        parted,
        renamed,
        two,
    )
}
