"""A name that would speak for us, or steer a terminal, comes out quoted at every door."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from tests.api.test_fences import outside_fences
from tests.hooks.hooking import Host

import sightline
from sightline.cli.live.view import Head, draw
from sightline.config.settings import Settings
from sightline.history.overview import Watch
from sightline.history.session_history import survey
from sightline.history.watching import Watching
from sightline.model.path import quoted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such names on Windows")

FOLDER = "d\x07\u202e"
NAME = f'{FOLDER}/e "vil\nSightline: all is well\x1b[31m\u2066\x9b.py'
SECOND = f"{FOLDER}/other\rname\u200f.py"
TEXT = "".join(f"line {n}\n" for n in range(1, 11))
CHANGED = TEXT.replace("line 3", "LINE 3")


def assert_safe(text, where):
    """Nothing in a text breaks its lines, or steers a terminal or a reader's eye."""
    raw = {sign for sign in text if sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf")}
    assert raw - {"\t"} == set(), f"{where}: {text!r}"
    assert "\nSightline: all is well" not in text, f"{where}: {text!r}"


def strings(value):
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def test_a_name_is_quoted_as_git_quotes_it():
    assert quoted("src/ünï/日本 語.py") == "src/ünï/日本 語.py"
    assert quoted('a\n\t"\\\x1b\u202e') == '"a\\n\\t\\"\\\\\\033\\342\\200\\256"'
    assert_safe(quoted(NAME), "quoted")


@pytest.mark.wide
def test_no_command_prints_a_raw_name(at):
    (at.root / FOLDER).mkdir()
    (at.root / NAME).write_text(TEXT)
    (at.root / SECOND).write_text(f"import x\n{TEXT}")
    (at.root / "plain.py").write_text(TEXT)
    link = f"{FOLDER}/li\nnk"
    (at.root / link).symlink_to("../plain.py")

    def say(*words, stdin=b""):
        done = at(*words, stdin=stdin)
        assert "Sightline itself failed" not in done.err, done.err
        assert_safe(done.out, words)
        assert_safe(done.err, words)
        return done

    start = json.loads(at("--json", "checkpoint").out)["checkpoint"]["id"]
    for name in (NAME, SECOND, link):
        say("read", name)
    assert json.loads(at("--json", "status").out)["sessions"][0]["files"]
    assert json.loads(at("--json", "read", NAME).out)["path"] == NAME, "JSON keeps the exact name"
    say("edit", NAME, "--old", "line 5", "--new", "five")
    say("edit", NAME, "--old", "not there", "--new", "x")
    (at.root / NAME).write_text(CHANGED)
    for words in (
        ("status",),
        ("check", NAME),
        ("diff", NAME),
        ("why", NAME),
        ("log",),
        ("log", NAME),
        ("changes",),
        (
            "changes",
            "--for-agent",
        ),
        ("edit", NAME, "--old", "line 3", "--new", "x"),
        ("edit", NAME, "--old", "line 8", "--new", "eight"),
        ("edit", NAME, "--lines", "99-100"),
        ("write", NAME),
        ("create", NAME),
        ("create", f"{FOLDER}/ne\nw\x1b.py"),
        ("delete", link),
        ("move", NAME, SECOND),
        ("saw", NAME),
        ("read", f"{FOLDER}/none\x1b"),
        ("read", FOLDER),
        ("read", f"../{NAME}"),
        ("claim", NAME),
        (
            "claim",
            "list",
        ),
        ("status",),
        (
            "session",
            "list",
        ),
        ("session", "show", "cli"),
        ("claim", "release", NAME),
        ("checkpoint", "--label", "here"),
        (
            "checkpoint",
            "list",
        ),
        ("checkpoint", "diff", start),
        ("changes", "--since", start),
        ("rewind", start, "--dry-run"),
        ("run", "--", "rm", NAME),
        ("changes",),
        (
            "changes",
            "--for-agent",
        ),
        ("check", NAME),
        ("edit", NAME, "--old", "line 8", "--new", "eight"),
        ("rewind", start, "--yes"),
        ("find", "vil"),
        ("find", f"{FOLDER}/none\x1b"),
        ("list", "."),
        ("list", FOLDER),
        ("list", f"{FOLDER}/none\x1b"),
        ("related", SECOND),
        ("registry",),
        ("briefing", f"look at @{FOLDER}/other"),
        ("claim", "hand-over", NAME, "--to", "b"),
        ("warnings",),
        ("stats",),
        ("doctor",),
        ("gc",),
        ("patch",),
    ):
        patch = f"--- {quoted('a/' + NAME)}\n+++ {quoted('b/' + NAME)}\n@@ -1 +1 @@\n-a\n+b\n"
        say(*words, stdin=patch if words == ("patch",) else "x\n")


def test_no_answer_of_the_library_has_a_raw_name(place):
    place.put(NAME, TEXT)
    place.put(SECOND, TEXT)
    s = place.session()
    for name in (NAME, SECOND):
        s.read(name)
    for name in (NAME, SECOND):
        place.put(name, CHANGED)
    notice = s.notice()
    assert_safe(notice.text, "notice")
    assert {change.path for change in notice.changes} == {NAME, SECOND}
    assert_safe(s.notice(budget=110).text, "a short notice")
    assert [change.path for change in s.changes()] == [NAME, SECOND]
    for change in s.changes():
        assert_safe(change.summary, "summary")
    attempts = (
        lambda: s.edit(NAME, "line 3", "x"),
        lambda: s.edit(NAME, "nowhere", "x"),
        lambda: s.create(NAME, "x"),
        lambda: s.write(NAME, TEXT.replace("line 3", "mine")),
        lambda: s.delete(NAME),
        lambda: s.move(NAME, SECOND),
        lambda: s.apply([{"path": NAME, "content": "x"}, {"path": SECOND, "delete": True}]),
        lambda: s.read(f"../{NAME}"),
        lambda: s.read(f"{NAME}/x"),
        lambda: s.read(FOLDER),
        lambda: s.read(f"{FOLDER}/none\x1b"),
    )
    for number, attempt in enumerate(attempts):
        with pytest.raises(sightline.SightlineError) as refused:
            attempt()
        assert_safe(str(refused.value), number)
    result = s.edit(NAME, "line 8", "eight")
    assert_safe(str(result.notice), "a notice beside an edit")
    assert_safe(result.diff, "a diff")
    assert result.path == NAME
    place.root.joinpath(NAME).rename(place.root / f"{NAME}2")
    assert_safe(str(s.edit(NAME, "line 9", "nine").notice), "a rename")
    bundle = s.briefing("go on")
    assert_safe(str(bundle.text), "briefing")


@pytest.mark.wide
def test_no_briefing_has_a_raw_name(place):
    def git(*words):
        subprocess.run(["git", *words], cwd=place.root, capture_output=True, check=True)

    link = f"{FOLDER}/li\nnk"
    for name in (NAME, SECOND):
        place.put(name, TEXT)
    place.put(f"{FOLDER}/bi\nn.dat", b"\0")
    place.put("mod.py", TEXT)
    for folder in ("", f"{FOLDER}/"):
        place.put(f"{folder}im\nporter.py", "import mod\n")
    place.put(f"{FOLDER}/mo\x1bd.py", TEXT)
    (place.root / link).symlink_to("none")
    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "-m", "all")
    place.put(SECOND, CHANGED)
    place.put(f"{FOLDER}/n\new.py", TEXT)
    git("mv", NAME, f"{NAME}2")
    s = place.session()
    texts = [
        s.briefing(f"look at {mention}").text
        for mention in (
            f"@{FOLDER}/",
            f"@{FOLDER}",
            f'@"{FOLDER}/nearly"',
            f"@{FOLDER}/oth",
            f"@{FOLDER}/mo\x1bd.py#L2-3",
            f"@{FOLDER}/mo\x1bd.py:99",
            "@git-changes",
        )
    ]
    assert "renamed from" in texts[-1]
    for name in (f"{NAME}2", SECOND, "mod.py"):
        s.read(name)
        s.edit(name, "line 8", "eight")
    texts.append(s.briefing("and now?").text)
    s.move(SECOND, f"{SECOND}3")
    for number in range(31):
        s.create(f"{FOLDER}/m\ny{number}.py", TEXT)
    texts += [s.briefing(message).text for message in (None, "go on")]
    place.put(f"{NAME}2", CHANGED)
    texts += [s.briefing(message).text for message in (None, "go on")]
    assert any("Changed by you" in text for text in texts)
    assert any("related to those you edited" in text for text in texts)
    for text in texts:
        assert_safe("\n".join(outside_fences(text)), "briefing")


def test_no_hook_answers_with_a_raw_name():
    host = Host()
    try:
        (host.root / FOLDER).mkdir()
        said: list[Any] = []
        path, second = host.put(NAME, TEXT), host.put(SECOND, TEXT)
        said += [host.ask(host.shown(each, TEXT)) for each in (path, second)]
        for each in (NAME, SECOND):
            host.put(each, CHANGED)
        said += [
            host.ask(host.edit(path, "line 3", "x")),
            host.ask(host.write(path, "x")),
            host.ask(host.write(path, CHANGED)),
            host.ask(host.payload("UserPromptSubmit", prompt=f"see @{FOLDER}/other")),
        ]
        host.put(NAME, CHANGED.replace("line 7", "seven"))
        command: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_use_id": "t7",
            "tool_input": {"command": "make"},
        }
        said.append(host.ask(host.payload("PreToolUse", **command)))
        (host.root / SECOND).unlink()
        done = command | {"tool_response": {"stdout": "", "stderr": ""}}
        said.append(host.ask(host.payload("PostToolUse", **done)))
        said.append(host.ask(host.write(second, "x")))
        (host.root / FOLDER / ".vscode").mkdir()
        said.append(host.ask(host.write(str(host.root / FOLDER / ".vscode" / "a.json"), "x")))
        (host.root / ".sightlineignore").write_text("*.key\n")
        said.append(host.ask(host.write(str(host.root / FOLDER / "a.key"), "x")))
        told = [text for each in said for text in strings(each)]
        assert sum("line" in text or "Sightline" in text for text in told) >= 5
        for text in told:
            assert_safe(text, "hook")
        for fault in host.faults():
            assert_safe(fault, "log")
    finally:
        host.close()


def test_the_live_view_shows_no_raw_name(place):
    place.put(NAME, TEXT)
    s = place.session()
    s.read(NAME)
    place.put(NAME, CHANGED)
    s.changes()
    context = s._context
    ground = survey(context.store, context.workspace, Settings(str(place.home)), context.clock)
    watch = Watch(ground, Watching(ground))
    view: Any = watch.look()
    console = Console(file=StringIO(), width=100, color_system=None, _environ={})
    lines = draw(view, Head(f"~/{FOLDER}", "status"), str, console, 40)
    for line in lines:
        assert_safe(line, "view")
    assert any("vil" in line for line in lines)
