"""What counts as lost, by examples."""

from __future__ import annotations

from msgspec import structs
from tests.audit.histories import SETTING, Talk, words
from tests.audit.test_engine import Scripted

from sightline.audit.engine import measure
from sightline.audit.record import references
from sightline.messages.blocks import Block, Decision, Fold, Rewrite, Tail


def folded(*places, stub="gone"):
    return Decision(tuple(Fold(place, stub, 1, "t") for place in places))


def made(talk, decisions):
    return measure(talk.record(), Scripted(decisions), SETTING)


def test_an_edit_whose_text_is_nowhere_in_the_view_is_lost():
    talk = Talk().typed("go").read("a.py", "old text\nmore").edit("a.py", "old text", "new")
    assert made(talk, {}).lost_edits == 0
    lost = made(talk, {2: folded(2)})
    assert (lost.edits, lost.lost_edits) == (1, 1)


def test_an_edit_by_a_text_that_was_never_there_counts_for_nobody():
    talk = Talk().typed("go").ran("ls", "a.py").edit("a.py", "made up text", "new")
    told = made(talk, {2: folded(2)})
    assert (told.edits, told.lost_edits, told.unfounded) == (0, 0, 1)


def test_empty_lines_at_the_end_of_a_file_are_not_lost_behind_its_current_text():
    """A session of opencode (dayhaysoos/nimbus): no read shows the line, and the edit names it."""
    talk = Talk().typed("go").edit("a.py", "x", "first\n}\n\n").read("a.py", "first\n}")
    talk.edit("a.py", "}\n\n", "")
    after = {
        text: structs.replace(folded(1, 4), tails=(Tail(4, text, 1),))
        for text in ("first\n}\n", "}\nlast\n")
    }
    assert made(talk, {3: after["first\n}\n"]}).lost_edits == 0
    assert made(talk, {3: after["}\nlast\n"]}).lost_edits == 1


def test_spaces_count():
    talk = Talk().typed("go").read("a.py", "  old text").edit("a.py", "    old text", "new")
    assert made(talk, {}).unfounded == 1


def test_a_later_read_keeps_it():
    talk = Talk().typed("go").read("a.py", "old text").read("a.py", "x\nold text\ny")
    talk.edit("a.py", "old text", "new")
    assert made(talk, {3: folded(2)}).lost_edits == 0
    assert made(talk, {3: folded(2, 4)}).lost_edits == 1


def test_an_edits_own_words_keep_what_it_put_there():
    talk = Talk().typed("go").read("a.py", "old text").edit("a.py", "old text", 'new\n"text"')
    talk.edit("a.py", 'new\n"text"', "newer")
    assert made(talk, {3: folded(2)}).lost_edits == 0
    assert made(talk, {3: folded(2, 3)}).lost_edits == 1


def test_numbers_of_lines_are_not_part_of_the_text():
    talk = Talk().typed("go").read("a.py", "first\nsecond", 41).edit("a.py", "first\nsecond", "x")
    assert made(talk, {}).edits == 1


def test_a_stub_or_a_tail_counts_when_it_holds_the_text_itself():
    talk = Talk().typed("go").read("a.py", "old text").edit("a.py", "old text", "new")
    assert made(talk, {2: folded(2, stub="it said: old text.")}).lost_edits == 0
    assert made(talk, {2: folded(2, stub="a summary of the old one")}).lost_edits == 1
    tail = structs.replace(folded(2), tails=(Tail(2, "now: old text", 3),))
    assert made(talk, {2: tail}).lost_edits == 0


def test_each_replacement_of_a_call_is_an_edit():
    talk = Talk().typed("go").read("a.py", "one thing\nanother thing")
    edits = (Rewrite("a.py", "one thing", "1"), Rewrite("a.py", "another thing", "2"))
    talk.called("MultiEdit", "edit", {"file_path": "a.py"}, "done", rewrites=edits)
    assert made(talk, {2: folded(2)}).lost_edits == 2


def test_a_reference_that_only_a_folded_block_had_is_lost():
    talk = (
        Talk()
        .typed("go")
        .ran("ls", "src/deep/module.py is there")
        .ran("cat src/deep/module.py", "x")
    )
    told = made(talk, {2: folded(2)})
    assert (told.references, told.lost_references) == (1, 1)
    assert made(talk, {2: folded(2, stub="ls: src/deep/module.py")}).lost_references == 0


def test_what_a_call_names_first_is_no_reference():
    talk = Talk().typed("go").ran("cat src/deep/module.py", "x")
    assert made(talk, {}).references == 0


def test_references_are_paths_long_names_hashes_links_and_errors():
    call = Block(
        0,
        0,
        "call",
        '{"a": "see src/app/x.py, a_very_long_name and short, at 3fa9c1d or 1234567",'
        ' "b": ["https://e.example/x?y=1) or \\nValueError: it is wrong\\n", {"c": 5}]}',
    )
    assert references(call) == [
        "src/app/x.py",
        "a_very_long_name",
        "3fa9c1d",
        "https://e.example/x?y=1",
        "ValueError: it is wrong",
    ]


def test_reading_again_what_the_view_still_has_is_the_agents_waste():
    talk = Talk().typed("go").read("a.py", "text of it").said("x").read("a.py", "text of it")
    kept, gone = made(talk, {}), made(talk, {2: folded(2)})
    assert (kept.avoidable_reads, kept.forced_reads) == (1, 0)
    assert (gone.avoidable_reads, gone.forced_reads) == (0, 1)


def test_an_old_text_without_a_word_of_the_edit_is_stale():
    talk = Talk().typed("go").read("a.py", "old text").edit("a.py", "old text", "new").said("x")
    talk.typed("more").said("y")
    assert made(talk, {}).stale_calls == 0
    assert made(talk, {3: folded(4)}).stale_calls == 0  # the call itself still says it
    assert made(talk, {3: folded(3, 4)}).stale_calls == 2
    assert made(talk, {3: folded(2, 3, 4)}).stale_calls == 0  # nothing old is shown


def test_an_edit_that_failed_makes_nothing_stale():
    talk = Talk().typed("go").read("a.py", "old text")
    talk.edit("a.py", "old text", "new", error=True).said("x")
    assert made(talk, {3: folded(3, 4)}).stale_calls == 0


def test_a_typed_text_or_the_plan_that_is_missing_is_told():
    talk = Talk().typed("please keep this").planned("first that").planned("then this").said("x")
    talk.blocks[0] = structs.replace(talk.blocks[0], fixed=False)
    assert made(talk, {3: folded(1)}).missing_intents == 0  # an older plan
    assert made(talk, {3: folded(3)}).missing_intents == 1
    assert made(talk, {3: folded(0)}).missing_intents == 1
    assert made(talk, {3: folded(0, stub="they said: please keep this")}).missing_intents == 0


def test_a_fold_that_nobody_needs_costs_no_loss():
    talk = Talk().typed("go").ran("ls", words(30)).said("x").typed("more").said("y")
    told = made(talk, {2: folded(2)})
    assert (told.lost_edits, told.lost_references, told.forced_reads) == (0, 0, 0)
