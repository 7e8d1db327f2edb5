"""Claims in any order: what stands is what was taken and did not fall, and nobody writes where
another one's exclusive claim stands."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.examples import examples

from sightline import ClaimRefused, EditRefused
from sightline.config.settings import Settings
from sightline.model.events import SessionEnded
from sightline.sessions.path_patterns import covers
from sightline.testing import FixedClock, MemoryWorkspace, make_session

FILES = ("a.py", "src/a.py", "src/b.md", "docs/a.md")
PATTERNS = ("a.py", "src", "*.py", "*.md", "src/*", "docs/**", ".")
names = st.sampled_from("abc")


class Claims(RuleBasedStateMachine):
    """Three sessions over files that all of them know, and a list of what should stand."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FixedClock()
        self.tree = MemoryWorkspace(dict.fromkeys(FILES, "0\n"))
        self.sessions = {name: self.begun(name) for name in "abc"}
        self.model: dict[str, dict[str, Any]] = {}
        self.count = 0

    def begun(self, name):
        enforcing = Settings("/state", claims="enforce")
        session = make_session(self.tree, id=name, settings=enforcing, clock=self.clock)
        for path in FILES:
            session.read(path)
        return session

    def standing(self):
        now = self.clock()
        return {key: each for key, each in self.model.items() if each["until"] > now}

    def others(self, name, path):
        return [
            each
            for each in self.standing().values()
            if each["who"] != name and any(covers(pattern, path) for pattern in each["paths"])
        ]

    @rule(
        name=names, pattern=st.sampled_from(PATTERNS), seconds=st.integers(1, 9), own=st.booleans()
    )
    def claims(self, name, pattern, seconds, own):
        until = self.clock() + seconds * 1_000_000
        try:
            made = self.sessions[name].claim(pattern, ttl=seconds, exclusive=own)
        except ClaimRefused as refused:
            blocking = [self.standing()[each.id] for each in refused.claims]
            assert blocking
            assert all(each["who"] != name and (own or each["own"]) for each in blocking)
            return
        for path in FILES:
            if any(covers(each, path) for each in made.paths):
                assert not [each for each in self.others(name, path) if own or each["own"]]
        self.model[made.id] = {"who": name, "paths": made.paths, "until": until, "own": own}

    @rule(name=names, which=st.integers(0, 9), seconds=st.integers(1, 9))
    def renews(self, name, which, seconds):
        if not self.model:
            return
        key = sorted(self.model)[which % len(self.model)]
        each = self.standing().get(key)
        try:
            self.sessions[name].renew(key, seconds)
        except ClaimRefused:
            assert each is None or each["who"] != name
            return
        assert each is not None
        assert each["who"] == name
        each["until"] = self.clock() + seconds * 1_000_000

    @rule(name=names, which=st.integers(0, 9))
    def releases(self, name, which):
        if not self.model:
            return
        key = sorted(self.model)[which % len(self.model)]
        try:
            self.sessions[name].release(key)
        except ClaimRefused:
            assert key not in self.standing() or self.model[key]["who"] != name
            return
        assert self.model.pop(key)["who"] == name

    @rule(seconds=st.integers(1, 5))
    def time_passes(self, seconds):
        self.clock.advance(seconds=seconds)

    @rule(name=names)
    def ends(self, name):
        self.sessions[name]._context.append([SessionEnded()])
        self.sessions[name].turn()  # and goes on, with nothing claimed
        self.model = {key: each for key, each in self.model.items() if each["who"] != name}

    @rule(name=names, path=st.sampled_from(FILES))
    def writes(self, name, path):
        self.count += 1
        session = self.sessions[name]
        session.read(path)
        owned = any(each["own"] for each in self.others(name, path))
        said = session.check(path, content=f"{self.count}\n")
        assert (said.reason == "claimed" and said.decision == "refuse") is owned
        try:
            session.write(path, f"{self.count}\n")
            reason = None
        except EditRefused as refused:
            reason = refused.reason
        assert reason == ("claimed" if owned else None)

    @invariant()
    def what_stands_is_what_all_of_them_say(self):
        for session in self.sessions.values():
            assert {each.id for each in session.claims()} == set(self.standing())


TestClaims = Claims.TestCase
TestClaims.settings = settings(max_examples=examples(40), stateful_step_count=30)
