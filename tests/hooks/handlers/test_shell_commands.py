"""Shell commands of an agent: a real shell runs them in a real folder."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hooks.handlers.shell import facts, run, seen
from tests.support.examples import examples

from sightline.changes.command_texts import worded
from sightline.hooks.dispatch import attend
from sightline.hooks.handlers import shell_commands
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.events import Changed, CommandEnded, CommandStarted, SightLost
from sightline.model.hook_events import Answered, Attempted, CommandBegan, Wrote
from sightline.model.hook_events import CommandEnded as Over

TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def a(place):
    """A file that nobody was shown."""
    place.put("a.txt", TEN)
    return place


def causes(session, path):
    return [fact.cause.kind for fact in facts(session, Changed) if fact.path == path]


# What a command changed


def test_what_a_command_changed_is_its_own(place, ten):
    answer = run(place, ten, "sed -i 's/line 3/LINE 3/' a.py")
    assert causes(ten, "a.py") == ["command"]
    assert facts(ten, CommandEnded)[0].paths == ("a.py",)
    assert "by the command you ran: sed" in answer.context
    assert "+LINE 3" in answer.context
    assert ten.check("a.py").state == "stale", "its host has not said that it arrived"
    assert attend(ten, Answered()).context == "", "it was told once"
    assert ten.check("a.py").state == "fresh"


def test_of_two_commands_at_once_the_second_tells_its_own_change_alone(place, ten):
    first = run(place, ten, "sed -i 's/line 3/LINE 3/' a.py", call="c1").context
    assert "+LINE 3" in first
    second = run(place, ten, "sed -i 's/line 5/LINE 5/' a.py", call="c2").context
    assert "+LINE 5" in second
    assert "\n LINE 3" in second, "it was told as new"
    assert attend(ten, Answered()).context == ""
    assert ten.check("a.py").state == "fresh", "both count"


def test_lines_that_a_second_command_puts_back_are_told(place, ten):
    run(place, ten, "sed -i 's/line 3/LINE 3/; s/line 9/LINE 9/' a.py", call="c1")
    told = run(place, ten, "sed -i 's/LINE 3/line 3/; s/line 5/LINE 5/' a.py", call="c2").context
    assert "-LINE 3\n+line 3\n" in told
    assert "+LINE 5" in told
    assert "+LINE 9" not in told
    assert attend(ten, Answered()).context == ""
    assert ten.check("a.py").state == "fresh"


def test_an_edit_beside_a_change_that_a_command_told_prints_nothing_again(place, ten):
    place.put("b.py", TEN)
    ten.read("b.py")
    assert "+LINE 3" in run(place, ten, "sed -i 's/line 3/LINE 3/' a.py b.py").context
    path, text = str(place.root / "a.py"), place.text("a.py")
    attend(ten, Attempted.single(path, Replace("line 9", "LINE 9", 1), "c2"))
    place.put("a.py", text.replace("line 9", "LINE 9"))
    assert attend(ten, Wrote(path, "c2", text)).context == ""
    assert attend(ten, Answered()).context == ""
    assert ten.check("a.py").state == "fresh"


def test_what_changed_before_a_command_is_somebody_elses(place, ten):
    place.put("a.py", TEN.replace("line 3", "by the user"))
    assert "by the user or another program" in run(place, ten, "true").context
    assert causes(ten, "a.py") == ["external"]


def test_lines_of_others_that_go_with_a_removed_file_are_told(place, ten):
    place.put("a.py", TEN.replace("line 3", "by the user"))
    told = run(place, ten, "find . -name a.py -delete").context
    assert "had changed since you were shown it" in told
    assert "-line 3\n+by the user" in told


def test_a_removed_file_that_was_told_says_nothing(place, ten):
    place.put("a.py", TEN.replace("line 3", "by the user"))
    assert "+by the user" in attend(ten, Answered()).context
    assert run(place, ten, "rm a.py").context == ""


def test_a_change_in_lines_never_shown_is_recorded_and_not_told(place, s):
    place.put("a.txt", TEN)
    s.read("a.txt", lines=(1, 3))
    assert run(place, s, "sed -i 's/line 9/LINE 9/' a.txt").context == ""
    assert causes(s, "a.txt") == ["command"]


def test_files_it_made_and_files_nobody_had_heard_of_are_found(place, s):
    place.put("old.txt", "old\n")
    run(place, s, "echo new > new.txt; mkdir -p d; echo more >> old.txt; echo x > d/deep.txt")
    assert facts(s, CommandEnded)[0].paths == ("d/deep.txt", "new.txt", "old.txt")
    assert {fact.cause.kind for fact in facts(s, Changed)} == {"command"}


def test_ignored_files_are_not_looked_for(place, s):
    place.put(".gitignore", "build/\n")
    run(place, s, "mkdir build; echo x > build/out.txt; echo y > seen.txt")
    [ended] = facts(s, CommandEnded)
    assert "seen.txt" in ended.paths
    assert "build/out.txt" not in ended.paths


@pytest.fixture
def linked(a, s):
    """Two files, a symlink to one of them, and the checkpoint of how that stands."""
    a.put("b.txt", "b\n")
    (a.root / "link").symlink_to("a.txt")
    s.checkpoint("linked")
    return a


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("ln -s a.txt new", "new"),
        ("ln -sfn b.txt link", "link"),
        ("rm link", "link"),
        ("ln -sf a.txt b.txt", "b.txt"),
    ],
)
def test_symlinks_that_a_command_made_led_elsewhere_or_removed_are_its_own(
    linked, s, command, path
):
    stood = leads(linked)
    run(linked, s, command)
    assert leads(linked) != stood
    assert facts(s, CommandEnded)[0].paths == (path,)
    assert {(fact.path, fact.cause.kind) for fact in facts(s, Changed)} <= {(path, "command")}
    assert s.rewind("linked").left_alone == ()
    assert leads(linked) == stood
    assert (linked.text("a.txt"), linked.text("b.txt")) == (TEN, "b\n")


def test_a_file_in_the_place_of_a_symlink_goes_for_it(linked, s):
    run(linked, s, "rm link; echo new > link")
    assert [fact.path for fact in facts(s, Changed)] == ["link"]
    assert s.rewind("linked").restored == ("link",)
    assert leads(linked)["link"] == "a.txt"


def leads(place):
    """Where each symlink leads."""
    return {file.name: os.readlink(file) for file in place.root.iterdir() if file.is_symlink()}


def test_a_file_that_is_made_again_after_it_was_deleted_is_found_once(place, ten):
    run(place, ten, "rm a.py", call="c1")
    run(place, ten, "echo again > a.py", call="c2")
    assert [fact.change for fact in facts(ten, Changed)] == ["deleted", "created"]


def test_who_deletes_a_file_by_name_is_not_told_that_it_is_gone(place, ten):
    assert run(place, ten, "rm a.py").context == ""
    assert ten.check("a.py").state == "deleted"


def test_who_deletes_a_file_without_naming_it_is_told(place, ten):
    assert "a.py" in run(place, ten, "rm *.py").context


def test_a_background_command_is_named_as_one(place, s):
    run(place, s, "echo x > new.txt", background=True)
    [changed] = facts(s, Changed)
    assert "background" in (worded(s._context.store, changed.cause).detail or "")


def test_without_its_beginning_nothing_is_put_on_a_command(place, ten):
    place.put("a.py", TEN.replace("line 3", "x"))
    attend(ten, Over("make", "unheard", str(place.root)))
    assert causes(ten, "a.py") == ["external"]


def test_of_two_commands_at_once_the_second_does_not_blame_the_user(place, ten):
    cwd = str(place.root)
    attend(ten, CommandBegan("make", "one", cwd))
    place.put("a.py", TEN.replace("line 3", "x"))
    attend(ten, CommandBegan("ls", "two", cwd))
    attend(ten, Over("ls", "two", cwd))
    attend(ten, Over("make", "one", cwd))
    assert causes(ten, "a.py") == ["command"]
    assert len(facts(ten, CommandStarted)) == len(facts(ten, CommandEnded)) == 2


def test_a_tree_too_large_to_search_is_said_once(place, ten, monkeypatch):
    monkeypatch.setattr(shell_commands, "WALK_S", 0.0)
    for call in ("c1", "c2"):
        run(place, ten, "sed -i 's/line/LINE/' a.py; echo x > new.txt", call=call)
    assert len(facts(ten, SightLost)) == 1
    assert causes(ten, "a.py") == ["command"]  # what is known is looked at all the same


@pytest.mark.wide
def test_of_many_files_all_are_told_or_named_in_one_short_answer(place, s):
    for n in range(40):
        place.put(f"f{n:02}.txt", TEN)
        s.read(f"f{n:02}.txt")
    said = run(place, s, "sed -i s/line/LINE/ *.txt").context
    assert len(said) < 6_100
    assert "(40 files)" in said
    assert all(f"f{n:02}.txt" in said for n in range(40))


def test_a_file_that_another_agent_is_creating_is_not_the_commands(place, s):
    other = place.session("other")

    def create():
        attend(other, Attempted.single("new.txt", WriteWhole("n\n"), "w"))
        place.put("new.txt", "n\n")

    run(place, s, "true", during=create)
    attend(other, Wrote("new.txt", "w", content="n\n", whole=True))
    assert facts(s, Changed) == []
    assert causes(other, "new.txt") == ["agent"]


# What it showed


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("cat a.txt", ((1, 10),)),
        ("cat -n a.txt", ((1, 10),)),
        ("nl -ba a.txt", ((1, 10),)),
        ("head -n 3 a.txt", ((1, 3),)),
        ("head -3 a.txt", ((1, 3),)),
        ("head -n -3 a.txt", ((1, 7),)),
        ("tail -n 2 a.txt", ((9, 10),)),
        ("tail -n +8 a.txt", ((8, 10),)),
        ("sed -n '2,4p' a.txt", ((2, 4),)),
        ("sed -n '2,4p;8p' a.txt", ((2, 4), (8, 8))),
        ("sed -n '9,$p' a.txt", ((9, 10),)),
        ("sed -n -e 2p -e '$p' a.txt", ((2, 2), (10, 10))),
        ("sed 4q a.txt", ((1, 4),)),
        ("cat a.txt | head -5 | tail -2", ((4, 5),)),
        ("cat -n a.txt | sed -n '3,5p'", ((3, 5),)),
        ("cat < a.txt", ((1, 10),)),
        ("cat a.txt 2>/dev/null || true", ((1, 10),)),
        ("true && (cd . && cat 'a.txt')", ((1, 10),)),
        ('bash -lc "cat a.txt"', ((1, 10),)),
        ("cat a.txt | grep 'line [46]'", ((4, 4), (6, 6))),
        ("grep -n 'line [46]' a.txt", ((4, 4), (6, 6))),
        ("grep -Hn 'line 5' a.txt", ((5, 5),)),
        ("grep -rn -A1 'line 5' .", ((5, 6),)),
        ("awk 'NR>=2 && NR<=3' a.txt", ((2, 3),)),
        ("echo; make; cat a.txt", ((1, 10),)),
        ("cat a.txt > /dev/null", ()),
        ("cat a.txt | wc -l", ()),
        ("cat a.txt | sort -r", ()),
        ("cat missing.txt", ()),
        ("cat $PWD/a.txt", ((1, 10),)),
        ("ls", ()),
    ],
)
def test_the_lines_that_stand_in_the_output_are_seen(a, command, lines):
    session = a.session()
    run(a, session, command)
    assert seen(session, "a.txt") == lines


def test_a_host_may_tell_the_folder_that_a_command_led_to(place, s):
    """As the real client does: its shell stays where a command went."""
    place.put("sub/f.txt", TEN)
    command = "cd sub && head -2 f.txt && cat > g.txt <<< 'x = 1'"
    run(place, s, command, ends_in="sub")
    assert seen(s, "sub/f.txt") == ((1, 2),)
    assert s.check("sub/g.txt").complete


def test_a_cut_output_shows_what_is_left_of_it(a):
    session = a.session()
    run(a, session, "cat a.txt", cut=lambda out: out[:18] + "\n… cut …\n" + out[-16:])
    assert seen(session, "a.txt") == ((1, 2), (9, 10))


def test_an_output_that_was_kept_from_the_agent_shows_nothing(a):
    session = a.session()
    run(a, session, "cat a.txt", cut=lambda out: "")
    assert seen(session, "a.txt") == ()


def test_a_file_that_changed_while_it_was_printed_is_seen_as_far_as_it_is_the_same(a):
    session = a.session()
    new = TEN.replace("line 5", "by the user")
    run(a, session, "cat a.txt", during=lambda: a.put("a.txt", new))
    assert seen(session, "a.txt") == ((1, 4), (6, 10))


def test_who_prints_what_it_changed_knows_it(place, ten):
    assert run(place, ten, "sed -i 's/line 3/LINE 3/' a.py && cat a.py").context == ""
    assert ten.check("a.py").state == "fresh"


@pytest.mark.wide
@pytest.mark.parametrize(
    "name", ["x" * 5000, "a/" * 3000, "a\0b", "\udc80", "..", "/", "~", "a.txt/b"]
)
def test_a_word_that_is_no_path_shows_nothing(a, name):
    session, cwd = a.session(), str(a.root)
    for call, command in (("c1", f"cat '{name}'; cd .."), ("c2", f"rg -n x; echo x > '{name}'")):
        attend(session, CommandBegan(command, call, cwd))
        attend(session, Over(command, call, cwd, f"{name}:1:x\nline 1\n", 0))
    assert session.files() == []


def test_files_outside_and_binary_ones_are_left_out(place, s, tmp_path):
    (tmp_path / "out.txt").write_text(TEN)
    place.put("b.bin", b"\0\1\2\n")
    run(place, s, "cat ../out.txt b.bin")
    assert s.files() == []


@pytest.mark.parametrize(
    "command",
    [
        "cat > new.py <<'EOF'\nx = 1\nEOF",
        "cat <<EOF > new.py\nx = 1\ny = 2\nEOF",
        "cat > new.py <<-EOF\n\tx = 1\n\tEOF",
        "tee new.py <<'EOF'\nx = 1\nEOF",
        "tee new.py > /dev/null <<'EOF'\nx = 1\nEOF",
        "echo 'x = 1' > new.py",
        "echo -n 'x = 1' > new.py",
        "printf 'x = 1\\ny = 2\\n' > new.py",
        "printf '%s\\n' 'x = 1' 'y = 2' > new.py",
        "printf 'x = 1' > new.py && true",
        "python3 - <<'EOF'\nopen('new.py', 'w').write('''def long_enough():\n    pass\n''')\nEOF",
    ],
)
def test_a_file_whose_text_stands_in_the_command_is_known_whole(place, s, command):
    run(place, s, command)
    verdict = s.check("new.py")
    assert (verdict.state, verdict.complete) == ("fresh", True)
    assert s.files()[0].via == "command"


@pytest.mark.parametrize(
    "command", ["date > new.py", "echo $RANDOM > new.py", "cat > new.py <<EOF\n$PWD\nEOF"]
)
def test_a_file_whose_text_only_the_shell_knew_is_not_known(place, s, command):
    run(place, s, command)
    assert s.check("new.py").state == "unseen"


def test_lines_put_behind_a_file_are_known(a):
    session = a.session()
    run(a, session, "cat >> a.txt <<'EOF'\nline 11\nline 12\nEOF")
    assert seen(session, "a.txt") == ((11, 12),)


PIECES = st.one_of(
    st.just(("cat a.txt", lambda n: range(1, n + 1))),
    st.integers(1, 12).map(lambda k: (f"head -n {k} a.txt", lambda n: range(1, min(k, n) + 1))),
    st.integers(1, 12).map(
        lambda k: (f"tail -n {k} a.txt", lambda n: range(max(n - k, 0) + 1, n + 1))
    ),
    st.tuples(st.integers(1, 9), st.integers(0, 5)).map(
        lambda p: (
            f"sed -n '{p[0]},{p[0] + p[1]}p' a.txt",
            lambda n: range(p[0], min(p[0] + p[1], n) + 1),
        )
    ),
)
LINES = st.lists(st.text("ab }\t", max_size=3), min_size=1, max_size=9)


@pytest.mark.wide
@given(LINES, st.lists(PIECES, min_size=1, max_size=3), st.sampled_from(["; ", " && ", "\n"]))
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_pieces_of_a_file_print_is_exactly_what_is_seen(place, lines, pieces, between):
    place.put("a.txt", "".join(f"{line}\n" for line in lines))
    session = place.session(f"s{len(place.opened)}")
    run(place, session, between.join(command for command, _ in pieces))
    printed = {number for _, numbers in pieces for number in numbers(len(lines))}
    told = {n for first, last in seen(session, "a.txt") for n in range(first, last + 1)}
    assert told == printed
