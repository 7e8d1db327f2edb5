"""The latency of hooks on this machine, measured in a workspace of their own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sightline.history.doctor import Finding

RUNS = 11
WITHIN_S = 10.0
SLOW_MS = 400

TEXT = "one\ntwo\nthree\n"


def command(hook: Mapping[str, Any], flag: str = "") -> Finding:
    """Ask a command hook RUNS times about an edit, in a workspace and a store of its own.

    flag: the options of the `init` that writes the hook anew.
    """
    line = [hook["command"], *hook.get("args", [])]
    with TemporaryDirectory(prefix="sightline-doctor-") as folder:
        root = os.path.realpath(os.path.join(folder, "workspace"))
        os.makedirs(os.path.join(root, ".git"))
        with open(os.path.join(root, "a.txt"), "w", encoding="utf-8") as file:
            file.write(TEXT)
        environ = {
            **{key: kept for key, kept in os.environ.items() if not key.startswith("SIGHTLINE_")},
            "SIGHTLINE_HOME": os.path.join(folder, "state"),
            "SIGHTLINE_ANSWERER": "off",
            "CLAUDE_PROJECT_DIR": root,
        }
        took = []
        for payload in (_began(root), *[_edit(root)] * RUNS):
            began = perf_counter()
            why = _failure(line, payload, environ, root)
            took.append((perf_counter() - began) * 1_000)
            if why:
                return Finding(
                    "latency", "problem", "fails",
                    {"why": why, "agent": "claude-code", "flag": flag},
                )  # fmt: skip
    return timed(took[1:])  # the first one made the store


def http(hook: Mapping[str, Any]) -> Finding:
    """Ask an http hook RUNS times about an event that it ignores, so nothing is recorded."""
    payload = _payload(os.path.sep, hook_event_name="Nothing")
    took = []
    for _ in range(RUNS):
        began = perf_counter()
        asked = Request(hook["url"], payload, dict(hook.get("headers", {})))  # noqa: S310 - ours
        try:
            with urlopen(asked, timeout=WITHIN_S) as answer:  # noqa: S310 - is_ours: 127.0.0.1
                answer.read()
        except HTTPError as error:
            why = f"{hook['url']} answers {error.code}: {error.read().decode(errors='replace')}"
            error.close()
            return Finding("latency", "problem", "http fails", {"why": why})
        except URLError:
            return Finding("latency", "problem", "not running", {"agent": "claude-code"})
        took.append((perf_counter() - began) * 1_000)
    return timed(took, "answered")


def timed(took_ms: Sequence[float], case: str = "measured") -> Finding:
    """Report the median and the 95th percentile of durations of hook calls."""
    ordered = sorted(took_ms)
    p50, p95 = ordered[len(ordered) // 2], ordered[-(-len(ordered) * 95 // 100) - 1]
    facts = {"p50": round(p50), "p95": round(p95)}
    if p50 > SLOW_MS:
        return Finding("latency", "warning", "slow", facts)
    return Finding("latency", "ok", case, facts)


def _failure(line: list[str], payload: bytes, environ: Mapping[str, str], root: str) -> str:
    """Run a hook once, and return its fault, or ""."""
    try:
        done = subprocess.run(
            line, input=payload, capture_output=True, env=environ, cwd=root, timeout=WITHIN_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no answer within {WITHIN_S:.0f} s"
    except OSError as error:
        return f"it cannot be run: {error.strerror}"
    said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
    if done.returncode or said:
        return f"exit code {done.returncode}, {said or 'nothing said'}"
    try:
        answer = json.loads(done.stdout or b"{}")
    except ValueError:
        return f"it prints no JSON: {done.stdout[:60]!r}"
    return "" if isinstance(answer, dict) else "it prints no JSON object"


def _began(root: str) -> bytes:
    return _payload(root, hook_event_name="SessionStart", source="startup")


def _edit(root: str) -> bytes:
    place = os.path.join(root, "a.txt")
    edit = {"file_path": place, "old_string": "two", "new_string": "2"}
    return _payload(
        root, hook_event_name="PreToolUse", tool_name="Edit", tool_input=edit, tool_use_id="doctor"
    )


def _payload(root: str, **more: object) -> bytes:
    common = {"session_id": "doctor", "cwd": root, "transcript_path": os.path.join(root, "none")}
    return json.dumps({**common, **more}).encode()
