"""Lines found in a text that goes by in pieces, beside those of the whole text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sightline.model.line_range import LineRange
from sightline.model.text import decode

TEXTS = st.lists(st.sampled_from(["a", "é", "中", "😀", "\r\n", "\n", "\r", "\u2028"]), max_size=30)


@given(TEXTS, st.data(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_any_pieces_give_the_lines_of_the_whole(parts, data, encoding):
    body = (
        "head\n".encode(encoding)
        + "".join(parts).encode(encoding.removesuffix("-sig"))[2 * (encoding == "utf-16") :]
    )
    whole = decode(body)
    assert whole is not None
    first = data.draw(st.integers(1, 12))
    last = data.draw(st.integers(first, 14))
    head = len("head\n".encode(encoding))
    ends = sorted(data.draw(st.sets(st.integers(head, len(body)), max_size=4)) | {head, len(body)})
    found = LineRange((first, last), 1_000)
    for _ in range(2):  # a file that changed is read again
        found.begin()
        at = 0
        for end in ends:
            found.take(body[at:end])
            at = end
        found.take(b"")
    assert [*found.lines] == [*whole.lines[first - 1 : last]]
    assert (found.total, found.encoding) == (len(whole.lines), whole.label)
    assert found.length == len(next(iter(whole.lines[first - 1 : first]), ""))
