"""Facts as sentences: there is one for every kind."""

from __future__ import annotations

import pytest
from tests.store.facts import EXAMPLES

from sightline.core.events import BlobPurged, GitMoved, WriteAbandoned, WriteIntended
from sightline.core.timeline import Recorded
from sightline.render.log import _FORMS, _OWN, sentence
from sightline.services.entries import WORDS, told

TOLD = [fact for fact in EXAMPLES if not isinstance(fact, (WriteIntended, WriteAbandoned))]


def said(fact, reader=""):
    (entry,) = told([Recorded(7, "s1", 1, 1, fact)], {"s1": "claude-code"})
    return sentence(entry, reader)


@pytest.mark.parametrize("fact", TOLD, ids=lambda fact: type(fact).__name__)
def test_every_kind_of_fact_has_a_sentence_of_its_own(fact):
    name = type(fact).__name__
    assert name in _OWN or WORDS[name] in _FORMS or WORDS[name] == "changed"
    words = said(fact)
    assert words == words.strip()
    assert "{" not in words
    assert "None" not in words


def test_of_many_paths_the_first_are_named():
    paths = tuple(f"f{n}.py" for n in range(14))
    words = said(GitMoved("a" * 40, "b" * 40, "checkout", paths))
    assert words == "git checkout aaaaaaa..bbbbbbb changed: f0.py, f1.py, f2.py and 11 more"


def test_texts_that_went_are_counted_with_the_reason():
    assert said(BlobPurged("a" * 64, "age", ("b" * 64, "c" * 64))) == (
        "3 kept texts forgotten: not needed, and out of their time"
    )
    assert said(BlobPurged("a" * 64, "secret")) == "1 kept text forgotten: secret"
