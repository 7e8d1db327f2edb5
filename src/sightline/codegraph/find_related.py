"""The files that belong to one file: what it imports, who imports it, its tests, its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log10

from msgspec import Struct

from sightline.changes.session_context import SessionContext, located
from sightline.codegraph.import_index import ImportIndex, hold_index
from sightline.codegraph.language_table import ending
from sightline.codegraph.related_files import Counted, Related, RelatedFile
from sightline.codegraph.test_names import FAMILY, is_header, is_test
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.model import validation
from sightline.text.tokens import estimate

Reason = tuple[str, float, str]
"""A path, what a reason for it weighs, and the reason."""

TEST, HALF, IMPORT, TESTED_BY, IMPORTER, PACKAGE, SIBLING = 1.0, 0.9, 0.9, 0.7, 0.5, 0.2, 0.1
"""What each reason weighs."""

FURTHER = 0.4
"""What is left of an import's weight with each step further away."""

REACHED_MOST = 1_000
"""Files that are followed along imports of imports."""

READ_BYTES = 1_000_000
"""A larger file's tokens are estimated by its size alone."""

BYTES = 200_000
"""Of all files of an answer, unless more or less is asked for."""

_VERBS = {"java": ("named", "names"), "c": ("included", "includes")}


class Kinds(Struct, frozen=True):
    """The relations that count. transitive: steps beyond the direct imports of a file."""

    imports: bool = True
    tests: bool = True
    importers: bool = True
    siblings: bool = True
    transitive: int = 0


Ranked = tuple[str, float, tuple[str, ...], int | None]
"""A path, its score, the reasons for it, and its size in bytes, None where unknown."""


def related(
    context: SessionContext,
    path: str,
    *,
    imports: bool = True,
    tests: bool = True,
    importers: bool = True,
    siblings: bool = True,
    transitive: int = 0,
    limit: int = 10,
    max_bytes: int = BYTES,
    max_tokens: int | None = None,
    within_s: float | None = None,
    progress: Counted | None = None,
) -> Related:
    """Find the files that belong to the file `path`, the closest first.

    transitive: steps to follow beyond direct imports. limit (files), max_bytes, max_tokens: limits of the
    whole answer; a file that does not fit is left out, and a smaller one may follow. within_s: seconds
    to read sources, None for no limit; the answer counts the unread ones, and the next question goes
    on. progress: called with the number of sources read so far, and of all. PathRefused, FileMissing; Unverifiable when the disk cannot be asked; ValueError for a limit below 1.
    """
    validation.number("transitive", transitive, 0)
    validation.number("limit", limit)
    validation.number("max_bytes", max_bytes)
    validation.number_or_all("max_tokens", max_tokens)
    wanted = located(context, validation.path(path)).path
    _check(context, path, wanted)
    kinds = Kinds(imports, tests, importers, siblings, transitive)
    with hold_index(context.workspace, wanted, within_s=within_s, progress=progress) as index:
        ranked, answer = _rank(index, wanted, kinds)
    return _choose(context, ranked, answer, (limit, max_bytes, max_tokens))


def related_each(
    context: SessionContext, paths: Sequence[str], kinds: Kinds, *, limit: int, within_s: float
) -> list[Related]:
    """Find the files related to each of several canonical paths, with one look at the tree."""
    with hold_index(context.workspace, *paths, within_s=within_s) as index:
        answers = [_rank(index, path, kinds) for path in paths]
    return [_choose(context, *answer, (limit, BYTES, None)) for answer in answers]


def _rank(index: ImportIndex, path: str, kinds: Kinds) -> tuple[list[Ranked], Related]:
    """Rank the files related to a file before any is read; return an answer without files, too."""
    reasons: list[Reason] = []
    if kinds.imports:
        reasons += _imports(index, path, kinds.transitive)
    if kinds.tests:
        reasons += [(test, TEST, "a test of it by name") for test in index.tests.tests_of(path)]
        tested = index.tests.tested_by(path)
        reasons += [(subject, TEST, "what it tests, by name") for subject in tested]
    reasons += _importers(index, path, kinds)
    if kinds.siblings:
        reasons += _siblings(index, path)
    by_file: dict[str, list[tuple[float, str]]] = {}
    for other, weight, why in reasons:
        if other != path:
            by_file.setdefault(other, []).append((weight, why))
    ranked: list[Ranked] = []
    for other, weighed in by_file.items():
        score = sum(weight for weight, _ in weighed)
        words = tuple(dict.fromkeys(text for _, text in sorted(weighed, reverse=True)))
        ranked.append((other, score, words, index.sizes.get(other)))
    ranked.sort(key=lambda rank: (-rank[1], rank[0]))
    return ranked, Related(
        path,
        sources=index.source_count(),
        unread=index.pending_count(),
        unreadable=len(index.unreadable),
        too_large=index.too_large_count(),
        unkept=index.unkept,
    )


def _check(context: SessionContext, asked: str, path: str) -> None:
    """Refuse a path without a file. A file deleted a moment ago has no place in the index either."""
    try:
        found = context.workspace.stat(path)
    except OSError as error:
        words = f"{asked} cannot be looked at: {error.strerror or error}."
        raise Unverifiable(asked, words, "Try again when the disk answers.") from None
    if found is None:
        raise FileMissing(
            asked,
            f"{asked} does not exist.",
            "List the folder to find the right name, or search with find.",
        )
    if found.mode & 0o170000 == 0o040000:
        words = f"{asked} is a directory, and only a file has related files."
        raise PathRefused(asked, "directory", words, "Name a file in it.")


def _imports(index: ImportIndex, path: str, transitive: int) -> Iterator[Reason]:
    """Return the imports of a file, and theirs as many steps as asked. Cycles end by themselves."""
    met, sources, weight = {path}, [path], IMPORT
    for step in range(max(transitive, 0) + 1):
        reached: list[str] = []
        for source in sources:
            for edge in index.imports(source):
                if edge.path in met or len(met) > REACHED_MOST:
                    continue
                how = _words(source)[0] if step == 0 else f"{_words(source)[0]} by {source}"
                line = f"{how} in line {edge.line}"
                if not edge.direct:
                    yield edge.path, PACKAGE * weight, f"the package of what is {line}"
                    continue
                met.add(edge.path)
                reached.append(edge.path)
                rarity = _rarity(index.importer_count(edge.path), 2)
                yield edge.path, weight * edge.share * rarity, line
        if not reached:
            return
        sources, weight = reached, weight * FURTHER


def _words(path: str) -> tuple[str, str]:
    """Return the verb for a reference, passive and active: Java often only names a type."""
    return _VERBS.get(FAMILY.get(ending(path)[1:], ""), ("imported", "imports"))


def _rarity(count: int, decades: int) -> float:
    """Return a factor that is low for a file with many importers, or many imports: a relation to it
    says little. decades: powers of ten of the count that halve the factor."""
    return 1 / (1 + log10(max(count, 1)) / decades)


def _importers(index: ImportIndex, path: str, kinds: Kinds) -> Iterator[Reason]:
    """Yield the importers of a file; tests among them count as its tests."""
    tests = kinds.tests and not is_test(path)
    for edge, imports in index.incoming(path):
        by_test = is_test(edge.path)
        if edge.direct and (tests if by_test else kinds.importers):
            weight = (TESTED_BY if by_test else IMPORTER) * edge.share * _rarity(imports, 4)
            line = f"{_words(edge.path)[1]} it in line {edge.line}"
            yield edge.path, weight, f"a test that {line}" if by_test else line


def _siblings(index: ImportIndex, path: str) -> Iterator[Reason]:
    header = is_header(path)
    half = "what defines it, by name" if header else "its header, by name"
    edges = [edge for edge, _ in index.incoming(path)] if header else index.imports(path)
    for file in index.tests.halves(path, [edge.path for edge in edges]):
        yield file, HALF, half
    folder, own = path.rpartition("/")[0], ending(path)
    for file in index.paths:
        if file.startswith(folder) and file.rpartition("/")[0] == folder and ending(file) == own:
            yield file, SIBLING, "in the same folder"


def _choose(
    context: SessionContext,
    ranked: Iterable[Ranked],
    answer: Related,
    limits: tuple[int, int, int | None],
) -> Related:
    """Put the files that fit the limits together into an answer, without empty ones."""
    limit, room, tokens = limits
    for path, score, why, size in ranked:
        if size == 0:
            continue
        file = None
        if len(answer) < limit and (size or 0) <= room:
            found = context.workspace.read(
                path, limit=READ_BYTES, deadline_s=context.settings.deadline_s
            )
            if found.kind == "file" and found.signature is not None:
                size = found.signature.size
                text = found.data.decode("utf-8", "replace") if found.data is not None else ""
                counted = estimate(text) if "\0" not in text and text else size // 4
                file = RelatedFile(path, why, round(score, 4), size, counted)
        is_long = file is not None and tokens is not None and file.tokens_estimate > tokens
        if file is None or file.size > room or is_long:
            answer.left_out += 1
            continue
        answer.append(file)
        room -= file.size
        tokens = None if tokens is None else tokens - file.tokens_estimate
    return answer
