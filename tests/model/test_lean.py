"""The lean ways say what the modules say that they stand in for."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model import lean

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_values_are_written_as_json_writes_them(value):
    assert lean.dumps(value) == json.dumps(value, separators=(",", ":"))


@given(values, st.sampled_from(["", " ", "\n\t\r "]), st.booleans())
def test_and_read_as_json_reads_them(value, around, spaced):
    text = around + json.dumps(value, indent=2 if spaced else None, ensure_ascii=False) + around
    assert lean.loads(text) == json.loads(text)


@given(st.text() | st.text('{}[]",:0123456789.eE+-ntfNIau \\'))
def test_any_text_is_taken_or_refused_with_json_s_own_words(text):
    assert said(lean.loads, text) == said(json.loads, text)


def said(loads, text):
    """The value, or the words of the error; as text, for no NaN equals another."""
    try:
        return repr(loads(text))
    except json.JSONDecodeError as error:
        return f"error: {error}"


@pytest.mark.parametrize("text", ['{"a" 1}', '{"a": "b', "[1 2]", '"\\x"', '{"a": }', ""])
def test_a_damaged_text_is_refused_before_json_is_loaded(text):
    said = (
        "import sys\n"
        "from sightline.model import lean\n"
        "assert 'json.decoder' not in sys.modules\n"
        "try: lean.loads(sys.argv[1])\n"
        "except ValueError as error: print(error)\n"
    )
    ran = [sys.executable, "-c", said, text]
    done = subprocess.run(ran, capture_output=True, text=True, check=False)
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - whatever json says
        json.loads(text)
    assert (done.stdout.strip(), done.stderr) == (str(refused.value), "")


def test_bytes_are_utf_8_with_or_without_a_mark():
    assert lean.loads("é".join('""').encode()) == "é"
    assert lean.loads(b"\xef\xbb\xbf[1]") == [1]
    with pytest.raises(UnicodeDecodeError):
        lean.loads(b'"\xff"')


def test_what_json_has_no_form_for_is_refused():
    with pytest.raises(TypeError, match="set"):
        lean.dumps({1, 2})


def test_digests_are_the_same_however_much_is_hashed(monkeypatch):
    monkeypatch.setattr(lean, "_left", 3)
    for data in (b"", b"ab", b"cd", b"ef"):
        assert lean.digest(data) == hashlib.sha256(data).hexdigest()
    assert vars(lean)["_sha256"] is hashlib.sha256
