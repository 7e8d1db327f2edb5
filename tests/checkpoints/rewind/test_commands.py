"""Rewinding what a session did by commands: contents, rights, and files nobody had looked at."""

import pytest


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

    s._context.workspace.set_mode = dying
    with pytest.raises(Killed):
        s.rewind(then)
    del s._context.workspace.set_mode
    s.rewind(then)  # the session finishes the killed one first, and nothing is left to do
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


def test_what_a_command_changed_made_and_removed_goes_as_well(place, three):
    place.put("old.txt", "old\n")
    three.read("old.txt")
    then = three.checkpoint()
    with three.ran("sed -i s/one/made/ a.py; rm old.txt; head -c 2 /dev/zero > out.bin"):
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
    with s.ran("sed -i 's/before/after/;$a more' unread.py users.py"):
        place.put("unread.py", "after\nend\nthe user's\n")
        place.put("users.py", "the user's\nand the command's\n")
    s.rewind(then)
    assert place.text("unread.py") == "before\nend\nthe user's\n"
    assert place.text("users.py") == "the user's\n"


def test_without_a_checkpoint_of_it_such_a_file_is_left_alone(place, s):
    place.put("unread.py", "before\n")
    position = s._context.store.position()
    with s.ran("sed -i s/before/after/ unread.py"):
        place.put("unread.py", "after, and longer\n")
    report = s.rewind(position)
    assert place.text("unread.py") == "after, and longer\n"
    assert "no session had read it" in report.left_alone[0].reason


def test_a_change_that_another_session_may_have_made_meanwhile_stays(place, three):
    other = place.session("other")
    then = three.checkpoint()
    with three.ran("make"):
        place.put("a.py", "made\n")
        other.create("b.py", "b\n")
    report = three.rewind(then)
    assert place.text("a.py") == "made\n"
    assert place.text("b.py") == "b\n"
    assert report.left_alone[0].command == "make"


def test_a_removal_that_was_taken_back_is_not_taken_back_twice(place, s):
    place.put("unread.py", "before\n")
    then = s.checkpoint()
    with s.ran("rm unread.py"):
        (place.root / "unread.py").unlink()
    report = s.rewind(then)
    assert report.restored == ("unread.py",)
    assert s.rewind(then).safety_checkpoint is None
    assert place.text("unread.py") == "before\n"


def test_a_file_of_no_text_that_others_changed_is_left_alone(place, s):
    place.put("a.bin", b"\0one")
    then = s.checkpoint()
    with s.ran("truncate -s 8 a.bin"):
        place.put("a.bin", b"\0two and more")
    place.put("a.bin", b"\0three")
    report = s.rewind(then)
    assert place.bytes("a.bin") == b"\0three"
    assert "no text" in report.left_alone[0].reason


@pytest.mark.parametrize("first", ["new.txt", "a.py"])
def test_what_a_rewind_took_back_to_the_byte_stays_so_in_a_rewind_further_back(place, three, first):
    """new.txt and a.py are what a command probably made and changed; the user took that back."""
    begin = three.checkpoint("begin")
    three.edit("a.py", "one", "1")
    then = three.checkpoint("then")
    with three.ran("python3 script.py"):
        place.put(first, "by a script\n")
    three.rewind(then, commands=True)
    report = three.rewind(begin)
    assert report.left_alone == ()
    assert (place.text("a.py"), place.names()) == ("one\ntwo\nthree\n", ["a.py"])
    three.rewind(report.safety_checkpoint)
    assert (place.text("a.py"), place.names()) == ("1\ntwo\nthree\n", ["a.py"])


def test_what_a_rewind_left_alone_is_still_taken_back_by_the_next_with_commands(place, three):
    then = three.checkpoint("then")
    three.edit("a.py", "one", "1")
    with three.ran("python3 script.py"):
        place.put("new.txt", "by a script\n")
    assert [each.path for each in three.rewind(then).left_alone] == ["new.txt"]
    assert three.rewind(then, commands=True).removed == ("new.txt",)
