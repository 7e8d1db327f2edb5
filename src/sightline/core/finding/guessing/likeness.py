"""How alike a guess and a path are, and in what they differ."""

from __future__ import annotations

from functools import lru_cache

from sightline.core.finding.guessing.across import folders_in
from sightline.core.finding.guessing.distance import slips, slips_allowed
from sightline.core.finding.guessing.spelling import folder_key, name_of, numbers, style, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.finding.guessing.spelling import Asked, Name

FAMILIES = (
    (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".vue", ".svelte"),
    (".py", ".pyi", ".pyx", ".ipynb"),
    (".yml", ".yaml", ".json", ".toml", ".ini", ".cfg"),
    (".h", ".hpp", ".hh", ".hxx", ".inl", ".cpp", ".cc", ".cxx", ".c", ".mm", ".m"),
    (".md", ".mdx", ".rst", ".txt"),
    (".css", ".scss", ".sass", ".less"),
    (".html", ".htm", ".jinja", ".j2"),
    (".kt", ".kts", ".java"),
    (".sh", ".bash", ".zsh"),
)
"""Endings taken for one another; the first of a family is the first thought of."""

HEADERS = frozenset((".h", ".hpp", ".hh", ".hxx", ".inl"))
"""Those of a family that are sooner taken for one another than for the rest of it."""

WORTH_SAYING = 0.45
"""Likeness below which a candidate would only mislead."""

NAME_SHARE = 0.5
"""What a name alone is worth, where nothing of the folders is alike."""

_FAMILY = {
    ending: (at, rank) for at, family in enumerate(FAMILIES) for rank, ending in enumerate(family)
}


def likeness(asked: Asked, path: str) -> tuple[float, list[str]]:
    """From 0 to 1, and the differences in words."""
    *folders, written = path.split("/")
    found = name_of(written)
    name, differs = _name(asked, found, folders)
    if name < WORTH_SAYING:
        return 0.0, []
    place, elsewhere = _folders(asked, _lying(asked, found, folders, differs[:1]))
    if elsewhere and not differs and elsewhere.startswith("in "):
        elsewhere = f"the same name {elsewhere}"
    return name * (NAME_SHARE + (1 - NAME_SHARE) * place), [*differs, *filter(None, [elsewhere])]


def _lying(
    asked: Asked, found: Name, folders: Sequence[str], differs: Sequence[str]
) -> Sequence[str]:
    """The folders that are left to compare, after those that are part of a name."""
    if differs == [_INDEX]:
        return folders[:-1]
    if differs == [_NO_INDEX]:
        return [*folders, found.stem]
    if differs == [_PARTED]:
        return folders[: -folders_in(asked.name.key, folders, found)]
    if differs == [_JOINED]:
        own = folders[:-1] if found.index else folders
        count = folders_in(_standing(found, folders), asked.folders, asked.name)
        return [*own, *asked.folders[-count:]]
    return folders


def _standing(found: Name, folders: Sequence[str]) -> str:
    """The key that a file goes by: of an index file that of its folder."""
    return folder_key(folders[-1]) if found.index and folders else found.key


def _name(asked: Asked, found: Name, folders: Sequence[str]) -> tuple[float, list[str]]:
    """The names of both files, whatever their folders."""
    wanted = asked.name
    if wanted.written == found.written:
        return 1.0, []
    if wanted.written.lower() == found.written.lower():
        return 0.985, ["other case"]
    worth, said = _stem(asked, found, folders)
    ending, named = _ending(wanted, found)
    return worth * ending, [*filter(None, [said, named])]


def _stem(asked: Asked, found: Name, folders: Sequence[str]) -> tuple[float, str]:
    wanted = asked.name
    if wanted.key == found.key and wanted.key:
        return _styled(wanted.stem, found.stem)
    if found.index and folders and folder_key(folders[-1]) == wanted.key:
        return 0.96, _INDEX
    if wanted.index and asked.folders and found.key == asked.folder_keys[-1]:
        return 0.96, _NO_INDEX
    if folders_in(wanted.key, folders, found):
        return 0.94, _PARTED
    if folders_in(_standing(found, folders), asked.folders, wanted):
        return 0.94, _JOINED
    if found.key in numbers(wanted.key):
        return 0.93, "plural for singular" if len(found.key) > len(
            wanted.key
        ) else "singular for plural"
    return _slipped(asked, found)


def _styled(asked: str, found: str) -> tuple[float, str]:
    if asked == found:
        return 1.0, ""
    if asked.lower() == found.lower():
        return 0.98, "other case"
    one, other = style(found), style(asked)
    if one and other and one != other:
        return 0.97, f"{one} for {other}"
    return 0.97, "words joined otherwise"


def _slipped(asked: Asked, found: Name) -> tuple[float, str]:
    length = len(asked.name.key)
    most = slips_allowed(length)
    count = slips(asked.name.key, found.key, most)
    if count <= most:
        return 1 - 0.9 * count / max(
            length, 4
        ), "a letter off" if count == 1 else f"{count} letters off"
    return _worded(asked, found)


def _worded(asked: Asked, found: Name) -> tuple[float, str]:
    """Names that have words in common, in whatever order."""
    theirs = words(found.stem)
    common = set(asked.words) & set(theirs)
    if common and sorted(asked.words) == sorted(theirs):
        return 0.9, "its words in another order"
    weight = sum(map(len, common))
    shared = 0.75 * weight / (sum(map(len, {*asked.words, *theirs})) or 1)
    shorter, longer = sorted((asked.name.key, found.key), key=len)
    held = 0.85 * len(shorter) / len(longer) if len(shorter) > 3 and shorter in longer else 0.0
    if held > shared:
        return held, "a longer name" if longer == found.key else "a shorter name"
    return shared, f"shares {_listed(sorted(common))}"


def _listed(named: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in named[:3])


def _ending(asked: Name, found: Name) -> tuple[float, str]:
    """What the two endings make of a likeness; a missing one is most likely the first thought of."""
    if asked.ending == found.ending:
        return 1.0, ""
    (one, _), (other, rank) = (_FAMILY.get(end, (end, 6)) for end in (asked.ending, found.ending))
    if not asked.ending:
        return 0.97 - 0.005 * rank, f"with its ending {found.ending}"
    if one == other:
        turned = 0.03 * ((asked.ending in HEADERS) != (found.ending in HEADERS))
        return 0.95 - 0.005 * rank - turned, f"other ending {found.ending}"
    return 0.8, f"other ending {found.ending}" if found.ending else "without an ending"


def _folders(asked: Asked, found: Sequence[str]) -> tuple[float, str]:
    """The folders of both files, compared from the name upwards."""
    wanted = list(asked.folders)
    if wanted == list(found):
        return 1.0, ""
    theirs = [folder_key(part) for part in found]
    if not wanted:
        return (0.8 - 0.02 * len(found)) if len(found) < 10 else 0.6, f"in {'/'.join(found)}"
    matched, tail = _aligned(asked.folder_keys, theirs)
    lost = len(wanted) - matched
    if asked.rooted:
        lost = min(lost, 0.25 * lost)
    total = matched + 0.5 * (lost + len(theirs) - matched)
    ends = tail / max(1, min(len(wanted), len(theirs)))
    worth = 0.7 * matched / max(total, 0.5) + 0.29 * ends
    return worth, _elsewhere(wanted, asked.folder_keys, list(found), theirs)


def _aligned(one: Sequence[str], other: Sequence[str]) -> tuple[float, float]:
    """How many folders stand in both in the same order, and how many of them right at the end."""
    alike = [[_alike(a, b) for b in other] for a in one]
    row = [0.0] * (len(other) + 1)
    for line in alike:
        above, row = row, [0.0]
        for at, worth in enumerate(line):
            row.append(max(above[at] + worth, above[at + 1], row[at]))
    tail = 0.0
    for back in range(1, min(len(one), len(other)) + 1):
        if not alike[-back][-back]:
            break
        tail += alike[-back][-back]
    return row[-1], tail


@lru_cache(maxsize=10_000)
def _alike(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if abs(len(one) - len(other)) > 2 or len(one) < 3:
        return 0.0
    if other in numbers(one):
        return 0.9
    most = 1 if len(one) < 8 else 2
    count = slips(one, other, most)
    return 0.9 - 0.1 * count if count <= most else 0.0


def _elsewhere(
    wanted: list[str], asked: Sequence[str], found: list[str], theirs: Sequence[str]
) -> str:
    """Where it lies, told by the difference where that is one of a few kinds."""
    if list(asked) == list(theirs):
        return "other spelling of a folder"
    if asked and theirs[-len(asked) :] == list(asked):
        return f"below {'/'.join(found[: -len(asked)])}/"
    if len(theirs) < len(asked) and list(asked[len(asked) - len(theirs) :]) == list(theirs):
        return f"without {'/'.join(wanted[: len(asked) - len(theirs)])}/"
    if len(asked) == len(theirs) and all(map(_alike, asked, theirs)):
        return "a folder a letter off"
    return f"in {'/'.join(found)}" if found else "in the top folder"


_INDEX = "the index file of that folder"
_NO_INDEX = "a file, not a folder"
_PARTED = "a folder and a file for one name"
_JOINED = "one name for a folder and a file"
