"""A hook starts without site-packages. Whoever handles the event finds third parties all the same.

Each test makes a virtual environment, has hooks.call import a module of somebody else, and starts
the real script as agents' settings start it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.hooks.daemons import DaemonHost
from tests.hooks.hooking import refusal

from sightline.hooks.event_lock import NAME as EVENTS
from sightline.hooks.protocol import TOLD

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="named pipes")

IMPORT = "import os\n", "import os\nimport somebody_else\n"


@pytest.fixture
def host():
    made = DaemonHost()
    made.code("call.py", *IMPORT)
    yield made
    made.close()


@pytest.fixture
def packages(host):
    """The site-packages of a virtual environment, whose Python the hooks are started with."""
    folder = host.home / "environment"
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    subprocess.run(command, check=True)
    host.python = str(folder / "bin" / "python")
    names = {"base": str(folder), "platbase": str(folder)}
    return Path(sysconfig.get_path("purelib", "venv", vars=names))


def third_party(folder):
    """Put the packages that Sightline depends on there, and a module of somebody else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "somebody_else.py").write_text("")
    for name in ("msgspec", "rapidfuzz", "backports"):  # the last from Python 3.14 on is no more
        spec = find_spec(name)
        for home in (spec.submodule_search_locations or []) if spec else []:
            (folder / name).symlink_to(home)


def installed(host, packages):
    """As pip, pipx and uv tool install: the package and the third party side by side."""
    shutil.move(host.package, packages)
    host.package = packages / "sightline"
    host.entry = str(host.package / "hooks" / "hook_entry.py")
    third_party(packages)


def editable(host, packages):
    """As pip install -e does: a .pth file leads to the package."""
    (packages / "_editable_impl_sightline.pth").write_text(f"{host.package.parent}\n")
    third_party(packages)


def shared(host, packages):
    """As pipx shares libraries: a .pth file leads to the third party."""
    installed(host, packages)
    (packages / "somebody_else.py").unlink()
    third_party(host.home / "shared")
    (packages / "pipx_shared.pth").write_text(f"{host.home / 'shared'}\n")


def beside(host, packages):
    """As pip install --target does: a folder that no environment knows."""
    third_party(host.package.parent)


@pytest.mark.wide
@pytest.mark.parametrize("layout", [installed, editable, shared, beside])
def test_a_hook_and_its_daemon_import_third_parties(host, packages, layout):
    layout(host, packages)
    bare = [host.python, "-I", "-S", "-c", "import somebody_else"]
    assert b"ModuleNotFoundError" in subprocess.run(bare, capture_output=True, check=False).stderr
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    first = host.run(raw)
    assert "never shown" in refusal(first)
    assert host.started().calls == "0"  # so the hook itself answered
    assert host.run(raw) == first
    assert host.started().calls == "1"
    assert host.faults() == []


@pytest.mark.wide
def test_the_package_of_the_script_goes_before_another_version(host, packages):
    editable(host, packages)
    (packages / "sightline" / "hooks").mkdir(parents=True)
    (packages / "sightline" / "hooks" / "call.py").write_text("raise AssertionError\n")
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    assert "never shown" in refusal(host.run(raw))
    host.started()
    assert host.faults() == []


@pytest.mark.wide
def test_a_third_party_that_is_missing_costs_the_verdict_and_is_told_once(host, packages):
    """Its packages were removed, or Python was replaced by one that they were not made for."""

    def asked(session):
        host.environ["CLAUDE_CODE_SESSION_ID"] = session
        with host.spawn() as child:
            out, err = child.communicate(host.payload("Stop", session))
        assert (child.returncode, err) == (
            0,
            b"sightline: ModuleNotFoundError: nothing was checked.\n",
        )
        return out

    told = b'{"systemMessage": "Sightline\'s guard is off. It cannot run here: No module named'
    assert asked("s1").startswith(told)
    assert [asked("s1") for _ in range(2)] == [b"", b""]
    assert asked("s2").startswith(told)
    left = {*os.listdir(host.run_folder)} - {EVENTS}
    assert {os.path.splitext(name)[1] for name in left} == {TOLD}


@pytest.mark.wide
def test_what_site_packages_print_is_not_in_the_answer(host, packages):
    editable(host, packages)
    (packages / "loud.pth").write_text("import sys; print('loud')\n")
    assert host.run(host.payload("Stop")) == {}
