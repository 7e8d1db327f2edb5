"""A server of PostgreSQL of the tests' own, from the binaries of Debian's package."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import psycopg

BINARIES = sorted(glob("/usr/lib/postgresql/*/bin/initdb"))


@contextmanager
def server(folder: Path):
    """A PostgreSQL server of the test's own, on a free port, by a user who is not root."""
    programs = Path(BINARIES[-1]).parent
    data = folder / "data"
    folder.mkdir(mode=0o755)
    user = _user()
    if user:
        os.chown(folder, user["user"], user["group"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "ada", "-A", "trust", "-E", "UTF8"],
        check=True, capture_output=True, env=environ, cwd="/", **user,
    )  # fmt: skip
    log = folder / "log"
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
    control: list[str | Path] = [programs / "pg_ctl", "-D", data, "-w", "-l", log]
    run: dict[str, Any] = {"stdout": subprocess.DEVNULL, "env": environ, "cwd": "/", **user}
    subprocess.run([*control, "-o", options, "start"], check=True, **run)
    try:
        yield f"postgresql://ada@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, **run)


def restart(url):
    """End a server and start it again, so that every connection is lost."""
    with psycopg.connect(url) as connection:
        [[data]] = connection.execute("SHOW data_directory").fetchall()
    control = [Path(BINARIES[-1]).parent / "pg_ctl", "-D", data, "-w", "-m", "fast", "restart"]
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    subprocess.run(
        [*control, "-l", f"{data}/../log"],
        check=True, stdout=subprocess.DEVNULL, env=environ, cwd="/", **_user(),
    )  # fmt: skip


def _user() -> dict[str, Any]:
    """The user that a server runs as: it refuses to be root."""
    if os.geteuid() != 0:
        return {}
    owner = pwd.getpwnam("postgres")
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


@contextmanager
def database():
    """The URL of a new server's database. The server's folder lies where another user than root may get to."""
    base = Path(tempfile.mkdtemp(prefix="sightline-pg-"))
    base.chmod(0o755)
    with server(base / "pg") as url:
        yield url
    shutil.rmtree(base)
