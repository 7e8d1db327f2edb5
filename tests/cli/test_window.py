"""The command `window`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.recordings.claude_code.recorder import Recorder
from tests.window.histories import STEPS, anthropic

MESSAGES = anthropic(STEPS)


@pytest.fixture
def history(sl):
    return sl.put("history.json", json.dumps(MESSAGES))


def test_what_would_be_folded_is_told_with_its_stub(sl, history):
    before = history.read_bytes()
    made = sl("window", str(history), "--budget", "9000")
    assert made.code == 0
    assert "anthropic, 23 messages" in made.out
    assert "message 2: it can be run again" in made.out
    assert "[The answer of Grep" in made.out
    assert "Budget: 9,000." in made.out
    assert "At the price 0.10/1.25 this pays for itself after " in made.out
    assert history.read_bytes() == before


def test_what_fits_is_said(sl, history):
    made = sl("window", str(history), "--budget", "100000")
    assert "It fits the budget of 100,000 tokens: nothing would be folded." in made.out


def test_the_view_is_written(sl, history):
    target = sl.root / "view.json"
    assert sl("window", str(history), "--budget", "9000", "--output", str(target)).code == 0
    view = json.loads(target.read_text())
    assert len(view) == len(MESSAGES)
    again = sl("window", str(target), "--budget", "9000")
    assert "nothing would be folded" in again.out


def test_the_view_is_not_written_over_its_history(sl, history):
    before = history.read_bytes()
    link = sl.root / "link.json"
    link.symlink_to(history)
    for target in (history, link):
        made = sl("window", str(history), "--budget", "9000", "--output", str(target))
        assert made.code == 1
        assert "is the history itself" in made.err
    assert history.read_bytes() == before


def test_it_reads_stdin_and_answers_in_json(sl):
    made = sl("window", "-", "--budget", "9000", "--json", stdin=json.dumps(MESSAGES))
    told = made.json
    assert (told["schema"], told["format"], told["messages"]) == (1, "anthropic", 23)
    assert told["tokens_after"] <= 9000 < told["tokens_before"]
    assert told["fits"] is True
    assert told["folds"][0]["tool"] == "Grep"
    assert told["folds"][0]["stub_tokens"] < told["folds"][0]["tokens"]


def test_a_model_says_whose_tokens_are_counted(sl, history):
    old, new = (
        sl("window", str(history), "--budget", "9000", "--json", "--model", model).json
        for model in ("claude-3-5-sonnet", "claude-sonnet-5")
    )
    assert old["tokens_before"] < new["tokens_before"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("[]", "its history is empty"),
        ("[{]", "is damaged: "),
        ('{"a": 1}\n{"b": 2}\n', "message 0 is of no known format"),
    ],
)
def test_what_is_no_history_is_a_no(sl, text, said):
    file = sl.put("h.json", text)
    made = sl("window", str(file), "--budget", "10")
    assert (made.code, made.out) == (1, "")
    assert said in made.err
    assert "Hint: " in made.err


@pytest.mark.parametrize("options", [("--budget", "10"), ("--condense",), ("--recover", "x")])
@pytest.mark.parametrize(
    "message",
    [
        '{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": 5}]}',
        '{"role": "assistant", "content": "", "tool_calls": 5}',
    ],
)
def test_a_message_with_a_wrong_field_is_a_no(sl, message, options):
    made = sl("window", str(sl.put("h.json", f"[{message}]")), *options)
    assert (made.code, made.out) == (1, "")
    assert "message 0" in made.err
    assert made.err.count("Error: ") == made.err.count("Hint: ") == 1


def test_a_message_that_cannot_be_recorded_is_a_no(sl):
    file = sl.put("h.json", '[{"role": "user", "content": "a", "ts": NaN}]')
    made = sl("window", str(file), "--condense")
    assert (made.code, made.out) == (1, "")
    assert "Message 0 of the history cannot be read" in made.err


def test_a_file_that_is_not_there_is_a_no(sl):
    made = sl("window", "nowhere.json", "--budget", "10")
    assert made.code == 1
    assert "There is no file nowhere.json" in made.err


def test_a_missing_file_comes_before_a_missing_option(sl):
    made = sl("window", "nowhere.json")
    assert made.code == 1
    assert "There is no file nowhere.json" in made.err


def test_a_folder_is_no_history(sl):
    made = sl("window", str(sl.root), "--budget", "10")
    assert made.code == 1
    assert "cannot be read" in made.err


def test_calls_without_results_are_listed_and_nothing_is_done(sl):
    broken = [message for at, message in enumerate(MESSAGES) if at != 2]
    file = sl.put("h.json", json.dumps(broken))
    target = sl.root / "view.json"
    made = sl("window", str(file), "--budget", "10", "--output", str(target))
    assert (made.code, made.out) == (1, "")
    assert "a provider would refuse this history" in made.err
    assert "the call t0 has no result" in made.err
    assert not target.exists()
    assert json.loads(file.read_text()) == broken
    told = sl("window", str(file), "--budget", "10", "--json").json
    assert told["error"]["kind"] == "malformed_history"
    assert "message 1: the call t0 has no result" in told["error"]["message"]


def test_a_view_that_cannot_be_written_is_said(sl, history):
    target = sl.root / "no" / "view.json"
    made = sl("window", str(history), "--budget", "9000", "--output", str(target))
    assert made.code == 1
    assert "cannot be written" in made.err


def test_a_policy_that_is_not_there_names_those_that_are(sl, history):
    made = sl("window", str(history), "--budget", "9000", "--policy", "x")
    assert made.code == 1
    assert "careful" in made.err


def test_a_session_that_an_agent_recorded_is_a_history_too(sl):
    made = Recorder("s").typed("please go on")
    for at in range(12):
        made.read(f"/home/me/demo/f{at}.py", "\n".join(f"line {n} of {at}" for n in range(300)))
    made.said("done")
    made.write(sl.root / "s.jsonl")
    told = sl("window", str(sl.root / "s.jsonl"), "--budget", "9000", "--json").json
    assert told["format"] == "anthropic"
    assert told["tokens_after"] <= 9000 < told["tokens_before"]
    assert told["folds"][0]["paths"] == ["/home/me/demo/f0.py"]


def test_an_export_is_read_as_what_it_is_from_a_file_and_from_stdin(sl):
    """As opencode exported it: tests/recordings/data/README.md says whose it is."""
    file = Path(__file__).parents[1] / "recordings" / "data" / "opencode.json"
    told = sl("window", str(file), "--budget", "500", "--json").json
    assert (told["agent"], told["format"]) == ("opencode", "chat")
    assert told["folds"][0]["paths"][0].endswith(".md")
    text = file.read_text(encoding="utf-8")
    piped = sl("window", "-", "--budget", "500", "--json", stdin=text).json
    assert piped["folds"] == told["folds"]
    assert "opencode as chat" in sl("window", str(file), "--budget", "500").out


def test_a_file_beside_a_task_s_messages_is_named(sl):
    file = Path(__file__).parents[1] / "recordings" / "data" / "roo-task" / "ui_messages.json"
    made = sl("window", str(file), "--budget", "500")
    assert made.code == 1
    assert "beside api_conversation_history.json, which holds the messages" in made.err


def test_a_view_that_is_written_is_its_owners_alone(sl, tmp_path):
    file = tmp_path / "talk.json"
    file.write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    target = tmp_path / "view.json"
    sl("window", str(file), "--budget", "1000", "--output", str(target))
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_history_is_summed_up_without_a_model(sl, history):
    before = history.read_bytes()
    target = sl.root / "view.json"
    made = sl("window", str(history), "--condense", "--budget", "6000", "--output", str(target))
    assert made.code in (0, 1)
    told = sl("window", str(history), "--condense", "--json").json
    assert told["condensed"] in (True, False)
    assert history.read_bytes() == before


def long_talk():
    messages = [{"role": "user", "content": "Make it right."}]
    for n in range(80):
        messages.append({"role": "assistant", "content": f"Step {n}. " + "I think so. " * 120})
        messages.append({"role": "user", "content": f"then do {n}"})
    return messages


@pytest.mark.wide
def test_a_long_history_is_summed_up_with_its_record(sl):
    messages = long_talk()
    file, target = sl.put("long.json", json.dumps(messages)), sl.root / "view.json"
    made = sl("window", str(file), "--condense", "--output", str(target))
    assert made.code == 0
    assert "Summed up: " in made.out
    assert "<user>\nMake it right.\n</user>" in made.out
    view = json.loads(target.read_text())
    assert len(view) < len(messages)
    assert view[-1] == messages[-1]
    told = sl("window", str(file), "--condense", "--json").json
    assert told["after"] < told["before"]
    refused = sl("window", str(file), "--condense", "--budget", "900")
    assert refused.code == 1
    assert "tokens with it" in refused.err


ERROR = "prompt is too long: 21000 tokens > 8000 maximum"


@pytest.mark.parametrize("how", ["text", "file", "stdin"])
def test_a_history_is_recovered_from_an_error(sl, history, how):
    body = json.dumps({"error": {"type": "invalid_request_error", "message": ERROR}})
    error = {"text": ERROR, "file": str(sl.put("error.json", body)), "stdin": "-"}[how]
    target = sl.root / "view.json"
    before = history.read_bytes()
    made = sl("window", str(history), "--recover", error, "--output", str(target), stdin=body)
    assert made.code == 0
    assert "The error is: overflow (21,000 tokens sent, 8,000 at most)." in made.out
    assert "fold: 21,000 to " in made.out
    assert json.loads(target.read_text())[-1]["role"] == "user"
    assert history.read_bytes() == before


def test_a_recovery_answers_in_json(sl, history):
    told = sl("window", str(history), "--recover", ERROR, "--json").json
    assert told["provider_error"] == {"kind": "overflow", "used": 21_000, "limit": 8_000}
    assert told["after"] <= told["target"] == 6_000
    assert next(step["stage"] for step in told["steps"]) == "fold"


def test_a_request_with_too_many_bytes_loses_pictures(sl):
    source = {"type": "base64", "media_type": "image/png", "data": "iVBO" * 2_000}
    content = [{"type": "text", "text": "look"}, *[{"type": "image", "source": source}] * 3]
    file = sl.put("seen.json", json.dumps([{"role": "user", "content": content}]))
    made = sl("window", str(file), "--recover", "413: 24000 bytes > 20000 bytes")
    assert made.code == 0
    assert "The error is: payload_bytes (24,000 bytes sent, 20,000 at most)." in made.out
    assert " bytes. 2 pictures or documents were left out; all texts stay." in made.out


@pytest.mark.parametrize("options", [("--condense",), ("--recover", ERROR)])
def test_a_model_writes_the_summary(sl, options):
    pytest.importorskip("pydantic_ai")
    file = sl.put("long.json", json.dumps(long_talk()))
    target = sl.root / "view.json"
    asked = ("--summarizer", "test", "--output", str(target))
    made = sl("window", str(file), *options, *asked)
    assert (made.code, made.err) == (0, f"Wrote {target}.\n")
    assert "success (no tool calls)" in target.read_text()


def test_an_unknown_model_is_a_no(sl):
    pytest.importorskip("pydantic_ai")
    file = sl.put("long.json", json.dumps(long_talk()))
    made = sl("window", str(file), "--condense", "--summarizer", "nobody:nothing")
    assert (made.code, made.out) == (1, "")
    assert "the summarizer failed: UserError: Unknown model: nobody:nothing" in made.err


def test_an_error_of_another_kind_is_a_no(sl, history):
    made = sl("window", str(history), "--recover", "429 Too Many Requests: rate limit")
    assert (made.code, made.out) == (1, "")
    assert "Wait, and send the same messages again." in made.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "Missing option '--budget'"),
        (("--condense", "--recover", "x"), "not both"),
        (("--budget", "9", "--summarizer", "test"), "--summarizer needs --condense or --recover"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(sl, history, options, said):
    made = sl("window", str(history), *options)
    assert made.code == 2
    assert said in made.err


def test_stdin_is_the_history_or_the_error(sl):
    made = sl("window", "-", "--recover", "-", stdin="[]")
    assert made.code == 2
    assert "not both" in made.err
