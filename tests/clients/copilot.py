"""GitHub Copilot CLI itself, headless, against the scripted model, in the workspace of a `Claude`."""

from __future__ import annotations

import subprocess

from tests.clients.claude import DEADLINE_S, Claude, executable

OFFLINE = {
    "COPILOT_OFFLINE": "true",
    "COPILOT_AUTO_UPDATE": "false",
    "COPILOT_PROVIDER_TYPE": "anthropic",
    "COPILOT_PROVIDER_API_KEY": "none",
    "COPILOT_MODEL": "scripted",
}
"""What keeps the client from asking anything but the model."""

ALLOWED = ("--allow-all-tools", "--allow-all-paths", "--trust-folder")


def run(claude: Claude, prompt: str) -> None:
    """Give Copilot CLI one prompt, and wait until it was answered."""
    place = executable("Copilot CLI", "@github/copilot-*/copilot")
    kept = ("PATH", "HOME", "TMPDIR", "SIGHTLINE_HOME")
    environ = {key: value for key, value in claude.environ.items() if key in kept}
    subprocess.run(
        [place, *ALLOWED, "--prompt", prompt],
        cwd=claude.root,
        env=environ | OFFLINE | {"COPILOT_PROVIDER_BASE_URL": claude.model.url},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE_S,
        check=True,
    )
    assert not claude.model.errors, claude.model.errors
