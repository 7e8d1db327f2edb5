"""changes in its three forms, and ack."""

from __future__ import annotations

import pytest


@pytest.fixture
def news(sl):
    """A file that was shown, and then saved by somebody else."""
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    sl.put("app.py", "b\n")
    return sl


def test_changes_are_listed_until_the_files_are_read_again(sl):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    assert sl("changes").err == "Nothing is new.\n"
    sl.put("app.py", "b\n")
    for _ in range(2):
        assert sl("changes").out == (
            "app.py was changed by the user or another program\n@@ -1 +1 @@\n-a\n+b\n"
        )
    (change,) = sl("changes", "--json").json["changes"]
    assert set(change) == {
        *("path", "state", "summary", "diff", "changed_by", "what", "moved_to", "moved_lines"),
        *("revision_seen", "revision_on_disk", "session"),
    }
    sl("read", "app.py")
    assert sl("changes", "--json").json["changes"] == []


def test_a_notice_is_told_until_it_is_acknowledged_by_its_id(news):
    first = news("changes", "--for-agent", "--json").json["notice"]
    assert news("changes", "--for-agent", "--json").json["notice"] == first
    assert "+b" in first["text"]
    assert [change["path"] for change in first["changes"]] == ["app.py"]
    done = news("ack", first["id"])
    assert (done.code, done.out) == (0, "Acknowledged. Nothing else is new.\n")
    assert news("changes", "--for-agent", "--json").json["notice"] is None
    assert news("check", "app.py").code == 0


def test_without_an_id_the_last_notice_is_acknowledged(news):
    refused = news("ack")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines() == [
        "Error: This session was given no notice to acknowledge.",
        "Hint: Ask for one: sightline changes --for-agent",
    ]
    news("changes", "--for-agent")
    news.put("app.py", "c\n")
    told = news("changes", "--for-agent", "--json").json["notice"]
    done = news("ack", "--json").json
    assert done == {"schema": 1, "acknowledged": told["id"], "left": []}
    assert news("changes", "--for-agent").err == "Nothing is new.\n"
    assert news("ack").code == 0, "it is acknowledged already"


@pytest.mark.parametrize(
    "options",
    [
        ("--for-agent", "--since", "1h"),
        ("--all", "--for-agent"),
        ("--all", "--since"),
        ("--mine",),
        ("--others", "--for-agent"),
        ("--since", "--mine", "--others"),
        ("--budget", "10"),
        ("--budget", "0", "--for-agent"),
    ],
)
def test_forms_of_changes_that_do_not_go_together_are_wrong_usage(news, options):
    assert news("changes", *options).code == 2


@pytest.mark.parametrize("when", ["0", "1h", "2020-01-01", "2020-01-01T12:00:00Z", "start"])
def test_a_point_in_time_is_one_of_the_log_or_a_checkpoint(sl, when):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    sl("checkpoint", "start")
    sl.put("app.py", "b\n")
    (file,) = sl("changes", "--since", when, "--json").json["files"]
    assert (file["path"], file["others"]) == ("app.py", True)


def test_what_was_handed_over_is_on_record_once(news):
    for _ in range(3):
        news("changes", "--for-agent")
    assert news("log", "--json").out.count('"kind": "notice"') == 1


def test_a_notice_says_what_can_be_done_next(news):
    told = news("changes", "--for-agent", "--session", "cli")
    assert "changed on disk since you were shown it" in told.out
    assert "sightline ack n" in told.err


def test_an_id_counts_after_another_change_and_that_change_stays_news(news):
    told = news("changes", "--for-agent", "--json").json["notice"]["id"]
    news.put("app.py", "c\n")
    done = news("ack", told)
    assert done.out == "Acknowledged. Still new: app.py.\n"
    assert "-b\n+c" in news("changes", "--for-agent").out


def test_a_file_that_was_looked_at_meanwhile_is_left_as_it_is(news):
    told = news("changes", "--for-agent", "--json").json["notice"]["id"]
    news.put("app.py", "c\n")
    news("read", "app.py")
    assert news("ack", told).code == 0
    news.put("app.py", "b\n")
    assert news("check", "app.py").code == 1


def test_an_id_that_nobody_knows_is_answered_as_such(news):
    done = news("ack", "nowhere")
    assert (done.code, done.out) == (1, "")
    assert "was given no notice with the id nowhere" in done.err
    assert "Hint:" in done.err


def test_changes_that_were_acknowledged_and_not_read_are_shown_with_all(sl):
    sl.put("app.py", "".join(f"{n}\n" for n in range(900)))
    sl("read", "app.py")
    sl.put("app.py", "".join(f"new {n}\n" for n in range(900)))
    told = sl("changes", "--for-agent", "--budget", "200", "--json").json["notice"]
    assert "app.py" in told["text"]
    assert len(told["text"]) <= 800
    sl("ack", told["id"])
    assert sl("changes", "--json").json["changes"] == []
    assert len(sl("changes", "--all", "--json").json["changes"]) == 1
    assert sl("check", "app.py").code == 1, "what was not printed was not seen"


def test_edited_since_says_what_when_and_who(sl):
    sl.put("mine.py", "a\n")
    sl.put("theirs.py", "a\n")
    for name in ("mine.py", "theirs.py"):
        sl("read", name)
    sl("edit", "mine.py", "--old", "a", "--new", "b")
    sl.put("theirs.py", "b\n")
    both = sl("changes", "--since", "--json").json["files"]
    assert [(file["path"], file["mine"], file["others"]) for file in both] == [
        ("mine.py", True, False),
        ("theirs.py", False, True),
    ]
    assert list(both[0])[:5] == ["path", "by", "at", "position", "lines"]
    assert list(both[0])[5:] == ["mine", "others", "from_messages", "probable"]
    assert [f["path"] for f in sl("changes", "--since", "--mine", "--json").json["files"]] == [
        "mine.py"
    ]
    said = sl("changes", "--since", "--others").out
    assert "theirs.py  the user or another program" in said
    position = max(file["position"] for file in both)
    assert sl("changes", "--since", str(position)).err == "No file changed since then.\n"


@pytest.mark.parametrize(
    ("when", "code"), [("no-such", 1), ("2026-01-01T12:00:00", 0), ("2026-01-01T12:00:00Z", 0)]
)
def test_a_moment_that_is_none_is_answered_as_such(sl, when, code):
    sl.put("app.py", "a\n")
    sl("read", "app.py")
    assert sl("changes", "--since", when).code == code
