"""Take the secrets out of a shell command, for facts and texts that stay."""

from __future__ import annotations

import re

HIDDEN = "[secret]"
"""What stands in the place of a secret."""

NAME = r"[\w.-]*(?:secret|token|passw(?:or)?d|passphrase|pwd|api_?-?key|access_?-?key|private_?-?key|_key|credential|auth)[\w.-]*"
"""The name of a variable, an option or a field that holds a secret."""

VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'&;|]+)"""

FORMS = (
    (r"(?i)((?:proxy-)?authorization|cookie)(\s*[:=]\s*)[^\"'\n]+", r"\1\2" + HIDDEN),
    (
        r"(?i)\b(x-[\w-]*(?:key|token|auth)|private-token|api-key)(\s*:\s*)[^\s\"']+",
        r"\1\2" + HIDDEN,
    ),
    (r"(\w+://)[^\s/@\"']+@", r"\1" + HIDDEN + "@"),
    (rf"(?i)(?<![\w.-])(--?{NAME})([ =]){VALUE}", r"\1\2" + HIDDEN),
    (rf"(?i)(?<![\w.-])({NAME})(=){VALUE}", r"\1\2" + HIDDEN),
    (rf"(?i)([\"']{NAME}[\"']\s*:\s*){VALUE}", r"\1" + HIDDEN),
    (rf"(?<!\S)(-u|--user|--proxy-user)([ =]?)([\"']?[^\s:\"']+):{VALUE}", r"\1\2\3:" + HIDDEN),
    (
        (
            r"\b(?:sk|pk|rk)[-_][\w-]{16,}|\bgh[opsur]_\w{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
            r"|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]+"
            r"|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?|\bnpm_\w{20,}|\bpypi-[\w-]{20,}|\bhf_\w{20,}"
            r"|\bdop_v1_\w{20,}|\bSG\.[\w-]{10,}\.[\w-]+|\bshp(?:at|ca|pa|ss)_\w{20,}"
        ),
        HIDDEN,
    ),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", HIDDEN),
)
"""Known forms of secrets, each with its replacement."""

_FORMS = tuple((re.compile(pattern), instead) for pattern, instead in FORMS)
_WORD = re.compile(r"[A-Za-z0-9+_=-]{20,}")
_TURN = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_COMMIT = re.compile(r"[0-9a-f]{40}")

TURNS = 4
"""Changes between letters and digits that make a long word random: names have fewer."""

LENGTH_MAX = 20_000
"""Characters of a command that are looked through; the rest is left out."""


def without_secrets(command: str) -> str:
    """Return a command with [secret] for every secret of a known form, and for long random words. The
    id of a commit stays."""
    text = command[:LENGTH_MAX]
    for pattern, instead in _FORMS:
        text = pattern.sub(instead, text)
    return _WORD.sub(lambda found: HIDDEN if _is_random(found[0]) else found[0], text)


def _is_random(word: str) -> bool:
    return len(_TURN.findall(word)) >= TURNS and not _COMMIT.fullmatch(word)
