"""Each baseline by its documented rule, on conversations small enough to see it."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.audit.histories import SETTING, Talk, words

from bench.policies import batches, clearing, pruning, shrinking
from bench.policies import truncating as t
from sightline.audit import policies
from sightline.audit.engine import play


def runs(number, size=50):
    talk = Talk().typed("go")
    for at in range(number):
        talk.ran(f"run {at}", words(size))
    return talk.said("done")


def told(talk, policy, prefix=0):
    """Of each call at which something was decided: which blocks were folded, and dropped."""
    return {
        moment.turn.number: (
            [fold.block for fold in moment.decision.folds],
            list(moment.decision.dropped),
        )
        for moment in play(talk.record(), policy, prefix)
        if moment.changed
    }


def result(number):
    """The place of a command's result: the typed text, then two blocks for each."""
    return 2 * number


def test_anthropics_keeps_three_once_the_whole_history_is_above_the_trigger():
    policy = policies.ANTHROPIC(SETTING, trigger=260)
    assert told(runs(7), policy) == {
        6: ([result(1), result(2)], []),
        7: ([result(3)], []),
        8: ([result(4)], []),
    }


def test_masking_moves_on_with_every_result_or_in_steps():
    assert told(runs(5), policies.MASKING(SETTING, keep=3)) == {5: ([2], []), 6: ([4], [])}
    polled = told(runs(9), clearing.BatchedMasking(SETTING, 3))
    assert polled == {7: ([2, 4, 6], []), 10: ([8, 10, 12], [])}


def test_what_masks_says_how_many_lines_there_were():
    talk = Talk().typed("go").ran("ls", "\n".join(["a b c"] * 9)).ran("ls", "x").said("y")
    decisions = [m.decision for m in play(talk.record(), policies.MASKING(SETTING, keep=1), 0)]
    assert decisions[2].folds[0].stub == "Old environment output: (9 lines omitted)"


def test_a_batch_waits_until_it_is_worth_it_and_then_goes_deep():
    batch = batches.Batch(trigger=300, target=0.5, least=100, keep=2, shortest=5)
    made = told(runs(8), batches.AgeBatch(SETTING, batch))
    assert list(made) == [7]
    assert made[7] == ([2, 4, 6, 8], [])


def test_a_cold_cache_lets_a_batch_go_earlier():
    batch = batches.Batch(trigger=300, target=0.1, least=100, keep=1, shortest=5)
    warm = told(runs(4), batches.AgeBatch(SETTING, batch))
    talk = Talk().typed("go")
    for at in range(4):
        talk.ran(f"run {at}", words(50)).after(1 if at < 3 else 10)
    assert warm == {}
    assert list(told(talk.said("done"), batches.AgeBatch(SETTING, batch))) == [5]


def test_any_batch_is_as_large_but_of_others():
    batch = batches.Batch(trigger=300, target=0.5, least=100, keep=2, shortest=5)
    age, chance = (
        told(runs(12), kind(SETTING, batch)) for kind in (batches.AgeBatch, batches.RandomBatch)
    )
    assert min(age) == min(chance)
    assert len(age[7][0]) == len(chance[7][0])


def test_roo_hides_the_older_half_and_never_the_first_exchange():
    roo = t.Roo(structs.replace(SETTING, window=9_600))  # 0.9 of it is 448 above what answers take
    made = told(runs(10), roo)
    assert made == {10: ([], [3, 4, 5, 6, 7, 8, 9, 10])}


def test_what_a_thinking_loop_needs_becomes_stubs():
    talk = runs(9)
    talk.blocks[5] = structs.replace(talk.blocks[5], kind="thinking", text="hm")
    roo = t.Roo(structs.replace(SETTING, window=9_600))
    (made,) = told(talk, roo).values()
    assert made[1] == []
    assert made[0] == [3, 4, 7, 8, 9, 10]


def test_cline_notes_that_a_file_was_read_again_before_it_truncates():
    talk = Talk().typed("go")
    for _ in range(4):
        talk.read("a.py", words(100))
    cline = t.Cline(structs.replace(SETTING, window=400))
    assert told(talk.said("x"), cline) == {5: ([2, 4, 6], [])}


def test_cline_drops_half_where_nothing_was_read_again():
    made = told(runs(8, 100), t.Cline(structs.replace(SETTING, window=1_000)))
    assert made == {9: ([], [3, 4, 5, 6, 7, 8])}


class SmallGemini(pruning.Gemini):
    protected, batch = 400, 350


def test_gemini_masks_what_lies_behind_the_protected_once_it_is_enough():
    made = told(runs(10, 200), SmallGemini(SETTING))
    assert made == {6: ([2, 4], []), 8: ([6, 8], []), 10: ([10, 12], [])}


class SmallOpenCode(pruning.OpenCode):
    protected, batch = 100, 60


def test_opencode_prunes_between_turns_and_spares_the_last_two():
    talk = Talk()
    for turn in range(5):
        talk.typed(f"turn {turn}")
        for at in range(2):
            talk.ran(f"run {at}", words(50))
        talk.said("done")
    made = told(talk, SmallOpenCode(SETTING))
    assert list(made) == [13]
    assert made[13][0] == [2, 4]


def test_the_trimmer_cuts_long_outputs_of_older_turns_to_a_preview():
    talk = Talk().typed("a").ran("ls", words(200)).typed("b").said("x").typed("c").said("y")
    (moment,) = [m for m in play(talk.record(), pruning.Trimmer(SETTING), 0) if m.changed]
    stub = moment.decision.folds[0].stub
    assert moment.turn.number == 3
    assert stub.startswith("[Trimmed: Bash output, ")
    assert len(stub.partition("\n")[2]) == 203


def test_nanocoder_makes_results_one_line():
    made = told(runs(5, 100), shrinking.Nanocoder(structs.replace(SETTING, window=600)))
    assert list(made) == [5]
    assert made[5][0] == [2, 4, 6]


class SmallAgents(shrinking.DeepAgents):
    largest = 60


def test_deepagents_puts_away_what_is_too_large_when_it_comes():
    talk = Talk().typed("go").ran("ls", "\n".join(["a b c d e f"] * 30)).ran("ls", "x").said("y")
    assert told(talk, SmallAgents(SETTING)) == {2: ([2], [])}


def test_codex_leaves_what_was_typed_and_pays_for_a_summary():
    class Small(shrinking.Codex):
        summary_tokens = 20

    codex = Small(structs.replace(SETTING, window=300))
    moments = [m for m in play(runs(6).record(), codex, 0) if m.changed]
    assert [m.turn.number for m in moments] == [7]
    assert moments[0].decision.dropped == tuple(range(1, 13))
    assert moments[0].view.tokens == 21
    assert (codex.read_tokens, codex.written_tokens) == (319, 20)


@pytest.mark.parametrize(("first", "covered"), [(1, True), (2, False)])
def test_a_read_is_a_duplicate_when_a_later_one_covers_its_lines(first, covered):
    lines = "\n".join(words(4).split())
    talk = Talk().typed("go").read("a.py", "w0 x y z w v\nw1").read("a.py", lines, first)
    made = told(talk.said("x"), shrinking.RangeDedup(structs.replace(SETTING, count=lambda _: 1)))
    assert made == ({3: ([2], [])} if covered else {})
