"""Who wrote a text on the user's side."""

import pytest

from sightline.conversation.formats.parts import author


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        ("fix the bug", "person"),
        ("", "person"),
        ("<b>fix</b> <system-reminder>", "person"),
        ("<system-reminder>x</system-reminder>", "program"),
        ("<system-reminder>x</system-reminder>\nand fix it", "person"),
        ("<system-reminder>x</system-reminder>\n<command-name>/clear</command-name>", "program"),
        ("  <environment_details>\n# Time\n</environment_details>", "program"),
        ("<environment_context><cwd>/w</cwd></environment_context>", "program"),
        ("<environment_details>\n<slug>code</slug>\nand it breaks off", "program"),
        ("<system-reminder>a</b> <system-reminder>c</d>", "program"),
        ("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>", "program"),
        ("[Request interrupted by user for tool use]", "program"),
        ("<bash-input>ls</bash-input>", "person"),
        (
            "This session is being continued from a previous conversation that ran out of context. x",
            "summary",
        ),
    ],
)
def test_a_person_is_told_from_a_program(text, whose):
    assert author(text) == whose
