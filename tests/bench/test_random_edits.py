"""A hundred random conversations: the library against the judge, which shares no code with it."""

import random
from itertools import count

import pytest
from bench.oracle import BOM, Evidence, dressed, judge, merged, plain
from tests.support.certain import are_placed

import sightline
from sightline.config.settings import Settings


class Conversation:
    """A user and an agent, editing one file by turns. Every line written is a new one, so that
    there is one way only to tell what became of each."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fresh = count()
        self.form = self.random.choice([b"a\n", b"a\n", b"a\n", b"a\r\n", BOM + b"a\n"])

    def lines(self, who, low=1, high=3):
        return [f"{who} {next(self.fresh)}\n" for _ in range(self.random.randint(low, high))]

    def changed(self, lines, who):
        """One to three insertions, deletions and replacements; at least a line is left."""
        lines = list(lines)
        for _ in range(self.random.randint(1, 3)):
            first = self.random.randrange(len(lines) + 1)
            last = first + self.random.choice([0, 1, 2, 3])
            lines[first:last] = self.random.choice([[], self.lines(who)])
        return lines or self.lines(who)


@pytest.mark.parametrize("seed", range(100))
def test_what_fits_together_comes_out_together_and_nothing_else_goes_through(seed, tmp_path):
    talk = Conversation(seed)
    root = tmp_path / "workspace"
    root.mkdir()
    file = root / "file.txt"
    disk = talk.lines("base", 3, 25)
    file.write_bytes(dressed("".join(disk).encode(), talk.form))
    settings = Settings(state_home=str(tmp_path / "state"))
    with sightline.open_session(str(root), id="random", settings=settings) as session:
        known = session.read("file.txt").text
        for _turn in range(4):
            if talk.random.random() < 0.75:
                disk = talk.changed(disk, "user")
                file.write_bytes(dressed("".join(disk).encode(), talk.form))
            before = file.read_bytes()
            attempt, ours, target = _attempt(talk, session, known)
            answer, reason = _try(attempt)
            seen = Evidence(
                dressed(known.encode(), talk.form),
                shown=None,
                ours=dressed(ours.encode(), talk.form),
                target=target,
                before=before,
                after=file.read_bytes(),
                accepted=answer is not None,
                told=bool(answer and answer.notice),
            )
            best = merged(seen)
            is_priced = False
            if answer is None:
                is_priced = not are_placed(known, ours, plain(before).decode())
                assert best is None or plain(before) == best or reason == "no_change" or is_priced
                assert seen.after == before
                known = session.read("file.txt").text
            else:
                assert best is not None
                assert seen.after == dressed(best, before)
                assert session.believed("file.txt") == ours
                known = ours
            verdict = judge(seen)
            assert not verdict.silent_clobber
            assert reason == "no_change" or not verdict.false_alarm or is_priced
            disk = plain(file.read_bytes()).decode().splitlines(keepends=True)


def _attempt(talk, session, known):
    """One try on the text known: how, what it makes of that text, and the lines it is about."""
    lines = known.splitlines(keepends=True)
    kind = talk.random.choice(["replace", "lines", "write"])
    if kind == "write" or not lines:
        ours = "".join(talk.changed(lines, "agent"))
        return (lambda: session.write("file.txt", ours)), ours, None
    first = talk.random.randrange(len(lines))
    last = min(first + talk.random.randint(1, 3), len(lines))
    old, new = "".join(lines[first:last]), "".join(talk.lines("agent", 0, 3))
    ours = "".join(lines[:first]) + new + "".join(lines[last:])
    target = (first + 1, last)
    if kind == "replace":
        return (lambda: session.edit("file.txt", old, new)), ours, target
    return (lambda: session.edit_lines("file.txt", *target, new)), ours, target


def _try(attempt):
    try:
        return attempt(), ""
    except sightline.EditRefused as refused:
        return None, refused.reason
