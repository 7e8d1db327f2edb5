"""Many paths made ready to be looked up by names that are only almost right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import islice, pairwise
from unicodedata import normalize

from sightline.model.value import Value

CROWD = 100
"""Paths of one name that are compared in full; of more, those whose folders fit best."""

CROWD_MAX = 10_000
"""Paths of one name whose folders are looked at; of more, those below the folder asked for."""

NEAR_MAX = 400
"""Paths that are compared in full, of all names."""

LINES_MAX = 800
"""Names that share a piece with the one asked for and are compared with it."""

CLOSE_MAX = 40
"""Names a few slips away that are looked up."""

SHARED_MAX = 100
"""Names that hold a word of the one asked for."""


class Names:
    """The names of paths, by their keys and as one text that is searched for pieces of a key."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._by_key: dict[str, list[int]] = {}
        written = [path[path.rfind("/") + 1 :] for path in paths]
        text = "\n".join(written)
        if text.count("\n") >= max(len(written), 1):
            text = "\n".join([name.replace("\n", " ") for name in written])
        self._file(keys(folded(text)) if written else [])
        self._text = "\n" + "\n".join(self._by_key) + "\n"
        self._long = _by_length(self._by_key)

    def _file(self, keys: Sequence[str]) -> None:
        """Put each path under its key, and an index file under that of its folder too."""
        by_key = self._by_key
        for at, key in enumerate(keys):
            if key in by_key:
                by_key[key].append(at)
            else:
                by_key[key] = [at]
        for index in INDEXES:
            for at in tuple(by_key.get(index.strip("_"), ())):
                folders = self._paths[at].split("/")
                if len(folders) > 1:
                    by_key.setdefault(folder_key(folders[-2]), []).append(at)

    def near(self, asked: Asked) -> list[str]:
        """The paths worth a comparison, at most some hundreds: the likeliest keys go first."""
        found = dict.fromkeys(self._across(asked))
        for key, most in self._keys(asked):
            found |= dict.fromkeys(self._under(key, asked, most))
            if len(found) >= NEAR_MAX:
                break
        return list(found)

    def _across(self, asked: Asked) -> list[str]:
        """The paths whose words stand on the other sides of a slash than those of the guess."""
        by_key, paths, whole = self._by_key, self._paths, asked.name.key
        found = [paths[at] for key in joined(asked) for at in by_key.get(key, ())[:CROWD]]
        among = ((key, at) for key in tails(whole) for at in by_key.get(key, ()))
        parted = (
            paths[at]
            for key, at in islice(among, CROWD_MAX)
            # of the folder, which may also stand for its index file
            if _letter(paths[at]) in (whole[-len(key) - 1], whole[-1])
            and _made_of(whole, paths[at])
        )
        return [*found, *islice(parted, CROWD)]

    def _keys(self, asked: Asked) -> Iterator[tuple[str, int]]:
        """Keys like the one asked for, and how many paths of each are of interest."""
        wanted = [asked.name.key]
        if asked.name.index and asked.folders:
            wanted.append(asked.folder_keys[-1])
        for key in wanted:
            yield from ((other, CROWD) for other in (key, *numbers(key)))
        for key in wanted:
            yield from ((other, CROWD // 3) for other in self._slipped(key))
        yield from ((other, CROWD // 10) for other in self._sharing(asked))

    def _under(self, key: str, asked: Asked, most: int) -> list[str]:
        """The paths of one key; of a crowd, those that hold the most of the asked folders."""
        paths = [self._paths[at] for at in self._by_key.get(key, ())]
        if len(paths) <= most:
            return paths
        if len(paths) > CROWD_MAX:
            last = f"{asked.folders[-1]}/" if asked.folders else ""
            paths = ([path for path in paths if last in path] or paths)[:CROWD_MAX]
        sought = [f"/{part}/".lower() for part in asked.folders[-4:]]

        def fits(path: str) -> tuple[int, int]:
            lying = f"/{path}".lower()
            return sum([part in lying for part in sought]), -len(lying)

        return nlargest(most, paths, key=fits)

    def _slipped(self, key: str) -> list[str]:
        """The keys a few slips away, nearest first: all of them share a piece with this one."""
        most = slips_allowed(len(key))
        if not most:
            return []
        counted = {line: slips(key, line, most) for line in self._lines(key, most)}
        close = [line for line, count in counted.items() if 0 < count <= most]
        return sorted(close, key=counted.__getitem__)[:CLOSE_MAX]

    def _lines(self, key: str, most: int) -> dict[str, None]:
        """The keys of about this length that hold a piece of this one, the rarest pieces first."""
        lengths = range(len(key) - most, len(key) + most + 1)
        text = "".join([self._long[length] for length in lengths if length in self._long])
        found: dict[str, None] = {}
        for piece in sorted(_pieces(key, most + 2), key=text.count):
            for line in _holding(piece, text):
                found[line] = None
                if len(found) >= LINES_MAX:
                    return found
        return found

    def _sharing(self, asked: Asked) -> list[str]:
        """The keys that hold the longest word of the one asked for, or all of it."""
        found: dict[str, None] = {}
        for word in sorted({*asked.words, asked.name.key}, key=len, reverse=True)[:3]:
            if len(word) < 4:
                break
            for line in _holding(word, self._text):
                found[line] = None
                if len(found) >= SHARED_MAX:
                    return list(found)
        return list(found)


def _letter(path: str) -> str:
    """The last letter of the folder that a path is in."""
    return path[: max(path.rfind("/"), 0)].rstrip(SEPARATORS)[-1:].lower()


def _made_of(key: str, path: str) -> bool:
    *folders, written = path.split("/")
    return bool(folders_in(key, folders, name_of(written)))


def _by_length(keys: Iterable[str]) -> dict[int, str]:
    """Keys of one length as one text, each between line ends."""
    sorted_out: dict[int, list[str]] = {}
    for key in keys:
        sorted_out.setdefault(len(key), [""]).append(key)
    return {length: "\n".join([*lines, ""]) for length, lines in sorted_out.items()}


def _holding(piece: str, text: str) -> Iterator[str]:
    """The lines of a text that hold a piece."""
    at = 0
    while (at := text.find(piece, at)) >= 0:
        start = text.rfind("\n", 0, at) + 1
        at = text.find("\n", at)
        yield text[start:at]


def _pieces(key: str, count: int) -> list[str]:
    """A key in so many parts, as equal as can be: a few slips leave one of them whole."""
    count = min(count, len(key))
    cuts = [len(key) * at // count for at in range(count + 1)]
    return list({key[a:b]: None for a, b in pairwise(cuts)})


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

LENGTH_MAX = 4_096
PARTS_MAX = 32
"""What is looked at of a guess: its end. No path is longer, and few are deeper."""

INDEXES = frozenset(("index", "__init__", "mod"))
"""Stems of the file that stands for its folder."""

ENDING = re.compile(r"(?<=[^\n])(?:\.d(?=\.[cm]?ts$))?\.[^.\n]*$", re.MULTILINE)
"""The ending of each line; a name that begins with its only dot has none."""

SEPARATORS = "_-. ~+@$[]()"
_SEPARATING = str.maketrans("", "", SEPARATORS)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLACE = re.compile(r":\d+(?:[:-]\d+)*$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")


def folded(names: str) -> str:
    """Names, one a line, in small letters and one Unicode form."""
    return (names if names.isascii() else normalize("NFC", names)).lower()


def keys(names: str) -> list[str]:
    """Of folded names, one a line: each without its ending and without what separates words."""
    text = ENDING.sub("", names)
    for separator in SEPARATORS:
        text = text.replace(separator, "")
    return text.split("\n")


def key(name: str) -> str:
    """What spellings of one name have in common: letters and digits of its stem, small."""
    return keys(folded(name))[0]


def folder_key(name: str) -> str:
    """The key of a folder's name, which has no ending."""
    return folded(name).translate(_SEPARATING)


@lru_cache(maxsize=10_000)
def words(stem: str) -> tuple[str, ...]:
    """The words of a stem in small letters: "loadUser_v2" is load, user, v, 2."""
    return tuple(word.lower() for word in _WORD.findall(stem))


def style(stem: str) -> str:
    """The name of the way a stem joins its words; "" for a single word in small letters."""
    if "_" in stem.strip("_"):
        return "snake_case"
    if "-" in stem.strip("-"):
        return "kebab-case"
    if stem[:1].isupper() and any(letter.islower() for letter in stem):
        return "PascalCase"
    return "camelCase" if any(letter.isupper() for letter in stem) else ""


def numbers(word: str) -> tuple[str, ...]:
    """The singular and plural that English may make of a folded word."""
    if len(word) < 3:
        return ()
    made = [f"{word}s", f"{word}es"]
    if word.endswith("y"):
        made.append(f"{word[:-1]}ies")
    if word.endswith("ies"):
        made.append(f"{word[:-3]}y")
    if word.endswith("es"):
        made.append(word[:-2])
    if word.endswith("s"):
        made.append(word[:-1])
    return tuple(made)


class Name(Value):
    """A name as it is written, its stem and ending, and its key."""

    written: str
    stem: str
    ending: str
    key: str

    @property
    def index(self) -> bool:
        """Whether a file of this name stands for its folder."""
        return self.stem.lower() in INDEXES


@lru_cache(maxsize=10_000)
def name_of(written: str) -> Name:
    """A name taken apart."""
    found = ENDING.search(written)
    stem = written[: found.start()] if found else written
    return Name(written, stem, (found[0] if found else "").lower(), key(written))


class Asked:
    """A guess, read as generously as can be. rooted: it named a place on some machine, so that it
    may begin with folders that lie above every workspace."""

    def __init__(self, written: str) -> None:
        text = _plain(written)
        self.rooted = text.startswith(("/", "~")) or bool(_DRIVE.match(text))
        self.parts = _parts(_DRIVE.sub("", text))
        self.path = "/".join(self.parts)
        self.name = name_of(self.parts[-1] if self.parts else "")
        self.folders: Sequence[str] = self.parts[:-1]

    @cached_property
    def folder_keys(self) -> list[str]:
        """The folders' names without their spelling."""
        return [folder_key(part) for part in self.folders]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name's stem."""
        return words(self.name.stem)


def _plain(written: str) -> str:
    """Without what surrounds a path in prose, in commands and in the answers of tools."""
    text = written[-LENGTH_MAX:].strip().strip("\"'`<>,;").removeprefix("file://")
    text = text.replace("\\", "/").replace("\n", "").replace("\r", "").replace("\0", "")
    text = _PLACE.sub("", text)
    return text if text.isascii() else normalize("NFC", text)


def _parts(text: str) -> list[str]:
    inside: list[str] = []
    for part in text.split("/"):
        if part == "..":
            inside = inside[:-1]
        elif part.strip() not in ("", ".", "~"):
            inside.append(part.strip())
    return inside[-PARTS_MAX:]


FOLDERS_MAX = 3
"""Folders whose names are part of one name."""

TAIL_MAX = 64
"""Characters at the end of a name that may be another's whole name."""


def folders_in(key: str, folders: Sequence[str], name: Name) -> int:
    """How many of the last folders the name of this key is made of, with the name in them; 0 where it
    is not. An index file adds nothing to its folders."""
    left = key
    if not name.index:
        if not name.key or not left.endswith(name.key):
            return 0
        left = left[: -len(name.key)]
    for count, folder in enumerate(folders[: -FOLDERS_MAX - 1 : -1], 1):
        part = folder_key(folder)
        if not part or not left.endswith(part):
            return 0
        left = left[: -len(part)]
        if not left:
            return count if count > name.index else 0
    return 0


def tails(key: str) -> Iterator[str]:
    """The ends of a key that may be the name of a file in the folders that the rest is."""
    return (key[at:] for at in range(max(1, len(key) - TAIL_MAX), len(key)))


def joined(asked: Asked) -> Iterator[str]:
    """The keys that a guess has when its last folders are written as part of its name."""
    key = "" if asked.name.index else asked.name.key
    for count, part in enumerate(asked.folder_keys[: -FOLDERS_MAX - 1 : -1], 1):
        key = part + key
        if count > asked.name.index:
            yield key


def slips_allowed(length: int) -> int:
    """Slips after which a word of this length is still itself: two in "config", none in "io"."""
    if length < 3:
        return 0
    return 1 if length < 6 else 2 if length < 14 else 3


def slips(one: str, other: str, most: int) -> int:
    """Letters put in, left out, changed or swapped with their neighbour between two words; any
    number above `most` means more than that. The time is `most` times the length."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return most + 1
    one, other = _apart(one, other)
    if not one or not other:
        return len(one) + len(other)
    return _banded(one, other, most)


def _apart(one: str, other: str) -> tuple[str, str]:
    """Both without the beginning and the end that they share."""
    start, shorter = 0, min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _banded(one: str, other: str, most: int) -> int:
    """The table of edit distances, in the band that at most `most` slips can reach."""
    far, width = most + 1, len(other)
    before: list[int] = []
    row = [column if column <= most else far for column in range(width + 1)]
    for line, letter in enumerate(one, 1):
        earlier, before = before, row
        row = [far] * (width + 1)
        row[0] = min(line, far)
        for column in range(max(1, line - most), min(width, line + most) + 1):
            best = before[column - 1] + (letter != other[column - 1])
            best = min(best, before[column] + 1, row[column - 1] + 1)
            if (
                line > 1 < column
                and letter == other[column - 2]
                and one[line - 2] == other[column - 1]
            ):
                best = min(best, earlier[column - 2] + 1)
            row[column] = best
        if min(row) > most:
            return far
    return row[width]
