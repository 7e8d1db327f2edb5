"""Facts as sentences: there is one for every kind."""

from __future__ import annotations

import pytest
from tests.store.facts import EXAMPLES
from tests.support.commands import command

from sightline.history.session_history import readable_entries
from sightline.history.words import sentence
from sightline.model.events import (
    BlobPurged,
    Cause,
    Changed,
    CheckpointTaken,
    ClaimAnnounced,
    CommandStarted,
    Fact,
    GitMoved,
    Moved,
    NoticeDelivered,
    PartHanded,
    RewindEnded,
    SessionStarted,
    Told,
    WarningRaised,
)
from sightline.model.timeline import Recorded
from sightline.store.memory import MemoryStore
from sightline.store.port import Append

TOLD = [fact for fact in EXAMPLES if type(fact).words]


def said(fact, reader="", texts=()):
    store = MemoryStore()
    store.append(Append("s1", [SessionStarted("claude-code")], at=1, texts=texts))
    (entry,) = readable_entries(store, [Recorded(7, "s1", 1, 1, fact)])
    return sentence(entry, reader)


@pytest.mark.parametrize("fact", TOLD, ids=lambda fact: type(fact).__name__)
def test_every_kind_of_fact_has_a_sentence_of_its_own(fact):
    assert type(fact).log_form != Fact.log_form
    assert fact.word in type(fact).words
    words = said(fact)
    assert words == words.strip()
    assert "{" not in words
    assert "None" not in words


def test_of_many_paths_the_first_are_named():
    paths = tuple(f"f{n}.py" for n in range(14))
    words = said(GitMoved("a" * 40, "b" * 40, "checkout", paths))
    assert words == "git checkout aaaaaaa..bbbbbbb changed: f0.py, f1.py, f2.py and 11 more"


def test_a_warning_names_its_files_once():
    assert (
        said(WarningRaised("w-1", "mind this", ("a.py", "b.py"))) == "warning: mind this a.py, b.py"
    )
    assert said(WarningRaised("w-1", "a.py is made", ("a.py",))) == "warning: a.py is made"


def test_a_rewind_of_files_alone_does_not_say_that_the_agent_knows_less():
    assert said(RewindEnded(20)) == "the agent knows again what it knew at position 20"
    assert said(RewindEnded(20, files_only=True)) == (
        "the rewind changed the files; what the agent knows stays"
    )


def test_a_checkpoint_is_told_by_its_id_and_label():
    assert said(CheckpointTaken("cp-1", "", "a" * 64)) == "checkpoint cp-1"
    assert said(CheckpointTaken("cp-1", "start", "a" * 64)) == "checkpoint cp-1 start"


def test_texts_that_went_are_counted_with_the_reason():
    assert said(BlobPurged("a" * 64, "age", ("b" * 64, "c" * 64))) == (
        "3 kept texts forgotten: not needed, and older than the limit"
    )
    assert said(BlobPurged("a" * 64, "secret")) == "1 kept text forgotten: secret"


FORGED = "echo a\n12:00  s9  turn 7 began"


@pytest.mark.parametrize(
    "fact",
    [
        Moved("x.py", "x\n12:00  s9  y.py", "a" * 64, Cause("external")),
        CommandStarted(command(FORGED), "r1"),
        GitMoved("a" * 40, "b" * 40, "checkout", ("x\r\ny.py",)),
    ],
    ids=["path", "command", "paths"],
)
def test_no_name_and_no_command_makes_a_line_of_its_own(fact):
    words = said(fact, texts=[FORGED.encode()])
    assert words.isprintable()
    assert "␊" in words or "\\n" in words


def test_a_mode_that_changed_is_said_to_have():
    same = Changed("x.sh", "a" * 64, "a" * 64, "mode", Cause("external"))
    assert said(same) == "the mode of x.sh was changed by the user or another program"


PLAIN = Told("a.py", "r", (), 1)
SHOWN = Told("a.py", "r", ((0, 1, 0, 1),), 1)


@pytest.mark.parametrize(
    ("kind", "told", "diff", "sentence"),
    [
        ("notice", (SHOWN,), "", "the agent was sent what had changed: a.py"),
        ("notice", (PLAIN,), "", "the agent was told that these changed: a.py"),
        ("change", (PLAIN,), "0a", "the agent was sent what had changed: a.py"),
        ("refusal", (), "0a", "the agent was sent what had changed: a.py"),
        ("refusal", (SHOWN,), "", "the agent was told why its attempt was refused: a.py"),
        ("refusal", (), "", "the agent was told why its attempt was refused: a.py"),
    ],
)
def test_what_had_changed_is_said_to_be_sent_only_where_a_diff_was(kind, told, diff, sentence):
    assert said(NoticeDelivered(kind, "call", ("a.py",), told, diff=diff)) == sentence


@pytest.mark.parametrize(
    ("fact", "sentence"),
    [
        (ClaimAnnounced("c-1"), "the agent was told that another session claims the file"),
        (PartHanded("warning", "w-1"), "the agent was sent a warning"),
        (PartHanded("memory", "0a"), "the agent was sent a part of the briefing: memory"),
    ],
)
def test_other_deliveries_are_called_by_what_they_are(fact, sentence):
    assert said(fact) == sentence
