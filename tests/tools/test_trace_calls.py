"""Every count of tools/trace_calls.py, in a tiny package that is made up for it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tools.trace_calls import Call, Place, by_module, by_package, recording, travel

from tools import trace_calls

TOOL = Path(trace_calls.__file__)


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """Write a package `tiny`, import its `api.face`, and trace its function `go`."""

    def traced(**files):
        for name, text in files.items():
            path = name if name == "__init__" else name.replace("__", "/")
            file = tmp_path / "tiny" / f"{path}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path)
        with recording("tiny") as recorder:
            face = importlib.import_module("tiny.api.face")
            face.go()  # not active yet
            with recorder.active():
                face.go()
            face.go()
        for module in [name for name in sys.modules if name.partition(".")[0] == "tiny"]:
            del sys.modules[module]
        return recorder.calls

    return traced


def names(calls):
    return [f"{call.caller} -> {call.callee}" for call in calls]


def figures(calls, unit):
    far = travel(calls, unit)
    return len(far.crossings), far.touched, far.returns


def test_crossings_touched_modules_and_returns(calls):
    found = calls(
        api__face="""
            from tiny.core.low import low
            from tiny.core.other import other
            def own(): pass
            def go():
                own()
                low()
                low()
                other()
        """,
        core__low="def low(): pass",
        core__other="from tiny.core.low import low\ndef other(): low()",
    )
    assert names(found) == [
        "None -> api.face.go",
        "api.face.go -> api.face.own",
        "api.face.go -> core.low.low",
        "api.face.go -> core.low.low",
        "api.face.go -> core.other.other",
        "core.other.other -> core.low.low",
    ]
    assert figures(found, by_module) == (4, ["api.face", "core.low", "core.other"], 2)
    assert figures(found, by_package) == (3, ["api", "core"], 2)


def test_a_callback_returns_to_the_module_it_came_from(calls):
    found = calls(
        api__face="""
            from tiny.core.low import low
            def back(number): return number
            def go(): low(back)
        """,
        core__low="def low(back): list(map(back, [1, 2]))",
    )
    assert figures(found, by_module) == (3, ["api.face", "core.low"], 2)


def test_a_call_through_the_standard_library_has_its_caller(calls):
    found = calls(
        api__face="""
            import re
            from tiny.core.low import low
            def go(): re.sub("a", low, "aa")
        """,
        core__low="def low(match): return ''",
    )
    assert names(found)[1:] == ["api.face.go -> core.low.low"] * 2


def test_generators_constructors_and_bodies_are_no_calls_but_what_they_call_is(calls):
    found = calls(
        api__face="""
            from tiny.core.low import Value, coroutine, many
            def go():
                Value()
                list(many())
                try:
                    coroutine().send(None)
                except StopIteration:
                    pass
        """,
        core__low="""
            from tiny.base import note
            class Value:
                def __new__(cls):
                    note()
                    return super().__new__(cls)
                def __init__(self): note()
            def many():
                yield note()
                class Body:
                    note()
            async def coroutine(): note()
        """,
        base="def note(): pass",
    )
    assert names(found)[1:] == [
        "core.low.Value.__new__ -> base.note",
        "core.low.Value.__init__ -> base.note",
        "core.low.many -> base.note",
        "core.low.many.<locals>.Body -> base.note",
        "core.low.coroutine -> base.note",
    ]
    assert figures(found, by_module) == (5, ["api.face", "core.low", "base"], 4)


def test_calls_in_threads_are_counted_also_in_threads_that_began_before(calls):
    found = calls(
        api__face="""
            from _thread import start_new_thread
            from queue import SimpleQueue
            from threading import Thread
            from tiny.core.low import low
            work, done = SimpleQueue(), SimpleQueue()
            def serve(*, times):
                for _ in range(times):
                    done.put(work.get()())
            start_new_thread(serve, (), {"times": 3})
            def go():
                work.put(low)
                done.get(timeout=60)
                thread = Thread(target=low)
                thread.start()
                thread.join()
        """,
        core__low="def low(): pass",
    )
    assert names(found) == [
        "None -> api.face.go",
        "api.face.serve -> core.low.low",
        "None -> core.low.low",
    ]


def test_the_package_itself_and_those_that_begin_like_it(calls):
    found = calls(
        __init__="def top(): pass",
        api__face="""
            import tiny, sys
            def go():
                tiny.top()
                exec("def f(): pass\\nf()", {"__name__": "tinyother"})
        """,
    )
    assert names(found)[1:] == ["api.face.go -> (root).top"]


def place(name):
    module, _, function = name.rpartition(".")
    return Place(module, function)


def made(*pairs):
    return [Call(place(a) if a else None, place(b)) for a, b in pairs]


def test_a_list_shows_repeats_returns_and_the_pairs_crossed_most():
    back_and_forth = made(
        ("", "a.x.f"),
        ("a.x.f", "b.y.g"),
        ("a.x.f", "b.y.h"),
        ("a.x.f", "b.y.h"),
        ("a.x.f", "a.z.k"),
    )
    assert trace_calls.listed(back_and_forth, by_module) == [
        "   1   a.x.f -> b.y.g",
        "   2 < a.x.f -> b.y.h",
        "   1   a.x.f -> a.z.k",
        "",
        "Most crossed:",
        "   3   a.x -> b.y",
        "   1   a.x -> a.z",
    ]
    assert trace_calls.listed(back_and_forth, by_package)[-1] == "   3   a -> b"


def test_the_table_has_modules_and_packages():
    lines = trace_calls.table({"edit": made(("", "a.x.f"), ("a.x.f", "a.z.k"), ("a.z.k", "a.x.f"))})
    assert lines[1:] == ["| edit | modules | 2 | 2 | 1 |", "| edit | packages | 0 | 1 | 0 |"]


def run(*arguments):
    command = [sys.executable, TOOL, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def rows():
    """Give the rows of the table of sightline's own operations."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in run().splitlines()[2:]]


@pytest.mark.wide
def test_the_operations_of_sightline_are_traced(rows):
    assert [row[0] for row in rows[::2]] == list(trace_calls.OPERATIONS)
    for modules, packages in zip(rows[::2], rows[1::2], strict=True):
        crossings, touched, returns = map(int, modules[2:])
        assert crossings > touched > 10
        assert crossings > returns
        assert all(0 < int(p) < int(m) for m, p in zip(modules[2:], packages[2:], strict=True))


def test_a_list_sums_to_the_crossings_it_was_made_of():
    calls = made(*[("a.x.f", "b.y.g")] * 3, ("b.y.g", "a.x.f"), ("a.x.f", "b.y.g"))
    lines = trace_calls.listed(calls, by_module)
    listed, most = lines[: lines.index("")], lines[lines.index("Most crossed:") + 1 :]
    assert [sum(int(line.split()[0]) for line in part) for part in (listed, most)] == [5, 5]


@pytest.mark.wide
@pytest.mark.parametrize("name", trace_calls.OPERATIONS)
def test_an_operation_is_listed_call_by_call(name):
    listed, _, most = run("--list", name, "--packages").partition("\nMost crossed:\n")
    assert all(" -> " in line for line in [*listed.splitlines(), *most.splitlines()])
    assert most
