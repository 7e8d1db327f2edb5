"""Where imports lead: the files that sources name, by the resolver of each language.

What is resolved again is what names something else, and what a file that came or went, or a
settings file, may have changed.
"""

from __future__ import annotations

from time import monotonic

from sightline.core.imports.graph import Graph
from sightline.core.imports.packing import naming, unpacked
from sightline.services.consulted import changed, reader
from sightline.services.languages import LANGUAGES, NAMED, ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.imports.graph import Plain
    from sightline.core.imports.python import Affected
    from sightline.core.imports.reference import Resolver
    from sightline.services.consulted import Settings
    from sightline.services.imports_kept import Keeper, State
    from sightline.services.languages import Language
    from sightline.services.sources import Sources
    from sightline.workspace import Workspace

PACKAGES = ("__init__.py", "__init__.pyi")
"""Names of files that an import of what is in their folder runs on the way."""


class Targets:
    """Knows where the imports of sources lead, and the settings files that it hangs on; what they
    name it asks of the Sources.

    graph: who imports whom; pending: sources that were read and are still to be resolved;
    settings: how each settings file stood that a resolver asked for."""

    def __init__(self, keeper: Keeper) -> None:
        self.graph = Graph()
        self.pending: set[str] = set()
        self.settings: Settings = {}
        self._keeper = keeper
        self._resolvers: dict[str, Resolver] = {}

    def begin(self, state: State) -> None:
        """Start with what an earlier process kept."""
        self.graph, self.settings = state.graph, state.settings
        self.pending = {path for path in state.revisions if not self.graph.resolved(path)}

    def renew(self, path: str) -> None:
        """What a source names is another thing now."""
        self.graph.drop(path)
        self.pending.add(path)

    def listed(self, sources: Sources, other: Iterable[str], gone: Iterable[str]) -> None:
        """Follow another list of files, of which others came or went. gone: sources."""
        for path in gone:
            self.graph.drop(path)
            self.pending.discard(path)
        endings = {end for end, _ in sources.references}
        for name in {LANGUAGES[end]().name for end in endings} | self._resolvers.keys():
            language = NAMED[name]()
            concerned = language.affected(other)
            if concerned is not None:
                self._unresolve(sources, language, concerned)

    def reset(self, workspace: Workspace, sources: Sources) -> None:
        """Resolve anew by resolvers one of whose settings files is another one now."""
        for name in changed(workspace, self.settings):
            self._unresolve(sources, NAMED[name](), None)
            for key in [key for key in self.settings if key[0] == name]:
                del self.settings[key]

    def resolve(
        self, workspace: Workspace, sources: Sources, before: list[str], until: float
    ) -> None:
        """Find the files that sources name, where that was not done, as long as there is time;
        those before all others."""
        unread = sources.unread
        order = {path: (path not in before, path in unread, path) for path in self.pending}
        for path in sorted(order, key=order.__getitem__):
            edges = list(self._edges_of(workspace, sources, path))
            self.graph.put(path, edges, importing=path in sources.known)
            self.pending.discard(path)
            self._keeper.learned(path)
            if monotonic() > until:
                return

    def _unresolve(self, sources: Sources, language: Language, concerned: Affected | None) -> None:
        """Forget where imports lead that may lead elsewhere now; None: all of the language."""
        self._resolvers.pop(language.name, None)
        self._keeper.turned()
        every = concerned is None or concerned.every
        words, folders = (concerned.words, concerned.folders) if concerned else ((), ())
        named = naming(words)
        for path in sources.revisions:
            if self.graph.resolved(path) and LANGUAGES[ending(path)]() is language:
                text = "" if every else sources.text(path)
                if every or path.startswith(folders) or named(text):
                    self.renew(path)

    def _edges_of(self, workspace: Workspace, sources: Sources, path: str) -> Iterator[Plain]:
        resolver = self._resolver(workspace, sources, LANGUAGES[ending(path)]())
        met: dict[str, Plain] = {}
        for reference in unpacked(sources.text(path)):
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or target[target.rfind("/") + 1 :] not in PACKAGES
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                known = met.get(target)
                if target != path and (known is None or known[2:] < (direct, share)):
                    met[target] = target, reference.line, direct, share
        yield from met.values()

    def _resolver(self, workspace: Workspace, sources: Sources, language: Language) -> Resolver:
        """The one resolver of a language, for this list of files and these settings."""
        resolver = self._resolvers.get(language.name)
        if resolver is None:
            read = reader(workspace, self.settings, language.name)
            resolver = language.resolver(sources.paths, read)
            self._resolvers[language.name] = resolver
        return resolver
