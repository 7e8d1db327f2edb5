"""Who wrote a text on the user's side."""

import pytest

from sightline.messages.formats.parts import author


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        ("fix the bug", "user"),
        ("", "user"),
        ("<b>fix</b> <system-reminder>", "user"),
        ("<system-reminder>x</system-reminder>", "system"),
        ("<system-reminder>x</system-reminder>\nand fix it", "user"),
        ("<system-reminder>x</system-reminder>\n<command-name>/clear</command-name>", "system"),
        ("  <environment_details>\n# Time\n</environment_details>", "system"),
        ("<environment_context><cwd>/w</cwd></environment_context>", "system"),
        ("<environment_details>\n<slug>code</slug>\nand it breaks off", "system"),
        ("<system-reminder>a</b> <system-reminder>c</d>", "system"),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>", "system"),
        ("[Request interrupted by user for tool use]", "system"),
        ("<bash-input>ls</bash-input>", "user"),
        (
            "This session is being continued from a previous conversation that ran out of context. x",
            "summary",
        ),
    ],
)
def test_a_person_is_told_from_a_program(text, whose):
    assert author(text) == whose
