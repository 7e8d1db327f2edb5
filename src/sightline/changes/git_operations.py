"""Find the changes that git made, by its logs and its commits: one fact for each operation.

No git process starts as long as git's logs are older than our last read of the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, structs

from sightline.changes.detect import Difference, bytes_of, differing, doubtful
from sightline.changes.session_context import SessionContext
from sightline.filesystem.file_state import FileState
from sightline.filesystem.git.binary_patch import blob_id
from sightline.filesystem.git.reflog import RESTING, Move, join_moves, unrecorded_moves
from sightline.filesystem.git.repository import SLACK_NS, Repository
from sightline.model.events import Cause, Changed, GitMoved, Rewritten, StashDropped
from sightline.model.revision import MISSING, Revision
from sightline.model.timeline import Recorded, newest_first
from sightline.text.causes import UNDER_WAY

Trees = dict[str, Mapping[str, str | None]]
"""Commit -> path -> blob id."""

DEADLINE_S = 2.0
"""Seconds that git may take for one answer."""

MIDWAY = Cause("git", None, UNDER_WAY, "likely")
"""The cause of a change in the middle of a git operation."""


class Recognised(Struct, frozen=True):
    """facts: git operations, each with all tracked files that it changed. likely: path -> cause of
    a change that git probably made, where no fact can say so. dropped: entries that left git's stash and
    changed no file."""

    facts: tuple[GitMoved, ...]
    likely: dict[str, Cause]
    dropped: tuple[StashDropped, ...] = ()

    @property
    def paths(self) -> set[str]:
        """Return the files that the facts name."""
        return {path for fact in self.facts for path in fact.paths}


def recognised(
    context: SessionContext, differences: Sequence[Difference], *, unread: bool = False
) -> Recognised:
    """Return the changes among some differences that git made. unread: no session has read these
    files, so the fact of an operation may be recorded without them."""
    repositories: dict[str, Repository | None] = {}
    groups: dict[str, tuple[Repository, list[Difference]]] = {}
    for difference in differences:
        folder = difference.path.rpartition("/")[0]
        if folder not in repositories:
            repositories[folder] = context.workspace.repository(difference.path)
        repository = repositories[folder]
        if repository is not None:
            groups.setdefault(repository.folder, (repository, []))[1].append(difference)
    facts: list[GitMoved] = []
    likely: dict[str, Cause] = {}
    dropped: list[StashDropped] = []
    for repository, group in groups.values():
        search = _GitSearch(context, repository)
        facts += search.facts_of(group)
        likely |= search.likely
        if unread:
            left = [d for d in group if not any(d.path in fact.paths for fact in facts)]
            likely |= search.of_recorded(left)
        else:
            dropped += search.dropped()
    return Recognised(tuple(facts), likely, tuple(dropped))


class _GitSearch:
    """One search for the git operations that changed files of a repository. likely: as in
    Recognised, once facts_of() was called."""

    def __init__(self, context: SessionContext, repository: Repository) -> None:
        self.likely: dict[str, Cause] = {}
        self._unmatched: list[Step] = []
        self._context = context
        self._repository = repository
        self._known_ids: dict[str, BlobIds] = {}

    def facts_of(self, group: Sequence[Difference]) -> list[GitMoved]:
        """Return the operations that made some of the differences."""
        facts: list[GitMoved] = []
        since_ns = self._read_ns(group)
        steps = self._steps_since(since_ns)
        for step in steps:
            trees = self._trees(step, group)
            if trees is None:
                # A step made what was not written after git logged it.
                cause = Cause("git", step.operation, step.detail, "likely")
                until = self._repository.moved_ns(index=not step.moves) + SLACK_NS
                self.likely = {d.path: cause for d in group if self._written_ns(d.found) <= until}
                return facts
            matched = [d for d in group if self._is_made_by(step, trees, d)]
            if matched:
                named = {path for fact in facts for path in fact.paths}
                facts.append(self._fact(step, trees, matched, named))
                group = [d for d in group if d.path not in facts[-1].paths]
            elif step.operation == "stash pop":
                self._unmatched.append(step)
            if not group:
                return facts
        self.likely = self._likely(group, since_ns, stepped=bool(steps))
        return facts

    def dropped(self) -> Iterator[StashDropped]:
        """Yield the entries that left the stash and that facts_of() compared, where no file of the tree has
        their text: nobody has to compare them again."""
        if not self._unmatched or self._repository.busy():
            return
        differences = [*self._others()]
        for step in self._unmatched:
            trees = self._trees(step, differences)
            if trees is not None and not any(
                self._is_made_by(step, trees, each) for each in differences
            ):
                yield StashDropped(step.old)

    def _written_ns(self, found: FileState) -> int:
        """Return the time of a file's last write, or of its removal: the later of both times counts, as a
        file that somebody moves there keeps its own."""
        if found.signature is not None:
            signature = found.signature
            return max(signature.mtime_ns, 0 if sys.platform == "win32" else signature.ctime_ns)
        folder = os.path.dirname(os.path.join(self._repository.root, found.path))
        try:
            return os.stat(folder).st_mtime_ns
        except OSError:  # the folder went, too
            return 0

    def of_recorded(self, group: Sequence[Difference]) -> dict[str, Cause]:
        """Return the causes of changes that are as the newest recorded operation left them."""
        newest = next(iter(self._context.store.timeline(kinds=[GitMoved], newest=1)), None)
        if newest is None or not isinstance(newest.fact, GitMoved):
            return {}
        moved = newest.fact
        earlier = [each for each in group if each.row.position < newest.position]
        paths = [each.path for each in earlier]
        blobs = self._repository.blobs(moved.after, paths, DEADLINE_S) if paths else None
        cause = Cause("git", moved.operation, moved.detail, "likely")
        return {
            each.path: cause
            for each in earlier
            if (blobs or {}).get(each.path) in self._blob_ids(each).after
        }

    def _read_ns(self, group: Sequence[Difference]) -> int:
        """Return when the first of these files was last read and found as the timeline says."""
        stamps = self._context.store.stamps([difference.path for difference in group])
        times = []
        for difference in group:
            row, stamp = difference.row, stamps.get(difference.path)
            same = stamp is not None and stamp.revision == row.revision
            times.append(stamp.read_at_ns if same and stamp else row.at * 1_000)
        return min(times)

    def _likely(
        self, group: Sequence[Difference], since_ns: int, *, stepped: bool
    ) -> dict[str, Cause]:
        """Return the causes of changes that git probably made, where none of its commits tells."""
        repository = self._repository
        if repository.busy():
            return {difference.path: MIDWAY for difference in group}
        likely: dict[str, Cause] = {}
        if repository.stash_moved(since_ns):
            popped = Cause("git", "stash pop", None, "likely")
            likely = {d.path: popped for d in group if self._is_stored(d)}
        if stepped or repository.stopped(since_ns):  # conflict marks say more than the stash
            context = self._context
            likely |= {d.path: MIDWAY for d in group if conflicted(bytes_of(context, d))}
        return likely

    def _is_stored(self, difference: Difference) -> bool:
        """Return whether git stores these very bytes without their being committed. Nothing else is
        left of a stash that was popped."""
        path, head = difference.path, self._repository.head() or "HEAD"
        after = self._blob_ids(difference).after
        committed = self._repository.blobs(head, [path], DEADLINE_S)
        if committed is None or committed[path] in after:
            return False
        return any(b is not None and self._repository.holds(b, DEADLINE_S) for b in after)

    def _fact(
        self, step: Step, trees: Trees, matched: list[Difference], named: set[str]
    ) -> GitMoved:
        """Return the operation with all tracked files that it changed. named: files that another
        fact names."""
        context = self._context
        known = {*named, *(difference.path for difference in matched)}
        others = [difference for difference in self._others() if difference.path not in known]
        more = self._trees(step, others) if others else None
        if more is not None:
            matched = [*matched, *(d for d in others if self._is_made_by(step, more, d))]
            trees = {commit: {**blobs, **more[commit]} for commit, blobs in trees.items()}
        begun = [self._were_at(move.old, trees, matched) for move in step.moves]
        matched = sorted(matched, key=lambda difference: difference.path)
        texts: list[bytes] = []
        for difference in matched:
            texts += context.keepable(difference.path, bytes_of(context, difference))
        context.store.keep(texts)
        move = join_moves(step.moves, begun) if step.moves else step
        changes = tuple([Rewritten(d.path, d.row.revision, d.after, d.mode) for d in matched])
        paths = tuple([difference.path for difference in matched])
        return GitMoved(move.old, move.new, move.operation, paths, changes, move.detail)

    def _others(self) -> Iterator[Difference]:
        """Yield all tracked files of the repository that differ from the timeline, and those that
        were recorded in the middle of the operation."""
        context, store = self._context, self._context.store
        rows = store.disks()
        for found in [*doubtful(context, rows, store.stamps())]:
            if found.revision != rows[found.path].revision:
                difference = differing(context, context.look(found.path))
                if difference is not None and self._contains(found.path):
                    yield difference
        for row in rows.values():
            if row.cause == MIDWAY:
                for recorded in store.timeline(after=row.position - 1, upto=row.position):
                    found = context.look(row.path)
                    if isinstance(recorded.fact, Changed) and found.revision == row.revision:
                        before = structs.replace(row, revision=recorded.fact.before)
                        yield Difference(before, found, row.revision)

    def _contains(self, path: str) -> bool:
        """Return whether a path is in this repository. Trees beside each other may have the same
        commits."""
        repository = self._context.workspace.repository(path)
        return repository is not None and repository.folder == self._repository.folder

    def _steps_since(self, since_ns: int) -> list[Step]:
        """Return what git may have done since a time, the most particular first. A stash that is
        put away also resets the tree, and git logs both."""
        repository = self._repository
        moved = repository.moves(since_ns)
        put_away = repository.stash_moved(since_ns)
        stashing = put_away or repository.index_moved(since_ns)
        stashed = repository.stashed() if stashing else ()
        entries = self._context.store.stashes().values() if stashing else ()
        gone = [entry for entry in entries if entry.commit not in stashed]
        taken = [entry.commit for entry in gone if self._contains(entry.path)]
        if not (moved or put_away or stashed or taken):
            return []
        left = unrecorded_moves(moved, self._recorded())
        head = repository.head() if stashing else None
        return steps_of(head, stashed, taken, left, put_away=put_away)

    def _recorded(self) -> Iterator[Recorded]:
        """Yield the recorded operations of this repository, newest first."""
        for operation in newest_first(self._context.store.timeline, kinds=[GitMoved]):
            fact = operation.fact
            if isinstance(fact, GitMoved) and (not fact.paths or self._contains(fact.paths[0])):
                yield operation

    def _trees(self, step: Step, differences: Sequence[Difference]) -> Trees | None:
        """Return the blobs of some files in the step's commits; None when git does not answer."""
        paths = [difference.path for difference in differences]
        trees: Trees = {}
        for commit in dict.fromkeys((*step.olds, *step.news, *chain(*step.commits))):
            blobs = self._repository.blobs(commit, paths, DEADLINE_S)
            if blobs is None and not commit.endswith(step.optional):
                return None
            trees[commit] = blobs or {}
        return trees

    def _blob_ids(self, difference: Difference) -> BlobIds:
        path = difference.path
        if path not in self._known_ids:
            algorithm, before = self._repository.algorithm(), difference.row.revision
            self._known_ids[path] = BlobIds(
                blob_ids(self._context.store.blob(before), before, algorithm),
                blob_ids(bytes_of(self._context, difference), difference.after, algorithm),
            )
        return self._known_ids[path]

    def _is_made_by(self, step: Step, trees: Trees, difference: Difference) -> bool:
        """Return whether a step changed the file. trees: of the commits of the step."""
        path = difference.path
        olds = [
            blob
            for commit in step.olds
            if (blob := trees[commit].get(path)) is not None or not commit.endswith(step.optional)
        ]
        new = next((blob for c in step.news if (blob := trees[c].get(path)) is not None), None)
        committed = any(
            trees[parent].get(path) != new == trees[commit].get(path)
            for parent, commit in step.commits
        )
        discards = step.operation == "reset"
        ids = self._blob_ids(difference)
        return is_from_commits(ids, olds, new, committed=committed, discards=discards)

    def _were_at(self, commit: str, trees: Trees, differences: Iterable[Difference]) -> bool:
        """Return whether the files were as a commit has them when they were last read."""
        blobs = trees.get(commit)
        return blobs is not None and all(
            blobs.get(difference.path) in self._blob_ids(difference).before
            for difference in differences
        )


STOPS = 6
"""Commits on the way of many moves that are compared: the first and the last ones."""

STASHES = 4
"""Stashes that are compared, the newest ones."""

UNTRACKED = "^3"
"""Suffix of the commit of a stash's untracked files. Not every stash has one."""


class Step(Struct, frozen=True):
    """An operation that git may have done, and the commits that can tell. old, new, operation,
    detail: as in GitMoved. olds: commits that the files may have been at before; news: commits that
    they are at now, the first that has the file; optional: suffix of commits that need not exist;
    commits: (parent, commit) of the commits that were made meanwhile."""

    old: str
    new: str
    operation: str
    detail: str | None
    olds: tuple[str, ...]
    news: tuple[str, ...]
    moves: tuple[Move, ...] = ()
    optional: str = UNTRACKED
    commits: tuple[tuple[str, str], ...] = ()


def steps_of(
    head: str | None,
    stashed: Sequence[str],
    taken: Sequence[str],
    moved: Sequence[Move],
    *,
    put_away: bool,
) -> list[Step]:
    """Return what git may have done, the most particular first. stashed: commits that the stash
    holds, the newest last; taken: commits that it held once; moved: moves of the tree; put_away:
    whether the newest stash may be new."""
    steps: list[Step] = []
    if head is not None and put_away and stashed:
        # The tree is as it was committed before: the last reset that led nowhere has that commit.
        resets = [move.new for move in moved if move.operation == "reset" and move.old == move.new]
        old, new = [head, *resets][-1], stashed[-1]
        steps.append(Step(old, new, "stash", None, (new, f"{new}{UNTRACKED}"), (f"{new}^1",)))
    if head is not None:
        for commit in [*reversed(taken), *reversed(stashed)][:STASHES]:
            operation = "stash apply" if commit in stashed else "stash pop"
            news = (commit, f"{commit}{UNTRACKED}")
            steps.append(Step(commit, head, operation, None, (head,), news))
    return [*steps, *_moving(moved)]


def _moving(moved: Sequence[Move]) -> Iterator[Step]:
    """Yield the moves of the tree as one step. A file can have been read only where an operation
    began; a rebase of many commits is one operation."""
    moving = [move for move in moved if move.operation not in RESTING]
    begun = [
        move
        for at, move in enumerate(moving)
        if set(move.old) != {"0"}
        and not (at and move.operation == moving[at - 1].operation == "rebase")
    ]
    if not begun:
        return
    last = moving[-1]
    olds = tuple(dict.fromkeys(move.old for move in begun if move.old != last.new))
    near = olds if len(olds) <= STOPS else (*olds[: STOPS // 2], *olds[-STOPS // 2 :])
    if near or last.operation == "reset":
        move = join_moves([*begun, last], ())
        moves = (*(step for step in begun if step.old in near), last)
        committed = [
            (m.old, m.new) for m in moved if m.operation == "commit" and set(m.old) != {"0"}
        ]
        yield Step(
            *(move.old, move.new, move.operation, move.detail, near, (move.new,), moves),
            commits=tuple(committed[-STOPS // 2 :]),
        )


class BlobIds(Struct, frozen=True):
    """The blob ids that git may have for a file's bytes before and after a change, with other line
    ends, too. None is among them when the file is missing; `before` is empty when its text is not
    kept."""

    before: frozenset[str | None]
    after: frozenset[str | None]


def is_from_commits(
    ids: BlobIds,
    olds: Iterable[str | None],
    new: str | None,
    *,
    committed: bool = False,
    discards: bool = False,
) -> bool:
    """Return whether git changed a file from one commit to another. olds: its blob ids in the
    commits that the tree was at before; new: in the commit that the tree is at now; committed:
    whether the new blob was committed meanwhile; discards: whether git may have discarded a text
    that was not."""
    if new not in ids.after:
        return False
    earlier = set(olds)
    if ids.before & earlier:
        return True
    # The file was not as a commit had it: a text that was never committed is gone, and the commit's
    # text is there. A reset does that; but somebody had saved a text that was committed meanwhile.
    return bool(earlier - {new} or discards) and not committed


def blob_ids(data: bytes | None, revision: Revision, algorithm: str) -> frozenset[str | None]:
    """Return the ids that git may have for a file's bytes. data: None where the text is not kept, or
    the file is missing."""
    if data is None:
        return frozenset((None,)) if revision == MISSING else frozenset()
    texts = (data, data.replace(b"\r\n", b"\n"))
    return frozenset(blob_id(text, algorithm) for text in texts)


def conflicted(data: bytes | None) -> bool:
    """Return whether a text has the marks of a merge that stopped."""
    if data is None:
        return False
    text = b"\n" + data
    return all(text.count(b"\n" + sign * 7) for sign in (b"<", b"=", b">"))
