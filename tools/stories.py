"""What happens in the pictures of `sightline up`: real sessions, real files, a clock of our own."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import sightline
from sightline.model.events import TurnBegan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sightline.testing import FixedClock

MAIN = "7c1e9a52-3f08-4d7e-9b61-2a5d0c84e913"
OTHER = "b40de87c-91f2-4c06-8a3d-55e0c1f7a260"
HELPER = f"{MAIN}/Explore-4f0a9c21"
LOOKS_AFTER = 3

CART = """RATE = 0.2


def total(items):
    return sum(item.price for item in items)


def receipt(items):
    return f"{len(items)} items, {total(items)}"
"""
TAX = """def tax(amount):
    return amount * 0.2


def net(amount):
    return amount - tax(amount)
"""
TEST = """def test_nothing_costs_nothing():
    assert total([]) == 0


def test_one():
    assert total([pen]) == 2
"""


class Over(Exception):
    """The story is told."""


class Story:
    """What happens, a step a call; a call without a descriptor is a view's rest after a look."""

    said = ""
    seconds = 47

    def __init__(self, root: Path, clock: FixedClock) -> None:
        self.root, self.clock = root, clock
        self.begins()
        self._steps = iter([*self.steps(), *[self.rests] * LOOKS_AFTER])

    def __call__(self, _seconds: float, descriptor: int | None) -> bool:
        if descriptor is None:
            return False
        step = next(self._steps, None)
        if step is None:
            raise Over
        step()
        self.clock.advance(seconds=self.seconds)
        return False

    def begins(self) -> None:
        """What there is before the view begins."""
        for path, text in {"cart.py": CART, "tax.py": TAX, "items.py": "pen = 2\n"}.items():
            self.save(f"src/{path}", text)
        self.save("tests/test_cart.py", TEST)
        self.agent = self.begin(MAIN)

    def steps(self) -> Iterator[Callable[[], None]]:
        """What happens then."""
        raise NotImplementedError

    def save(self, path: str, text: str) -> None:
        """A person saves a file in an editor that writes aside and renames."""
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        aside = file.with_name(f"{file.name}~")
        aside.write_text(text)
        os.replace(aside, file)

    def begin(
        self, id: str, parent: str | None = None, agent: str = "claude-code"
    ) -> sightline.Session:
        """An agent begins to work."""
        return sightline.open_session(
            self.root, id=id, agent=agent, parent=parent, clock=self.clock
        )

    def asks(self, agent: sightline.Session, words: str) -> None:
        """A person sends an agent the first message of a conversation."""
        agent._context.append([TurnBegan(1, title=words)])  # noqa: SLF001 - as its hook does

    def reads(self) -> None:
        self.asks(self.agent, "Receipts with tax")
        for path in ("src/cart.py", "src/tax.py", "src/items.py", "tests/test_cart.py"):
            self.agent.read(path)

    def rests(self) -> None:
        """Nothing happens, and nothing is drawn."""


class Hour(Story):
    """Two agents and a person: what is allowed, refused and merged."""

    said = "sightline up: two agents, their files with what went stale and why, and what happened"

    def begins(self) -> None:
        (self.root / ".git").mkdir()
        super().begins()

    def steps(self) -> Iterator[Callable[[], None]]:
        yield from (self.reads, self.helps, self.saves, self.goes_on, self.is_refused)
        yield from (self.merges, self.helper_edits)

    def helps(self) -> None:
        self.helper = self.begin(HELPER, MAIN)
        self.helper.read("src/items.py")
        self.helper.read("src/cart.py")

    def saves(self) -> None:
        self.save("src/cart.py", CART.replace("RATE = 0.2\n", "RATE = 0.25\n"))
        self.save("src/tax.py", TAX.replace("* 0.2", "* 0.25"))

    def goes_on(self) -> None:
        """Elsewhere in the changed file: made, with a notice."""
        result = self.agent.edit("src/cart.py", "{total(items)}", "{total(items):.2f}")
        assert result.notice is not None
        self.agent.acknowledge(result.notice)

    def is_refused(self) -> None:
        """In the very line that was changed."""
        try:
            self.agent.edit("src/tax.py", "amount * 0.2\n", "round(amount * 0.2, 2)\n")
        except sightline.EditRefused as refused:
            self.agent.acknowledge(refused)

    def merges(self) -> None:
        """A whole file over a change elsewhere in it."""
        self.save("tests/test_cart.py", TEST.replace("== 2", "== pen.price"))
        result = self.agent.write("tests/test_cart.py", TEST.replace("== 0", "== 0.0"))
        assert result.merged
        assert result.notice is not None
        self.agent.acknowledge(result.notice)

    def helper_edits(self) -> None:
        self.helper.edit("src/items.py", "pen = 2", "pen = Item(2)")


class Causes(Story):
    """One agent, and all that changes files under it, each named for what it is."""

    said = "sightline up: a save, a formatter, a branch switch and another session, each named"
    seconds = 11

    def begins(self) -> None:
        super().begins()
        self.git("init", "-q", "-b", "main")
        self.commit("a shop")
        self.git("checkout", "-q", "-b", "discounts")
        self.save("src/items.py", "pen = 2\nink = 5\n")
        self.save("src/tax.py", TAX.replace("0.2", "0.19"))
        self.commit("discounts")
        self.git("checkout", "-q", "main")

    def steps(self) -> Iterator[Callable[[], None]]:
        yield from (self.reads, self.edits, self.formats, self.saves, self.switches, self.joins)

    def edits(self) -> None:
        self.agent.edit("src/cart.py", '{len(items)} items, {total(items)}"', '{total(items)}"')

    def formats(self) -> None:
        """What a formatter makes of it when it is saved."""
        text = (self.root / "src/cart.py").read_text()
        self.save("src/cart.py", text.replace('f"{total(items)}"', "f'{total(items)}'"))

    def saves(self) -> None:
        self.save("tests/test_cart.py", TEST.replace("== 2", "== pen.price"))

    def switches(self) -> None:
        self.git("checkout", "-q", "discounts")

    def joins(self) -> None:
        other = self.begin(OTHER)
        self.asks(other, "Prices of ink")
        other.read("src/items.py")
        other.edit("src/items.py", "ink = 5", "ink = 6")

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def git(self, *args: str) -> None:
        """Git as any user has it, but with times of ours, so that commits have the same names."""
        day = "2026-01-01T12:00:00Z"
        who = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": day}
        own = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
        env = os.environ | own | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "-C", self.root, *args], check=True, env=env)
