"""The files that belong to one file: what it imports, who imports it, its tests, its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log10

from msgspec import Struct

from sightline.changes.session_context import SessionContext, located
from sightline.codegraph.import_index import ImportIndex, hold_index
from sightline.codegraph.language_table import ending
from sightline.codegraph.related_files import Related, RelatedFile
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


class _Near(Struct, frozen=True):
    """The files related to one file, each with its score and reasons, before any is read."""

    path: str
    ranked: list[tuple[str, float, tuple[str, ...]]]
    sizes: dict[str, int | None]
    unread: int
    too_large: int
    unkept: str


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
) -> Related:
    """Find the files that belong to the file `path`, the closest first.

    transitive: steps to follow beyond direct imports. limit (files), max_bytes, max_tokens: limits of the
    whole answer; a file that does not fit is left out, and a smaller one may follow. within_s: seconds
    to read sources; the answer counts the unread ones, and the next question goes on. PathRefused,
    FileMissing; Unverifiable when the disk cannot be asked; ValueError for a limit below 1.
    """
    validation.number("transitive", transitive, 0)
    validation.number("limit", limit)
    validation.number("max_bytes", max_bytes)
    validation.number_or_all("max_tokens", max_tokens)
    wanted = located(context, validation.path(path)).path
    _check(context, path, wanted)
    kinds = Kinds(imports, tests, importers, siblings, transitive)
    with hold_index(context.workspace, wanted, within_s=within_s) as index:
        near = _near(index, wanted, kinds)
    return _answer(context, near, (limit, max_bytes, max_tokens))


def related_each(
    context: SessionContext, paths: Sequence[str], kinds: Kinds, *, limit: int, within_s: float
) -> list[Related]:
    """Find the files related to each of several canonical paths, with one look at the tree.

    The first path has to be a file.
    """
    with hold_index(context.workspace, paths[0], within_s=within_s) as index:
        near = [_near(index, path, kinds) for path in paths]
    return [_answer(context, each, (limit, BYTES, None)) for each in near]


def _near(index: ImportIndex, path: str, kinds: Kinds) -> _Near:
    reasons: list[Reason] = []
    if kinds.imports:
        reasons += _imports(index, path, kinds.transitive)
    if kinds.tests:
        reasons += _tests(index, path)
    if kinds.importers:
        reasons += _importers(index, path)
    if kinds.siblings:
        reasons += _siblings(index, path)
    ranked = _ranked(path, reasons)
    sizes = {each: index.sizes.get(each) for each, _, _ in ranked}
    unread, too_large = index.pending_count(), index.tables.too_large()
    return _Near(path, ranked, sizes, unread, too_large, index.unkept)


def _answer(context: SessionContext, near: _Near, limits: tuple[int, int, int | None]) -> Related:
    files, left_out = _chosen(context, near.ranked, near.sizes, limits)
    return Related(
        near.path,
        files,
        left_out=left_out,
        unread=near.unread,
        too_large=near.too_large,
        unkept=near.unkept,
    )


def _check(context: SessionContext, asked: str, path: str) -> None:
    """Refuse a path without a file. A file deleted a moment ago has no place in the index either."""
    try:
        found = context.workspace.stat(path)
    except OSError as error:
        words = f"{asked} cannot be looked at: {error.strerror or error}."
        raise Unverifiable(asked, words, "Try again when the disk answers.") from None
    if found is None:
        raise FileMissing(asked, f"{asked} does not exist.", "List its folder, or find it by name.")
    if found.mode & 0o170000 == 0o040000:
        words = f"{asked} is a directory, and only a file has related files."
        raise PathRefused(asked, "directory", words, "Name a file in it.")


def _imports(index: ImportIndex, path: str, transitive: int) -> Iterator[Reason]:
    """Return the imports of a file, and theirs as many steps as asked. Cycles end by themselves."""
    met, edge, weight = {path}, [path], IMPORT
    for step in range(max(transitive, 0) + 1):
        reached: list[str] = []
        for source in edge:
            for each in index.imports(source):
                if each.path in met or len(met) > REACHED_MOST:
                    continue
                how = _words(source)[0] if step == 0 else f"{_words(source)[0]} by {source}"
                line = f"{how} in line {each.line}"
                if not each.direct:
                    yield each.path, PACKAGE * weight, f"the package of what is {line}"
                    continue
                met.add(each.path)
                reached.append(each.path)
                yield each.path, weight * each.share * _rarity(index, each.path), line
        if not reached:
            return
        edge, weight = reached, weight * FURTHER


def _words(path: str) -> tuple[str, str]:
    """Return the verb for a reference, passive and active: Java often only names a type."""
    return _VERBS.get(FAMILY.get(ending(path)[1:], ""), ("imported", "imports"))


def _rarity(index: ImportIndex, path: str) -> float:
    """Return a factor that is low for a file with many importers: it says little of one of them."""
    return 1 / (1 + log10(max(index.tables.importer_count(path), 1)) / 2)


def _tests(index: ImportIndex, path: str) -> Iterator[Reason]:
    for test in index.tests.tests_of(path):
        yield test, TEST, "a test of it by name"
    for subject in index.tests.tested_by(path):
        yield subject, TEST, "what it tests, by name"
    if is_test(path):
        return
    for edge, imports in index.incoming(path):
        if is_test(edge.path) and edge.direct:
            weight = TESTED_BY * edge.share * _focus(imports)
            yield edge.path, weight, f"a test that {_words(edge.path)[1]} it in line {edge.line}"


def _importers(index: ImportIndex, path: str) -> Iterator[Reason]:
    for edge, imports in index.incoming(path):
        if not is_test(edge.path) and edge.direct:
            weight = IMPORTER * edge.share * _focus(imports)
            yield edge.path, weight, f"{_words(edge.path)[1]} it in line {edge.line}"


def _focus(imports: int) -> float:
    """Return a factor for an importer of so many files: one of few is about what it imports."""
    return 1 / (1 + log10(max(imports, 1)) / 4)


def _siblings(index: ImportIndex, path: str) -> Iterator[Reason]:
    header = is_header(path)
    half = "what defines it, by name" if header else "its header, by name"
    joined = index.importers(path) if header else [each.path for each in index.imports(path)]
    for each in index.tests.halves(path, joined):
        yield each, HALF, half
    folder, mine = path.rpartition("/")[0], ending(path)
    for each in index.paths:
        if each.startswith(folder) and each.rpartition("/")[0] == folder and ending(each) == mine:
            yield each, SIBLING, "in the same folder"


def _ranked(path: str, reasons: Iterable[Reason]) -> list[tuple[str, float, tuple[str, ...]]]:
    found: dict[str, list[tuple[float, str]]] = {}
    for other, weight, why in reasons:
        if other != path:
            found.setdefault(other, []).append((weight, why))
    rated = [
        (
            other,
            sum(weight for weight, _ in each),
            tuple(dict.fromkeys(w for _, w in sorted(each)[::-1])),
        )
        for other, each in found.items()
    ]
    return sorted(rated, key=lambda each: (-each[1], each[0]))


def _chosen(
    context: SessionContext,
    ranked: Iterable[tuple[str, float, tuple[str, ...]]],
    sizes: dict[str, int | None],
    limits: tuple[int, int, int | None],
) -> tuple[list[RelatedFile], int]:
    """Choose the files that fit the limits together, without empty ones."""
    limit, room, tokens = limits
    chosen: list[RelatedFile] = []
    left_out = 0
    for path, score, why in ranked:
        size = sizes[path]
        if size == 0:
            continue
        if len(chosen) >= limit or (size or 0) > room:
            left_out += 1
            continue
        made = _related_file(context, path, score, why)
        fits = made is not None and made.size <= room
        if made is None or not fits or (tokens is not None and made.tokens_estimate > tokens):
            left_out += 1
            continue
        chosen.append(made)
        room -= made.size
        tokens = None if tokens is None else tokens - made.tokens_estimate
    return chosen, left_out


def _related_file(
    context: SessionContext, path: str, score: float, why: tuple[str, ...]
) -> RelatedFile | None:
    """Measure a file as it is now; None where no readable file is there."""
    found = context.workspace.read(path, limit=READ_BYTES, deadline_s=context.settings.deadline_s)
    if found.kind != "file" or found.signature is None:
        return None
    size = found.signature.size
    text = found.data.decode("utf-8", "replace") if found.data is not None else ""
    tokens = estimate(text) if "\0" not in text and text else size // 4
    return RelatedFile(path, why, round(score, 4), size, tokens)
