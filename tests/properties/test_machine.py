"""The state machine at the size that every run can afford; bench/wide.py runs it wider."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.properties.machine import Machine
from tests.support.examples import few_examples

WIDE = bool(os.environ.get("SIGHTLINE_TEST_WIDE"))


@pytest.mark.hypothesis
def test_no_order_of_users_agents_and_crashes_breaks_a_promise():
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=2_000 if WIDE else few_examples(3, 45),
            stateful_step_count=15,
            derandomize=not WIDE,
            database=None,
            deadline=None,
        ),
    )
