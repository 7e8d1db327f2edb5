"""An MCP server with tools that read and write files, over stdio: the standard library alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NAME = "files"

TOOLS = {
    "read_text_file": ("path", "head"),
    "read_numbered": ("path",),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old", "new"),
    "move_file": ("path", "to"),
}
"""Tool -> its parameters, as the file servers in use name them."""


def call(tool: str, given: dict[str, Any]) -> str:
    """Carry out a tool; the text that the model is given."""
    file = Path(given["path"])
    if tool == "write_file":
        file.write_text(given["content"], encoding="utf-8")
        return f"Successfully wrote to {file}"
    if tool == "move_file":
        file.rename(given["to"])
        return f"Successfully moved {file} to {given['to']}"
    text = file.read_text(encoding="utf-8")
    if tool == "edit_file":
        if given["old"] not in text:
            raise OSError(f"No such text in {file}")
        file.write_text(text.replace(given["old"], given["new"], 1), encoding="utf-8")
        return f"Edited {file}"
    lines = text.splitlines(keepends=True)
    if tool == "read_numbered":
        return "".join([f"{number}: {line}" for number, line in enumerate(lines, 1)])
    return "".join(lines[: given.get("head")])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        about = {"name": NAME, "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [_described(name, fields) for name, fields in TOOLS.items()]}
    if method != "tools/call":
        return {}
    try:
        text, failed = call(params["name"], params.get("arguments") or {}), False
    except OSError as error:
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def _described(name: str, fields: tuple[str, ...]) -> dict[str, Any]:
    kinds = {field: {"type": "number" if field == "head" else "string"} for field in fields}
    needed = [field for field in fields if field != "head"]
    schema = {"type": "object", "properties": kinds, "required": needed}
    return {"name": name, "description": name, "inputSchema": schema}


def main() -> None:
    """Answer the requests on stdin until it ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            found = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
