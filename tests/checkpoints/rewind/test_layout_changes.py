"""A rewind takes a formatter's work along only where a formatter was seen at work."""

from tests.support.places import TEN

from sightline.changes.attribution import after_write

UGLY = TEN.replace("line 3\n", "f( 1,2 )\n")
NEAT = TEN.replace("line 3\n", "f(1, 2)\n")
INDENTED = TEN.replace("line 3\n", "f( 1,2 )\n").replace("line 8\n", "    line 8\n")


def test_a_users_indentation_after_an_edit_stays(place, ten):
    then = ten.checkpoint()
    ten.edit("a.py", "line 3", "f( 1,2 )")
    place.put("a.py", INDENTED)
    ten.check("a.py")
    report = ten.rewind(then)
    assert place.text("a.py") == TEN.replace("line 8\n", "    line 8\n")
    [left] = report.left_alone
    assert (left.path, left.probable, left.command) == ("a.py", True, None)
    assert "may be the user's" in left.reason


def test_a_users_indentation_of_the_edited_lines_stays_and_so_does_the_edit(place, ten):
    then = ten.checkpoint()
    ten.edit("a.py", "line 3", "f( 1,2 )")
    place.put("a.py", NEAT)
    ten.check("a.py")
    report = ten.rewind(then)
    assert place.text("a.py") == NEAT
    assert [left.probable for left in report.left_alone] == [True]
    assert ten.rewind(then, force_paths=["a.py"]).restored == ("a.py",)
    assert place.text("a.py") == TEN


def test_a_new_file_that_was_laid_out_anew_stays(place, s):
    then = s.checkpoint()
    s.create("b.py", UGLY)
    place.put("b.py", NEAT)
    s.check("b.py")
    assert [left.path for left in s.rewind(then).left_alone] == ["b.py"]
    assert place.text("b.py") == NEAT
    s.rewind(then, commands=True)
    assert not (place.root / "b.py").exists()


def test_a_formatter_that_was_seen_at_work_is_taken_back(place, ten):
    """It ran between a host's write and the report of the write."""
    then = ten.checkpoint()
    with ten.writing("a.py", UGLY):
        place.put("a.py", NEAT)
    assert ten.rewind(then).left_alone == ()
    assert place.text("a.py") == TEN


def test_a_formatter_behind_a_hosts_own_tool_is_taken_back(place, ten):
    then = ten.checkpoint()
    place.put("a.py", NEAT)
    ten.wrote("a.py", content=UGLY, before=TEN)
    assert ten.rewind(then).left_alone == ()
    assert place.text("a.py") == TEN


def test_the_evidence_of_a_formatter_is_on_record(place, ten):
    ten.edit("a.py", "line 3", "f( 1,2 )")
    place.put("a.py", NEAT)
    ten.check("a.py")
    newest = [*ten._context.store.timeline(path="a.py")][-1].fact
    assert (newest.cause.kind, newest.cause.evidence) == ("formatter", "guess")
    seen = after_write(ten._context, UGLY.encode(), NEAT.encode())
    assert (seen.kind, seen.evidence) == ("formatter", "watched")


def test_the_printed_rewind_says_that_it_may_be_yours(at):
    (at.root / "a.py").write_text(TEN)
    at("read", "a.py")
    at("checkpoint", "before")
    at("edit", "a.py", "--old", "line 3", "--new", "f( 1,2 )")
    (at.root / "a.py").write_text(NEAT)
    at("status")
    at("check", "a.py")
    told = at("rewind", "before", "--dry-run").out
    assert "only the layout changed after your agent's edit; may be yours:\n  a.py: " in told
    assert "--force-path" in told
