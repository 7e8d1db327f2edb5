"""Who recognises a full context window by the provider's error: three generations of published rules
beside ours.

    python bench/overflow.py [--json]

The errors are those of tests/window/provider_errors.py. Each set of rules gets an error in the
shape that its own SDK would raise. Right is an overflow that is called one, and anything else that is not;
an answer without room is left out, because the rules have no word for it. Exits 1 when ours are wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [ROOT, os.path.join(ROOT, "src")]

from tests.window.provider_errors import OTHERS, OVERFLOWS  # noqa: E402

from sightline.window.overflow import classify_error  # noqa: E402

Raised = dict[str, Any]


def raised(error: Any, status: int | None) -> Raised:
    """Return an error as an SDK raises it: its status, its message, and the body below `error`."""
    if not isinstance(error, dict):
        return {"status": status, "message": error or ""}
    inner = error.get("error") if isinstance(error.get("error"), dict) else error
    assert inner is not None
    return {
        "status": status if status is not None else inner.get("status"),
        "code": inner.get("code"),
        "message": inner.get("message") or inner.get("Message") or "",
        "error": error,
        "statusCode": status,
        "responseBody": json.dumps(error),
    }


def _says(text: Any, *patterns: str) -> bool:
    return any(re.search(pattern, str(text or ""), re.IGNORECASE) for pattern in patterns)


def _within(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def cline_3(error: Raised) -> bool:
    """Cline 3.89: any invalid request of Anthropic; a code, or words beside the status 400."""
    if _within(error, "error", "error", "type") == "invalid_request_error":
        return True
    if error.get("code") == "context_length_exceeded":
        return True
    words = (
        r"context\s*(length|window)",
        "input tokens exceed",
        "too many tokens",
        "maximum context",
    )
    return str(error.get("status")) == "400" and _says(error["message"], *words)


def roo(error: Raised) -> bool:
    """Roo Code 3.52: words beside the status 400, and more words in Anthropic's invalid requests."""
    words = (r"\bcontext\s*(?:length|window)\b", r"\bmaximum\s*context\b", r"\b(?:input\s*)?tokens?\s*exceed", r"\btoo\s*many\s*tokens?\b")  # fmt: skip
    more = (r"\btoken\s*limit\b", r"maximum\s*(?:context\s*)?(?:length|tokens)", r"prompt\s*is\s*too\s*long", r"input\s*is\s*too\s*long", r"content\s*size\s*exceeds", r"request\s*too\s*large")  # fmt: skip
    status = error.get("status") or error.get("code")
    if str(status) == "400" and _says(error["message"], *words):
        return True
    if error.get("statusCode") == 400 and _says(error["message"] + str(error.get("responseBody")), *words, *more):  # fmt: skip
        return True
    if str(error.get("code")) == "400" and _says(error["message"], "token", "context length"):
        return True
    if _within(error, "error", "error", "type") != "invalid_request_error":
        return False
    own = ("prompt is too long", "maximum.*tokens", "context.*too.*long", "exceeds.*context", "token.*limit", "context_length_exceeded", "max_tokens_to_sample")  # fmt: skip
    return _says(_within(error, "error", "error", "message"), *own)


NESTED = ("message", "detail", "error_message", "error", "errors", "cause", "responseBody", "data", "value", "param")  # fmt: skip
CLINE_4 = (r"\bcontext\s*(?:length|window|limit)\b", r"\bmaximum\s*context\b", r"\b(?:input\s*)?tokens?\s+exceeds?\b", r"\btoo\s*many\s*tokens?\b", r"\binput\s+is\s+too\s+long\b", r"\bprompt\s+is\s+too\s+long\b", r"reduce\s+the\s+length\s+of\s+the\s+messages\s+or\s+completion", r"requested\s+input\s+length\s+.*exceeds\s+.*maximum")  # fmt: skip


def cline_4(error: Raised) -> bool:
    """Cline 4: nested objects to a depth of 8, JSON in texts, a veto for rates, three statuses."""
    texts: list[str] = []
    statuses: set[int] = set()
    codes: set[str] = set()

    def walk(value: Any, depth: int) -> None:
        if value is None or depth > 8:
            return
        if isinstance(value, str):
            texts.append(value)
            with contextlib.suppress(ValueError):
                walk(json.loads(value), depth + 1) if value.lstrip()[:1] in ("{", "[") else None
        elif isinstance(value, list):
            for each in value:
                walk(each, depth + 1)
        elif isinstance(value, dict):
            numbers = (value.get(name) for name in ("status", "statusCode", "code"))
            named = map(str, numbers)
            statuses.update(int(n) for n in named if n.isdigit() and len(n) == 3)
            names = (value.get(name) for name in ("code", "type", "name"))
            codes.update(name for name in names if isinstance(name, str))
            for name in NESTED:
                walk(value.get(name), depth + 1)

    walk(error, 0)
    if "context_length_exceeded" in codes:
        return True
    if statuses & {401, 403, 429} or any(_says(text, r"rate[\s_-]?limit", r"per[\s_-]?minute\b") for text in texts):  # fmt: skip
        return False
    if statuses and not statuses & {400, 413, 422}:
        return False
    return any(_says(text, *CLINE_4) for text in texts)


RULES: dict[str, Callable[[Any, int | None], bool]] = {
    "Cline 3.89": lambda error, status: cline_3(raised(error, status)),
    "Roo Code 3.52": lambda error, status: roo(raised(error, status)),
    "Cline 4.1": lambda error, status: cline_4(raised(error, status)),
    "Sightline": lambda error, status: classify_error(error, status).kind == "overflow",
}


def main() -> int:
    """Run and print; return the exit status."""
    overflows = {name: row[:2] for name, row in OVERFLOWS.items()}
    others = {name: row[:2] for name, row in OTHERS.items() if row[2] != "overflow_output"}
    rows = []
    for name, rule in RULES.items():
        missed = [each for each, (error, status) in overflows.items() if not rule(error, status)]
        taken = [each for each, (error, status) in others.items() if rule(error, status)]
        rows.append({"rules": name, "overflows": len(overflows), "missed": missed, "others": len(others), "taken": taken})  # fmt: skip
    if "--json" in sys.argv:
        print(json.dumps({"schema": 1, "rows": rows}))
    else:
        print(f"| rules | missed of {len(overflows)} overflows | taken for one, of {len(others)} other errors |")  # fmt: skip
        print("|---|--:|--:|")
        for row in rows:
            print(f"| {row['rules']} | {len(row['missed'])} | {len(row['taken'])} |")  # type: ignore[arg-type]
    ours = rows[-1]
    return 1 if ours["missed"] or ours["taken"] else 0


if __name__ == "__main__":
    sys.exit(main())
