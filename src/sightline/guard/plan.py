"""Plan the attempts and moves of one call as a value, before the first file is written.

Left to the disk, the second of two changes that cannot both be done would find that somebody changed its
file: the call itself. A change that clashes is refused, and the refusal names the other one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from sightline.guard import words
from sightline.guard.evaluation import Evaluation
from sightline.guard.write_journal import Write
from sightline.model.active_claims import Claim
from sightline.model.path import quoted
from sightline.model.revision import MISSING, Revision


class Target(Struct, frozen=True):
    """The new path of a file that moves. path, name: canonical, and as the caller names it.
    is_protected: the user must approve a write there; outside_scope, claimed: message and hint where the
    session's scope, or the claims of others, forbid it. claims: of other sessions there. stands: what is
    at the path now."""

    path: str
    name: str
    is_protected: bool = False
    outside_scope: tuple[str, str] | None = None
    claimed: tuple[str, str] | None = None
    claims: tuple[Claim, ...] = ()
    stands: Literal["nothing", "file", "folder"] = "nothing"


class Relocation(Struct, frozen=True):
    """A file that moves once its content was written. source: the judged move of the file."""

    source: Evaluation
    target: Target

    @property
    def diff(self) -> str:
        """The move as a line of a diff."""
        return f"rename {quoted(self.source.path)} => {quoted(self.target.path)}\n"

    def write(self, revision: Revision) -> Write:
        """Return the write that carries out the move. revision: that the file has when it moves."""
        source = self.source
        return Write(self.target.path, MISSING, revision, source.on_disk, src=source.path)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of others on both paths."""
        return tuple(dict.fromkeys((*self.source.claims, *self.target.claims)))


class Plan(Struct, frozen=True):
    """The attempts and the moves of one call, to be carried out all or none.

    edits, moves: as the caller gave them. order: indexes of moves; a move that frees a path comes before
    the move to this path. refused: of each edit and then of each move, the attempt as it is refused;
    None for an allowed one.
    """

    edits: tuple[Evaluation, ...]
    moves: tuple[Relocation, ...]
    order: tuple[int, ...]
    refused: tuple[Evaluation | None, ...]

    @property
    def writes(self) -> list[Evaluation]:
        """The edits that leave another text than the file has."""
        return [edit for edit in self.edits if not edit.is_unchanged]

    def revision_to_move(self, move: Relocation) -> Revision:
        """Return the revision that a file has when it moves."""
        left = (edit.after for edit in self.writes if edit.path == move.source.path)
        return next(left, move.source.on_disk.revision)

    def to_approve(self, approved: str | None) -> Evaluation | None:
        """Return the first write that the user has to approve. approved: the diff that the user
        approved."""
        return next(
            (edit for edit in self.writes if edit.is_protected and edit.diff != approved), None
        )


def make_plan(edits: Sequence[Evaluation], moves: Sequence[Relocation], *, ask: bool) -> Plan:
    """Return the plan of edits and moves that were judged together. ask: the user can be asked about a
    protected file; else its change is refused."""
    order, circling = in_order(moves)
    free = {edit.path for edit in edits if edit.after == MISSING}
    free |= {moves[number].target.path for number in circling}
    refused = [_refused_edit(edit, ask=ask) for edit in edits]
    refused_moves: dict[int, Evaluation | None] = {}
    for number in order:  # a move frees its own path for the next one
        refused_moves[number] = _refused_move(moves[number], free)
        free.add(moves[number].source.path)
    refused += [refused_moves[number] for number in range(len(moves))]
    judged = [*edits, *(move.source for move in moves)]
    for number, said in find_clashes(edits, moves, circling).items():
        refused[number] = refused[number] or judged[number].refused("exists", said)
    return Plan(tuple(edits), tuple(moves), tuple(order), tuple(refused))


def _refused_edit(edit: Evaluation, *, ask: bool) -> Evaluation | None:
    if edit.is_unchanged:
        return None
    if edit.ruling.decision == "refuse":
        return edit
    if edit.is_protected and not ask:
        return edit.refused("scope", edit.outside_scope or ("", ""))
    return refused_again(edit)


def refused_again(edit: Evaluation) -> Evaluation | None:
    """Return an attempt as refused that would pass only because of the lines that its own earlier refusal
    printed; None for any other attempt."""
    if edit.repeated is None:
        return None
    return edit.refused(edit.repeated, words.repeated(edit.shown_path), diff=edit.diff)


def _refused_move(move: Relocation, free: Collection[str]) -> Evaluation | None:
    """Return a move as it is refused. free: paths that are free by then."""
    source, target = move.source, move.target
    if source.ruling.decision == "refuse":
        return source
    if target.outside_scope is not None:
        return source.refused("scope", target.outside_scope, path=target.name)
    if source.is_protected or target.is_protected:
        return source.refused("scope", source.outside_scope or ("", ""))
    if target.claimed is not None:
        return source.refused("claimed", target.claimed, path=target.name)
    if target.path in free or target.stands == "nothing":
        return None
    name = source.shown_path.rpartition("/")[2]
    said = words.not_free(target.name, name, is_folder=target.stands == "folder")
    return source.refused("exists", said, path=target.name)


def in_order(moves: Sequence[Relocation]) -> tuple[list[int], list[int]]:
    """Return the indexes of moves, sorted so that a move that frees a path precedes the move to this
    path; and the indexes of moves that no order helps, as these moves take each other's paths."""
    by_source = {move.source.path: number for number, move in enumerate(moves)}
    order: list[int] = []
    circling: list[int] = []
    for first in range(len(moves)):
        way = [first]
        while (
            ahead := by_source.get(moves[way[-1]].target.path)
        ) is not None and ahead not in order:
            if ahead in way:
                circling += [number for number in way[way.index(ahead) :] if number not in circling]
                break
            way.append(ahead)
        order += [number for number in reversed(way) if number not in order]
    return order, circling


def find_clashes(
    edits: Sequence[Evaluation], moves: Sequence[Relocation], circling: Sequence[int]
) -> Mapping[int, tuple[str, str]]:
    """Return message and hint of each change that cannot be done together with an earlier one, by its
    index among the edits and then the moves. circling: moves that take each other's paths."""
    found: dict[int, tuple[str, str]] = {}
    files: dict[str, str] = {}  # path -> the name of each file that will be there
    names_of: dict[tuple[int, int], str] = {}
    sources = {move.source.path for move in moves}
    for number, edit in enumerate(edits):
        if edit.after == MISSING:
            continue
        stamp = edit.on_disk.signature
        if stamp is not None and edit.on_disk.names > 1:
            first = names_of.setdefault((stamp.dev, stamp.ino), edit.shown_path)
            if first != edit.shown_path:
                found[number] = words.another_name(edit.shown_path, first)
        if edit.path not in sources:
            files[edit.path] = edit.shown_path
            _note_folder(found, number, files, edit.path, edit.shown_path)
    moved: dict[str, str] = {}
    for number, move in enumerate(moves, len(edits)):
        source = move.source.shown_path
        if move.target.path.startswith(f"{move.source.path}/"):
            found[number] = words.file_and_folder(source, move.target.name)
        elif move.target.path in moved:
            found[number] = words.same_target(source, move.target.name, moved[move.target.path])
        elif move.target.path in files:
            found[number] = words.written_target(source, move.target.name)
        else:
            moved[move.target.path] = source
            files[move.target.path] = move.target.name
            _note_folder(found, number, files, move.target.path, move.target.name)
    if circling:
        paths = [moves[number].source.shown_path for number in circling]
        is_one = len(paths) == 1
        found[len(edits) + circling[-1]] = (
            words.onto_itself(paths[0]) if is_one else words.circle(sorted(paths))
        )
    return found


def _note_folder(
    found: dict[int, tuple[str, str]], number: int, files: Mapping[str, str], path: str, name: str
) -> None:
    """Note that one of two files would have to be a folder for the other one."""
    for other, shown in files.items():
        if other.startswith(f"{path}/"):
            found[number] = words.file_and_folder(name, shown)
        elif path.startswith(f"{other}/"):
            found[number] = words.file_and_folder(shown, name)
