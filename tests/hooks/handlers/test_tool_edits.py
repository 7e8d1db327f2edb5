"""A host's edits: judged before its tool runs, compared after. The host is played here: it writes
the file itself, exactly as it was let."""

import subprocess

import pytest
from tests.hooks.handlers.host import Host

import sightline
from sightline.agents.product import Limits
from sightline.filesystem.system_calls import Calls
from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.events import Changed, Merged, Moved, NoticeDelivered, Refused, WriteIntended
from sightline.model.hook_events import (
    Answer,
    Answered,
    Began,
    CommandBegan,
    CommandEnded,
    Failed,
    Prompted,
    Wrote,
)
from sightline.model.revision import revision_of

LINES = [f"line {n}\n" for n in range(1, 41)]
TEXT = "".join(LINES)


@pytest.fixture
def host(place):
    place.put("a.txt", TEXT)
    return Host(place)


def user(host, number, text, path="a.txt"):
    lines = host.place.text(path).splitlines(keepends=True)
    host.place.put(path, "".join([*lines[: number - 1], text, *lines[number:]]))


def test_an_edit_of_what_was_shown_goes_through_without_a_word(host):
    host.read("a.txt")
    asked, done = host.edit("a.txt", "line 5\n", "LINE 5\n")
    assert (asked.refuse, asked.ask, asked.contents, asked.context) == (None, None, {}, "")
    assert done.context == ""
    assert host.state("a.txt") == "fresh"
    (changed,) = host.facts(Changed)
    assert changed.cause.kind == "agent"
    assert host.session._context.store.pending() == []


def test_an_edit_of_changed_lines_is_refused_with_what_stands_there(host):
    host.read("a.txt")
    user(host, 5, "line five by the user\n")
    asked, _ = host.edit("a.txt", "line 4\nline 5", "x")
    assert "line five by the user" in asked.refuse
    assert "-line 5" in asked.refuse
    assert host.facts(Refused)[0].reason == "stale"
    assert not host.facts(WriteIntended)


def test_calls_of_one_batch_print_a_diff_once_and_it_counts(host):
    host.read("a.txt")
    user(host, 5, "line five by the user\n")
    _, first = host.edit("a.txt", "line 20\n", "LINE 20\n")
    _, second = host.edit("a.txt", "line 30\n", "LINE 30\n")
    assert "+line five by the user" in first.context
    assert second.context == ""
    refused, _ = host.edit("a.txt", "line 4\nline 5", "x")
    assert "+line five by the user" not in refused.refuse
    assert "earlier call" in refused.refuse
    assert host.batch_ends().context == ""
    assert host.state("a.txt") == "fresh"


def test_a_change_that_comes_again_is_printed_again(host):
    """The same lines, but by a second change: nobody told the agent of the way back."""
    host.read("a.txt")
    user(host, 5, "line five by the user\n")
    host.edit("a.txt", "line 20\n", "LINE 20\n")
    user(host, 5, "line 5\n")
    host.edit("a.txt", "line 30\n", "LINE 30\n")
    user(host, 5, "line five by the user\n")
    _, third = host.edit("a.txt", "line 35\n", "LINE 35\n")
    assert "+line five by the user" in third.context


def test_what_a_refusal_said_counts_when_it_has_arrived(host):
    host.read("a.txt")
    user(host, 5, "line five by the user\n")
    host.edit("a.txt", "line 5\n", "x\n")
    assert host.state("a.txt") == "stale"  # other calls of the batch know nothing of the refusal
    host.batch_ends()
    assert host.state("a.txt") == "fresh"
    asked, _ = host.edit("a.txt", "line five by the user\n", "x\n")
    assert (asked.refuse, asked.context) == (None, "")


@pytest.mark.parametrize("policy", ["merge", "refresh"])
def test_what_was_left_out_of_a_long_answer_does_not_count_as_shown(place, policy):
    place.put("sightline.toml", f'policy = "{policy}"\n')
    old = [f"{n} of the old\n" for n in range(1_000)]
    place.put("a.txt", "".join(old))
    host = Host(place)
    host.read("a.txt")
    place.put("a.txt", "".join(f"{n} of the user\n" for n in range(1_000)))
    asked, _ = host.write("a.txt", "".join(["agent\n", *old[1:]]))
    assert len(asked.refuse) < Limits().context
    assert "read a.txt" in asked.refuse
    host.batch_ends()
    assert host.state("a.txt") == "stale"
    assert host.write("a.txt", "".join(["again\n", *old[1:]]))[0].refuse is not None
    host.read("a.txt")
    assert host.write("a.txt", "all new\n")[0].refuse is None


def test_of_a_long_change_beside_an_edit_only_what_was_told_counts(host):
    host.place.put("a.txt", "mine\n" + "".join(f"{n} of the old\n" for n in range(1_000)))
    host.read("a.txt")
    host.place.put("a.txt", "mine\n" + "".join(f"{n} of the user\n" for n in range(1_000)))
    _, done = host.edit("a.txt", "mine\n", "mine!\n")
    assert len(done.context) < Limits().context
    host.batch_ends()
    assert host.state("a.txt") == "stale"


def test_an_edit_elsewhere_goes_through_and_tells_of_the_change_once(host):
    host.read("a.txt")
    user(host, 30, "thirty by the user\n")
    asked, done = host.edit("a.txt", "line 5\n", "LINE 5\n")
    assert asked.refuse is None
    assert "thirty by the user" in done.context
    host.batch_ends()
    assert host.state("a.txt") == "fresh"
    assert host.edit("a.txt", "line 6\n", "LINE 6\n")[1].context == ""
    assert "thirty by the user" in host.place.text("a.txt")


def test_a_notice_of_the_same_batch_waves_nothing_through(host):
    host.read("a.txt")
    user(host, 30, "thirty by the user\n")
    host.edit("a.txt", "line 5\n", "LINE 5\n")
    asked, _ = host.write("a.txt", TEXT.replace("line 30\n", "thirty by the agent\n"))
    assert asked.refuse is not None
    assert "thirty by the user" in host.place.text("a.txt")


def test_a_whole_file_write_over_a_change_elsewhere_is_merged(host):
    host.read("a.txt")
    user(host, 30, "thirty by the user\n")
    asked, done = host.write("a.txt", TEXT.replace("line 5\n", "LINE 5\n"))
    assert asked.contents
    assert "LINE 5\n" in host.place.text("a.txt")
    assert "thirty by the user\n" in host.place.text("a.txt")
    assert "thirty by the user" in done.context
    assert len(host.facts(Merged)) == 1
    host.batch_ends()
    assert host.state("a.txt") == "fresh"


def test_a_whole_file_write_over_the_same_line_is_refused_with_only_that_hunk(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    user(host, 30, "thirty by the user\n")
    asked, _ = host.write("a.txt", TEXT.replace("line 5\n", "five by the agent\n"))
    assert "five by the user" in asked.refuse
    assert "thirty by the user" not in asked.refuse


def test_a_write_over_a_file_never_read_is_refused(host):
    asked, _ = host.write("a.txt", "all new\n")
    assert "never shown" in asked.refuse
    assert host.place.text("a.txt") == TEXT


def test_a_new_file_is_written_and_known(host):
    asked, done = host.write("new.txt", "new\n")
    assert (asked.refuse, done.context) == (None, "")
    assert host.state("new.txt") == "fresh"
    assert host.write("new.txt", "newer\n")[0].refuse is None


def test_a_save_between_check_and_write_is_kept_beside_it(host):
    host.read("a.txt")
    _, done = host.write(
        "a.txt",
        TEXT.replace("line 5\n", "LINE 5\n"),
        between=lambda: user(host, 30, "thirty by the user\n"),
    )
    assert "+thirty by the user" in done.context
    assert "thirty by the user" in host.place.text("a.txt")
    external = [fact for fact in host.facts(Changed) if fact.cause.kind == "external"]
    kept = host.session._context.store.blob(external[0].after)
    assert b"thirty by the user\n" in kept


def test_a_file_that_somebody_made_between_check_and_write_is_told_as_lost(host):
    _, done = host.write(
        "new.txt", "by the agent\n", between=lambda: host.place.put("new.txt", "by the user\n")
    )
    assert "+by the user" in done.context
    assert "replaced that change" in done.context


def test_another_agents_write_is_told_as_lost_though_the_host_tells_no_text_before(host, place):
    """Of a large file Claude Code does not tell what it wrote over."""
    other = Host(place, "other")
    host.read("a.txt")
    other.read("a.txt")
    host.ask("a.txt", WriteWhole(TEXT + "by the one\n"))
    other.write("a.txt", TEXT + "by the other\n")
    place.put("a.txt", TEXT + "by the one\n")
    done = Wrote("a.txt", "c1", known_before=False, content=TEXT + "by the one\n", whole=True)
    assert "+by the other" in attend(host.session, done).context


def test_a_save_between_check_and_edit_stands_and_is_told(host):
    host.read("a.txt")
    _, done = host.edit(
        "a.txt",
        "line 5\n",
        "LINE 5\n",
        between=lambda: user(host, 30, "thirty by the user\n"),
    )
    assert "lost" not in done.context
    assert "thirty by the user" in done.context
    assert host.session._context.store.pending() == []


def test_a_write_that_is_told_twice_is_recorded_once(host):
    """Hooks can stand in the user's settings and in the project's."""
    host.read("a.txt")
    new = TEXT.replace("line 5\n", "LINE 5\n")
    for _ in range(2):
        assert host.ask("a.txt", Replace("line 5\n", "LINE 5\n")).refuse is None
    host.place.put("a.txt", new)
    for _ in range(2):
        assert attend(host.session, Wrote("a.txt", "c1", TEXT, content=new)).context == ""
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["agent"]
    assert host.state("a.txt") == "fresh"
    assert host.session._context.store.pending() == []


def test_a_write_is_told_again_after_any_number_of_others(host):
    host.read("a.txt")
    before = host.place.text("a.txt")
    host.edit("a.txt", "line 1\n", "one\n")
    first = host.place.text("a.txt")
    for number in range(2, 8):
        host.edit("a.txt", f"line {number}\n", f"number {number}\n")
    recorded = host.facts(Changed)
    assert attend(host.session, Wrote("a.txt", "c1", before, content=first)).context == ""
    assert host.facts(Changed) == recorded
    assert [fact.call for fact in recorded] == [f"c{number}" for number in range(1, 8)]
    assert host.state("a.txt") == "fresh"


@pytest.mark.parametrize("new", [TEXT, TEXT.replace("line 9\n", "nine\n")])
def test_a_write_that_brings_nothing_new_takes_no_change_of_others_away(host, new):
    """Merged with them it is what stands there; the host would write it as it is."""
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    user(host, 9, "nine\n")
    asked, _ = host.write("a.txt", new)
    assert "+five by the user" in asked.refuse
    host.batch_ends()
    assert host.write("a.txt", new + "more\n")[0].refuse is None


def test_a_save_before_a_write_of_what_stood_there_is_kept(host):
    host.read("a.txt")
    _, done = host.write("a.txt", TEXT, between=lambda: user(host, 5, "five by the user\n"))
    assert "+five by the user" in done.context
    assert "five by the user" in host.place.text("a.txt")


def test_an_edit_beside_a_line_just_deleted_has_lost_nothing(host):
    host.read("a.txt")
    _, done = host.edit("a.txt", "line 5\n", "LINE 5\n", between=lambda: user(host, 4, ""))
    assert "lost" not in done.context
    assert "-line 4" in done.context


def test_what_a_merge_put_in_is_no_more_known_for_a_save_in_between(host):
    host.read("a.txt")
    user(host, 6, "six by the user\n")
    new = TEXT.replace("line 5\n", "LINE 5\n")
    host.write("a.txt", new, between=lambda: user(host, 6, "six anew\n"))
    assert "six anew" in host.place.text("a.txt")
    assert host.state("a.txt") == "stale"
    host.write("a.txt", new.replace("line 30\n", "LINE 30\n"))
    assert "six anew" in host.place.text("a.txt")


def test_an_edit_the_host_gave_up_leaves_nothing_pending(host):
    host.read("a.txt")
    host.ask("a.txt", Replace("line 5\n", "x\n"))
    assert host.session._context.store.pending() != []
    attend(host.session, Failed("a.txt", "c1", why="The user said no."))
    assert host.session._context.store.pending() == []
    assert host.state("a.txt") == "fresh"


def test_an_edit_the_user_did_not_permit_leaves_nothing_pending(host):
    host.read("a.txt")
    host.ask("a.txt", Replace("line 5\n", "x\n"))
    host.batch_ends()
    assert host.session._context.store.pending() == []
    assert host.state("a.txt") == "fresh"


def test_a_write_whose_second_hook_never_came_is_recorded_by_its_content(host):
    host.read("a.txt")
    host.ask("a.txt", Replace("line 5\n", "x\n"))
    user(host, 5, "x\n")  # the host wrote, and died before it said so
    host.batch_ends()
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["agent"]
    assert host.state("a.txt") == "fresh"


def test_an_edit_the_host_turned_down_itself_is_explained(host):
    host.read("a.txt")
    user(host, 5, "line  5 by the user\n")
    gone = Failed("a.txt", "c1", Replace("line 5\n", "x\n"), "String to replace not found in file.")
    told = attend(host.session, Answered((gone,))).context
    assert "line  5 by the user" in told
    assert host.place.text("a.txt").count("by the user") == 1


def test_a_file_renamed_since_it_was_shown_is_not_written_at_its_old_name(host):
    host.read("a.txt")
    (host.place.root / "a.txt").rename(host.place.root / "b.txt")
    asked, _ = host.write("a.txt", TEXT + "more\n")
    assert "b.txt" in asked.refuse


def test_paths_that_are_not_ours_are_let_alone(host, tmp_path):
    outside = tmp_path / "elsewhere.txt"
    outside.write_text("x\n")
    assert host.ask(str(outside), WriteWhole("y\n")).refuse is None
    assert attend(host.session, Wrote(str(outside), "c", "x\n", content="y\n")).context == ""


def test_an_edit_that_changes_nothing_is_no_business_of_ours(host):
    host.read("a.txt")
    asked, _ = host.write("a.txt", TEXT)
    assert (asked.refuse, asked.context) == (None, "")


def test_crlf_files_are_compared_by_their_text(host):
    host.place.put("dos.txt", "one\r\ntwo\r\nthree\r\n")
    host.read("dos.txt")
    asked = host.ask("dos.txt", Replace("two\n", "TWO\n"))
    assert asked.refuse is None
    host.place.put("dos.txt", "one\r\nTWO\r\nthree\r\n")
    plain = Wrote("dos.txt", "c1", "one\ntwo\nthree\n", content="one\nTWO\nthree\n")
    assert attend(host.session, plain).context == ""
    assert host.state("dos.txt") == "fresh"
    assert len(host.facts(Changed)) == 1


def test_quotes_that_the_host_takes_for_others_are_no_false_alarm(host):
    host.place.put("typeset.txt", "one\n“two”\nit’s three\n")
    host.read("typeset.txt")
    assert host.ask("typeset.txt", Replace('"two"\nit\'s', '"2"\nit\'s')).refuse is None
    user(host, 2, "“zwei”\n", "typeset.txt")
    assert "zwei" in host.ask("typeset.txt", Replace('"two"', '"2"')).refuse


def test_another_agent_of_the_same_conversation_is_named(host):
    main, child = Host(host.place, "main"), Host(host.place, "main/Explore-a1b2c3d4")
    main.read("a.txt")
    child.read("a.txt")
    child.edit("a.txt", "line 5\n", "five by the child\n")
    refused = main.edit("a.txt", "line 5\n", "five by main\n")[0].refuse
    assert "your sub-agent Explore-a1b2c3d4" in refused
    main.edit("a.txt", "line 7\n", "seven by main\n")
    refused = child.edit("a.txt", "line 7\n", "seven by the child\n")[0].refuse
    assert "the agent that started you" in refused


def test_a_file_that_was_deleted_is_made_anew_once_its_agent_knows(host):
    host.read("a.txt")
    (host.place.root / "a.txt").unlink()
    refused = [host.ask("a.txt", WriteWhole("new\n")).refuse for _ in range(2)]
    assert all(
        " deleted " in words and "After you read it" in words for words in refused
    )  # one batch: not heard yet
    assert "write it once more" in refused[0]
    host.batch_ends()
    asked, _ = host.write("a.txt", "new\n")
    assert asked == Answer()
    assert host.state("a.txt") == "fresh"
    (host.place.root / "a.txt").unlink()  # again, which is news again
    assert host.ask("a.txt", WriteWhole("newer\n")).refuse is not None
    host.batch_ends()
    host.write("a.txt", "newer\n")
    (host.place.root / "a.txt").unlink()
    assert "was deleted" in host.batch_ends().context  # and that went out with the request
    assert host.ask("a.txt", WriteWhole("newest\n")) == Answer()


def test_an_empty_file_may_be_filled_without_a_look(host):
    host.place.put("empty.txt", "")
    asked, done = host.write("empty.txt", "new\n")
    assert (asked, done.context) == (Answer(), "")
    assert host.state("empty.txt") == "fresh"


def test_a_new_file_of_an_old_name_may_be_written_once_the_rename_is_known(host):
    host.read("a.txt")
    (host.place.root / "a.txt").rename(host.place.root / "b.txt")
    assert "renamed to b.txt" in host.ask("a.txt", WriteWhole("new\n")).refuse
    host.batch_ends()
    assert "renamed to b.txt" in host.ask("a.txt", Replace("line 5\n", "x\n")).refuse
    host.write("a.txt", "new\n")
    assert host.state("a.txt") == "fresh"
    assert host.state("b.txt") == "fresh"


@pytest.mark.parametrize("command", ["rm a.txt", "mv a.txt b.txt"])
def test_what_the_agents_own_command_took_away_may_be_written_anew(host, command):
    host.read("a.txt")
    cwd = str(host.place.root)
    attend(host.session, CommandBegan(command, "c9", cwd))
    subprocess.run(command.split(), cwd=cwd, check=True)
    attend(host.session, CommandEnded(command, "c9", cwd))
    asked, _ = host.write("a.txt", "new\n")
    assert asked == Answer()
    assert host.state("a.txt") == "fresh"
    assert {fact.cause.kind for fact in host.facts(Moved)} <= {"command"}


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_write_that_turns_line_ends_is_the_agents_own(host, bom):
    """Claude Code tells a text with "\\n" and writes a whole file so, whatever it had before."""
    new = TEXT.replace("line 9\n", "nine\n")
    host.place.put("a.txt", (bom + TEXT).replace("\n", "\r\n").encode())
    host.read("a.txt")
    assert host.ask("a.txt", WriteWhole(new)).refuse is None
    host.place.put("a.txt", (bom + new).encode())
    done = Wrote("a.txt", "c1", bom + TEXT, content=bom + new, whole=True)
    assert attend(host.session, done).context == ""
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["agent"]
    assert host.state("a.txt") == "fresh"


def test_an_edit_told_with_other_line_ends_is_the_agents_own(host):
    """A save came in between, so what is told is all there is to go by."""
    crlf = TEXT.replace("\n", "\r\n").encode()
    host.place.put("a.txt", crlf)
    host.read("a.txt")
    host.ask("a.txt", Replace("line 9\n", "nine\n"))
    host.place.put("a.txt", crlf.replace(b"line 3\r", b"3\r").replace(b"line 9\r", b"nine\r"))
    before = TEXT.replace("line 3\n", "3\n")
    done = Wrote("a.txt", "c1", before, content=before.replace("line 9\n", "nine\n"))
    assert "+3" in attend(host.session, done).context
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["external", "agent"]


def test_what_changed_is_told_at_the_next_prompt_and_only_once(host):
    host.read("a.txt")
    host.place.put("b.txt", "b\n")
    host.read("b.txt")
    user(host, 5, "five by the user\n")
    (host.place.root / "b.txt").unlink()
    told = attend(host.session, Prompted("and the tests?")).context
    assert "five by the user" in told
    assert "b.txt was deleted" in told
    assert len(host.facts(NoticeDelivered)) == 1
    host.batch_ends()
    assert attend(host.session, Prompted("and the tests?")).context == ""
    assert host.edit("a.txt", "five by the user\n", "x\n")[0].refuse is None


@pytest.mark.wide
def test_a_prompt_tells_within_its_room_and_names_the_rest(host):
    for n in range(60):
        host.place.put(f"many/f{n:02}.txt", TEXT)
        host.read(f"many/f{n:02}.txt")
    for n in range(60):
        user(host, 5, "five by the user, " + "x" * 400 + "\n", f"many/f{n:02}.txt")
    told = attend(host.session, Prompted("and the tests?")).context
    assert len(told) <= 9_000
    assert "Also changed" in told
    assert told.startswith("Sightline: changed on disk")
    host.batch_ends()
    assert attend(host.session, Prompted("and the tests?")).context == ""
    refused = host.edit("many/f59.txt", "line 5\n", "x\n")[0].refuse
    assert refused is not None


def test_a_write_the_host_turned_down_itself_is_told_what_it_could_stand_beside(host):
    host.read("a.txt")
    user(host, 30, "thirty by the user\n")
    mine = WriteWhole(TEXT.replace("line 5\n", "LINE 5\n"))
    failed = Failed("a.txt", "c1", mine, "File has been modified since read.")
    told = attend(host.session, Answered((failed,))).context
    assert "+thirty by the user" in told
    assert "read the file again" in told


def test_a_lost_save_too_large_to_be_told_says_so(host):
    host.read("a.txt")
    _, done = host.write(
        "a.txt",
        TEXT.replace("line 5\n", "LINE 5\n"),
        between=lambda: user(host, 5, "x" * 20_000 + "\n"),
    )
    assert len(done.context) < 9_000
    assert "Tell the user" in done.context


def test_what_others_changed_while_tools_ran_is_told_after_the_batch_once(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    assert "+five by the user" in host.batch_ends().context
    assert host.batch_ends().context == ""
    assert attend(host.session, Prompted("and the tests?")).context == ""
    assert host.state("a.txt") == "fresh"


def test_what_a_prompt_told_is_not_told_after_a_batch(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    assert "+five by the user" in attend(host.session, Prompted("and the tests?")).context
    assert host.batch_ends().context == ""


def test_a_refusal_too_long_to_be_told_whole_is_not_told_over_again(host):
    host.place.put("a.txt", "".join(f"{n} of the old\n" for n in range(1_000)))
    host.read("a.txt")
    host.place.put("a.txt", "".join(f"{n} of the user\n" for n in range(1_000)))
    refused = host.write("a.txt", "agent\n" + "".join(f"{n} of the old\n" for n in range(1, 1_000)))
    assert "read a.txt" in refused[0].refuse
    assert host.batch_ends().context == ""
    assert host.state("a.txt") == "stale"


def test_lines_that_a_prompt_told_are_not_called_never_shown(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    attend(host.session, Prompted("and the tests?"))
    asked, _ = host.edit("a.txt", "five by the user\n", "x\n")
    assert (asked.refuse, asked.context) == (None, "")


MINE = TEXT.replace("line 30\n", "line 30, by the agent\n")
THEIRS = TEXT.replace("line 5\n", "five by the user\n")


@pytest.mark.parametrize(
    "told_by",
    [Answered(), Prompted("go on"), Began("resume"), Began("compact")],
    ids=["batch", "prompt", "resumed", "compacted"],
)
def test_what_went_out_with_the_request_is_known_to_the_call_that_answers_it(host, told_by):
    """The agent builds on the user's line: nothing to merge, to refuse or to tell again."""
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    assert "+five by the user" in attend(host.session, told_by).context
    built = THEIRS.replace("five by the user", "five by the user and the agent")
    asked, done = host.write("a.txt", built)
    assert (asked, done) == (Answer(), Answer())
    assert host.place.text("a.txt") == built
    assert not host.facts(Merged)


def test_what_a_formatter_took_out_stays_with_the_agent_that_was_told(host):
    """The import comes back with its use: merged with a base from before the notice, it is lost."""
    host.place.put("a.py", "import re\n\nx = 1\n")
    host.read("a.py")
    host.write("a.py", "import os\nimport re\n\nx = 1\n")
    host.place.put("a.py", "import re\n\nx = 1\n")  # a hook of the user's, after the tool
    assert "-import os" in host.batch_ends().context
    used = "import os\nimport re\n\nx = os.sep\n"
    assert host.write("a.py", used)[0] == Answer()
    assert host.place.text("a.py") == used
    assert host.batch_ends().context == ""


def test_a_command_tells_nothing_that_went_out_with_the_request(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    host.batch_ends()
    cwd = str(host.place.root)
    attend(host.session, CommandBegan("make", "c1", cwd))
    user(host, 30, "thirty by make\n")
    told = attend(host.session, CommandEnded("make", "c1", cwd, exit_code=0)).context
    assert "+thirty by make" in told
    assert "five by the user" not in told


def test_why_a_call_failed_is_known_to_the_next(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    failed = Failed("a.txt", "c1", Replace("line 5\n", "LINE 5\n"), "String to replace not found")
    assert "five by the user" in attend(host.session, Answered((failed,))).context
    assert host.write("a.txt", MINE.replace("line 5\n", "five by both\n"))[0].refuse is None
    assert not host.facts(Merged)


def test_what_one_call_was_told_is_not_known_to_the_next_of_its_answer(host):
    """The model wrote all calls of an answer before it read anything that they were told."""
    host.place.put("b.txt", TEXT)
    for path in ("a.txt", "b.txt"):
        host.read(path)
        user(host, 5, "five by the user\n", path)
    cwd = str(host.place.root)
    attend(host.session, CommandBegan("make", "c0", cwd))
    user(host, 6, "six by make\n")
    assert "+six by make" in attend(host.session, CommandEnded("make", "c0", cwd)).context
    assert host.write("a.txt", MINE)[0].contents  # merged: six and five stay
    assert host.ask("b.txt", WriteWhole(TEXT.replace("line 5\n", "mine\n"))).refuse
    assert host.ask("b.txt", WriteWhole(TEXT.replace("line 5\n", "mine\n"))).refuse


def test_what_went_out_before_does_not_vouch_for_what_a_call_of_the_answer_was_told(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    host.batch_ends()
    user(host, 30, "thirty by the user\n")
    assert host.ask("a.txt", WriteWhole(MINE.replace("line 5\n", "x\n"))).refuse
    assert host.ask("a.txt", WriteWhole(MINE.replace("line 5\n", "x\n"))).refuse
    assert host.place.text("a.txt") == THEIRS.replace("line 30\n", "thirty by the user\n")


def sub_agent(place):
    """Return a host of a sub-agent of the session "s"."""
    helper = Host(place, "unused")
    helper.session = sightline.open_session(
        place.root, id="s/helper-2", parent="s", settings=place.settings()
    )
    place.opened.append(helper.session)
    return helper


def test_a_sub_agent_does_not_answer_for_its_parent(host, place):
    helper = sub_agent(place)
    host.read("a.txt")
    helper.read("a.txt")
    user(host, 5, "five by the user\n")
    assert "+five by the user" in host.batch_ends().context
    assert helper.ask("a.txt", WriteWhole(MINE)).contents
    assert host.state("a.txt") == "stale"


def test_a_prompt_that_was_told_and_interrupted_stays_in_the_conversation(host):
    """The user presses Esc before the model answers: the next prompt comes without any call."""
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    assert "+five by the user" in attend(host.session, Prompted("go on")).context
    assert attend(host.session, Prompted("no, rather this")).context == ""
    assert host.write("a.txt", THEIRS.replace("by the user", "by both")) == (Answer(), Answer())
    assert not host.facts(Merged)


def test_a_change_that_was_only_mentioned_tells_no_line(host):
    """A diff that is longer than a notice may be is left out."""
    wide = "".join(f"line {n} {'x' * 120}\n" for n in range(1, 101))
    host.place.put("a.txt", wide)
    host.read("a.txt")
    host.place.put("a.txt", wide.replace("x", "y"))
    told = host.batch_ends().context
    assert "a.txt" in told
    assert "+line 99" not in told
    assert host.ask("a.txt", WriteWhole(wide.replace("x", "z"))).refuse is not None
    assert host.place.text("a.txt") == wide.replace("x", "y")


def test_calls_that_no_hook_judges_come_between_a_request_and_its_edit(host):
    """A look, or a tool of a server, answers the request as well: the edit after it still does."""
    host.place.put("b.txt", TEXT)
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    host.batch_ends()
    host.read("b.txt")
    assert host.write("a.txt", THEIRS.replace("by the user", "by both")) == (Answer(), Answer())


def test_an_answer_without_an_edit_leaves_what_was_told_known(host):
    host.read("a.txt")
    user(host, 5, "five by the user\n")
    host.batch_ends()
    assert host.batch_ends().context == ""
    assert host.write("a.txt", THEIRS.replace("by the user", "by both")) == (Answer(), Answer())


def test_a_sub_agent_knows_what_it_was_told_and_not_what_its_parent_was(host, place):
    helper = sub_agent(place)
    host.read("a.txt")
    helper.read("a.txt")
    user(host, 5, "five by the user\n")
    host.batch_ends()
    assert not host.ask("a.txt", WriteWhole(MINE)).contents  # the parent drops it on purpose
    attend(host.session, Failed("a.txt", "c1"))
    assert helper.ask("a.txt", WriteWhole(TEXT.replace("line 5\n", "x\n"))).refuse is not None
    helper.batch_ends()
    assert helper.ask("a.txt", WriteWhole(TEXT.replace("line 5\n", "y\n"))) == Answer()


@pytest.fixture
def outside(host):
    """A file outside of the workspace with a text that a write of ours merges with, and a function:
    put a symlink to it in place of the workspace's file."""
    file = host.place.home / "outside.txt"
    file.write_text(THEIRS)

    def lead_out():
        (host.place.root / "a.txt").unlink()
        (host.place.root / "a.txt").symlink_to(file)

    return file, lead_out


def merges(host, *answers):
    """Return what says or records that a write was merged."""
    said = [word for each in answers for word in (each.context, each.tell) if "merged" in word]
    return [*said, *host.facts(Merged)]


def test_a_write_where_a_symlink_leads_out_is_not_merged(host, outside):
    file, lead_out = outside
    host.read("a.txt")
    lead_out()
    asked, done = host.write("a.txt", MINE)
    assert "left a.txt alone" in asked.refuse
    assert (asked.contents, done, file.read_text()) == ({}, None, THEIRS)
    assert merges(host, asked, host.batch_ends()) == []


def test_a_merge_is_not_claimed_where_a_symlink_led_out_before_the_write(host, outside):
    """The host follows the symlink: the file outside is written by the host, not by a merge."""
    _, lead_out = outside
    host.read("a.txt")
    host.place.put("a.txt", THEIRS)
    asked, done = host.write("a.txt", MINE, between=lead_out)
    assert asked.contents["a.txt"] == THEIRS.replace("line 30\n", "line 30, by the agent\n")
    ended = host.batch_ends()
    prompted = attend(host.session, Prompted("go on"))
    assert merges(host, asked, done, ended, prompted) == []
    assert host.session.check("a.txt").state != "fresh"
    assert (host.place.root / "a.txt").is_symlink()


def test_a_merge_through_a_symlink_inside_is_written_to_its_file(host):
    (host.place.root / "link.txt").symlink_to("a.txt")
    host.read("link.txt")
    host.place.put("a.txt", THEIRS)
    asked, done = host.write("link.txt", MINE)
    assert host.place.text("a.txt") == THEIRS.replace("line 30\n", "line 30, by the agent\n")
    to_agent, to_person, recorded = merges(host, asked, done)
    assert to_agent.startswith(
        "Sightline: link.txt was changed by the user or another program since you were shown it, and your"
        " text was merged with that change; the file holds both. What is new to you:"
    )
    assert "Your edit is in the file" not in to_agent
    assert to_person == (
        "Sightline merged the agent's text of link.txt with 1 line that the agent had not seen, changed"
        " by you or another program; kept: sightline log link.txt"
    )
    assert recorded.path == "a.txt"


@pytest.mark.parametrize(
    ("theirs", "many"),
    [
        (TEXT.replace("line 5\n", "5\n").replace("line 9\n", "9\nnew\n"), "3 lines"),
        (TEXT.replace("line 5\nline 6\n", ""), "2 lines"),
        (TEXT.replace("line 5\n", "5\n"), "1 line"),
    ],
)
def test_the_person_is_told_how_many_of_their_lines_a_merge_kept(host, theirs, many):
    """New, changed and removed lines count."""
    host.read("a.txt")
    host.place.put("a.txt", theirs)
    _, done = host.write("a.txt", MINE)
    assert f"with {many} that the agent had not seen" in done.tell
    assert done.context.count("both") == 1


@pytest.fixture
def formatter(host, monkeypatch):
    """A function that empties the file, as a formatter does; the text follows in a reader's pause."""

    def empty():
        formatted = host.place.text("a.txt").replace("line 3\n", "line three\n")
        save = staticmethod(lambda _seconds: host.place.put("a.txt", formatted))
        monkeypatch.setattr(Calls, "sleep", save)
        host.place.put("a.txt", "")

    return empty


NEWS = "-line 3\n+line three\n"


def emptied_after_the_edit(host, formatter):
    host.ask("a.txt", Replace("line 40\n", "forty\n"))
    user(host, 40, "forty\n")
    mine = host.place.text("a.txt")
    formatter()
    return attend(host.session, Wrote("a.txt", "c1", TEXT, content=mine))


def emptied_before_the_batch_ends(host, formatter):
    formatter()
    return host.batch_ends()


def emptied_before_a_prompt(host, formatter):
    formatter()
    return attend(host.session, Prompted("go on"))


def emptied_during_a_command(host, formatter):
    attend(host.session, CommandBegan("make", "c1", str(host.place.root)))
    formatter()
    return attend(host.session, CommandEnded("make", "c1", str(host.place.root)))


@pytest.mark.parametrize(
    "event",
    [
        emptied_after_the_edit,
        emptied_before_the_batch_ends,
        emptied_before_a_prompt,
        emptied_during_a_command,
    ],
)
def test_a_file_that_a_formatter_has_just_emptied_is_told_once_with_its_text(
    host, formatter, event
):
    host.read("a.txt")
    assert NEWS in event(host, formatter).context
    assert "-line 1\n" not in host.batch_ends().context
    assert revision_of(b"") not in [fact.after for fact in host.facts(Changed)]


def test_an_edit_of_a_file_that_was_just_emptied_is_judged_by_its_text(host, formatter):
    host.read("a.txt")
    formatter()
    assert host.ask("a.txt", Replace("line 9\n", "nine\n")).refuse is None


def test_a_write_that_would_make_a_twin_in_another_unicode_form_is_refused(host):
    host.place.put("cafe\u0301.txt", TEXT)
    asked, _ = host.write("caf\u00e9.txt", "new\n")
    assert "another Unicode form" in asked.refuse
    assert "ls cafe*.txt" in asked.refuse
    assert not host.facts(WriteIntended)
    host.read("cafe\u0301.txt")
    asked, _ = host.write("cafe\u0301.txt", "new\n")
    assert asked.refuse is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("# 한국어 주석입니다.\nx = 1\n".encode("euc_kr"), "is not UTF-8 but cp949"),
        (b"caf\xe9\nx = 1\n", "is not UTF-8 but latin-1"),
        (b"x = 1\n\x81\x8d\x8f\x90\x9d\n", "is not UTF-8, and your tool would damage it"),
        ("é à è ü\nx = 1\n".encode() + b"\xff\n", "has bytes that are not UTF-8"),
    ],
)
@pytest.mark.parametrize("attempt", [Replace("x = 1", "x = 2"), WriteWhole("x = 2\n")])
def test_a_tool_that_would_destroy_bytes_is_refused(host, data, said, attempt):
    host.place.put("a.conf", data)
    host.read("a.conf")
    refuse = host.ask("a.conf", attempt).refuse
    assert said in refuse
    assert "sightline edit a.conf --old" in refuse
    assert not host.facts(WriteIntended)
    assert [fact.reason for fact in host.facts(Refused)] == ["binary"]


@pytest.mark.parametrize("data", [b"x = 1\n", "é\nx = 1\n".encode(), "\ufeffx = 1\n".encode()])
def test_a_tool_that_keeps_all_bytes_goes_on(host, data):
    host.place.put("a.conf", data)
    host.read("a.conf")
    assert host.ask("a.conf", Replace("x = 1", "x = 2")).refuse is None


def test_what_a_tool_showed_of_bytes_that_are_no_text_is_what_the_file_holds(host):
    data = "é à è ü\nx = 1\n".encode() + b"\xff\n"
    host.place.put("a.conf", data)
    host.session.saw("a.conf", text=data.decode("utf-8", "replace"))
    assert host.state("a.conf") == "fresh"
    host.session.edit("a.conf", "x = 1\n�", "x = 2\n�")
    assert host.place.bytes("a.conf") == data.replace(b"1", b"2")


@pytest.mark.parametrize("count", [1, None])
def test_an_edit_that_would_merge_is_not_made_where_its_text_stands_elsewhere(host, count):
    """The client would not write the merge: it finds the exact text in another function."""
    shown = "def f():\n    x = 1\n    y = 2\n\ndef g():\n    x = 7\n    y = 2\n"
    host.place.put("f.py", shown)
    host.read("f.py")
    host.place.put("f.py", shown.replace("x = 1", "x = 5").replace("x = 7", "x = 1"))
    asked = host.ask("f.py", Replace("    x = 1\n    y = 2\n", "    x = 1\n    y = 9\n", count))
    assert "+    x = 5" in asked.refuse
