"""One guard, one scenario, one attempt: play it, and gather what the oracle needs."""

from __future__ import annotations

import os
import pickle
import re
import tempfile
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

from bench.baselines import Answer, Baseline
from bench.oracle import (
    Evidence,
    Judgement,
    dressed,
    hunks,
    judge,
    known_after,
    lines,
    merged,
    plain,
    seen_stands,
)
from bench.scenarios.model import NEAR, Attempt, Intent
from bench.world import Entry, NotAnswering, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bench.scenarios.model import Scenario

NOBODY = 65534
MOST_RETRIES = 3

NEVER_TOLD = {"sibling", "cut off", "asked", "at once"}
"""Flags of scenarios in which nobody can tell of the change before the attempt."""

MEANWHILE = {"asked", "at once"}
"""Flags of scenarios in which the change comes between the judgement and the write."""


class Agent(Protocol):
    """A coding agent's file tools, behind one guard."""

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str: ...
    def edit(self, path: str, old: str, new: str) -> Answer: ...
    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer: ...
    def write(self, path: str, content: str) -> Answer: ...
    def news(self) -> str | None: ...
    def informed(self, *, by_prompt: bool) -> str: ...
    def together(self) -> None: ...
    def forked(self) -> Agent: ...
    def warned(self, path: str) -> bool: ...
    def forget(self, path: str) -> None: ...
    def rewind(self, path: str) -> None: ...
    def mark(self) -> None: ...
    def take_back(self, path: str) -> Answer: ...
    def resumed(self) -> Agent: ...
    def close(self) -> None: ...


class Guard(NamedTuple):
    """A name, where its rule was published, and how an agent behind it begins.
    open(world, state): state is a folder of its own outside the workspace. only: names of the
    scenarios it is run in, all when empty. lines: whether its agent can edit by line numbers. rewinds: whether its
    agent's work can be taken back. informs: whether its agent is also played as one that is told of
    the change before it composes its attempt; such a guard stands behind hooks."""

    name: str
    rule: str
    open: Callable[[World, Path], Agent]
    only: frozenset[str] = frozenset()
    lines: bool = True
    rewinds: bool = False
    informs: bool = False

    def tries(self, scenario: Scenario) -> list[Attempt]:
        """The attempts of a scenario that it is run with."""
        found = [each for each in scenario.attempts if self.plays(scenario, each)]
        if not self.informs:
            return found
        may_be_told = None in scenario.reads and not scenario.flags & NEVER_TOLD
        told = [informed for each in found if may_be_told for informed in _informed(each)]
        # The beginning of a resumed session tells, and so does a prompt; nothing was composed before it.
        return told if told and scenario.flags & {"reopen", "from here"} else [*found, *told]

    def plays(self, scenario: Scenario, attempt: Attempt) -> bool:
        """Return whether it is run in a case."""
        here = not self.only or scenario.name in self.only
        has_lines = self.lines or "shell" in scenario.flags
        lacks = {"lines": not has_lines, "rewind": not self.rewinds}
        is_known = self.rewinds or not scenario.flags & {"places", "at once"}
        is_known = is_known and (self.informs or "hooks" not in scenario.flags)
        return here and is_known and not lacks.get(attempt.kind, False)


def _informed(attempt: Attempt) -> Iterator[Attempt]:
    """The same attempt of an agent that is told before it composes it. Of a file that is gone it
    may leave the attempt; what it was told in part only is judged as untold."""
    wants = attempt.wants | {"allow", "left"}
    if attempt.kind in ("replace", "write"):
        yield replace(attempt, label=f"{attempt.label}, heeding", told="heeds", wants=wants)
    if attempt.kind == "write":
        yield replace(attempt, label=f"{attempt.label}, dropping", told="drops", wants=wants)


def published(rule: type[Baseline]) -> Guard:
    """A baseline as a guard; it keeps nothing outside the workspace."""

    def begin(world: World, _state: Path) -> Agent:
        return rule(world)

    return Guard(rule.name, rule.rule, begin)


class Outcome(NamedTuple):
    """The outcome of one attempt. word: allow, notice, merge, hang, or the reason of a refusal;
    exact: an accepted attempt left what a careful person would have; recovery: tool calls that
    the agent needed after a refusal. wrong_notice: what is wrong with what it was told of the
    change before the attempt, "" where nothing is."""

    word: str
    judgement: Judgement
    recovery: int
    exact: bool
    wrong_notice: str = ""


def play(guard: Guard, scenario: Scenario, attempt: Attempt) -> Outcome:
    """Play one attempt in folders of its own."""
    with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
        root, state = Path(folder, "workspace"), Path(folder, "state")
        root.mkdir()
        state.mkdir()
        if "unprivileged" in scenario.flags and os.geteuid() == 0:
            for owned in (Path(folder), root, state):
                os.chown(owned, NOBODY, NOBODY)
            return _as_nobody(lambda: _Trial(guard, scenario, attempt, root, state).run())
        return _Trial(guard, scenario, attempt, root, state).run()


class _Trial:
    def __init__(
        self, guard: Guard, scenario: Scenario, attempt: Attempt, root: Path, state: Path
    ) -> None:
        self.scenario = scenario
        self.attempt = attempt
        self.world = World(root, scenario.during)
        self.path = scenario.path
        self.guard = guard
        self.state = state

    def run(self) -> Outcome:
        agent = self._begin()
        base = self.world.load(self.path)
        self._led_to = self._leads_to(self.world.entries())
        agent = self._meanwhile(agent)
        self.world.before = self.world.entries()
        if self.attempt.told:
            by_prompt = self.attempt.told == "heeds" or self.world.is_summarised
            told: str | None = agent.informed(by_prompt=by_prompt)
        else:  # after a summary in the middle of a turn nothing tells before the attempt
            told = None if self.world.is_summarised else agent.news()
        wrong = self._wrong_notice(told, base)
        self.world.before = self.world.entries()  # the command that told may have made a file
        if self.attempt.told:
            base = self._compose(base, told or "")
        if "sibling" in self.scenario.flags:
            agent.together()
            self._attempt(agent, base.decode(), replace(self.attempt, kind="replace", intent=NEAR))
        self.world.begin()
        answer = self._hindered(agent, base) or self._attempt(agent, base.decode(), self.attempt)
        self.world.comes_to_an_end()
        evidence = self._evidence(base, answer)
        wrong = wrong or self._wrong_words(evidence, agent, answer)
        evidence = evidence._replace(owned_up=self._is_owned_up(evidence, answer))
        judgement = judge(evidence)
        is_over = answer.accepted or self.attempt.kind == "rewind"
        recovery = 0 if is_over else self._recover(agent, base.decode(), answer)
        agent.close()
        return Outcome(_word(answer), judgement, recovery, _exact(evidence), wrong)

    def _compose(self, base: bytes, told: str) -> bytes:
        """Compose the attempt of an agent that was told. Return the text that it knows now."""
        now = self._readable(self.world.before, self.scenario.lands or self.path)
        known = base if now is None else known_after(base, now, told, self.path)
        if self.attempt.told == "heeds":
            self.attempt = anew(self.attempt, base.decode(), plain(known).decode())
        else:
            self.attempt = replace(self.attempt, content=self.attempt.ours(base.decode()))
        return known

    def _wrong_notice(self, told: str | None, base: bytes) -> str:
        """Return what is wrong with what the agent is told of the change: told without one, missing,
        without what it has to say, or told more than once."""
        if told is None:
            return ""
        evidence = self._evidence(base, Answer(accepted=True, told=told))
        if self.scenario.flags & {"held", "cut off", "places"}:
            return ""
        changed = evidence.before is None or evidence.elsewhere_now or not seen_stands(evidence)
        if bool(told) != changed:
            return "missing" if changed else f"told without a change: {told}"
        lacks = [words for words in self.scenario.tells if not re.search(words, told)]
        if lacks:
            return f"does not say {lacks[0]!r}: {told}"
        # A row of the table of files, with two blanks behind the path, is no notice.
        heads = len(re.findall(rf"^{re.escape(self.path)}\b(?!  )", told, re.MULTILINE))
        return "" if heads <= 1 else f"told {heads} times: {told}"

    def _wrong_words(self, evidence: Evidence, agent: Agent, answer: Answer) -> str:
        """Return what is wrong with what the agent is told after its attempt, and with its next call, of a
        change that came after the judgement: it is to know the file, or what its edit was made in."""
        if not (self.scenario.flags & MEANWHILE and answer.accepted):
            return ""
        told = f"{answer.told}\n{agent.news() or ''}"
        known, before = (evidence.ours, evidence.base), evidence.before
        knows = self._knows(known, evidence.after, told) or self._knows(known, before, told)
        return "" if knows else f"does not tell the file: {told}"

    def _knows(self, known: Iterable[bytes], now: bytes | None, told: str) -> bool:
        """Return whether who knows one of these texts, and is told of changes, knows the text of now."""
        named = told.replace("```diff", f"{self.path}\n```diff")
        return now is not None and any(
            plain(known_after(each, now, named, self.path)) == plain(now) for each in known
        )

    def _is_owned_up(self, evidence: Evidence, answer: Answer) -> bool:
        """Return whether who lost a change to one that came after the judgement was told: this agent what stands
        there, the person how to bring theirs back, or the other agent what stands in its place."""
        theirs, base = evidence.before, evidence.base
        if theirs is None or not self.scenario.flags & MEANWHILE:
            return False
        if evidence.after == theirs:
            return self._knows((evidence.ours, base), theirs, answer.told)
        if answer.way_back is not None and self._knows((base,), theirs, answer.told):
            return answer.way_back() == theirs
        return self._knows((theirs, base), evidence.after, self.world.told_rival())

    def _begin(self) -> Agent:
        """Lay out the files and let the agent read."""
        self.world.prepare(self.scenario.layout())
        if self.scenario.before_read is not None:
            self.scenario.before_read(self.world)
        self.world.reads_by_tool = "tool" in self.scenario.flags
        self.world.is_summarised = "summarised" in self.scenario.flags
        agent = self.guard.open(self.world, self.state)
        self.world.pass_time()
        for span in self.scenario.reads:
            agent.read(self.path, span)
        for path in self.scenario.also:
            agent.read(path)
        if self.attempt.kind == "rewind":
            agent.mark()
        if self.scenario.edits is not None:
            assert agent.edit(self.path, *self.scenario.edits).accepted
        return agent.forked() if "fork" in self.scenario.flags else agent

    def _meanwhile(self, agent: Agent) -> Agent:
        """Return what happens before the attempt."""
        if "reopen" in self.scenario.flags:
            agent.close()
        if self.scenario.between is not None:
            self.scenario.between(self.world)
        if "reopen" in self.scenario.flags:
            return agent.resumed()
        if "forget" in self.scenario.flags:
            agent.forget(self.path)
        if "rewind" in self.scenario.flags:
            agent.rewind(self.path)
        return agent

    def _hindered(self, agent: Agent, base: bytes) -> Answer | None:
        """Why the agent does not even try: it is told beforehand of a change and looks again, or
        that the file is gone, or it holds no text and asking for it again did not bring it."""
        if self.attempt.told:
            now = self._evidence(base, Answer(accepted=False))
            if now.before is None or now.elsewhere_now:
                return Answer(accepted=False, reason="left")
        if agent.warned(self.path):
            return Answer(accepted=False, reason="listed")
        if self.scenario.flags & {"forget", "rewind"}:
            served = agent.read(self.path).encode()
            if served != self.world.load(self.path):
                return Answer(accepted=False, reason="not served")
        return None

    def _attempt(self, agent: Agent, base: str, attempt: Attempt) -> Answer:
        old, new = attempt.intent
        try:
            if attempt.kind == "rewind":
                return agent.take_back(self.path)
            if attempt.kind == "write":
                return agent.write(self.path, attempt.ours(base))
            if attempt.kind == "lines":
                return agent.edit_lines(self.path, *attempt.target(base), new)
            return agent.edit(self.path, old, new)
        except NotAnswering:
            return Answer(accepted=False, reason="hang")

    def _evidence(self, base: bytes, answer: Answer) -> Evidence:
        before, after = self.world.before, self.world.entries()
        at = self.scenario.lands or self.path
        reads = self.scenario.reads
        text = base.decode()
        names = {at, *_same_file(before, at)}
        stood = self._readable(before, at)
        if "places" in self.scenario.flags:  # what stands in its place is the agent's own
            stood = base if stood is None else stood
            names |= {each for each in (*before, *after) if f"{each}/".startswith(f"{at}/")}
            names |= {each for each in (*before, *after) if at.startswith(f"{each}/")}
        # What another hook made of the agent's own text is news, whatever stood there before.
        return Evidence(
            base=base,
            shown=None if None in reads else tuple(span for span in reads if span),
            ours=self._ours(text).encode(),
            target=None if self.attempt.kind == "write" else self.attempt.target(text),
            before=self.world.expected(self.path, base, stood),
            after=self._readable(after, at),
            accepted=answer.accepted,
            told=bool(answer.told) and self._ours(text) == self.attempt.ours(text),
            elsewhere=_others(before, names) != _others(after, names),
            held="held" in self.scenario.flags or self._hits_other_lines(base) or self._is_bound(),
            elsewhere_now=self._leads_to(before) != self._led_to,
        )

    def _ours(self, base: str) -> str:
        """Return what the attempt makes of a text: another hook may put its own text in place of a whole one."""
        ours = self.attempt.ours(base)
        return self.world.rewrite(ours) if self.attempt.kind == "write" else ours

    def _is_bound(self) -> bool:
        """Return whether a merge cannot be handed over, so that only a refusal keeps both changes."""
        return "no merge" in self.scenario.flags and self.attempt.kind == "write"

    def _hits_other_lines(self, base: bytes) -> bool:
        """Return whether a shell would edit other lines than the agent means: only a refusal helps."""
        if self.guard.lines or self.attempt.kind != "lines":
            return False
        first, last = self.attempt.target(base.decode())
        now = self._readable(self.world.before, self.path) or b""
        return lines(now)[first - 1 : last] != lines(base)[first - 1 : last]

    def _leads_to(self, entries: dict[str, Entry]) -> bytes | None:
        """Where the name that the agent uses leads: a link's target, nothing, or itself."""
        entry = entries.get(self.path)
        return None if entry is None else entry.data if entry.kind == "link" else b"."

    def _readable(self, entries: dict[str, Entry], at: str) -> bytes | None:
        entry = entries.get(at)
        return entry.data if entry and entry.kind == "file" and not self.world.silent else None

    def _recover(self, agent: Agent, base: str, answer: Answer) -> int:
        """Look again where the refusal did not show what changed, and try again; the calls it
        took, 0 where there is nothing to look at."""
        calls = 0
        if (
            self.attempt.intent.old not in base
        ):  # it was told, and left out on purpose what it now would change
            return 0
        for _ in range(MOST_RETRIES):
            try:
                if not (self.world.root / self.path).resolve().is_relative_to(self.world.root):
                    return 0
                disk = plain(self.world.load(self.path)).decode()
            except (OSError, NotAnswering):
                return 0
            if calls or not answer.carries:
                agent.read(self.path)
                calls += 1
            answer = self._attempt(agent, disk, anew(self.attempt, base, disk))
            calls += 1
            if answer.accepted:
                break
        return calls


def anew(attempt: Attempt, base: str, disk: str) -> Attempt:
    """The same wish, said of the file as it is now: the lines it was about, wherever they are, with
    as many neighbours as it takes to name them alone. What others wrote there is kept."""
    rows = disk.splitlines(keepends=True)
    first, last = where_now(base, disk, attempt.target(base))
    low, high = first, last
    while low == high or disk.count("".join(rows[low:high])) != 1:
        low, high = max(low - 1, 0), min(high + 1, len(rows))
    theirs = [] if "".join(rows[first:last]) == attempt.intent.old else rows[first:last]
    new = "".join([*rows[low:first], *theirs, attempt.intent.new, *rows[last:high]])
    return replace(attempt, intent=Intent("".join(rows[low:high]), new), content=None)


def where_now(base: str, disk: str, target: tuple[int, int]) -> tuple[int, int]:
    """The rows (0-based, half-open) of the text on disk that stand for these lines of base."""
    first, last = target[0] - 1, target[1]
    start, end = first, last
    for a, b, c, d in hunks(lines(base.encode()), lines(disk.encode())):
        if b <= first:
            start, end = first + d - b, last + d - b
        elif a < last:
            start, end = min(start, c), max(last, b) + d - b
    return start, end


def _word(answer: Answer) -> str:
    if not answer.accepted:
        return answer.reason
    return "merge" if answer.merged else "notice" if answer.told else "allow"


def _exact(evidence: Evidence) -> bool:
    """Return whether an accepted attempt left exactly both sides' changes, in the file's own form."""
    best = merged(evidence)
    if best is None and evidence.owned_up:  # the last writer has the file
        return not evidence.elsewhere
    return not evidence.accepted or (
        best is not None
        and evidence.before is not None
        and evidence.after == dressed(best, evidence.before)
        and not evidence.elsewhere
    )


def _same_file(entries: dict[str, Entry], at: str) -> set[str]:
    """All names of the file at a path: what changes under one changes under all."""
    inode = entries[at].inode if at in entries else None
    return {path for path, entry in entries.items() if entry.inode == inode}


def _others(entries: dict[str, Entry], names: set[str]) -> dict[str, tuple[str, bytes]]:
    """Kind and bytes of everything that does not bear one of these names."""
    return {p: (entry.kind, entry.data) for p, entry in entries.items() if p not in names}


def _as_nobody(run: Callable[[], Outcome]) -> Outcome:
    """Run in a child process without root, which no permission binds."""
    readable, writable = os.pipe()
    with warnings.catch_warnings():
        # A fork beside threads is only dangerous to a child that needs their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _report(run, writable)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        outcome, trouble = pickle.load(pipe)  # noqa: S301 (our own child wrote it)
    os.waitpid(child, 0)
    if trouble:
        raise RuntimeError(trouble)
    return Outcome(*outcome)


def _report(run: Callable[[], Outcome], writable: int) -> NoReturn:
    """The child's part: never returns into the parent's code."""
    outcome: Outcome | tuple[()] = ()
    trouble = ""
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        outcome = run()
    except BaseException:  # noqa: BLE001 (the parent raises it)
        trouble = traceback.format_exc()
    with os.fdopen(writable, "wb") as pipe:
        pickle.dump((outcome, trouble), pipe)
    os._exit(0)
