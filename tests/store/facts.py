"""Facts to test with: one of every kind, and strategies that make any."""

from __future__ import annotations

from hypothesis import strategies as st

from sightline.model import events
from sightline.model.events import FACTS, Belief, Cause, Fact
from sightline.model.spans import spans

A, B, C = "a" * 64, "b" * 64, "c" * 64
BELIEF = Belief(A, ((1, 200), (310, 320)), ((1, 200),), 400)
CAUSE = Cause("command", "s1", None, "likely", "guess", C)

EXAMPLES: list[Fact] = [
    events.SessionStarted("claude-code", "s0", 7),
    events.SessionForked("s0", 12),
    events.SessionEnded("stopped"),
    events.TurnBegan(3),
    events.ModelUsed("anthropic", "some-model", "plan"),
    events.EnvironmentSeen("linux", "3.11.7", "vscode", "1.99"),
    events.Seen("src/ä.py", A, ((1, 200),), "read", BELIEF, "link.py"),
    events.Dropped("src/a.py", ((5, 9),)),
    events.WindowEmptied(),
    events.WriteIntended("src/a.py", A, B, (".a.py.x1.new",), "host:12:345", BELIEF, "src/o.py"),
    events.WriteAbandoned("src/a.py", 9),
    events.BatchEnded("b1", "mixed", ("src/a.py", "x")),
    events.Changed("src/a.py", A, B, "content", CAUSE, 0o644, BELIEF, 9),
    events.Moved("src/b.py", "src/a.py", B, CAUSE, 9),
    events.GitMoved(A[:40], B[:40], "checkout", ("x", "y/z")),
    events.StashDropped(A[:40]),
    events.CommandStarted(C, "run 4"),
    events.CommandEnded("run 4", 1, ("out.txt",)),
    events.Refused("src/a.py", "edit", "stale", C),
    events.Merged("src/a.py", A, B, C),
    events.NoticeDelivered(
        *("notice", "request", ("x", "y")),
        (events.Told("x", A, ((1, 2, 1, 3),), 7, refusal=True, whole=True),),
        *("n1", "0a1b"),
    ),
    events.NoticeAcknowledged("n1", "x", BELIEF),
    events.ClaimAnnounced("k1"),
    events.PartHanded("registry", A),
    events.Delivered("registry", A),
    events.AnswerGiven(A, 3, (0, 2), 4, 1),
    events.ListingRequested("src", recursive=True, filter="*.py", depth=2, limit=20),
    events.CheckpointTaken("c1", "before the refactoring", A, "m4"),
    events.CheckpointDropped("c1", "size"),
    events.CheckpointMissed("before src/a.py", "turn", "the disk is full"),
    events.RewindStarted("c1", 20),
    events.RewindEnded(20),
    events.MessageAppended("m5", "m4", "user"),
    events.Folded("m5", (0, 2)),
    events.Condensed("m9", "m1", "m8"),
    events.CondenseFailed("the answer was empty", "explore"),
    events.RequestMeasured("m5", 190_000, 213_462, 200_000, True, "claude-sonnet-4-5", "explore"),
    events.ClaimTaken("k1", ("x", "y"), 1_700_000_000_000_000, exclusive=False),
    events.ClaimRenewed("k1", 1_700_000_000_000_001),
    events.ClaimReleased("k1"),
    events.WarningRaised("w1", "two agents in one tree", ("x",)),
    events.WarningAcknowledged("w1"),
    events.SubtaskProposed("t2", "write the docs", ("README.md",), ("t1",)),
    events.SubtaskApproved("t2", "setting"),
    events.SubtaskStarted("t2", "s7"),
    events.SubtaskReported("t2", 2, A, (B, C)),
    events.SubtaskReturned("t2", 2, "exit code 1", is_lost=True),
    events.SubtaskEnded("t2", "done", "all good"),
    events.SubtaskRetried("t2"),
    events.FilesSought(("src/a.ts", "**/a.ts"), 0, 2, 3, ("src/a.py",)),
    events.Imported("cline", A),
    events.TranscriptRead("/home/ada/s1.jsonl", 12, is_whole=True),
    events.PromptFollowed("/home/ada/s1.jsonl", 12, "p1", is_sure=False),
    events.FolderAdded("/home/ada/notes"),
    events.SightLost("watcher overflow", ("src",)),
    events.BlobPurged(A, "secret"),
]
"""One fact of each kind, every field of its first days with something other than its default."""

names = st.one_of(
    st.sampled_from(["src/a.py", "b.txt", "ä/ö.md", "odd\udcff\udc80name", "has 'quote' -1,2"]),
    st.text(st.characters(), max_size=12),  # surrogates and NUL as well
)
numbers = st.integers(0, 2**53)
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)
revisions = st.one_of(st.sampled_from([A, B, C, "missing", "unknown"]), hashes)
pairs = st.tuples(st.integers(1, 500), st.integers(0, 50)).map(lambda p: (p[0], p[0] + p[1]))
line_spans = st.lists(pairs, max_size=4).map(spans)
beliefs = st.builds(Belief, revisions, line_spans, line_spans, numbers)
causes = st.builds(
    Cause,
    st.sampled_from(["agent", "command", "formatter", "git", "session", "external"]),
    st.none() | names,
    st.none() | names,
    names,
    st.none() | st.sampled_from(["named", "watched", "only_writer", "guess"]),
)

hunks = st.tuples(numbers, numbers, numbers, numbers)
tolds = st.builds(
    events.Told,
    names,
    revisions,
    st.none() | st.lists(hunks, max_size=3).map(tuple),
    numbers,
    st.booleans(),
    st.booleans(),
    st.lists(hunks, max_size=2).map(tuple),
)

rewrites = st.builds(events.Rewritten, names, revisions, revisions, st.none() | numbers)

BY_ANNOTATION: dict[str, st.SearchStrategy[object]] = {
    "str": names,
    "int": numbers,
    "bool": st.booleans(),
    "Revision": revisions,
    "Spans": line_spans,
    "Belief": beliefs,
    "Cause": causes,
    "BatchOutcome": st.sampled_from(["done", "undone", "mixed"]),
    "DeliveryKind": st.sampled_from(["notice", "change", "refusal"]),
    "DeliveryWay": st.sampled_from(["asked", "call", "request"]),
    "Change": st.sampled_from(["content", "created", "deleted", "mode", "kind"]),
    "tuple[Told, ...]": st.lists(tolds, max_size=3).map(tuple),
    "tuple[Rewritten, ...]": st.lists(rewrites, max_size=3).map(tuple),
    "tuple[Revision, ...]": st.lists(revisions, max_size=3).map(tuple),
    "tuple[tuple[str, Revision], ...]": st.lists(st.tuples(names, revisions), max_size=3).map(
        tuple
    ),
    "tuple[str, ...]": st.lists(names, max_size=4).map(tuple),
    "tuple[int, ...]": st.lists(numbers, max_size=4).map(tuple),
}


def facts_of(kind: type[Fact]) -> st.SearchStrategy[Fact]:
    """Any fact of one kind."""
    fields = []
    for field in kind.__struct_fields__:
        noted = kind.__annotations__[field]
        values = BY_ANNOTATION[noted.removesuffix(" | None")]
        fields.append(st.none() | values if noted.endswith(" | None") else values)
    return st.builds(kind, *fields)


any_fact = st.sampled_from(sorted(FACTS)).flatmap(lambda name: facts_of(FACTS[name]))
