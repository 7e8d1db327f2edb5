"""What every agent product keeps to, the ones that Sightline knows and a toy. A new product is tested by its line in
agents.products alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import structs
from tests.hooks.hooking import Host
from tests.support import toy_product

import sightline
from sightline.agents.claude_code import product as claude_code
from sightline.agents.connection import Place, Program, files_of
from sightline.agents.product import Capabilities, Product, fitted
from sightline.agents.products import PRODUCTS, connectable, product
from sightline.agents.settings_file import backup_of, carry_out
from sightline.model import hook_events as events
from sightline.model.attempts import Replace, WriteWhole
from sightline.model.events import (
    Changed,
    Moved,
    NoticeDelivered,
    Refused,
    WriteAbandoned,
    WriteIntended,
)
from sightline.model.findings import Finding
from sightline.model.hook_events import Answer, Attempted, Began
from sightline.model.revision import MISSING
from sightline.recordings.product_readers import READERS

ALL = [*map(product, PRODUCTS), toy_product.PRODUCT]
EACH = pytest.mark.parametrize("known", ALL, ids=[each.name for each in ALL if each])
PROGRAM = Program("/opt/venv/bin/python", "/opt/venv/lib/sightline/hooks/hook_entry.py")
STRANGE: list[object] = [None, 7, [], {}, {"a": [None]}]
BEFORE = [None, "{}\n"]
MORE = ["", '{\r\n\t"model": "one"\r\n}', '\ufeff{"hooks": {}, "x": [1,2]}\n']


@pytest.fixture
def place(tmp_path):
    (tmp_path / "home").mkdir()
    return Place(str(tmp_path / "project"), {}, str(tmp_path / "home"))


@EACH
def test_its_name_is_for_commands_and_its_title_for_people(known):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", known.name)
    assert known.title != known.name
    assert known.title == known.title.strip()
    assert known.can.before or known.can.after


@EACH
def test_a_beginning_an_edit_and_what_does_not_matter_are_parsed(known):
    began, edit, other = known.dialect.trial("/p", "/p/a.txt", "two", "2")
    [first] = known.dialect.events(began)
    assert isinstance(first, Began)
    [attempt] = known.dialect.events(edit)
    assert isinstance(attempt, Attempted)
    assert attempt.paths == ("/p/a.txt",)
    assert known.dialect.events(other) == []
    assert {known.dialect.caller(each).cwd for each in (began, edit, other)} == {"/p"}
    assert known.dialect.event_name(began) != known.dialect.event_name(edit) != ""


@EACH
@pytest.mark.parametrize("word", ["refuse", "ask", "context", "tell"])
def test_an_answer_says_what_the_product_can_do_and_no_more(known, word):
    edit = known.dialect.trial("/p", "/p/a.txt", "two", "2")[1]
    [event] = known.dialect.events(edit)
    answer = fitted(structs.replace(Answer(), **{word: "WORDS\nof it"}), event, known.can)
    said = known.dialect.answer(edit, [answer])
    can = known.can
    injects, asks = isinstance(event, can.inject), can.ask or can.deny
    heard = {"refuse": can.deny or injects or can.tell, "context": injects, "tell": can.tell}
    heard["ask"] = asks or injects or can.tell
    assert ("WORDS" in json.dumps(said)) == heard[word]


@EACH
def test_no_answer_is_no_output(known):
    for payload in known.dialect.trial("/p", "/p/a.txt", "two", "2"):
        assert not known.dialect.answer(payload, [])
        assert not known.dialect.answer(payload, [events.NOTHING])


@EACH
def test_a_payload_with_missing_or_strange_fields_is_refused_as_such(known):
    for payload in known.dialect.trial("/p", "/p/a.txt", "two", "2"):
        for name in payload:
            for strange in STRANGE:
                damaged = {**payload, name: strange}
                for each in (damaged, {k: v for k, v in payload.items() if k != name}):
                    with suppress(ValueError):  # the agent goes on, and the log names the fault
                        assert isinstance(known.dialect.events(each), list)


@EACH
@pytest.mark.parametrize(
    "before", [*BEFORE, *[pytest.param(each, marks=pytest.mark.wide) for each in MORE]]
)
def test_coming_and_going_leaves_each_settings_file_byte_for_byte(known, place, before):
    for scope in known.connection.scopes:
        path = Path(known.connection.file(scope, place))
        path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None:
            path.write_bytes(before.encode())
        carry_out(known.connection.plan(scope, place, PROGRAM))
        found = known.connection.registered(scope, place)
        assert found
        assert files_of(found) == [PROGRAM.python, PROGRAM.script]
        assert not known.connection.plan(scope, place, PROGRAM).is_one, "once is enough"
        state = known.connection.registration(scope, place, PROGRAM, known.name)
        assert state is not None
        assert state.case == "gone", "its program is on no disk"
        carry_out(known.connection.plan(scope, place, None))
        assert (path.read_bytes().decode() if path.exists() else None) == before
        assert not os.path.lexists(backup_of(str(path)))
        assert known.connection.registered(scope, place) == []


@EACH
def test_its_recordings_are_read_under_its_name_and_title(known):
    reader = READERS.get(known.name)
    assert reader is None or reader.title == known.title


@EACH
def test_a_machine_without_it_has_nothing_of_it(known, place):
    assert all(isinstance(each, Finding) for each in known.connection.health(place, ()))
    assert all(isinstance(each, Finding) for each in known.connection.transcript(place))


def test_the_defaults_of_a_product_do_nothing(place):
    none = Product(name="none", title="None")
    assert none.can == Capabilities()
    assert none.dialect.events({"any": "thing"}) == []
    assert not none.dialect.answer({}, [Answer(refuse="x", tell="y")])
    assert none.dialect.unhooked("t", 7, before=0) == ([], 7)
    assert none.connection.scopes == ()
    assert not none.connection.is_here(place)


@pytest.mark.parametrize(
    ("can", "answer", "fits"),
    [
        (Capabilities(deny=True), Answer(ask="why"), Answer(refuse="why")),
        (Capabilities(inject=(Attempted,)), Answer(refuse="why"), Answer(context="why")),
        (Capabilities(tell=True), Answer(refuse="why"), Answer(tell="why")),
        (Capabilities(), Answer("no", "ask", {"a": "text"}, "more", ("/a",), "line"), Answer()),
        (Capabilities(deny=True), Answer("no", context="more"), Answer("no\n\nmore")),
    ],
)
def test_an_answer_is_fitted_to_the_capabilities(can, answer, fits):
    event = Attempted.single("a", Replace("a", "b"), "c")
    assert fitted(answer, event, can) == fits


def test_a_toy_is_guarded_by_its_line_alone(monkeypatch):
    monkeypatch.setitem(PRODUCTS, "toy", "tests.support.toy_product")
    assert [each.title for each in connectable()][-1] == "Toy Agent"
    host = Host()
    try:
        raw = payloads(host.root, host.put("a.txt", "one\ntwo\n"))
        assert [host.ask(each, "toy") for each in raw[:1]] == [{}]
        assert "a.txt" in host.ask(raw[1], "toy")["block"]
        assert host.faults() == []
    finally:
        shutil.rmtree(host.home)


def test_a_merge_is_refused_to_a_product_that_cannot_write_another_text(monkeypatch):
    able = claude_code.PRODUCT
    unable = structs.replace(able, can=structs.replace(able.can, rewrite=()))
    host = Host()
    try:
        path = host.put("a.txt", "".join([f"line {n}\n" for n in range(9)]))
        text = Path(path).read_text()
        host.ask(host.shown(path, text))
        host.put("a.txt", text.replace("line 8", "saved by a person"))
        raw = host.write(path, text.replace("line 0", "line zero"))
        assert "updatedInput" in host.ask(raw)["hookSpecificOutput"]
        monkeypatch.setattr(claude_code, "PRODUCT", unable)
        said = host.ask(raw.replace(b"line zero", b"line nought"))["hookSpecificOutput"]
        assert said["permissionDecision"] == "deny"
        assert "writes only the text that its model gave" in said["permissionDecisionReason"]
        assert "saved by a person" in said["permissionDecisionReason"]
    finally:
        shutil.rmtree(host.home)


@pytest.fixture
def toy(monkeypatch):
    """A toy that works in a project. Its capabilities may be changed."""
    monkeypatch.setitem(PRODUCTS, "toy", "tests.support.toy_product")
    made = Toy(monkeypatch)
    yield made
    assert len(made.host.faults()) == made.strays
    made.host.close()


class Toy:
    """Asks Sightline's hook as its product does."""

    def __init__(self, monkeypatch):
        self.host, self.patch, self.strays = Host(), monkeypatch, 0

    def can(self, **can):
        """Give its product other abilities."""
        able = toy_product.PRODUCT
        changed = structs.replace(able, can=structs.replace(able.can, **can))
        self.patch.setattr(toy_product, "PRODUCT", changed)

    def ask(self, event, **fields):
        common = {"chat": "s1", "folder": str(self.host.root), "event": event}
        return self.host.ask(json.dumps({**common, **fields}).encode(), "toy")

    def read(self, name, text):
        """Have the agent read a new file."""
        path = self.host.put(name, text)
        assert self.ask("read", file=path, text=text) == {}
        return path

    def change(self, *changes):
        """Ask about one call with these changes. Carry it out as the product's own tool does; return the answer."""
        first, *more = changes
        said = self.ask("change", **first, more=more)
        for each in changes if "block" not in said else ():
            path = Path(self.host.root, each["file"])
            if each.get("to"):
                path.rename(Path(self.host.root, each["to"]))
            elif each.get("gone"):
                path.unlink()
            elif each.get("find"):
                path.write_text(path.read_text().replace(each["find"], each["put"]))
            else:
                path.write_text(said.get("texts", {}).get(each["file"], each["put"]))
        return said

    def files(self):
        found = [each for each in self.host.root.iterdir() if each.is_file()]
        return {each.name: each.read_text() for each in found}

    def facts(self, *kinds):
        return [each.fact for each in self.host.facts() if isinstance(each.fact, kinds)]

    def told(self):
        """The paths of each text that counts as handed over."""
        return [fact.paths for fact in self.facts(NoticeDelivered)]


def test_words_wait_for_an_event_that_takes_them(toy):
    toy.can(after=True, inject=(events.Prompted,))
    toy.read("a.txt", "one\ntwo\n")
    toy.host.put("a.txt", "one\nTWO, by a person\n")
    run = {"command": "true", "id": "c1"}
    assert toy.ask("run", **run) == toy.ask("ran", **run) == {}
    assert toy.told() == []
    assert "TWO, by a person" in toy.ask("ask")["say"]
    assert toy.told() == [("a.txt",)]
    assert toy.ask("ask") == {}


@pytest.mark.parametrize("inject", [(), (events.Prompted,)])
def test_a_refusal_tells_what_no_other_answer_of_the_turn_may(toy, inject):
    toy.can(after=True, inject=inject)
    path = toy.read("a.txt", "one\ntwo\n")
    toy.read("b.txt", "three\n")
    toy.host.put("a.txt", "one\nTWO\n")
    toy.host.put("b.txt", "THREE\n")
    assert toy.told() == []
    said = toy.ask("change", file=path, find="two", put="2")
    assert list(said) == ["block"]
    assert said["block"].index("+TWO") < said["block"].index("+THREE")
    assert toy.told() == [("a.txt",), ("b.txt",)]
    assert toy.ask("ask") == {}, "both were told"
    again = toy.ask("change", file=path, find="two", put="2")
    assert "THREE" not in again["block"]


def test_a_product_without_words_and_refusals_is_told_nothing(toy):
    toy.can(deny=False, tell=True)
    path = toy.read("a.txt", "one\ntwo\n")
    toy.host.put("a.txt", "one\nTWO\n")
    assert toy.ask("change", file=path, find="two", put="2") == {}
    assert toy.ask("ask") == {}
    assert toy.told() == []


TEN = "".join([f"line {n}\n" for n in range(10)])
BY_PERSON = TEN.replace("line 8", "saved by a person")


def edit(file, find="line 0", put="line zero"):
    return {"file": file, "find": find, "put": put}


def whole(file):
    return {"file": file, "put": TEN.replace("line 0", "line zero")}


def test_several_files_of_one_call_go_on_together(toy):
    for name in ("a.txt", "b.txt"):
        toy.read(name, TEN)
    assert (
        toy.change(edit("a.txt"), edit("b.txt"), {"file": "c.txt", "put": "new\n", "new": True})
        == {}
    )
    assert toy.ask("ask") == {}
    changed = toy.facts(Changed)[-3:]
    assert sorted([each.path for each in changed]) == ["a.txt", "b.txt", "c.txt"]
    assert {each.cause.kind for each in changed} == {"agent"}
    assert toy.change(edit("a.txt", "line zero", "0"), edit("c.txt", "new", "old")) == {}, (
        "it knows them"
    )


STALE = edit("stale.txt", "line 8", "line eight")


@pytest.mark.parametrize("first", [True, False])
def test_one_stale_file_refuses_the_call_before_anything_is_journalled(toy, first):
    for name in ("good.txt", "stale.txt"):
        toy.read(name, TEN)
    toy.host.put("stale.txt", BY_PERSON)
    both = [STALE, edit("good.txt")] if first else [edit("good.txt"), STALE]
    said = toy.change(*both)["block"]
    assert "because of 1 of its 2 files" in said
    assert "saved by a person" in said
    assert toy.facts(WriteIntended, WriteAbandoned) == []
    assert toy.change(edit("good.txt")) == {}, "the other one alone goes on"


def test_one_refusal_names_every_file_that_refuses(toy):
    for name in ("a.txt", "b.txt", "good.txt"):
        toy.read(name, TEN)
    for name in ("a.txt", "b.txt"):
        toy.host.put(name, BY_PERSON.replace("person", f"person in {name}"))
    calls = [edit(each, "line 8", "line eight") for each in ("a.txt", "b.txt")]
    said = toy.change(edit("good.txt"), *calls, {**edit("new.txt"), "find": "none"})["block"]
    assert "because of 3 of its 4 files" in said
    for name in ("a.txt", "b.txt"):
        assert f"left {name} alone" in said
        assert f"+saved by a person in {name}" in said
    assert "left new.txt alone" in said
    assert toy.told() == [("a.txt",), ("b.txt",), ("new.txt",)]
    assert [each.path for each in toy.facts(Refused)] == ["a.txt", "b.txt", "new.txt"]


@pytest.mark.parametrize("marked", [True, False])
def test_a_file_of_another_place_is_judged_where_it_is(toy, marked):
    """In a workspace of its own, or in none. What the first workspace journalled is taken back."""
    toy.read("a.txt", TEN)
    there = str(toy.host.folder("elsewhere", marked=marked) / "b.txt")
    Path(there).write_text(TEN)
    said = toy.change(edit("a.txt"), edit(there, "nowhere in it", "x"))
    if marked:
        assert "left b.txt alone" in said["block"]
        assert len(toy.facts(WriteIntended)) == len(toy.facts(WriteAbandoned)) == 1
        assert toy.change(edit("a.txt"), edit(there)) == {}
    else:
        assert said == {}
        assert "is in no workspace" in toy.host.faults()[0]
        toy.strays = 1


def test_a_merge_is_handed_over_with_the_other_files_of_its_call(toy):
    toy.can(rewrite=(WriteWhole,))
    for name in ("a.txt", "b.txt", "c.txt"):
        toy.read(name, TEN)
    for name in ("a.txt", "b.txt"):
        toy.host.put(name, BY_PERSON)
    both = BY_PERSON.replace("line 0", "line zero")
    said = toy.change(whole("a.txt"), edit("c.txt"), whole("b.txt"))
    assert said == {
        "texts": dict.fromkeys([str(toy.host.root / each) for each in ("a.txt", "b.txt")], both)
    }


def test_a_merge_and_a_refusal_refuse_the_call(toy):
    toy.can(rewrite=(WriteWhole,))
    for name in ("a.txt", "stale.txt"):
        toy.read(name, TEN)
        toy.host.put(name, BY_PERSON)
    said = toy.change(whole("a.txt"), STALE)
    assert list(said) == ["block"]
    assert "left stale.txt alone" in said["block"]
    assert "left a.txt alone" not in said["block"]
    assert toy.facts(WriteIntended) == []


def test_a_merge_that_cannot_be_handed_over_refuses_the_call(toy):
    for name in ("a.txt", "b.txt"):
        toy.read(name, TEN)
    toy.host.put("a.txt", BY_PERSON)
    said = toy.change(edit("b.txt"), whole("a.txt"))["block"]
    assert "writes only the text that its model gave" in said
    assert "saved by a person" in said
    assert toy.facts(WriteIntended) == []


def two(x, y, z):
    """Two functions with lines of their own."""
    return f"def f():\n    x = {x}\n    y = 2\n    z = {z}\n\ndef g():\n    x = {y}\n    y = 2\n    z = 3\n"


def of_f(put):
    return {
        "find": "    x = 1\n    y = 2\n    z = 3\n",
        "put": f"    x = 1\n    y = 2\n    z = {put}\n",
    }


EVERY_WAY = ["exact", "unique", "lenient"]


@pytest.mark.parametrize("matching", EVERY_WAY)
def test_a_text_that_is_not_in_the_file_is_refused_where_the_client_may_edit_another_place(
    toy, matching
):
    """The person changed a line of f beside the agent's, so both changes would merge, and g looks like f."""
    toy.can(client_matching=matching)
    path = toy.read("a.txt", two(1, 7, 3))
    toy.host.put("a.txt", two(5, 7, 3))
    said = toy.ask("change", file=path, **of_f(9))
    if matching == "lenient":
        assert "-    x = 1\n+    x = 5" in said["block"]
    else:
        assert said == {}, "the client itself finds no such text"


@pytest.mark.parametrize("matching", EVERY_WAY)
def test_a_text_that_stands_elsewhere_now_is_refused_for_each_client(toy, matching):
    toy.can(client_matching=matching)
    path = toy.read("a.txt", two(1, 7, 3))
    toy.host.put("a.txt", two(5, 1, 3))
    assert "+    x = 5" in toy.ask("change", file=path, **of_f(9))["block"]


@pytest.mark.parametrize("matching", EVERY_WAY)
def test_an_edit_that_a_person_made_already_is_not_made_elsewhere(toy, matching):
    toy.can(client_matching=matching)
    path = toy.read("a.txt", two(1, 7, 3))
    toy.host.put("a.txt", two(1, 7, 9))
    said = toy.ask("change", file=path, **of_f(9))
    assert ("has the new text already" in said.get("block", "")) == (matching == "lenient")
    toy.host.put("a.txt", two(1, 1, 9))
    assert toy.ask("change", file=path, **of_f(9))["block"]


@pytest.mark.parametrize("matching", EVERY_WAY)
def test_a_text_that_never_was_in_the_file_is_refused_with_the_nearest_lines(toy, matching):
    toy.can(client_matching=matching)
    path = toy.read("a.txt", two(1, 7, 3))
    assert "most similar" in toy.ask("change", file=path, find="    x = 71\n", put="x")["block"]


def test_a_text_that_is_not_in_one_file_refuses_a_call_of_several(toy):
    toy.can(client_matching="exact")
    path = toy.read("a.txt", two(1, 7, 3))
    toy.read("b.txt", TEN)
    toy.host.put("a.txt", two(5, 7, 3))
    assert "+    x = 5" in toy.change({"file": path, **of_f(9)}, edit("b.txt"))["block"]
    assert toy.facts(WriteIntended) == []


def test_two_changes_of_one_file_are_judged_one_after_the_other(toy):
    path = toy.read("a.txt", TEN)
    again = {**edit(path, "line zero", "line nil")}
    assert toy.change(edit("a.txt"), again, edit("a.txt", "line 9", "line nine")) == {}
    toy.ask("ask")
    assert [each.path for each in toy.facts(WriteIntended)] == ["a.txt"]
    [changed] = toy.facts(Changed)[-1:]
    assert changed.cause.kind == "agent"
    assert (
        "edit 2 of 2"
        in toy.change(edit("a.txt", "line nil", "0"), edit("a.txt", "gone", "x"))["block"]
    )


def test_files_that_one_call_makes_moves_and_removes(toy):
    for name in ("old.txt", "gone.txt", "both.txt"):
        toy.read(name, TEN)
    call = [
        {"file": "new.txt", "put": "new\n", "new": True},
        {"file": "old.txt", "to": "moved.txt"},
        {"file": "gone.txt", "gone": True},
        edit("both.txt"),
        {"file": "both.txt", "to": "renamed.txt"},
    ]
    assert toy.change(*call) == {}
    assert sorted(toy.files()) == ["moved.txt", "new.txt", "renamed.txt"]
    assert toy.ask("ask") == {}, "all of this is its own"
    assert [(each.src, each.path) for each in toy.facts(Moved)] == [("old.txt", "moved.txt")]
    assert {each.path: each.after == MISSING for each in toy.facts(Changed)} == {
        "new.txt": False,
        "gone.txt": True,
        "both.txt": True,
        "renamed.txt": False,
    }
    assert {each.cause.kind for each in toy.facts(Moved, Changed)} == {"agent"}
    assert toy.change(edit("moved.txt"), edit("renamed.txt", "line zero", "0")) == {}, (
        "it knows them"
    )


def test_a_stale_file_is_not_moved_or_removed_and_a_taken_name_stays(toy):
    for name in ("a.txt", "b.txt", "c.txt"):
        toy.read(name, TEN)
    for name in ("a.txt", "b.txt"):
        toy.host.put(name, BY_PERSON)
    call = [
        {"file": "a.txt", "gone": True},
        {"file": "b.txt", "to": "d.txt"},
        {"file": "c.txt", "to": "a.txt"},
    ]
    said = toy.change(*call)["block"]
    assert said.count("+saved by a person") == 2
    assert toy.facts(WriteIntended) == []
    assert "b.txt exists already" in toy.change({"file": "c.txt", "to": "b.txt"})["block"]


def payloads(root: Path, path: str) -> list[bytes]:
    whole = toy_product.PRODUCT.dialect.trial(str(root), path, "three", "3")
    return [json.dumps(each).encode() for each in whole]


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="a line for sh")
def test_a_toy_in_its_own_folder_and_one_line_is_registered_and_driven_by_its_settings(tmp_path):
    """The whole way: a copy of the package with the folder and the line, `init`, and the registered command."""
    package, source = tmp_path / "site" / "sightline", Path(str(sightline.__file__)).parent
    shutil.copytree(source, package, symlinks=True)
    (package / "agents/toy").mkdir()
    (package / "agents/toy/__init__.py").write_text('"""Toy."""\n\nPUBLIC = ("product",)\n')
    shutil.copy(str(toy_product.__file__), package / "agents/toy/product.py")
    registry = package / "agents/products.py"
    line = 'PRODUCTS = {\n    "toy": "sightline.agents.toy.product",'
    registry.write_text(registry.read_text().replace("PRODUCTS = {", line, 1))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "a.txt").write_text("one\ntwo\n")
    environ = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "TOY_FOLDER": str(root)}
    environ |= {"SIGHTLINE_ANSWERER": "off", "PYTHONPATH": str(package.parent)}
    command = [sys.executable, "-m", "sightline", "--workspace", str(root), "init", "toy"]
    done = subprocess.run(
        [*command, "--scope", "project"], env=environ, capture_output=True, check=True, text=True
    )
    assert "Toy Agent is connected" in done.stdout
    hooks = json.loads((root / ".toy/hooks.json").read_text())["hooks"]
    [hook] = hooks["change"][0]["hooks"]
    answer = subprocess.run(
        hook["command"],
        shell=True,
        input=payloads(root, str(root / "a.txt"))[1],
        env=environ,
        capture_output=True,
        check=True,
    )
    assert (
        "three" in json.loads(answer.stdout)["block"]
        or "a.txt" in json.loads(answer.stdout)["block"]
    )
    gone = subprocess.run(
        [*command, "--scope", "project", "--remove"], env=environ, capture_output=True, check=True
    )
    assert gone.returncode == 0
    assert not (root / ".toy").exists()
