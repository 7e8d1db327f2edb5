"""Sub-tasks: parts of the work that are delegated, run durably, and brought back together.

The timeline of the parent session holds every state; an engine only schedules the attempts.
"""

PUBLIC = (
    "attempt_effects",
    "carry_out",
    "dbos_engine",
    "dependency_graph",
    "proposals",
    "runners",
    "scope",
    "subtask",
    "task_registry",
    "transitions",
    "words",
)

PURE = ("dependency_graph", "subtask", "subtask_fold", "transitions")
