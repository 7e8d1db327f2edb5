"""Count how often three operations cross from one module, or package, of sightline into another.

python tools/trace_calls.py [--list OPERATION [--packages]]

The operations are `edit` (session.edit on a file that was read), `hook` (the hooks before and after
one Edit of Claude Code, as the daemon answers them) and `rewind` (session.rewind of one file). Each
runs on a real store and a real folder, after a run on another file, so that imports and first-time
work are not counted.

What is counted:

- A call is the start of a Python function of sightline, in any thread. Generators and coroutines
  are left out, because Python reports each of their steps as a call. Constructors are left out,
  because those written in C cannot be seen, and a value should cost the same however it is
  written. Module and class bodies are left out. The calls that any of these make are counted.
- Its caller is the nearest function of sightline below it on the stack, so a callback through the
  standard library is a call, too. A call without such a caller enters from outside.
- A crossing is a call whose caller stands in another module.
- A module is touched when a call enters it, or crosses from it.
- A return is a crossing into a module that was touched before: control had left it, and comes
  back by a call. A function that ends returns to its caller, too; that is not counted.

On a busy machine the figures of a rewind may differ by a few: whether sightline reads a file again
depends on how long ago the file was written.

For packages the same is counted, where a package is the first part of a module's name below
sightline: sightline.store.sqlite belongs to `store`.
"""

from __future__ import annotations

import _thread
import argparse
import inspect
import json
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import CodeType, FrameType

PACKAGE = "sightline"

STEPWISE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of code that Python reports as called at each of its steps."""

CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}

FOREIGN = ("SIGHTLINE_", "XDG_", "CLAUDE_")
"""Variables of the user that would change what an operation does."""

BEFORE = "".join(f"value_{number} = compute({number})\n" for number in range(200))
OLD, NEW = "value_7 = compute(7)\n", "value_7 = compute(70)\n"
"""A file before the edit, and what the edit replaces."""


class Place(NamedTuple):
    """A function: its module, named below the package, and its own name."""

    module: str
    function: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"

    @property
    def package(self) -> str:
        """Return the first part of the module's name."""
        return self.module.partition(".")[0]


class Call(NamedTuple):
    """A call of a function. caller: None when the call comes from outside the package."""

    caller: Place | None
    callee: Place


class Crossing(NamedTuple):
    """A call from one unit (a module or a package) into another. is_return: touched before."""

    call: Call
    is_return: bool


class Travel(NamedTuple):
    """How far an operation travels among units: modules, or packages."""

    touched: list[str]
    crossings: list[Crossing]

    @property
    def returns(self) -> int:
        """Count the crossings into a unit that was touched before."""
        return sum(crossing.is_return for crossing in self.crossings)


def travel(calls: Iterable[Call], unit: Callable[[Place], str]) -> Travel:
    """Walk calls in their order. unit: the module or the package of a place."""
    touched: dict[str, None] = {}  # in the order of the first touch
    crossings: list[Crossing] = []
    for call in calls:
        there = unit(call.callee)
        here = None if call.caller is None else unit(call.caller)
        if here is not None and here != there:
            touched.setdefault(here)
            crossings.append(Crossing(call, there in touched))
        touched.setdefault(there)
    return Travel(list(touched), crossings)


def by_module(place: Place) -> str:
    """Return the module of a place."""
    return place.module


def by_package(place: Place) -> str:
    """Return the package of a place."""
    return place.package


# Record calls


class Recorder:
    """A profile function that notes every call of a package's functions while it is active."""

    def __init__(self, package: str) -> None:
        self.calls: list[Call] = []
        self.is_active = False
        self._package = package
        self._inside = f"{package}."

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if not self.is_active or event != "call" or not _is_counted(frame.f_code):
            return
        callee = self._place(frame)
        if callee is not None:
            self.calls.append(Call(self._caller(frame), callee))

    @contextmanager
    def active(self) -> Iterator[None]:
        """Note calls as long as the block runs."""
        self.is_active = True
        try:
            yield
        finally:
            self.is_active = False

    def _caller(self, frame: FrameType) -> Place | None:
        below = frame.f_back
        while below is not None:
            place = self._place(below)
            if place is not None:
                return place
            below = below.f_back
        return None

    def _place(self, frame: FrameType) -> Place | None:
        name = frame.f_globals.get("__name__", "")
        if name == self._package:
            return Place("(root)", frame.f_code.co_qualname)
        if not name.startswith(self._inside):
            return None
        return Place(name.removeprefix(self._inside), frame.f_code.co_qualname)


def _is_counted(code: CodeType) -> bool:
    """Whether code is a function's that runs in one go, and no constructor's."""
    is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
    return is_function and not code.co_flags & STEPWISE and code.co_name not in CONSTRUCTORS


@contextmanager
def recording(package: str) -> Iterator[Recorder]:
    """Give a recorder to this thread and to all threads that begin in the block.

    Threads that the package starts with _thread.start_new_thread are included only when the
    package is first imported in the block: `from _thread import start_new_thread` must find the
    replacement. Threads keep the recorder after the block; it is no longer active then.
    """
    recorder = Recorder(package)
    start = _thread.start_new_thread

    def start_recorded(function: Callable[..., object], args: Any, kwargs: Any = None) -> int:
        def run() -> None:
            sys.setprofile(recorder)
            function(*args, **(kwargs or {}))

        return start(run, ())

    _thread.start_new_thread = start_recorded
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        yield recorder
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        _thread.start_new_thread = start


# The operations


def trace_edit(recorder: Recorder, folder: Path) -> None:
    """Edit a file that this session has read and nobody has edited before."""
    import sightline

    with sightline.open_session(_workspace(folder)) as session:
        for name in ("warm.py", "fresh.py"):
            session.read(name)
            with _active_for(recorder, name):
                session.edit(name, old=OLD, new=NEW)


def trace_rewind(recorder: Recorder, folder: Path) -> None:
    """Take back the edit of one file, to a checkpoint that was taken just before it."""
    import sightline

    with sightline.open_session(_workspace(folder)) as session:
        for name in ("warm.py", "fresh.py"):
            session.read(name)
            checkpoint = session.checkpoint(name)
            session.edit(name, old=OLD, new=NEW)
            with _active_for(recorder, name):
                report = session.rewind(checkpoint)
            assert report.restored == (name,), report


def trace_hook(recorder: Recorder, folder: Path) -> None:
    """Judge one Edit of Claude Code before the host makes it, and record it afterwards."""
    root = _workspace(folder)
    with daemon(root, os.environ["HOME"]) as ask:
        ask(_payload(root, "SessionStart", source="startup"))
        ask(_payload(root, "UserPromptSubmit", prompt="Edit two files."))
        for name in ("warm.py", "fresh.py"):
            path = root / name
            file = {"filePath": str(path), "content": BEFORE, "startLine": 1}
            file |= {"numLines": 201, "totalLines": 201}
            response: dict[str, object] = {"type": "text", "file": file}
            ask(_used(root, "PostToolUse", "Read", {"file_path": str(path)}, response))
            edit = {"file_path": str(path), "old_string": OLD, "new_string": NEW}
            with _active_for(recorder, name):
                answer = ask(_used(root, "PreToolUse", "Edit", edit))
            assert b'"deny"' not in answer, answer
            path.write_text(BEFORE.replace(OLD, NEW))
            response = {"filePath": str(path), "oldString": OLD, "newString": NEW}
            response |= {"originalFile": BEFORE, "structuredPatch": [], "userModified": False}
            with _active_for(recorder, name):
                ask(_used(root, "PostToolUse", "Edit", edit, response | {"replaceAll": False}))


@contextmanager
def daemon(root: Path, home: str) -> Iterator[Callable[[bytes], bytes]]:
    """Run the process that answers hooks inside this one, and give a way to ask it.

    Only this function knows modules that are not public; adapt it when the daemon moves. It skips
    the pipe: a payload is handed to what the daemon does with it once it was read.
    """
    from sightline.hooks.protocol import PROTOCOL, own_settings, stamp
    from sightline.hooks.server import HookServer, Request

    settings, installation = own_settings(os.environ), stamp()
    server = HookServer(str(root), environ=dict(os.environ), home=home, kind="auto")

    def ask(raw: bytes) -> bytes:
        fields = ("claude-code", "", "", str(os.getpid()), str(root), settings, installation)
        call = server.accept(Request(PROTOCOL, *fields), raw)
        assert call is not None
        return server.answer(call)

    server.start()
    try:
        yield ask
    finally:
        server.stop()


OPERATIONS: dict[str, Callable[[Recorder, Path], None]] = {
    "edit": trace_edit,
    "hook": trace_hook,
    "rewind": trace_rewind,
}


@contextmanager
def _active_for(recorder: Recorder, name: str) -> Iterator[None]:
    """Record what happens to the fresh file, and nothing of the run that warms up."""
    if name != "fresh.py":
        yield
        return
    with recorder.active():
        yield


def _workspace(folder: Path) -> Path:
    root = folder / "project"
    root.mkdir()
    (root / "sightline.toml").write_text("")
    for name in ("warm.py", "fresh.py"):
        (root / name).write_text(BEFORE)
    return root


def _used(
    root: Path, event: str, tool: str, given: dict[str, str], response: object = None
) -> bytes:
    """Return what Claude Code gives a hook before or after the use of a tool."""
    told = {} if response is None else {"tool_response": response}
    return _payload(root, event, tool_name=tool, tool_use_id="t1", tool_input=given, **told)


def _payload(root: Path, event: str, **fields: object) -> bytes:
    common = {"session_id": "s1", "transcript_path": str(root.parent / "s1.jsonl")}
    common |= {"cwd": str(root), "hook_event_name": event}
    return json.dumps(common | fields).encode()


def traced(recorder: Recorder, name: str) -> list[Call]:
    """Run an operation in a throw-away home and return its calls."""
    recorder.calls = []
    with tempfile.TemporaryDirectory(prefix="sl-") as folder:
        home = Path(folder).resolve()
        os.environ["HOME"] = str(home)
        OPERATIONS[name](recorder, home)
    return recorder.calls


# The command

HEAD = """\
| operation | counted by | calls across | touched | returns |
|---|---|---|---|---|"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of all operations, or every crossing of one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", choices=OPERATIONS, help="print every crossing of an operation")
    parser.add_argument("--packages", action="store_true", help="list those between packages only")
    options = parser.parse_args(arguments)
    for variable in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[variable]
    with recording(PACKAGE) as recorder:
        if options.list:
            lines = listed(
                traced(recorder, options.list), by_package if options.packages else by_module
            )
        else:
            lines = table({name: traced(recorder, name) for name in OPERATIONS})
    for line in lines:
        print(line)
    return 0


def table(operations: Mapping[str, Iterable[Call]]) -> list[str]:
    """Return a Markdown table of how far operations travel."""
    lines = [HEAD]
    for name, calls in operations.items():
        for what, unit in (("modules", by_module), ("packages", by_package)):
            far = travel(calls, unit)
            figures = (len(far.crossings), len(far.touched), far.returns)
            lines.append(f"| {name} | {what} | " + " | ".join(map(str, figures)) + " |")
    return lines


def listed(calls: Iterable[Call], unit: Callable[[Place], str]) -> list[str]:
    """Return the crossings in their order, then the pairs of units that are crossed most.

    A crossing that repeats at once is one line with its number. "<" marks a return.
    """
    far = travel(calls, unit)
    lines = []
    for crossing, same in groupby(far.crossings):
        caller, callee = crossing.call
        mark = "<" if crossing.is_return else " "
        lines.append(f"{len(list(same)):4} {mark} {caller} -> {callee}")
    pairs = Counter(
        (unit(c.call.caller), unit(c.call.callee)) for c in far.crossings if c.call.caller
    )
    lines += ["", "Most crossed:"]
    lines += [f"{count:4}   {here} -> {there}" for (here, there), count in pairs.most_common(20)]
    return lines


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
    sys.exit(main())
