"""A batch whose later file cannot be written: the files before it are put back."""

from __future__ import annotations

import pytest

from sightline.errors import EditRefused, Unverifiable
from sightline.model.events import Changed, WriteAbandoned, WriteIntended

NAMES = ("a.py", "b.py", "c.py")
OLD = "".join(f"line {number}\n" for number in range(1, 11))
CHANGES = [{"path": name, "edits": [("line 3", "mine", 1)]} for name in NAMES]


@pytest.fixture
def three_files(place, s):
    for name in NAMES:
        place.put(name, OLD)
        s.read(name)
    return s


def interrupt(session, monkeypatch, act):
    """Call `act` the first time that b.py is about to be replaced; return its answer if it has one."""
    workspace = session._context.workspace
    replace_each = workspace.replace_each
    calls = []

    def replace(wanted):
        calls.append(wanted[0].path)
        answer = act() if wanted[0].path == "b.py" and calls.count("b.py") == 1 else None
        return replace_each(wanted) if answer is None else [answer]

    monkeypatch.setattr(workspace, "replace_each", replace)
    return calls


def test_a_save_before_the_second_file_is_kept_and_the_batch_is_judged_again(
    place, three_files, monkeypatch
):
    saved = OLD.replace("line 9", "theirs")
    calls = interrupt(three_files, monkeypatch, lambda: place.put("b.py", saved) and None)
    results = three_files.apply(CHANGES).results
    assert [result.path for result in results] == [*NAMES]
    assert place.text("a.py") == OLD.replace("line 3", "mine")
    assert place.text("b.py") == saved.replace("line 3", "mine")
    # a.py was written, put back when b.py failed, and written again; c.py was written once.
    assert calls == ["a.py", "b.py", "a.py", "a.py", "b.py", "c.py"]


def test_a_disk_that_refuses_the_second_file_leaves_all_as_they_were(
    place, three_files, monkeypatch
):
    refusal = Unverifiable("b.py", "b.py cannot be written.", "Mend the disk.")
    calls = interrupt(three_files, monkeypatch, lambda: refusal)
    with pytest.raises(EditRefused, match=r"b\.py cannot be written") as refused:
        three_files.apply(CHANGES)
    assert (refused.value.reason, refused.value.path) == ("unverifiable", "b.py")
    assert [place.text(name) for name in NAMES] == [OLD] * 3
    assert calls == ["a.py", "b.py", "a.py"]
    store = three_files._context.store
    assert store.pending() == []
    assert [three_files.check(name).state for name in NAMES] == ["fresh"] * 3


def test_a_batch_is_one_append_of_intents_and_one_of_ends(three_files):
    three_files.apply(CHANGES)
    kinds = [WriteIntended, Changed, WriteAbandoned]
    facts = [entry.fact for entry in three_files._context.store.timeline(kinds=kinds)]
    assert [type(fact) for fact in facts] == [WriteIntended] * 3 + [Changed] * 3
    assert [fact.path for fact in facts] == [*NAMES, *NAMES]


def test_a_new_protected_file_is_refused_as_protected(s):
    outcome = s.answer('{"fileChanges": [{"path": "sightline.toml", "content": "x"}]}')
    [change] = outcome.changes
    assert change.state == "refused"
    assert "sightline.toml is protected" in str(outcome)
