"""Rewinding files and knowledge: what this session did goes, and nobody else's work does."""

import pytest

import sightline
from sightline.core.events import RewindEnded, RewindStarted
from sightline.core.revision import revision_of
from sightline.errors import RewindRefused, UnknownName


@pytest.fixture
def three(place, s):
    """A file of three lines that the session was shown."""
    place.put("a.py", "one\ntwo\nthree\n")
    s.read("a.py")
    return s


def test_an_edit_goes(place, three):
    then = three.checkpoint("start")
    three.edit("a.py", "two", "2")
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert report.restored == ("a.py",)
    assert [each.path for each in report.lost_edits] == ["a.py"]
    assert report.left_alone == ()


def test_what_others_wrote_in_other_lines_stays(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    place.put("a.py", "ONE\n2\nthree\nfour\n")
    report = three.rewind(then)
    assert place.text("a.py") == "ONE\ntwo\nthree\nfour\n"
    assert report.merged == ("a.py",)


def test_lines_that_others_wrote_over_stay(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.edit("a.py", "three", "3")
    place.put("a.py", "one\n2\nTHREE\n")
    three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nTHREE\n"


def test_a_file_whose_lines_cannot_be_told_apart_is_left_alone(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two\nthree\n", "2\n3\n4\n5\n")
    place.put("a.py", "one\n2\n3 and more\n4\n5\n")
    [left] = three.rewind(then).left_alone
    assert place.text("a.py") == "one\n2\n3 and more\n4\n5\n"
    assert left.path == "a.py"
    assert "meet in line 3" in left.reason


def test_a_forced_path_gets_its_bytes_of_then(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two\nthree\n", "2\n3\n4\n5\n")
    place.put("a.py", "one\n2\n3 and more\n4\n5\n")
    report = three.rewind(then, force_paths=["a.py"])
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert report.left_alone == ()
    assert report.restored == ("a.py",)
    three.rewind(report.safety_checkpoint)
    assert place.text("a.py") == "one\n2\n3 and more\n4\n5\n"


def test_a_file_it_created_goes_and_one_it_deleted_comes_back(place, three):
    then = three.checkpoint()
    three.create("new/b.py", "b\n")
    three.delete("a.py")
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert not (place.root / "new/b.py").exists()
    assert (report.restored, report.removed) == (("a.py",), ("new/b.py",))


def test_a_created_file_that_others_wrote_in_stays(place, s):
    then = s.checkpoint()
    s.create("b.py", "b\n")
    place.put("b.py", "b\nand the user\n")
    report = s.rewind(then)
    assert place.text("b.py") == "b\nand the user\n"
    assert [each.path for each in report.left_alone] == ["b.py"]
    assert "this session created it" in report.left_alone[0].reason


def test_a_file_that_others_removed_does_not_come_back(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    (place.root / "a.py").unlink()
    report = three.rewind(then)
    assert not (place.root / "a.py").exists()
    assert "removed since" in report.left_alone[0].reason


def test_a_file_that_others_renamed_is_left_where_it_is_and_said(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    (place.root / "a.py").rename(place.root / "b.py")
    report = three.rewind(then)
    assert place.names() == ["b.py"]
    assert place.text("b.py") == "one\n2\nthree\n"
    assert "renamed to b.py since" in report.left_alone[0].reason


def test_nothing_is_put_over_a_file_that_stands_where_one_was_deleted(place, three):
    then = three.checkpoint()
    three.delete("a.py")
    place.put("a.py", "the user's\n")
    report = three.rewind(then)
    assert place.text("a.py") == "the user's\n"
    assert "another file stands there" in report.left_alone[0].reason


def mode_of(place, path):
    return (place.root / path).stat().st_mode & 0o7777


def test_a_file_that_comes_back_has_its_rights_again(place, s):
    place.put("run.sh", "run\n").chmod(0o755)
    s.read("run.sh")
    then = s.checkpoint()
    s.delete("run.sh")
    report = s.rewind(then)
    assert (place.text("run.sh"), mode_of(place, "run.sh")) == ("run\n", 0o755)
    s.rewind(report.safety_checkpoint)
    assert not (place.root / "run.sh").exists()


class Killed(BaseException):
    """The process ends here."""


def test_a_rewind_that_was_killed_before_the_rights_is_finished_by_the_next(place, s):
    place.put("run.sh", "run\n").chmod(0o755)
    s.read("run.sh")
    then = s.checkpoint()
    s.delete("run.sh")

    def dying(*_):
        raise Killed

    s._ground.workspace.set_mode = dying
    with pytest.raises(Killed):
        s.rewind(then)
    del s._ground.workspace.set_mode
    assert s.rewind(then).restored == ("run.sh",)
    assert mode_of(place, "run.sh") == 0o755


def test_rights_that_its_command_gave_are_taken_back_and_others_are_not(place, s):
    for name in ("a.sh", "b.sh"):
        place.put(name, "run\n").chmod(0o644)
        s.read(name)
    then = s.checkpoint()
    with s.ran("chmod +x a.sh b.sh"):
        (place.root / "a.sh").chmod(0o755)
        (place.root / "b.sh").chmod(0o755)
    (place.root / "b.sh").chmod(0o700)
    report = s.rewind(then)
    assert (mode_of(place, "a.sh"), mode_of(place, "b.sh")) == (0o644, 0o700)
    assert report.restored == ("a.sh",)
    s.rewind(report.safety_checkpoint)
    assert mode_of(place, "a.sh") == 0o755


def test_a_rename_is_undone_with_the_edits_before_and_after_it(place, three):
    then = three.checkpoint()
    three.edit("a.py", "one", "1")
    three.move("a.py", "b.py")
    three.edit("b.py", "two", "2")
    place.put("b.py", place.text("b.py") + "four\n")
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\nfour\n"
    assert not (place.root / "b.py").exists()
    assert report.moved == (("b.py", "a.py"),)


def test_a_rename_stays_where_something_stands_at_the_old_name(place, three):
    then = three.checkpoint()
    three.move("a.py", "b.py")
    place.put("a.py", "the user's\n")
    report = three.rewind(then)
    assert place.names() == ["a.py", "b.py"]
    assert place.text("a.py") == "the user's\n"
    assert {each.path for each in report.left_alone} == {"a.py", "b.py"}


def test_what_a_command_changed_made_and_removed_goes_as_well(place, three):
    place.put("old.txt", "old\n")
    three.read("old.txt")
    then = three.checkpoint()
    with three.ran("make"):
        place.put("a.py", "made\n")
        place.put("out.bin", b"\0\1")
        (place.root / "old.txt").unlink()
    three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert place.text("old.txt") == "old\n"
    assert not (place.root / "out.bin").exists()


def test_of_a_file_that_nobody_had_read_the_checkpoint_has_the_bytes(place, s):
    place.put("unread.py", "before\n")
    then = s.checkpoint()
    with s.ran("sed -i s/before/after/ unread.py"):
        place.put("unread.py", "after, and longer\n")
    s.rewind(then)
    assert place.text("unread.py") == "before\n"


def test_what_the_user_wrote_in_it_before_the_command_stays(place, s):
    place.put("unread.py", "before\nend\n")
    then = s.checkpoint()
    place.put("unread.py", "before\nend\nthe user's\n")
    place.put("users.py", "the user's\n")
    with s.ran("make"):
        place.put("unread.py", "after\nend\nthe user's\n")
        place.put("users.py", "the user's\nand the command's\n")
    s.rewind(then)
    assert place.text("unread.py") == "before\nend\nthe user's\n"
    assert place.text("users.py") == "the user's\n"


def test_without_a_checkpoint_of_it_such_a_file_is_left_alone(place, s):
    place.put("unread.py", "before\n")
    position = s._ground.store.position()
    with s.ran("sed -i s/before/after/ unread.py"):
        place.put("unread.py", "after, and longer\n")
    report = s.rewind(position)
    assert place.text("unread.py") == "after, and longer\n"
    assert "nobody had looked at it" in report.left_alone[0].reason


def test_a_change_that_another_session_may_have_made_meanwhile_stays(place, three):
    other = place.session("other")
    then = three.checkpoint()
    with three.ran("make"):
        place.put("a.py", "made\n")
        other.create("b.py", "b\n")
    report = three.rewind(then)
    assert place.text("a.py") == "made\n"
    assert place.text("b.py") == "b\n"
    assert "probably" in report.left_alone[0].reason


def test_a_second_sessions_work_stays(place, three):
    other = place.session("other")
    then = three.checkpoint()
    three.edit("a.py", "one", "1")
    other.read("a.py")
    other.edit("a.py", "three", "3")
    other.create("b.py", "b\n")
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\n3\n"
    assert place.text("b.py") == "b\n"
    assert report.merged == ("a.py",)


def test_a_sub_agents_changes_stand_and_are_named(place, three):
    then = three.checkpoint()
    child = sightline.open_session(
        place.root, id="child", parent=three.id, settings=place.settings()
    )
    place.opened.append(child)
    child.create("c.py", "c\n")
    report = three.rewind(then)
    assert place.text("c.py") == "c\n"
    assert report.stands == (("child", ("c.py",)),)


def test_a_rewind_is_rewound_and_that_again(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    three.move("b.py", "c.py")
    report = three.rewind(then)
    again = three.rewind(report.safety_checkpoint)
    assert place.text("a.py") == "one\n2\nthree\n"
    assert place.text("c.py") == "b\n"
    three.rewind(again.safety_checkpoint)
    assert place.names() == ["a.py"]
    assert place.text("a.py") == "one\ntwo\nthree\n"


def test_a_second_rewind_to_the_same_place_finds_nothing_to_do(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.move("a.py", "b.py")
    place.put("b.py", place.text("b.py") + "four\n")
    three.rewind(then)
    assert place.names() == ["a.py"]
    stood = three._ground.store.position()
    report = three.rewind(then)
    assert (report.restored, report.merged, report.moved) == ((), (), ())
    assert report.safety_checkpoint is None
    assert three._ground.store.position() == stood


def test_a_save_in_the_middle_is_planned_for_again(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    workspace = three._ground.workspace
    replace_if = workspace.replace_if

    def late(path, *arguments, **options):
        workspace.replace_if = replace_if
        place.put("a.py", "one\n2\nthree\nthe user's\n")
        return replace_if(path, *arguments, **options)

    workspace.replace_if = late
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\nthe user's\n"
    assert (report.merged, report.restored) == (("a.py",), ())
    assert three._ground.store.pending() == []


def test_a_program_that_saves_all_the_time_is_left_alone(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    workspace = three._ground.workspace
    replace_if = workspace.replace_if
    saved = []

    def late(path, *arguments, **options):
        if path == "a.py":
            saved.append(path)
            place.put("a.py", f"one\n2\nthree\nsaved {len(saved)}\n")
        return replace_if(path, *arguments, **options)

    workspace.replace_if = late
    report = three.rewind(then)
    workspace.replace_if = replace_if
    assert place.text("a.py") == f"one\n2\nthree\nsaved {len(saved)}\n"
    assert report.removed == ("b.py",)
    assert "kept saving it" in report.left_alone[0].reason


def test_a_dry_run_says_the_same_and_touches_nothing(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    stood = three._ground.store.position()
    planned = three.rewind(then, dry_run=True)
    assert three._ground.store.position() == stood
    assert place.text("a.py") == "one\n2\nthree\n"
    done = three.rewind(then)
    assert planned == done.replace(dry_run=True, safety_checkpoint=None)


def test_with_files_alone_the_agent_is_told_that_the_rewind_changed_them(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then)
    assert three.check("a.py").state == "stale"
    notice = three.notice()
    assert notice is not None
    assert "rewind to" in notice.text
    assert "+two" in notice.text


def test_with_the_conversation_it_knows_what_it_knew(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    place.put("b.py", "b\n")
    three.read("b.py")
    three.rewind(then, conversation=True)
    assert three.believed("a.py") == "one\ntwo\nthree\n"
    assert three.check("a.py").state == "fresh"
    assert three.believed("b.py") is None


def test_the_conversation_alone_leaves_files_and_sees_that_they_differ(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then, files=False, conversation=True)
    assert place.text("a.py") == "one\n2\nthree\n"
    assert three.believed("a.py") == "one\ntwo\nthree\n"
    assert three.check("a.py").state == "stale"


def test_a_rewind_begins_and_ends_on_the_timeline(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.rewind(then)
    kinds = [RewindStarted, RewindEnded]
    facts = [each.fact for each in three._ground.store.timeline(kinds=kinds)]
    assert facts[0] == RewindStarted(then.id, then.position)
    assert isinstance(facts[1], RewindEnded)


def test_what_is_gone_and_nobody_saw_going_is_listed_and_comes_back_when_forced(place, s):
    place.put("unread.py", "before\n")
    then = s.checkpoint()
    (place.root / "unread.py").unlink()
    [left] = s.rewind(then).left_alone
    assert "nobody saw who removed it" in left.reason
    report = s.rewind(then, force_paths=["unread.py"])
    assert place.text("unread.py") == "before\n"
    assert (report.restored, report.left_alone) == (("unread.py",), ())


def test_a_file_that_a_checkpoint_left_out_is_not_removed_by_force(place):
    s = place.session(checkpoint_file_bytes=1000)
    place.put("big.txt", "x" * 2000)
    place.put("small.txt", "x\n")
    then = s.checkpoint()
    s.create("new.txt", "new\n")
    with s.ran("make"):
        place.put("big.txt", "y" * 3000)
    with pytest.raises(RewindRefused, match="not kept"):
        s.rewind(then, force_paths=["big.txt"])
    assert len(place.text("big.txt")) == 3000
    s.rewind(then, force_paths=["new.txt"])
    assert place.names() == ["big.txt", "small.txt"]


def test_a_removal_that_was_taken_back_is_not_taken_back_twice(place, s):
    place.put("unread.py", "before\n")
    then = s.checkpoint()
    with s.ran("rm unread.py"):
        (place.root / "unread.py").unlink()
    report = s.rewind(then)
    assert report.restored == ("unread.py",)
    assert s.rewind(then).safety_checkpoint is None
    assert place.text("unread.py") == "before\n"


# --- bad input


def test_an_unknown_checkpoint_is_said_so(three):
    with pytest.raises(UnknownName):
        three.rewind("cp-none")


def test_a_position_that_is_not_there_is_refused(three):
    with pytest.raises(RewindRefused, match="positions 0 to"):
        three.rewind(10_000)
    with pytest.raises(RewindRefused, match="positions 0 to"):
        three.rewind(-1)


def test_another_sessions_checkpoint_is_refused_with_the_way_to_it(place, three):
    theirs = place.session("other").checkpoint()
    with pytest.raises(RewindRefused, match="session other") as refused:
        three.rewind(theirs)
    assert "--session other" in refused.value.hint


def test_neither_files_nor_conversation_is_refused(three):
    with pytest.raises(RewindRefused):
        three.rewind(three.checkpoint(), files=False)


def test_a_path_outside_cannot_be_forced(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    with pytest.raises(sightline.PathRefused):
        three.rewind(then, force_paths=["../outside.txt"])
    assert place.text("a.py") == "one\n2\nthree\n"


def test_a_file_whose_text_was_purged_is_left_alone_and_the_rest_goes(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    store = three._ground.store
    store.purge(lambda: [revision_of(b"one\ntwo\nthree\n")], "test", session=three.id, at=0)
    report = three.rewind(then)
    assert place.text("a.py") == "one\n2\nthree\n"
    assert report.removed == ("b.py",)
    assert "not kept" in report.left_alone[0].reason


def test_a_folder_or_a_link_where_the_file_stood_is_left_alone(place, three):
    place.put("b.py", "b\n")
    three.read("b.py")
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.edit("b.py", "b", "c")
    (place.root / "a.py").unlink()
    (place.root / "a.py").mkdir()
    (place.root / "b.py").unlink()
    (place.root / "b.py").symlink_to(place.home)
    report = three.rewind(then)
    assert (place.root / "a.py").is_dir()
    assert (place.root / "b.py").is_symlink()
    assert [each.path for each in report.left_alone] == ["a.py", "b.py"]


def test_a_folder_that_became_a_way_out_is_not_followed(place, three):
    place.put("src/b.py", "b\n")
    three.read("src/b.py")
    then = three.checkpoint()
    three.edit("src/b.py", "b", "c")
    outside = place.home / "outside"
    (place.root / "src").rename(outside)
    (place.root / "src").symlink_to(outside)
    report = three.rewind(then)
    assert (outside / "b.py").read_text() == "c\n"
    assert "elsewhere" in report.left_alone[0].reason


def test_line_ends_and_encodings_of_others_stay_as_they_are(place, s):
    place.put("a.txt", "eins\r\nzw\xe4i\r\ndrei\r\n".encode("latin-1"))
    s.read("a.txt")
    then = s.checkpoint()
    s.edit("a.txt", "eins", "1")
    place.put("a.txt", "1\r\nzw\xe4i\r\nvier\r\n".encode("latin-1"))
    s.rewind(then)
    assert place.bytes("a.txt") == "eins\r\nzw\xe4i\r\nvier\r\n".encode("latin-1")


def test_a_file_of_no_text_that_others_changed_is_left_alone(place, s):
    place.put("a.bin", b"\0one")
    then = s.checkpoint()
    with s.ran("make"):
        place.put("a.bin", b"\0two and more")
    place.put("a.bin", b"\0three")
    report = s.rewind(then)
    assert place.bytes("a.bin") == b"\0three"
    assert "no text" in report.left_alone[0].reason
