"""How far are counts of tokens from those of real tokenizers, by kind of content and call by call?

    python bench/counting.py PATH... [--sessions N] [--json]

PATH is a recording of any product, or a folder of them. Needs the extra `tokens`; ctok, for Claude, needs
Python 3.12. The first table compares single texts. The second plays each session call by call: the
provider's usage is the exact count of all messages so far and of 12,000 tokens beside them, which the
library is never told; before each usage the library says what it expects. Exits 1 when, after three calls
with usage, more than one in twenty expectations is 2 % off.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if not __package__:  # started as a script: the rest of bench, and the library of this checkout
    sys.path[:0] = [ROOT, os.path.join(ROOT, "src")]

from sightline.messages.blocks import Block  # noqa: E402
from sightline.messages.formats.format import FORMATS  # noqa: E402
from sightline.messages.token_counter import counter  # noqa: E402
from sightline.model.events import RequestMeasured  # noqa: E402
from sightline.recordings.read_recordings import find_recordings, read_recording  # noqa: E402
from sightline.recordings.recorded_conversation import Unread  # noqa: E402
from sightline.text.tokens import Family, estimate  # noqa: E402
from sightline.window.calibration import calibrate  # noqa: E402

MODELS: dict[str, Family] = {"gpt-5": "o200k", "claude-sonnet-4-5": "anthropic", "claude-opus-4-8": "anthropic-5"}  # fmt: skip
BESIDE = 12_000
CHUNK = 8_000
CHUNKS_MAX = 60
WITHIN = 0.02
LONG = 30_000

Count = Callable[[str], int]


def kind_of(block: Block) -> str | None:
    """Return the kind of a block's content; None for one that is of no single kind."""
    text = block.text
    if len(text) < 400:
        return None
    if block.kind == "user":
        return "typed prose"
    if block.kind == "call":
        return "arguments (JSON)"
    if block.kind != "result":
        return None
    if text.startswith(("diff --git", "@@ ")) or "\ndiff --git " in text[:2_000]:
        return "diff"
    if text.lstrip()[:1] in ("{", "["):
        return "JSON"
    if block.deed == "search":
        return "search results"
    if block.excerpts:
        ending = block.excerpts[0].path.rpartition(".")[2].lower()
        names = {
            "py": "Python",
            "ts": "TypeScript",
            "tsx": "TypeScript",
            "go": "Go",
            "md": "Markdown",
        }
        return names.get(ending)
    return "output of commands" if block.deed == "run" else None


def errors_by_kind(texts: dict[str, list[str]], count: Count, family: Family) -> list[Any]:
    """Return, by kind, the number of texts and the errors of the estimate and of a quarter of the
    characters: in sum, and of a text in the middle."""
    rows = []
    for kind, chunks in sorted(texts.items()):
        exact = [count(chunk) for chunk in chunks]
        row: list[Any] = [kind, len(chunks)]
        rough = [len(chunk) // 4 for chunk in chunks]
        for guesses in ([estimate(chunk, family) for chunk in chunks], rough):
            row.append(sum(guesses) / sum(exact) - 1)
            row.append(median(abs(g / e - 1) for g, e in zip(guesses, exact, strict=True)))
        rows.append(row)
    return rows


def expectations(blocks: Sequence[Block], count: Count, family: Family) -> Iterator[float]:
    """Yield, for each call after three with usage, how far the expected size is from the real one."""
    reports: list[RequestMeasured] = []
    estimated = exact = step = 0
    for block in blocks:
        if block.step != step:  # the model answers what stands so far
            step = block.step
            real = exact + BESIDE
            if len(reports) >= 3:
                yield calibrate(reports[-60:]).tokens(estimated) / real - 1
            reports.append(RequestMeasured("m", estimated, real))
        estimated += estimate(block.text, family)
        exact += count(block.text)


def main() -> int:
    """Run and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    sessions: list[list[Block]] = []
    for file in find_recordings(asked.paths):
        recording = read_recording(file)
        if (
            isinstance(recording, Unread)
            or not recording.messages
            or len(sessions) >= asked.sessions
        ):
            continue
        *_, (messages, _) = recording.segments()
        blocks = FORMATS[recording.format].blocks(messages, estimate)
        if sum(block.tokens for block in blocks) >= LONG:
            sessions.append(blocks)
    texts: dict[str, list[str]] = {}
    for block in (block for blocks in sessions for block in blocks):
        kind = kind_of(block)
        chunks = texts.setdefault(kind, []) if kind else []
        if len(chunks) < CHUNKS_MAX:
            chunks.append(block.text[:CHUNK])
    result: dict[str, Any] = {}
    for model, family in MODELS.items():
        count = counter(model)
        if count.name == "estimate":
            print(f"no exact counter for {model}: pip install 'sightline-guard[tokens]'", file=sys.stderr)  # fmt: skip
            continue
        kinds = errors_by_kind(texts, count, family)
        off = sorted(abs(e) for blocks in sessions for e in expectations(blocks, count, family))
        calls = {"calls": len(off), "median": median(off), "p95": off[len(off) * 95 // 100], "largest": off[-1], "within": sum(e <= WITHIN for e in off) / len(off)}  # fmt: skip
        result[model] = {"kinds": kinds, "calls": calls}
        if not asked.json:
            print_model(model, count.name, kinds, calls)
    if asked.json:
        print(json.dumps({"schema": 1, "rows": result}))
    if not result:
        return 2
    return 0 if all(each["calls"]["p95"] <= WITHIN for each in result.values()) else 1


def print_model(model: str, name: str, kinds: Sequence[Any], calls: dict[str, float]) -> None:
    """Print both tables of a model."""
    print(f"{model}, against {name}\n")
    print("| content | texts | estimate, in sum | in the middle | characters / 4, in sum | in the middle |")  # fmt: skip
    print("|---|--:|--:|--:|--:|--:|")
    for kind, texts, bias, middle, rough_bias, rough_middle in kinds:
        print(f"| {kind} | {texts} | {bias:+.1%} | {middle:.1%} | {rough_bias:+.0%} | {rough_middle:.0%} |")  # fmt: skip
    print(
        f"\nAfter three calls with usage: {calls['calls']} calls, median {calls['median']:.2%} off, p95"
        f" {calls['p95']:.2%}, largest {calls['largest']:.1%}, {calls['within']:.1%} within 2 %\n"
    )


if __name__ == "__main__":
    sys.exit(main())
