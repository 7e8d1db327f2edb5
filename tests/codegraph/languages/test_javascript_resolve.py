"""Which files an import of JavaScript or TypeScript means."""

import json
import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.codegraph.language import Reference, joined
from sightline.codegraph.languages import javascript
from sightline.codegraph.languages.javascript import PATTERNS_MOST, JavaScript


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


WORKSPACE = {
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
    "other/package.json": {"name": "other"},
    **dict.fromkeys(
        [
            *("packages/kit/src/index.ts", "packages/kit/src/b.ts", "packages/kit/src/c/x.ts"),
            *("packages/kit/src/c/hidden/y.ts", "packages/kit/src/d/z.js", "packages/plain/sub.ts"),
            *("packages/plain/lib/main.js", "other/index.js"),
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
        ("other", "other/index.js"),
        ("react", None),
    ],
)
def test_packages_are_files_of_the_tree(module, target):
    assert meant(WORKSPACE, module, "packages/app/x.ts") == target


def test_a_package_has_names_of_its_own():
    inside = "packages/kit/src/deep/x.ts"
    assert meant(WORKSPACE, "#in/b", inside) == "packages/kit/src/b.ts"
    assert meant(WORKSPACE, "#out", inside) == "packages/plain/lib/main.js"
    assert meant(WORKSPACE, "#in/b", "packages/plain/x.ts") is None
    assert meant(WORKSPACE, "other", "other/x.js") == "other/index.js"


def test_of_packages_with_one_name_the_nearest_is_meant():
    folders = ("libs/x/b", "libs/y/b", "test/b")
    files: dict[str, object] = {f"{each}/package.json": {"name": "b"} for each in folders}
    files |= {f"{each}/index.ts": "" for each in folders}
    assert meant(files, "b", "libs/y/app/a.ts") == "libs/y/b/index.ts"
    assert meant(files, "b", "test/b/deep/a.ts") == "test/b/index.ts"
    assert meant(files, "b", "a.ts") == "test/b/index.ts"


def test_the_names_of_so_many_packages_are_known(monkeypatch):
    monkeypatch.setattr(javascript, "MANIFESTS_MOST", 1)
    files: dict[str, object] = {"x/y/a/package.json": {"name": "a"}, "x/y/a/index.js": ""}
    files |= {"b/package.json": {"name": "b"}, "b/index.js": ""}
    assert meant(files, "b") == "b/index.js"
    assert meant(files, "a") is None


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
            "package.json": manifest,
            "tsconfig.json": {
                "extends": value,
                "references": value,
                "compilerOptions": {"paths": value, "baseUrl": value},
            },
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
