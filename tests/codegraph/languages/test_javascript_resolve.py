"""Which files an import of JavaScript or TypeScript means."""

import json
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.languages.javascript import (
    PATTERNS_MOST,
    JavaScript,
    _manifests,
)
from sightline.codegraph.reference import Reference, joined


def over(files):
    texts = {
        path: text if isinstance(text, str) else json.dumps(text) for path, text in files.items()
    }

    def read(path):
        return texts[path].encode() if path in texts else None

    return JavaScript([path for path in texts if not path.startswith(".hidden/")], read)


def meant(files, module, path="src/main.ts", kind="import"):
    resolver = over(dict.fromkeys(files, "") if isinstance(files, list) else files)
    found = resolver.targets(path, Reference(module, 1, kind=kind))
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("files", "module", "target"),
    [
        (["src/a.ts"], "./a", "src/a.ts"),
        (["src/a.tsx", "src/a.js"], "./a", "src/a.tsx"),
        (["src/a.d.ts", "src/a.js"], "./a", "src/a.d.ts"),
        (["src/a.ts"], "./a.js", "src/a.ts"),
        (["src/a.tsx"], "./a.jsx", "src/a.tsx"),
        (["src/a.mts"], "./a.mjs", "src/a.mts"),
        (["src/a.cts"], "./a.cjs", "src/a.cts"),
        (["src/a.ts"], "./a.ts", "src/a.ts"),
        (["src/a.service.ts"], "./a.service", "src/a.service.ts"),
        (["src/a.ts", "src/a/index.ts"], "./a", "src/a.ts"),
        (["src/a.ts", "src/a/index.ts"], "./a/", "src/a/index.ts"),
        (["src/a/index.tsx"], "./a", "src/a/index.tsx"),
        (["src/index.ts"], ".", "src/index.ts"),
        (["index.ts"], "..", "index.ts"),
        (["a.ts"], "../a", "a.ts"),
        (["a.ts"], "../../a", None),
        (["src/a/b.ts"], "./a", None),
        (["src/a.css"], "./a.css", "src/a.css"),
        (["src/a.svg"], "./a.svg?raw", "src/a.svg"),
        (["src/a.svg"], "!!url-loader!./a.svg", "src/a.svg"),
        (["src/a.json"], "./a.json", "src/a.json"),
        (["src/a.vue"], "./a", "src/a.vue"),
        (["src/LICENSE"], "./LICENSE", "src/LICENSE"),
        (["src/main.ts"], "./main", None),
        (["src/fs.ts", "fs.ts"], "fs", None),
        (["src/a.ts"], "node:a", None),
        (["src/a.ts"], "./a" + "/" * 5000, None),
    ],
)
def test_a_name_is_a_file_by_its_ending_then_a_folder(files, module, target):
    assert meant(files, module) == target


def test_a_program_means_the_program_that_lies_there():
    files = ["src/a.js", "src/a.ts", "src/a.d.ts"]
    assert meant(files, "./a.js", "src/main.js") == "src/a.js"
    assert meant(files, "./a", "src/main.mjs") == "src/a.js"


def test_an_included_file_is_relative_and_whole():
    files = ["src/a.d.ts"]
    assert meant(files, "a.d.ts", kind="include") == "src/a.d.ts"
    assert meant(files, "a", kind="include") is None


def test_a_folder_is_what_its_manifest_names():
    files = {"src/a/package.json": {"main": "lib/b"}, "src/a/lib/b.js": "", "src/a/index.js": ""}
    assert meant(files, "./a") == "src/a/lib/b.js"
    files["src/a/package.json"] = {"main": "./dist/b.js"}
    assert meant(files, "./a") == "src/a/index.js"
    files |= {"src/a/package.json": {"types": "c.d.ts", "main": "lib"}, "src/a/c.d.ts": ""}
    files["src/a/lib/index.js"] = ""
    assert meant(files, "./a") == "src/a/c.d.ts"
    assert meant(files, "./a", "src/main.js") == "src/a/lib/index.js"


SETTINGS = """{
  // how we call things
  "extends": ["./base", "./more.json"], /* both */
  "compilerOptions": { "paths": { "@/*": ["src/*", "gen/*",], "@/b/*": ["other/*"], "one": ["./src/1.ts"], /* last */ }, },
}"""


def test_the_paths_of_the_compiler_are_tried_in_order():
    files = {"tsconfig.json": SETTINGS, "src/a.ts": "", "gen/c.ts": "", "other/d.ts": ""}
    files |= {"src/1.ts": "", "src/b/d.ts": "", "src/deep/x.ts": ""}
    for module, target in [
        ("@/a", "src/a.ts"),
        ("@/c.js", "gen/c.ts"),
        ("@/b/d", "other/d.ts"),
        ("one", "src/1.ts"),
        ("@/none", None),
    ]:
        assert meant(files, module, "src/deep/x.ts") == target


def test_of_very_many_patterns_the_first_count_and_names_without_a_star_all_do():
    patterns = {f"@p{number}/*": [f"p{number}/*"] for number in range(PATTERNS_MOST + 1)}
    patterns |= {f"n{number}": ["p0/a.ts"] for number in range(PATTERNS_MOST + 1)}
    last = f"p{PATTERNS_MOST}"
    files = {"tsconfig.json": {"compilerOptions": {"paths": patterns}}, "p0/a.ts": ""}
    files |= {f"{last}/a.ts": "", "x.ts": ""}
    assert meant(files, "@p0/a", "x.ts") == "p0/a.ts"
    assert meant(files, f"@{last}/a", "x.ts") is None
    assert meant(files, f"n{PATTERNS_MOST}", "x.ts") == "p0/a.ts"


def test_settings_extend_others_and_the_base_is_of_who_says_it():
    files = {
        "app/tsconfig.json": {"extends": "../conf/base.json"},
        "conf/base.json": {"extends": "./root", "compilerOptions": {"paths": {"~/*": ["./*"]}}},
        "conf/root.json": {"compilerOptions": {"baseUrl": "../lib"}},
        "lib/a.ts": "",
        "conf/a.ts": "",
        "lib/b/index.ts": "",
    }
    assert meant(files, "~/a", "app/src/x.ts") == "lib/a.ts"
    assert meant(files, "b", "app/src/x.ts") == "lib/b/index.ts"


def test_settings_that_go_in_circles_or_are_no_json_say_nothing_more():
    files = {
        "tsconfig.json": {"extends": "./b", "compilerOptions": {"baseUrl": "src"}},
        "b.json": {"extends": "./tsconfig.json"},
        "src/a.ts": "",
    }
    assert meant(files, "a") == "src/a.ts"
    resolver = over({"src/tsconfig.json": "{oh", "src/a.ts": ""})
    assert resolver.targets("src/main.ts", Reference("./a", 1)) == ("src/a.ts",)
    assert resolver.targets("src/main.ts", Reference("a", 1)) == ()
    deep = over({"tsconfig.json": "[" * 100_000, "a.ts": ""})
    assert deep.targets("b.ts", Reference("a", 1)) == ()


def test_settings_that_are_not_listed_are_read_where_others_extend_them():
    files = {
        "tsconfig.json": {"extends": "./.hidden/tsconfig.json"},
        ".hidden/tsconfig.json": {"compilerOptions": {"paths": {"$lib/*": ["../src/lib/*"]}}},
        "src/lib/a.ts": "",
    }
    assert meant(files, "$lib/a") == "src/lib/a.ts"


def test_the_nearest_settings_hold_and_those_they_refer_to():
    files = {
        "tsconfig.json": {"files": [], "references": [{"path": "./tsconfig.app.json"}]},
        "tsconfig.app.json": {"compilerOptions": {"paths": {"@/*": ["./src/*"]}}},
        "src/a.ts": "",
        "src/own/jsconfig.json": {},
    }
    assert meant(files, "@/a") == "src/a.ts"
    assert meant(files, "@/a", "src/own/b.ts") is None


def test_several_roots_count_as_one():
    files = {
        "tsconfig.json": {"compilerOptions": {"rootDirs": ["src", "gen/out"]}},
        "gen/out/x/a.ts": "",
    }
    assert meant(files, "./x/a") == "gen/out/x/a.ts"


WORKSPACE = {
    "package.json": {"workspaces": ["packages/*", "!packages/old"]},
    "packages/kit/package.json": {
        "name": "@me/kit",
        "exports": {
            ".": {"types": "./dist/a.d.ts", "source": "./src/index.ts", "default": "./dist/a.js"},
            "./b": [{"node": "./src/b.js"}],
            "./c/*": "./src/c/*.js",
            "./c/hidden/*": None,
            "./d/": "./src/d/",
            "./gone": "./dist/gone.js",
        },
        "imports": {"#in/*": {"default": "./src/*.js"}, "#out": "plain"},
    },
    "packages/plain/package.json": {"name": "plain", "main": "lib/main.js"},
    "packages/old/package.json": {"name": "old"},
    "other/package.json": {"name": "other"},
    **dict.fromkeys(
        [
            *("packages/kit/src/index.ts", "packages/kit/src/b.ts", "packages/kit/src/c/x.ts"),
            *("packages/kit/src/c/hidden/y.ts", "packages/kit/src/d/z.js", "packages/plain/sub.ts"),
            *("packages/plain/lib/main.js", "packages/old/index.js", "other/index.js"),
        ],
        "",
    ),
}


@pytest.mark.parametrize(
    ("module", "target"),
    [
        ("@me/kit", "packages/kit/src/index.ts"),
        ("@me/kit/b", "packages/kit/src/b.ts"),
        ("@me/kit/c/x", "packages/kit/src/c/x.ts"),
        ("@me/kit/c/hidden/y", None),
        ("@me/kit/d/z.js", "packages/kit/src/d/z.js"),
        ("@me/kit/gone", None),
        ("@me/kit/src/index", None),
        ("plain", "packages/plain/lib/main.js"),
        ("plain/sub", "packages/plain/sub.ts"),
        ("old", None),
        ("other", None),
        ("react", None),
    ],
)
def test_packages_of_the_workspace_are_files_of_the_tree(module, target):
    assert meant(WORKSPACE, module, "packages/app/x.ts") == target


def test_a_package_has_names_of_its_own():
    inside = "packages/kit/src/deep/x.ts"
    assert meant(WORKSPACE, "#in/b", inside) == "packages/kit/src/b.ts"
    assert meant(WORKSPACE, "#out", inside) == "packages/plain/lib/main.js"
    assert meant(WORKSPACE, "#in/b", "packages/plain/x.ts") is None
    assert meant(WORKSPACE, "other", "other/x.js") == "other/index.js"


@pytest.mark.parametrize(
    "yaml",
    [
        "packages:\n  # ours\n  - 'libs/**'\n  - \"!libs/*/old\"  # gone\ncatalog:\n  - no\n",
        'packages: ["libs/**", "!libs/*/old"]\n',
        "packages:\n- libs/**\n- '!**/old'\n",
    ],
)
def test_workspaces_of_pnpm(yaml):
    files = {"pnpm-workspace.yaml": yaml, "libs/a/b/package.json": {"name": "b"}}
    files |= {"libs/a/old/package.json": {"name": "old"}}
    files |= {"libs/a/b/index.ts": "", "libs/a/old/index.ts": ""}
    assert meant(files, "b") == "libs/a/b/index.ts"
    assert meant(files, "old") is None


def test_a_dependency_may_say_its_folder():
    files = {"app/package.json": {"dependencies": {"a": "file:../libs/a"}}, "libs/a/index.js": ""}
    assert meant(files, "a", "app/x.js") == "libs/a/index.js"


def test_settings_of_any_shape_are_borne():
    odd: list[object] = [
        None,
        3,
        "x",
        [],
        [3],
        {},
        {"a": 3},
        {"*": [None]},
        {".": {"import": [[{}]]}},
    ]
    for value in odd:
        manifest = dict.fromkeys(["name", "exports", "imports", "main", "dependencies"], value)
        files = {
            "package.json": manifest | {"workspaces": value},
            "tsconfig.json": {
                "extends": value,
                "references": value,
                "compilerOptions": {"paths": value, "baseUrl": value, "rootDirs": value},
            },
            "lerna.json": {"packages": value},
        }
        for module in ("a", "./a", "#a", "@a", "", "@", "/", "*"):
            assert meant(files, module) is None


@given(
    st.lists(st.sampled_from(["a", "b", "..", ".", ""]), max_size=8), st.sampled_from(["", "x/y"])
)
def test_joining_is_what_the_system_does(parts, folder):
    deep = "/r/r/r/r/r/r/r/r"  # no eight steps lead above it
    whole = posixpath.normpath(posixpath.join(deep, folder, *[part or "." for part in parts]))
    below = "r/r/r/r/r/r/r/r" + (f"/{folder}" if folder else "")
    assert joined(below, "/".join(parts)) == whole.lstrip("/")


def test_nothing_is_above_the_root():
    assert joined("a", "../..") is None
    assert joined("a", "..") == ""


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("packages/*", "packages/a", True),
        ("packages/*", "packages/a/b", False),
        ("packages/**", "packages/a/b", True),
        ("packages/**", "packages", True),
        ("packages", "packages", True),
        ("packages", "packages/a", False),
        ("**/b", "b", True),
        ("**/b", "a/a/b", True),
        ("a/**/**/b", "a/b", True),
        ("./a-*-c/", "a-b-c", True),
        ("a*b*a", "aba", True),
        ("a*b*a", "aa", False),
        ("*" * 500 + "x", "a" * 500, False),
    ],
)
def test_patterns_of_workspaces(pattern, path, fits):
    assert bool(_manifests([pattern]).fullmatch(f"{path}/package.json")) is fits
