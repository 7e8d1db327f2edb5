"""P1 for a host that writes itself: nothing a user saved is gone unless its agent had been shown it
before the request that it answers, or is told at once what was lost, with the bytes kept. An agent
that knows all that stands there is neither refused nor merged.

The calls between two requests to the model belong to one answer, so the agent composed them before
it was told anything by one of them."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.hooks.handlers.host import Host
from tests.support.places import Place

from sightline.hooks.dispatch import attend
from sightline.model.hook_events import (
    Answer,
    Answered,
    CommandBegan,
    CommandEnded,
    Prompted,
)

LINES = 6
lines = st.integers(0, LINES - 1)
moments = st.lists(st.tuples(st.sampled_from(["before", "between"]), lines), max_size=3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.none(), moments),
        st.tuples(st.just("part"), lines, moments),
        st.tuples(st.just("edit"), lines, moments),
        st.tuples(st.just("write"), st.lists(lines, min_size=1, max_size=3), moments),
        st.tuples(st.just("command"), st.none(), moments),
        st.tuples(st.sampled_from(["batch", "prompt"]), st.booleans(), moments),
    ),
    max_size=9,
)


def lines_told(text: str) -> set[str]:
    """The lines of a file that the diffs of a text show as standing there."""
    return {f"{line[1:]}\n" for line in text.splitlines() if line[:1] in ("+", " ")}


class World:
    """One file; an agent that remembers what it last read; users who save in between."""

    def __init__(self, place: Place) -> None:
        self.place, self.host, self.counter = place, Host(place), 0
        self.memory: list[str] = []
        self.known: set[str] = set()
        self.heard: set[str] = set()  # told by calls of the answer that goes on
        self.put([f"first {n}\n" for n in range(LINES)])

    def disk(self) -> list[str]:
        return self.place.text("f").splitlines(keepends=True)

    def put(self, text: list[str]) -> None:
        self.place.put("f", "".join(text))

    def fresh(self, who: str) -> str:
        self.counter += 1
        return f"{who} {self.counter}\n"

    def save(self, line: int) -> None:
        text = self.disk()
        text[line] = self.fresh("user")
        self.put(text)

    def go(self, kind: str, what, saves) -> None:
        for when, line in saves:
            if when == "before":
                self.save(line)
        between = [line for when, line in saves if when == "between"]
        stands = set(self.disk())

        def meanwhile() -> None:
            for line in between:
                self.save(line)
            stands.update(self.disk())

        said = self._act(kind, what, meanwhile)
        for line in stands - set(self.disk()) - self.known:
            # Saved over by a later user's save, or told as lost.
            saved_over = any(line == each for each in self.replaced)
            assert saved_over or line.strip() in said, line

    def _act(self, kind: str, what, meanwhile) -> str:
        self.replaced: list[str] = []
        answers: list[Answer | None] = []
        if kind == "read":
            self.host.read("f")
            self.memory = self.disk()
            self.known |= set(self.memory)
        elif kind == "part":
            self.host.read("f", (what + 1, what + 1))
            self.known.add(self.disk()[what])
        elif kind == "command":
            self.host.calls += 1
            began = CommandBegan("make", f"c{self.host.calls}", str(self.place.root))
            attend(self.host.session, began)
            self._around(meanwhile)()
            ended = CommandEnded(began.command, began.call, began.cwd)
            answers = [attend(self.host.session, ended)]
        elif kind in ("batch", "prompt"):
            request = Answered() if kind == "batch" else Prompted("go on")
            told = attend(self.host.session, request).context
            self.known |= self.heard | lines_told(told)
            self.heard = set()
            if what and self.memory and set(self.disk()) <= self.known:
                self.memory = self.disk()  # it heeds what it was told
        elif kind == "edit" and self.memory:
            old = self.memory[what]
            if old in self.disk():
                new = self.fresh("agent")
                answers = list(self.host.edit("f", old, new, self._around(meanwhile)))
                if answers[0] and answers[0].refuse is None:
                    self.memory[what] = new
                    self.known.add(new)
        elif kind == "write" and self.memory:
            text = list(self.memory)
            for line in what:
                text[line] = self.fresh("agent")
            knows_all = set(self.disk()) <= self.known
            answers = list(self.host.write("f", "".join(text), self._around(meanwhile)))
            if answers[0] and answers[0].refuse is None:
                self.memory = text
                self.known |= set(text)
            asked = answers[0]
            assert asked
            assert not knows_all or (asked.refuse, asked.contents) == (None, {})
        said = "".join(
            f"{part}\n" for each in answers if each for part in (each.refuse, each.context) if part
        )
        self.heard |= lines_told(said)
        return said

    def _around(self, meanwhile):
        def between() -> None:
            before = self.disk()
            meanwhile()
            after = self.disk()
            self.replaced = [line for line in before if line not in after]

        return between


@given(steps)
def test_nothing_a_user_saved_is_gone_without_its_agent_knowing(does):
    with tempfile.TemporaryDirectory() as folder:
        world = World(Place(Path(folder)))
        world.go("read", None, [])
        for kind, what, saves in does:
            world.go(kind, what, saves)
        world.host.session.close()
