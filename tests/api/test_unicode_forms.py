"""A name that exists in one Unicode form is that file in every other form, wherever a path comes in.

macOS, and archives made there, store names decomposed; models and editors send them composed.
"""

from __future__ import annotations

import os

import pytest

from sightline.errors import EditRefused, FileMissing, PathRefused

STORED = "re\u0301sume\u0301s/cafe\u0301.py"
SENT = "r\u00e9sum\u00e9s/caf\u00e9.py"
TEXT = "one\ntwo\n"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows finds names of any form by itself")


@pytest.fixture
def session(place):
    place.put(STORED, TEXT)
    place.put("other.py", TEXT)
    return place.session("s")


def entries(place):
    return sorted(
        os.path.relpath(os.path.join(folder, name), place.root)
        for folder, _, names in os.walk(place.root)
        for name in names
    )


def test_it_is_read_checked_and_found(session, place):
    view = session.read(SENT)
    assert (view.path, view.text) == (STORED, TEXT)
    assert session.check(SENT).state == "fresh"
    for asked in (SENT, "caf\u00e9.py", "**/caf\u00e9.*", "r\u00e9sum\u00e9s/*.py"):
        assert session.find(asked).matches == (STORED,), asked
    listed = session.list_directory("r\u00e9sum\u00e9s").entries
    assert [entry.path for entry in listed] == [STORED]


@pytest.mark.parametrize(
    "edit",
    [
        lambda session: session.edit(SENT, "one", "1"),
        lambda session: session.edit_lines(SENT, 1, 1, "1\n"),
        lambda session: session.write(SENT, "1\ntwo\n"),
        lambda session: session.patch(
            f"--- a/{SENT}\n+++ b/{SENT}\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
        ),
        lambda session: session.apply([{"path": SENT, "content": "1\ntwo\n"}]),
    ],
    ids=["edit", "edit_lines", "write", "patch", "apply"],
)
def test_every_edit_goes_to_the_file_that_stands_there(session, place, edit):
    session.read(SENT)
    edit(session)
    assert (place.root / STORED).read_text() == "1\ntwo\n"
    assert entries(place) == sorted([STORED, "other.py"])


def test_no_twin_is_made_beside_it(session, place):
    with pytest.raises(EditRefused) as refused:
        session.create(SENT, "new\n")
    assert refused.value.reason == "exists"
    with pytest.raises(EditRefused) as refused:
        session.move("other.py", SENT)
    assert refused.value.reason == "exists"
    session.create("r\u00e9sum\u00e9s/new.py", "new\n")
    assert entries(place) == sorted([STORED, "re\u0301sume\u0301s/new.py", "other.py"])


def test_claims_warnings_and_rewinds_mean_the_same_file(session, place):
    before = session.checkpoint("before")
    session.read(SENT)
    session.edit(SENT, "one", "1")
    claim = session.claim([SENT], ttl=60)
    assert claim.paths == (STORED,)
    place.put(STORED, "1\nTWO\n")
    report = session.rewind(before, force_paths=[SENT])
    assert (place.root / STORED).read_text() == TEXT, report
    session.read(SENT)
    session.delete(SENT)
    assert entries(place) == ["other.py"]


def test_twins_are_two_files_and_a_third_form_is_neither(session, place):
    """Ångström has three forms: two of them exist here, so the third is a file of its own."""
    place.put("\u212b.txt", "sign\n")
    place.put("A\u030a.txt", "decomposed\n")
    assert session.read("\u212b.txt").text == "sign\n"
    assert session.read("A\u030a.txt").text == "decomposed\n"
    with pytest.raises(FileMissing):
        session.read("\u00c5.txt")


def test_a_composed_name_on_disk_answers_to_the_decomposed_one(session, place):
    place.put("na\u00efve.md", TEXT)
    assert session.read("nai\u0308ve.md").path == "na\u00efve.md"


def test_an_equivalent_of_a_closed_file_is_closed(session, place):
    place.put(".sightlineignore", f"/{STORED}\n")
    with pytest.raises(PathRefused):
        session.read(SENT)
