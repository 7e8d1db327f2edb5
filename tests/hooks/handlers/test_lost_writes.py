"""Writes of a host's tool that went over somebody's save, or over each other: between the judgement and
the write the user is asked, a slow hook runs, or another session writes."""

import pytest
from tests.hooks.handlers.host import Host

from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.events import Changed, Merged
from sightline.model.hook_events import Prompted, Wrote

LINES = [f"line {n}\n" for n in range(1, 41)]
TEXT = "".join(LINES)
MINE = TEXT.replace("line 5\n", "LINE 5\n")


def with_line(number, text):
    return "".join([*LINES[: number - 1], text, *LINES[number:]])


THEIRS = with_line(30, "thirty by the user\n")
BOTH = THEIRS.replace("line 5\n", "LINE 5\n")


@pytest.fixture
def host(place):
    place.put("a.txt", TEXT)
    made = Host(place)
    made.read("a.txt")
    return made


def saves(host, text, path="a.txt"):
    return lambda: host.place.put(path, text)


def brought_back(host, said):
    """Run the command that a line to the person ends with; the file then."""
    position = said.rpartition("sightline rewind ")[2].partition(" ")[0]
    person = host.place.session("person")
    person.rewind(int(position), force_paths=["a.txt"])
    return host.place.text("a.txt")


def test_a_save_while_the_write_waited_is_merged_and_told_to_agent_and_person(host):
    _, done = host.write("a.txt", MINE, between=saves(host, THEIRS))
    assert host.place.text("a.txt") == BOTH
    assert "+thirty by the user" in done.context
    assert "merged" in done.context
    assert "lost" not in done.context
    assert "a.txt" in done.tell
    assert "2 lines" not in done.tell
    assert "1 line" in done.tell
    assert [fact.path for fact in host.facts(Merged)] == ["a.txt"]


def test_what_was_merged_back_counts_as_told_and_is_told_once(host):
    host.write("a.txt", MINE, between=saves(host, THEIRS))
    assert host.batch_ends().context == ""
    assert host.state("a.txt") == "fresh"
    asked, _ = host.write("a.txt", BOTH.replace("line 9\n", "nine\n"))
    assert (asked.refuse, asked.contents) == (None, {})


def test_a_merge_that_was_written_back_can_be_taken_back_and_the_save_stays(host):
    before = host.session._context.store.position()
    host.write("a.txt", MINE, between=saves(host, THEIRS))
    host.session.rewind(before)
    assert host.place.text("a.txt") == THEIRS


def test_a_save_of_the_same_line_is_told_to_both_and_a_command_brings_it_back(host):
    theirs = with_line(5, "five by the user\n")
    _, done = host.write("a.txt", MINE, between=saves(host, theirs))
    assert host.place.text("a.txt") == MINE
    assert "-line 5\n+five by the user" in done.context
    assert "replaced" in done.context
    assert "a.txt" in done.tell
    assert brought_back(host, done.tell) == theirs


def test_an_edit_within_a_line_that_was_saved_meanwhile_is_told_to_both(host):
    """The tool's text still occurs in the line, which its agent never saw: 80 of 8080."""
    host.place.put("a.txt", "port = 80\nname = a\n")
    host.read("a.txt")
    theirs = "port = 8080\nname = a\n"
    _, done = host.edit("a.txt", "= 80", "= 443", between=saves(host, theirs))
    assert host.place.text("a.txt") == "port = 44380\nname = a\n"
    assert "-port = 80\n+port = 8080" in done.context
    assert "a.txt" in done.tell
    assert brought_back(host, done.tell) == theirs


def test_what_the_file_still_has_of_a_save_is_told_once(host):
    """The tool's text stands within a changed line; the save removed another line."""
    host.place.put("a.txt", "port = 80\nname = a\n" + TEXT)
    host.read("a.txt")
    theirs = ("port = 8080\nname = a\n" + TEXT).replace("line 30\n", "")
    _, done = host.edit("a.txt", "= 80", "= 443", between=saves(host, theirs))
    told = done.context + host.batch_ends().context
    assert told.count("+port = 8080") == 1
    assert told.count("-line 30") == 1


def test_a_file_that_the_user_made_meanwhile_is_told_to_both(host):
    _, done = host.write(
        "new.txt", "by the agent\n", between=saves(host, "by the user\n", "new.txt")
    )
    assert "+by the user" in done.context
    assert "new.txt" in done.tell


def test_a_save_of_what_the_agent_wrote_is_no_loss(host):
    _, done = host.write("a.txt", MINE, between=saves(host, MINE))
    assert done.context == done.tell == ""


def test_a_save_while_a_merge_waited_keeps_all_three(host):
    host.place.put("a.txt", THEIRS)
    twice = THEIRS.replace("line 20\n", "twenty by the user\n")
    _, done = host.write("a.txt", MINE, between=saves(host, twice))
    assert host.place.text("a.txt") == twice.replace("line 5\n", "LINE 5\n")
    assert "+twenty by the user" in done.context
    assert "+thirty by the user" in done.context


def test_line_ends_of_a_merge_that_is_written_back_are_those_of_the_file(place):
    place.put("a.txt", TEXT.replace("\n", "\r\n"))
    host = Host(place)
    host.read("a.txt")
    host.ask("a.txt", WriteWhole(MINE))
    place.put("a.txt", MINE.replace("\n", "\r\n"))
    attend(host.session, Wrote("a.txt", "c1", THEIRS, content=MINE, whole=True))
    assert place.text("a.txt") == BOTH.replace("\n", "\r\n")


def test_a_formatter_behind_the_write_keeps_its_work(host):
    """A hook of the user's lays out what was written before our hook looks."""
    host.ask("a.txt", WriteWhole(MINE))
    host.place.put("a.txt", MINE.replace("line 40\n", "line 40  \n"))
    done = Wrote("a.txt", "c1", THEIRS, content=MINE, whole=True)
    assert "merged" in attend(host.session, done).context
    assert host.place.text("a.txt") == BOTH.replace("line 40\n", "line 40  \n")


@pytest.mark.parametrize("theirs", ["A=1\nB=secret\n", "A=secret\n"])
def test_a_text_that_may_not_be_kept_is_told_without_its_lines(place, theirs):
    place.put(".env", "A=1\n")
    host = Host(place)
    host.read(".env")
    _, done = host.write(".env", "A=2\n", between=saves(host, theirs, ".env"))
    told = done.context + host.batch_ends().context
    assert "secret" not in told + done.tell
    assert ".env" in told
    assert ".env" in done.tell
    assert ("secret" in place.text(".env")) is ("B=" in theirs)


def test_a_write_that_is_told_twice_is_merged_once(host):
    host.ask("a.txt", WriteWhole(MINE))
    host.place.put("a.txt", MINE)
    told = [
        attend(host.session, Wrote("a.txt", "c1", THEIRS, content=MINE, whole=True)) for _ in "12"
    ]
    assert host.place.text("a.txt") == BOTH
    assert "merged" in told[0].context
    assert told[1].context == told[1].tell == ""
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["external", "agent", "agent"]


# --- two sessions


@pytest.fixture
def two(place):
    place.put("a.txt", TEXT)
    both = Host(place, "a"), Host(place, "b")
    for number, host in enumerate(both):
        attend(host.session, Prompted(f"Task {number} of the day"))
        host.read("a.txt")
    return both


HERS = with_line(20, "twenty by b\n")
BOTHS = HERS.replace("line 5\n", "LINE 5\n")
ORDERS = [(first, found) for first in ("a", "b") for found in (TEXT, MINE)]


def write_at_once(two, mine, theirs, first, found):
    """Both were judged; a writes, b writes over it. first: whose hook ends first. found: the text that
    b's tool found."""
    a, b = two
    assert a.ask("a.txt", WriteWhole(mine)).refuse is None
    assert b.ask("a.txt", WriteWhole(theirs)).refuse is None
    a.place.put("a.txt", mine)
    a.place.put("a.txt", theirs)
    events = {
        "a": (a, Wrote("a.txt", "c1", TEXT, content=mine, whole=True)),
        "b": (b, Wrote("a.txt", "c1", found, content=theirs, whole=True)),
    }
    order = [first, "b" if first == "a" else "a"]
    said = {name: attend(events[name][0].session, events[name][1]) for name in order}
    return said["a"], said["b"]


@pytest.mark.parametrize(("first", "found"), ORDERS)
def test_s45_two_sessions_in_the_same_instant_keep_both_changes(two, first, found):
    to_a, to_b = write_at_once(two, MINE, HERS, first, found)
    assert two[0].place.text("a.txt") == BOTHS
    ends = [host.batch_ends().context for host in two]
    told_a, told_b = to_a.context + ends[0], to_b.context + ends[1]
    assert told_a.count("+twenty by b") == 1
    assert told_b.count("+LINE 5") == 1
    assert "Put these lines back" not in told_a + told_b
    for line in ("-LINE 5", "-twenty by b"):  # nobody is told to take out a change
        assert line not in told_a + told_b
    assert '"Task 1 of the day"' in told_a
    if first == "a" or found == MINE:
        assert '"Task 0 of the day"' in told_b
    for host in two:
        assert host.batch_ends().context == ""
        assert host.state("a.txt") == "fresh"
    assert two[0].session._context.store.pending() == []


def attempts(is_whole):
    """What a and b do, each with the whole file or with one line of it."""
    if is_whole:
        return WriteWhole(MINE), WriteWhole(HERS)
    return Replace("line 5\n", "LINE 5\n"), Replace("line 20\n", "twenty by b\n")


@pytest.mark.parametrize(("found", "is_whole"), [(TEXT, True), (MINE, True), (TEXT, False)])
def test_a_hook_between_anothers_write_and_its_merge_waits_for_the_merge(two, found, is_whole):
    """found TEXT: b's tool read the file before a wrote it, and wrote it after a's hook had ended."""
    (a, b), (of_a, of_b) = two, attempts(is_whole)
    a.ask("a.txt", of_a)
    b.ask("a.txt", of_b)
    a.place.put("a.txt", MINE)
    attend(a.session, Wrote("a.txt", "c1", TEXT, content=MINE, whole=is_whole))
    a.place.put("a.txt", HERS)
    assert a.batch_ends().context == ""
    [pending] = a.session.changes()  # who asks by hand is told how the file stands, and by whom
    assert (pending.changed_by.kind, pending.changed_by.who) == ("session", b.session.id)
    attend(b.session, Wrote("a.txt", "c1", found, content=HERS, whole=is_whole))
    told = a.batch_ends().context
    assert told.count("+twenty by b") == 1
    assert "-LINE 5" not in told
    assert '"Task 1 of the day"' in told
    assert a.batch_ends().context == ""
    assert a.place.text("a.txt") == BOTHS


def test_what_a_host_wrote_that_ended_before_its_hook_is_told(two, monkeypatch):
    a, b = two
    b.ask("a.txt", WriteWhole(HERS))
    a.place.put("a.txt", HERS)
    assert a.batch_ends().context == ""
    monkeypatch.setattr("sightline.changes.detect.alive", lambda owner: False)
    assert a.batch_ends().context.count("+twenty by b") == 1


@pytest.mark.parametrize(("first", "found"), ORDERS)
def test_two_sessions_that_write_the_same_line_are_told_whose_stands(two, first, found):
    hers = with_line(5, "five by b\n")
    to_a, to_b = write_at_once(two, MINE, hers, first, found)
    assert two[0].place.text("a.txt") == hers
    ends = [host.batch_ends().context for host in two]
    told_a, told_b = to_a.context + ends[0], to_b.context + ends[1]
    assert "Your edit is in the file" not in told_a
    assert "is not in the file" in told_a
    assert '"Task 1 of the day"' in told_a
    if found == MINE:  # else nothing of b's is in doubt
        assert "+LINE 5" in told_b
        assert '"Task 0 of the day"' in told_b
    assert two[0].session._context.store.pending() == []


@pytest.mark.parametrize(("first", "found"), ORDERS)
def test_who_wrote_what_is_on_the_timeline_whoever_ends_first(two, first, found):
    write_at_once(two, MINE, HERS, first, found)
    store = two[0].session._context.store
    changed = list(store.timeline(kinds=[Changed]))
    assert {each.fact.cause.kind for each in changed} == {"agent"}
    assert all(each.fact.cause.who == each.session for each in changed)
    texts = [*(each.fact.before for each in changed[1:]), changed[-1].fact.after]
    assert [each.fact.after for each in changed] == texts  # a chain
    assert store.verify() == []


def test_a_session_that_waited_for_the_user_does_not_undo_anothers_write(two):
    a, b = two
    a.ask("a.txt", WriteWhole(MINE))
    b.write("a.txt", HERS)
    a.place.put("a.txt", MINE)
    done = attend(a.session, Wrote("a.txt", "c1", HERS, content=MINE, whole=True))
    assert a.place.text("a.txt") == BOTHS
    assert '"Task 1 of the day"' in done.context
    assert '"Task 1 of the day"' in done.tell
    assert "+LINE 5" in b.batch_ends().context


def test_an_edit_that_another_session_wrote_over_is_brought_back(two):
    """Its tool read the file before the edit, and wrote it after that."""
    a, b = two
    a.ask("a.txt", Replace("line 5\n", "LINE 5\n"))
    b.ask("a.txt", Replace("line 20\n", "twenty by b\n"))
    a.place.put("a.txt", HERS)
    to_a = attend(a.session, Wrote("a.txt", "c1", TEXT, content=MINE))
    assert a.place.text("a.txt") == BOTHS
    assert "+twenty by b" in to_a.context
    to_b = attend(b.session, Wrote("a.txt", "c1", TEXT, content=HERS))
    assert "+LINE 5" in to_b.context


REWRITTEN = "# (c) me\n" + MINE


def rewritten(host, stands=REWRITTEN, found=TEXT):
    """Write MINE; another hook puts its own text in its place before the tool writes."""
    host.ask("a.txt", WriteWhole(MINE))
    host.place.put("a.txt", stands)
    done = Wrote("a.txt", "c1", found, content=stands, whole=True)
    return attend(host.session, done)


def test_what_another_hook_made_of_a_write_is_told_to_the_agent(host):
    said = rewritten(host).context
    assert "changed by another hook, before the text was written" in said
    assert "+# (c) me" in said
    assert "+LINE 5" not in said
    assert host.batch_ends().context == ""
    assert host.state("a.txt") == "fresh"
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["agent", "external"]


def test_another_hooks_layout_of_a_write_is_a_formatters(host):
    said = rewritten(host, MINE.replace("line 40\n", "line  40\n")).context
    assert "+line  40" in said
    assert [fact.cause.kind for fact in host.facts(Changed)] == ["agent", "formatter"]


def test_what_another_hook_made_of_a_write_over_a_save_is_told_with_the_merge(host):
    said = rewritten(host, found=THEIRS).context
    assert "merged" in said
    assert host.place.text("a.txt") == "# (c) me\n" + BOTH


def test_a_write_that_the_user_took_back_by_hand_before_anothers_write_stays_away(two):
    """The other session's person is asked meanwhile; its tool reads and writes within a moment."""
    a, b = two
    a.session._context.clock = b.session._context.clock = lambda: 1_000_000
    b.ask("a.txt", WriteWhole(HERS))
    a.write("a.txt", MINE)
    a.place.put("a.txt", TEXT)
    a.place.put("a.txt", HERS)
    attend(b.session, Wrote("a.txt", "c1", TEXT, content=HERS, whole=True))
    assert a.place.text("a.txt") == HERS
