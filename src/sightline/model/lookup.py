"""Look up what somebody names: by its id, by a name of it, or by the beginning of one of these."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches

from msgspec import Struct

NEAREST, ALIKE = 3, 0.6
"""The names that an error shows at most, and how alike (0 to 1) they are at least."""


class Lookup(Struct, frozen=True):
    """The answer. id: of the one that fits, "" where none does or several do; several: the ids that fit
    equally; nearest: the ids most like what was asked, where none fits."""

    id: str = ""
    several: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def look_up(asked: str, known: Mapping[str, Collection[str]]) -> Lookup:
    """Look up what somebody named. known: id -> further names. An id comes before a name, what is whole
    before a beginning; case, quotes and "the" do not count. What belongs to another that fits ("one/two"
    to "one") does not count as a further one."""
    if asked in known:
        return Lookup(asked)
    wanted = plain(asked)
    names = {each: [plain(each), *map(plain, more)] for each, more in known.items()}
    fits: tuple[Callable[[str], bool], ...] = (wanted.__eq__, lambda name: name.startswith(wanted))
    for fit in fits if wanted else ():
        by_id = [each for each, (first, *_) in names.items() if fit(first)]
        found = _heads(by_id) or _heads(each for each, all_ in names.items() if any(map(fit, all_)))
        if len(found) == 1:
            return Lookup(found[0])
        if found:
            return Lookup(several=tuple(found))
    words = {name: each for each, all_ in names.items() for name in all_ if name}
    near = get_close_matches(wanted, words, n=NEAREST, cutoff=ALIKE)
    return Lookup(nearest=tuple(dict.fromkeys(words[name] for name in near)))


def plain(name: str) -> str:
    """Return a name without what two names may differ in: case, quotes and "the"."""
    return name.replace('"', "").strip().casefold().removeprefix("the ")


def _heads(ids: Iterable[str]) -> list[str]:
    found = list(ids)
    return [each for each in found if not any(each.startswith(f"{other}/") for other in found)]
