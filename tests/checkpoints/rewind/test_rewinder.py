"""Rewinding files: what this session did goes, and nobody else's work does."""

import pytest

import sightline
from sightline.model.revision import revision_of


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
    assert "overlap in line 3" in left.reason


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
    assert report.left_alone == ()
    assert "removed since" in report.gone[0].reason


def test_of_a_file_that_others_wrote_anew_nothing_is_left(place, three):
    then = three.checkpoint()
    three.create("b.py", "the agent's\n")
    three.create("c.py", "the agent's\n")
    place.put("b.py", "the user's\n")
    place.put("c.py", "the user's\nthe agent's\n")
    report = three.rewind(then)
    assert place.text("b.py") == "the user's\n"
    assert [each.path for each in report.gone] == ["b.py"]
    assert "put in its place by the user" in report.gone[0].reason
    assert [each.path for each in report.left_alone] == ["c.py"]


def test_what_was_made_after_others_had_removed_the_file_goes(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    (place.root / "a.py").unlink()
    three.create("a.py", "anew\n")
    report = three.rewind(then)
    assert not (place.root / "a.py").exists()
    assert (report.removed, report.left_alone, report.gone) == (("a.py",), (), ())


def test_a_file_that_this_session_removed_comes_not_back_onto_what_others_removed(place, three):
    then = three.checkpoint()
    three.delete("a.py")
    place.put("a.py", "the user's\n")
    three.read("a.py")
    three.edit("a.py", "user", "agent")
    (place.root / "a.py").unlink()
    report = three.rewind(then)
    assert not (place.root / "a.py").exists()
    assert [each.path for each in report.left_alone] == ["a.py"]


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


def test_a_rename_is_undone_with_the_edits_before_and_after_it(place, three):
    then = three.checkpoint()
    three.edit("a.py", "one", "1")
    three.move("a.py", "b.py")
    three.edit("b.py", "two", "2")
    place.put("b.py", place.text("b.py") + "four\n")
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\nfour\n"
    assert not (place.root / "b.py").exists()
    assert [(*each,) for each in report.moved] == [("b.py", "a.py")]


def test_a_rename_stays_where_something_stands_at_the_old_name(place, three):
    then = three.checkpoint()
    three.move("a.py", "b.py")
    place.put("a.py", "the user's\n")
    report = three.rewind(then)
    assert place.names() == ["a.py", "b.py"]
    assert place.text("a.py") == "the user's\n"
    assert {each.path for each in report.left_alone} == {"a.py", "b.py"}


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
    assert [(*each,) for each in report.stands] == [("child", ("c.py",))]


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


def test_a_save_in_the_middle_is_planned_for_again(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    workspace = three._context.workspace
    replace_each = workspace.replace_each

    def late(wanted):
        workspace.replace_each = replace_each
        place.put("a.py", "one\n2\nthree\nthe user's\n")
        return replace_each(wanted)

    workspace.replace_each = late
    report = three.rewind(then)
    assert place.text("a.py") == "one\ntwo\nthree\nthe user's\n"
    assert (report.merged, report.restored) == (("a.py",), ())
    assert three._context.store.pending() == []


@pytest.mark.parametrize("save", ["one\n2\nthree\nthe user's\n", "ONE\n2\nthree\n", None])
def test_what_is_done_while_the_safety_checkpoint_is_taken_is_planned_for(place, three, save):
    """The plan is made before that, and carried out behind it."""
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    workspace = three._context.workspace
    look = workspace.tree
    looks = []

    def late(*arguments, **options):
        looks.append(look(*arguments, **options))
        if len(looks) == 1:
            place.put("a.py", save) if save else (place.root / "a.py").unlink()
        return looks[-1]

    workspace.tree = late
    report = three.rewind(then)
    assert place.names() == (["a.py"] if save else [])
    assert not save or place.text("a.py") == save.replace("2", "two")
    assert report.merged == (("a.py",) if save else ())
    assert three._context.store.pending() == []


@pytest.mark.wide
def test_a_program_that_saves_all_the_time_is_left_alone(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    workspace = three._context.workspace
    replace_each = workspace.replace_each
    saved = []

    def late(wanted):
        if "a.py" in [each.path for each in wanted]:
            saved.append("a.py")
            place.put("a.py", f"one\n2\nthree\nsaved {len(saved)}\n")
        return replace_each(wanted)

    workspace.replace_each = late
    report = three.rewind(then)
    workspace.replace_each = replace_each
    assert place.text("a.py") == f"one\n2\nthree\nsaved {len(saved)}\n"
    assert report.removed == ("b.py",)
    assert "kept saving it" in report.left_alone[0].reason


def test_a_file_whose_text_was_purged_is_left_alone_and_the_rest_goes(place, three):
    then = three.checkpoint()
    three.edit("a.py", "two", "2")
    three.create("b.py", "b\n")
    store = three._context.store
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


def test_an_undo_is_of_this_session_alone_and_the_next_one_goes_further_back(place, three):
    other = place.session("other")
    three.turn()
    three.edit("a.py", "one", "1")
    three.edit("a.py", "two", "2")
    three.turn()
    three.edit("a.py", "three", "3")
    other.create("b.py", "b\n")
    plan = three.undo(dry_run=True)
    assert (plan.restored, place.text("a.py")) == (("a.py",), "1\n2\n3\n")
    three.undo()
    assert place.text("a.py") == "1\n2\nthree\n"
    report = three.undo()
    assert (place.text("a.py"), place.names()) == ("one\ntwo\nthree\n", ["a.py", "b.py"])
    with pytest.raises(sightline.RewindRefused, match="nothing to undo"):
        three.undo()
    three.rewind(report.safety_checkpoint)
    assert place.text("a.py") == "1\n2\nthree\n"


def test_an_undo_without_checkpoints_goes_to_the_position_before_the_turn(place):
    place.put("a.py", "one\n")
    s = place.session(checkpoints="off")
    s.read("a.py")
    s.turn()
    s.edit("a.py", "one", "1")
    s.rewind(s.checkpoint(), conversation=True, files=False)
    assert s.undo().checkpoint is None
    assert place.text("a.py") == "one\n"
