"""Commands that would hit the wrong text of a file that changed unseen: refused once, with the diff."""

import subprocess

import pytest
from tests.hooks.handlers.shell import facts, run

from sightline.hooks.dispatch import attend
from sightline.model.attempts import Replace
from sightline.model.events import CommandStarted, Refused
from sightline.model.hook_events import Answered, Attempted, CommandBegan

TEN = "".join(f"line {n}\n" for n in range(1, 11))
SHIFTED = "by the user\n" + TEN
BELOW = TEN + "by the user\n"


def ask(place, session, command):
    """Return why a command may not run; None where it may."""
    call = f"c{len(facts(session))}"
    return attend(session, CommandBegan(command, call, str(place.root))).refuse


BY_NUMBER = """
sed -i '5s/line/LINE/' a.py
sed -i.bak -e 5d a.py
sed -i '' '5s/line/LINE/' a.py
sed -i '2,$d' a.py
sed -i '9a more' a.py
sed -i '5{s/5/6/}' a.py && python a.py
ed -s a.py <<< '5d'
perl -i -pe 's/l/L/ if $. == 5' a.py
sed 5d a.py > t && mv t a.py
awk 'NR==5{next}1' a.py > t && mv t a.py
head -n 4 a.py > t; tail -n +6 a.py >> t; mv t a.py
bash -c "sed -i 5d a.py"
"""


@pytest.mark.parametrize("command", BY_NUMBER.strip().splitlines())
def test_an_edit_by_line_number_on_shifted_lines_is_refused_once(place, ten, command):
    place.put("a.py", SHIFTED)
    refused = ask(place, ten, command)
    assert "+by the user" in refused
    assert "the user or another program" in refused
    assert facts(ten, CommandStarted) == []
    attend(ten, Answered())
    assert ask(place, ten, command) is None, "it is sent again"
    assert [(fact.path, fact.reason) for fact in facts(ten, Refused)] == [("a.py", "stale")]


@pytest.mark.parametrize(
    "command",
    [
        *BY_NUMBER.strip().splitlines()[:2],
        "sed -i '/line 5/d' a.py",
        "sed -i s/line/LINE/ a.py",
        "sed -i '$d' a.py",
        "sed -n 5p a.py",
        "echo more >> a.py",
        "jq . a.py > t && mv t a.py",
        "sed s/line/LINE/ a.py > t && mv t a.py",
        "grep -v x a.py | sort > t; cp t a.py",
        "rm b.py",
        "make",
    ],
)
def test_a_command_that_hits_what_it_means_is_not_refused(place, ten, command):
    changed = BELOW if "5" in command and "/" not in command[:9] else SHIFTED
    place.put("a.py", BELOW if command in BY_NUMBER else changed)
    assert ask(place, ten, command) is None


WHOLE = """
cat > a.py <<'EOF'
new
EOF
---
echo new > a.py
---
make-it > a.py
---
tee a.py <<< new
---
git show HEAD:a.py > a.py
---
cp b.py a.py
---
python3 x.py | tee a.py
"""


@pytest.mark.parametrize("command", WHOLE.strip().split("\n---\n"))
def test_a_write_over_a_whole_file_that_changed_unseen_is_refused_once(place, ten, command):
    place.put("a.py", BELOW)
    refused = ask(place, ten, command)
    assert "writes over the whole file" in refused
    assert "+by the user" in refused
    attend(ten, Answered())
    assert ask(place, ten, command) is None


def test_a_text_that_holds_what_others_changed_may_be_written_over_the_file(place, ten):
    place.put("a.py", BELOW)
    assert ask(place, ten, f"cat > a.py <<'EOF'\n{BELOW.replace('line 5', 'LINE 5')}EOF") is None
    assert ask(place, ten, f"cat > a.py <<'EOF'\n{TEN.replace('line 5', 'LINE 5')}EOF") is not None


@pytest.mark.parametrize("command", ["sed -i 5d a.py", "echo x > a.py"])
def test_a_file_that_nobody_changed_or_that_is_unknown_is_not_refused(place, ten, command):
    assert ask(place, ten, command) is None
    place.put("b.py", TEN)
    assert ask(place, ten, command.replace("a.py", "b.py")) is None


def test_who_was_told_of_the_change_is_not_refused(place, ten):
    place.put("a.py", SHIFTED)
    assert "+by the user" in attend(ten, Answered()).context
    assert ask(place, ten, "sed -i 5d a.py") is None


def test_a_command_of_the_same_answer_as_the_news_is_refused(place, ten):
    """It was composed before the model was told."""
    place.put("a.py", SHIFTED)
    attend(ten, Attempted.single("a.py", Replace("line 9", "LINE 9"), "e"))
    assert ask(place, ten, "sed -i 5d a.py") is not None


def test_the_same_command_in_the_same_answer_passes_the_second_time(place, ten):
    place.put("a.py", SHIFTED)
    assert ask(place, ten, "sed -i 5d a.py") is not None
    assert ask(place, ten, "sed -i 6d a.py") is not None, "another one is refused, too"
    assert ask(place, ten, "sed -i 5d a.py") is None


def test_the_lines_that_a_command_wrote_over_in_spite_of_it_are_told(place, ten):
    """Whoever saves after the look of the hook is not protected by it."""
    command = "cat > a.py <<'EOF'\n" + TEN.replace("line 5", "LINE 5") + "EOF"
    attend(ten, CommandBegan("make", "m", str(place.root)))
    place.put("a.py", BELOW)
    ten.check("a.py")
    told = run(place, ten, "true; " + command.replace("a.py", "$(readlink -f a.py)")).context
    assert "+by the user" in told


def test_a_change_from_outside_is_told_after_a_command_that_changes_nothing(place, ten):
    place.put("a.py", BELOW)
    told = run(place, ten, "echo hello").context
    assert "+by the user" in told
    assert "the user or another program" in told
    assert attend(ten, Answered()).context == ""


def test_a_change_that_an_earlier_look_found_is_told_after_the_next_command(place, ten):
    place.put("a.py", BELOW)
    ten.check("a.py")  # another session, or the watcher, recorded it
    assert "+by the user" in run(place, ten, "echo hello").context


def test_without_news_a_command_says_nothing(place, ten):
    assert run(place, ten, "echo hello").context == ""
    subprocess.run(["touch", "a.py"], cwd=place.root, check=True)
    assert run(place, ten, "echo hello", call="c2").context == ""
