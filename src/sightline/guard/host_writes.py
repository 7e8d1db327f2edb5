"""Record what a host's own tools and commands wrote, and who saved in between."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import structs

from sightline.changes import untracked
from sightline.changes.attribution import (
    after_write,
    cause_of,
    detect_changes,
    may_touch,
)
from sightline.changes.command_evidence import ended_command
from sightline.changes.command_folders import Folders, folders_between, folders_of
from sightline.changes.command_texts import bytes_of_command, suspected
from sightline.changes.commands import Before, by_times, changed_from, changes, in_checkpoint
from sightline.changes.detect import Difference, change
from sightline.changes.session_context import SessionContext, believe, load_knowledge
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.filesystem.left_out import left_out_sizes
from sightline.filesystem.tree_index import signature_of_row
from sightline.guard.lost_writes import LostWrite
from sightline.guard.refusals import unreadable
from sightline.guard.write_journal import (
    Intent,
    Write,
    carry_out,
    completed,
    intend,
    is_done,
    record_ends,
)
from sightline.model.belief import Held, edited, first_look, look
from sightline.model.diff import diff
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Fact,
    Merged,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.line_marks import has_marks
from sightline.model.merge import merge
from sightline.model.path import folders_above
from sightline.model.results import CommandRun
from sightline.model.revision import MISSING, UNKNOWN, Revision, revision_of
from sightline.model.spans import new_sides
from sightline.model.spans import whole as every_line
from sightline.model.text import Text, decode, joined
from sightline.model.timeline import Recorded
from sightline.shell_parsing.secrets import without_secrets
from sightline.text import causes


def wrote(
    context: SessionContext,
    path: str,
    *,
    content: str | bytes | None = None,
    revision: str | None = None,
    before: str | bytes | None = None,
    user_modified: bool = False,
    rewritten: bool = False,
    whole: bool = True,
    intent: tuple[int, WriteIntended] | None = None,
    call: str = "",
) -> None:
    """Record that the host's own tool wrote a file.

    content: the whole text that it wrote, which its agent then knows whole (whole=False: the agent
    knows what it changed). revision: the hash of that text, when the text is not at hand. With
    neither, the file on disk is what the tool wrote. before: the whole text when the tool began;
    where that differs from the timeline's last, somebody else changed the file. user_modified:
    the user changed the text before it was written; rewritten: another hook of the host did. intent: what was journalled of the write, after
    its position; when exactly that was written, the agent knows what was judged then. call: the id of
    the tool call.
    """
    located = context.workspace.locate(path)
    on_disk = _current(context, located)
    known = load_knowledge(context, located)
    row = context.store.disk(located.path)
    facts: list[Fact] = []
    texts: list[bytes | None] = [on_disk.data]
    old = row.revision if row else MISSING
    start = _bytes(before) if before is not None else context.store.blob(old)
    if start is not None and revision_of(start) != old:
        old = revision_of(start)
        then = FileState(located.path, "file", old, start)
        cause = cause_of(context, Difference(row, then, old)) if row else Cause("external")
        facts.append(_saved(located.path, row.revision if row else UNKNOWN, old, cause))
        texts.append(start)
    written, data = _written(content, revision, on_disk)
    is_intended = intent is not None and written == intent[1].after
    belief = intent[1].belief if intent is not None and is_intended else None
    if belief is None:
        text = decode(data)
        if text is not None and data is not None:
            base, held = decode(start), known.held
            if whole and content is not None:
                after = first_look(text.lines, every_line(len(text.lines)))
            else:
                base_lines = base.lines if base else held.lines if held else ()
                after = held_after(held, base_lines, text.lines)
            belief, body = believe(after, text, data, written)
            texts += [data, body]
    own_cause = Cause("agent", context.session)
    facts.append(
        Changed(
            located.path,
            old,
            written,
            change(old, written),
            own_cause,
            belief=belief,
            intent=intent[0] if intent is not None and is_intended else None,
            call=call,
        )
    )
    if written != on_disk.revision:
        detail = "the user, before it was written" if user_modified else None
        cause = after_write(context, data, on_disk.data, detail)
        if rewritten and cause.kind == "external":
            cause = structs.replace(cause, detail=causes.BY_HOOK)
        facts.append(_saved(located.path, written, on_disk.revision, cause))
    blobs = context.keepable(located.path, *texts, on_disk=on_disk)
    context.append(facts, blobs=blobs, found=[on_disk], durable=True)


def complete_for(
    context: SessionContext, intent: Recorded, before: Revision, on_disk: FileState
) -> None:
    """Record that the host of another session carried out its write, which its own hook has not
    recorded yet. before: the revision on record."""
    fact = intent.fact
    assert isinstance(fact, WriteIntended)
    assert intent.session is not None
    done = completed(fact, on_disk, intent.session, intent.position)
    if isinstance(done, Changed):
        done = structs.replace(done, before=before, change=change(before, done.after))
    context.for_session(intent.session).append([done], durable=True)


def write_joined(
    context: SessionContext, on_disk: FileState, lost: LostWrite, belief: Belief | None = None
) -> FileState | None:
    """Write the text that joins a write with the text it replaced, or with the text that replaced it.
    The caller has the path `locked`, and the file is on record. belief: the agent's knowledge after
    the write, where its write is not recorded. Return the file; None, with the file as it is, where
    the texts do not join or the disk refuses."""
    text = decode(on_disk.data)
    lines = lost.onto(text.lines) if text is not None else None
    data = text.fit(joined(lines)) if text is not None and lines is not None else None
    if data is None:
        return None
    after = revision_of(data)
    write = Write(on_disk.path, on_disk.revision, after, on_disk, data, belief)
    intents = intend(context, [write])
    [outcome] = carry_out(context, intents)
    is_written = is_done(intents[0], outcome)
    base, theirs = (
        UNKNOWN if has_marks(each) else revision_of(joined(each).encode())
        for each in (lost.base, lost.theirs)
    )
    merged = [Merged(on_disk.path, base, theirs, after)] if is_written else []
    record_ends(context, [(intents[0], outcome)], merged=merged)
    return outcome if is_written and isinstance(outcome, FileState) else None


@contextmanager
def writing(context: SessionContext, path: str, content: str | bytes) -> Iterator[None]:
    """Journal a host's own write of `content` for as long as the block runs. Nothing is recorded
    as written when the file is as before, for example because the block raised."""
    located = context.workspace.locate(path)
    before = _current(context, located)
    data = _bytes(content)
    assert data is not None
    text = decode(data)
    belief = None
    if text is not None:
        held = first_look(text.lines, every_line(len(text.lines)))
        belief, _ = believe(held, text, data, revision_of(data))
    write = Write(located.path, before.revision, revision_of(data), before, data, belief)
    [intent] = intend(context, [write], unrecorded=detect_changes(context, before), by_host=True)
    try:
        yield
    finally:
        _record_host_write(context, intent, _current(context, located))


class Run:
    """A command that is running. Set exit_code when it is known. After end(): paths are the files
    that the command changed; removed are files that it removed and no session had read; result is
    the same as an answer for the caller of `session.ran`."""

    def __init__(self, context: SessionContext, command: str, cwd: str | None = None) -> None:
        self.context = context
        self.command = command
        text = bytes_of_command(without_secrets(command))
        self._named = revision_of(text)
        self._cwd = os.path.join(context.workspace.root, cwd or "")
        self.exit_code: int | None = None
        self.result: CommandRun | None = None
        self.paths: tuple[str, ...] = ()
        self.removed: tuple[str, ...] = ()
        changes(context).record(context)
        tree = context.workspace.tree()
        self._before = {path: signature_of_row(row) for path, row in tree.younger(0)}
        named = untracked.named_uncovered(context, command, [self._cwd])
        hidden = [*untracked.hidden(tree)]
        self._uncovered = {*named, *hidden, *left_out_sizes(context.workspace.root, hidden)}
        self._folders = {*folders_of(tree)}
        is_covered = untracked.look(context, tree) is not None
        self._checkpoint = untracked.newest(context, context.store.position())
        if not is_covered:
            self._checkpoint = None
        self._id = f"run-{os.urandom(5).hex()}"
        begun = CommandStarted(self._named, self._id, None, named)
        [started] = context.append([begun], blobs=[text])
        self._started_at = started.happened_at

    def end(self) -> None:
        """Compare the tree with its state before the command, and record the differences."""
        context = self.context
        ended = ended_command(
            suspected(context.session, self._named),
            self.command,
            [self._cwd],
            exit_code=self.exit_code,
            took_us=context.clock() - self._started_at,
        )
        recorded: Before = by_times
        if self._checkpoint is not None:
            recorded = in_checkpoint(context, untracked.manifest(context, self._checkpoint))
        differences = changes(context, ended, changed_from(self._before, recorded))
        self.paths, self.removed = differences.paths, tuple(sorted(self._removed()))
        paths = tuple(sorted({*self.paths, *self.removed}))
        named = tuple(path for path in self.removed if ended.names_removal(context, path))
        folders = Folders()
        if differences.tree is not None:
            # A folder above what no checkpoint covers would come back without that.
            gone = {above[:-1] for path in self._uncovered for above in folders_above(path)}
            now = {*folders_of(differences.tree)}
            folders = folders_between(self._folders - (gone - now), now)
        ended_as = CommandEnded(
            self._id,
            self.exit_code,
            paths,
            named,
            folders_made=folders.made,
            folders_removed=folders.removed,
        )
        differences.record(context, ended_as)

    def _removed(self) -> list[str]:
        """Return the files that no fact names and that went meanwhile. Only a checkpoint knows
        their content, if it covers them."""
        context, on_timeline = self.context, set(self.context.store.paths())
        gone = {path for path in self._before if context.workspace.stat(path) is None}
        gone |= {path.rstrip("/") for path in untracked.gone_of(context, self._uncovered)}
        return [path for path in gone - on_timeline if may_touch(self.command, path)]


def _record_host_write(context: SessionContext, intent: Intent, on_disk: FileState) -> None:
    """Record that the host wrote, and what somebody saved over it; abandon the intent when the
    file is as before."""
    fact = intent.fact
    if on_disk.revision == fact.before and fact.before != fact.after:
        context.append([WriteAbandoned(fact.path, intent.position)], found=[on_disk])
        return
    facts: list[Fact] = [completed(fact, on_disk, context.session, intent.position)]
    if on_disk.revision != fact.after:
        cause = after_write(context, context.store.blob(fact.after), on_disk.data)
        facts.append(_saved(fact.path, fact.after, on_disk.revision, cause))
    blobs = context.keepable(fact.path, on_disk.data, on_disk=on_disk)
    context.append(facts, blobs=blobs, found=[on_disk], durable=True)


def held_after(held: Held | None, base: Sequence[str], lines: Sequence[str]) -> Held:
    """Return the agent's knowledge after its own tool replaced parts of a text. base, lines: the
    whole text before and after. The new lines become known; others' changes do not."""
    own = new_sides(diff(base, lines))
    if held is None:
        return first_look(lines, own)
    merged = merge(base, lines, held.lines)
    return edited(held, "".join(merged.lines)) if merged.clean else look(held, lines, own)


def _written(
    content: str | bytes | None, revision: str | None, on_disk: FileState
) -> tuple[str, bytes | None]:
    """Return the revision that the host's tool wrote, and its bytes where these are at hand."""
    data = _bytes(content)
    if isinstance(content, str) and data is not None and on_disk.data is not None:
        data = _as_on_disk(content, decode(on_disk.data), data)
    if data is not None:
        return revision_of(data), data
    if revision is not None and revision != on_disk.revision:
        return revision, None
    return on_disk.revision, on_disk.data


def _as_on_disk(content: str, disk: Text | None, data: bytes) -> bytes:
    """Return a text in the disk's encoding and line ends, when that gives exactly the file on
    disk; else `data`."""
    encoded = disk.fit(disk.own(content)) if disk is not None else None
    if disk is None or encoded is None:
        return data
    return encoded if encoded == disk.encode(disk.plain) else data


def _current(context: SessionContext, located: ResolvedPath) -> FileState:
    on_disk = context.workspace.read(located.path, deadline_s=context.settings.deadline_s)
    if on_disk.kind not in ("file", "missing"):
        raise unreadable(on_disk, located.name or located.path)
    return on_disk


def _bytes(content: str | bytes | None) -> bytes | None:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def _saved(path: str, before: str, after: str, cause: Cause) -> Changed:
    """Return the fact of somebody else's save."""
    return Changed(path, before, after, change(before, after), cause)
