"""What is folded, and when, by examples. Places: a message of Talk is a block, a call two."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.audit.histories import Talk, count, words
from tests.window.foldings import LEASE, MUCH, RULES, begun, folding_of, short, tiers

from sightline.messages.blocks import Block, Decision, Excerpt, Fold
from sightline.window.folding import Folding, Rules
from sightline.window.prices import PROFILES, USUAL
from sightline.window.words import stub

LONG = words(60)


def idle(talk: Talk, answers: int) -> Talk:
    for _ in range(answers):
        talk.said("hm")
    return talk


def then(talk: Talk) -> Talk:
    """A newer result, so that none before it is the last."""
    return talk.ran("date", "today")


def test_nothing_goes_up_to_the_soft_budget_cold_or_not():
    talk = then(Talk().typed("go").ran("ls", LONG))
    assert folding_of(talk).decide(100, idle_s=10**9) == Decision()
    assert [fold.block for fold in folding_of(talk).decide(101).folds] == [2]


def test_what_can_be_had_again_goes_once_newer_results_stand_after_it():
    talk = Talk().typed("go").ran("ls", LONG).ran("ls", LONG).ran("ls", LONG)
    assert tiers(talk) == {2: "again", 4: "again"}
    assert tiers(talk, structs.replace(RULES, keep=2)) == {2: "again"}
    assert tiers(talk, structs.replace(RULES, keep=4)) == {}
    assert tiers(talk, structs.replace(RULES, keep=0)) == {2: "again", 4: "again", 6: "again"}


def test_keeping_no_result_of_a_conversation_without_one_is_no_fault():
    assert tiers(Talk().typed(LONG), structs.replace(RULES, keep=0)) == {}


def test_a_small_block_is_not_worth_a_stub():
    talk = then(Talk().typed("go").ran("ls", words(59)).ran("ls", words(60)))
    assert tiers(talk, structs.replace(RULES, least=60)) == {4: "again"}


def test_a_stub_that_is_no_shorter_is_not_put():
    talk = then(Talk().typed("go").ran("ls", LONG))
    as_long = folding_of(talk, words=lambda block, changed: words(60))
    assert as_long.decide(MUCH).folds == ()


@pytest.mark.parametrize(("answers", "goes"), [(LEASE - 1, {}), (LEASE, {4: "untouched"})])
def test_a_file_that_was_read_stays_for_the_answers_of_its_lease(answers, goes):
    assert tiers(then(idle(begun().read("a.py", LONG), answers))) == goes


def test_a_lease_is_longer_the_smaller_the_text_and_the_dearer_its_loss():
    talk = begun().read("a.py", LONG).read("b.py", words(30))
    assert tiers(then(idle(talk, LEASE))) == {4: "untouched"}
    assert tiers(then(idle(talk, 3 * LEASE))) == {4: "untouched", 6: "untouched"}
    large = then(idle(begun().read("a.py", LONG), 9))
    assert tiers(large, tokens=10 * MUCH) == {}  # the calls for it would read so much more


def test_a_careful_policy_keeps_a_text_until_its_rent_is_the_whole_price_of_its_loss():
    talk = begun().read("a.py", words(6_000))
    usual = PROFILES["0.10/1.25"]

    def gone_after(share: float) -> int:
        rules = structs.replace(RULES, share=share)
        return next(
            answers
            for answers in range(99)
            if folding_of(idle(grown(talk), answers).ran("date", "x"), rules, usual)
            .decide(50_000, idle_s=10**6)
            .folds
        )

    # (1.25 x 6,000 + 2 x 0.1 x 50,000 + 5 x 450) / (0.1 x 6,000) = 32.9
    assert gone_after(1) == 32
    assert gone_after(1 / 3) == 10


def test_before_the_session_edits_a_lease_is_the_whole_price_and_then_begins_anew():
    before = Talk().typed("mend a.py").read("a.py", LONG)
    # (60 + 2 x 1,000 + 5 x 450) / 60 = 71.8
    assert tiers(then(idle(grown(before), 69))) == {}
    assert tiers(then(idle(grown(before), 70))) == {2: "untouched"}
    talk = idle(Talk().typed("go").read("a.py", LONG), 60)
    edited = grown(talk).edit("b.py", "x", "y")
    assert tiers(then(idle(edited, LEASE - 1))) == {}
    assert tiers(then(idle(edited, LEASE))) == {2: "untouched"}


def test_a_new_file_is_no_beginning():
    talk = Talk().typed("go").read("a.py", LONG).edit("plan.md", "", LONG)
    new = structs.replace(talk.blocks[3].rewrites[0], old=None)
    talk.blocks[3] = structs.replace(talk.blocks[3], rewrites=(new,))
    assert tiers(then(idle(talk, 60))) == {}


def test_without_a_share_nothing_has_a_lease():
    talk = Talk().typed("mend a.py").read("a.py", LONG).called("ask_expert", "other", {}, LONG)
    rules = structs.replace(RULES, share=0)
    assert tiers(then(talk), rules) == {2: "untouched", 4: "other"}


def test_reading_another_part_of_it_renews_the_lease():
    talk = idle(begun().read("a.py", LONG), 1).read("a.py", "x", first=90)
    assert tiers(then(idle(talk, 1))) == {}


def test_naming_it_in_a_search_does_not():
    talk = begun().read("a.py", LONG)
    talk.called("Grep", "search", {"path": "a.py"}, "a hit", paths=("a.py",))
    assert tiers(then(idle(talk, LEASE - 1))) == {4: "untouched"}


@pytest.mark.parametrize(("answers", "goes"), [(LEASE - 1, {}), (LEASE, {2: "untouched"})])
def test_an_edit_of_it_renews_the_lease(answers, goes):
    talk = Talk().typed("go").read("a.py", LONG).edit("a.py", "w1", "v1")
    assert tiers(then(idle(talk, answers))) == goes


def test_a_file_that_a_person_names_stays_until_it_was_edited():
    talk = idle(begun().typed("mend a.py").read("a.py", LONG), 9)
    assert tiers(then(talk)) == {}
    assert tiers(then(idle(talk.edit("a.py", "w1", "v1"), LEASE))) == {5: "untouched"}


def test_a_file_that_a_plan_names_stays_too():
    talk = begun().planned("1. mend a.py").read("a.py", LONG)
    assert tiers(then(idle(talk, 9))) == {}


@pytest.mark.parametrize(("answers", "goes"), [(LEASE - 1, {}), (LEASE, {2: "other"})])
def test_what_cannot_be_had_again_has_a_lease_from_the_beginning(answers, goes):
    talk = Talk().typed("go").called("ask_expert", "other", {}, LONG)
    assert tiers(then(idle(talk, answers))) == goes


def test_a_result_of_several_files_stays_while_one_of_them_is_at_work():
    both = (Excerpt("a.py", 1, "x"), Excerpt("b.py", 1, "y"))
    talk = begun().called("cat", "read", {}, LONG, excerpts=both)
    assert tiers(then(idle(grown(talk), LEASE).edit("b.py", "y", "z"))) == {}
    assert tiers(then(idle(talk, 5))) == {4: "untouched"}


def test_the_newest_text_that_the_agent_gave_a_file_stays():
    talk = Talk().typed("go").edit("a.py", "x", LONG).edit("a.py", "y", LONG)
    assert tiers(then(idle(talk, 9))) == {1: "input"}


def test_a_failed_edit_is_not_the_newest_text_and_changes_nothing():
    talk = Talk().typed("go").edit("a.py", "x", LONG).edit("a.py", "y", LONG, error=True)
    assert tiers(then(idle(talk, 9))) == {3: "input"}
    read = begun().read("a.py", LONG).edit("a.py", "y", LONG, error=True)
    folds = folding_of(then(idle(read, 3)), words=short).decide(MUCH).folds
    assert [(fold.block, fold.stub) for fold in folds] == [(4, "gone"), (5, "gone")]


def test_a_stub_knows_whether_the_file_was_changed_since():
    talk = Talk().typed("go").read("a.py", LONG).edit("a.py", "x", "y").read("b.py", LONG)
    folds = folding_of(then(idle(talk, 4)), words=short).decide(MUCH).folds
    assert [(fold.block, fold.stub) for fold in folds] == [(2, "changed"), (6, "gone")]


def test_a_call_without_a_result_stays():
    talk = Talk().typed("go").ran(LONG, LONG).ran("date", "x").ran(LONG, LONG)
    folding = folding_of(Talk(), structs.replace(RULES, keep=0))
    for block in talk.blocks[:-1]:
        folding.add(block)
    assert [fold.block for fold in folding.decide(MUCH).folds] == [1, 2]
    assert [
        fold.block for fold in folding_of(talk, structs.replace(RULES, keep=0)).decide(MUCH).folds
    ] == [*(1, 2, 5, 6)]


def test_a_call_without_an_id_waits_for_ever():
    folding = folding_of(Talk().typed("go"), structs.replace(RULES, keep=0))
    folding.add(Block(1, 0, "call", LONG, 60, 1, deed="run"))
    folding.add(Block(2, 0, "result", LONG, 60, 1, deed="run"))
    assert [fold.block for fold in folding.decide(MUCH).folds] == [2]


def test_plans_and_what_may_never_be_changed_stay():
    talk = Talk().typed(LONG).planned(LONG).called("TodoWrite", "plan", {}, LONG)
    talk.called("Bash", "run", {}, LONG)
    talk.blocks[-1] = structs.replace(talk.blocks[-1], fixed=True)
    assert tiers(then(idle(talk, 20)), structs.replace(RULES, hard=1)) == {}


def test_thinking_goes_whole_once_the_user_has_spoken_again():
    talk = Talk().typed("go").said("x").ran("ls", LONG)
    talk.blocks[1] = structs.replace(
        talk.blocks[1], kind="thinking", loose=True, fixed=True, tokens=500
    )
    assert folding_of(then(talk)).decide(MUCH).dropped == ()
    assert folding_of(then(talk.typed("and"))).decide(MUCH).dropped == (1,)


def test_a_clear_waits_until_the_rent_has_paid_for_the_change():
    """About 340 tokens from the output on are written anew, at 1.15 more than a cached token each:
    390. The output pays 0.1 x (1,000 - 50) with each answer: 95. So eight answers pay it twice."""
    talk = Talk().typed("go").ran("ls", words(1_000)).ran("date", words(284))

    def folded_after(answers: int) -> list[int]:
        decision = folding_of(idle(grown(talk), answers), prices=USUAL).decide(2_000)
        return [fold.block for fold in decision.folds]

    assert [folded_after(answers) for answers in (5, 6, 7, 8)] == [[], [], [], [2]]


def test_thinking_pays_rent_from_the_users_next_message_on():
    """Before it, the thinking could not go. About 240 tokens behind it are written anew, at 1.15
    more than a cached token each: 280. The thinking pays 100 with each answer: six pay it twice."""

    def dropped_after(early: int, late: int) -> tuple[int, ...]:
        talk = Talk().typed("go").said(words(1_000))
        talk.blocks[1] = structs.replace(talk.blocks[1], kind="thinking", loose=True, fixed=True)
        talk = idle(idle(talk, early).typed(words(220)), late)
        return folding_of(talk, prices=USUAL).decide(2_000).dropped

    assert [dropped_after(0, answers) for answers in (4, 5, 6)] == [(), (), (1,)]
    assert [dropped_after(20, answers) for answers in (4, 5, 6)] == [(), (), (1,)]


def test_a_clear_begins_where_it_pays_most():
    """The first output is small, and a long text follows it."""
    talk = Talk().typed("go").ran("ls", words(200)).typed(words(30_000)).ran("ls", words(9_000))
    folds = folding_of(then(idle(talk, 2)), prices=USUAL).decide(50_000).folds
    assert [fold.block for fold in folds] == [5]
    cold = folding_of(then(idle(talk, 2)), prices=USUAL).decide(50_000, idle_s=301).folds
    assert [fold.block for fold in cold] == [2, 5]


def test_what_was_not_sent_yet_costs_no_change():
    """The newest blocks are written to the cache anyway."""
    rules = structs.replace(RULES, keep=0)
    talk = Talk().typed("go").said("x").ran("ls", words(1_000))
    assert folding_of(talk, rules, USUAL).decide(2_000).folds
    assert folding_of(talk.typed(words(900)), rules, USUAL).decide(2_000).folds


def test_a_cold_cache_is_written_anew_anyway():
    talk = then(Talk().typed("go").ran("ls", LONG).typed(words(9_000)))
    assert folding_of(talk, prices=USUAL).decide(MUCH, idle_s=USUAL.ttl_s) == Decision()
    assert len(folding_of(talk, prices=USUAL).decide(MUCH, idle_s=USUAL.ttl_s + 1).folds) == 1


def test_a_clear_reckons_with_what_stands_after_it_not_with_what_was_folded_before():
    """Two folders hold the same at the end, one of them with a long text folded at the beginning:
    what they have to get back is the same, because what would be written anew is."""
    dear = PROFILES["0.02/1"]

    def decided(first: int) -> Decision:
        talk = idle(then(Talk().typed("go").ran("ls", words(first))), 9)
        folding = folding_of(talk, prices=dear)
        assert folding.decide(10**6).folds
        rest = Talk()
        for _ in range(30):
            rest.typed(words(1_500)).said("x")
        rest.ran("ls", words(100))
        later = Talk().ran("ls", words(30_000))
        for block in [*later.blocks, *then(rest).blocks]:
            folding.add(structs.replace(block, step=block.step + 11))
        return folding.decide(10**6)

    assert decided(100_000) == decided(200_000) == Decision()


def test_above_the_hard_limit_goes_first_what_may_anyway_then_the_oldest_then_the_newest():
    long = words(300)
    talk = Talk().typed("go").read("a.py", long).ran("ls", long).read("b.py", long)
    talk = talk.ran("ls", long).read("c.py", long)
    rules = structs.replace(RULES, keep=2, share=1, hard=5_000)

    def forced(over: int) -> dict[int, str]:
        folds = folding_of(talk, rules, words=short).decide(5_000 + over).folds
        return {fold.block: fold.tier for fold in folds}

    assert forced(200) == {4: "again"}
    assert forced(300) == {2: "forced", 4: "again", 6: "forced"}
    assert forced(800) == {2: "forced", 4: "again", 6: "forced", 8: "forced"}
    assert forced(1_400) == {**forced(800), 10: "forced"}
    assert forced(9_999) == forced(800)  # without the last result it would not fit either


def test_above_the_hard_limit_goes_first_what_nobody_used_for_long():
    talk = begun().typed("mend c.py").read("c.py", words(2_000)).read("a.py", words(2_000))
    talk = then(idle(talk, 40).read("b.py", words(2_000)).said(words(30_000)))
    rules = structs.replace(RULES, share=1, hard=40_000)
    folds = folding_of(talk, rules, words=short).decide(41_000).folds
    assert [talk.blocks[fold.block].paths for fold in folds] == [("a.py",)]
    assert [fold.tier for fold in folds] == ["forced"]


def test_a_forced_change_that_is_dear_beside_the_rent_frees_more():
    talk = begun()
    for number in range(12):
        talk = idle(talk.read(f"{number}.py", words(4_000)), 3)
    rules = structs.replace(RULES, share=1, hard=45_000)

    def forced(price: str) -> int:
        return len(folding_of(then(talk), rules, PROFILES[price], words=short).decide(46_000).folds)

    assert forced("none") < forced("0.10/1.25") < forced("0.02/1")


def test_above_the_hard_limit_room_is_made_where_a_token_of_it_costs_least():
    talk = Talk().typed("go").ran("ls", words(2_000)).typed(words(40_000)).ran("ls", words(9_000))
    rules = structs.replace(RULES, hard=50_000)
    folding = folding_of(then(idle(talk, 1)), rules, USUAL)
    assert [fold.block for fold in folding.decide(51_000).folds] == [5]
    cold = folding_of(then(idle(talk, 1)), rules, USUAL)
    assert [fold.block for fold in cold.decide(51_000, idle_s=301).folds] == [2, 5]


def test_a_limit_that_nobody_knows_forces_nothing():
    talk = Talk().typed("go").read("a.py", LONG).ran("date", "x")
    assert folding_of(talk, Rules(soft=10**9)).decide(10**9) == Decision()


def test_a_read_is_superseded_by_later_ones_of_all_its_lines():
    text = "\n".join([words(9)] * 8)
    talk = Talk().typed("go").read("a.py", text, first=3)
    assert tiers(then(talk)) == {}
    talk.read("a.py", text.rpartition("\n")[0], first=1)
    assert tiers(then(talk)) == {}
    assert tiers(then(talk.read("a.py", text, first=8))) == {2: "superseded"}


def test_a_read_is_superseded_by_a_later_write_of_the_whole_file():
    talk = Talk().typed("go").read("a.py", LONG).edit("a.py", "w1", "v1")
    talk.blocks[3] = structs.replace(
        talk.blocks[3], rewrites=(structs.replace(talk.blocks[3].rewrites[0], old=None),)
    )
    assert tiers(then(talk)) == {2: "superseded"}


@pytest.mark.parametrize(
    ("restored", "failed", "goes"),
    [
        (("src/a.py",), False, {4: "untouched", 5: "input"}),
        (("src",), False, {4: "untouched", 5: "input"}),
        (("main", "b.py"), False, {4: "superseded"}),
        (("src/a.py",), True, {4: "superseded"}),
    ],
)
def test_a_file_that_git_takes_back_may_have_the_text_of_an_older_read(restored, failed, goes):
    talk = begun().read("src/a.py", LONG).edit("src/a.py", "w1", LONG)
    new = structs.replace(talk.blocks[5].rewrites[0], old=None)
    talk.blocks[5] = structs.replace(talk.blocks[5], rewrites=(new,))
    talk.called("Bash", "run", {"command": "git checkout ..."}, "done", error=failed)
    talk.blocks[7] = structs.replace(talk.blocks[7], restored=restored)
    at_once = {place: tier for place, tier in goes.items() if tier == "superseded"}
    assert tiers(then(grown(talk))) == at_once
    assert tiers(then(idle(talk, LEASE))) == goes


@pytest.mark.parametrize(
    ("first", "second"), [("src/a.py", "/w/src/a.py"), ("/w/src/a.py", "./src/a.py")]
)
def test_a_file_of_the_folder_is_one_file_however_it_is_spelled(first, second):
    talk = then(Talk().typed("go").read(first, LONG).read(second, LONG))
    for folder, superseded in (("/w", [2]), ("/w/", [2]), ("", []), ("/w/src", [])):
        folding = Folding(structs.replace(RULES, share=1), count, stub, PROFILES["none"], folder)
        for block in talk.blocks:
            folding.add(block)
        folds = folding.decide(MUCH).folds
        assert [fold.block for fold in folds if fold.tier == "superseded"] == superseded
        assert all(first in fold.stub for fold in folds if fold.block == 2)


def test_an_answer_without_an_id_is_nobodys():
    folding = folding_of(Talk().typed("go"))
    folding.add(Block(1, 0, "result", LONG, 60, 1, deed="run"))
    folding.add(Block(2, 0, "result", LONG, 60, 2, deed="run"))
    assert [fold.block for fold in folding.decide(MUCH).folds] == [1]


def asked_twice(before: Talk, after: Talk, rules: Rules = RULES) -> dict[int, str]:
    """Return what goes when the folding was asked before the rest came, and nothing went then."""
    folding = folding_of(before, rules)
    assert folding.decide(MUCH) == Decision()
    for block in after.blocks[len(before.blocks) :]:
        folding.add(block)
    return {fold.block: fold.tier for fold in folding.decide(MUCH).folds}


def grown(talk: Talk) -> Talk:
    """A copy to go on with."""
    folding = Talk()
    folding.__dict__ |= talk.__dict__ | {"blocks": [*talk.blocks], "times": [*talk.times]}
    return folding


FOR_LONG = structs.replace(RULES, share=9)


def test_a_read_that_stayed_goes_when_it_is_superseded():
    talk = then(Talk().typed("go").read("a.py", LONG))
    after = then(grown(talk).read("a.py", LONG))
    assert asked_twice(talk, after, FOR_LONG) == {2: "superseded"}


def test_a_read_that_stayed_goes_when_its_file_is_written_anew():
    talk = then(Talk().typed("go").edit("a.py", "x", "y").read("a.py", LONG))
    after = grown(talk).edit("a.py", "x", "y")
    after.blocks[-2] = structs.replace(
        after.blocks[-2], rewrites=(structs.replace(after.blocks[-2].rewrites[0], old=None),)
    )
    assert asked_twice(talk, then(after), FOR_LONG) == {4: "superseded"}


def test_a_named_file_that_stayed_goes_after_it_was_edited():
    talk = then(idle(begun().typed("mend a.py").read("a.py", LONG), 9))
    after = idle(grown(talk).edit("a.py", "x", "y"), 4)
    assert asked_twice(talk, then(after)) == {5: "untouched"}


def test_the_newest_text_that_stayed_goes_when_there_is_a_newer_one():
    talk = then(idle(Talk().typed("go").edit("a.py", "x", LONG), 9))
    after = idle(grown(talk).edit("a.py", "y", "z"), 9)
    assert asked_twice(talk, then(after)) == {1: "input"}


def test_a_call_that_waited_goes_when_it_was_answered():
    after = Talk().typed("go").ran(LONG, LONG)
    before = grown(after)
    before.blocks.pop()
    folding = folding_of(before, structs.replace(RULES, keep=0))
    assert folding.decide(MUCH) == Decision()
    folding.add(after.blocks[-1])
    assert [fold.block for fold in folding.decide(MUCH).folds] == [1, 2]


def test_a_read_is_not_superseded_by_one_that_was_folded():
    talk = Talk().typed("go").read("a.py", LONG).read("a.py", LONG)
    folding = folding_of(then(talk))
    folding.apply(Decision((Fold(4, "gone", 1, "by hand"),)))
    assert folding.decide(MUCH) == Decision()
