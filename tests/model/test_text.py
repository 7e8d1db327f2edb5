import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sightline.model import text
from sightline.model.locate import applied
from sightline.model.text import ManyLines, decode, joined, lines_at, normal, split

words = st.text(st.sampled_from("ab}é→😀 \t\r\x0b\x0c\x85\u2028"), max_size=5)
ends = st.sampled_from(["\n", "\r\n"])
bodies = st.lists(st.tuples(words, ends).map("".join), max_size=8).flatmap(
    lambda lines: words.map(lambda last: "".join([*lines, last]))
)
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "latin-1", "broken"]
BOM = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


def encoded(body, encoding):
    if encoding == "latin-1":
        return body.encode("latin-1", "replace") + b"\xe9"
    if encoding == "broken":
        return b"\xc3\xa9\xff" + body.encode()
    return BOM.get(encoding, b"") + body.encode(encoding)


files = st.builds(encoded, bodies, st.sampled_from(ENCODINGS)) | st.binary(max_size=30)


@given(files)
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe")
@example(b"\xff\xfea")
@example(b"\xff\xfe\x00\xd8")
def test_bytes_decoded_and_encoded_are_the_same_bytes(data):
    text = decode(data)
    if text is not None:
        assert text.encode(text.plain) == data


@given(bodies, st.sampled_from(ENCODINGS[:4]))
def test_a_text_is_read_in_its_own_encoding(body, encoding):
    text = decode(encoded(body, encoding))
    assert text is not None
    assert text.label == encoding
    assert text.plain == normal(body)


def test_what_is_no_utf_8_is_latin_1_or_utf_8_with_broken_bytes():
    latin = decode("caf\u00e9\n".encode("latin-1"))
    assert latin is not None
    assert (latin.label, latin.plain) == ("latin-1", "caf\u00e9\n")
    broken = decode(b"caf\xc3\xa9 \xff\n")
    assert broken is not None
    assert (broken.label, broken.plain) == ("utf-8", "caf\u00e9 \udcff\n")


@given(st.binary(max_size=10), st.binary(max_size=10))
def test_nul_bytes_are_no_text(one, other):
    assume(not (one + b"\0").startswith((b"\xff\xfe", b"\xfe\xff")))
    assert decode(one + b"\0" + other) is None
    assert decode(b"\xef\xbb\xbf" + one + b"\0") is None
    assert decode(b"\xff\xfea\0\0\0") is None


@given(bodies)
def test_lines_end_at_newlines_only_and_join_to_the_text(body):
    plain = normal(body)
    lines = split(plain)
    assert "".join(lines) == plain
    assert all(line.endswith("\n") for line in lines[:-1])
    assert all(line and "\n" not in line[:-1] for line in lines)


@given(bodies)
@example("a\r\r\n")
def test_what_was_read_can_be_written_again(body):
    """A text as it is shown is in normal form already, line ends of any make."""
    assert normal(normal(body)) == normal(body)


@given(bodies, st.lists(st.integers(0, 40)).map(sorted))
def test_the_lines_of_offsets(body, offsets):
    plain = normal(body)
    offsets = [min(at, len(plain)) for at in offsets]
    assert lines_at(plain, offsets) == [len(split(plain[:at] + "x")) for at in offsets]


@given(
    st.lists(st.tuples(st.sampled_from("abc}"), ends), min_size=1, max_size=9),
    st.data(),
)
def test_lines_that_stay_keep_their_own_ends(lines, data):
    """Any lines replaced, repeated ones too: the bytes before and behind them stay."""
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    put = data.draw(st.lists(st.sampled_from(["a\n", "}\n", "x\n"]), max_size=3))
    raw = ["".join(line).encode() for line in lines]
    text = decode(b"".join(raw))
    assert text is not None
    plain = "".join([*text.lines[:start], *put, *text.lines[end:]])
    out = text.encode(plain, [(start, end, start, start + len(put))])
    assert out.startswith(b"".join(raw[:start]))
    assert out.endswith(b"".join(raw[end:]))
    assert normal(out.decode()) == plain


def test_new_lines_end_like_those_they_replace_or_stand_beside():
    text = decode(b"a\nb\r\nc\r\nd\n")
    assert text is not None
    assert text.encode("a\nB\nB2\nc\nd\n") == b"a\nB\r\nB2\r\nc\r\nd\n"
    assert text.encode("a\nA2\nb\nc\nd\n") == b"a\nA2\nb\r\nc\r\nd\n"


def test_a_file_of_one_kind_of_line_end_keeps_it():
    for end in ("\n", "\r\n"):
        text = decode(f"\ufeffa{end}b{end}".encode())
        assert text is not None
        assert text.encode("x\ny") == f"\ufeffx{end}y".encode()


@given(files, bodies)
@example(b"h\xc3\xa9llo \xff\n", "hello \udcff")
@example(b"caf\xe9\n", "\u2192")
@example(b"\xff\xfea\0", "x")
def test_a_believed_text_is_held_whatever_the_file_is_now(data, body):
    text = decode(data)
    if text is not None:
        believed = normal(body)
        held = decode(text.hold(believed))
        assert held is not None
        assert held.plain == believed


LINED = st.text(st.sampled_from(["a", "é", "\n", "\x0b", "\u2028"]), max_size=40)
PLACES = st.one_of(st.none(), st.integers(-45, 45))


@pytest.fixture(scope="module")
def small_parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "MANY", 3)
        patch.setattr(text, "PART", 4)
        patch.setattr(text, "PARTS_KEPT", 2)
        yield


@given(LINED, PLACES, PLACES)
def test_very_many_lines_are_the_lines_of_a_list(small_parts, plain, start, end):
    lines, many = split(plain), ManyLines(plain)
    assert many == lines == [*many]
    assert lines == many == ManyLines(plain)
    assert many != [*lines, "b"]
    assert many != ManyLines(plain + "b")
    assert (len(many), [*reversed(many)]) == (len(lines), lines[::-1])
    assert [many[n] for n in range(-len(lines), len(lines))] == lines + lines
    assert many[start:end] == lines[start:end]
    assert many[start:end:-1] == lines[start:end:-1]
    assert joined(many[start:end]) == "".join(lines[start:end])
    for beyond in (len(lines), -len(lines) - 1):
        with pytest.raises(IndexError):
            many[beyond]


@given(LINED, st.lists(LINED, max_size=3), st.data())
def test_an_edit_of_very_many_lines_is_that_of_a_list(small_parts, plain, puts, data):
    lines, edits, at = split(plain), [], 0
    for put in puts:
        start = data.draw(st.integers(at, len(lines)))
        at = data.draw(st.integers(start, len(lines)))
        edits.append((start, at, split(put)))
    assert applied(ManyLines(plain), edits) == applied(lines, edits)
