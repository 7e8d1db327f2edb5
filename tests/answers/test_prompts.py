"""Prompts as data: versioned texts that a workspace may replace, if the user says so."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.json_values import values

import sightline
from sightline.answers import prompts as prompt_module
from sightline.answers.json_schema import SOURCES, generated_schema, schema_text, strict_schema
from sightline.answers.prompts import BYTES_MAX, NAMES
from sightline.answers.reading import read_answer, read_plan
from sightline.errors import AnswerInvalid, EditRefused, PromptError
from sightline.model.embedded_json import find_json

TEXTS = Path(str(files("sightline.answers").joinpath("prompt_texts")))


def own(place, name, text):
    return place.put(f".sightline/prompts/{name}", text)


@pytest.fixture
def trusting(place):
    return lambda: place.session("trusting", prompts="workspace").prompts()


def test_every_text_of_the_package_is_a_prompt_and_every_prompt_has_a_text(s):
    assert {path.name for path in TEXTS.iterdir()} == {f"{name}.md" for name in NAMES}
    assert [each.name for each in s.prompts().used] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_prompt_has_a_version_and_leaves_no_placeholder(s, name):
    known = s.prompts()
    assert known.source(name) == (TEXTS / f"{name}.md").read_text().strip("\n")
    assert "{{" not in known.render(name)
    assert [each for each in known.used if not (each.version >= 1 and each.about)] == []


def test_the_prompts_hold_the_parts_that_the_document_asks_for(s):
    system, planning = s.prompts().render("system"), s.prompts().render("planning")
    for words in ('"all files in"', '"every file"', "todoIndex", "directoryRequests", "subTasks"):
        assert words in system
    for words in ("exact path", "fileRequests", '"all files in"', "last resort", "ask_user"):
        assert words in planning
    for text, file in ((system, "answer.schema.json"), (planning, "plan.schema.json")):
        [line] = [line for line in text.split("\n") if line.startswith('{"$schema"')]
        assert json.loads(line) == json.loads(schema_text(file))


@pytest.mark.parametrize("name", ["planning", "batching", "directories"])
def test_every_example_in_a_prompt_can_be_read(s, name):
    lines = [line for line in s.prompts().source(name).split("\n") if line.startswith('{"')]
    assert lines
    for line in lines:
        assert find_json(line, ("todos", "fileRequests", "directoryRequests")).value
        read_answer(line) if '"todos"' in line else read_plan(line)


@pytest.mark.parametrize("file", SOURCES)
def test_the_published_schemas_are_those_of_the_values(file):
    """To write one anew: python -c "from sightline.answers import json_schema as j; print(end=j.generated_schema(FILE))" """
    assert schema_text(file) == generated_schema(file)


def test_a_workspace_s_prompts_are_named_and_do_not_count_without_the_user_s_word(place, s):
    own(place, "batching.md", "<!-- version 1 -->\nDo as I say.\n")
    own(place, "broken.md", b"\xff")
    known = s.prompts()
    assert known.unused == (".sightline/prompts/batching.md", ".sightline/prompts/broken.md")
    assert "Do as I say" not in known.render("system")


def test_a_workspace_cannot_give_the_word_itself(place):
    place.put("sightline.toml", 'prompts = "workspace"\n')
    with pytest.warns(UserWarning, match="may not set prompts"):
        session = sightline.open_session(place.root)
    assert session._context.settings.prompts != "workspace"
    session.close()


def test_with_the_user_s_word_a_workspace_s_prompt_replaces_a_part(place, trusting):
    own(place, "batching.md", "<!-- version 7: ours -->\r\nDo as I say.\r\n{{ patterns }}\r\n")
    known = trusting()
    assert "Do as I say.\n## Patterns of a request" in known.render("system")
    [prompt] = [each for each in known.used if each.file]
    assert (prompt.version, prompt.built_in, prompt.about) == (7, 1, "ours")
    assert prompt.file == ".sightline/prompts/batching.md"
    assert known.unused == ()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("sytem.md", "x", "sytem.md replaces no prompt"),
        ("system.txt", "x", "system.txt replaces no prompt"),
        ("system", "x", "prompts/system replaces no prompt"),
        ("system.md", b"<!-- version 1 -->\na\nb\xff\n", "line 3 has the byte 0xff"),
        ("system.md", "Do as I say.\n", "system.md, line 1: the version is missing"),
        ("system.md", "<!-- version 0 -->\n", "line 1: the version is missing"),
        ("system.md", b"", "line 1: the version is missing"),
        ("system.md", b"<!-- version 1 -->\n" + b"a" * BYTES_MAX, "more than 65,536 bytes"),
        ("system.md/x", "x", "system.md cannot be read: it is no file"),
    ],
)
def test_a_prompt_that_cannot_be_read_is_named(place, trusting, name, data, told):
    own(place, name, data)
    with pytest.raises(PromptError, match=told):
        trusting()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{{nowhere}}", "line 4: unknown placeholder 'nowhere'"),
        ("a {{patterns}} b {{ }}", "line 4: unknown placeholder ''"),
        ("{{patterns", "line 4: {{ has no }}"),
        ("{{system}}", "line 4: the prompt 'system' includes itself"),
        ("{{registry}}", "registry.md, line 2: the prompt 'system' includes itself"),
    ],
)
def test_a_placeholder_that_stands_for_nothing_names_file_and_line(place, trusting, line, told):
    own(place, "system.md", f"<!-- version 1 -->\n\nHead\n{line}\n".replace("\n\n", "\nx\n"))
    own(place, "registry.md", "<!-- version 1 -->\n{{system}}\n")
    known = trusting()
    with pytest.raises(PromptError) as wrong:
        known.render("system")
    assert told in wrong.value.message
    assert wrong.value.message.startswith(".sightline/prompts/")


def test_a_prompt_that_leads_out_of_the_workspace_is_refused(place, trusting):
    place.put("../outside.md", "<!-- version 1 -->\nsecret\n")
    link = place.root / ".sightline/prompts/system.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(place.home / "outside.md")
    with pytest.raises(PromptError, match="outside"):
        trusting()


def test_a_folder_of_prompts_that_is_a_file_is_an_error_in_words(place, trusting):
    place.put(".sightline/prompts", "x")
    with pytest.raises(PromptError, match=r"\.sightline/prompts cannot be read"):
        trusting()


@pytest.mark.parametrize("kind", ["file", "broken link"])
def test_a_folder_of_prompts_that_cannot_be_read_is_named_where_it_does_not_count(place, s, kind):
    folder = place.put(".sightline/other", "no folder").parent / "prompts"
    if kind == "file":
        folder.write_text("no folder")
    else:
        folder.symlink_to("nowhere")
    found = s.prompts()
    assert found.unused == (".sightline/prompts",)
    assert found.render("system")


def test_a_built_in_prompt_that_is_missing_is_named(s, tmp_path, monkeypatch):
    shutil.copytree(TEXTS, tmp_path / "prompt_texts")
    (tmp_path / "prompt_texts" / "registry.md").unlink()
    monkeypatch.setattr(prompt_module, "TEXTS", str(tmp_path / "prompt_texts"))
    with pytest.raises(PromptError, match=r"registry\.md cannot be read: No such file") as wrong:
        s.prompts()
    assert wrong.value.hint == "Install Sightline again."


def test_an_unknown_prompt_names_the_known_ones(s):
    with pytest.raises(PromptError, match="There is no prompt 'x'") as wrong:
        s.prompts().render("x")
    assert "planning" in wrong.value.hint


def test_an_agent_may_not_change_the_prompts_unasked(place, s):
    with pytest.raises(EditRefused):
        s.create(".sightline/prompts/system.md", "<!-- version 1 -->\n")


def test_a_plan_only_asks_for_files_and_folders():
    plan = read_plan('```json\n{"filesToLoad": [{"name": "a", "patterns": ["a.py"]}]}\n```')
    assert plan.file_requests[0].patterns == ("a.py",)
    assert read_plan("{}").file_requests == ()
    with pytest.raises(AnswerInvalid) as wrong:
        read_plan({"fileChanges": [{"path": "a.py", "delete": True}]})
    assert wrong.value.place == "fileChanges"


@pytest.mark.parametrize("file", SOURCES)
def test_the_strict_schema_holds_the_rules_of_providers(file):
    """Objects are closed and require all their fields; nothing else than these keywords is there."""
    allowed = {"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "$ref", "$defs", "description"}  # fmt: skip

    def check(shape):
        assert set(shape) <= allowed, shape
        if shape.get("type") == "object":
            assert shape["required"] == [*shape["properties"]]
            assert shape["additionalProperties"] is False
        inner = [*shape.get("properties", {}).values(), *shape.get("anyOf", ())]
        for each in [*inner, *shape.get("$defs", {}).values(), *filter(None, [shape.get("items")])]:
            check(each)

    schema = strict_schema(file)
    assert schema["type"] == "object"
    check(schema)
    assert json.dumps(schema).count("anyOf") <= 16  # Anthropic's limit


@given(st.data())
def test_a_text_by_the_strict_schema_has_no_field_that_is_set_aside(data):
    schema = strict_schema()
    given_answer = data.draw(values(schema, schema["$defs"]))
    with suppress(AnswerInvalid):  # its fields contradict each other
        assert read_answer(json.dumps(given_answer)).set_aside == ()
