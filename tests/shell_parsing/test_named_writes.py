"""What a command line says of the files it changes: by name, and with which result."""

from __future__ import annotations

import pytest

from sightline.shell_parsing.named_writes import named_writes

AT = "/w/"


def kinds(command, path, cwd="/w"):
    """One of each: a copy may be meant for a file or for one in a folder."""
    return [*dict.fromkeys(write.kind for write in named_writes(command, cwd).to(AT + path))]


@pytest.mark.parametrize(
    ("command", "path", "wanted"),
    [
        ("sed -i s/a/b/ x.py", "x.py", ["edited"]),
        ("sed -i s/a/b/ x.py", "src/x.py", []),
        ("sed -i.bak -e s/a/b/ -e s/c/d/ x.py y.py", "y.py", ["edited"]),
        ("sed -n 3p x.py", "x.py", []),
        ("sed s/a/b/ x.py > y.py", "y.py", ["edited"]),
        ("sed s/a/b/ x.py > y.py", "x.py", []),
        ("sed -i -f script.sed x.py", "script.sed", []),
        ("perl -pi -e s/a/b/ x.py", "x.py", ["edited"]),
        ("perl -Mstrict x.py", "x.py", []),
        ("echo hi > x.py", "x.py", ["text"]),
        ("echo hi >> x.py", "x.py", ["appended"]),
        ("echo $HI > x.py", "x.py", ["edited"]),
        ("echo hi | tee x.py", "x.py", ["text"]),
        ("tee x.py <<< hi", "x.py", ["text"]),
        ("cat > x.py <<'E'\nhi\nE", "x.py", ["text"]),
        ("touch x.py", "x.py", ["appended"]),
        ("rm x.py", "x.py", ["removed"]),
        ("rm -rf src", "src/x.py", ["removed"]),
        ("rm -rf src", "source/x.py", []),
        ("rm *.py", "x.py", []),
        ("rm $F", "x.py", []),
        ("mv x.py y.py", "x.py", ["removed"]),
        ("mv x.py y.py", "y.py", ["copy"]),
        ("mv x.py lib", "lib/x.py", ["copy"]),
        ("mv src lib", "lib/a/x.py", ["copy"]),
        ("mv -t lib x.py", "x.py", []),
        ("cp x.py y.py", "x.py", []),
        ("git mv x.py y.py", "y.py", ["copy"]),
        ("git rm x.py", "x.py", ["removed"]),
        ("git rm --cached x.py", "x.py", []),
        ("git checkout -- x.py", "x.py", ["edited"]),
        ("git checkout .", "x.py", []),
        ("git commit -am x.py", "x.py", []),
        ("chmod +x x.py", "x.py", ["mode"]),
        ("chmod -R go-w src", "src/x.py", ["mode"]),
        ("ln -sf a.py x.py", "x.py", ["edited"]),
        ("sort -o x.py y.py", "x.py", ["edited"]),
        ("sort -o x.py y.py", "y.py", []),
        ("black x.py", "x.py", ["edited"]),
        ("black src", "src/x.py", []),
        ("ruff check x.py", "x.py", []),
        ("ruff check --fix x.py", "x.py", ["edited"]),
        ("prettier --write x.ts", "x.ts", ["edited"]),
        ("prettier x.ts", "x.ts", []),
        ("pytest x.py", "x.py", []),
        ("python x.py", "x.py", []),
        ("cd src && sed -i s/a/b/ x.py", "src/x.py", ["edited"]),
        ("cd src && sed -i s/a/b/ x.py", "x.py", []),
        ("cd $D && sed -i s/a/b/ x.py", "x.py", []),
        ("bash -c 'sed -i s/a/b/ x.py'", "x.py", ["edited"]),
        ("sed -i s/a/b/ /w/x.py", "x.py", ["edited"]),
        ("sed -i s/a/b/ ../w/x.py", "x.py", ["edited"]),
        ("rm x.py; echo hi > x.py", "x.py", ["removed", "text"]),
    ],
)
def test_the_writes_that_a_command_line_names(command, path, wanted):
    assert kinds(command, path) == wanted


@pytest.mark.parametrize(
    ("command", "is_quick"),
    [
        ("sed -i s/a/b/ x.py", True),
        ("sed -i s/a/b/ x.py; git add x.py && git status", True),
        ("sed -i s/a/b/ x.py; black x.py", True),
        ("make > x.py", True),
        ("make | tee x.py", True),
        ("bash -c 'sed -i s/a/b/ x.py'", True),
        ("sed -i s/a/b/ x.py && make", False),
        ("sed -i s/a/b/ x.py && git commit -qm x", False),
        ("bash -c 'make; sed -i s/a/b/ x.py'", False),
        ("bash -c 'true || sed -i s/a/b/ x.py'", False),
        ("sleep 9; sed -i s/a/b/ x.py", False),
        ("make & sed -i s/a/b/ x.py", False),
        ("true || sed -i s/a/b/ x.py", False),
        ("if true; then sed -i s/a/b/ x.py; fi", False),
        ("while read F; do sed -i s/a/b/ x.py; done", False),
        ("sed -i s/a/b/ x.py; echo 'unclosed", False),
        ('sed -i "s/a/$(make)/" x.py', False),
    ],
)
def test_a_command_line_that_leaves_nobody_time_for_a_save(command, is_quick):
    assert named_writes(command, "/w").leaves_no_time("/w/x.py") is is_quick
