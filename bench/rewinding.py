"""The promises of a rewind, wide: new histories on every run, and what they met.

    python bench/rewinding.py

Prints the counts, and exits 1 on the first promise broken, with the history that breaks it.
"""

from __future__ import annotations

import os
import sys
import traceback
from time import perf_counter

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HOME, os.path.join(HOME, "src")]
os.environ["SIGHTLINE_TEST_WIDE"] = "1"

from tests.properties import test_rewind  # noqa: E402 - the tests' folder has to be on the path first

LEFT_ALONE_MAX = 0.10


def main() -> int:
    """Run and print; the exit status."""
    promises = [made for name, made in vars(test_rewind).items() if name.startswith("test_")]
    began = perf_counter()
    for promise in promises:
        try:
            promise()
        except BaseException:  # noqa: BLE001 - whatever breaks a promise is printed, and is the exit status
            traceback.print_exc()
            print(f"{promise.__name__}: broken")
            return 1
        print(f"{promise.__name__}: held")
    counts = test_rewind.COUNTS
    for name, count in sorted(counts.items()):
        print(f"{name:>10} {count:8,}")
    share = counts["left alone"] / counts["paths"]
    print(f"{'left alone':>10} {share:8.1%} of the paths that the agent touched")
    print(f"{'seconds':>10} {perf_counter() - began:8,.0f}")
    return int(share >= LEFT_ALONE_MAX)


if __name__ == "__main__":
    sys.exit(main())
