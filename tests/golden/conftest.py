"""The option --renew: golden files are written anew instead of compared."""

from __future__ import annotations

import pytest
from tests.golden.telling import compare


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request):
    """golden(name, text): compare a text with a golden file, or renew that."""
    renew = bool(request.config.getoption("--renew", default=False))
    return lambda name, text: compare(name, text, renew=renew)
