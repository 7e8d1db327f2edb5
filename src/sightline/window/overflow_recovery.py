"""Recover from a request that was too long: a ladder of steps, each of which makes the view smaller.

What may be folded is folded; a summarizer, where there is one, sums up what is old; and a reduction
that needs no model clips long answers of tools and replaces the oldest messages by the record. The
task, the user's last message and the newest exchange always stay. The provider's numbers say how far
to go, and calibrate the counts of tokens. A request with too many bytes loses pictures instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import accumulate
from typing import Any, Literal

from msgspec import Struct, structs

from sightline.errors import CondenseRefused, Hint, NextCall, RecoveryRefused, WindowFull
from sightline.messages.blocks import Block, Decision, Fold
from sightline.messages.formats.exchanges import split_exchanges
from sightline.messages.message_chain import leading_system
from sightline.model.events import Folded, MessageAppended, RequestMeasured
from sightline.text.phrases import count
from sightline.window import words
from sightline.window.calibration import Calibration, input_tokens, is_cut, is_plausible
from sightline.window.condense import (
    Summarizer,
    choose_part,
    condense,
    record_summary,
    valid_cuts,
)
from sightline.window.file_outlines import outline_text
from sightline.window.folding import DEFAULT
from sightline.window.overflow import ProviderError, classify_error
from sightline.window.picture_removal import choose_pictures, tried
from sightline.window.prices import PROFILES
from sightline.window.sent_view import ViewOptions, Window

TRIES_MAX = 3
"""Recoveries in a row, without an answer of the model between them."""

KEEP = 0.75
"""Part of the window that a recovered request may fill."""

GAIN_MIN = 0.05
"""Part of the view by which a recovery must make it smaller where no limit is known."""

TAIL_TOKENS = 20_000
"""Tokens of the newest messages that a summary leaves word for word, where there is room."""

RECORD_MIN = 400
"""Tokens that the record of replaced messages has at least."""

CLIP_MIN = 160
"""Tokens to which an answer of a tool may be clipped."""

Stage = Literal["fold", "condense", "reduce", "repair"]

Message = dict[str, Any]


class Step(Struct, frozen=True):
    """A step of a recovery. before, after: tokens (or bytes) of the request; told: a sentence about what was
    removed, or why the step failed."""

    stage: Stage
    before: int
    after: int
    told: str


class Recovery(Struct, frozen=True):
    """A request that is smaller than the one that was refused.

    messages: to send now. error: the classified error. attempt: of at most three in a row. before,
    after: tokens of the request, by the provider's numbers where it told some. target: tokens that
    were aimed at. After an error of kind payload_bytes these are bytes of the messages as JSON.

    steps: what was tried, in order.
    """

    error: ProviderError
    attempt: int
    before: int
    after: int
    target: int
    steps: tuple[Step, ...]
    messages: list[Message]


class RequestSize(Struct, frozen=True):
    """The size of the last request. tokens: the provider's; predicted: ours, before it was told; ratio:
    the provider's tokens for each of ours, as learned so far. problem: an overflow that the provider
    did not report, to be passed to recover(), else None. warning: why the number was not believed."""

    tokens: int
    predicted: int
    ratio: float
    problem: ProviderError | None = None
    warning: str = ""


def measure(window: Window, usage: object, limit: int | None, prefix: int) -> RequestSize:
    """Record a provider's usage of the view. ValueError for a usage without a number of tokens."""
    _check_limit(limit)
    window.refresh()
    tokens = input_tokens(usage)
    if not tokens:  # a provider that does not count says 0
        raise ValueError(
            "the usage has no number of input tokens: pass the usage as the provider answered it, such as"
            ' {"input_tokens": 1200}'
        )
    if window.format is None:
        raise ValueError("the conversation has no message yet, so no request can be measured")
    calibration = window.calibration()
    estimate = _request_estimate(window)
    predicted = calibration.tokens(estimate, prefix)
    problem, warning = None, ""
    if is_cut(calibration, estimate, tokens, prefix):
        problem = ProviderError("overflow", predicted, tokens)
        warning = f"The provider read {tokens:,} of about {predicted:,} tokens, and said nothing."
    elif limit is not None and tokens > limit:
        problem = ProviderError("overflow", tokens, limit)
        warning = f"The request had {tokens:,} tokens, above the window of {limit:,}."
    elif not is_plausible(calibration, estimate, tokens):
        why = "they may be the sum of several requests. Pass the usage of one request"
        if tokens < predicted:
            why = "no provider reads as few"
        warning = f"{tokens:,} tokens are implausible for a request of about {predicted:,}: {why}."
    if problem is None:
        _measured(window, estimate, tokens=tokens)
    return RequestSize(tokens, predicted, window.calibration().ratio, problem, warning)


def _check_limit(limit: Any) -> None:
    """Raise ValueError for a limit that is no context window: the store would keep it for later requests."""
    is_number = isinstance(limit, int) and not isinstance(limit, bool)
    if limit is not None and not (is_number and limit >= 1):
        raise ValueError(f"limit is a number of tokens, 1 or more, not {limit!r}")


def _request_estimate(window: Window) -> int:
    """Return the tokens of the view up to the newest message that is not the model's: the answer may
    be appended before its usage is told."""
    assert window.format is not None
    roles = [window.format.adapter.role(message) for message in window.messages]
    end = max((n for n, role in enumerate(roles) if role != "model"), default=len(roles))
    answer = zip(window.blocks, window.sizes, strict=True)
    return window.tokens - sum(size for block, size in answer if block.message > end)


def _measured(
    window: Window,
    estimate: int,
    *,
    tokens: int | None,
    limit: int | None = None,
    refused: bool = False,
) -> None:
    fact = RequestMeasured(
        *(window.ids[-1], estimate, tokens, limit, refused, window.model, window.side)
    )
    window.context.append([fact])
    window.refresh()


# --- recovery


def recover(
    window: Window,
    lock: AbstractContextManager[object],
    error: object,
    *,
    status: int | None,
    summarizer: Summarizer | None,
    keep: float,
    limit: int | None,
    prefix: int,
    timeout_s: float,
) -> Recovery:
    """Make the view smaller after an error. See Conversation.recover."""
    if not 0 < keep < 1:
        raise ValueError(
            f"keep is the part of the window that may be filled, such as 0.75, not {keep}"
        )
    _check_limit(limit)
    with lock:
        window.refresh()
        told = _classified(window, error, status, prefix)
        if window.format is None:
            raise RecoveryRefused(
                "The conversation has no message, so none can be removed.",
                "Append the messages of the request first.",
                kind=told.kind,
            )
        if told.kind == "malformed_history":
            return _repair(window, told)
        if told.kind == "payload_bytes":
            return _remove_pictures(window, told, keep)
        _refuse_others(told)
        ladder = _start(window, told, keep, limit, prefix)
        ladder.fold()
    if summarizer is not None and not ladder.is_done:
        ladder.condense(summarizer, lock, timeout_s)
    with lock:
        window.refresh()
        if not ladder.is_done:
            ladder.reduce()
        return ladder.result()


def _classified(window: Window, error: object, status: int | None, prefix: int) -> ProviderError:
    """Classify an error, also one that says nothing: an answer whose usage shows that the request was
    cut."""
    if isinstance(error, RequestSize):
        error = error.problem or ProviderError("other")
    if isinstance(error, WindowFull):
        return ProviderError("overflow", error.tokens, error.limit)
    if isinstance(error, ProviderError):
        return error
    told = classify_error(error, status)
    tokens = None if isinstance(error, (str, bytes, int, float)) else input_tokens(error)
    if told.kind in ("other", "overflow_output") and tokens is not None and window.format:
        calibration = window.calibration()
        if is_cut(calibration, window.tokens, tokens, prefix):
            return ProviderError("overflow", calibration.tokens(window.tokens, prefix), tokens)
    return told


def _refuse_others(told: ProviderError) -> None:
    """RecoveryRefused for an error against which a smaller request does not help."""
    reasons = {
        "rate": (
            "The provider has had too many requests or tokens in this time; the request fits.",
            "Wait, and send the same messages again.",
        ),
        "other": (
            "This error does not say that the request was too long.",
            "Look at the error. classify_error() says what kind it is.",
        ),
    }
    if told.kind in reasons:
        raise RecoveryRefused(*reasons[told.kind], kind=told.kind)
    if told.kind == "overflow_output" and told.used is None:
        raise RecoveryRefused(
            "The answer was cut off at its own limit of tokens; the messages fit.",
            "Ask for a shorter answer, or raise that limit.",
            kind=told.kind,
        )


def _repair(window: Window, told: ProviderError) -> Recovery:
    """Return the repaired view. RecoveryRefused where nothing is known to be wrong with it."""
    assert window.format is not None
    tokens = window.calibration().tokens(window.tokens)
    problems = window.format.problems(window.messages)
    if not problems:
        raise RecoveryRefused(
            "The provider does not accept the order of the messages, and Sightline finds no fault in it.",
            "Send the messages of the view, or of a recovery, and no others.",
            kind=told.kind,
        )
    why = f"{count(len(problems), 'fault')} repaired in the view; the first: {problems[0].why}."
    return Recovery(
        told, 1, tokens, tokens, tokens, (Step("repair", tokens, tokens, why),), window.sent()
    )


def _remove_pictures(window: Window, told: ProviderError, keep: float) -> Recovery:
    """Return the view with fewer pictures. RecoveryRefused where that does not help."""
    typed = [block.message for block in window.blocks if block.kind == "user"]
    newest = range(_newest_exchange(window), len(window.messages))
    removal = choose_pictures(window, told.limit, keep, {*newest, *typed[-1:]})
    decision, before, after, target = removal
    is_enough = told.limit is None or min(before, after) <= told.limit
    if not decision.folds or not is_enough:
        raise RecoveryRefused(
            "The request has too many bytes, and fewer pictures do not help: the messages"
            f" have {before:,} bytes as JSON, {after:,} of them without pictures.",
            "Find out how many bytes the provider, or a proxy before it, accepts.",
            kind=told.kind,
        )
    attempt = 1 + tried(window, sum(isinstance(fact, Folded) for fact in _since_answer(window)))
    window.record(decision)
    number = len(decision.folds)
    what = "1 picture or document was" if number == 1 else f"{number} pictures or documents were"
    step = Step("reduce", before, after, f"{what} left out; all texts stay.")
    return Recovery(told, attempt, before, after, target, (step,), window.sent())


def _start(
    window: Window, told: ProviderError, keep: float, limit: int | None, prefix: int
) -> _Ladder:
    """Record the refusal, and return the ladder to its target. WindowFull after three tries, and for
    messages that cannot be made to fit."""
    measured = (fact for fact in _since_answer(window) if isinstance(fact, RequestMeasured))
    attempt = 1 + sum(fact.refused for fact in measured)
    known = told.limit or limit or window.calibration().limit
    if attempt > TRIES_MAX:
        tokens = window.calibration().tokens(window.tokens, prefix)
        raise WindowFull(
            f"The request was refused as too long {TRIES_MAX} times in a row; it has about {tokens:,} tokens"
            " now.",
            "Nothing further was removed. Check how large the provider's window really is, or begin a new"
            " session with the record: briefing().",
            tokens=tokens,
            limit=known,
        )
    calibration = window.calibration()
    guess = calibration.tokens(window.tokens, prefix)
    used = told.used if told.kind == "overflow" else None
    is_believed = used is not None and (
        is_plausible(calibration, window.tokens, used) and used > (known or 0)
    )
    believed = used if is_believed else None
    above = known if told.kind == "overflow" else None  # else the messages alone fit
    _measured(window, window.tokens, tokens=believed, limit=above, refused=True)
    calibration = window.calibration()
    before = calibration.tokens(window.tokens, prefix)
    if not is_believed and calibration.anchor is not None and known is None:
        before = guess  # nothing was learned
    target = int(keep * known) if known else int(keep * before)
    if told.kind == "overflow_output" and told.used is not None and known is not None:
        target = min(target, before - (told.used - known))  # the answer needs this room, too
    ladder = _Ladder(window, told, calibration, attempt, before, target, known, prefix)
    ladder.check_possible()
    return ladder


def _since_answer(window: Window) -> list[object]:
    """Return the facts since the model's last answer, the newest first."""
    facts: list[object] = []
    for row in reversed(window.rows):
        if isinstance(row.fact, MessageAppended) and row.fact.role == "model":
            break
        facts.append(row.fact)
    return facts


class _Ladder:
    """The steps of one recovery. before, target, limit: tokens as the provider counts them."""

    def __init__(
        self,
        window: Window,
        told: ProviderError,
        calibration: Calibration,
        attempt: int,
        before: int,
        target: int,
        limit: int | None,
        prefix: int,
    ) -> None:
        self._window = window
        self._told = told
        self._calibration = calibration
        self._attempt = attempt
        self._before = before
        self._target = target
        self._limit = limit
        self._prefix = prefix
        self._first = window.tokens
        self._goal = min(calibration.estimate(target, prefix), window.tokens - 1)
        self._steps: list[Step] = []

    @property
    def is_done(self) -> bool:
        """Return whether the view has reached the target."""
        return self._window.tokens <= self._goal

    def _tokens(self, estimate: int | None = None) -> int:
        now = self._window.tokens if estimate is None else estimate
        return self._calibration.tokens(now, self._prefix)

    def _add(self, stage: Stage, before: int, told: str) -> None:
        self._steps.append(Step(stage, self._tokens(before), self._tokens(), told))

    def fold(self) -> None:
        """Fold what may be folded, as for a hard budget of this size."""
        window, before = self._window, self._window.tokens
        if not window.may_fold or self._goal < 1:
            return
        rules = structs.replace(DEFAULT, soft=self._goal, hard=self._goal, views=False)
        decision = window.decide_hard(ViewOptions(rules, PROFILES["none"]))
        newest = _newest_exchange(window)  # its answers are clipped instead
        older = (f for f in decision.folds if window.blocks[f.block].message < newest)
        decision = structs.replace(decision, folds=tuple(older))
        if decision.folds or decision.dropped:
            window.record(decision)
            parts = count(len(decision.folds), "part")
            told = f"{parts} of tool calls and their results became stubs; expand gives each back."
            self._add("fold", before, told)

    def condense(
        self, summarizer: Summarizer, lock: AbstractContextManager[object], timeout_s: float
    ) -> None:
        """Have the old messages summed up. A summary that fails is no obstacle: the next step needs
        no model."""
        window, before = self._window, self._window.tokens
        keep = min(TAIL_TOKENS, max(self._goal // 3, 0))
        try:
            made = condense(
                *(window, lock, summarizer, keep),
                target=self._goal,
                timeout_s=timeout_s,
                keeps_folds=True,
                room=self._calibration.of_text(self._limit or self._target),
            )
        except CondenseRefused as refused:
            self._add("condense", before, refused.message)
            return
        if made is not None:
            self._add("condense", before, "The older messages are a summary now, with the record.")

    def reduce(self) -> None:
        """Clip the newest answers of tools where they alone are too long, then replace the oldest
        messages by their record."""
        window, before = self._window, self._window.tokens
        told = []
        cuts = [cut for cut in valid_cuts(window) if cut <= _newest_exchange(window)]
        last = cuts[-1] if cuts else len(leading_system(window.rows))
        fixed = self._size_from(last) + self._system_size()
        room = max(self._goal - (self._record_floor(last) if cuts else 0), 0)
        if fixed > room:
            clips = self._clips(last, fixed - room)
            if clips:
                window.record(Decision(clips))
                told.append(
                    f"The middle of {count(len(clips), 'long answer')} of tools was left out."
                )
        if not self.is_done and cuts:
            told += self._replace_oldest(cuts)
        if told:
            self._add("reduce", before, " ".join(told))

    def _size_from(self, message: int) -> int:
        pairs = zip(self._window.blocks, self._window.sizes, strict=True)
        return sum(size for block, size in pairs if block.message >= message)

    def _system_size(self) -> int:
        start = len(leading_system(self._window.rows))
        pairs = zip(self._window.blocks, self._window.sizes, strict=True)
        return sum(size for block, size in pairs if block.message < start)

    def _record_floor(self, cut: int) -> int:
        """Return the tokens of the smallest record of the messages before a cut."""
        part = choose_part(self._window, cut)
        if part is None:
            return 0
        return self._window.count(words.summary("", part.ledger, self._window.count, 0)) + 40

    def _clips(self, first: int, excess: int) -> tuple[Fold, ...]:
        """Return clips of the longest answers from a message on, down to one common size; then
        pictures. excess: tokens to free."""
        window = self._window
        removed = window.removed
        places = [
            place
            for place, block in enumerate(window.blocks)
            if block.message >= first and place not in removed and not block.fixed
        ]
        results = [n for n in places if window.blocks[n].kind == "result" and window.sizes[n] > CLIP_MIN]  # fmt: skip
        level = _level([window.sizes[n] for n in results], excess)
        folds = [
            fold
            for n in results
            if window.sizes[n] > level and (fold := self._clip(n, level)) is not None
        ]
        excess -= sum(window.sizes[fold.block] - fold.tokens for fold in folds)
        for place in places if excess > 0 else ():
            if window.blocks[place].kind in ("image", "document"):
                stub = words.picture_left_out(window.blocks[place])
                folds.append(Fold(place, stub, window.count(stub), "clipped"))
        return tuple(sorted(folds, key=lambda fold: fold.block))

    def _clip(self, place: int, level: int) -> Fold | None:
        """Return a clip of an answer; None where it would not be shorter."""
        window = self._window
        block = window.blocks[place]
        size = len(block.text) * max(level - CLIP_MIN // 2, 1) // max(window.sizes[place], 1)
        outline = _outline(block, size * 2 // 5)
        size -= len(outline)
        head, tail = _head(block.text, size * 3 // 5), _tail(block.text, size * 2 // 5)
        text = words.clipped(block, head, tail, outline)
        tokens = window.count(text)
        return Fold(place, text, tokens, "clipped") if tokens < window.sizes[place] else None

    def _replace_oldest(self, cuts: Sequence[int]) -> list[str]:
        """Replace as few of the oldest messages as needed by their record."""
        window = self._window
        system = self._system_size()
        record = max(self._goal // 3, RECORD_MIN)
        sizes = [0] * len(window.messages)
        for block, size in zip(window.blocks, window.sizes, strict=True):
            sizes[block.message] += size
        behind = list(accumulate(reversed(sizes)))[::-1]
        fitting = (cut for cut in cuts if system + behind[cut] + record <= self._goal)
        cut = next(fitting, cuts[-1])
        part = choose_part(window, cut)
        if part is None:
            return []
        blocks: list[Block] = [block for block, _ in part.blocks]
        room = max(self._goal - system - self._size_from(cut), 0)
        text = words.summary(words.digest(blocks), part.ledger, window.count, room)
        try:
            record_summary(window, part, text, target=None, keeps_folds=True)
        except CondenseRefused as refused:
            return [refused.message]
        messages = count(cut - part.start, "message")
        told = (
            f"The {messages} before the newest ones left the window; their record stands in their"
        )
        return [f"{told} place, and display() shows them."]

    def check_possible(self) -> None:
        """WindowFull where not even the smallest request would fit, before anything is removed."""
        window = self._window
        fixed = self._system_size()
        newest = _newest_exchange(window)
        typed = [n for n, block in enumerate(window.blocks) if block.kind == "user"]
        places = {*typed[:1], *typed[-1:]}
        for place, block in enumerate(window.blocks):
            if place in places or block.message >= newest:
                may_shrink = not block.fixed and block.kind not in ("user", "call", "text")
                size = window.sizes[place]
                fixed += min(size, CLIP_MIN) if may_shrink else size
        if self._limit is None or self._tokens(fixed) <= self._limit:
            return
        largest = max(range(len(window.blocks)), key=self._fixed_size, default=None)
        where, before = "", Hint()
        if largest is not None and self._fixed_size(largest):
            block = window.blocks[largest]
            size = self._tokens(self._fixed_size(largest)) - self._tokens(0)
            if size > self._limit // 4:
                where = f" Message {block.message} alone has about {size:,} tokens."
                again = NextCall("conversation.rewind", (block.message,), {"before": True})
                before = Hint("Go back to before that message", (": ", again), ". ")
        raise WindowFull(
            f"The messages cannot be made to fit: the task, the user's last message and the newest"
            f" exchange have about {self._tokens(fixed):,} tokens, and the window has"
            f" {self._limit:,}.{where} Nothing was removed.",
            Hint(before, "Put long texts into files, or use a model with a larger window."),
            tokens=self._tokens(fixed),
            limit=self._limit,
        )

    def _fixed_size(self, place: int) -> int:
        block = self._window.blocks[place]
        return self._window.sizes[place] if block.fixed or block.kind == "call" else 0

    def result(self) -> Recovery:
        """Return the smaller request. WindowFull where it is not smaller, or known not to fit."""
        after, window = self._tokens(), self._window
        is_smaller = window.tokens < self._first
        gain = (self._first - window.tokens) / max(self._first, 1)
        fits = after <= self._limit if self._limit else gain >= GAIN_MIN
        if not is_smaller or not fits:
            done = " ".join(step.told for step in self._steps) or "Nothing could be removed."
            goal = f"the window has {self._limit:,}" if self._limit else f"it had {self._before:,}"
            raise WindowFull(
                f"The request cannot be made to fit: it has about {after:,} tokens, and {goal}. {done}",
                "What is left is the task, the user's last message and the newest exchange. Use a model"
                " with a larger window, or go back to an earlier message.",
                tokens=after,
                limit=self._limit,
            )
        return Recovery(
            *(self._told, self._attempt, self._before, after, self._target),
            tuple(self._steps),
            window.sent(),
        )


def _newest_exchange(window: Window) -> int:
    """Return the index of the first message of the newest answer of the model."""
    assert window.format is not None
    exchanges = split_exchanges(window.format.adapter, window.messages)
    answers = [each for each in exchanges if each.answer]
    return answers[-1].start if answers else len(window.messages) - 1


def _outline(block: Block, size: int) -> str:
    """Return the outline of a file that an answer shows from its first line on, in at most `size`
    characters; "" for any other answer."""
    if len(block.excerpts) != 1 or block.excerpts[0].first != 1:
        return ""
    [excerpt] = block.excerpts
    if not block.text.split("\n", 1)[0].endswith(excerpt.text.split("\n", 1)[0]):
        return ""  # the answer's lines are not the file's
    text = outline_text(excerpt.path, [(1, excerpt.text.split("\n"))])
    return _head(text.partition("\n")[2], size)


def _level(sizes: Sequence[int], excess: int) -> int:
    """Return the largest size that may stay, so that clipping all larger ones frees `excess` tokens."""
    ordered = sorted(sizes, reverse=True)
    for number, size in enumerate(ordered, 1):
        following = ordered[number] if number < len(ordered) else CLIP_MIN
        if sum(ordered[:number]) - number * following >= excess or number == len(ordered):
            level = (sum(ordered[:number]) - excess) // number
            return min(max(level, CLIP_MIN), size)
    return CLIP_MIN


def _head(text: str, size: int) -> str:
    """Return the beginning of a text, up to the end of a line where there is one near."""
    head = text[:size]
    cut = head.rfind("\n")
    return head[:cut] if cut >= size // 2 else head


def _tail(text: str, size: int) -> str:
    """Return the end of a text, from the beginning of a line where there is one near."""
    tail = text[max(len(text) - size, 0) :] if size else ""
    cut = tail.find("\n")
    return tail[cut + 1 :] if 0 <= cut < size // 2 else tail
