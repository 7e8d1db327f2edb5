"""Write the diagram of a sub-task's states into docs/how-to/subtasks.md, from the function itself.

python tools/subtask_diagram.py [--check]

--check writes nothing, and ends with 1 where the page differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.subtasks.transitions import diagram

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "subtasks.md"
BEGIN, END = "<!-- made by tools/subtask_diagram.py -->\n", "<!-- end -->\n"


def main() -> int:
    """Write the diagram, or compare it."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}```mermaid\n{diagram()}\n```\n{END}{after}"
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif wanted != page:
        print(f"{PAGE.name} is not what the states are. Run: python tools/subtask_diagram.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
