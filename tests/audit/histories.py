"""Small conversations as blocks, made by hand or by Hypothesis. A token is a word."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from sightline.audit.policies import Setting
from sightline.audit.record import Record, build_record
from sightline.messages.blocks import Block, Excerpt, Rewrite

MINUTE = 60 * 1_000_000


def count(text: str) -> int:
    return len(text.split())


SETTING = Setting(count, window=2_000, prefix=0)


class Talk:
    """A conversation that is told one message after the other. Times: a minute for each."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.times: list[int] = []
        self._step = 0
        self._calls = 0

    def typed(self, text: str) -> Talk:
        self._message()
        self._block("user", text, fixed=True)
        return self

    def said(self, text: str) -> Talk:
        self._step += 1
        self._message()
        self._block("text", text)
        return self

    def read(self, path: str, text: str, first: int = 1, total: int | None = None) -> Talk:
        excerpt = Excerpt(path, first, text, total)
        numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(text.split("\n"), first))
        return self.called(
            "Read", "read", {"file_path": path}, numbered, paths=(path,), excerpts=(excerpt,)
        )

    def edit(self, path: str, old: str, new: str, *, error: bool = False) -> Talk:
        given = {"file_path": path, "old_string": old, "new_string": new}
        rewrite = Rewrite(path, old, new)
        return self.called(
            "Edit", "edit", given, "done", paths=(path,), rewrites=(rewrite,), error=error
        )

    def ran(self, command: str, output: str) -> Talk:
        return self.called("Bash", "run", {"command": command}, output)

    def planned(self, text: str) -> Talk:
        return self.called("TodoWrite", "plan", {"todos": text}, "kept")

    def called(self, tool, deed, given, output, excerpts=(), rewrites=(), **named) -> Talk:
        self._step += 1
        self._calls += 1
        call = f"c{self._calls}"
        error = named.pop("error", False)
        told = {"call": call, "tool": tool, "deed": deed, **named}
        self._message()
        self._block("call", json.dumps(given), rewrites=rewrites, **told)
        self._message()
        self._block("result", output, excerpts=excerpts, error=error, **told)
        return self

    def after(self, minutes: int) -> Talk:
        """So long passes before the next message."""
        self.times[-1] += (minutes - 1) * MINUTE
        return self

    def _message(self) -> None:
        self.times.append((self.times[-1] if self.times else 0) + MINUTE)

    def _block(self, kind, text, **named) -> None:
        place = len(self.times) - 1
        self.blocks.append(Block(place, 0, kind, text, count(text), self._step, **named))

    def record(self) -> Record:
        return build_record(self.blocks, self.times)


def words(number: int, word: str = "w") -> str:
    return " ".join(f"{word}{at}" for at in range(number))


FILES = ("a.py", "b.py")
LINES = ["alpha one", "beta two", "gamma three", "delta four", "epsilon five"]


@st.composite
def talks(draw) -> Talk:
    """Some reading, editing, running and talking, with texts that repeat each other."""
    talk = Talk().typed("please do this").said("yes")
    for _ in range(draw(st.integers(1, 12))):
        path = draw(st.sampled_from(FILES))
        line = draw(st.sampled_from(LINES))
        what = draw(st.sampled_from(["read", "edit", "run", "type", "say", "plan"]))
        size = draw(st.integers(1, 60))
        if what == "read":
            talk.read(path, "\n".join([words(size), line]), draw(st.integers(1, 3)))
        elif what == "edit":
            talk.edit(path, line, f"{line} more", error=draw(st.booleans()))
        elif what == "run":
            talk.ran(f"grep {line}", words(size, line[:2]))
        elif what == "type":
            talk.typed(f"and {line}")
        elif what == "say":
            talk.said(words(size))
        else:
            talk.planned(line)
    return talk
