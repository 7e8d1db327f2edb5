import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sightline.config.schema import KEYS, PATTERNS_MAX, POLICIES
from sightline.config.settings import Settings, Source, load_settings, user_settings_file
from sightline.errors import SettingsError


class Place:
    """A workspace and a home folder side by side, on disk."""

    def __init__(self, tmp_path):
        self.root, self.home = tmp_path / "work", tmp_path / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.users = Path(user_settings_file({}, str(self.home), "linux"))

    def user(self, text):
        self.users.parent.mkdir(parents=True, exist_ok=True)
        self.users.write_text(text)

    def own(self, text, name="sightline.toml"):
        (self.root / name).write_text(text)

    def load(self, environ=None, platform="linux", **flags):
        return load_settings(
            str(self.root),
            environ=environ or {},
            home=str(self.home),
            platform=platform,
            flags=flags,
        )

    def left_out(self):
        """What does not hold of the workspace's own files: one text."""
        (fault,) = self.load().left_out
        assert fault.hint
        return f"{fault.message} {fault.hint}"

    def refusal(self, *args, **flags):
        with pytest.raises(SettingsError) as caught:
            self.load(*args, **flags)
        assert caught.value.hint
        return str(caught.value)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_without_any_file_the_defaults_hold(place):
    settings = place.load()
    assert settings == Settings(state_home=f"{place.home}/.local/state/sightline")
    assert settings.policy_for("src/app.py") == "merge"
    assert (settings.unseen, settings.fail, settings.store) == ("notice", "open", None)
    assert (settings.max_file_bytes, settings.deadline_s) == (10 * 1024 * 1024, 5.0)
    assert (settings.read_max_lines, settings.read_max_bytes) == (2_000, 400_000)


def test_flags_beat_the_environment_and_that_beats_the_users_file(place):
    place.user('store = "sqlite:///a.db"\nfail = "closed"\nmax_file_bytes = 1\ndeadline_s = 1')
    environ = {"SIGHTLINE_STORE": "sqlite:///b.db", "SIGHTLINE_MAX_FILE_BYTES": "2"}
    settings = place.load(environ, store="sqlite:///c.db", fail=None)
    assert (settings.store, settings.fail) == ("sqlite:///c.db", "closed")
    assert (settings.max_file_bytes, settings.deadline_s) == (2, 1.0)


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "HOME/.config"),
        ("linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "HOME/.config"),
        ("freebsd14", {}, "HOME/.config"),
        ("darwin", {"XDG_CONFIG_HOME": "/xdg"}, "HOME/Library/Application Support"),
        ("win32", {}, "HOME/AppData/Roaming"),
        ("win32", {"APPDATA": "/appdata"}, "/appdata"),
    ],
)
def test_the_users_file_is_where_each_system_keeps_such_files(platform, environ, folder):
    expected = folder.replace("HOME", "/home/ada") + "/sightline/config.toml"
    assert user_settings_file(environ, "/home/ada", platform) == expected


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {}, "HOME/.local/state/sightline"),
        ("linux", {"XDG_STATE_HOME": "/xdg"}, "/xdg/sightline"),
        ("darwin", {}, "HOME/Library/Application Support/sightline"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/sightline"),
        ("linux", {"SIGHTLINE_HOME": "/elsewhere"}, "/elsewhere"),
        ("linux", {"SIGHTLINE_HOME": "~/mine"}, "HOME/mine"),
        ("linux", {"SIGHTLINE_HOME": ""}, "HOME/.local/state/sightline"),
    ],
)
def test_state_lives_where_each_system_keeps_it(place, platform, environ, folder):
    expected = folder.replace("HOME", str(place.home))
    assert place.load(environ, platform).state_home == expected


def test_the_last_glob_that_matches_wins_within_one_file(place):
    place.user('[policies]\n"*.py" = "block"\n"gen/**" = "warn"\n"gen/keep.py" = "refresh"')
    settings = place.load()
    assert settings.policy_for("src/app.py") == "block"
    assert settings.policy_for("gen/app.py") == "warn"
    assert settings.policy_for("gen/keep.py") == "refresh"
    assert settings.policy_for("README.md") == "merge"


@pytest.mark.parametrize("name", ["sightline.toml", "pyproject.toml"])
def test_a_workspace_tightens(place, name):
    heading = "[tool.sightline" if name == "pyproject.toml" else "["
    place.user('policy = "refresh"\n[policies]\n"*.lock" = "warn"')
    lines = 'unseen = "refuse"\nnever_store = ["*.sqlite"]\nprotect = ["migrations/**"]\n'
    globs = '"*.lock" = "merge"\n"src/**" = "block"\n"docs/**" = "merge"\n'
    if name == "pyproject.toml":
        place.own(f"[tool.sightline]\n{lines}{heading}.policies]\n{globs}", name)
    else:
        place.own(f"{lines}{heading}policies]\n{globs}", name)
    settings = place.load()
    assert settings.policy_for("uv.lock") == "merge"
    assert settings.policy_for("src/app.py") == "block"
    assert settings.policy_for("docs/a.md") == "refresh", "the user's own is stricter"
    assert settings.policy_for("migrations/1.sql") == "ask"
    assert settings.unseen == "refuse"
    assert not settings.may_store("data.sqlite")


def test_both_files_of_a_workspace_count(place):
    place.own('policy = "refresh"\n[policies]\n"a" = "merge"')
    place.own('[tool.sightline.policies]\n"a" = "block"\n', "pyproject.toml")
    settings = place.load()
    assert (settings.policy_for("a"), settings.policy_for("b")) == ("block", "refresh")


def test_a_flag_does_not_loosen_what_the_workspace_tightened(place):
    place.own('policy = "block"')
    assert place.load({"SIGHTLINE_POLICY": "warn"}).policy_for("a") == "block"
    assert place.load(policy="warn", unseen="notice").policy_for("a") == "block"


@pytest.mark.parametrize("key", [key for key, spec in KEYS.items() if not spec.shared])
@pytest.mark.parametrize("name", ["sightline.toml", "pyproject.toml"])
def test_what_could_weaken_the_guard_is_left_out_of_a_workspace(place, name, key):
    words = {"store": "memory:", "state_home": "/s", "fail": "open", "answerer": "off"}
    words |= {"prompts": "workspace"}
    words |= {"subtasks": "auto", "tasks_database": "sqlite:///t.db"}
    switches = ["checkpoints", "bundle", "bundle_imports", "bundle_tests"]
    words |= dict.fromkeys(switches, "off")
    lists = {"checkpoint_paths": ["*"], "continue_phrases": ["on"]}
    right = lists[key] if key in lists else words.get(key, 1)
    heading = "[tool.sightline]\n" if name == "pyproject.toml" else ""
    alone = place.load()
    place.own(f"{heading}{key} = {right!r}", name)
    assert structs.replace(place.load(), left_out=()) == alone
    said = place.left_out()
    assert name in said
    assert key in said
    assert str(place.users) in said
    assert KEYS[key].variable in said


@pytest.mark.parametrize("text", ['policy = "warn"', '[policies]\n"docs/**" = "warn"'])
def test_a_looser_policy_is_left_out_of_a_workspace(place, text):
    place.own(text)
    assert place.load().policy_for("docs/a.md") == "merge"
    said = place.left_out()
    assert "sightline.toml" in said
    assert "warn" in said


def test_a_workspace_cannot_take_built_in_patterns_back(place):
    place.user('never_store = ["!*.key"]\nprotect = ["!**/.vscode/**"]')
    place.own('never_store = ["!.env"]\nprotect = ["!sightline.toml"]')
    settings = place.load()
    assert not settings.may_store(".env")
    assert settings.policy_for("sightline.toml") == "ask"
    assert settings.may_store("slides.key"), "the user can"
    assert settings.policy_for(".vscode/tasks.json") == "merge", "the user can"


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "deploy/.env.production",
        "tls/server.pem",
        "id_ed25519",
        ".netrc",
        "credentials-prod.json",
        "home/.aws/credentials",
    ],
)
def test_secrets_are_never_stored(path):
    assert not Settings(state_home="/s").may_store(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "id_rsa.pub",
        "src/env.py",
        "keys.py",
        ".dev.vars.example",
        "settings.py",
        "package.json",
    ],
)
def test_samples_and_public_halves_are_stored(path):
    assert Settings(state_home="/s").may_store(path)


@pytest.mark.parametrize(
    "path",
    ["sightline.toml", "sub/sightline.toml", ".claude/settings.json", "web/.vscode/tasks.json"],
)
def test_files_that_steer_agents_and_editors_are_asked_for(path):
    assert Settings(state_home="/s").policy_for(path) == "ask"


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        (".claude/worktrees/w/src/app.py", "merge"),
        (".claude/worktrees/w/.claude/settings.local.json", "ask"),
        (".claude/worktrees/w/.mcp.json", "ask"),
        (".claude/hooks/format.sh", "ask"),
        (".claude/commands/review.md", "merge"),
        (".git/info/exclude", "ask"),
        ("sub/.hg/hgrc", "ask"),
    ],
)
def test_of_an_agents_folder_only_settings_and_hooks_are_protected(path, policy):
    assert Settings(state_home="/s").policy_for(path) == policy


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("!.git/info/exclude", ".git/info/exclude"),
        ("!**/.codex/prompts/**", ".codex/prompts/a.md"),
        ("!.claude/hooks/format.sh", ".claude/hooks/format.sh"),
    ],
)
def test_an_exception_takes_back_what_lies_in_a_protected_folder(place, pattern, path):
    place.user(f"protect = ['{pattern}']")
    settings = place.load()
    assert settings.policy_for(path) == "merge"
    assert settings.policy_for(".git/hooks/pre-commit") == "ask"
    assert settings.policy_for(".codex/config.toml") == "ask"


def test_the_setting_that_asks_is_named(place):
    place.user("[policies]\n'docs/**' = 'ask'")
    settings = place.load()
    assert settings.asking_setting("docs/a.md") == "policy"
    assert settings.asking_setting("docs/a.md", None, ".mcp.json") == "protect"


def test_an_unknown_setting_names_the_nearest_right_one(place):
    place.user('polices = "block"')
    said = place.refusal()
    assert str(place.users) in said
    assert "polices" in said
    assert "policies" in said


def test_an_unknown_policy_names_the_right_ones(place):
    place.user('[policies]\n"*.py" = "blok"')
    assert "warn, merge, refresh, block, ask" in place.refusal()


@pytest.mark.parametrize(
    "text",
    [
        "policy = 1",
        'policies = "block"',
        "policies = [1]",
        '[policies]\n"a\\u0000b" = "block"',
        "protect = 'a'",
        "protect = [1]",
        "protect = ['']",
        "protect = ['# docs']",
        "protect = ['/']",
        "[policies]\n'!a' = 'block'",
        f"protect = ['{'x' * 501}']",
        f"never_store = {['x'] * (PATTERNS_MAX + 1)}",
        "max_file_bytes = '1'",
        "max_file_bytes = true",
        "max_file_bytes = 0",
        "read_max_lines = 1.5",
        "deadline_s = nan",
        "deadline_s = inf",
        "deadline_s = true",
        "deadline_s = 0",
        "store = ''",
        "state_home = 'relative'",
        "fail = 'sometimes'",
        "unseen = 'ask'",
        "continue_phrases = 'on'",
        "continue_phrases = ['...']",
        "continue_phrases = [1]",
        f"continue_phrases = {['x'] * (PATTERNS_MAX + 1)}",
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_file(place, text):
    place.user(text)
    said = place.refusal()
    assert str(place.users) in said
    assert next(key for key in KEYS if key in text) in said


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SIGHTLINE_POLICY", "loose"),
        ("SIGHTLINE_MAX_FILE_BYTES", "10MB"),
        ("SIGHTLINE_DEADLINE_S", "soon"),
        ("SIGHTLINE_HOME", "here"),
    ],
)
def test_a_wrong_variable_is_named(place, variable, text):
    said = place.refusal({variable: text})
    assert f"unset {variable}" in said
    assert text in said


def test_a_wrong_flag_is_named(place):
    assert "the command line: fail" in place.refusal(fail="no")


def test_variables_that_are_no_settings_are_left_alone(place):
    assert place.load({"SIGHTLINE_SESSION": "s1", "SIGHTLINE_POLICY": ""}) == place.load()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'policy = "merge"\nunseen = \n', "line 2"),
        (b'\npolicy = "\xff"', "line 2 is not valid UTF-8"),
        (b"protect = " + b"[" * 100_000, "recursion"),
    ],
    ids=["syntax", "encoding", "nesting"],
)
def test_broken_toml_is_named_with_its_file_and_line(place, data, found):
    (place.root / "sightline.toml").write_bytes(data)
    said = place.left_out()
    assert said.startswith("sightline.toml: ")
    assert found in said


SPOILS = [
    "policy = [",
    'policy = "\\ud800"',
    "policy = 1",
    'policy = "warn"',
    "polices = 1",
    "protect = 'x'",
    "store = 'memory:'",
    "#" * (1 << 20) + "\n",
]
"""Each is wrong on its own."""


@pytest.mark.parametrize("spoil", SPOILS, ids=range(len(SPOILS)))
@pytest.mark.parametrize(
    ("name", "other"),
    [("sightline.toml", "pyproject.toml"), ("pyproject.toml", "sightline.toml")],
)
def test_what_is_wrong_in_one_file_takes_nothing_else_away(place, spoil, name, other):
    place.user('policy = "refresh"\nprotect = ["mine/**"]\nfail = "closed"')
    heading = "[tool.sightline]\n" if other == "pyproject.toml" else ""
    place.own(f'{heading}protect = ["other/**"]\nunseen = "refuse"', other)
    alone = place.load()
    place.own(("" if heading else "[tool.sightline]\n") + spoil, name)
    both = place.load()
    assert len(both.left_out) == 1
    assert structs.replace(both, left_out=()) == alone
    assert both.policy_for("other/a") == both.policy_for("mine/a") == "ask"


@pytest.mark.parametrize("name", ["sightline.toml", "pyproject.toml"])
def test_a_wrong_setting_leaves_its_neighbours_and_names_its_line(place, name):
    heading = "[tool.other]\npolices = 1\n[tool.sightline]\n" if name == "pyproject.toml" else ""
    place.own(f'{heading}protect = ["x/**"]\n"polices" = 1\nunseen = "refuse"\n', name)
    settings = place.load()
    assert (settings.policy_for("x/a"), settings.unseen) == ("ask", "refuse")
    line = 5 if heading else 2
    assert f"line {line}: there is no setting 'polices'. Did you mean policies?" in place.left_out()


def test_the_line_of_a_heading_is_named(place):
    place.own("[project]\n\n[tool.sightline.policies]\n'a' = 'no'\n", "pyproject.toml")
    assert "pyproject.toml [tool.sightline], line 3: policies must be" in place.left_out()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_left_out(place):
    place.own('policy = "block"')
    (place.root / "sightline.toml").chmod(0)
    assert "sightline.toml: cannot be read" in place.left_out()


def test_the_users_own_file_is_not_left_out(place):
    place.user("policy = [")
    assert str(place.users) in place.refusal()


def test_a_pyproject_that_does_not_name_us_may_be_broken(place):
    place.own("[project\n", "pyproject.toml")
    assert place.load().policy_for("a") == "merge"


def test_a_pyproject_that_names_us_without_settings_adds_none(place):
    place.own("[project]\ndependencies = ['sightline']\n[tool.other]\n", "pyproject.toml")
    assert place.load().policy_for("a") == "merge"


def test_a_table_of_ours_must_be_a_table(place):
    place.own("tool.sightline = 3", "pyproject.toml")
    assert "tool.sightline" in place.left_out()


def test_a_settings_file_is_bounded(place):
    place.own("#" * (1 << 20))
    assert place.load().policy_for("a") == "merge"
    place.own("#" * (1 << 20) + "\n")
    assert "1048576 bytes" in place.left_out()


def test_a_key_made_to_keep_the_parser_busy_is_left_out(place):
    place.own("\n" + "a." * 2_000 + "a = 1")  # more would keep it busy for minutes
    assert "line 2" in place.left_out()


def test_a_link_that_leads_out_of_the_workspace_is_left_out(place, tmp_path):
    (tmp_path / "outside.toml").write_text('policy = "block"')
    (place.root / "sightline.toml").symlink_to(tmp_path / "outside.toml")
    assert "leads out of the workspace" in place.left_out()
    assert place.load().policy_for("a") == "merge"


def test_a_link_inside_the_workspace_is_followed(place):
    place.own('policy = "block"', "team.toml")
    (place.root / "sightline.toml").symlink_to("team.toml")
    assert place.load().policy_for("a") == "block"


def test_a_workspace_reached_through_a_link_has_its_own_settings(place, tmp_path):
    place.own('policy = "block"')
    (tmp_path / "alias").symlink_to(place.root)
    place.root = tmp_path / "alias"
    assert place.load().policy_for("a") == "block"


@pytest.mark.parametrize("kind", ["directory", "pipe", "dangling"])
def test_what_is_no_plain_file_is_left_out_at_once(place, kind):
    path = place.root / "sightline.toml"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere.toml")
    assert "sightline.toml" in place.left_out()


def test_a_file_that_appears_is_read_by_the_next_load(place):
    """Nothing is cached between loads, so no clock can hide a change."""
    assert place.load().policy_for("a") == "merge"
    place.own('policy = "block"')
    assert place.load().policy_for("a") == "block"
    place.own('policy = "merge"')
    assert place.load().policy_for("a") == "merge"


GLOBS = ["*", "*.py", "src/**", "src/app.py", "docs/", "**/.vscode/**"]
PATTERNS = [*GLOBS, "!*", "!src/**", "!**/.vscode/**"]
PATHS = ["src/app.py", "docs/a.md", "setup.py", ".vscode/a.json", "sightline.toml", "x/y/z"]


def tables(*policies):
    return st.fixed_dictionaries(
        {},
        optional={
            "policy": st.sampled_from(policies),
            "policies": st.dictionaries(st.sampled_from(GLOBS), st.sampled_from(policies)),
            "protect": st.lists(st.sampled_from(PATTERNS), max_size=3),
            "never_store": st.lists(st.sampled_from(PATTERNS), max_size=3),
            "unseen": st.sampled_from(["notice", "refuse"]),
        },
    )


def toml(table):
    """The table in TOML, which writes such texts and lists as Python does."""
    plain = {key: value for key, value in table.items() if key != "policies"}
    lines = [f"{key} = {value!r}" for key, value in plain.items()]
    globs = [f"{glob!r} = {policy!r}" for glob, policy in table.get("policies", {}).items()]
    return "\n".join([*lines, "[policies]", *globs])


@given(user=tables(*POLICIES), own=tables(*POLICIES[1:]))
def test_no_workspace_loosens_what_the_user_alone_has(tmp_path_factory, user, own):
    place = Place(tmp_path_factory.mktemp("pair"))
    place.user(toml(user))
    alone = place.load()
    place.own(toml(own))
    both = place.load()
    for path in PATHS:
        assert POLICIES.index(both.policy_for(path)) >= POLICIES.index(alone.policy_for(path))
        assert alone.may_store(path) or not both.may_store(path)
    assert (both.unseen, alone.unseen) != ("notice", "refuse")
    assert structs.replace(both, sources=(), unseen="") == structs.replace(
        alone, sources=(), unseen=""
    )


def test_a_source_that_says_nothing_protects_what_is_built_in():
    assert Source().policy_for(".cursor/hooks.json") == "ask"


@given(st.data())
def test_secrets_are_what_may_not_be_stored(data):
    patterns = ["*.pem", "keys/", "!keep.pem", "id_*", "**/deep/x", "a/b", "[ab].txt", "/top"]
    own = data.draw(st.lists(st.sampled_from(patterns), unique=True))
    settings = Settings("/s", (Source(), Source(never_store=tuple(own))))
    folder = data.draw(st.sampled_from(["", "a/", "keys/", "a/keys/more/", "deep/", "x/deep/"]))
    names = ["a.pem", "keep.pem", "id_rsa", "x", "b", "a.txt", ".env", "top", "keys", "plain.py"]
    may_not = {name for name in names if not settings.may_store(folder + name)}
    assert settings.secrets(folder, names) == may_not


@pytest.mark.parametrize(
    "path",
    [
        ".envrc",
        "prod.env",
        ".ENV",
        "deploy/Secrets.YAML",
        "a.tfstate",
        "a.tfvars",
        "x/.kube/config",
        ".htpasswd",
        "AuthKey.p8",
        "me.PPK",
        "service-account.json",
        "ID_RSA",
        "worker/.dev.vars",
        ".dev.vars.staging",
        "client_secret_1.apps.googleusercontent.com.json",
        "app-firebase-adminsdk-x1.json",
        "func/local.settings.json",
        "deploy_rsa",
        "site.publishsettings",
        "home/.cargo/credentials.toml",
        "home/.m2/settings.xml",
        "auth.json",
        "android/key.properties",
        "home/.my.cnf",
        ".psql_history",
        "wp-config.php",
        ".vscode/sftp.json",
        ".ansible_vault_pass.txt",
        "home/.config/gh/hosts.yml",
    ],
)
def test_a_secret_is_never_stored_whatever_the_case_of_its_name(path):
    settings = Settings(state_home="/s")
    assert not settings.may_store(path)
    folder, _, name = path.rpartition("/")
    assert settings.secrets(f"{folder}/" if folder else "", [name, "a.py"]) == {name}


def test_a_secret_is_never_stored_whatever_the_case_of_the_users_pattern():
    settings = Settings("/s", (Source(never_store=("Private/*.TXT",)),))
    assert not settings.may_store("private/a.txt")
    assert settings.secrets("private/", ["a.txt", "a.py"]) == {"a.txt"}
