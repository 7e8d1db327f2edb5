"""The state machine of tests/properties, wide: new examples on every run, and what they met.

    python bench/wide.py [--examples N] [--steps N] [--seed N]

Prints the counts and exits 1 on the first promise broken, with the steps that break it.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from time import perf_counter

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [HOME, os.path.join(HOME, "src")]

from hypothesis import seed, settings  # noqa: E402 - the tests' folder has to be on the path first
from hypothesis.stateful import run_state_machine_as_test  # noqa: E402
from tests.properties.ground import COUNTS  # noqa: E402
from tests.properties.machine import Machine  # noqa: E402


def main() -> int:
    """Run and print; the exit status."""
    options = arguments()
    chosen = settings(
        max_examples=options.examples,
        stateful_step_count=options.steps,
        database=None,
        deadline=None,
    )
    began = perf_counter()
    broken = False
    try:
        run_state_machine_as_test(seed(options.seed)(Machine), settings=chosen)
    except Exception:  # noqa: BLE001 - whatever breaks a promise is printed, and is the exit status
        traceback.print_exc()
        broken = True
    for name, count in sorted(COUNTS.items()):
        print(f"{name:>10} {count:8,}")
    print(f"{'seconds':>10} {perf_counter() - began:8,.0f}")
    print(f"seed {options.seed}: {'a promise is broken' if broken else 'every promise held'}")
    return int(broken)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description="The promises over many random histories.")
    parser.add_argument("--examples", type=int, default=2_000)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
