"""What is known of the tools of coding agents: what a call of one does, to which files; what its
result shows of them.
"""

from __future__ import annotations

from sightline.core.calls.call import field
from sightline.core.calls.editing import plain
from sightline.core.formats import excerpts, outputs
from sightline.core.formats.rewriting import paths, rewrites
from sightline.core.formats.shellwork import Work, work
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.calls import Call
    from sightline.core.window.blocks import Deed, Excerpt, Rewrite

SHELLS = frozenset(
    [
        *("bash", "shell", "shellcommand", "localshell", "execcommand", "executecommand"),
        *("runshellcommand", "runcommand", "runterminalcmd", "runinterminal", "executebash"),
        *("terminal", "runterminalcommand", "powershell", "containerexec"),
    ]
)
ORDERED = frozenset(
    ["strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "fswrite"]
)
"""Tools of several commands."""

ORDERS: dict[str, Deed] = {"view": "read", "create": "write"}

DEEDS: dict[str, tuple[str, ...]] = {
    "read": (
        *("read", "readfile", "view", "readmanyfiles", "notebookread", "viewfile", "openfile"),
        *("fsread", "readfiles", "viewimage", "readtextfile", "getfilecontents", "open"),
    ),
    "edit": (
        *("edit", "multiedit", "notebookedit", "replace", "strreplace", "applypatch", "patch"),
        *("editfile", "applydiff", "replaceinfile", "searchreplace", "searchandreplace"),
        *("insertcontent", "editnotebook", "replacestringinfile", "inserteditintofile"),
        *("multireplacestringinfile", "replacefilecontent", "multireplacefilecontent"),
        *("editnotebookfile", "applychanges", "deletefile", "movefile", "renamefile"),
    ),
    "write": (
        *("write", "create", "writefile", "writetofile", "createfile", "newrule", "savefile"),
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
        *("todowrite", "todoread", "updateplan", "exitplanmode", "enterplanmode", "plan"),
        *("updatetodolist", "writetodos", "askuserquestion", "askuser", "askfollowupquestion"),
        *("attemptcompletion", "skill", "taskcreate", "taskupdate", "tasklist", "taskget"),
        *("planmoderespond", "switchmode", "newtask", "reportintent", "useskill", "question"),
        *("activateskill", "savememory", "think", "finish", "submit", "requestuserinput"),
    ),
}
KNOWN: dict[str, Deed] = {name: deed for deed, names in DEEDS.items() for name in names}  # type: ignore[misc]


class Told(Value):
    """What a call says. work: of a command."""

    call: Call
    deed: Deed
    paths: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    work: Work | None = None


def told(call: Call) -> Told:
    """What a call does, as far as its tool is known and its arguments can be read."""
    name = plain(call.name)
    if name in SHELLS:
        done = work(call)
        return Told(call, done.deed, done.paths, done.rewrites, done)
    deed = KNOWN.get(name, "other")
    if name in ORDERED:
        deed = ORDERS.get(str(field(call.arguments, "command")), "edit")
    if deed not in ("read", "edit", "write"):
        return Told(call, deed)
    made = () if deed == "read" else rewrites(call, whole=deed == "write")
    return Told(call, deed, tuple(dict.fromkeys(paths(call))), made)


def shown(told: Told, text: str) -> tuple[Excerpt, ...]:
    """What a result shows of files; nothing where it is not sure."""
    if text.startswith("[File: "):
        return excerpts.window(text)
    if told.work is not None:
        return outputs.shown(told.work, text, trims=told.call.name == "Bash")
    if told.deed != "read" or ("<file>" not in text and len(told.paths) != 1):
        return ()
    return excerpts.shown(told.call, told.paths[0] if told.paths else None, text)


def failed(told: Told, text: str) -> bool:
    """Whether a result says that its call failed, where the format has no word for it."""
    if told.work is not None:
        return outputs.output(text)[1] not in (None, 0)
    head = text[:200].lstrip()
    return head.startswith(("<tool_use_error>", "apply_patch verification failed", "Error: "))
