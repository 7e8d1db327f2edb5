"""What holds for every format, over conversations as Hypothesis draws them."""

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.messages.formats.histories import NAMES, broken, histories, published
from tests.support.examples import examples
from tests.support.providers import CHECKS, check
from tests.support.published_types import check_types

from sightline.messages.blocks import Decision, Fold, Tail
from sightline.messages.formats.exchanges import split_exchanges
from sightline.messages.formats.format import FORMATS, detect

FEWER = settings(max_examples=examples(20))


def formats(test):
    """Once for each format, with fewer examples for each."""
    return pytest.mark.parametrize("name", NAMES)(FEWER(test))


STUB = "[removed to save context]"


def closed_groups(form, messages, blocks):
    """The blocks that may be dropped, in groups that go together: the calls of an answer with their
    results."""
    places = {(block.message, block.part): place for place, block in enumerate(blocks)}
    exchanges = split_exchanges(form.adapter, messages)
    results = {row.id: row for exchange in exchanges for row in exchange.results}
    groups = []
    for exchange in exchanges:
        rows = [row for call in exchange.calls for row in (call, results.get(call.id)) if row]
        group = tuple(sorted(places[row.key] for row in rows))
        try:
            form.project(messages, blocks, [Decision(dropped=group)])
        except ValueError:  # a call waits for its result, or the model is at work
            continue
        groups += [group] if group else []
    return groups


@st.composite
def decided(draw, name, conversations=histories):
    """A conversation, its blocks, and any decisions that may be made on it."""
    form = FORMATS[name]
    messages = draw(conversations(name))
    blocks = form.blocks(messages, len)
    open_to = [at for at, block in enumerate(blocks) if not block.fixed]
    folded = draw(st.sets(st.sampled_from(open_to))) if open_to else set()
    groups = closed_groups(form, messages, blocks)
    dropped = draw(st.sets(st.sampled_from(groups))) if groups else set()
    spoken = max((block.step for block in blocks if block.kind == "user"), default=0)
    loose = [at for at, block in enumerate(blocks) if block.loose and block.step <= spoken]
    thoughts = draw(st.sets(st.sampled_from(loose))) if loose else set()
    heard = [at for at, block in enumerate(blocks) if _is_heard(form, messages, block)]
    tails = draw(st.sets(st.sampled_from(heard), max_size=2))
    folds = tuple(Fold(at, f"{STUB} {at}", 5, "again") for at in sorted(folded))
    decisions = [
        Decision(folds=folds),
        Decision(tails=tuple(Tail(at, f"Now: {at}", 5) for at in sorted(tails))),
        Decision(dropped=tuple({at for group in dropped for at in group} | thoughts)),
    ]
    return messages, blocks, decisions


def is_taken(name, view, *strict):
    """Return whether the provider takes a view, up to where it can be sent. strict: servers of the same
    format that refuse more."""
    form = FORMATS[name]
    while view and (form.adapter.role(view[-1]) == "model" or form.problems(view, sending=True)):
        view = form.repaired(view[:-1])
    if view:
        for each in (name, *strict):
            if each in CHECKS:
                check(each, view)
    return True


def _is_heard(form, messages, block):
    return form.adapter.role(messages[block.message]) in ("user", "tool")


def typed(form, messages):
    return [block.text for block in form.blocks(messages, len) if block.kind == "user"]


@formats
@given(data=st.data())
def test_a_conversation_is_right_before_anything_is_done(name, data):
    messages = data.draw(histories(name))
    assert FORMATS[name].problems(messages) == []
    assert FORMATS[name].repaired(messages) == messages


@formats
@given(data=st.data())
def test_a_view_without_decisions_is_the_conversation(name, data):
    messages = data.draw(histories(name))
    form = FORMATS[name]
    view = form.project(messages, form.blocks(messages, len), [])
    assert all(one is two for one, two in zip(view, messages, strict=True))


@formats
@given(data=st.data())
def test_any_decisions_leave_a_view_that_a_provider_takes(name, data):
    messages, blocks, decisions = data.draw(decided(name))
    form = FORMATS[name]
    before = copy.deepcopy(messages)
    view = form.project(messages, blocks, decisions)
    assert form.problems(view) == []
    assert messages == before
    assert is_taken(name, view)


STRICT = {"chat": ["mistral"], "responses": ["deepseek"]}


def strictly(name):
    """Conversations that strict servers take: Mistral's ids are nine letters and digits."""

    def with_short_ids(messages):
        text = re.sub(r"call_(\d+)", lambda each: f"callNr{int(each[1]):03}", json.dumps(messages))
        return json.loads(text)

    return published(name).map(with_short_ids)


@pytest.mark.wide
@formats
@given(data=st.data())
def test_a_view_is_of_the_types_that_its_provider_publishes(name, data):
    messages, blocks, decisions = data.draw(decided(name, strictly))
    check_types(name, messages)
    view = FORMATS[name].project(messages, blocks, decisions)
    check_types(name, view)
    assert is_taken(name, view, *STRICT.get(name, ()))


@pytest.mark.wide
@formats
@given(data=st.data())
def test_what_is_mended_is_of_the_types_that_its_provider_publishes(name, data):
    form = FORMATS[name]
    mended = form.repaired(data.draw(broken(name, strictly)))
    view = form.project(mended, form.blocks(mended, len), [])
    check_types(name, view)
    assert is_taken(name, view)


@formats
@given(data=st.data())
def test_decisions_carried_out_twice_are_carried_out_once(name, data):
    messages, blocks, decisions = data.draw(decided(name))
    form = FORMATS[name]
    view = form.project(messages, blocks, decisions)
    assert form.project(messages, blocks, decisions + decisions) == view
    assert form.project(view, form.blocks(view, len), []) == view
    folded = form.project(messages, blocks, decisions[:1])
    assert form.project(folded, blocks, decisions[:1]) == folded


@formats
@given(data=st.data())
def test_what_somebody_typed_stays_in_every_view(name, data):
    messages, blocks, decisions = data.draw(decided(name))
    form = FORMATS[name]
    view = form.project(messages, blocks, decisions)
    said = "\x00".join(typed(form, view))
    at = 0
    for text in typed(form, messages):
        at = said.index(text, at) + len(text)


@formats
@given(data=st.data())
def test_ids_errors_and_arguments_survive_a_stub(name, data):
    messages, blocks, decisions = data.draw(decided(name))
    form = FORMATS[name]
    view = form.blocks(form.project(messages, blocks, decisions[:1]), len)
    assert [each.call for each in view] == [each.call for each in blocks]
    for old, new in zip(blocks, view, strict=True):
        if old.kind == "result" and old.text == new.text:
            assert old.error == new.error
        if old.kind == "call" and old.text.startswith("{"):
            assert shape(json.loads(old.text)) == shape(json.loads(new.text))


def shape(value):
    """Keys and types."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else type(value)


@formats
@given(data=st.data())
def test_what_is_broken_is_mended_and_stays_so(name, data):
    messages = data.draw(broken(name))
    form = FORMATS[name]
    before = copy.deepcopy(messages)
    mended = form.repaired(messages)
    assert form.problems(mended) == []
    assert form.repaired(mended) == mended
    assert messages == before
    assert is_taken(name, form.project(mended, form.blocks(mended, len), []))
    assert sorted(typed(form, mended)) == sorted(typed(form, messages))


@formats
@given(data=st.data())
def test_a_format_is_told_by_its_messages(name, data):
    messages = data.draw(histories(name))
    told = detect(messages)
    assert FORMATS[told].blocks(messages, len)
    if any(block.call for block in FORMATS[name].blocks(messages, len)):
        assert told == name or {told, name} == {"chat", "litellm"}


@formats
@given(data=st.data())
def test_what_is_fixed_is_never_folded(name, data):
    messages = data.draw(histories(name))
    form = FORMATS[name]
    blocks = form.blocks(messages, len)
    at = next(at for at, block in enumerate(blocks) if block.fixed)
    with pytest.raises(ValueError, match="may never be folded"):
        form.project(messages, blocks, [Decision(folds=(Fold(at, STUB, 5, "again"),))])


@formats
@given(data=st.data())
def test_half_a_group_is_refused(name, data):
    messages = data.draw(histories(name))
    form = FORMATS[name]
    blocks = form.blocks(messages, len)
    for group in closed_groups(form, messages, blocks):
        with pytest.raises(ValueError, match="all calls of"):
            form.project(messages, blocks, [Decision(dropped=group[1:])])
