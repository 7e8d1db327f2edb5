"""Word claims, affected sessions, deletions and environments."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import Hint, NextCall
from sightline.model.active_claims import Claim
from sightline.model.path import quoted
from sightline.model.results import Affected
from sightline.text.causes import NameOf
from sightline.text.phrases import count, joined, named, spans, unfound

NAMED = 3
"""The number of sessions or claims that one answer names."""

DAY_S = 86_400


def until(at: int) -> str:
    """Return the clock time of UTC microseconds within a day from now."""
    minutes = at // 1_000_000 % DAY_S // 60
    return f"{minutes // 60:02}:{minutes % 60:02} UTC"


def claimed(path: str, claims: Sequence[Claim], name_of: NameOf) -> str:
    """Say which other session claims a file, and until when."""
    first = claims[0]
    also = f", and by {len(claims) - 1} more" if len(claims) > 1 else ""
    part = "" if path in first.paths else f" as part of {named([*map(quoted, first.paths)], NAMED)}"
    shared = "" if first.exclusive else " (shared)"
    whose = name_of(first.session)
    return (
        f"{quoted(path)} is claimed{shared} by {whose} until {until(first.expires_at)}{part}{also}."
    )


def claim_enforced(path: str, claims: Sequence[Claim], name_of: NameOf) -> tuple[str, str]:
    """Word the refusal of a write that another session's claim forbids."""
    first = next(each for each in claims if each.exclusive)
    hint = (
        f"Work on other files until then, or ask the user, who can release the claim {first.id}"
        ' (setting `claims` = "enforce").'
    )
    return claimed(path, [first], name_of), hint


def claim_refused(wanted: str, claims: Sequence[Claim], name_of: NameOf) -> tuple[str, str]:
    """Word the refusal of a claim that overlaps the claims of others."""
    first = claims[0]
    whose = f"{name_of(first.session)} until {until(first.expires_at)}"
    kind = "" if first.exclusive else " (shared)"
    others = len(claims) - 1
    are = "is 1" if others == 1 else f"are {others}"
    more = f" There {are} more in the way." if others else ""
    same = (
        ""
        if (wanted,) == first.paths
        else f", as part of {named([*map(quoted, first.paths)], NAMED)}"
    )
    hint = f"Claim other paths, wait, or ask the user, who can release the claim {first.id}."
    return f"{wanted} is claimed{kind} by {whose}{same}.{more}", hint


def no_claim(
    claim: str, several: Sequence[str] = (), nearest: Sequence[str] = ()
) -> tuple[str, str | Hint]:
    """Word the error of a claim that is not active, or of a name that several claims have."""
    ended = "It was released, its time ran out, or its session ended. Claim the paths again."
    if not (several or nearest):
        return f"There is no claim {claim!r} now.", ended
    return unfound("claim", claim, several, nearest, NextCall("session.claims"))


def not_yours(claim: str, session: str) -> tuple[str, Hint]:
    """Word the error of renewing or releasing another session's claim."""
    hint = Hint(
        "It ends when its time is up or its process ends. To release it now: ",
        NextCall("session.release", (claim,), session=session),
    )
    return f"The claim {claim!r} is another session's: {session}.", hint


def affected(found: Sequence[Affected], name_of: NameOf) -> str:
    """Name the sessions whose view of a file a write made stale."""
    stale = [
        f"{name_of(each.session)} stale on {quoted(each.path)}"
        + (f" {spans(each.lines)}" if each.lines else "")
        for each in found[:NAMED]
    ]
    more = len(found) - len(stale)
    if more > 0:
        stale.append(count(more, "more session"))
    return f"Your write made {joined(stale)}."


def this_machine_alone(kind: str) -> str:
    """Warn that claims do not reach other machines that share a network folder."""
    return (
        f"This folder is on a network ({kind}): agents on other machines do not learn of the claim."
        " Their edits count as those of another program."
    )


def forgotten(session: str, claims: int) -> str:
    """Describe a deleted session."""
    lost = f" Its {count(claims, 'claim')} ended." if claims else ""
    ended = f"Session {session} is ended, and what it was shown is forgotten.{lost}"
    return f"{ended} What it did stays on the timeline."


def still_held(session: str, holder: str) -> tuple[str, Hint]:
    """Word the error of deleting a session that is at work."""
    pid = holder.rsplit(":", 2)[1] if holder else ""
    held = f" (process {pid} holds it)" if pid else ""
    return (
        f"Session {session} is at work{held}. If you delete it, its agent has to read its files again.",
        Hint(
            "To delete it anyway, pass ",
            NextCall("workspace.delete_session", named={"force": True}, again=True),
            ".",
        ),
    )


def no_session(session: str) -> tuple[str, Hint]:
    """Word the error of an unknown session id."""
    return f"There is no session {session!r} here.", Hint(
        "List them: ", NextCall("workspace.sessions")
    )


def not_family(giver: str, receiver: str, path: str | None) -> tuple[str, Hint]:
    """Word the error of a hand-over between sessions of different families. path: of the text, None for all
    that the session knows."""
    message = f"{receiver} and {giver} are not related: neither started the other, and no session started both."
    saw = NextCall("session.saw", (path or "PATH",), {"via": "handover"}, receiver)
    return message, Hint("If the other agent did get the text, record that in its session: ", saw)


def nothing_held(session: str, path: str) -> tuple[str, Hint]:
    """Word the error of a path that a session knows nothing of."""
    message = f"{session} has no text of {quoted(path)} to hand over."
    return (
        message,
        Hint(
            "It was not shown those lines, or they left its context. See: ",
            NextCall("session.files"),
        ),
    )
