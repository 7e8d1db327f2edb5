"""Sub-tasks: parts of the work that are delegated, run durably, and brought back together.

The timeline of the parent session holds every state; an engine only schedules the attempts.
"""

PUBLIC = (
    *("carry_out", "conflicts", "dbos_engine", "dependency_graph", "proposals", "registry"),
    *("runners", "scope", "subtask", "transitions", "words"),
)

PURE = ("dependency_graph", "subtask", "subtask_fold", "transitions")
