"""Conversations of any kind, as Hypothesis draws them, and what a folder makes of one."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import Struct, structs
from tests.audit.histories import FILES, LINES, Talk, count, words

from sightline.audit.engine import View
from sightline.messages.blocks import Block, Decision, Excerpt, Rewrite
from sightline.window.folding import Folding, Rules
from sightline.window.prices import PROFILES, Prices
from sightline.window.words import stub

RULES = st.builds(
    Rules,
    name=st.just("any"),
    soft=st.sampled_from([20, 100, 200]),
    hard=st.sampled_from([None, None, 40, 150, 300]),
    keep=st.integers(0, 3),
    share=st.sampled_from([0, 0.01, 0.05, 0.2]),
    least=st.sampled_from([1, 25]),
    views=st.booleans(),
)
PRICES = st.sampled_from([PROFILES["none"], PROFILES["none"], PROFILES["0.10/1.25"]])
IDLE = st.sampled_from([0.0, 0.0, 10.0**6])
KINDS = (
    *("read", "read", "whole", "edit", "edit", "write", "run", "other", "plan", "type", "say"),
    *("work", "work", "think", "fixed", "pending", "parallel"),
)


@st.composite
def conversations(draw) -> list[Block]:
    talk = Talk().typed("please do this").said("yes")
    for _ in range(draw(st.integers(1, 14))):
        _add(draw, talk, draw(st.sampled_from(KINDS)))
        if draw(st.integers(0, 5)) == 0:  # as a picture in it would have
            talk.blocks[-1] = structs.replace(talk.blocks[-1], tokens=12_000)
    return talk.blocks


def _add(draw, talk: Talk, kind: str) -> None:
    path, line = draw(st.sampled_from(FILES)), draw(st.sampled_from(LINES))
    size = draw(st.sampled_from([1, 30, 60]))
    text = "\n".join([line, words(size), draw(st.sampled_from(LINES))])
    if kind == "read":
        talk.read(path, text, draw(st.integers(1, 3)))
    elif kind == "whole":
        talk.called("Read", "read", {}, text, excerpts=(Excerpt(path, 1, text, None, whole=True),))
    elif kind == "work":
        talk.read(path, text).edit(path, words(size), words(60, "new")).ran("date", "x")
    elif kind == "edit":
        talk.edit(path, line, f"{line}\n{words(size, 'new')}", error=draw(st.booleans()))
    elif kind == "write":
        talk.called("Write", "write", {"text": text}, "ok", rewrites=(Rewrite(path, None, text),))
    elif kind == "plan":
        talk.called("TodoWrite", "plan", {"todos": text}, f"kept {text}")
    elif kind in ("run", "other"):
        talk.called("Any", kind, {"given": text}, text, error=draw(st.booleans()))
    elif kind == "type":
        talk.typed(text if draw(st.booleans()) else f"mend {path}")
    elif kind == "say":
        talk.said(text)
    else:
        _odd(talk, kind, text)


def _odd(talk: Talk, kind: str, text: str) -> None:
    blocks = talk.said(text).blocks
    if kind == "think":
        blocks[-1] = structs.replace(blocks[-1], kind="thinking", loose=True, fixed=True)
        return
    blocks.pop()
    talk.called("Any", "run", {"given": text}, text)
    if kind == "fixed":
        blocks[-2:] = [structs.replace(each, fixed=True) for each in blocks[-2:]]
    elif kind == "pending":
        blocks.pop()
    else:
        talk.called("Any", "run", {"given": text}, text)
        *_, call, result, other, answer = blocks
        blocks[-4:] = [
            call,
            structs.replace(other, step=call.step),
            result,
            structs.replace(answer, step=call.step),
        ]


class Moment(Struct, frozen=True):
    """Before one of the answers. end: number of blocks so far; before, after: tokens of the window."""

    end: int
    idle_s: float
    before: int
    after: int
    decision: Decision


def folding(rules: Rules, prices: Prices) -> Folding:
    return Folding(rules, count, stub, prices)


def asked(blocks: list[Block]) -> list[int]:
    """Before which blocks the folder is asked: before each answer, and at the end."""
    begins = [at for at in range(1, len(blocks)) if blocks[at].step > blocks[at - 1].step]
    return [*begins, len(blocks)]


def played(blocks: list[Block], made: Folding, idle=lambda number: 0.0) -> list[Moment]:
    """Return what is decided before each answer. A folder that takes back a fold is stopped by the view."""
    view, start = View(0), 0
    moments: list[Moment] = []
    for number, end in enumerate(asked(blocks)):
        for block in blocks[start:end]:
            made.add(block)
        view.add(blocks[start:end])
        before, start = view.tokens, end
        decision = made.decide(before, idle(number))
        view.apply(decision)
        moments.append(Moment(end, idle(number), before, view.tokens, decision))
    return moments
