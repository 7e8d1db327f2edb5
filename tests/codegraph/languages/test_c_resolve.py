"""Which files an include means."""

import pytest

from sightline.codegraph.language import Reference
from sightline.codegraph.languages.c import C, affected, references


def targets(files, line, path="src/main.c"):
    made = C([*files, path], lambda _: None)
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
