"""A model's structured answer at a shell: looked at, asked for, applied."""

from __future__ import annotations

import json

import pytest
from tests.cli.test_terminal import at_terminal

from sightline.answers.json_schema import PLAN_FILE, schema_text, strict_schema

ANSWER = {
    "summary": "More",
    "fileChanges": [
        {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]},
        {"path": "new/b.txt", "content": "b\n"},
    ],
}
TEXT = json.dumps(ANSWER)


@pytest.fixture
def shown(sl):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    return sl


def test_an_answer_is_applied_and_named(shown):
    done = shown("apply", stdin=TEXT)
    assert done.code == 0
    assert "-one\n+two\n" in done.out
    assert "Applied: a.txt, new/b.txt." in done.err
    assert (shown.root / "new" / "b.txt").read_text() == "b\n"
    assert shown("rewind", done.err.split()[-1], "--yes").code == 0
    assert (shown.root / "a.txt").read_text() == "one\n"


def test_a_preview_changes_nothing(shown):
    done = shown("apply", "--preview", stdin=TEXT)
    assert (done.code, "-one\n+two\n" in done.out) == (0, True)
    assert (shown.root / "a.txt").read_text() == "one\n"
    assert "answer" not in shown("log").out


def test_a_refused_answer_exits_with_1_and_each_applies_the_rest(shown):
    shown.put("a.txt", "three\n")
    done = shown("apply", stdin=TEXT)
    assert (done.code, (shown.root / "new").exists()) == (1, False)
    done = shown("apply", "--each", "--json", stdin=TEXT)
    assert done.code == 1
    assert [change["state"] for change in done.json["changes"]] == ["refused", "applied"]
    assert done.json["changes"][0]["refusal"]["reason"] == "stale"
    assert done.json["changes"][1]["change"]["path"] == "new/b.txt"
    assert done.json["checkpoint"].startswith("cp-")


def test_an_answer_that_cannot_be_read_names_its_place(shown):
    done = shown("apply", stdin='{"fileChanges": [{"path": 3}]}')
    assert (done.code, done.err.splitlines()[0]) == (
        1,
        "Error: fileChanges[0].path: Expected `str`, got `int`",
    )
    done = shown("apply", "--json", stdin="nothing")
    assert (done.code, done.json["error"]["kind"]) == (1, "AnswerInvalid")
    assert shown("apply", stdin=b"\xff").code == 1


def test_each_and_preview_do_not_go_together(shown):
    assert shown("apply", "--each", "--preview", stdin=TEXT).code == 2


@pytest.mark.wide
@pytest.mark.parametrize(
    ("options", "typed", "code", "text"),
    [((), "y\n", 0, "two\n"), ((), "n\n", 1, "one\n"), (("--yes",), "", 0, "two\n")],
)
def test_a_person_is_asked_before_an_answer_is_applied(shown, options, typed, code, text):
    ended, seen = at_terminal(
        shown, "apply", *options, answer=TEXT.encode() + b"\n\x04" + typed.encode()
    )
    assert (ended, (shown.root / "a.txt").read_text()) == (code, text), seen
    assert ("Apply this?" in seen) == (not options)


def test_the_schema_is_printed_for_a_model_and_for_a_program(sl):
    assert sl("schema").out == schema_text()
    assert sl("schema", "--json").json == {"schema": 1, **json.loads(schema_text())}
    assert json.loads(sl("schema", "--strict").out) == strict_schema()
    assert json.loads(sl("schema", "--strict", "--plan").out) == strict_schema(PLAN_FILE)
    wrong = sl("schema", "--strict", "--tools")
    assert (wrong.code, "--tools alone" in wrong.err) == (2, True)


def test_the_prompts_are_listed_and_printed(sl):
    out = sl("prompts").out
    assert out.splitlines()[0].startswith("system        version 1  ")
    assert [each["name"] for each in sl("prompts", "--json").json["prompts"]][:2] == (
        ["system", "planning"]
    )
    text = sl("prompts", "planning", "--json").json["text"]
    assert sl("prompts", "planning").out == text + "\n"
    assert "{{patterns}}" not in text
    raw = sl("prompts", "planning", "--raw").out
    assert raw.startswith("<!-- version 1: ")
    assert "{{patterns}}" in raw
    assert sl("prompts", "nowhere").code == 1
    assert sl("prompts", "--raw").code == 2
    assert sl("schema", "--plan", "--json").json["$ref"] == "#/$defs/Plan"


def test_a_workspace_s_own_prompts_are_named_until_the_user_uses_them(sl, monkeypatch):
    sl.put(".sightline/prompts/batching.md", "<!-- version 2 -->\nOurs.\n")
    done = sl("prompts")
    assert "prompt is not used: .sightline/prompts/batching.md. Read it." in done.err
    assert "SIGHTLINE_PROMPTS=workspace" in done.err
    monkeypatch.setenv("SIGHTLINE_PROMPTS", "workspace")
    done = sl("prompts")
    assert "from .sightline/prompts/batching.md, written for version 2 of 1" in done.out
    assert done.err == "This workspace's own prompt is used: .sightline/prompts/batching.md\n"
