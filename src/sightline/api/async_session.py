"""The verbs of Session for async hosts. Written by tools/aio.py from their signatures."""

from __future__ import annotations

from sightline.api.async_conversation import AsyncConversation
from sightline.api.threads import Around, shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import timedelta

    from sightline.api.session import Session
    from sightline.briefing.compose import Briefing
    from sightline.briefing.mentions import Mentioned
    from sightline.briefing.registry import Registry
    from sightline.checkpoints.time_points import When
    from sightline.codegraph.related_files import Related
    from sightline.errors import EditRefused
    from sightline.guard.batch import Change
    from sightline.guard.host_writes import Run
    from sightline.model.results import (
        BatchResult,
        Checkpoint,
        Claim,
        EditedFiles,
        EditResult,
        Environment,
        Export,
        FileChange,
        FileInContext,
        FileView,
        FileWarning,
        HandedOver,
        ModelUsage,
        Notice,
        RewindReport,
        Verdict,
    )
    from sightline.search.chains import Fallback, FindResult
    from sightline.search.find import Progress
    from sightline.search.listing import DirectoryListing
    from sightline.search.listing_requests import ListingRequest
    from sightline.search.stats import Stats


class AsyncSession:
    """A session's verbs as coroutines. They run in threads, one at a time per session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def conversation(self) -> AsyncConversation:
        """What was said: kept for good, and folded so that it costs less."""
        return AsyncConversation(self._session.conversation)

    async def read(self, path: str, lines: tuple[int, int] | None = None) -> FileView:
        """Show a file, or lines first..last of it, and record that they were shown."""
        return await shielded(lambda: self._session.read(path, lines))

    async def saw(
        self,
        path: str,
        *,
        lines: tuple[int, int] | None = None,
        text: str | None = None,
        via: str = "read",
    ) -> None:
        """Record what the host's own tool showed the agent."""
        return await shielded(lambda: self._session.saw(path, lines=lines, text=text, via=via))

    async def dropped(
        self, path: str | None = None, *, lines: tuple[int, int] | None = None
    ) -> None:
        """Record that text left the context window: of one path or of all, some lines or all."""
        return await shielded(lambda: self._session.dropped(path, lines=lines))

    async def believed(self, path: str) -> str | None:
        """The text that this session's agent believes a file to have: what it was shown, with its own edits."""
        return await shielded(lambda: self._session.believed(path))

    async def edit(self, path: str, old: str, new: str, *, count: int | None = 1) -> EditResult:
        """Replace `old`, which must occur exactly `count` times (None: all)."""
        return await shielded(lambda: self._session.edit(path, old, new, count=count))

    async def edit_lines(self, path: str, start: int, end: int, new: str) -> EditResult:
        """Replace lines start..end of the text last seen (end = start - 1 inserts)."""
        return await shielded(lambda: self._session.edit_lines(path, start, end, new))

    async def write(self, path: str, content: str, *, raw: bool = False) -> EditResult:
        """Write a whole file; others' changes since it was shown are merged."""
        return await shielded(lambda: self._session.write(path, content, raw=raw))

    async def create(self, path: str, content: str) -> EditResult:
        """Write a new file; EditRefused (exists) when something stands there."""
        return await shielded(lambda: self._session.create(path, content))

    async def delete(self, path: str) -> EditResult:
        """Delete a file that is as it was shown; its bytes stay in the store."""
        return await shielded(lambda: self._session.delete(path))

    async def move(self, src: str, dst: str) -> EditResult:
        """Rename a file; EditRefused (exists) when something stands at dst."""
        return await shielded(lambda: self._session.move(src, dst))

    async def patch(self, unified_diff: str) -> EditResult:
        """Apply a unified diff, all of its files or none."""
        return await shielded(lambda: self._session.patch(unified_diff))

    async def apply(self, changes: Iterable[Change | Mapping[str, object]]) -> BatchResult:
        """Carry out changes of several files, all or none."""
        return await shielded(lambda: self._session.apply(changes))

    async def wrote(
        self,
        path: str,
        *,
        content: str | bytes | None = None,
        revision: str | None = None,
        before: str | bytes | None = None,
        user_modified: bool = False,
    ) -> None:
        """Record that the host's own tool wrote a file; a foreign save in between is told apart."""
        return await shielded(
            lambda: self._session.wrote(
                path, content=content, revision=revision, before=before, user_modified=user_modified
            )
        )

    def writing(self, path: str, content: str | bytes) -> AbstractAsyncContextManager[None]:
        """Around the host's own write of `content`: journalled before, compared after."""
        return Around(self._session.writing(path, content))

    def ran(self, command: str) -> AbstractAsyncContextManager[Run]:
        """Around a command the agent runs: what it changes is recorded as made by it."""
        return Around(self._session.ran(command))

    async def check(
        self, path: str, *, old: str | None = None, content: str | None = None
    ) -> Verdict:
        """What the guard would say: of replacing `old`, of writing `content`, or, with neither, of relying on what was shown."""
        return await shielded(lambda: self._session.check(path, old=old, content=content))

    async def notice(self, budget: int = 1500) -> Notice | None:
        """The same in words for the agent, in at most so many tokens; None when nothing is new."""
        return await shielded(lambda: self._session.notice(budget))

    async def acknowledge(
        self, answer: Notice | Briefing | EditRefused | FileWarning | str
    ) -> None:
        """Say that the agent got a notice, a briefing, or a refusal: what it printed counts as shown."""
        return await shielded(lambda: self._session.acknowledge(answer))

    async def edited_since(
        self, when: When = None, *, deleted_messages: Iterable[object] = ()
    ) -> EditedFiles:
        """Files that are other than they were then, by whom and when."""
        return await shielded(
            lambda: self._session.edited_since(when, deleted_messages=deleted_messages)
        )

    async def checkpoint(self, label: str = "") -> Checkpoint:
        """Keep how the workspace stands now, so that work can be taken back to here."""
        return await shielded(lambda: self._session.checkpoint(label))

    async def checkpoints(self) -> list[Checkpoint]:
        """The checkpoints of all sessions, oldest first."""
        return await shielded(self._session.checkpoints)

    async def export(
        self,
        checkpoint: Checkpoint | str,
        branch: str | None = None,
        *,
        since: Checkpoint | str | None = None,
        until_now: bool = False,
        author: str | None = None,
    ) -> Export:
        """Give a checkpoint to git: as a commit on a new branch, or without one as a patch."""
        return await shielded(
            lambda: self._session.export(
                checkpoint, branch, since=since, until_now=until_now, author=author
            )
        )

    async def rewind(
        self,
        checkpoint: Checkpoint | str | int,
        *,
        files: bool = True,
        conversation: bool = False,
        dry_run: bool = False,
        force_paths: Iterable[str] = (),
        deleted_messages: Iterable[object] = (),
    ) -> RewindReport:
        """Take back what this session did since a checkpoint, its id, or a position: its own lines go, and everybody else's stay."""
        return await shielded(
            lambda: self._session.rewind(
                checkpoint,
                files=files,
                conversation=conversation,
                dry_run=dry_run,
                force_paths=force_paths,
                deleted_messages=deleted_messages,
            )
        )

    async def turn(
        self,
        number: int | None = None,
        *,
        model: str | None = None,
        provider: str | None = None,
        mode: str | None = None,
    ) -> int:
        """Begin a turn; its number (one more than the last unless given)."""
        return await shielded(
            lambda: self._session.turn(number, model=model, provider=provider, mode=mode)
        )

    async def model_usage(self) -> list[ModelUsage]:
        """The models that were used, oldest first, each from where it was another than before."""
        return await shielded(self._session.model_usage)

    async def warn(self, text: str, paths: str | Iterable[str] = ()) -> FileWarning:
        """Warn this session's agent of something about files: it is told once, with the next prompt where hooks are connected."""
        return await shielded(lambda: self._session.warn(text, paths))

    async def warnings(self) -> list[FileWarning]:
        """This session's warnings that were not acknowledged yet, oldest first."""
        return await shielded(self._session.warnings)

    async def claim(
        self, paths: str | Iterable[str], *, ttl: float | timedelta, exclusive: bool = True
    ) -> Claim:
        """Say that this session is at work on paths, for so many seconds, a day at most."""
        return await shielded(lambda: self._session.claim(paths, ttl=ttl, exclusive=exclusive))

    async def renew(self, claim: Claim | str, ttl: float | timedelta) -> Claim:
        """Let a claim, or the one of that id, stand for so long from now on."""
        return await shielded(lambda: self._session.renew(claim, ttl))

    async def release(self, claim: Claim | str) -> None:
        """Give up a claim, or the one of that id."""
        return await shielded(lambda: self._session.release(claim))

    async def claims(self) -> list[Claim]:
        """The claims of all sessions that stand, oldest first."""
        return await shielded(self._session.claims)

    async def fork(self, id: str | None = None) -> Session:
        """A new session that knows all that this one knows now."""
        return await shielded(lambda: self._session.fork(id))

    async def hand_over(
        self,
        to: Session | str,
        paths: str | Iterable[str] | None = None,
        *,
        lines: tuple[int, int] | None = None,
    ) -> tuple[HandedOver, ...]:
        """Count what this session holds of these files (None: of all) as shown to a session that it started or was started by: their agent was given this session's text of them."""
        return await shielded(lambda: self._session.hand_over(to, paths, lines=lines))

    async def environment(
        self, host: str | None = None, host_version: str | None = None
    ) -> list[Environment]:
        """Where this session's agent ran, oldest first."""
        return await shielded(lambda: self._session.environment(host, host_version))

    async def close(self) -> None:
        """Give the store back, once no fork made here needs it."""
        return await shielded(self._session.close)

    async def files(
        self, state: str | None = None, *, max_age: int | None = None
    ) -> list[FileInContext]:
        """The files this session was shown, all or those in one state; max_age in turns."""
        return await shielded(lambda: self._session.files(state, max_age=max_age))

    async def changes(self, *, told: bool = False) -> list[FileChange]:
        """Files that are not what this session was shown, and that it was not told of yet; told: also those it was told of, and did not look at since."""
        return await shielded(lambda: self._session.changes(told=told))

    async def find(
        self,
        patterns: str | Sequence[str],
        *,
        required: bool = False,
        fallback: Fallback = "skip",
        name: str = "",
        reason: str = "",
        deadline_s: float = 2.0,
        progress: Progress | None = None,
    ) -> FindResult:
        """The files of the first pattern that matches any, of one to five from exact to broad."""
        return await shielded(
            lambda: self._session.find(
                patterns,
                required=required,
                fallback=fallback,
                name=name,
                reason=reason,
                deadline_s=deadline_s,
                progress=progress,
            )
        )

    async def find_each(
        self, asked: object, *, deadline_s: float = 2.0, progress: Progress | None = None
    ) -> tuple[FindResult, ...]:
        """The same of each request of an agent's structured answer, in order: a list of objects with "patterns" (or one "pattern"), "name", "reason", "required" and "fallback", or {"requests": that list}."""
        return await shielded(
            lambda: self._session.find_each(asked, deadline_s=deadline_s, progress=progress)
        )

    async def list_directory(
        self,
        path: str = ".",
        *,
        recursive: bool = False,
        filter: str | None = None,
        depth: int = 3,
        limit: int = 200,
    ) -> DirectoryListing:
        """What a folder holds, without what is ignored, the nearest first; the answer tells what its limits cut off."""
        return await shielded(
            lambda: self._session.list_directory(
                path, recursive=recursive, filter=filter, depth=depth, limit=limit
            )
        )

    async def related(
        self,
        path: str,
        *,
        imports: bool = True,
        tests: bool = True,
        importers: bool = True,
        siblings: bool = True,
        transitive: int = 0,
        limit: int = 10,
        max_bytes: int = 200000,
        max_tokens: int | None = None,
    ) -> Related:
        """The files that belong to one, the closest first: what it imports, its tests, what imports it, those beside it; each with the reasons."""
        return await shielded(
            lambda: self._session.related(
                path,
                imports=imports,
                tests=tests,
                importers=importers,
                siblings=siblings,
                transitive=transitive,
                limit=limit,
                max_bytes=max_bytes,
                max_tokens=max_tokens,
            )
        )

    async def registry(self, *, limit: int | None = 50, with_md5: bool = False) -> Registry:
        """The files this session knows, the most useful first: how each came in, how it stands, and who changed it when."""
        return await shielded(lambda: self._session.registry(limit=limit, with_md5=with_md5))

    async def stats(self) -> Stats:
        """How this session's searches for files went, by kind of pattern; of all sessions `sightline stats` tells it."""
        return await shielded(self._session.stats)

    async def mentioned(
        self, text: str, *, limit_files: int = 50, limit_lines: int = 250, limit_bytes: int = 100000
    ) -> Mentioned:
        """What a user's text mentions (@src/app.py, @"a b.txt:3-9", @folder/, @git-changes, a commit), each through the access check; what is shown of it counts as seen."""
        return await shielded(
            lambda: self._session.mentioned(
                text, limit_files=limit_files, limit_lines=limit_lines, limit_bytes=limit_bytes
            )
        )

    async def request_listings(self, answer: object) -> list[ListingRequest]:
        """Note the folders that an agent's structured answer asks to have listed: {"listings": [{"path": "src", "recursive": true, "filter": "*.py"}]}, its JSON, or that list."""
        return await shielded(lambda: self._session.request_listings(answer))

    async def briefing(self, message: str | None = None, budget: int = 8000) -> Briefing:
        """What the agent is to be told before its next turn, in at most so many tokens: warnings, what others changed, what the message mentions, the listings it asked for, files that belong to what it edited, and, where the message asks to go on or there is none yet, what was going on and the files it knows."""
        return await shielded(lambda: self._session.briefing(message, budget))
