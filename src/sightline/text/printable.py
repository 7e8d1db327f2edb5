"""Make text harmless to a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text that cannot steer a terminal or the direction of reading: control characters
    become their pictures, and marks of direction a sign for what cannot be shown."""
    return text.translate(_CONTROLS)


def one_line(text: str) -> str:
    """Return a printable text on one line, also where a name contains line ends and tabs."""
    return printable(text).replace("\n", "␊").replace("\t", "␉")


_CONTROLS = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {
    127: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xDC80, 0xDD00), 0xFFFD),
    **dict.fromkeys(
        (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
    ),
    **dict.fromkeys(range(0xE0000, 0xE0080), 0xFFFD),
}
