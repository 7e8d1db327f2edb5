"""The verdict, row by row: situations down, attempts across."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.verdict import judge
from sightline.model.attempts import (
    Create,
    Delete,
    Move,
    Patch,
    Replace,
    ReplaceLines,
    Several,
    WriteWhole,
)
from sightline.model.events import Belief
from sightline.model.patches import PatchHunk
from sightline.model.revision import revision_of
from sightline.model.spans import intersect, spans, whole
from sightline.model.text import split

TEN = "".join(f"line {n}\n" for n in range(1, 11))
INSIDE = TEN.replace("line 3", "LINE 3")
OUTSIDE = TEN.replace("line 9", "LINE 9")
TWICE = TEN + "line 3\n"
MOVED = TEN.replace("line 3\n", "") + "line 3\n"
ATTEMPTS = {
    "replace": Replace("line 3\n", "mine\n"),
    "lines": ReplaceLines(3, 3, "mine\n"),
    "patch": Patch((PatchHunk(3, ("line 3\n",), ("mine\n",)),)),
    "write": WriteWhole(TEN.replace("line 3", "mine")),
}


def sight(believed, disk, shown=None, **more):
    """Return what was shown (lines of `believed`, None for nothing) and what stands there."""
    body = None if believed is None else believed.encode()
    belief = None
    if believed is not None:
        total = len(split(believed))
        seen = whole(total) if shown is None else shown
        belief = Belief(revision_of(believed.encode()), seen, seen, total)
    data = disk.encode() if isinstance(disk, str) else disk
    return Evidence("file" if disk is not None else "missing", data, belief, body, **more)


def ruled(seen, attempt, **rules):
    return judge(EditCase(seen, Rules(**rules)), attempt)


TABLE = [
    # situation, believed, shown, disk -> (decision, reason) of a replace, of lines, a patch, a write
    ("disk equals what was shown", TEN, None, TEN, ["allow"] * 4),
    ("changed elsewhere", TEN, None, OUTSIDE, ["notice", "notice", "notice", "merge"]),
    ("region changed", TEN, None, INSIDE, ["stale", "stale", "stale", "conflict"]),
    ("region moved", TEN, None, MOVED, ["notice", "notice", "notice", "conflict"]),
    ("region stands twice", TEN, None, TWICE, ["ambiguous", "notice", "notice", "merge"]),
    ("never shown, text matches", None, None, TEN, ["notice", "unseen", "notice", "unseen"]),
    ("shown elsewhere only", TEN, ((7, 9),), TEN, ["notice", "unseen", "notice", "unseen"]),
    ("shown in part, region too", TEN, ((2, 4),), TEN, ["allow", "allow", "allow", "unseen"]),
    ("deleted", TEN, None, None, ["deleted"] * 4),
    ("binary now", TEN, None, b"\0", ["kind_changed"] * 4),
    ("line ends flipped", TEN, None, TEN.replace("\n", "\r\n"), ["notice"] * 4),
]
ROWS = [
    pytest.param(believed, shown, disk, attempt, want, id=f"{name}: {attempt}")
    for name, believed, shown, disk, wants in TABLE
    for attempt, want in zip(ATTEMPTS, wants, strict=True)
]


@pytest.mark.parametrize(("believed", "shown", "disk", "attempt", "want"), ROWS)
def test_the_table(believed, shown, disk, attempt, want):
    ruling = ruled(sight(believed, disk, shown), ATTEMPTS[attempt])
    got = ruling.reason if ruling.decision == "refuse" else ruling.decision
    assert got == want
    if ruling.decision != "refuse" and isinstance(disk, str):
        assert b"mine" in ruling.new


@pytest.mark.parametrize("kind", ["directory", "symlink", "special"])
@pytest.mark.parametrize("attempt", list(ATTEMPTS))
def test_another_kind_of_file_is_refused(kind, attempt):
    seen = structs.replace(sight(TEN, TEN), kind=kind, disk=None)
    ruling = ruled(seen, ATTEMPTS[attempt])
    assert (ruling.decision, ruling.state, ruling.reason) == ("refuse", "kind_changed", "kind_changed")  # fmt: skip


@pytest.mark.parametrize("attempt", [None, *ATTEMPTS.values(), Create("x"), Delete(), Move("b")])
def test_what_cannot_be_read_is_never_guessed(attempt):
    seen = structs.replace(sight(TEN, TEN), kind="unreadable", disk=None, why="EIO")
    ruling = ruled(seen, attempt)
    assert (ruling.decision, ruling.reason) == ("refuse", "unverifiable")


@pytest.mark.parametrize(
    ("attempt", "believed", "disk", "want"),
    [
        (Create("x\n"), None, None, "allow"),
        (Create("x\n"), TEN, None, "allow"),
        (Create("x\n"), None, TEN, "exists"),
        (Create("a\0"), None, None, "binary"),
        (WriteWhole("x\n"), None, None, "allow"),
        (Delete(), TEN, TEN, "allow"),
        (Delete(), TEN, OUTSIDE, "stale"),
        (Delete(), None, TEN, "unseen"),
        (Delete(), None, None, "not_found"),
        (Move("b"), None, TEN, "allow"),
        (Move("b"), TEN, OUTSIDE, "notice"),
        (Move("b"), TEN, None, "deleted"),
    ],
)
def test_whole_paths(attempt, believed, disk, want):
    ruling = ruled(sight(believed, disk), attempt)
    assert (ruling.reason if ruling.decision == "refuse" else ruling.decision) == want


@pytest.mark.parametrize("policy", ["block", "refresh"])
def test_without_merging_a_stale_write_is_refused(policy):
    assert ruled(sight(TEN, OUTSIDE), ATTEMPTS["write"], policy=policy).reason == "stale"
    assert ruled(sight(TEN, OUTSIDE), ATTEMPTS["replace"], policy=policy).decision == "notice"


def test_a_retargeted_symlink_is_stale_unless_the_bytes_are_the_same():
    for attempt in ATTEMPTS.values():
        assert ruled(sight(TEN, OUTSIDE, retargeted=True), attempt).reason == "stale"
        assert ruled(sight(TEN, TEN, retargeted=True), attempt).decision == "allow"


def test_several_edits_are_one():
    parts = (Replace("line 1\n", "one\n"), Replace("one\n", "ONE\n"), Replace("line 10", "ten"))
    ruling = ruled(sight(TEN, OUTSIDE), Several(parts))
    assert ruling.decision == "notice"
    assert ruling.new.decode() == OUTSIDE.replace("line 10", "ten").replace("line 1\n", "ONE\n")
    assert "".join(ruling.after.lines) == TEN.replace("line 10", "ten").replace("line 1\n", "ONE\n")
    again = ruled(sight(TEN, INSIDE), Several((parts[0], Replace("line 3\n", "mine\n"))))
    assert again.reason == "stale"


def test_an_edit_never_glues_its_lines_to_those_of_others():
    """The patch takes the last newline; others wrote on behind it."""
    hunk = PatchHunk(10, ("line 10\n",), ("ten",))
    ruling = ruled(sight(TEN, TEN + "more\n"), Patch((hunk,)))
    assert ruling.reason == "stale"


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "x = 1\n"]), max_size=8).map("".join)
seens = st.none() | st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), max_size=2).map(spans)
tries = st.one_of(
    st.builds(Replace, texts.filter(bool), texts, st.sampled_from([1, 2, None])),
    st.builds(ReplaceLines, st.integers(1, 8), st.integers(0, 8), texts),
    st.builds(WriteWhole, texts),
    st.just(Delete()),
)
policies = st.sampled_from(["merge", "warn", "block", "refresh"])


@st.composite
def sights(draw):
    believed = draw(texts)
    seen = draw(seens)
    shown = None if seen is None else intersect(seen, whole(len(split(believed))))
    return sight(believed, draw(texts), shown)


@given(sights())
def test_p2_stale_implies_that_shown_bytes_differ(seen):
    ruling = ruled(seen, None)
    if ruling.state == "stale":
        assert seen.believed != seen.disk
        assert seen.belief.shown or not seen.believed
    if seen.believed == seen.disk:
        assert ruling.state == "fresh"


@given(sights(), tries, policies)
def test_p8_judging_twice_is_judging_once(seen, attempt, policy):
    assert ruled(seen, attempt, policy=policy) == ruled(seen, attempt, policy=policy)


@given(sights(), tries, policies)
def test_a_refusal_writes_nothing_and_says_why(seen, attempt, policy):
    ruling = ruled(seen, attempt, policy=policy)
    if ruling.decision == "refuse":
        assert ruling.new is None
        assert ruling.reason
    elif not isinstance(attempt, Delete):
        assert ruling.new is not None
        assert ruling.new != seen.disk


@given(sights(), tries)
def test_p1_no_line_of_others_disappears_unless_the_attempt_names_it(seen, attempt):
    """What is on disk, and not in what the agent believed, is still there afterwards."""
    ruling = ruled(seen, attempt)
    if ruling.decision == "refuse" or isinstance(attempt, Delete):
        return
    foreign = set(split(seen.disk.decode())) - set(split(seen.believed.decode()))
    named = set(split(attempt.old)) if isinstance(attempt, Replace) else set()
    if not any(line.startswith(old[:-1]) for line in foreign for old in named):
        assert foreign - named <= set(split(ruling.new.decode()))


@given(sights(), tries)
def test_an_own_edit_never_makes_a_fresh_file_stale(seen, attempt):
    """P5: what the agent holds afterwards is what it wrote, or what it knew."""
    ruling = ruled(seen, attempt)
    if ruled(seen, None).state != "fresh" or ruling.decision == "refuse" or ruling.new is None:
        return
    after = ruling.after
    body = "".join(after.lines).encode()
    belief = Belief(revision_of(body), after.shown, after.held, len(after.lines))
    assert ruled(Evidence("file", ruling.new, belief, body), None).state == "fresh"


PORT = "name = a\nport = 80\nhost = b\n"


@pytest.mark.parametrize("policy", ["merge", "block", "refresh", "warn"])
@pytest.mark.parametrize(
    ("attempt", "disk"),
    [
        (Replace("= 80", "= 443"), PORT.replace("80", "8080")),
        (Replace("port", "PORT"), PORT.replace("80", "8080")),
        (Replace("port", "PORT", None), PORT.replace("80", "8080")),
        (Replace("a\nport = ", "a\nPORT = "), PORT.replace("80", "8080")),
        (Replace("a\nport", "A\nport"), PORT.replace("name", "NAME")),
        (Replace("80\n", "443 "), PORT.replace("host", "HOST")),
        (Replace("= 80", "= 443"), "other = 80\n" + PORT.replace("80", "90")),
        (Several((Replace("name", "n"), Replace("= 80", "= 443"))), PORT.replace("80", "8080")),
        (ReplaceLines(2, 2, "port = 443\n"), PORT.replace("80", "8080")),
    ],
)
def test_a_replacement_of_part_of_a_line_that_others_changed_is_stale(attempt, disk, policy):
    ruling = ruled(sight(PORT, disk), attempt, policy=policy)
    assert (ruling.decision, ruling.reason) == ("refuse", "stale")
    assert ruling.changes


@pytest.mark.parametrize(
    ("disk", "decision"),
    [
        (PORT.replace("80\n", "80  \n"), "notice"),
        (PORT.replace("\n", "\r\n"), "notice"),
        (PORT.replace("host", "HOST"), "notice"),
        ("new = 1\n" + PORT, "notice"),
        ("name = a\nhost = b\nport = 80\n", "notice"),
    ],
    ids=["white space at its end", "line ends", "the line below", "lines above", "moved"],
)
def test_a_part_of_a_line_that_others_left_as_it_was_may_be_replaced(disk, decision):
    ruling = ruled(sight(PORT, disk), Replace("= 80", "= 443"), policy="block")
    assert ruling.decision == decision
    assert ruling.new == disk.replace("= 80", "= 443").encode()


def test_a_replacement_merges_where_its_own_changed_lines_are_as_they_were():
    ruling = ruled(sight(PORT, PORT.replace("80", "8080")), Replace("a\nport", "A\nport"))
    assert ruling.decision == "merge"
    assert ruling.new == b"name = A\nport = 8080\nhost = b\n"


def test_one_of_two_places_that_others_rewrote_is_stale_for_a_replacement_of_all():
    base = "a = 80\nb = 80\n"
    rewritten = ruled(sight(base, "a = 80\nb = 8080\n"), Replace("= 80", "= 443", None))
    assert rewritten.reason == "stale"
    more = sight(base, "a = 80\nc = 80\nb = 8080\n")
    assert ruled(more, Replace("= 80", "= 443", None)).reason == "stale"
    left = ruled(sight(base, "a = 80\nb = 1\n"), Replace("= 80", "= 443", None))
    assert left.new == b"a = 443\nb = 1\n"


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=5),
    st.lists(st.sampled_from(["a\n", "b\n", "d\n"]), max_size=5),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(["prefix", "subset", "line ends", "empty", "believed"]),
    st.sampled_from(["merge", "block", "warn"]),
)
def test_a_write_is_no_change_only_where_the_bytes_are_equal(base, disk, first, last, kind, policy):
    text = {
        "prefix": disk[:last],
        "subset": disk[::2],
        "line ends": [line.replace("\n", "\r\n") for line in disk],
        "empty": [],
        "believed": base,
    }[kind]
    shown = spans([(first + 1, min(last, len(base)))])
    attempt = WriteWhole("".join(text))
    for seen in (sight("".join(base), "".join(disk), shown), sight(None, "".join(disk))):
        for raw in (False, True):
            ruling = ruled(seen, structs.replace(attempt, raw=raw), policy=policy)
            new = attempt.content if raw else attempt.content.replace("\r\n", "\n")
            assert (ruling.reason == "no_change") == (new.encode() == seen.disk)


def test_a_write_that_drops_the_end_that_others_put_there_is_stale():
    ruling = ruled(sight(TEN, TEN + "eleven\n"), WriteWhole(TEN))
    assert (ruling.decision, ruling.reason) == ("refuse", "stale")
    assert ruling.changes
