"""The verbs of a session that find files for it and tell of them, and change nothing."""

from __future__ import annotations

from sightline import services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Sequence

    from sightline.core.finding.chains import Fallback, FindResult
    from sightline.core.finding.success import Stats
    from sightline.core.listing import DirectoryListing
    from sightline.core.requesting import ListingRequest
    from sightline.services import results
    from sightline.services.briefing import Briefing
    from sightline.services.finding import Progress
    from sightline.services.ground import Ground
    from sightline.services.mentioning import Mentioned
    from sightline.services.registry import Registry
    from sightline.services.related import Related


class Seeking:
    """What a Session has beside its guarded verbs."""

    _ground: Ground
    _lock: RLock

    def files(
        self, state: str | None = None, *, max_age: int | None = None
    ) -> list[results.FileInContext]:
        """The files this session was shown, all or those in one state; max_age in turns."""
        with self._lock:
            return services.views.files(self._ground, state, max_age=max_age)

    def changes(self, *, told: bool = False) -> list[results.FileChange]:
        """Files that are not what this session was shown, and that it was not told of yet; told:
        also those it was told of, and did not look at since. Asking consumes nothing."""
        with self._lock:
            return services.news.changes(self._ground, told=told)

    def find(
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
        """The files of the first pattern that matches any, of one to five from exact to broad.

        Where none does: what may have been meant, each with its reason, and the fallback:
        ask_user (a question to show), skip, create_new (the path that could be created; nobody
        creates it). required: is not skipped. name, reason: what the request is called, and why it
        is made, in the answer. deadline_s: of the patterns and guesses. progress: told the number
        of the pattern that is tried, of how many, and the pattern. ValueError, PathRefused.
        """
        with self._lock:
            return services.finding.find(
                self._ground,
                patterns,
                required=required,
                fallback=fallback,
                name=name,
                reason=reason,
                deadline_s=deadline_s,
                progress=progress,
            )

    def find_each(
        self, asked: object, *, deadline_s: float = 2.0, progress: Progress | None = None
    ) -> tuple[FindResult, ...]:
        """The same of each request of an agent's structured answer, in order: a list of objects
        with "patterns" (or one "pattern"), "name", "reason", "required" and "fallback", or
        {"requests": that list}. The deadline is of all together. ValueError, PathRefused."""
        with self._lock:
            return services.finding.find_each(
                self._ground, asked, deadline_s=deadline_s, progress=progress
            )

    def list_directory(
        self,
        path: str = ".",
        *,
        recursive: bool = False,
        filter: str | None = None,
        depth: int = 3,
        limit: int = 200,
    ) -> DirectoryListing:
        """What a folder holds, without what is ignored, the nearest first; the answer tells what
        its limits cut off.

        recursive: with the folders below it, so many levels deep. filter: a pattern that files
        have to match. PathRefused, FileMissing, Unverifiable, ValueError.
        """
        with self._lock:
            return services.listing.list_directory(
                self._ground, path, recursive=recursive, filter=filter, depth=depth, limit=limit
            )

    def related(
        self,
        path: str,
        *,
        imports: bool = True,
        tests: bool = True,
        importers: bool = True,
        siblings: bool = True,
        transitive: int = 0,
        limit: int = 10,
        max_bytes: int = 200_000,
        max_tokens: int | None = None,
    ) -> Related:
        """The files that belong to one, the closest first: what it imports, its tests, what
        imports it, those beside it; each with the reasons.

        transitive: so many further steps of imports. limit, max_bytes, max_tokens: of all of them
        together; what they left out is counted. FileMissing, PathRefused, Unverifiable.
        """
        with self._lock:
            return services.related.related(
                self._ground,
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

    def registry(self, *, limit: int | None = 50, with_md5: bool = False) -> Registry:
        """The files this session knows, the most useful first: how each came in, how it stands,
        and who changed it when. limit: None for all; with_md5: also that sum, for hosts that
        compare by it."""
        with self._lock:
            return services.registry.registry(self._ground, limit=limit, with_md5=with_md5)

    def stats(self) -> Stats:
        """How this session's searches for files went, by kind of pattern; of all sessions
        `sightline stats` tells it."""
        with self._lock:
            return services.stats.stats(self._ground.store, self._ground.session)

    def mentioned(
        self,
        text: str,
        *,
        limit_files: int = 50,
        limit_lines: int = 250,
        limit_bytes: int = 100_000,
    ) -> Mentioned:
        """What a user's text mentions (@src/app.py, @"a b.txt:3-9", @folder/, @git-changes, a
        commit), each through the access check; what is shown of it counts as seen.

        limit_files, limit_bytes: of all of it; limit_lines: of one file. briefing() does the same
        with a message, and counts it when it is acknowledged. ValueError.
        """
        with self._lock:
            return services.mentioning.mentioned(
                self._ground,
                text,
                limit_files=limit_files,
                limit_lines=limit_lines,
                limit_bytes=limit_bytes,
            )

    def request_listings(self, answer: object) -> list[ListingRequest]:
        """Note the folders that an agent's structured answer asks to have listed: {"listings":
        [{"path": "src", "recursive": true, "filter": "*.py"}]}, its JSON, or that list. The next
        briefing delivers five of them, once; LISTINGS_SCHEMA describes it to a model.
        ValueError, and nothing noted, for what is no request."""
        with self._lock:
            return services.requests.request(self._ground, answer)

    def briefing(self, message: str | None = None, budget: int = 8_000) -> Briefing:
        """What the agent is to be told before its next turn, in at most so many tokens: warnings,
        what others changed, what the message mentions, the listings it asked for, files that
        belong to what it edited, and, where the message asks to go on or there is none yet, what
        was going on and the files it knows.

        Asking consumes nothing: hand it to acknowledge() when the agent got it. ValueError.
        """
        with self._lock:
            return services.briefing.briefing(self._ground, message, budget)
