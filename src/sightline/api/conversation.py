"""The conversation of a session: stored for good, and folded so that it costs and loses less.

Messages are appended and never changed. The view, which a model is sent, follows from the messages
and from decisions, which are facts themselves. The display shows a person all messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from os import fspath
from typing import Annotated, Any

from msgspec import Struct

from sightline.api.verbs import HOST_ONLY, FilePath, Positive, verb
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind.rewinder import rewind
from sightline.messages import message_chain
from sightline.messages.saved_file import Loaded, Saved, load, save
from sightline.messages.token_counter import Count, counter
from sightline.model.results import RewindReport
from sightline.model.spans import Span
from sightline.window.condense import TIMEOUT_S, Condensation, Summarizer, condense
from sightline.window.display import Displayed, display, expand, position_of
from sightline.window.folding import Rules
from sightline.window.overflow_recovery import KEEP, Recovery, RequestSize, measure, recover
from sightline.window.prices import Prices
from sightline.window.repeated_calls import AT_LEAST, RepeatedCall, repeated_calls
from sightline.window.sent_view import Budget, Window, check_options

Message = dict[str, Any]
"""A message in the JSON of its provider or framework."""


class Chain(Struct, frozen=True):
    """A chain of messages as JSON has it. side: its name, "" for the session's own; root: the id of the
    message that it follows."""

    side: str
    root: str | None


class Conversation:
    """One chain of messages: a session's own, or that of a sub-agent beside it.

    Messages may have any format that messages.formats.format knows; one conversation has one
    format. Messages come back as they were given, with fields that Sightline does not know.
    """

    def __init__(
        self,
        context: SessionContext,
        lock: AbstractContextManager[object],
        side: str = "",
        root: str | None = None,
    ) -> None:
        self.name = side
        self._context = context
        self._lock = lock
        self._root = root
        self._tip: message_chain.Tip | None = None
        self._window: Window | None = None
        self._count: Count | None = None

    @verb
    def count_with(self, count: Annotated[Count | None, HOST_ONLY]) -> None:
        """Count tokens by a function of the host's from now on.

        Args:
            count: Takes a text, returns its tokens. None: an installed tokenizer of the model counts,
                else an estimate.
        """
        self._count, self._window = count, None

    @verb(answer="id")
    def append(self, message: Mapping[str, Any], *, at: datetime | None = None) -> str:
        """Append a message to the conversation.

        The message survives the death of the process; a power cut may take messages appended since
        the store was last synced, as every edit syncs it.

        Args:
            message: The message, in the JSON of its provider or framework.
            at: The time of the message; now by default.

        Returns:
            The message's id, which follows from its content and the messages before.

        Raises:
            ValueError, and nothing is recorded, for a message that does not fit this conversation.
        """
        happened = None if at is None else message_chain.microseconds(at)
        self._tip = message_chain.append_newest(
            self._context, message, self._tip, side=self.name, root=self._root, at=happened
        )
        return self._tip.message or ""

    @verb(read_only=True, answer="messages")
    def messages(self, last: Positive | None = None) -> list[Message]:
        """Return the messages, unchanged, oldest first.

        Args:
            last: Only the last N; all by default.

        Raises:
            StoreError; ValueError.
        """
        if last is not None and (type(last) is not int or last < 1):
            raise ValueError(f"last is a number of messages, 1 or more, not {last!r}")
        if last is None:
            rows = message_chain.chain_facts(self._context, self.name, message_chain.MESSAGES)
        else:
            rows = message_chain.newest_messages(self._context, self.name, last)
        return [message_chain.read_message(self._context, row) for row in rows]

    @verb(read_only=True, answer="messages")
    def display(self) -> list[Displayed]:
        """Return all messages for a person, oldest first.

        Folded and summed-up messages are there in full, and marked.
        """
        return display(self._current_window())

    @verb(answer="messages")
    def view(
        self,
        budget: int | Annotated[Budget, HOST_ONLY] | None = None,
        *,
        price: str | Annotated[Prices, HOST_ONLY] = "0.10/1.25",
        policy: str | Annotated[Rules, HOST_ONLY] = "default",
        idle_s: float | None = None,
    ) -> list[Message]:
        """Return the messages to send now, with old content folded as budget and prices ask for.

        Tokens are estimated for the model that `turn` named last. A decision is recorded before this
        returns and is final: the view of the same messages is the same bytes, in any process, after
        any rewind or fork. Messages that a provider would refuse are repaired in the view, never in
        the conversation.

        Args:
            budget: The soft budget in tokens, or a Budget with a hard one.
            price: Prices of reading and writing the prompt cache, relative to an uncached token:
                "0.10/1.25", "0.05/1.25", "0.02/1" or "none".
            policy: "default" or "careful".
            idle_s: Seconds since the cache was last used; by default from the times of the messages.

        Raises:
            WindowFull, and nothing is recorded, where folding cannot keep the hard budget.
            ValueError, StoreError.
        """
        return self._current_window().view(check_options(budget, price, policy, idle_s))

    @verb(read_only=True, answer="text")
    def expand(self, name: str, lines: Span | None = None) -> str:
        """Return the text that a stub replaces.

        The text comes from the store; the disk is not read.

        Args:
            name: The name in the stub ("expand 1a2b3c4d5e6f").
            lines: Only lines A to B of the text.

        Raises:
            UnknownName, ValueError.
        """
        return expand(self._context, self.name, name, lines)

    @verb
    def rewind(self, message: str, *, before: bool = False) -> RewindReport:
        """Go back to the time when a message was the newest.

        Later messages leave the conversation, not the store. Files stay unchanged, and the report
        warns of files edited since.

        Args:
            message: The id of the message.
            before: Go back to the time just before the message.

        Raises:
            UnknownName, RewindRefused.
        """
        to = position_of(self._context, self.name, message, before=before)
        return rewind(self._context, to, files=False, conversation=True)

    @verb
    def side(self, name: str, call: str | None = None) -> Conversation:
        """Return the chain of a sub-agent.

        Args:
            name: A name of your choice.
            call: The id of the message that called the sub-agent; the newest one by default. The
                chain's first message follows it.

        Raises:
            ValueError for a name that is none, and for a side of a side.
        """
        if self.name or not name.strip():
            raise ValueError(f"a side chain has a name and no side chain of its own: {name!r}")
        root = call or message_chain.find_tip(self._context, "", None).message
        return Conversation(self._context, self._lock, name, root)

    @verb(read_only=True, answer="sides")
    def sides(self) -> dict[str, str | None]:
        """Return the names of the side chains, each with the id of the message that it follows."""
        roots: dict[str, str | None] = {}
        for row in message_chain.branch_facts(self._context, message_chain.MESSAGES):
            fact = message_chain.message_fact(row)
            if fact.side:
                roots.setdefault(fact.side, fact.parent)
        return roots

    @verb(waits=True, long=True, answer="condensation")
    def condense(
        self,
        summarizer: Annotated[Summarizer | None, HOST_ONLY] = None,
        *,
        keep_tokens: int = 20_000,
        target: int | None = None,
        timeout_s: float = TIMEOUT_S,
        outlines: bool = False,
    ) -> Condensation | None:
        """Sum up all but the last messages.

        The record is added to the summary: what the user wrote, files, commands, the open to-do
        list. The conversation stays unchanged; only the view begins with the summary from now on.

        Args:
            summarizer: Takes a text that asks for a summary, returns the summary. None: the record
                and the agent's last words, without a model.
            keep_tokens: About how many tokens at the end stay as they are.
            target: Tokens that the view may have with the summary.
            timeout_s: Seconds that the summarizer may take.
            outlines: Add the signatures of the files that were read, as the agent saw them.

        Returns:
            None where there is no more to sum up.

        Raises:
            CondenseRefused for a summary that is empty, too long, late, frees no tokens or leaves
            more than the target, and after three failures.
        """
        with self._lock:
            window = self._current_window()
            known = window.calibration()
            if target is not None:
                target = known.estimate(target)
        return condense(
            *(window, self._lock, summarizer, keep_tokens),
            target=target,
            timeout_s=timeout_s,
            outlines=outlines,
            room=None if known.limit is None else known.of_text(known.limit),
        )

    @verb(waits=True, long=True)
    def recover(
        self,
        error: object,
        *,
        status: int | None = None,
        summarizer: Annotated[Summarizer | None, HOST_ONLY] = None,
        keep: float = KEEP,
        limit: int | None = None,
        prefix: int = 0,
        timeout_s: float = TIMEOUT_S,
    ) -> Recovery:
        """Make the view smaller after a provider refused it as too long; return what to send now.

        Steps: old results are folded; the summarizer, where one is given, sums up; what is still too
        much is clipped, and the oldest messages become their record, which needs no model. The task,
        the user's last message and the newest exchange always stay. A request with too many bytes
        loses pictures and documents, the oldest first, and no text. Each try is smaller than the one
        before, and there are three at most until the model answers. The messages themselves are
        never changed.

        Args:
            error: What the provider answered: an exception of any SDK, a response body, or text; the
                problem of `record_usage`; or a WindowFull of `view`.
            status: The error's HTTP status, where the error has none.
            summarizer: As for condense.
            keep: The part of the window that the new request may fill; where neither the error nor
                `limit` names the window, the part of the refused request that stays.
            limit: The model's context window in tokens.
            prefix: Tokens sent before the messages.
            timeout_s: Seconds that the summarizer may take.

        Raises:
            WindowFull where no smaller request is possible; RecoveryRefused for an error against
            which a smaller request does not help; ValueError.
        """
        with self._lock:
            window = self._current_window()
        return recover(
            *(window, self._lock, error),
            status=status,
            summarizer=summarizer,
            keep=keep,
            limit=limit,
            prefix=prefix,
            timeout_s=timeout_s,
        )

    @verb
    def record_usage(
        self, usage: object, *, limit: int | None = None, prefix: int = 0
    ) -> RequestSize:
        """Record how many tokens the provider counted in the last view that was sent.

        From then on only what came or went since is estimated, and the estimate of this model is
        corrected. The answer's `problem` is an overflow that the provider did not report, because
        it read only a part: pass it to `recover`.

        Args:
            usage: The provider's count of one request: an SDK's object, its JSON, an answer that
                holds it, or a number of tokens.
            limit: The model's context window in tokens, where it is known.
            prefix: Tokens sent before the messages.

        Raises:
            ValueError for a usage without a number of tokens.
        """
        return measure(self._current_window(), usage, limit, prefix)

    @verb(read_only=True, answer="calls")
    def repeated_calls(self, at_least: int = AT_LEAST) -> tuple[RepeatedCall, ...]:
        """Return the calls in the window that were repeated with the same arguments and answer.

        No edit stood between them: a sign that the agent goes in circles.

        Args:
            at_least: How often a call was made, 2 or more.

        Raises:
            ValueError.
        """
        if type(at_least) is not int or at_least < 2:
            raise ValueError(f"at_least is a number of calls, 2 or more, not {at_least!r}")
        return repeated_calls(self._current_window().blocks, at_least)

    @verb(destructive=True, idempotent=True)
    def save(self, path: Annotated[FilePath, HOST_ONLY], *, replace: bool = False) -> Saved:
        """Write the messages to a file, one a line in the JSON of their provider.

        The whole file is replaced at once. What was folded is not written.

        Args:
            path: The file.
            replace: Replace whatever the file holds; by default only messages of this session.

        Raises:
            HistoryError.
        """
        return save(self._context, fspath(path), side=self.name, root=self._root, replace=replace)

    @verb(idempotent=True)
    def load(self, path: Annotated[FilePath, HOST_ONLY]) -> Loaded:
        """Load a saved conversation: all of it, or the messages that are new.

        The file may also be another program's: api_conversation_history.json of Cline and Roo Code,
        claude_messages.json of their early versions, or messages as a provider takes them, in JSON or
        JSON lines. A damaged file is read up to its last whole message, and JSON lines without those
        that are none; the warnings say what was lost. No file is changed.

        Args:
            path: The file.

        Raises:
            HistoryError, and nothing is loaded, for another conversation or a file without a whole message.
        """
        return load(self._context, fspath(path), side=self.name, root=self._root)

    def as_view(self) -> Chain:
        """Return which chain this is."""
        return Chain(self.name, self._root)

    def _running(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _current_window(self) -> Window:
        state = self._context.store.session(self._context.session)
        model = state.model if state else None
        if self._window is None or self._window.model != model:
            self._window = Window(self._context, self.name, model, counter(model, self._count))
        self._window.refresh()
        return self._window
