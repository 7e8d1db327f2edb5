"""Which files an include means, with compile_commands.json and without."""

import json

import pytest

from sightline.codegraph.languages.c import FOLDERS_MOST, C, affected, references
from sightline.codegraph.reference import Reference


def targets(files, line, path="src/main.c", commands=None, name="compile_commands.json"):
    data = commands if isinstance(commands, bytes) else json.dumps(commands).encode()
    made = C([*files, path], lambda asked: data if asked == name and commands is not None else None)
    return [file for each in references(line.encode(), path) for file in made.targets(path, each)]


@pytest.mark.parametrize(
    ("files", "line", "found"),
    [
        (["src/a.h"], '#include "a.h"', "src/a.h"),
        (["a.h"], '#include "../a.h"', "a.h"),
        (["a.h"], '#include "../../a.h"', "a.h"),
        (["src/sub/a.h", "a.h"], '#include "a.h"', "a.h"),
        (["include/proj/a.h"], "#include <proj/a.h>", "include/proj/a.h"),
        (["include/proj/a.h"], '#include "proj/a.h"', "include/proj/a.h"),
        (["deps/lua/src/lua.h"], '#include "lua.h"', "deps/lua/src/lua.h"),
        (["deps/lua/src/lua.h"], "#include <lua.h>", "deps/lua/src/lua.h"),
        (["deps/x/lib/y/a.h", "src/deep/y/a.h"], "#include <y/a.h>", "src/deep/y/a.h"),
        (["src/string.h"], "#include <string.h>", None),
        (["src/string.h"], '#include "string.h"', "src/string.h"),
        (["compat/sys/poll.h"], "#include <sys/poll.h>", None),
        (["deep/in/vector"], "#include <vector>", None),
        (["src/tables.inc"], '#include "tables.inc"', "src/tables.inc"),
        (["src/part.c"], '#include "part.c"', "src/part.c"),
        (["src/logo.xpm"], '#include "logo.xpm"', "src/logo.xpm"),
        (["deps/x/logo.xpm"], '#include "logo.xpm"', None),
        (["deps/x/config.h"], '#include "config.h"', None),
        (["config.h"], '#include "config.h"', "config.h"),
        (["deps/x/other.h"], '#include "a.h"', None),
        (["deps/x/aa.h"], '#include "a.h"', None),
        (["src/a.h"], '#include "/src/a.h"', None),
        ([], '#include "main.c"', None),
        (["lib/main.c"], '#include_next "main.c"', "lib/main.c"),
    ],
)
def test_an_include_is_beside_the_file_then_upwards_then_by_its_name(files, line, found):
    assert targets(files, line) == ([found] if found else [])


ENTRY = {"directory": "/home/me/proj/build", "file": "../src/main.c"}


@pytest.mark.parametrize(
    "flags",
    [
        {"command": "cc -I../deps/b -c ../src/main.c"},
        {"command": 'cc -I "../deps/b" -c x'},
        {"command": 'cc "-I../deps/b" -c x'},
        {"command": "cc -isystem /home/me/proj/deps/b -c x"},
        {"arguments": ["cc", "-iquote", "../deps/./b/", "-I"]},
    ],
)
@pytest.mark.parametrize("name", ["compile_commands.json", "build/compile_commands.json"])
def test_the_folders_of_the_compiler_go_first(flags, name):
    files = ["deps/a/x.h", "deps/b/x.h"]
    assert targets(files, '#include "x.h"') == ["deps/a/x.h"]
    assert targets(files, '#include "x.h"', commands=[{**ENTRY, **flags}], name=name) == [
        "deps/b/x.h"
    ]


def test_of_very_many_folders_the_first_count():
    flags = " ".join(f"-I../f{number}" for number in range(FOLDERS_MOST + 1))
    commands = [{**ENTRY, "command": f"cc {flags}"}]
    files = [f"f{FOLDERS_MOST - 1}/x.h", f"f{FOLDERS_MOST}/x.h"]
    assert targets(files, '#include "x.h"', commands=commands)[0] == files[0]


def test_a_compiler_may_be_told_of_standard_names():
    commands = [{**ENTRY, "command": "cc -I../compat -I../src"}]
    assert targets(["compat/poll.h"], "#include <poll.h>", commands=commands) == ["compat/poll.h"]


def test_headers_are_read_as_the_nearest_sources_are():
    entries = [
        {"directory": "/w", "file": f"{part}/{name}.c", "command": f"cc -I{part}/api"}
        for part, name in (("one", "a"), ("one", "b"), ("two", "c"))
    ]
    files = ["one/a.c", "one/b.c", "two/c.c", "one/api/x.h", "two/api/x.h"]
    found = targets(files, '#include "x.h"', "two/in/y.h", commands=entries)
    assert found == ["two/api/x.h"]


@pytest.mark.parametrize(
    "commands",
    [
        b"",
        b"{",
        b"[" * 100_000,
        {},
        [],
        [1],
        [{}],
        [{"file": 3}],
        [{"file": "main.c", "arguments": 3}],
    ],
)
def test_commands_that_say_nothing_change_nothing(commands):
    assert targets(["src/a.h"], '#include "a.h"', commands=commands) == ["src/a.h"]
    assert targets(["deps/a.h"], '#include "a.h"', commands=commands) == ["deps/a.h"]


def test_a_name_that_very_many_files_have_tells_nothing():
    files = [f"lib{number}/types.h" for number in range(600)]
    assert targets(files[:500], '#include "types.h"') == ["lib0/types.h"]
    assert targets(files, '#include "types.h"') == []
    assert targets([*files, "include/types.h"], '#include "types.h"') == ["include/types.h"]


def test_deep_folders_and_many_files_take_little():
    deep = "/".join("d" * 2_000)
    assert targets([f"{deep}/a.h"], '#include "b.h"', f"{deep}/a.c") == []
    assert targets([f"{deep}/a.h"], '#include "a.h"', f"{deep}/a.c") == [f"{deep}/a.h"]


def test_no_list_and_no_name_break_it():
    for module in ("", ".", "..", "/", "a/" * 10_000, "../" * 300 + "a.h", "\0"):
        assert (
            C([], lambda _: None).targets(
                "", Reference(module, 1, 1, names=(module,), kind="include")
            )
            == ()
        )


def test_a_file_that_comes_or_goes_concerns_those_that_name_it():
    found = affected(["src/a.h", "a.py"])
    assert found is not None
    assert not found.every
    assert found.words == {"a.h"}
    assert affected(["a.py", "README.md"]) is None
    settings = affected(["build/compile_commands.json"])
    assert settings is not None
    assert settings.every
