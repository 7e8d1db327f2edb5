"""What a program meets in its first hour with the library: paths, ranges, results, hints."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import re
import typing
from pathlib import Path

import pytest
from msgspec import Struct

import sightline
from sightline import Change, EditRefused, RewindRefused, UnknownName

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def abc(place):
    for name in ("a.py", "b.py", "c.py"):
        place.put(name, TEXT)
    return place.session()


# --- acknowledge


def test_no_notice_may_be_acknowledged(abc):
    abc.acknowledge(abc.notice())
    abc.read("a.py")
    abc.acknowledge(abc.edit("a.py", "one", "1").notice)
    asyncio.run(abc.aio.acknowledge(None))


# --- paths

WITH_A_PATH = {
    "read": lambda s, path: s.read(path),
    "saw": lambda s, path: s.saw(path),
    "dropped": lambda s, path: s.dropped(path),
    "believed": lambda s, path: s.believed(path),
    "check": lambda s, path: s.check(path),
    "edit": lambda s, path: s.edit(path, "one", "1"),
    "edit_lines": lambda s, path: s.edit_lines(path, 1, 1, "1"),
    "write": lambda s, path: s.write(path, "1\n"),
    "create": lambda s, path: s.create(path.with_name("new.py"), "1\n"),
    "delete": lambda s, path: s.delete(path),
    "move": lambda s, path: s.move(path, path.with_name("new.py")),
    "apply": lambda s, path: s.apply([Change(path, "1\n")]),
    "apply of a mapping": lambda s, path: s.apply([{"path": path, "content": "1\n"}]),
    "wrote": lambda s, path: s.wrote(path, content=TEXT),
    "writing": lambda s, path: s.writing(path, "1\n").__enter__(),
    "ran": lambda s, path: s.ran("true", cwd=path.parent).__enter__(),
    "rewind": lambda s, path: s.rewind(0, dry_run=True, force_paths=[path]),
    "rewind of one path": lambda s, path: s.rewind(0, dry_run=True, force_paths=path),
    "warn": lambda s, path: s.warn("look", path),
    "warn of several": lambda s, path: s.warn("look", [path, "b.py"]),
    "claim": lambda s, path: s.claim(path, ttl=5),
    "claim of several": lambda s, path: s.claim([path, "b.py"], ttl=5),
    "list_directory": lambda s, path: s.list_directory(path.parent),
    "related": lambda s, path: s.related(path),
    "hand_over": lambda s, path: s.hand_over(s.fork(), path),
    "hand_over of several": lambda s, path: s.hand_over(s.fork(), [path, "a.py"]),
    "conversation": lambda s, path: s.conversation.save(Path(s.workspace, "talk.json")),
}


@pytest.mark.parametrize("verb", WITH_A_PATH)
@pytest.mark.parametrize("absolute", [False, True])
def test_a_path_may_be_a_path_object(abc, place, verb, absolute):
    abc.read("a.py")
    WITH_A_PATH[verb](abc, place.root / "a.py" if absolute else Path("a.py"))


def test_an_answer_has_its_path_as_text(abc, place):
    path = place.root / "a.py"
    assert abc.read(path).path == abc.check(path).path == abc.edit(path, "one", "1").path == "a.py"
    with pytest.raises(EditRefused) as refused:
        abc.edit(path, "nowhere", "x")
    assert refused.value.path == "a.py"
    assert abc.warn("look", [path]).paths == abc.claim([path], ttl=9).paths == ("a.py",)


def test_the_timeline_takes_a_path_object(abc, place):
    abc.read("a.py")
    with sightline.open_workspace(place.root, settings=place.settings()) as workspace:
        assert workspace.timeline(Path("a.py")) == workspace.timeline("a.py") != []


@pytest.mark.parametrize("verb", ["read", "check", "edit", "write", "saw"])
def test_what_is_no_path_is_a_type_error(abc, verb):
    class Nothing:
        parent = None

    with pytest.raises(TypeError):
        WITH_A_PATH[verb](abc, Nothing())


# --- ranges of lines

NO_RANGES = [(5, 2), (0, 3), (-1, 2), (-3, -1), (0, 0)]
WITH_LINES = {
    "read": lambda s, lines: s.read("a.py", lines),
    "saw": lambda s, lines: s.saw("a.py", lines=lines),
    "dropped": lambda s, lines: s.dropped("a.py", lines=lines),
    "hand_over": lambda s, lines: s.hand_over(s.fork(), "a.py", lines=lines),
}


@pytest.mark.parametrize("lines", NO_RANGES)
@pytest.mark.parametrize("verb", WITH_LINES)
def test_what_is_no_range_of_lines_raises(abc, verb, lines):
    abc.read("a.py")
    with pytest.raises(ValueError, match=r"^lines are \(first, last\), counted from 1, not \("):
        WITH_LINES[verb](abc, lines)


@pytest.mark.parametrize("lines", [(0, 1), (-2, 1), (3, 1), (0, -1)])
def test_what_is_no_range_for_edit_lines_raises(abc, lines):
    abc.read("a.py")
    with pytest.raises(ValueError, match=r"^start and end are "):
        abc.edit_lines("a.py", *lines, "x\n")


@pytest.mark.parametrize("first", [4, 5, 10**6])
def test_a_range_beyond_the_end_raises(abc, first):
    with pytest.raises(sightline.LinesMissing) as missing:
        abc.read("a.py", (first, first + 1))
    error = missing.value
    assert isinstance(error, ValueError)
    assert (error.path, error.total_lines) == ("a.py", 3)
    assert error.message == f"a.py has 3 lines, and no line {first}."
    assert abc.files() == []


def test_a_range_that_reaches_beyond_the_end_is_cut_and_says_so(abc, place):
    place.put("empty.py", "")
    assert abc.read("a.py", (2, 10**6)).lines == (2, 3)
    assert abc.read("a.py", (1, 200)).lines == (1, 3)
    assert abc.read("empty.py", (1, 200)).lines == abc.read("empty.py").lines == (0, 0)
    with pytest.raises(sightline.LinesMissing):
        abc.read("empty.py", (2, 3))


def test_a_tool_may_have_shown_lines_that_are_gone_by_now(abc):
    abc.saw("a.py", lines=(2, 90))
    abc.saw("b.py", lines=(50, 90))
    abc.dropped("a.py", lines=(50, 90))
    assert abc.check("a.py").seen_lines == ((2, 3),)


# --- results

RESULTS = [
    kind
    for name in sightline.__all__
    if isinstance(kind := getattr(sightline, name), type) and issubclass(kind, Struct)
]


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_signature_and_help_of_a_result_show_its_fields(kind):
    assert list(inspect.signature(kind).parameters) == list(kind.__struct_fields__)
    shown = pydoc.plain(pydoc.render_doc(kind))
    fields = shown.partition("Method resolution order")[0]
    for name in kind.__struct_fields__:
        assert re.search(rf"\b{name}: ", fields), name


def test_an_enumerated_field_lists_its_words():
    hints = typing.get_type_hints(sightline.Verdict)
    assert typing.get_args(hints["state"]) == typing.get_args(sightline.State)
    assert typing.get_args(hints["decision"]) == ("allow", "notice", "merge", "ask", "refuse")
    assert hints["reason"] == sightline.VerdictReason | None
    assert "fresh" in str(inspect.signature(sightline.Verdict))
    for error, name in ((EditRefused, "RefusalReason"), (sightline.PathRefused, "PathReason")):
        assert typing.get_type_hints(error.__init__)["reason"] == getattr(sightline, name)


# --- an unchanged whole write


@pytest.mark.parametrize("is_read", [True, False])
def test_an_unchanged_whole_write_is_an_answer(abc, place, is_read):
    if is_read:
        abc.read("a.py")
    before = (place.root / "a.py").stat()
    result = abc.write("a.py", TEXT)
    assert (result.changed, result.merged, result.diff, result.notice) == (False, False, "", None)
    assert result.revision == abc.read("a.py").revision
    assert (place.root / "a.py").stat().st_mtime_ns == before.st_mtime_ns
    assert (abc.check("a.py").state, abc.check("a.py").complete) == ("fresh", True)
    assert abc.edit("a.py", "one", "1").changed


def test_an_unchanged_write_of_what_others_wrote_meanwhile_is_known(abc, place):
    abc.read("a.py")
    place.put("a.py", "theirs\n")
    assert not abc.write("a.py", "theirs\n").changed
    assert abc.check("a.py").state == "fresh"
    assert abc.changes() == []


def test_check_allows_an_unchanged_write(abc):
    abc.read("a.py")
    verdict = abc.check("a.py", content=TEXT)
    assert (verdict.decision, verdict.reason) == ("allow", "no_change")


def test_a_batch_may_hold_an_unchanged_write(abc, place):
    for name in ("a.py", "b.py"):
        abc.read(name)
    same = {"path": "a.py", "content": TEXT}
    both = abc.apply([same, {"path": "b.py", "content": "new\n"}])
    assert [(each.path, each.changed) for each in both.results] == [("a.py", False), ("b.py", True)]
    assert place.bytes("b.py") == b"new\n"
    assert [each.changed for each in abc.apply([same]).results] == [False]


def test_an_edit_that_changes_nothing_is_refused_still(abc):
    abc.read("a.py")
    with pytest.raises(EditRefused) as refused:
        abc.edit("a.py", "one", "one")
    assert refused.value.reason == "no_change"


def test_the_command_says_that_nothing_was_written(sl):
    sl.put("a.py", TEXT)
    said = sl("write", "a.py", stdin=TEXT)
    assert (said.code, said.out) == (0, "")
    assert said.err == "a.py has this text already: nothing was written.\n"
    told = sl("write", "a.py", "--json", stdin=TEXT)
    assert '"applied": true' in told.out
    assert '"changed": false' in told.out


# --- a rewind with nothing to do


def test_a_rewind_with_nothing_to_do_says_so(abc):
    abc.checkpoint("start")
    report = abc.rewind("start")
    assert (report.safety_checkpoint, report.changed) == (None, False)
    with pytest.raises(RewindRefused) as refused:
        abc.rewind(report.safety_checkpoint)
    assert refused.value.message == "A rewind needs a checkpoint, and got None."
    assert "had nothing to do takes no safety checkpoint" in refused.value.hint
    abc.read("a.py")
    abc.edit("a.py", "one", "1")
    assert abc.rewind("start", dry_run=True).changed
    assert abc.rewind("start").changed


# --- hints name library calls


def raised(call, kind):
    with pytest.raises(kind) as error:
        call()
    return error.value


HINTS = {
    "checkpoint": (lambda s: s.rewind("none"), UnknownName, "checkpoints()"),
    "position": (lambda s: s.rewind(10**9), RewindRefused, "checkpoints()"),
    "time": (lambda s: s.edited_since("never"), UnknownName, "timeline()"),
    "warning": (lambda s: s.acknowledge("w-000000000000"), UnknownName, ""),
    "notice": (lambda s: s.acknowledge("nothing"), UnknownName, "Ask for a new notice"),
    "session": (lambda s: s.hand_over("nobody"), sightline.SessionError, "sessions()"),
    "nothing held": (lambda s: s.hand_over(s.fork(), "c.py"), sightline.SessionError, "files()"),
}


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_of_the_library_names_calls_and_no_commands(abc, name):
    call, kind, wanted = HINTS[name]
    error = raised(lambda: call(abc), kind)
    assert wanted in error.hint
    assert "sightline " not in f"{error.hint} {error}"
    assert "--" not in error.hint


def test_a_rewind_of_anothers_checkpoint_names_the_call(abc, place):
    other = place.session(id="other").checkpoint("theirs")
    error = raised(lambda: abc.rewind(other), RewindRefused)
    assert error.hint == f"Rewind that session: open_session(id='other').rewind('{other.id}')"


def test_a_hint_of_the_command_line_names_a_command(sl):
    assert "List them: sightline checkpoint list" in sl("rewind", "none", "--yes").err
    assert "session." not in sl("rewind", "none", "--yes", "--json").out
