"""For hosts whose own tools write: what they wrote, told apart from what others did meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import urandom

from sightline.changes import untracked
from sightline.changes.attribution import (
    after_write,
    by_bracket,
    cause_of,  # seldom: somebody saved meanwhile
    detect_changes,
)
from sightline.changes.cause_rules import may_touch
from sightline.changes.commands import changed_from, changes
from sightline.changes.detect import Difference, change
from sightline.changes.session_context import Known, SessionContext, believe, load_knowledge
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.refusals import unreadable
from sightline.guard.region_rules import own
from sightline.guard.write_journal import Intent, Write, completed, intend
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff
from sightline.model.events import (
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Fact,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.merge import merge
from sightline.model.results import CommandRun
from sightline.model.revision import MISSING, UNKNOWN, revision_of
from sightline.model.spans import new_sides, whole
from sightline.model.text import Text, decode, unmarked


def wrote(
    ground: SessionContext,
    path: str,
    *,
    content: str | bytes | None = None,
    revision: str | None = None,
    before: str | bytes | None = None,
    user_modified: bool = False,
    whole: bool = True,
    intent: WriteIntended | None = None,
) -> None:
    """Record that the host's own tool wrote a file.

    content: the whole text it wrote, which its agent then knows whole (not whole: it knows what
    it changed); revision: the same as a hash, when the text is not at hand; neither: what stands
    there now is what it wrote. before: the whole text that stood there when it began; anything
    else than the timeline's last is somebody else's change. user_modified: the user changed the
    text before it was written, so what stands there is the user's where it differs from content.
    intent: what was journalled of it; where it wrote just that, its agent holds what was judged
    then.
    """
    located = ground.workspace.locate(path)
    found = _now(ground, located)
    known_now = load_knowledge(ground, located)
    row = ground.store.disk(located.path)
    facts: list[Fact] = []
    texts: list[bytes | None] = [found.data]
    old = row.revision if row else MISSING
    start = _bytes(before) if before is not None else ground.store.blob(old)
    if start is not None and revision_of(start) != old:
        old = revision_of(start)
        was = row.revision if row else UNKNOWN

        stood = FileState(located.path, "file", old, start)
        made = cause_of(ground, Difference(row, stood, old)) if row else Cause("external")
        facts.append(_saved(located.path, was, old, made))
        texts.append(start)
    mine, data = _written(content, revision, found)
    belief = intent.belief if intent is not None and mine == intent.after else None
    held = None
    if belief is None:
        held = _held_after(known_now, start, data, whole_text=whole and content is not None)
    if held is not None and data is not None:
        text = decode(data)
        assert text is not None
        belief, body = believe(held, text, data, mine)
        texts += [data, body]
    cause = Cause("agent", ground.session)
    facts.append(Changed(located.path, old, mine, change(old, mine), cause, belief=belief))
    if mine != found.revision:
        who = "the user, before it was written" if user_modified else None

        made = after_write(ground, data, found.data, who)
        facts.append(_saved(located.path, mine, found.revision, made))
    ground.append(facts, blobs=ground.keepable(located.path, *texts), found=[found], durable=True)


@contextmanager
def writing(ground: SessionContext, path: str, content: str | bytes) -> Iterator[None]:
    """Around a host's own write of `content`: journalled before, compared after. Nothing is
    recorded as written when the body raises and the file still is what it was."""
    located = ground.workspace.locate(path)
    before = _now(ground, located)
    data = _bytes(content)
    assert data is not None
    text = decode(data)
    held = first_look(text.lines, whole(len(text.lines))) if text else None
    belief = believe(held, text, data, revision_of(data))[0] if held and text else None
    write = Write(located.path, before.revision, revision_of(data), before, data, belief)
    [intent] = intend(ground, [write], unrecorded=detect_changes(ground, before), by_host=True)
    try:
        yield
    finally:
        _record_host_write(ground, intent, _now(ground, located))


class Run:
    """A command under way. Set exit_code when it is known. At its end, paths are the files that
    it changed, removed those that no session had read and that it removed; result is the same as
    an answer for the caller of `session.ran`."""

    def __init__(self, ground: SessionContext, command: str) -> None:
        self.ground = ground
        self.command = command
        self.exit_code: int | None = None
        self.result: CommandRun | None = None
        self.paths: tuple[str, ...] = ()
        self.removed: tuple[str, ...] = ()
        changes(ground).record(ground)
        self._before = dict(ground.workspace.walk(links=True))
        untracked.look(ground, self._before)
        self._id = f"run-{urandom(5).hex()}"
        begun = ground.append([CommandStarted(command, self._id)])
        self._position = begun[-1].position

    def end(self) -> None:
        """Look at what is different now, and record it."""
        ground = self.ground
        cause = by_bracket(ground, self.command, self._id, self._position)
        made = changes(ground, cause, changed_from(self._before))
        self.paths, self.removed = made.paths, tuple(sorted(self._removed(cause)))
        named = tuple(sorted({*self.paths, *self.removed}))
        made.record(ground, CommandEnded(self._id, self.exit_code, named))

    def _removed(self, cause: Cause) -> list[str]:
        """Files that the timeline has never heard of, and that this command removed for certain:
        only a checkpoint knows what they were."""
        if cause.confidence != "certain":
            return []
        heard = set(self.ground.store.paths())
        return [
            path
            for path in self._before
            if path not in heard
            and may_touch(self.command, path)
            and self.ground.workspace.stat(path) is None
        ]


def _record_host_write(ground: SessionContext, intent: Intent, found: FileState) -> None:
    """Record that the host wrote, and what somebody saved over it; abandon the intent when the
    file is as it was."""
    fact = intent.fact
    if found.revision == fact.before and fact.before != fact.after:
        ground.append([WriteAbandoned(fact.path, intent.position)], found=[found])
        return
    facts: list[Fact] = [completed(fact, found, ground.session, intent.position)]
    if found.revision != fact.after:
        made = after_write(ground, ground.store.blob(fact.after), found.data)
        facts.append(_saved(fact.path, fact.after, found.revision, made))
    blobs = ground.keepable(fact.path, found.data)
    ground.append(facts, blobs=blobs, found=[found], durable=True)


def _held_after(
    known_now: Known, start: bytes | None, data: bytes | None, *, whole_text: bool
) -> Held | None:
    """What the agent holds after its own tool wrote `data` over `start`."""
    text = decode(data) if data is not None else None
    if text is None:
        return None
    if whole_text:
        return first_look(text.lines, whole(len(text.lines)))
    base = decode(start) if start is not None else None
    held = known_now.held
    known_lines = list(held.lines) if held else []
    base_lines = known_lines if base is None else base.lines
    mine = diff(base_lines, text.lines)
    if held is None:
        return first_look(text.lines, new_sides(mine))
    merged = merge(base_lines, text.lines, held.lines)
    if merged.clean:
        return own(held, "".join(merged.lines))
    return look(held, text.lines, new_sides(mine))


def _written(
    content: str | bytes | None, revision: str | None, found: FileState
) -> tuple[str, bytes | None]:
    """The revision that the host's tool wrote, and its bytes where they are known."""
    data = _bytes(content)
    if isinstance(content, str) and data is not None and found.data is not None:
        data = _as_on_disk(content, decode(found.data), data)
    if data is not None:
        return revision_of(data), data
    if revision is not None and revision != found.revision:
        return revision, None
    return found.revision, found.data


def _as_on_disk(content: str, disk: Text | None, data: bytes) -> bytes:
    """A text as its file would hold it: in the disk's encoding and with its line ends, when
    that gives exactly what stands there."""
    if disk is None:
        return data
    try:
        encoded = disk.encode(unmarked(content))
    except UnicodeEncodeError:
        return data
    return encoded if encoded == disk.encode(disk.plain) else data


def _now(ground: SessionContext, located: ResolvedPath) -> FileState:
    found = ground.workspace.read(located.path, deadline_s=ground.settings.deadline_s)
    if found.kind not in ("file", "missing"):
        raise unreadable(found, located.name or located.path)
    return found


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def _saved(path: str, before: str, after: str, cause: Cause) -> Changed:
    """Somebody else's save."""
    return Changed(path, before, after, change(before, after), cause)
