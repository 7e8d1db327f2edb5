"""Recorded sessions come out as they went in, and every difference is explained by the recording."""

import json
from pathlib import Path

import pytest
from bench.recordings.claude_code import Compacted, Edited, Ran, Shown, read
from bench.recordings.replay import local, replay
from bench.recordings.tally import Tally

import sightline
from bench import recorded

SAMPLES = Path(__file__).parent / "recordings"
FILE = "/home/ada/project/app.py"
TEXT = "one\ntwo\nthree\nfour\nfive\n"


def shown(text=TEXT, *, start=1, total=None, path=FILE, **record):
    count = text.count("\n") + 1
    whole = {"startLine": start, "numLines": count, "totalLines": total or count}
    result = {"type": "text", "file": {"filePath": path, "content": text} | whole}
    asked = {"file_path": path, "offset": str(start)}
    return call("Read", asked, result, **record)


def edited(old, new, original, *, path=FILE, **record):
    asked = {"file_path": path, "old_string": old, "new_string": new}
    done = {"filePath": path, "oldString": old, "newString": new, "originalFile": original}
    return call("Edit", asked, done | {"structuredPatch": [], "replaceAll": False}, **record)


def failed(old, new, why, *, path=FILE):
    asked = {"file_path": path, "old_string": old, "new_string": new}
    return call("Edit", asked, f"Error: {why}", is_error=True)


def call(name, asked, result, *, is_error=False, **record):
    number = next(IDS)
    use = {"type": "tool_use", "id": f"call-{number}", "name": name, "input": asked}
    answer = {"type": "tool_result", "tool_use_id": f"call-{number}", "is_error": is_error}
    return [
        {"type": "assistant", "uuid": f"a{number}", "message": {"content": [use]}} | record,
        {"type": "user", "uuid": f"u{number}", "message": {"content": [answer]}}
        | {"toolUseResult": result}
        | record,
    ]


IDS = iter(range(1_000_000))


@pytest.fixture
def recording(tmp_path):
    def write(*calls):
        path = tmp_path / "session.jsonl"
        lines = [json.dumps(record) for records in calls for record in records]
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_a_recording_is_read_in_its_order(recording):
    command = call("Bash", {"command": "make"}, {"stdout": ""})
    cut = [{"type": "system", "subtype": "compact_boundary", "uuid": "c"}]
    path = recording(shown(), command, cut, edited("two", "2", TEXT))
    [events] = read(path).columns.values()
    assert events == [
        Shown(FILE, TEXT, 1, whole=True),
        Ran("make"),
        Compacted(),
        Edited(FILE, "two", "2", original=TEXT),
    ]


def test_records_glued_on_one_line_are_two_records(recording):
    path = recording(shown(), edited("two", "2", TEXT))
    path.write_text(path.read_text().replace("\n", ""))
    found = read(path)
    assert [type(event) for event in found.columns["main"]] == [Shown, Edited]
    assert found.unreadable == 0


def test_half_a_line_is_counted_and_the_record_after_it_is_read(recording):
    path = recording(shown())
    whole = path.read_text()
    path.write_text(whole[:40] + whole)
    found = read(path)
    assert [type(event) for event in found.columns["main"]] == [Shown]
    assert found.unreadable == 1


def test_a_copied_record_counts_once(recording):
    records = edited("two", "2", TEXT)
    assert len(read(recording(records, records)).columns["main"]) == 1


def test_a_sub_agent_is_a_session_of_its_own(recording):
    path = recording(shown(), shown(isSidechain=True, agentId="x7"))
    assert set(read(path).columns) == {"main", "x7"}


def test_a_path_of_any_system_is_one_in_the_workspace():
    assert local("D:\\project\\src\\a.go") == "D/project/src/a.go"
    assert local("/home/ada/a.go") == "home/ada/a.go"


def test_edits_that_fit_what_was_read_are_believed_and_agree(recording):
    after = TEXT.replace("two", "2")
    tally = replay(recording(shown(), edited("two", "2", TEXT), edited("four", "4", after)))
    assert (tally.edits, tally.belief_equal, tally.result_equal) == (2, 2, 2)


def test_an_outside_change_is_told_from_the_next_original(recording):
    foreign = TEXT.replace("five", "FIVE")
    tally = replay(recording(shown(), edited("two", "2", foreign)))
    assert tally.belief_differs_shown == {"its original shows it": 1}
    assert (tally.both_allowed, tally.result_equal, tally.unexplained) == (1, 1, [])


def test_a_command_that_names_the_file_is_given_as_the_reason(recording):
    foreign = TEXT.replace("five", "FIVE")
    command = call("Bash", {"command": "format app.py"}, {"stdout": ""})
    tally = replay(recording(shown(), command, edited("two", "2", foreign)))
    assert tally.belief_differs_shown == {"a command names it": 1}


def test_a_partial_read_is_laid_out_from_the_original_that_comes_later(recording):
    part = shown("two\nthree", start=2, total=6)
    tally = replay(recording(part, edited("two", "2", TEXT)))
    assert (tally.belief_equal, tally.result_equal) == (1, 1)


def test_an_edit_the_product_let_through_on_other_text_is_listed(recording):
    """Its old text is not in the original, so no guard could have found it."""
    tally = replay(recording(shown(), edited("nowhere", "x", TEXT)))
    assert len(tally.only_we_refused) == 1
    assert "not_found" in tally.only_we_refused[0]


def test_refusals_are_compared_by_their_cause(recording):
    nowhere = failed("nowhere", "x", "String to replace not found in file.")
    stale = failed("two", "2", "File has been modified since read, either by the user or")
    sibling = failed("two", "2", "Sibling tool call errored")
    later = shown(TEXT.replace("five", "FIVE"))
    tally = replay(recording(shown(), nowhere, sibling, stale, later))
    assert tally.both_refused == {"not_found": 1}
    assert tally.only_product_refused == {"modified_since_read": 1}
    assert tally.not_judged == {"sibling": 1}


def written(content, original, *, path=FILE):
    asked = {"file_path": path, "content": content}
    done = {"type": "update", "filePath": path, "content": content, "originalFile": original}
    return call("Write", asked, done)


def test_a_file_that_no_session_may_use_is_left_alone_and_named(recording):
    config = "/home/ada/project/.git/config"
    tally = replay(
        recording(
            shown(path=config),
            edited("two", "2", TEXT, path=config),
            shown(path=f"{FILE}/below"),
            edited("two", "2", TEXT, path=f"{FILE}/below"),
            *(shown(), edited("two", "2", TEXT)),
            *(shown(path="../../up.py"), edited("two", "2", TEXT, path="../../up.py")),
        )
    )
    assert tally.not_judged == {
        "no path of a session: ignored": 1,
        "no path here: IsADirectoryError": 1,
    }
    assert (tally.edits, tally.both_allowed, tally.only_we_refused) == (4, 2, [])


def test_what_a_command_printed_was_read(recording):
    name = {"cwd": "/home/ada/project"}
    [use, answer] = call("Bash", {"command": "cat app.py"}, {"stdout": TEXT}, **name)
    answer["message"]["content"][0]["content"] = TEXT.removesuffix("\n")
    path = recording([use, answer], edited("two", "2", TEXT))
    tally = replay(path)
    assert (tally.reads, tally.shell_reads, tally.belief_none) == (1, 1, 0)
    assert (tally.both_allowed, tally.belief_equal) == (1, 1)


def test_a_write_that_drops_the_end_that_others_put_there_is_refused_with_the_reason(recording):
    """It was once said to change nothing: the merge with the end is what stands on the disk."""
    longer = TEXT + "six\n"
    tally = replay(recording(shown(), written(TEXT, longer)))
    assert tally.only_we_refused == []
    assert tally.refused_by_rule == {"others changed it before: its original shows it": 1}


def test_a_write_over_lines_that_were_never_shown_is_explained_by_the_recording(recording):
    part = shown("two\nthree", start=2, total=6)
    tally = replay(recording(part, written("all new\n", TEXT)))
    assert tally.refused_by_rule == {"the product wrote over lines that it never showed": 1}
    whole = replay(recording(shown(), written("all new\n", TEXT)))
    assert (whole.both_allowed, whole.refused_by_rule) == (1, {})


def test_rows_with_fields_of_another_shape_are_counted(recording):
    odd = [{"type": "user", "uuid": "o", "message": {"content": [3]}}]
    attached = [{"type": "attachment", "uuid": "p", "attachment": None}]
    found = read(recording(odd, attached, shown()))
    assert (found.unreadable, [type(event) for event in found.columns["main"]]) == (2, [Shown])


def test_a_belief_that_nothing_explains_is_listed(recording, monkeypatch):
    """The replayer can fail: a library that forgets an edit is found out."""
    monkeypatch.setattr(sightline.Session, "believed", lambda _session, _path: "something else")
    tally = replay(recording(shown(), edited("two", "2", TEXT)))
    assert len(tally.unexplained) == 1
    assert FILE in tally.unexplained[0]


def test_the_committed_recordings_leave_nothing_unexplained(capsys):
    assert recorded.main([str(SAMPLES), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["recordings"] == 3
    assert counts["unexplained"] == counts["only_we_refused"] == counts["result_differs"] == []
    assert counts["belief_equal"] == counts["originals"] > 0
    assert counts["both_allowed"] == counts["result_equal"] > 0


def test_an_unexplained_difference_is_an_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(recorded, "replay", lambda _path: Tally(unexplained=["a case"]))
    assert recorded.main([str(SAMPLES)]) == 1
    assert "a case" in capsys.readouterr().out


def test_no_recording_is_a_usage_error(tmp_path, capsys):
    assert recorded.main([str(tmp_path)]) == 2
    assert "No recording" in capsys.readouterr().err
