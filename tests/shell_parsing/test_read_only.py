"""Of which commands it is known that they change no file. The rest may."""

import pytest

from sightline.shell_parsing.read_only import only_reads

READS = [
    "env LANG=C cat a",
    "cat a.py",
    "cat a.py | head -20 && wc -l b.py; pwd",
    "cd src && ls -la",
    "grep -rn 'x' src 2>/dev/null | sort | head",
    "rg --files | wc -l",
    "find . -name '*.py' -newer a.py",
    "sed -n '10,20p' a.py",
    "git status && git --no-pager diff HEAD~1 -- a.py",
    "git log --oneline -5 2>&1",
    "ls > /dev/null",
    "if test -f a; then cat a; fi",
    "for f in a b; do cat $f; done",
    "cat <<'END'\nrm a\nEND",
    "echo $HOME",
    "cat *.py",
    "grep -n '->' a.py",
    "rg 'a=b' | head -5 >&2",
    "[[ -f a ]] && cat a",
]

MAY_WRITE = [
    "",
    "make",
    "python x.py",
    "rm a.py",
    "cat a > b",
    "cat a >> b",
    "ls 2> errors.txt",
    "ls &> all.txt",
    "echo hi | tee a.py",
    "cat $(rm a.py)",
    "cat `rm a.py`",
    "cat <(rm a.py)",
    "find . -name x -delete",
    "find . -exec rm {} +",
    "find . $WHAT",
    "sed -i s/a/b/ a.py",
    "sed -n 's/a/b/w out.txt' a.py",
    "sed 's/a/b/e' a.py",
    "sort -o a.py a.py",
    "sort -uo a.py a.py",
    "rg --pre ./run x",
    "git checkout main",
    "git diff --output=a.patch",
    "git -c core.pager=./run log",
    "git",
    "PAGER=./run git log",
    "bash -c 'cat a'",
    "cat a | xargs rm",
    "sudo rm a",
    "cat() { rm a; }; cat b",
    "ls 'unclosed",
    "$TOOL a.py",
    "ls & rm a",
    "cat a\nrm a",
    "env make a",
    "awk '{print}' a",
    "echo x | sh",
    "cat <<END\n$(rm a)\nEND",
    "[[ $(rm a) ]] && cat a",
    "cat a <> b",
    "echo x >| a",
]


@pytest.mark.parametrize("command", READS)
def test_known_to_only_read(command):
    assert only_reads(command, "/ws")


@pytest.mark.parametrize("command", MAY_WRITE)
def test_not_known_to_only_read(command):
    assert not only_reads(command, "/ws")
