"""Files whose text is never stored are guarded as all others are: by the hashes of their lines."""

from __future__ import annotations

import os

import pytest
from tests.hooks.handlers.host import Host

import sightline
from sightline.history.as_of import AsOf
from sightline.history.why import why
from sightline.model.revision import revision_of

BASE = "[dev]\nhost = a\nport = 80\n\n[prod]\nhost = b\nport = 9000\n"
INSIDE = BASE.replace("port = 80", "port = 8080")
BESIDE = BASE.replace("host = b", "host = c")

FILES = {"secret": ".env", "all": "conf.ini", "stored": "other.ini"}
"""Named as a secret by default; all files of the workspace are; stored as other files are."""


@pytest.fixture(params=FILES)
def path(request, place):
    place.put(FILES[request.param], BASE)
    return FILES[request.param]


@pytest.fixture
def s(place, path):
    return place.session(source={"never_store": ("*",)} if path == "conf.ini" else {})


def test_an_edit_of_a_text_that_became_part_of_another_is_refused(place, s, path):
    s.read(path)
    place.put(path, INSIDE)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit(path, "port = 80", "port = 443")
    assert refused.value.reason == "stale"
    assert place.text(path) == INSIDE


@pytest.mark.parametrize("old", ["80", "rt = 80"])
def test_a_part_of_a_line_that_others_changed_is_refused(place, s, path, old):
    s.read(path)
    place.put(path, BASE.replace("port = 80", "port = 800"))
    with pytest.raises(sightline.EditRefused):
        s.edit(path, old, old.replace("80", "443"))
    assert place.text(path) == BASE.replace("port = 80", "port = 800")


def test_an_edit_beside_a_change_goes_through_and_tells_of_it(place, s, path):
    s.read(path)
    place.put(path, BESIDE)
    result = s.edit(path, "port = 80\n", "port = 443\n")
    assert place.text(path) == BESIDE.replace("port = 80", "port = 443")
    assert path in result.notice.text


def test_lines_by_number_go_to_where_they_stand_now(place, s, path):
    s.read(path)
    place.put(path, "# new\n" + BASE)
    s.edit_lines(path, 3, 3, "port = 443")
    assert place.text(path) == "# new\n" + BASE.replace("port = 80", "port = 443")
    place.put(path, place.text(path).replace("host = b", "host = c"))
    with pytest.raises(sightline.EditRefused):
        s.edit_lines(path, 6, 6, "host = d")


def test_a_whole_write_is_merged_with_a_change_elsewhere(place, s, path):
    s.read(path)
    place.put(path, BESIDE)
    result = s.write(path, BASE.replace("port = 80", "port = 443"))
    assert result.merged
    assert place.text(path) == BESIDE.replace("port = 80", "port = 443")


def test_a_whole_write_over_a_change_of_the_same_line_is_refused(place, s, path):
    s.read(path)
    place.put(path, INSIDE)
    with pytest.raises(sightline.EditRefused):
        s.write(path, BASE.replace("port = 80", "port = 443"))
    assert place.text(path) == INSIDE


def test_a_twin_of_a_line_that_was_rewritten_is_not_edited(place, s, path):
    place.put(path, BASE.replace("9000", "80  # prod"))
    s.read(path)
    now = INSIDE.replace("9000", "80")
    place.put(path, now)
    with pytest.raises(sightline.EditRefused):
        s.edit(path, "port = 80\n", "port = 443\n")
    assert place.text(path) == now


def test_a_look_at_other_lines_does_not_loosen_the_guard(place, s, path):
    s.read(path)
    place.put(path, INSIDE)
    view = s.read(path, lines=(5, 7))
    assert view.text == INSIDE[INSIDE.index("[prod]") :]
    assert (view.diff is not None) == (path == "other.ini")
    if path != "other.ini":  # where the text is stored, the view tells of the other change
        with pytest.raises(sightline.EditRefused):
            s.edit(path, "port = 80", "port = 443")
        assert place.text(path) == INSIDE


def test_an_own_edit_beside_a_change_leaves_the_change_unseen(place, s, path):
    s.read(path)
    place.put(path, INSIDE)
    s.edit(path, "host = b\n", "host = mine\n")
    with pytest.raises(sightline.EditRefused):
        s.edit(path, "port = 80", "port = 443")
    place.put(path, place.text(path).replace("8080", "80"))
    s.edit(path, "port = 80\n", "port = 443\n")
    assert place.text(path) == BASE.replace("80\n", "443\n").replace("host = b", "host = mine")


def test_a_refusal_prints_no_mark_and_a_new_look_lets_the_edit_through(place, s, path):
    s.read(path)
    place.put(path, INSIDE)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit(path, "port = 80", "port = 443")
    error = refused.value
    assert "'\"" not in error.message + error.hint + error.diff
    s.read(path)
    s.edit(path, "port = 8080", "port = 443")
    assert place.text(path) == BASE.replace("port = 80", "port = 443")


def test_a_change_is_told_once_and_without_a_mark(place, s, path):
    s.read(path)
    place.put(path, BESIDE)
    notice = s.notice()
    assert path in notice.text
    s.acknowledge(notice)
    assert s.notice() is None
    assert ":*" not in notice.text
    assert (s.believed(path) or "").count("host = c") == (path == "other.ini")


def test_a_text_of_an_older_store_is_read_again_before_an_edit(place, s, path):
    s.read(path)
    s._context.store.purge(lambda: [revision_of(BASE.encode())], "age", session=s.id, at=1)
    place.put(path, INSIDE)
    with pytest.raises(sightline.EditRefused) as refused:
        s.edit(path, "port = 80", "port = 443")
    assert refused.value.reason == "stale"
    assert place.text(path) == INSIDE


def test_a_hook_refuses_as_the_library_does(place, s, path):
    host = Host(place)
    host.session = s
    host.read(path)
    place.put(path, INSIDE)
    asked, _ = host.edit(path, "port = 80", "port = 443")
    assert asked.refuse is not None
    assert place.text(path) == INSIDE


def test_a_hook_merges_a_whole_write_with_a_change_elsewhere(place):
    place.put(".env", BASE)
    host = Host(place)
    host.read(".env")
    place.put(".env", BESIDE)
    host.write(".env", BASE.replace("port = 80", "port = 443"))
    assert place.text(".env") == BESIDE.replace("port = 80", "port = 443")


def saved_while_the_host_asks(place, s, path, theirs):
    host = Host(place)
    host.session = s
    host.read(path)
    mine = BASE.replace("port = 80", "port = 443")
    _, said = host.write(path, mine, between=lambda: place.put(path, theirs))
    return said, host.batch_ends()


def test_a_save_that_a_hosts_write_went_over_is_merged_back(place, s, path):
    said, behind = saved_while_the_host_asks(place, s, path, BESIDE)
    assert place.text(path) == BESIDE.replace("port = 80", "port = 443")
    told = said.context + behind.context
    assert path in told
    assert "the user or another program" in told
    assert ("+host = c" in told) is (path == "other.ini")
    assert "merged both" in said.tell
    assert s._context.store.pending() == []
    # Of a file that may not be stored the agent was told that it changed, and not what.
    assert s.check(path).state == ("fresh" if path == "other.ini" else "stale")


def test_a_save_of_the_same_line_that_a_hosts_write_went_over_is_told_without_its_text(
    place, s, path
):
    said, _ = saved_while_the_host_asks(place, s, path, INSIDE)
    assert place.text(path) == BASE.replace("port = 80", "port = 443")
    is_stored = path == "other.ini"
    assert ("8080" in said.context) is is_stored
    assert "the user or another program" in said.context
    assert path in said.tell
    assert ("sightline rewind" in said.tell) is is_stored


def test_an_edit_within_a_line_that_was_saved_meanwhile_is_told(place, s, path):
    host = Host(place)
    host.session = s
    host.read(path)
    _, said = host.edit(path, "port = 80", "port = 443", between=lambda: place.put(path, INSIDE))
    assert place.text(path) == INSIDE.replace("port = 80", "port = 443", 1)
    assert said.context
    assert ("-port = 80\n" in said.context) is (path == "other.ini")


@pytest.mark.parametrize("seen", [(1, 3), (1, 7)])
@pytest.mark.parametrize("theirs", [BASE, INSIDE, BESIDE], ids=["unchanged", "inside", "beside"])
def test_the_past_of_a_file_is_judged_as_its_present_was(place, s, path, seen, theirs):
    s.read(path, seen)
    place.put(path, theirs)
    state = s.check(path).state
    s.changes()
    place.session("other").read(path)  # the change is on record
    [file] = AsOf(s._context.store, s._context.store.position()).files("s")
    assert file.state == state
    place.put(path, "later\n")
    assert s.check(path).state == "stale"
    [again] = AsOf(s._context.store, s._context.store.position()).files("s")
    assert again.state in (state, "stale")


@pytest.mark.parametrize("name", [".env", "conf.ini"])
def test_the_command_refuses_as_the_library_does(sl, name):
    sl.put("sightline.toml", 'never_store = ["*"]\n' if name != ".env" else "")
    sl.put(name, BASE)
    assert sl("read", name).code == 0
    sl.put(name, INSIDE)
    assert sl("edit", name, "--old", "port = 80", "--new", "port = 443").code == 1
    assert (sl.root / name).read_text() == INSIDE


def test_no_file_of_the_store_has_a_line_of_a_secret(place):
    s = place.session()
    text = "TOKEN=hunter2\nMODE=dev\n\nHOST=hunter-a\n"
    place.put(".env", text)
    s.read(".env")
    s.read(".env", lines=(1, 2))
    place.put(".env", text.replace("hunter-a", "hunter-b"))
    s.edit(".env", "MODE=dev\n", "MODE=hunter-c\n")
    with pytest.raises(sightline.EditRefused):
        s.edit_lines(".env", 4, 4, "HOST=hunter-d")
    s.write(".env", text.replace("MODE=dev", "MODE=hunter-c").replace("hunter2", "hunter3"))
    assert "hunter-b" in place.text(".env")
    s.notice()
    s.close()
    files = [file for file in (place.home / "state").rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert b"hunter" not in file.read_bytes(), file.name
        assert file.stat().st_mode & 0o077 == 0, file.name


def test_a_refused_edit_of_a_secret_is_explained_without_its_text(place):
    s = place.session()
    place.put(".env", BASE)
    s.read(".env")
    place.put(".env", INSIDE)
    verdict = s.check(".env")
    assert (verdict.state, verdict.diff) == ("stale", "")
    explained = why(s._context, ".env")
    assert explained.differing == ((3, 3),)
    assert not explained.kept


def test_a_rewind_names_each_file_that_it_leaves_alone(place):
    s = place.session(source={"never_store": ("*",)})
    for name in ("changed.ini", "gone.ini", "back.ini"):
        place.put(name, BASE)
        s.read(name)
    start = s._context.store.position()
    s.edit("changed.ini", "host = a", "host = z")
    s.delete("gone.ini")
    s.create("new.ini", "new\n")
    s.create("came-and-went.ini", "went\n")
    (place.root / "came-and-went.ini").unlink()
    s.edit("back.ini", "host = a", "host = z")
    place.put("back.ini", BASE)
    for report in (s.rewind(start, dry_run=True), s.rewind(start)):
        assert [each.path for each in report.left_alone] == ["changed.ini", "gone.ini", "new.ini"]
        assert all("never stored" in each.reason for each in report.left_alone)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_rewind_names_a_new_file_that_is_no_file_any_more(place):
    s = place.session()
    s.create("new.ini", BASE)
    (place.root / "new.ini").unlink()
    os.mkfifo(place.root / "new.ini")
    [left] = s.rewind(0).left_alone
    assert left.path == "new.ini"
