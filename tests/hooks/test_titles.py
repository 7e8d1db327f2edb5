"""The first words of a prompt, by which people know a session."""

import pytest

from sightline.hooks.words import TITLE_LENGTH, title


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("Fix the parser", "Fix the parser"),
        ("Fix\n  the\tparser", "Fix the parser"),
        ('Say "yes"', "Say 'yes'"),
        ("Mend the notes, please, and do so at once", "Mend the notes, please, and do so at…"),
        ("a" * 60, "a" * TITLE_LENGTH + "…"),
        ("<task-notification> done", ""),
        ("Use --token hunter2hunter2 now", "Use --token [secret] now"),
        ("red \x1b[31m now", "red ␛[31m now"),
    ],
)
def test_a_title_is_one_short_line_without_secrets(prompt, words):
    assert title(prompt) == words
