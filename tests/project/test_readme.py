"""The README's Python runs as printed, and gives the results that it shows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def statements(block: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """Each statement with the result shown for it, in a comment behind its last line or below
    it.
    """
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        assert statement.end_lineno is not None
        assert statement.end_col_offset is not None
        behind = lines[statement.end_lineno - 1][statement.end_col_offset :].strip()
        below = lines[statement.end_lineno] if statement.end_lineno < len(lines) else ""
        comment = behind or (below if below.startswith("#") else "")
        yield statement, comment.removeprefix("#").strip() or None


def run(block: str, namespace: dict[str, Any]) -> int:
    """Execute a block and compare what it shows; returns how many results it showed."""
    shown = 0
    for statement, expected in statements(block):
        if isinstance(statement, ast.Expr):
            result = eval(compile(ast.Expression(statement.value), "README.md", "eval"), namespace)
            assert repr(result) == expected, ast.unparse(statement)
            shown += 1
        else:
            exec(compile(ast.Module([statement], []), "README.md", "exec"), namespace)
    return shown


def test_code_blocks_give_what_they_show() -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    assert sum([run(block, namespace) for block in BLOCKS]) >= 5
