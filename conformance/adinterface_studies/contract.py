"""`python -m adinterface_studies contract`: the members of the contract, and the names that engines
take from it.

A member is what an engine may define. What is final, or set by the core, is for callers and is no
member.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import adinterface
from adinterface.core import contract

ROOT = Path(adinterface.__file__).parent.parent
#: The classes from which engines derive, and those of which they return instances of their own.
CLASSES = (
    contract.Backend,
    contract.Shortcuts,
    contract.Library,
    contract.LibraryShortcuts,
    contract.NodeType,
    contract.Loops,
)


def members(cls: type) -> list[str]:
    """The members of one class, in their order."""
    hints = {
        name: getattr(hint, "__forward_arg__", hint)
        for name, hint in vars(cls).get("__annotations__", {}).items()
    }
    final = {name for name, hint in hints.items() if "Final" in str(hint)}
    # A property holds its function.
    functions = {
        name: getattr(value, "func", getattr(value, "fget", value))
        for name, value in vars(cls).items()
    }
    final |= {name for name, function in functions.items() if getattr(function, "__final__", False)}
    return [
        name
        for name in {**hints, **vars(cls)}
        if not name.startswith("_") and name not in final | {"gives"}
    ]


def taken(folder: Path = ROOT / "backends") -> Counter[str]:
    """The names that engines import from the contract, each with the number of files."""
    found: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        imports = [
            node
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module == contract.__name__
        ]
        found.update({alias.name for node in imports for alias in node.names})
    return found


def main() -> int:
    """Print both. The exit status."""
    for cls in CLASSES:
        print(f"{cls.__name__:16} {len(members(cls)):3}  {', '.join(members(cls))}")
    print(f"{'all':16} {sum(len(members(cls)) for cls in CLASSES):3}")
    files = taken()
    print(f"\n{len(contract.__all__)} names, with the number of files of engines that import each:")
    print(", ".join([f"{name} {files[name]}" for name in contract.__all__]))
    return 0


__all__ = ["CLASSES", "main", "members", "taken"]
