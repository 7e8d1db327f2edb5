"""Words of a text that look like paths, and paths that look like words."""

from __future__ import annotations

import pytest

from sightline.briefing.mention_parser import parse_mentions
from sightline.briefing.mentions import Vocabulary
from sightline.search.path_index import Index

HERE = Vocabulary(
    Index(
        [
            "Makefile",
            "pytest.ini",
            "schemas/order.avsc",
            "packages/router/testing/Spec.ts",
            "src/app/user.service.ts",
            "src/components/Button.tsx",
            "src/types/events.ts",
        ]
    )
)


def word(text):
    [mention] = parse_mentions(text)
    return HERE.is_word(mention.value)


@pytest.mark.parametrize(
    "text",
    [
        "@alice",
        "@makefil",
        "@org/team-core",
        "@angular/core",
        "@angular/core/testing",
        "@types/node",
        "@types/node@20.1.0",
        "@babel/core@7.24",
        "@pytest.fixture",
        '@pytest.mark.parametrize("a, b", [(1, 2)])',
        '@app.route("/users")',
        "@dataclass(frozen=True)",
        "@makefile(all=True)",
        '@button("x")',
        "@functools.lru_cache(maxsize=None)",
        "@property.setter",
        "@app.get",
        "@Ünïcode.décorateur",
        "@example.org",
        "@ada@social.example.org",
        "@Component({selector:",
    ],
)
def test_people_packages_and_decorators_are_words(text):
    assert word(text)


@pytest.mark.parametrize(
    "text",
    [
        "@MAKEFILE",
        "@button",
        "@gone.py",
        "@copy(1).py",
        "@pytest.cfg",
        "@orders.avsc",
        "@user.service",
        "@src.components.button",
        "@components",
        "@src/gone",
        "@Src/gone",
        "@components/Buton",
        "@router/testing/specs",
        "@angular/core.ts",
        "@./angular/core",
        "@/angular/core",
        "@../angular/core",
        "@.env",
        r"@angular\core",
    ],
)
def test_what_is_called_like_something_here_was_meant_as_a_path(text):
    assert not word(text)


@pytest.mark.parametrize("text", ["mail ada@example.org", "<ada@example.org>", "a@b/c"])
def test_the_middle_of_a_word_mentions_nothing(text):
    assert parse_mentions(text) == ()
