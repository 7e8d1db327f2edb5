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
from sightline.model.attempts import Replace
from sightline.model.events import NoticeDelivered
from sightline.model.findings import Finding
from sightline.model.hook_events import Answer, Attempted, Began
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
    assert attempt.path == "/p/a.txt"
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
        (Capabilities(), Answer("no", "ask", "text", "more", ("/a",), "line"), Answer()),
        (Capabilities(deny=True), Answer("no", context="more"), Answer("no\n\nmore")),
    ],
)
def test_an_answer_is_fitted_to_the_capabilities(can, answer, fits):
    event = Attempted("a", Replace("a", "b"), "c")
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
    unable = structs.replace(able, can=structs.replace(able.can, rewrite=False))
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
        assert "writes no other text" in said["permissionDecisionReason"]
        assert "saved by a person" in said["permissionDecisionReason"]
    finally:
        shutil.rmtree(host.home)


@pytest.fixture
def toy(monkeypatch):
    """A toy that works in a project. Its capabilities may be changed."""
    monkeypatch.setitem(PRODUCTS, "toy", "tests.support.toy_product")
    made = Toy(monkeypatch)
    yield made
    assert made.host.faults() == []
    shutil.rmtree(made.host.home)


class Toy:
    """Asks Sightline's hook as its product does."""

    def __init__(self, monkeypatch):
        self.host, self.patch = Host(), monkeypatch

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

    def told(self):
        """The paths of each text that counts as handed over."""
        facts = [each.fact for each in self.host.facts()]
        return [fact.paths for fact in facts if isinstance(fact, NoticeDelivered)]


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


def test_one_call_that_changes_several_files_is_refused_whole(monkeypatch):
    monkeypatch.setitem(PRODUCTS, "toy", "tests.support.toy_product")
    host = Host()
    try:
        good, bad = host.put("good.txt", "one\ntwo\n"), host.put("bad.txt", "one\n")
        begin, edit, _ = toy_product.PRODUCT.dialect.trial(str(host.root), good, "two", "2")
        both = {**edit, "more": [{"file": bad, "find": "none", "put": "x"}]}
        assert host.ask(json.dumps(begin).encode(), "toy") == {}
        assert "bad.txt" in host.ask(json.dumps(both).encode(), "toy")["block"]
        assert host.ask(json.dumps(edit).encode(), "toy") == {}, "the other one alone goes on"
        assert host.faults() == []
        assert [each for each in host.facts() if type(each.fact).__name__ == "Changed"] == []
    finally:
        shutil.rmtree(host.home)


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
