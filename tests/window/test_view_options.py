"""What a view is asked for: budgets, prices and policies, one after the other."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from msgspec import structs

import sightline
from sightline.errors import StoreError
from sightline.messages.formats.format import FORMATS
from sightline.messages.token_counter import counter
from sightline.model.events import Folded
from sightline.model.revision import revision_of

LONG = "line of a file that is long enough to be worth a stub\n" * 40


def talk(session, turns=10):
    say = session.conversation.append
    say({"role": "user", "content": "go on"})
    for n in range(turns):
        used = {
            "type": "tool_use",
            "id": f"c{n}",
            "name": "Read",
            "input": {"file_path": f"{n}.py"},
        }
        say({"role": "assistant", "content": [used]})
        say(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"c{n}", "content": LONG}],
            }
        )
    return session.conversation


def tokens(view):
    return sum(block.tokens for block in FORMATS["anthropic"].blocks(view, counter()))


def test_below_the_soft_budget_nothing_is_folded(s):
    conversation = talk(s)
    assert conversation.view() == conversation.messages()
    assert conversation.view(100_000, price="none") == conversation.messages()


def test_a_hard_budget_is_kept_whatever_has_to_go(place, s):
    conversation = talk(s)
    budget = sightline.Budget(hard=2_500)
    view = conversation.view(budget)
    assert tokens(view) <= 2_500 < tokens(conversation.messages())
    assert place.session("s").conversation.view(budget) == view
    smaller = conversation.view(sightline.Budget(hard=2_500, prefix=800))
    assert tokens(smaller) <= 1_700


def test_what_was_folded_stays_so_when_more_is_allowed_again(s):
    """It would make the provider read all of it anew."""
    conversation = talk(s)
    view = conversation.view(sightline.Budget(hard=2_500))
    assert conversation.view(100_000) == view
    assert conversation.view(policy="careful", price="none", budget=100_000) == view


def test_a_host_may_change_what_it_was_given(s):
    conversation = talk(s)
    view = conversation.view(sightline.Budget(hard=2_500))
    told = json.dumps(view)
    for message in (*view, *conversation.messages()):
        message["mark"] = True
        if isinstance(message["content"], list):
            message["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert json.dumps(conversation.view(sightline.Budget(hard=2_500))) == told


def test_budgets_that_contradict_each_other_are_refused(s):
    with pytest.raises(ValueError, match="the soft budget, 20, is above the hard one, 10"):
        s.conversation.view(sightline.Budget(soft=20, hard=10))
    with pytest.raises(ValueError, match="prefix is a number of tokens"):
        s.conversation.view(sightline.Budget(prefix=-1))
    with pytest.raises(ValueError, match="hard budget is a number of tokens, 1 or more, not 0"):
        s.conversation.view(sightline.Budget(hard=0))


def test_a_conversation_goes_back_with_a_checkpoint(place, s):
    conversation = talk(s, 2)
    before = conversation.messages()
    checkpoint = s.checkpoint("then")
    talk(s, 1)
    s.rewind(checkpoint, conversation=True)
    assert conversation.messages() == before
    assert conversation.view() == before
    assert place.session("s").conversation.messages() == before


def test_nothing_is_decided_while_the_model_has_the_last_word(s):
    conversation = talk(s)
    conversation.append({"role": "assistant", "content": [{"type": "text", "text": "done"}]})
    history = conversation.messages()
    assert conversation.view(500, price="none") == history
    with pytest.raises(sightline.WindowFull, match="the model has the last word"):
        conversation.view(sightline.Budget(hard=500))
    assert conversation.view() == history
    conversation.append({"role": "user", "content": "thanks"})
    assert tokens(conversation.view(sightline.Budget(hard=1_000))) <= 1_000


SAYING = """
import json, sys
import sightline
from sightline.model.events import Folded
from sightline.config.settings import Settings
session = sightline.open_session(sys.argv[1], id="s", settings=Settings(state_home=sys.argv[2]))
number = 0
while True:
    number += 1
    id = session.conversation.append({"role": "user", "content": f"{number} " * 400})
    print(id, flush=True)
    session.conversation.view(400, price="none")
"""


def test_every_message_that_was_acknowledged_survives_kill_9(place):
    process = subprocess.Popen(
        [sys.executable, "-c", SAYING, str(place.root), str(place.home / "state")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = [process.stdout.readline().strip() for _ in range(40)]
    process.send_signal(signal.SIGKILL)
    told += process.stdout.read().split()
    process.wait(30)
    process.stdout.close()
    conversation = place.session("s").conversation
    kept = [each.id for each in conversation.display()]
    assert kept[: len(told)] == told
    assert len(kept) - len(told) <= 1
    numbers = [message["content"].split()[0] for message in conversation.messages()]
    assert numbers == [str(n) for n in range(1, len(kept) + 1)]


def decisions(session):
    found = session._context.store.timeline(session=session.id, kinds=[Folded])
    return [each.fact for each in found]


def test_of_two_processes_that_fold_the_same_the_first_is_right(place, s):
    """The second decided before the first was on record."""
    conversation = talk(s)
    view = conversation.view(sightline.Budget(hard=2_500))
    [first] = decisions(s)
    told = json.loads(s._context.store.blob(first.text))
    for fold in told["folds"]:
        fold[-1] = "[in other words]"
    data = json.dumps(told).encode()
    s._context.append([structs.replace(first, text=revision_of(data))], blobs=[data])
    assert conversation.view() == view
    assert place.session("s").conversation.view() == view


def test_what_is_folded_by_one_process_while_another_sums_it_up_is_no_matter(place, s):
    conversation = talk(s)
    conversation.view(sightline.Budget(hard=2_500))
    [late] = decisions(s)
    assert conversation.condense(lambda text: "All is well.", keep_tokens=500)
    view = conversation.view()
    s._context.append([late])
    assert place.session("s").conversation.view() == view
    assert conversation.view() == view


def test_a_decision_about_nothing_that_was_said_is_an_error(s):
    conversation = talk(s)
    data = json.dumps(
        {"folds": [["nobody", 0, "x", "again", 1, "[x]"]], "tails": [], "dropped": []}
    )
    s._context.append([Folded("nobody", (0,), revision_of(data.encode()))], blobs=[data.encode()])
    with pytest.raises(StoreError, match="is about the message nobody, which is not in"):
        conversation.view()


def test_tokens_are_those_of_the_model_that_is_used(place, s):
    """Claude's newer models take about a third more for the same text."""
    conversation = talk(s, 12)
    whole = sum(
        block.tokens for block in FORMATS["anthropic"].blocks(conversation.messages(), counter())
    )
    budget = sightline.Budget(hard=whole + 10)
    assert conversation.view(budget) == conversation.messages()
    s.turn(model="claude-opus-4-8")
    assert conversation.view(budget) != conversation.messages()
    assert place.session("s").conversation.view(budget) == conversation.view(budget)
