"""What transcripts show that no hook tells of."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.agents.claude_code.samples import CLAUDE, DATA

from sightline.model.hook_events import Shown, Used
from sightline.recordings.claude_code import transcripts

DEMO = "/home/me/demo"
CALC = f"{DEMO}/calc.py"
TRANSCRIPTS = sorted(DATA.glob("transcript-*.jsonl"))


def shown(name, *, before=0):
    """Return what a captured transcript shows, without the times of its rows."""
    found = CLAUDE.unhooked(str(DATA / name), 0, before=before)[0]
    assert all(event.at for event in found if isinstance(event, Shown))
    return [structs.replace(event, at=None) for event in found if isinstance(event, Shown)]


def attachment(kind, **fields):
    return json.dumps({"type": "attachment", "attachment": {"type": kind, **fields}}) + "\n"


def read_of(tmp_path, *rows):
    file = tmp_path / "t.jsonl"
    file.write_text("".join(rows))
    events, offset = CLAUDE.unhooked(str(file), 0, before=0)
    assert offset == file.stat().st_size
    return events


def mention(name="a", text="x\n"):
    file = {"filePath": name, "content": text, "startLine": 1, "numLines": 2, "totalLines": 2}
    return attachment("file", filename=name, content={"type": "text", "file": file})


def test_mentions_and_instructions_of_the_real_client():
    assert shown("transcript-mentions.jsonl") == [
        Shown(f"{DEMO}/crlf.txt", None, "a\nb\nc\n", "mention"),
        Shown(f"{DEMO}/big.txt", (3, 5), "3\n4\n5\n", "mention"),
        Shown(f"{DEMO}/sub/m.py", None, "y\n", "mention"),
        Shown(f"{DEMO}/sub/CLAUDE.md", None, "# nested\n", "instructions"),
        Shown(f"{DEMO}/CLAUDE.md", None, "# mem", "instructions"),
    ]


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("1970-01-01T00:00:01.5Z", 1_500_000),
        ("1970-01-01T01:00:01+01:00", 1_000_000),
        ("1970-01-01T00:00:01", None),
        ("soon", None),
        (7, None),
    ],
)
def test_what_was_shown_has_the_time_of_its_row(tmp_path, told, at):
    (event,) = read_of(tmp_path, json.dumps({**json.loads(mention()), "timestamp": told}) + "\n")
    assert isinstance(event, Shown)
    assert event.at == at


def answer(model, version="2.1.0", **fields):
    message = {"role": "assistant", "model": model, "content": []}
    return (
        json.dumps({"type": "assistant", "message": message, "version": version, **fields}) + "\n"
    )


def test_the_real_clients_answers_say_what_they_ran_on():
    for name in ("transcript-tools.jsonl", "transcript-compacted.jsonl"):
        found = CLAUDE.unhooked(str(DATA / name), 0, before=0)[0]
        used = [event for event in found if isinstance(event, Used)]
        assert used == [Used("claude-opus-5-5", "Claude Code", "2.1.329")]


def test_another_model_or_version_is_told_once_and_a_sub_agents_is_its_own(tmp_path):
    rows = [answer("m"), answer("m"), answer("n"), answer("n", "2.2.0"), answer("m", "2.2.0")]
    others = [
        answer("other", isSidechain=True),
        answer("<synthetic>"),
        answer(None),
        answer("n", 3),
    ]
    assert read_of(tmp_path, *rows, *others) == [
        Used("m", "Claude Code", "2.1.0"),
        Used("n", "Claude Code", "2.1.0"),
        Used("n", "Claude Code", "2.2.0"),
        Used("m", "Claude Code", "2.2.0"),
        Used("n", "Claude Code", None),
    ]


def test_a_file_put_back_after_a_compaction():
    text = "def add(a, b):\n    return a + b\n"
    assert shown("transcript-compacted.jsonl") == [Shown(CALC, None, text, "mention")]


def test_only_the_first_hunk_of_the_clients_own_word_has_true_numbers():
    """Line 10 became four lines. Line 60 is line 63 then, and the client still says 60."""
    (notice,) = shown("transcript-changed.jsonl")
    assert (notice.path, notice.lines, notice.via) == (f"{DEMO}/big.txt", (2, 21), "notice")
    assert notice.text.split("\n")[8:14] == ["ten", "ten b", "ten c", "ten d", "11", "12"]


def test_a_snippet_that_was_cut_ends_there(tmp_path):
    snippet = "1\ta\n2\t\n3\t\tb\n\n... [449 lines truncated] ..."
    (notice,) = read_of(tmp_path, attachment("edited_text_file", filename="f", snippet=snippet))
    assert notice == Shown("f", (1, 3), "a\n\n\tb\n", "notice")


def test_instructions_of_which_a_part_was_left_out(tmp_path):
    raw = "---\npaths: x\n---\n\nDo this.\nAnd that.\n"

    def rule(content):
        file = {"path": "r.md", "content": content, "contentDiffersFromDisk": True}
        return attachment("nested_memory", path="r.md", content={**file, "rawContent": raw})

    part = Shown("r.md", (5, 6), "Do this.\nAnd that.\n", "instructions")
    assert read_of(tmp_path, rule("Do this.\nAnd that.\n")) == [part]
    assert read_of(tmp_path, rule("Do this.\n\nAnd that.\n")) == []
    assert read_of(tmp_path, rule("that.\n")) == []
    assert read_of(tmp_path, rule("")) == []


def test_reads_and_edits_are_told_where_no_hook_was():
    found = shown("transcript-tools.jsonl", before=sys.maxsize)
    assert [(e.path.removeprefix(f"{DEMO}/"), e.lines, e.text, e.via) for e in found][4:] == [
        ("notes.txt", (1, 1), "HELLO\n", "edit"),
        ("big.txt", (10, 14), "10\n11\n12\n13\n14\n", "read"),
        ("calc.py", None, "def add(a, b):\n    return a - b\n", "read"),
        ("notes.txt", None, "overwritten\n", "edit"),
        ("new/made.py", None, "x = 1\n", "edit"),
        ("calc.py", (2, 2), "    return a + b\n", "edit"),
        ("calc.py", None, "def add(a, b):\n    return a + b\n", "read"),
        ("calc.py", None, "def add(a, b):\n    return a + b\n", "read"),
    ]
    assert shown("transcript-tools.jsonl") == found[:4]


def test_rows_of_a_sub_agent_are_its_own(tmp_path):
    row = json.dumps({**json.loads(mention()), "isSidechain": True}) + "\n"
    assert read_of(tmp_path, row) == []
    own = tmp_path / "agent-a1.jsonl"
    own.write_text(row)
    assert len(CLAUDE.unhooked(str(own), 0, before=0)[0]) == 1
    assert shown("transcript-agent.jsonl") == []  # named so that it is no sub-agent's


@pytest.mark.parametrize(
    "row",
    [
        '{"attachment": \n',
        '"attachment"\n',
        '["attachment"]\n',
        "\xff\xfe attachment\n",
        '{"type":"attachment"}{"type":"attachment"}\n',
        attachment("file"),
        attachment("file", content={"type": "text", "file": {"filePath": 3}}),
        attachment("file", content={"type": "text", "file": {"filePath": "a", "content": "x"}}),
        attachment("file", content={"type": "notebook", "file": {"filePath": "n", "cells": []}}),
        attachment("instructions", files=3),
        attachment("instructions", files=[3, {"path": 4}, {}]),
        attachment("nested_memory", content="text"),
        attachment("edited_text_file", filename="a"),
        attachment("edited_text_file", filename="a", snippet=""),
        attachment("edited_text_file", filename="a", snippet="0\tx"),
        attachment("future", content={}),
    ],
)
def test_a_damaged_or_unknown_row_is_passed_over(tmp_path, row):
    assert read_of(tmp_path, row, mention()) == [Shown("a", None, "x\n", "mention")]


def test_an_absent_transcript_shows_nothing(tmp_path):
    for name in ("gone.jsonl", "file/t.jsonl"):
        (tmp_path / "file").write_text("")
        assert CLAUDE.unhooked(str(tmp_path / name), 7, before=sys.maxsize) == ([], 7)


def test_a_transcript_that_was_written_anew_is_read_from_its_beginning(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text(mention())
    events, offset = CLAUDE.unhooked(str(file), 10_000, before=0)
    assert (len(events), offset) == (1, file.stat().st_size)


@given(st.data())
def test_a_transcript_that_grows_shows_the_same_piece_by_piece(tmp_path_factory, data):
    """Wherever a write or a look falls, even inside a row."""

    def parted(events):
        """Return what was shown, and each time it ran on something else."""
        used = [event for event in events if isinstance(event, Used)]
        changes = [now for at, now in enumerate(used) if at == 0 or used[at - 1] != now]
        return [event for event in events if isinstance(event, Shown)], changes

    whole = data.draw(st.sampled_from(TRANSCRIPTS)).read_bytes()
    file = tmp_path_factory.mktemp("t") / "t.jsonl"
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=5))
    found, offset = [], 0
    for end in [*sorted(cuts), len(whole)]:
        file.write_bytes(whole[:end])
        more, offset = CLAUDE.unhooked(str(file), offset, before=sys.maxsize)
        found += more
    at_once, end = CLAUDE.unhooked(str(file), 0, before=sys.maxsize)
    assert (parted(found), offset) == (parted(at_once), end)
    assert offset == len(whole)


class Counting:
    """A file that counts the bytes it gave."""

    def __init__(self, file) -> None:
        self._file = file
        self.most = 0

    def seek(self, offset):
        return self._file.seek(offset)

    def readline(self, limit):
        line = self._file.readline(limit)
        self.most = max(self.most, len(line))
        return line


def test_a_huge_row_is_passed_over_without_being_held(tmp_path, monkeypatch):
    monkeypatch.setattr(transcripts, "LINE_MAX", 1000)
    file = tmp_path / "t.jsonl"
    file.write_text(mention("a") + '{"attachment":"' + "x" * 5000 + '"}\n' + mention("b"))
    with file.open("rb") as opened:
        counting: Any = Counting(opened)
        found = [row for _, row in transcripts.rows(counting, 0, (b"attachment",)) if row]
    assert [row["attachment"]["filename"] for row in found] == ["a", "b"]
    assert counting.most <= 1000
    assert [e.path for e in CLAUDE.unhooked(str(file), 0, before=0)[0]] == ["a", "b"]


def test_a_huge_row_that_has_no_end_yet_is_left_for_later(tmp_path, monkeypatch):
    monkeypatch.setattr(transcripts, "LINE_MAX", 1000)
    file = tmp_path / "t.jsonl"
    file.write_text(mention("a") + "x" * 5000)
    events, offset = CLAUDE.unhooked(str(file), 0, before=0)
    assert (len(events), offset) == (1, len(mention("a")))


def test_one_look_is_bounded_and_the_next_goes_on(tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text("".join(mention(str(number)) for number in range(20)) + "y" * 9000 + "\n")
    names: list[str] = []
    offset = looks = 0
    while offset < file.stat().st_size:
        with file.open("rb") as opened:
            part = list(transcripts.rows(opened, offset, (b"attachment",), upto=400))
        names += [row["attachment"]["filename"] for _, row in part if row]
        offset = part[-1][0]
        looks += 1
    assert names == [str(number) for number in range(20)]
    assert looks > 5


@pytest.mark.parametrize("ending", ["prompt", "stopped"])
def test_rows_that_name_each_other_in_a_circle_end_the_search(tmp_path, ending):
    """As in a transcript that was damaged, or that somebody made by hand."""
    kind = "system" if ending == "prompt" else "user"
    lines: list[dict[str, Any]] = [
        {"type": kind, "uuid": "a", "parentUuid": "b"},
        {"type": kind, "uuid": "b", "parentUuid": "a"},
        {"type": "assistant", "uuid": "c", "parentUuid": "b"},
    ]
    if ending == "stopped":
        said = {"promptKept": True}
        lines.append({"type": "system", "parentUuid": "b", "promptSubmitEnding": said})
    lines.append({"type": "user", "promptId": "p", "promptSource": "typed", "parentUuid": "b"})
    at = {"timestamp": "2026-01-01T00:00:00Z"}
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(line | at, separators=(",", ":")) + "\n" for line in lines))
    _, found = transcripts.went_back(str(path), "p", 0)
    assert found == path.stat().st_size
