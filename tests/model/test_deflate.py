"""Packing: zlib unpacks it, whichever library made it."""

import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model import deflate

LONG = deflate.WORTH_LOADING


@given(st.binary(max_size=64), st.integers(1, 3 * LONG))
def test_zlib_unpacks_what_was_packed(part, times):
    data = part * (times // max(len(part), 1))
    assert zlib.decompress(deflate.deflated(data)) == data


@pytest.mark.parametrize("size", [LONG - 1, LONG])
def test_only_much_loads_another_library(monkeypatch, size):
    """A hook packs little, and starts on every tool call."""
    asked = []

    def packer():
        asked.append(size)
        return deflate._by_zlib

    monkeypatch.setattr(deflate, "_packer", packer)
    assert zlib.decompress(deflate.deflated(bytes(size))) == bytes(size)
    assert bool(asked) == (size == LONG)


def test_without_a_wheel_for_this_machine_zlib_packs(monkeypatch):
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    deflate._packer.cache_clear()
    try:
        data = bytes(range(256)) * LONG
        assert zlib.decompress(deflate.deflated(data)) == data
        assert deflate._packer() is deflate._by_zlib
    finally:
        deflate._packer.cache_clear()
