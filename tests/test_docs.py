"""What the documents say is true: examples run, links lead somewhere, nothing is left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from msgspec import structs
from sybil import Document, Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from sightline.cli.group import COMMANDS, cli
from sightline.config.schema import KEYS
from sightline.config.settings import Settings
from sightline.text.installing import FORM

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
each_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


def matches(expected: str, printed: str) -> bool:
    """Return whether the output is as documented; `...` stands for anything, across lines too."""
    pattern = re.escape(expected.strip()).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def steps(block: str) -> list[tuple[str, str]]:
    """A console block as (command line, expected output). A line with `> ` goes on."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", "")
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def run_console(example: Example) -> None:
    """Run each line in the page's own folder, with the command that belongs to this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for line, expected in steps(example.parsed):
        done = subprocess.run(
            ["bash", "-c", line],
            env=os.environ | {"PATH": path, "COLUMNS": "80"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert matches(expected, done.stdout), f"$ {line}\nprinted:\n{done.stdout}"


def document(page: Path) -> Document:
    console = CodeBlockParser(language="console", evaluator=run_console)
    return Sybil(parsers=[PythonCodeBlockParser(), console]).parse(page)


@pytest.mark.wide
@each_page
def test_examples_run(page, tmp_path, monkeypatch):
    """One page is one story: its examples share a folder, a home and their names."""
    if "import pydantic_ai" in (text := page.read_text()) or "from pydantic_ai" in text:
        pytest.importorskip("pydantic_ai")
    (tmp_path / "workspace").mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    monkeypatch.setenv("HOME", str(tmp_path))
    for example in document(page).examples():
        example.evaluate()


def headings(page: Path) -> set[str]:
    """The anchors that a page offers, as the usual renderers name them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@each_page
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", text):
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{target} is not there"
        assert not anchor or anchor in headings(there), f"{target} has no heading {anchor}"


def test_every_page_is_reached_from_the_index():
    """Design notes are reached through their folder: they are read in order, or by number."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert "(design/)" in index
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name != "index.md" and page.parent.name != "design":
            assert f"({page.relative_to(ROOT / 'docs').as_posix()})" in index


def test_the_readme_has_two_commands_of_one_line():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tour, tests = re.findall(r"```sh\n(.*)\n```", text)
    assert tour.endswith("sightline tour")
    assert " -m pytest" in tests


def test_no_page_installs_the_package_of_another_project():
    """The name sightline on the package index is another project's; ours is sightline-guard."""
    by_name = re.compile(r"\b(?:install|uvx|uv add|pipx run)\b[^\n&]*\bsightline\b(?!-guard)")
    assert by_name.search("pip install 'sightline[tokens]'")
    assert not by_name.search("pip install . && sightline tour")
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    assert {name: found[0] for name, text in texts.items() if (found := by_name.search(text))} == {}


def test_every_line_that_installs_an_extra_has_the_one_form_that_works():
    """sightline.text.installing decides it; an extra is one that the package has."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    texts = [page.read_text(encoding="utf-8") for page in [*PAGES, *SOURCES]]
    lines = {found for text in texts for found in re.findall(r"install '[^'\n]*\[\w+\]'", text)}
    forms = {FORM.format(extra=extra).removeprefix("pip ") for extra in extras}
    assert {"install '.[agent]'", "install '.[tasks]'", "install '.[tokens]'"} <= lines
    assert lines - forms - {FORM.removeprefix("pip ")} == set()


def test_every_file_that_the_recipes_name_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|tools)/[^`<>]*?)(?:::([a-z_]+))?`", text)
    assert len(named) > 20
    for path, test in named:
        assert (ROOT / path).exists(), path
        assert f"def {test}" in ((ROOT / path).read_text() if test else "def "), test


NAMED = re.compile(
    r"(?:[\"'`(|]|: |\bor |\b[Rr]un |[$>] |&& |; )sightline((?: --\w+ \S+)*)"
    r" ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b)?([^\"'`|;&,\n]*)"
)
"""A command as a sentence or an example names it: the options of all commands, its words, the rest."""

SOURCES = sorted(
    each for end in ("py", "txt") for each in (ROOT / "src" / "sightline").rglob(f"*.{end}")
)
OLD = re.compile(r"\b(?:edited-since|edit-lines|checkpoint-diff|checkpoint-export)\b")
OLD_MAY_STAND = {"guesses.py", "CHANGELOG.md"}


def unknown_commands(text: str) -> list[str]:
    """The commands that a text names and that are not there, or lack an option that it names."""
    unknown = []
    for _, first, second, rest in NAMED.findall(text):
        both = f"{first} {second}"
        name = both if both in COMMANDS else first
        if name not in COMMANDS or (name == "session" and second):
            unknown.append(both)
            continue
        made = cli.get_command(click.Context(cli), name)
        assert made is not None
        known = {"--help"} | {
            opt for each in made.params for opt in (*each.opts, *each.secondary_opts)
        }
        own = rest.partition(" -- ")[0] if name != "hook" else ""
        unknown += [f"{name} {opt}" for opt in re.findall(r" (--[a-z-]+)", own) if opt not in known]
    return unknown


@pytest.mark.parametrize("page", [*PAGES, *SOURCES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_text_names_is_there_with_its_options(page):
    text = page.read_text(encoding="utf-8")
    assert unknown_commands(text) == []
    assert page.name in OLD_MAY_STAND or not OLD.search(text)


def test_a_command_that_is_not_there_is_seen():
    text = "Do `sightline nowhere`, or sightline read a.py --deep.\nList: sightline session shwo"
    assert unknown_commands(text) == ["nowhere ", "read --deep", "session shwo"]
    assert len(NAMED.findall((ROOT / "docs/how-to/checkpoints.md").read_text())) > 20
    words = (ROOT / "src/sightline/cli/doctor.txt").read_text()
    assert len(NAMED.findall(words)) > 10


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_documented(key):
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{key}` |"))
    assert f"`{KEYS[key].variable}`" in row or not KEYS[key].variable
    assert row.endswith("refused |") is not KEYS[key].shared
    default = structs.asdict(Settings("/")).get(key)
    if isinstance(default, int | float):
        assert f"| {default} |" in row


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("took ... ms", "took 12 ms", True),
        ("a", "a\nb", False),
        ("a.c", "abc", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(expected, printed, same):
    assert matches(expected, printed) is same


def test_a_wrong_example_is_seen(tmp_path):
    """The tests above can fail: a page that promises what is not so is refused."""
    (tmp_path / "page.md").write_text("```console\n$ echo one\ntwo\n```\n")
    (example,) = document(tmp_path / "page.md").examples()
    with pytest.raises(AssertionError, match="one"):
        example.evaluate()
