"""The stories of the command line. Each calls commands and changes files as a user would."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.golden.telling import Story
from tests.golden.texts import messages, transcript

APP = "host = 'localhost'\nport = 8080\n\n\ndef run():\n    return host, port\n"
LONG = "".join(f"line {number} of a longer file\n" for number in range(1, 31))


def edits(sl: Story) -> None:
    sl.put("app.py", APP)
    sl.remark("What was shown is edited")
    sl("check", "app.py")
    sl("diff", "app.py")
    sl("read", "app.py")
    sl("read", "app.py")
    sl("check", "app.py")
    sl("edit", "app.py", "--old", "8080", "--new", "9090")
    sl("edit", "app.py", "--lines", "1-1", "--new", "host = '127.0.0.1'")
    sl("edit", "app.py", "--lines", "3-2", stdin="debug = False\n")
    sl.stands("app.py")
    sl.remark("A new file, a whole file, a rename, a deletion")
    sl("create", "notes/todo.md", stdin="- write tests\n")
    sl("write", "notes/todo.md", stdin="- write tests\n- run them\n")
    sl("move", "notes/todo.md", "notes/done.md")
    sl("delete", "notes/done.md")
    sl.remark("A patch of two files")
    sl("create", "b.txt", stdin="one\ntwo\n")
    patch = (
        "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
        "--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1 @@\n+new\n"
    )
    sl("patch", stdin=patch)
    sl("edit", "b.txt", "--old", "one", "--new", "1", "--quiet")
    sl.put("many.txt", "x\nx\nx\n")
    sl("read", "many.txt", "--lines", "2-3")
    sl("edit", "many.txt", "--old", "x", "--new", "y")
    sl("edit", "many.txt", "--old", "x", "--new", "y", "--count", "all")
    sl("read", "many.txt")
    sl("edit", "many.txt", "--old", "x", "--new", "y", "--count", "3")
    sl("saw", "many.txt", "--lines", "1-2", "--via", "search")
    sl("saw", "b.txt", "--text-file", "-", stdin="1\nthree\n")
    sl("status")
    sl("log")


def refusals(sl: Story) -> None:
    sl.put("app.py", APP)
    sl.remark("Never shown")
    sl("write", "app.py", stdin="all = 'new'\n")
    sl("edit", "app.py", "--old", "port = 8080", "--new", "port = 1")
    sl("delete", "app.py")
    sl.remark("Changed since it was shown")
    sl("read", "app.py")
    sl.put("app.py", APP.replace("8080", "7070"))
    sl("check", "app.py")
    sl("diff", "app.py")
    sl("edit", "app.py", "--old", "port = 8080", "--new", "port = 9090")
    sl("edit", "app.py", "--lines", "2-2", "--new", "port = 9090")
    sl("write", "app.py", stdin=APP.replace("8080", "9090"))
    sl("delete", "app.py")
    sl("patch", stdin="--- a/app.py\n+++ b/app.py\n@@ -2 +2 @@\n-port = 8080\n+port = 1\n")
    sl("changes")
    sl("why", "app.py")
    sl.remark("No such text")
    sl("read", "app.py")
    sl("edit", "app.py", "--old", "prot = 7070", "--new", "port = 1")
    sl("edit", "app.py", "--old", "nothing of the kind stands here", "--new", "x")
    sl("edit", "app.py", "--old", "host", "--new", "server")
    sl("edit", "app.py", "--old", "host", "--new", "server", "--count", "5")
    sl("edit", "app.py", "--lines", "40-41", "--new", "x")
    sl.remark("It is there already, or not at all")
    sl("create", "app.py", stdin="x\n")
    sl("read", "nowhere.py")
    sl("edit", "nowhere.py", "--old", "a", "--new", "b")
    sl("delete", "nowhere.py")
    sl("move", "nowhere.py", "b.py")
    sl("diff", "nowhere.py")
    sl.put("b.py", "b = 1\n")
    sl("move", "app.py", "b.py")
    sl("read", "app.py", "--lines", "50-60")
    sl.put("app.py", APP.replace("8080", "6060"))
    sl("move", "app.py", "moved.py")
    sl.remark("No text")
    sl.put("pixels.bin", b"\x00\x01\x02\xff")
    sl("read", "pixels.bin")
    sl("edit", "pixels.bin", "--old", "a", "--new", "b")
    sl.remark("Not ours to touch")
    sl("read", "../outside.txt")
    sl("edit", "../outside.txt", "--old", "a", "--new", "b")
    sl("create", ".git/hooks/pre-commit", stdin="#!/bin/sh\n")
    sl.put(".env", "SECRET=1\n")
    sl("read", ".env")
    sl("write", ".env", stdin="SECRET=2\n")
    sl.put("package-lock.json", "{}\n")
    sl("write", "package-lock.json", stdin='{"a": 1}\n')
    sl.remark("A file that the project protects")
    sl.put("sightline.toml", 'protect = ["generated/"]\npolicy = "block"\n')
    sl.put("generated/api.py", "API = 1\n")
    sl("read", "generated/api.py")
    sl("edit", "generated/api.py", "--old", "1", "--new", "2")
    sl("changes")
    sl("log", "--kind", "refused")
    sl("log")


def usage(sl: Story) -> None:
    sl.put("app.py", APP)
    for words in (
        ["frobnicate"],
        ["chekpoint"],
        ["read"],
        ["read", "app.py", "--lines", "x"],
        ["read", "app.py", "--lines", "3-1"],
        ["edit", "app.py"],
        ["edit", "app.py", "--old", "a"],
        ["edit", "app.py", "--old", "a", "--new", "b", "--count", "0"],
        ["edit", "app.py", "--old", "a", "--old-file", "x", "--new", "b"],
        ["edit", "app.py", "--lines", "9", "--new", ""],
        ["log", "--kind", "nonsense"],
        ["log", "--since", "whenever"],
        ["log", "-n", "-1"],
        ["rewind"],
        ["rewind", "cp-00000000", "--yes"],
        ["checkpoint", "diff", "nothing"],
        ["checkpoint", "export", "nothing", "--patch"],
        ["checkpoint", "export", "nothing"],
        ["claim", "release", "c-00000000"],
        ["claim", "release"],
        ["claim"],
        ["claim", "app.py", "--ttl", "soon"],
        ["ack", "nothing"],
        ["claim", "hand-over", "nobody", "app.py"],
        ["session", "show", "nobody"],
        ["session", "delete", "nobody"],
        ["session", "fork", "nobody"],
        ["find"],
        ["find", "a", "b", "c", "d", "e", "f"],
        ["list", "nowhere"],
        ["list", "app.py"],
        ["related", "nowhere.py"],
        ["window", "nowhere.json", "--budget", "10"],
        ["window", "app.py"],
        ["replay", "nowhere.jsonl"],
        ["changes", "--since", "nothing"],
        ["turn", "x"],
        ["gc", "--older-than", "x"],
        ["completion", "tcsh"],
        ["init", "no-such-agent"],
        ["patch"],
        ["--store", "ftp://x", "status"],
        ["--workspace", "nowhere", "status"],
        ["--session", "a b\nc", "read", "app.py"],
    ):
        sl(*words)
    sl("patch", stdin="this is no patch\n")
    sl("patch", stdin="--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-nothing like it\n+x\n")
    sl.put("sightline.toml", "policy = [")
    sl("status")
    sl.put("sightline.toml", 'policy = "sometimes"\n')
    sl("status")
    sl.put("sightline.toml", 'fail = "closed"\nstore = "memory:"\n')
    sl("status")


def merges(sl: Story) -> None:
    sl.put("long.txt", LONG)
    sl("read", "long.txt")
    sl.put("long.txt", LONG.replace("line 3 of", "LINE 3 of"))
    sl.remark("An edit of other lines goes through")
    sl("edit", "long.txt", "--old", "line 20 of", "--new", "Line 20 of")
    sl("check", "long.txt")
    sl("changes")
    sl.remark("A whole write keeps both changes")
    mine = LONG.replace("line 20 of", "Line 20 of").replace("line 28 of", "Line 28 of")
    sl("write", "long.txt", stdin=mine)
    sl.stands("long.txt")
    sl.remark("A whole write that meets a change is refused")
    sl.put("long.txt", LONG.replace("line 28 of", "somebody's line 28 of"))
    sl("write", "long.txt", stdin=mine.replace("Line 28", "my line 28"))
    sl("why", "long.txt")
    sl.remark("Inserted lines move the rest")
    sl("read", "long.txt")
    sl.put("long.txt", "a new first line\n" + LONG.replace("line 28 of", "somebody's line 28 of"))
    sl("edit", "long.txt", "--lines", "10-10", "--new", "line ten")
    sl("edit", "long.txt", "--old", "line 12 of a", "--new", "line twelve of a")
    sl("diff", "long.txt")
    sl("changes", "--for-agent")
    sl("log", "long.txt")


def news(sl: Story) -> None:
    for name in ("a.py", "b.py", "c.py"):
        sl.put(name, f"name = '{name}'\nvalue = 1\nlast = True\n")
        sl("read", name, "--quiet")
    sl("turn", "--model", "model-x", "--provider", "some-provider", "--mode", "act")
    sl("changes")
    sl("changes", "--for-agent")
    sl.put("a.py", "name = 'a.py'\nvalue = 2\nlast = True\n")
    sl.remove("b.py")
    sl.move("c.py", "d.py")
    sl("status")
    sl("changes")
    sl("changes", "--for-agent")
    sl("changes", "--for-agent", "--budget", "20")
    sl("briefing")
    sl("briefing", "--message", "please continue")
    sl("ack", json.loads(sl.place.command("--json", "changes", "--for-agent").out)["notice"]["id"])
    sl("changes")
    sl("changes", "--all")
    sl("changes", "--for-agent")
    sl("changes", "--since")
    sl("changes", "--since", "1", "--others")
    sl("changes", "--since", "1", "--mine")
    sl("turn")
    sl("turn", "7", "--model", "model-y")
    sl("models")
    sl("--session", "other", "models")
    sl("warnings")
    sl("log", "--since", "5")
    sl("log", "-n", "3")
    sl("why", "b.py")
    sl("why", "c.py")
    sl("check", "a.py", "b.py", "c.py", "d.py")


def several(sl: Story) -> None:
    sl.put("app.py", "a = 1\nb = 2\nc = 3\n")
    sl.put("docs/api.md", "# API\n")
    sl("--session", "one", "read", "app.py", "--quiet")
    sl("--session", "two", "read", "app.py", "--quiet")
    sl("--session", "one", "edit", "app.py", "--old", "b = 2", "--new", "b = 20")
    sl("--session", "two", "check", "app.py")
    sl("--session", "two", "changes", "--for-agent")
    sl("--session", "two", "edit", "app.py", "--old", "b = 2", "--new", "b = 3")
    sl("--session", "two", "edit", "app.py", "--old", "c = 3", "--new", "c = 30")
    sl("--session", "two", "claim", "app.py", "docs/**", "--ttl", "10m")
    sl("--session", "one", "claim", "docs/api.md")
    sl("--session", "one", "edit", "app.py", "--old", "a = 1", "--new", "a = 10")
    sl("--session", "three", "check", "app.py")
    sl("claim", "list")
    sl("--session", "two", "claim", "--renew", "<claim 1>", "--ttl", "1h", "app.py")
    sl("--session", "two", "claim", "--renew", "<claim 1>", "--ttl", "1h")
    sl("--session", "one", "claim", "src/", "--shared")
    sl("--session", "two", "claim", "src/", "--shared")
    sl("claim", "list")
    sl.place.environ["SIGHTLINE_CLAIMS"] = "enforce"
    sl("--session", "one", "read", "app.py", "--quiet")
    sl("--session", "one", "edit", "app.py", "--old", "a = 10", "--new", "a = 11")
    del sl.place.environ["SIGHTLINE_CLAIMS"]
    sl("--session", "two", "claim", "release", "<claim 1>")
    sl("--session", "two", "claim", "release", "--all")
    sl("--session", "two", "claim", "release", "--all")
    sl("claim", "list")
    sl("session", "list")
    sl("session", "show", "one")
    sl("session", "fork", "one", "--as", "experiment")
    sl("session", "fork", "one")
    sl("check", "app.py", "--session", "experiment")
    sl("--session", "one", "claim", "hand-over", "experiment", "app.py", "--lines", "1-2")
    sl("--session", "one", "claim", "hand-over", "two", "app.py")
    sl("--session", "one", "claim", "hand-over", "experiment")
    sl("session", "delete", "experiment")
    sl("session", "delete", "experiment", "--force")
    sl("session", "list")
    sl("status")
    sl("--session", "two", "status")
    sl("log", "app.py")
    sl("log")


def checkpoints(sl: Story) -> None:
    sl.put("app.py", APP)
    sl.put("long.txt", LONG)
    sl.put("tool.sh", "#!/bin/sh\necho hello\n")
    (sl.place.root / "link").symlink_to("app.py")
    sl("checkpoint", "list")
    sl("read", "app.py", "--quiet")
    sl("read", "long.txt", "--quiet")
    sl("checkpoint", "before")
    sl("edit", "app.py", "--old", "8080", "--new", "9090")
    sl("edit", "long.txt", "--old", "line 5 of", "--new", "Line 5 of")
    sl("create", "new.py", stdin="new = True\n")
    sl("checkpoint", "middle")
    sl.put("long.txt", LONG.replace("line 5 of", "Line 5 of").replace("line 25", "user line 25"))
    sl("edit", "app.py", "--old", "9090", "--new", "9091")
    sl("delete", "tool.sh")
    sl("read", "tool.sh", "--quiet")
    sl("delete", "tool.sh")
    sl("checkpoint")
    sl("checkpoint", "list")
    sl("checkpoint", "diff", "before", "middle")
    sl("checkpoint", "diff", "before")
    sl("checkpoint", "diff", "before", "--stat")
    sl("checkpoint", "diff", "<checkpoint 2>", "<checkpoint 2>")
    sl("checkpoint", "export", "middle", "--patch")
    sl("checkpoint", "export", "before", "--patch", "--now")
    sl("checkpoint", "export", "middle", "--patch", "--since", "before", "--output", "out.patch")
    sl.stands("out.patch")
    sl("changes", "--since", "before")
    sl("changes", "--since", "before", "--mine")
    sl("rewind", "middle", "--dry-run")
    sl("rewind", "middle", "--dry-run", "--diff")
    sl("rewind", "middle")
    sl("rewind", "middle", "--yes")
    sl.stands("app.py", "long.txt", "tool.sh", "new.py")
    sl.remark("Lines that cannot be told apart are left alone")
    sl.put("app.py", APP.replace("8080", "9099"))
    sl("rewind", "before", "--dry-run", "--diff")
    sl("rewind", "before", "--yes", "--conversation")
    sl("rewind", "before", "--yes", "--force-path", "app.py")
    sl("rewind", "before", "--yes", "--no-files", "--conversation")
    sl.stands("app.py", "long.txt", "tool.sh", "new.py")
    sl("check", "app.py")
    sl("checkpoint", "list")
    sl("log")
    sl("gc", "--dry-run")
    sl("gc", "--dry-run", "--older-than", "0d")
    sl("gc", "--max-size", "1")


def undone(sl: Story) -> None:
    sl.put("app.py", APP)
    sl("undo", "--yes")
    sl("check")
    sl("read", "app.py", "--quiet")
    sl("edit", "app.py", "--old", "8080", "--new", "9090")
    sl("turn")
    sl("edit", "app.py", "--old", "localhost", "--new", "example.org")
    sl("create", "new.py", "--session", "helper", stdin="new = True\n")
    sl("undo")
    sl("undo", "--dry-run")
    sl("undo", "--yes")
    sl("undo", "--yes")
    sl("undo", "--yes", "--session", "cli")
    sl("undo", "--yes", "--session", "cli")
    sl.stands("app.py", "new.py")
    sl("checkpoint", "list")
    sl("rewind", "<checkpoint 3>", "--yes")
    sl.stands("app.py")
    sl("changes", "--for-agent")
    sl("ack")
    sl("check")
    sl("checkpoint", "delete", "<checkpoint 1>", "<checkpoint 2>")
    sl("checkpoint", "delete", "<checkpoint 1>")
    sl("checkpoint", "list")
    sl("session")
    sl("log")


def exports(sl: Story) -> None:
    sl.put("app.py", APP)
    sl.put(".gitignore", "*.log\n")
    sl.put("trace.log", "x\n")
    sl.git("add", "--all")
    sl.git("commit", "--quiet", "--message", "first")
    sl("read", "app.py", "--quiet")
    sl("checkpoint", "start")
    sl("edit", "app.py", "--old", "8080", "--new", "9090")
    sl("create", "new.py", stdin="new = True\n")
    sl("checkpoint", "done")
    sl(
        "checkpoint",
        "export",
        "done",
        "--branch",
        "sightline/done",
        "--author",
        "Ada <ada@example.org>",
    )
    sl("checkpoint", "export", "done", "--branch", "sightline/done")
    sl("checkpoint", "export", "done", "--branch", "not a branch")
    sl("checkpoint", "export", "done", "--patch")
    sl.remark("Git changes files")
    sl.git("stash", "--quiet")
    sl("status")
    sl("changes")
    sl("changes", "--for-agent")
    sl.git("stash", "pop", "--quiet")
    sl("status")
    sl.git("commit", "--quiet", "--all", "--message", "second")
    sl.git("checkout", "--quiet", "HEAD~1")
    sl("check", "app.py")
    sl("changes")
    sl("log", "app.py")


def commands_run(sl: Story) -> None:
    sl.put("app.py", APP)
    sl("read", "app.py", "--quiet")
    script = "import pathlib; p = pathlib.Path('app.py'); p.write_text(p.read_text().replace('8080', '1')); print('done')"
    sl("run", "--", "<python>", "-c", script, process=True)
    sl("run", "--", "<python>", "-c", "raise SystemExit(3)", process=True)
    sl("run", "--", "no-such-program", process=True)
    sl("run", "--", "rm", "app.py", process=True)
    sl("status")
    sl("log")


def watched(sl: Story) -> None:
    sl.put("app.py", APP)
    sl("read", "app.py", "--quiet")
    with sl.watching() as comes:
        sl.put("app.py", APP.replace("8080", "7070"))
        comes()
        sl.put("new.py", "new = True\n")
        comes()
    sl("log")


def finding(sl: Story) -> None:
    sl.put(
        "src/shop/cart.py", "from shop.prices import total\n\n\ndef cart():\n    return total()\n"
    )
    sl.put("src/shop/prices.py", "def total(): ...\n")
    sl.put("src/shop/__init__.py", "")
    sl.put("tests/test_cart.py", "from shop.cart import cart\n")
    sl.put("web/app.ts", "import { b } from './b';\n")
    sl.put("web/b.ts", "export const b = 1;\n")
    sl.put(".gitignore", "build/\n*.log\n")
    sl.put("build/out.js", "x\n")
    sl("find", "cart.ts", "src/**/cart.py", "*cart*")
    sl("find", "src/shop/cart.py")
    sl("find", "src/shop/Carts.py")
    sl("find", "crat.py", "--required", "--fallback", "ask_user")
    sl("find", "src/shop/basket.py", "--fallback", "create_new")
    sl("find", "zzz.zzz")
    sl("read", "src/shop/cart.py", "--quiet")
    sl("stats")
    sl("--session", "nobody", "stats")
    sl("list", ".")
    sl("list", "src", "--recursive", "--filter", "*.py")
    sl("list", ".", "--recursive", "--depth", "2", "--limit", "3")
    sl("list", "src", "--next-turn")
    sl("related", "src/shop/cart.py")
    sl("related", "src/shop/prices.py", "--no-siblings", "--transitive", "1")
    sl("related", "web/app.ts", "--limit", "1")
    sl("related", "src/shop/prices.py", "--no-imports", "--no-importers", "--no-tests")
    sl("registry")
    sl("registry", "--all", "--md5")
    sl("edit", "src/shop/cart.py", "--old", "return total()", "--new", "return total() + 1")
    sl("briefing", "--message", "and now @tests/test_cart.py:1-1 and @nowhere.py")
    sl("briefing", "--message", "please continue with @src/shop/", "--budget", "600")
    sl("briefing", "--message", "go on", "--ack")
    sl("briefing", "--message", "go on")
    sl("registry")
    sl("status")


def windows(sl: Story) -> None:
    sl.put("history.json", json.dumps(messages()))
    sl("window", "history.json", "--budget", "9000")
    sl("window", "history.json", "--budget", "9000", "--policy", "careful", "--price", "none")
    sl("window", "history.json", "--budget", "100000", "--model", "claude-3-5-sonnet")
    sl("window", "history.json", "--budget", "3000", "--output", "view.json")
    sl.stands("view.json")
    sl("window", "-", "--budget", "4000", stdin=json.dumps(messages(chat=True)))
    sl("window", "history.json", "--budget", "9000", "--policy", "x")
    for text in ("", "[]", "[{]", '{"a": 1}\n{"b": 2}\n', json.dumps(messages()[:2])):
        sl.put("h.json", text)
        sl("window", "h.json", "--budget", "10")
    sl.put("session.jsonl", transcript(reads=6))
    sl("window", "session.jsonl", "--budget", "9000")
    sl("changes", "--since", "--messages", "history.json")


def replays(sl: Story) -> None:
    sl.put("recorded/one.jsonl", transcript(reads=8))
    some = ["--policy", "default", "--policy", "careful"]
    sl("replay", "recorded", *some)
    sl("replay", "recorded", "--policy", "careful", "--price", "none", "--soft-budget", "21000")
    sl("replay", "recorded")
    sl("replay", "recorded", "--min-tokens", "10000000")
    sl("replay", "recorded", "--policy", "rooo")
    real = "<recordings>/PackmindHub-context-evaluator-188f64dd752f-0.jsonl"
    sl("replay", real, *some, "--soft-budget", "20000")


def upkeep(sl: Story) -> None:
    sl.put("app.py", APP)
    sl("read", "app.py", "--quiet")
    sl("edit", "app.py", "--old", "8080", "--new", "1")
    sl("gc", "--dry-run")
    sl("gc")
    sl("init", "claude-code", "--dry-run")
    sl("init", "claude-code")
    sl("init", "claude-code")
    sl("init", "claude-code", "--remove")
    sl("init", "claude-code", "--remove")
    sl("up", "--once")
    sl("doctor")
    sl("warnings")


def answers(sl: Story) -> None:
    """A model's structured answers: looked at, refused, applied, and what they leave."""
    sl.put("app.py", APP)
    sl.put("b.txt", "one\ntwo\n")
    sl("read", "app.py", "--quiet")
    sl("read", "b.txt", "--quiet")
    edit = {"path": "app.py", "todoIndex": 0, "edits": [{"old": "8080", "new": "9090"}]}
    answer = {
        "summary": "The port is another one.",
        "todos": [{"text": "Change the port", "aiText": "in app.py"}, "Write it down"],
        "fileChanges": [edit, {"path": "b.txt", "moveTo": "notes/b.txt"}],
        "nextSteps": [{"html": "Write it down?", "inputText": "continue"}],
        "filesToLoad": [{"patterns": ["*.md"]}, {"patterns": ["app.py"]}],
        "commands": ["make test"],
    }
    sl("apply", "--preview", stdin=json.dumps(answer))
    sl.remark("Changed since it was shown")
    sl.put("app.py", APP.replace("8080", "7070"))
    sl("apply", stdin=json.dumps(answer))
    sl("apply", "--each", stdin=json.dumps(answer))
    sl("read", "app.py", "--quiet")
    edit["edits"] = [{"old": "7070", "new": "9090"}]
    only = json.dumps({"fileChanges": [edit]})
    sl.remark("A text that ends early")
    sl("apply", stdin=f'Here it is:\n{only[:-2]}, {{"pa')
    sl("briefing", "--message", "continue")
    sl("apply", stdin=json.dumps({"fileChanges": [{"path": "../x", "contnet": "y"}]}))
    sl("apply", stdin="I do not know.")
    sl("log", "--newest", "3")


def others(sl: Story) -> None:
    """What no other story calls."""
    sl("tour")
    for shell in ("bash", "zsh", "fish"):
        sl("completion", shell)
    sl.put("app.py", APP)
    sl.put("old.txt", "port = 8080")
    sl.put("new.txt", "port = 9090")
    sl("read", "app.py", "--quiet")
    sl("edit", "app.py", "--old-file", "old.txt", "--new-file", "new.txt")
    sl("log", "--newest", "1")
    sl("--workspace", ".", "--no-color", "check", "app.py")
    given = {"file_path": "app.py", "old_string": "a", "new_string": "b"}
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": given}
    gone = json.dumps([{"role": "assistant", "content": [call]}])
    sl("changes", "--since", "1", "--messages", "-", stdin=gone)
    sl("rewind", "3", "--yes", "--conversation", "--no-files", "--messages", "-", stdin=gone)
    sl("warnings")
    sl("init", "claude-code", "--dry-run", "--scope", "project")
    sl("init", "claude-code", "--dry-run", "--scope", "user")
    sl("doctor", "--fix")
    sl("status", process=True)
    sl("read", "app.py", process=True)


STORIES: dict[str, Callable[[Story], None]] = {
    "edits": edits,
    "refusals": refusals,
    "usage": usage,
    "merges": merges,
    "news": news,
    "several": several,
    "checkpoints": checkpoints,
    "undone": undone,
    "exports": exports,
    "commands_run": commands_run,
    "watched": watched,
    "finding": finding,
    "windows": windows,
    "replays": replays,
    "upkeep": upkeep,
    "answers": answers,
    "others": others,
}
