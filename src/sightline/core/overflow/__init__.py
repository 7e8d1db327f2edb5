"""A provider's error: of what kind it is, and which numbers it names.

What is asked of it is what to do next: send less, keep less free for the answer, send fewer bytes,
mend the history, wait, or none of these. So a limit that is not the window's is never taken for it.
"""

from __future__ import annotations

from sightline.core.overflow.evidence import evidence
from sightline.core.overflow.signs import CODES, NUMBERS, STOPS, told
from sightline.core.value import Value
from sightline.core.window.usage import input_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sightline.core.overflow.evidence import Evidence
    from sightline.core.overflow.signs import Kind

ATTEMPTS = 3
"""How often less is sent, after one error of this kind, before it is given up."""

SPARE = (0.95, 0.85, 0.7)
"""Parts of what would just fit that are aimed at, one attempt after another."""

BLIND = (0.75, 0.5, 0.3)
"""Parts of what was refused that are aimed at, where nobody named the window."""

CUT_SHORT = 0.5
"""Part of what was sent, as we count it, below which a provider cannot have read all of it: no
estimate is so far out."""

SMALLEST = 1_000
"""Tokens sent, below which how much was read says nothing."""

WINDOW_STATUS = (400, 413, 422)


class ProviderError(Value):
    """overflow: what was sent does not fit the window; overflow_output: it would, but not with the
    room that was asked for the answer, or the answer was cut; payload_bytes: too many bytes, of
    pictures mostly; malformed_history: messages that no view of which may be sent so; rate: too
    much at once, wait; other: none of these. used, limit: tokens (bytes of payload_bytes), where
    the provider names them; of overflow_output the room for the answer counts as used."""

    kind: Kind
    used: int | None = None
    limit: int | None = None


def classify_error(error: Any, status: int | None = None) -> ProviderError:
    """What a provider's error is: an exception of any SDK, a response, its body, or text.
    status: of HTTP, where it stands nowhere in the error."""
    found = evidence(error)
    made = _classified(found, status if status is not None else found.status)
    if made.kind == "other" and isinstance(error, BaseException):
        context = error.__context__
        if context is not None and not error.__suppress_context__:
            return classify_error(context, status)
    return made


def _classified(found: Evidence, status: int | None) -> ProviderError:
    codes = {CODES[code] for code in found.codes if code in CODES}
    said = told(found.texts)
    if status == 429 or "rate" in codes or said.rate:
        # A code of the window's own is plain; words of a limit a minute are not about the window.
        return ProviderError("overflow", *said.numbers) if _plain(codes, status) else _RATE
    if "other" in codes or said.other:
        return _OTHER
    for kind in ("malformed_history", "payload_bytes", "overflow_output"):
        if kind in codes or said.kind == kind:
            return ProviderError(kind, *said.numbers)
    fits = status is None or status < 400 or status in WINDOW_STATUS
    if "overflow" in codes or (said.kind == "overflow" and fits):
        return ProviderError("overflow", *_numbers(found, said.numbers))
    if found.stops & STOPS:
        return ProviderError("overflow_output")
    return ProviderError("payload_bytes") if status == 413 else _OTHER


def _plain(codes: set[Kind], status: int | None) -> bool:
    return "overflow" in codes and "rate" not in codes and status != 429


def _numbers(found: Evidence, said: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """What the words name, else the fields."""
    used, limit = said
    for name_used, name_limit in NUMBERS:
        used = used if used is not None else found.numbers.get(name_used)
        limit = limit if limit is not None else found.numbers.get(name_limit)
    return used, limit


_RATE, _OTHER = ProviderError("rate"), ProviderError("other")


def shrunk(error: ProviderError, sent: int, attempt: int = 1) -> int | None:
    """The tokens to come down to before the next attempt, as we count them. sent: our count of
    what was refused; attempt: 1 for the first since there was progress. None when sending less is
    no way out: no attempt is left, or the error is of another kind.

    The provider's own numbers say how far our count was off; each attempt aims lower."""
    if not error.kind.startswith("overflow") or not 1 <= attempt <= ATTEMPTS:
        return None
    spare = SPARE[attempt - 1]
    if error.limit is None:
        return int(sent * BLIND[attempt - 1])
    if error.used is None or error.used <= error.limit:
        fits = float(min(error.limit, sent))
    elif error.kind == "overflow_output":
        fits = sent - (error.used - error.limit)
        fits = fits if fits > 0 else sent * BLIND[attempt - 1]
    else:
        fits = sent * error.limit / error.used
    return int(fits * spare)


def silent_overflow(
    usage: Any, window: int | None = None, sent: int | None = None
) -> ProviderError | None:
    """What a provider did not say: that more was sent than its window holds (z.ai), or that it left
    out the front of it (Ollama). usage: of the answer, by the names of any provider; window: its
    tokens; sent: our count of what was sent. None when all is well, or nobody can tell."""
    used = input_tokens(usage)
    if used is None:
        return None
    if window is not None and used > window:
        return ProviderError("overflow", used, window)
    if sent is not None and sent >= SMALLEST and used < sent * CUT_SHORT:
        return ProviderError("overflow", sent, window)
    return None
