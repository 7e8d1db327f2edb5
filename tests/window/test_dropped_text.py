"""What leaves the window, the guard no longer takes for held; what still stands there, it does."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from sightline.model.events import Dropped
from sightline.window.folding import Rules

EAGER = Rules("eager", soft=1, keep=2, share=0, least=5)
LINES = [f"value_{n} = {n}\n" for n in range(1, 61)]


def numbered(text, first=1):
    return "\n".join(f"{n:6}→{line}" for n, line in enumerate(text.splitlines(), first))


class Host:
    """A program whose agent reads and edits through the session, and is told through messages."""

    def __init__(self, session):
        self.session = session
        self.calls = 0
        session.conversation.append({"role": "user", "content": "go on"})

    def _called(self, tool, given, result):
        self.calls += 1
        name = f"c{self.calls}"
        say = self.session.conversation.append
        used = {"type": "tool_use", "id": name, "name": tool, "input": given}
        say({"role": "assistant", "content": [used]})
        told = {"type": "tool_result", "tool_use_id": name, "content": result}
        say({"role": "user", "content": [told]})

    def read(self, path, lines=None):
        view = self.session.read(path, lines)
        where = {} if lines is None else {"offset": lines[0], "limit": lines[1] - lines[0] + 1}
        self._called("Read", {"file_path": path, **where}, numbered(view.text, view.lines[0]))
        return view

    def edit(self, path, old, new):
        self.session.edit(path, old, new)
        given = {"file_path": path, "old_string": old, "new_string": new}
        self._called("Edit", given, "The file was updated.")

    def runs(self, times=3):
        for n in range(times):
            self._called("Bash", {"command": f"make {n}"}, "ok\n" * 30)

    def view(self, **more):
        return json.dumps(self.session.conversation.view(policy=EAGER, price="none", **more))


@pytest.fixture
def host(place, s):
    place.put("a.py", "".join(LINES))
    place.put("b.py", "".join(LINES))
    return Host(s)


def dropped(session):
    facts = [each.fact for each in session._context.store.timeline(kinds=[Dropped])]
    return [(fact.path, fact.lines) for fact in facts]


def test_a_read_that_was_folded_is_not_said_to_be_unchanged(host, s):
    host.read("a.py")
    assert s.read("a.py").unchanged
    host.runs()
    assert "all of it" in host.view()
    assert dropped(s) == [("a.py", ((1, 60),))]
    assert not s.read("a.py").unchanged


def test_lines_that_a_later_read_shows_are_still_held(host, s):
    host.read("a.py")
    host.runs()
    host.read("a.py", (21, 30))
    host.runs(1)
    host.view()
    assert dropped(s) == [("a.py", ((1, 20), (31, 60)))]
    assert s.read("a.py", (21, 30)).unchanged
    assert not s.read("a.py", (20, 30)).unchanged


def test_lines_stand_where_an_own_edit_moved_them(host, s):
    host.read("a.py")
    host.runs()
    host.edit("a.py", "value_1 = 1\n", "zero = 0\nvalue_1 = 1\n")
    host.read("a.py", (40, 50))
    host.view()
    [(path, lines)] = dropped(s)
    assert path == "a.py"
    assert all(first > 50 or last < 40 for first, last in lines)
    assert s.read("a.py", (40, 50)).unchanged


def test_a_file_of_equal_lines_is_not_held_by_another_part_of_it(place, s):
    place.put("same.py", "x = 1\n" * 60)
    host = Host(s)
    host.read("same.py")
    host.runs()
    host.read("same.py", (41, 50))
    host.runs(1)
    host.view()
    assert dropped(s) == [("same.py", ((1, 40), (51, 60)))]


@pytest.mark.wide
def test_a_file_that_was_not_folded_is_left_alone(host, s):
    host.read("a.py")
    host.runs()
    host.read("b.py")
    host.runs(1)
    host.view()
    assert [path for path, _ in dropped(s)] == ["a.py"]
    assert s.read("b.py").unchanged


def test_a_file_out_of_the_workspace_drops_nothing(place, host, s):
    host._called("Read", {"file_path": "/etc/hosts"}, numbered("127.0.0.1 localhost\n" * 30))
    host.runs()
    assert "/etc/hosts" in host.view()
    assert dropped(s) == []


def test_a_decision_is_on_record_with_what_it_drops_before_the_view_is_answered(host, place, s):
    host.read("a.py")
    host.runs()
    seen = host.view()
    other = place.session("s")
    assert not other.read("a.py").unchanged
    assert json.dumps(other.conversation.view(policy=EAGER, price="none")) == seen


def test_a_rewind_gives_back_what_was_folded_since(host, s):
    host.read("a.py")
    before = s.conversation.display()[-1].id
    host.runs()
    host.view()
    assert not s.files()[0].in_window
    s.conversation.rewind(before)
    assert s.files()[0].in_window
    assert "removed to save context" not in json.dumps(s.conversation.view(100_000))


def test_what_is_folded_is_expanded_without_the_disk(place, host, s):
    host.read("a.py")
    host.runs()
    name = host.view().partition("expand ")[2].partition("]")[0]
    place.put("a.py", "other\n")
    assert s.conversation.expand(name) == numbered("".join(LINES))


def test_a_current_view_at_the_tail_holds_its_lines(host, s):
    """The policy with views folds the old read and puts the text as it is now behind."""
    views = structs.replace(EAGER, share=1)
    host.read("a.py")
    host.edit("a.py", "value_30 = 30", "value_30 = 'thirty'")
    host.read("a.py", (29, 31))
    host.runs(8)
    view = json.dumps(s.conversation.view(policy=views, price="none"))
    assert "What Read showed of a.py (all of it)" in view
    assert "with your edits until step" in view
    assert dropped(s) == []
    assert s.read("a.py").unchanged
