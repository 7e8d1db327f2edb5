"""The tools of coding agents by name: what each does."""

from __future__ import annotations

import re

from sightline.messages.blocks import Deed
from sightline.messages.tool_calls import Call, field

SHELLS = frozenset(
    [
        *("bash", "shell", "shellcommand", "localshell", "execcommand", "executecommand"),
        *("runshellcommand", "runcommand", "runterminalcmd", "runinterminal", "executebash"),
        *("terminal", "runterminalcommand", "powershell", "containerexec"),
    ]
)
EDITORS = frozenset(
    ["strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "fswrite"]
)
"""Tools with several commands, which an argument names."""

EDITOR_COMMANDS: dict[str, Deed] = {"view": "read", "create": "write"}

PATCHES = ("applypatch", "patch")
MOVES = ("movefile", "renamefile")
TASKS = ("taskcreate", "taskupdate")

DEEDS: dict[Deed, tuple[str, ...]] = {
    "read": (
        *("read", "readfile", "view", "readmanyfiles", "notebookread", "viewfile", "openfile"),
        *("fsread", "readfiles", "viewimage", "readtextfile", "getfilecontents", "open"),
    ),
    "edit": (
        *("edit", "multiedit", "notebookedit", "replace", "strreplace", *PATCHES, *MOVES),
        *("editfile", "applydiff", "replaceinfile", "searchreplace", "searchandreplace"),
        *("insertcontent", "editnotebook", "replacestringinfile", "inserteditintofile"),
        *("multireplacestringinfile", "replacefilecontent", "multireplacefilecontent"),
        *("editnotebookfile", "applychanges", "deletefile", "fsappend", "editedexistingfile"),
        *("filedeleted", "applieddiff"),
    ),
    "write": (
        *("write", "create", "writefile", "writetofile", "createfile", "newrule", "savefile"),
        "newfilecreated",
    ),
    "search": (
        *("grep", "searchfiles", "searchfilecontent", "grepsearch", "codebasesearch", "search"),
        *("rg", "semanticsearch", "findinfiles", "searchcode", "searchtext", "codesearch"),
        *("searchdir", "searchfile", "toolsearch", "lsp"),
    ),
    "list": (
        *("glob", "ls", "list", "listdir", "listfiles", "listdirectory", "findfile", "filesearch"),
        *("listcodedefinitionnames", "globfilesearch", "findbyname", "findfiles"),
    ),
    "run": ("bashoutput", "killshell", "writestdin", "taskoutput", "killbash", "readbash"),
    "web": (
        *("webfetch", "websearch", "googlewebsearch", "fetch", "browseraction", "fetchurl"),
        *("fetchwebpage", "readurlcontent", "searchweb"),
    ),
    "plan": (
        *("todowrite", "todoread", "updateplan", "exitplanmode", "enterplanmode", "plan", *TASKS),
        *("updatetodolist", "writetodos", "askuserquestion", "askuser", "askfollowupquestion"),
        *("attemptcompletion", "skill", "tasklist", "taskget", "planmoderespond", "switchmode"),
        *("newtask", "reportintent", "useskill", "question", "activateskill", "savememory"),
        *("think", "finish", "submit", "requestuserinput"),
    ),
}
_DEED_BY_NAME = {name: deed for deed, names in DEEDS.items() for name in names}


def plain_name(name: str) -> str:
    """Return a tool's name without its server's, in lower case, with letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", re.split(r"__|[./:]", name)[-1].lower())


def deed_of(call: Call) -> Deed:
    """Return what a call's tool does; "run" for a shell, "other" for an unknown tool."""
    name = plain_name(call.name)
    if name in SHELLS:
        return "run"
    if name in EDITORS:
        return EDITOR_COMMANDS.get(str(field(call.arguments, "command", "action")), "edit")
    return _DEED_BY_NAME.get(name, "other")
