"""A summary stands for what it sums up only when it is one, and never alone."""

from __future__ import annotations

import json
import threading
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.messages.formats.histories import NAMES, histories
from tests.support.examples import examples

from sightline.errors import CondenseRefused
from sightline.messages.formats.format import FORMATS
from sightline.model.events import Changed
from sightline.testing import make_session
from sightline.window.words import RECORD, TITLE

LONG = "line of a file that is long enough to be worth a stub\n" * 60
PICTURE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


def short(text):
    return "The user wants the bug fixed."


class Asked:
    """A summarizer that remembers what it was asked, and always answers the same."""

    def __init__(self, answer="The user wants the bug fixed."):
        self.answer = answer
        self.texts = []

    def __call__(self, text):
        self.texts.append(text)
        return self.answer


def talk(session, turns=4, start=0):
    say = session.conversation.append
    for n in range(start, start + turns):
        say({"role": "user", "content": [{"type": "text", "text": f"please do {n}"}]})
        used = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"command": f"run {n}"}}
        say({"role": "assistant", "content": [used]})
        told = {"type": "tool_result", "tool_use_id": f"c{n}", "content": LONG, "is_error": n == 1}
        say({"role": "user", "content": [told]})
        say({"role": "assistant", "content": [{"type": "text", "text": f"did {n}"}]})
    return session.conversation


def test_a_summary_stands_for_all_but_the_newest_messages(place, s):
    conversation = talk(s)
    history = conversation.messages()
    made = conversation.condense(short, keep_tokens=500)
    view = conversation.view()
    assert conversation.messages() == history
    assert view[1:] == history[-len(view) + 1 :]
    assert view[0]["content"].startswith(TITLE)
    assert made.after < made.before
    assert FORMATS["anthropic"].problems(view) == []
    assert place.session("s").conversation.view() == view
    assert s.fork("child").conversation.view() == view


def test_what_the_user_said_and_what_was_run_stand_beside_it_word_for_word(s):
    made = talk(s).condense(short, keep_tokens=500)
    record = made.summary.partition(RECORD)[2]
    assert "<user>\nplease do 0\n</user>" in record
    assert "- run 0\n- run 1 (failed)" in record


def test_files_are_listed_with_what_was_done_to_them(place, ten, s):
    place.put("old.py", "x\n")
    ten.read("old.py")
    ten.edit("a.py", "line 3", "mine")
    ten.create("new.py", "a\n")
    ten.delete("old.py")
    place.put("seen.py", "one\n")
    ten.read("seen.py")
    place.put("seen.py", "two\n")
    with ten.ran("make test") as run:
        run.exit_code = 2
    made = talk(ten).condense(short, keep_tokens=500)
    assert "- a.py: modified, revision" in made.summary
    assert "- new.py: created, revision" in made.summary
    assert "- old.py: deleted\n" in made.summary
    assert "### Changed since you last saw them; read them again\n\n- seen.py" in made.summary
    assert "- make test (exit code 2)" in made.summary


def test_a_second_summary_knows_the_changes_before_the_first_and_reads_only_those_since(ten, place):
    ten.edit("a.py", "line 3", "mine")
    ten.create("new.py", "a\n")
    ten.create("gone.py", "a\n")
    ten.delete("gone.py")
    talk(ten, 3).condense(short, keep_tokens=500)
    ten.edit("new.py", "a", "b")
    ten.create("gone.py", "again\n")
    changes_read: list[Changed] = []

    def reading(**asked):
        for row in timeline(**asked):
            changes_read.append(row.fact) if isinstance(row.fact, Changed) else None
            yield row

    store = ten._context.store
    timeline, store.timeline = store.timeline, reading
    made = talk(ten, 3, start=3).condense(short, keep_tokens=500)
    assert "- a.py: modified, revision" in made.summary
    assert "- new.py: created, revision" in made.summary
    assert "- gone.py: created, revision" in made.summary
    assert [fact.path for fact in changes_read] == ["new.py", "gone.py"]


def test_a_change_while_the_summarizer_works_stands_in_the_next_summary(ten):
    def busy(text):
        ten.create("meanwhile.py", "a\n")
        return short(text)

    talk(ten, 3).condense(busy, keep_tokens=500)
    made = talk(ten, 3, start=3).condense(short, keep_tokens=500)
    assert "- meanwhile.py: created, revision" in made.summary


def test_the_open_work_stands_beside_it(s):
    todos = [{"content": "fix it", "status": "pending"}, {"content": "look", "status": "completed"}]
    used = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": todos}}
    s.conversation.append({"role": "user", "content": [{"type": "text", "text": "go"}]})
    s.conversation.append({"role": "assistant", "content": [used]})
    told = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    s.conversation.append({"role": "user", "content": [told]})
    made = talk(s).condense(short, keep_tokens=500)
    assert "### Work that is open\n\n- fix it" in made.summary
    assert "### Work that is done\n\n- look" in made.summary


def test_the_summarizer_is_given_plain_text_without_pictures_or_thinking(s):
    image = [{"type": "text", "text": "see"}, {"type": "image", "source": PICTURE}]
    s.conversation.append({"role": "user", "content": image})
    thought = {"type": "thinking", "thinking": "secret thought", "signature": "c2ln"}
    s.conversation.append(
        {"role": "assistant", "content": [thought, {"type": "text", "text": "ok"}]}
    )
    summarizer = Asked()
    talk(s).condense(summarizer, keep_tokens=500)
    asked = summarizer.texts
    assert "[image, about 1500 tokens, left out here]" in asked[0]
    assert "iVBOR" not in asked[0]
    assert "secret thought" not in asked[0]
    assert "Agent calls Bash:\n" in asked[0]
    assert "Bash answers with an error:" in asked[0]


def test_a_second_summary_takes_in_the_first_and_loses_nothing_the_user_said(s):
    talk(s, 3).condense(Asked("FIRST."), keep_tokens=500)
    conversation = talk(s, 3, start=3)
    second = Asked("SECOND.")
    made = conversation.condense(second, keep_tokens=500)
    assert "Summary of what was before:" in second.texts[0]
    assert "FIRST." in second.texts[0]
    assert RECORD not in second.texts[0]
    assert "FIRST." not in made.summary
    for n in range(5):
        assert f"please do {n}" in made.summary
        assert f"- run {n}" in made.summary
    assert [each.summary for each in conversation.display()].count(True) == 2
    assert len(conversation.messages()) == 24


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        (None, "it is empty"),
        ("word " * 9_000, "are the most"),
    ],
    ids=["empty", "blank", "none", "long"],
)
def test_a_summary_that_is_none_is_refused_and_all_is_as_it_was(s, answer, why):
    conversation = talk(s)
    before = conversation.view()
    with pytest.raises(CondenseRefused, match=why):
        conversation.condense(lambda text: answer, keep_tokens=500)
    assert conversation.view() == before


def test_a_summary_that_wins_nothing_is_refused(s):
    for n in range(6):
        role = "assistant" if n % 2 else "user"
        s.conversation.append({"role": role, "content": [{"type": "text", "text": "hm"}]})
    with pytest.raises(CondenseRefused, match="the view would have"):
        s.conversation.condense(short, keep_tokens=1)


def test_after_three_failures_nobody_is_asked_until_the_user_says_something(place, s):
    conversation = talk(s)
    asked = []

    def fails(text):
        asked.append(text)
        raise TimeoutError("no answer")

    for _ in range(3):
        with pytest.raises(CondenseRefused, match="TimeoutError: no answer"):
            conversation.condense(fails, keep_tokens=500)
    for same in (conversation, place.session("s").conversation):
        with pytest.raises(CondenseRefused, match="The last 3 summaries failed"):
            same.condense(fails, keep_tokens=500)
    assert len(asked) == 3
    talk(s, 1, start=4)
    assert conversation.condense(short, keep_tokens=500)


def test_there_may_be_nothing_to_sum_up(s):
    assert s.conversation.condense(short) is None
    conversation = talk(s, 1)
    assert conversation.condense(short) is None
    with pytest.raises(ValueError, match="0 or more"):
        conversation.condense(short, keep_tokens=-1)


def test_what_is_said_while_it_is_made_stays_and_a_rewind_ends_it(s):
    conversation = talk(s)
    first = conversation.display()[0].id

    def interrupted(text):
        talk(s, 1, start=4)
        return short(text)

    assert conversation.condense(interrupted, keep_tokens=500)
    assert "did 4" in json.dumps(conversation.view())

    def taken_back(text):
        conversation.rewind(first)
        return short(text)

    talk(s, 3, start=5)
    with pytest.raises(CondenseRefused, match="went back"):
        conversation.condense(taken_back, keep_tokens=500)


def test_other_verbs_go_on_while_it_is_made(place, ten):
    def reading(text):
        done = []
        other = threading.Thread(target=lambda: done.append(ten.read("a.py")))
        other.start()
        other.join(30)
        assert done
        return short(text)

    assert talk(ten).condense(reading, keep_tokens=500)


def test_a_rewind_behind_a_summary_has_the_messages_again(s):
    conversation = talk(s)
    before = conversation.view()
    tip = conversation.display()[-1].id
    conversation.condense(short, keep_tokens=500)
    assert conversation.view() != before
    conversation.rewind(conversation.display()[3].id)
    assert conversation.view() == before[:4]
    conversation.rewind(tip)
    assert conversation.view()[0]["content"].startswith(TITLE)


@pytest.mark.wide
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_a_view_with_a_summary_is_valid_in_every_format(name, data):
    messages = data.draw(histories(name))
    session = make_session(id="s", clock=lambda: 10**15)
    for message in messages:
        session.conversation.append(message)
    with suppress(CondenseRefused):  # where it would be longer than what it stands for
        session.conversation.condense(lambda text: "ok", keep_tokens=data.draw(st.integers(0, 100)))
    assert FORMATS[name].problems(session.conversation.view()) == []
    assert session.conversation.messages() == messages


# --- verification, without a model


def busy(s):
    """A conversation with all that a summary must keep: edits, commands that failed, work, names."""
    say = s.conversation.append
    say({"role": "user", "content": "Make `total_of` right, and keep `tests/test_bill.py` green."})
    todos = [
        {"content": "round the totals", "status": "pending"},
        {"content": "look", "status": "completed"},
        {"content": "tell Ada", "status": "in_progress"},
    ]
    calls = [
        ("TodoWrite", {"todos": todos}, "ok", False),
        *(("Write", {"file_path": f"src/m{n}.py", "content": LONG}, "ok", False) for n in range(6)),
        ("Bash", {"command": "make check"}, "Error 2", True),
        *(("Bash", {"command": f"ls {n}"}, LONG, False) for n in range(60)),
    ]
    for n, (tool, arguments, told, error) in enumerate(calls):
        used = {"type": "tool_use", "id": f"b{n}", "name": tool, "input": arguments}
        say({"role": "assistant", "content": [used]})
        answer = {"type": "tool_result", "tool_use_id": f"b{n}", "content": told, "is_error": error}
        say({"role": "user", "content": [answer]})
    return s.conversation


def forgetful(request):
    """A model that names half of the changed files, and no open work."""
    return "Done so far: src/m0.py, src/m1.py and src/m2.py were written for `total_of`."


@pytest.mark.wide
def test_what_a_model_forgets_is_added_and_named(s):
    made = busy(s).condense(forgetful, keep_tokens=100)
    assert made.added == (
        *("src/m3.py", "src/m4.py", "src/m5.py", "round the totals", "tell Ada", "make check"),
        "tests/test_bill.py",
    )
    for name in (*made.added, "src/m0.py", "total_of"):
        assert name in made.summary
    assert "- make check (failed)" in made.summary


def test_without_a_summarizer_the_record_and_the_last_words_are_the_summary(s):
    conversation = busy(s)
    conversation.append({"role": "assistant", "content": "The totals are wrong in m3."})
    conversation.append({"role": "user", "content": "go on"})
    made = conversation.condense(keep_tokens=0)
    assert "No model summed this up." in made.summary
    assert "> The totals are wrong in m3." in made.summary
    assert all(f"- src/m{n}.py: modified" in made.summary for n in range(6))
    assert made.added == ()
    again = talk(s, 3).condense(keep_tokens=100)
    assert again.summary.count("No model summed this up.") == 1
    assert "### Work that is open\n\n- round the totals\n- tell Ada" in again.summary


def test_open_work_is_remembered_over_several_summaries_and_closed_by_its_id(s):
    say = s.conversation.append
    say({"role": "user", "content": "go"})
    tasks = [
        ("TaskCreate", {"subject": "write it"}, "Task #1 created"),
        ("TaskCreate", {"subject": "test it"}, "Task #2 created"),
    ]
    for n, (tool, arguments, told) in enumerate(tasks):
        used = {"type": "tool_use", "id": f"k{n}", "name": tool, "input": arguments}
        say({"role": "assistant", "content": [used]})
        say({"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"k{n}", "content": told}]})  # fmt: skip
    assert "- write it\n- test it" in talk(s, 3).condense(short, keep_tokens=100).summary
    used = {"type": "tool_use", "id": "u", "name": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}  # fmt: skip
    say({"role": "assistant", "content": [used]})
    say({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u", "content": "ok"}]})
    made = talk(s, 3, start=3).condense(short, keep_tokens=100)
    assert "### Work that is open\n\n- test it\n" in made.summary
    assert "### Work that is done\n\n- write it" in made.summary


def test_a_summary_above_the_target_is_refused(s):
    conversation = talk(s)
    before = conversation.view()
    with pytest.raises(CondenseRefused, match="600 are the most"):
        conversation.condense(short, keep_tokens=500, target=600)
    assert conversation.view() == before


def test_the_outlines_of_files_stand_in_the_summary_as_the_agent_saw_them(place, s):
    say = s.conversation.append
    place.put("shop.py", "def other(): pass\n")  # what is on disk now is not what the agent saw
    source = "class Shop(Base):\n    def open(self, door: int) -> bool:\n        return True\n"
    lines = "".join(f"{n:>6}→{line}\n" for n, line in enumerate(source.split("\n"), 1))
    say({"role": "user", "content": "go"})
    used = {"type": "tool_use", "id": "r", "name": "Read", "input": {"file_path": "shop.py"}}
    say({"role": "assistant", "content": [used]})
    say(
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "r", "content": lines}]}
    )
    made = talk(s, 4).condense(short, keep_tokens=500, outlines=True)
    assert (
        "### Outlines of the files, as you saw them\n\n- shop.py\n  1: class Shop(Base):\n"
        "  2:   def open(self, door: int) -> bool:"
    ) in made.summary
    assert "def other" not in made.summary


def test_a_file_that_a_patch_deletes_and_an_edit_that_failed_are_told_as_they_were(s):
    say = s.conversation.append
    say({"role": "user", "content": "go"})
    patch = "*** Begin Patch\n*** Delete File: /x/gone.py\n*** Update File: /x/kept.py\n@@\n-a\n+b\n*** End Patch"
    calls = [
        ("apply_patch", {"input": patch}, "ok", False),
        (
            "Edit",
            {"file_path": "/x/no.py", "old_string": "a", "new_string": "b"},
            "not found",
            True,
        ),
    ]
    for n, (tool, arguments, told, error) in enumerate(calls):
        used = {"type": "tool_use", "id": f"p{n}", "name": tool, "input": arguments}
        say({"role": "assistant", "content": [used]})
        answer = {"type": "tool_result", "tool_use_id": f"p{n}", "content": told, "is_error": error}
        say({"role": "user", "content": [answer]})
    made = talk(s).condense(keep_tokens=100)
    assert "- /x/gone.py: deleted\n" in made.summary
    assert "- /x/kept.py: modified\n" in made.summary
    assert "/x/no.py" not in made.summary
