"""The modules of Go in a tree, by go.mod, go.work and vendor folders, and the folders they name."""

from __future__ import annotations

import re

from sightline.core.imports.javascript_settings import below, joined, upwards
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.imports.reference import Reader

    Places = tuple[tuple[str, str], ...]
    """Names of modules and their folders ("" is the root), the longest name first."""

MANIFEST = "go.mod"
WORK = "go.work"
STANDARD = "src/go.mod"
"""Where Go's own tree has the module `std`, whose packages are named by their folders alone."""

SETTINGS_MOST = 4 * 1024 * 1024
"""Bytes of a settings file that is read."""

_WORDS = re.compile(r'"[^"]*"|`[^`]*`|//.*|[^\s"`]+')


class Module(Value):
    """What a go.mod or a go.work says. uses: folders of a workspace's modules; replaced: modules
    that a folder of the tree stands for."""

    name: str = ""
    uses: tuple[str, ...] = ()
    replaced: Places = ()


class Modules:
    """The modules of a tree. problems: what could not be read, in sentences."""

    def __init__(self, paths: Iterable[str], read: Reader) -> None:
        self.problems: list[str] = []
        self._read = read
        self._files: set[str] = set()
        self._vendors: set[str] = set()
        for path in paths:
            if path.rpartition("/")[2] in (MANIFEST, WORK):
                self._files.add(path)
            elif "/vendor/" in f"/{path}":
                self._vendors.add(path[: max(f"/{path}".index("/vendor/") - 1, 0)])
        self._known: dict[str, Module] = {}
        self._homes: dict[str, str | None] = {}
        self._visible: dict[str, tuple[Places, Places]] = {}

    def folders(self, folder: str, module: str) -> Iterator[str]:
        """The folders that an import in a folder may mean, in the order in which Go looks: its own
        modules, what is vendored, what replaces others."""
        home = self._home(folder)
        if home is None:
            yield from self._unmanaged(folder, module)
            return
        own, replaced = self._seen(home)
        yield from self._within(own, module)
        for above in upwards(home):
            if above in self._vendors:
                yield below(above, f"vendor/{module}")
        yield from self._within(replaced, module)
        if STANDARD in self._files and self._module(STANDARD).name == "std":
            yield below("src", module)
            yield below("src/vendor", module)

    def _within(self, places: Places, module: str) -> Iterator[str]:
        """The folders that a path means in these modules; none that is another module's."""
        for name, place in places:
            if module == name or module.startswith(f"{name}/"):
                folder = joined(place, module[len(name) :])
                if folder is not None and self._home(folder) in (place, None):
                    yield folder

    def _unmanaged(self, folder: str, module: str) -> Iterator[str]:
        """As it was before there were modules: in vendor folders, and below `src`."""
        for above in upwards(folder):
            if above in self._vendors:
                yield below(above, f"vendor/{module}")
            if above.rpartition("/")[2] == "src":
                yield below(above, module)

    def _home(self, folder: str) -> str | None:
        """The folder of the module that a folder belongs to."""
        if folder not in self._homes:
            found = (above for above in upwards(folder) if below(above, MANIFEST) in self._files)
            self._homes[folder] = next(found, None)
        return self._homes[folder]

    def _seen(self, home: str) -> tuple[Places, Places]:
        """The modules that one builds together with a module: its workspace's, else itself; and
        what replaces others in them."""
        if home not in self._visible:
            homes, replaced = self._workspace(home)
            own = [(self._module(below(each, MANIFEST)), each) for each in homes]
            named = [(module.name, each) for module, each in own if module.name]
            instead = [*(pair for module, _ in own for pair in module.replaced), *replaced]
            self._visible[home] = _longest_first(named), _longest_first(instead)
        return self._visible[home]

    def _workspace(self, home: str) -> tuple[tuple[str, ...], Places]:
        for above in upwards(home):
            if below(above, WORK) in self._files:
                work = self._module(below(above, WORK))
                return (work.uses, work.replaced) if home in work.uses else ((home,), ())
        return (home,), ()

    def _module(self, path: str) -> Module:
        if path not in self._known:
            self._known[path] = self._parsed(path)
        return self._known[path]

    def _parsed(self, path: str) -> Module:
        source = self._read(path) if path in self._files else None
        if source is not None and len(source) > SETTINGS_MOST:
            self.problems.append(f"{path} is too large to be settings: imports do without it.")
            source = None
        folder = path.rpartition("/")[0]
        name, uses, replaced = "", [], []
        for verb, *words in _lines((source or b"").decode("utf-8-sig", "replace")):
            if verb == "module" and words:
                name = words[0]
            elif verb == "use" and words:
                uses.append(joined(folder, words[0]))
            elif verb == "replace" and "=>" in words[1:-1] and words[-1].startswith("."):
                replaced.append((words[0], joined(folder, words[-1])))
        local = tuple([(old, place) for old, place in replaced if place is not None])
        return Module(name, tuple([place for place in uses if place is not None]), local)


def _lines(text: str) -> Iterator[list[str]]:
    """The directives of a settings file, one item of a block each."""
    block = ""
    for line in text.split("\n"):
        words = [word.strip('"`') for word in _WORDS.findall(line) if not word.startswith("//")]
        if not words:
            continue
        if words == [")"]:
            block = ""
        elif words[1:] == ["("]:
            block = words[0]
        else:
            yield [block, *words] if block else words


def _longest_first(places: Iterable[tuple[str, str]]) -> Places:
    return tuple(sorted(dict(places).items(), key=lambda each: -len(each[0])))
