"""Processor time of the search for the lines nearest to a text, beside reading the lines once.

    python bench/nearest.py

10,000 lines of 200 characters: unlike ones, ones that repeat, and one line again and again; beside
texts of one line, of 100 and of 10,000 lines that are not in the file. Exits 1 above 100 ms.
"""

from __future__ import annotations

import os
import random
import sys
from time import process_time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src"))

from sightline.model.nearest import nearest

LINES, WIDTH, MOST_MS = 10_000, 200, 100


def main() -> int:
    """Run and print; the exit status."""
    chance = random.Random(1)  # noqa: S311  the same lines on every run
    words = ["".join(chance.choices("abcdefghijklmnop", k=7)) for _ in range(300)]

    def line(changed: str = "") -> str:
        return (" ".join(chance.choices(words, k=WIDTH // 8)) + changed)[-WIDTH + 1 :] + "\n"

    few = [line() for _ in range(20)]
    files = {
        "unlike lines": [line() for _ in range(LINES)],
        "20 lines, repeated": [few[n % 20] for n in range(LINES)],
        "one line, repeated": [few[0]] * LINES,
    }
    worst = 0.0
    for name, lines in files.items():
        wanted = {
            "one line": line("."),
            "100 lines": "".join(line(".") for _ in range(100)),
            "100 lines, nearly there": "".join(text[1:-2] + ".\n" for text in lines[500:600]),
            "100 lines, the last not there": "".join([*lines[500:600], line()]),
            "10,000 lines": "".join(line(".") for _ in range(LINES)),
            "10,000 lines, half there": "".join(n % 2 * "x" + text for n, text in enumerate(lines)),
        }
        for what, text in wanted.items():
            taken = min(_taken(text, lines) for _ in range(3))
            floor = min(_floor(text, lines) for _ in range(3))
            worst = max(worst, taken)
            print(f"{name:>20}, {what:30} {taken:8.1f} ms {taken / floor:8.1f} x reading")
    print(f"{'worst':>20}  {'':30} {worst:8.1f} ms")
    return int(worst > MOST_MS)


def _taken(text: str, lines: list[str]) -> float:
    began = process_time()
    nearest(text, lines)
    return (process_time() - began) * 1_000


def _floor(text: str, lines: list[str]) -> float:
    """Take the white space out of every line, once."""
    began = process_time()
    for line in (*lines, *text.splitlines()):
        "".join(line.split())
    return (process_time() - began) * 1_000


if __name__ == "__main__":
    sys.exit(main())
