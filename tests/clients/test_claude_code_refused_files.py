"""A shell command that may name a file which an ignore file refuses: Claude Code asks the person, and where
it can ask nobody, it refuses the command."""

import pytest
from tests.clients.acting import bash, done
from tests.clients.terminal import ASKING, terminal
from tests.support.examples import fully

pytestmark = pytest.mark.client

COMMAND = 'cat "$(git rev-parse --show-toplevel)/secret.txt"'
WHY = "seems to name secret.txt, which an ignore file refuses to agents"


@pytest.fixture
def secret(guarded, model):
    guarded.put(".sightlineignore", "secret.txt\n")
    guarded.put("secret.txt", "swordfish\n")
    model.script("Show it", bash(COMMAND), done())
    return guarded


@pytest.mark.parametrize("key", ["2", *fully("1")])
def test_the_person_is_asked_with_the_reason_and_decides(secret, model, key):
    with terminal(secret) as screen:  # where no other Bash command is asked about
        screen.say("Show it", ASKING)
        screen.see(WHY)
        screen.press(key)
        screen.see("Done." if key == "1" else "Interrupted")
    if key == "1":
        assert "swordfish" in model.sent(1)


@pytest.mark.parametrize("mode", ["acceptEdits", *fully("default", "auto", "dontAsk")])
def test_where_nobody_can_be_asked_the_command_is_refused_with_the_reason(secret, model, mode):
    secret.run("Show it", args=("--permission-mode", mode))
    assert WHY in model.sent(1)
    assert "swordfish" not in model.sent(1)


@pytest.mark.full
def test_a_program_that_answers_for_the_person_is_asked(secret, model):
    asked = []
    secret.meanwhile = lambda: asked.append("once")
    secret.run("Show it")
    assert asked == ["once"]
    assert "swordfish" in model.sent(1)
