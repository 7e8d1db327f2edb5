"""Whatever a model or a tool says, reading it raises nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages.formats.histories import NAMES, histories

from sightline.messages.blocks import Decision, Fold
from sightline.messages.formats.format import FORMATS
from sightline.messages.formats.parse_blocks import effect_of, has_failed, result_excerpts
from sightline.messages.tool_calls import make_call
from sightline.messages.tool_names import DEEDS, EDITORS, SHELLS

TOOLS = st.sampled_from([*SHELLS, *EDITORS, *(name for names in DEEDS.values() for name in names)])
PIECES = st.sampled_from(
    [
        *("     1→a", "2\tb", "3 | c", "4: d", "5. e", "00006| f", "7:g", "<file><path>p</path>"),
        *('<content lines="1-2">', "</content>", "</file>", "[File: /p (3 lines total)]", "---"),
        *("<system-reminder>", "(End of file - total 3 lines)", "Status: Showing lines 1-2 of 3"),
        *('{"output": ', "<returncode>0</returncode>", "Exit code: 1", "Output:", "", "9" * 5_000),
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=8), max_size=8).map("\n".join)
KEYS = st.sampled_from(
    [
        *("file_path", "path", "command", "cmd", "commands", "content", "old_string", "new_string"),
        *(
            "edits",
            "diff",
            "patch",
            "input",
            "args",
            "files",
            "offset",
            "limit",
            "workdir",
            "paths",
        ),
    ]
)
ATOMS = st.none() | st.booleans() | st.integers() | TEXTS | st.sampled_from(["cat a", "²", "/w"])
GIVEN = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@given(TOOLS, GIVEN, TEXTS)
def test_calls_and_results_of_any_shape_are_read(tool, given, text):
    effect = effect_of(make_call("1", tool, given))
    for excerpt in result_excerpts(effect, text):
        assert excerpt.first >= 1
        assert all(line in text for line in excerpt.text.split("\n"))
    has_failed(effect, text)
    for rewrite in effect.rewrites:
        assert isinstance(rewrite.path, str)


@given(TEXTS, TEXTS)
def test_texts_of_any_shape_are_read(said, heard):
    messages = [
        {"role": "user", "content": "do"},
        {"role": "assistant", "content": f"{said}\n```bash\n{heard}\n```"},
        {"role": "user", "content": f"[read_file for 'a'] Result:\n{heard}"},
    ]
    assert len(FORMATS["anthropic"].blocks(messages, len)) == len(messages)


@pytest.mark.wide
def test_a_result_of_megabytes_is_read():
    rows = "\n".join(f"{number:6}→{'x' * 60}" for number in range(1, 30_000))
    effect = effect_of(make_call("1", "Read", {"file_path": "a"}))
    (excerpt,) = result_excerpts(effect, rows)
    assert excerpt.text.count("\n") == 29_998


def places(value, at=()):
    """Where something stands in a value of JSON."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*at, key)
        yield from places(value[key], (*at, key))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_field_that_holds_anything_is_read_or_refused_in_words(name, data):
    form = FORMATS[name]
    messages = json.loads(json.dumps(data.draw(histories(name))))
    *lead, key = data.draw(st.sampled_from(list(places(messages))))
    holder = messages
    for each in lead:
        holder = holder[each]
    holder[key] = data.draw(st.sampled_from([None, 5, "", "x", [], {}, [None], {"a": 1}, True]))
    try:
        blocks = form.blocks(messages, len)
    except ValueError:
        with pytest.raises(ValueError, match=rf"^message \d+ .* format {form.adapter.NAME}: "):
            form.problems(messages)
        return
    open_to = [at for at, block in enumerate(blocks) if not block.fixed]
    form.project(messages, blocks, [Decision(tuple(Fold(at, "[gone]", 1, "x") for at in open_to))])
    assert form.problems(form.repaired(messages)) == []


@pytest.mark.parametrize("content", [None, 5, [], [{"type": "image"}], [None], {"a": 1}])
def test_a_result_without_text_is_read(content):
    messages = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Read"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": content}]},
    ]  # fmt: skip
    assert len(FORMATS["anthropic"].blocks(messages, len)) == 2
