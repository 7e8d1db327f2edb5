"""Check proposals of sub-tasks, and order them by their dependencies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sightline.errors import SubtaskError, SubtaskProblem

ID_MAX = 64
GOAL_MAX = 20_000
PROPOSED_MAX = 1_000
FILES_MAX = 100
"""Limits of an id (characters), a goal (characters), one proposal (sub-tasks), and one sub-task (files,
patterns of its scope)."""

NAMED = 8
"""Sub-tasks of a cycle that its error names."""

HINT = "Correct the proposal and make it again: nothing was recorded."


class Proposal(Struct, frozen=True):
    """A sub-task as somebody proposes it. files: paths or patterns; the rest as in
    model.events.SubtaskProposed.

    id: a name of your choice; goal: what is to be done; dependencies: ids that must be completed
    before; scope: paths or patterns that it may write, () for all; auto_execute: begin without
    approval where the settings allow that; budget: tokens at most.
    """

    id: str
    goal: str
    files: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    auto_execute: bool = False
    budget: int | None = None


class Problem(Struct, frozen=True):
    """A reason to refuse a proposal. number: of the proposal, from 0 on; field: of the proposal, as
    "dependencies[0]"; subtask: its id."""

    number: int
    field: str
    kind: SubtaskProblem
    subtask: str
    message: str


def find_problems(proposals: Sequence[Proposal], known: Mapping[str, object]) -> list[Problem]:
    """Return every reason to refuse these proposals, in order. known: ids of earlier sub-tasks, on
    which proposals may depend."""
    problems: list[Problem] = []
    first: dict[str, int] = {}
    if len(proposals) > PROPOSED_MAX:
        text = f"A proposal has at most {PROPOSED_MAX:,} sub-tasks, not {len(proposals):,}."
        return [Problem(0, "", "invalid", "", text)]
    for number, each in enumerate(proposals):
        add = _adder(problems, number, each.id)
        if each.id in known:
            add("id", "duplicate_id", f"There is a sub-task {each.id!r} already.")
        elif each.id in first:
            text = f"Sub-task {number} has the id of sub-task {first[each.id]}: {each.id!r}."
            add("id", "duplicate_id", text)
        first.setdefault(each.id, number)
        _check_fields(each, add)
    for number, each in enumerate(proposals):
        add = _adder(problems, number, each.id)
        for place, name in enumerate(each.dependencies):
            field = f"dependencies[{place}]"
            if name == each.id:
                add(field, "self_dependency", f"Sub-task {name!r} depends on itself.")
            elif name not in first and name not in known:
                text = f"Sub-task {each.id!r} depends on {name!r}, which does not exist."
                add(field, "unknown_dependency", text)
    edges = {each.id: [d for d in each.dependencies if d != each.id] for each in proposals}
    for cycle in find_cycles(edges):
        shown = [*cycle[:NAMED], *(["…"] if len(cycle) > NAMED else []), cycle[0]]
        add = _adder(problems, first[cycle[0]], cycle[0])
        add("dependencies", "cycle", f"Sub-tasks wait for each other: {' → '.join(shown)}.")
    return problems


def _check_fields(each: Proposal, add: Callable[[str, SubtaskProblem, str], None]) -> None:
    """Add what is wrong with a proposal by itself."""
    if not each.id.strip() or not each.id.isprintable() or len(each.id) > ID_MAX:
        text = (
            f"{each.id!r:.80} is no id of a sub-task: an id has 1 to {ID_MAX} printable characters."
        )
        add("id", "invalid_id", text)
    if not each.goal.strip():
        add("goal", "empty_goal", f"Sub-task {each.id!r} has no goal.")
    elif len(each.goal) > GOAL_MAX:
        add("goal", "invalid", f"The goal of {each.id!r} has more than {GOAL_MAX:,} characters.")
    for field in ("files", "scope"):
        if len(getattr(each, field)) > FILES_MAX:
            add(field, "invalid", f"Sub-task {each.id!r} names more than {FILES_MAX} {field}.")
    if each.budget is not None and each.budget < 1:
        add("budget", "invalid", f"The budget of {each.id!r} is 1 token or more.")


def _adder(
    problems: list[Problem], number: int, subtask: str
) -> Callable[[str, SubtaskProblem, str], None]:
    def add(field: str, kind: SubtaskProblem, message: str) -> None:
        problems.append(Problem(number, field, kind, subtask, message))

    return add


def error_of(problems: Sequence[Problem]) -> SubtaskError:
    """Return the error of these problems, one at least."""
    first = problems[0]
    return SubtaskError(
        first.kind,
        first.subtask,
        "\n".join(each.message for each in problems),
        HINT,
        tuple((each.kind, each.subtask, each.message) for each in problems),
    )


def find_cycles(edges: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Yield one cycle of each group of nodes that wait for each other. edges: node -> the nodes that
    it waits for; others are passed over."""
    left = set(edges).difference(topological(edges))
    while left:
        node, path, at = next(name for name in edges if name in left), list[str](), dict[str, int]()
        while node not in at:  # every node that is left waits for another one that is left
            at[node] = len(path)
            path.append(node)
            node = next(name for name in edges[node] if name in left)
        yield path[at[node] :]
        members = set(path)
        rest = {name: edges[name] for name in left - members}
        left = set(rest).difference(topological(rest))


def topological(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the nodes, each behind the nodes that it waits for, else in the order of `edges`. Nodes of
    cycles, and nodes that wait for a cycle, are left out."""
    waits = {
        name: len({each for each in before if each in edges}) for name, before in edges.items()
    }
    followers = dependants(edges)
    ready = deque(name for name, count in waits.items() if not count)
    order: list[str] = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for follower in followers.get(name, ()):
            waits[follower] -= 1
            if not waits[follower]:
                ready.append(follower)
    return order


def dependants(edges: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return the waiting nodes of each node, each once, in order."""
    followers: dict[str, list[str]] = {}
    for name, before in edges.items():
        for each in dict.fromkeys(before):
            followers.setdefault(each, []).append(name)
    return followers
