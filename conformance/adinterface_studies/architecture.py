"""`python -m adinterface_studies architecture`: draw the folders of `adinterface` and their
imports, for docs/architecture.md.

The picture is made from the imports alone, late ones included. Imports for types alone are left out
of no count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import adinterface

ROOT = Path(adinterface.__file__).parent.parent
PICTURE = ROOT / "docs" / "_static" / "architecture.svg"

#: The folders in the order of the layers, from the top.
LAYERS = (
    ("tools", "fit", "integrations", "namespaces", "batching"),
    ("scipy", "sparse"),
    ("rules", "numpy_code"),
    ("core",),
)
FOLDERS_OF_CORE = ("operators", "call", "derive", "tree", "contract", "support")


class Arrow(NamedTuple):
    """A folder that imports another one."""

    importer: str
    imported: str


def arrows(inside: str = "adinterface") -> set[Arrow]:
    """The arrows between the folders of `adinterface`, or of another package of it such as
    `adinterface.core`.
    """
    folder = ROOT.joinpath(*inside.split("."))
    found: set[Arrow] = set()
    for path in sorted(folder.rglob("*.py")):
        importer = path.relative_to(folder).parts[0]
        if importer.endswith(".py"):
            continue
        for module in _imported(path):
            if module.startswith(f"{inside}."):
                imported = module.removeprefix(f"{inside}.").partition(".")[0]
                if imported != importer and (folder / imported).is_dir():
                    found.add(Arrow(importer, imported))
    return found


def _imported(path: Path) -> Iterator[str]:
    package = [*path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def picture() -> str:
    """The picture as SVG."""
    boxes = _boxes()
    lines = [
        (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 620" font-family="sans-serif"'
            ' font-size="15">'
        ),
        "<title>The folders of adinterface; an arrow points to what a folder imports</title>",
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7"'
            ' markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z"'
            ' fill="#55677d"/></marker></defs>'
        ),
        '<rect x="20" y="290" width="680" height="310" rx="8" fill="#f3f6fa" stroke="#9fb0c3"/>',
        '<text x="36" y="314" fill="#33475b">core</text>',
    ]
    for arrow in sorted(arrows()):
        if arrow.imported == "core":
            x, y = boxes[arrow.importer]
            lines.append(_line(x + 60, y + 40, x + 60, 290))
        else:
            lines.append(_between(boxes[arrow.importer], boxes[arrow.imported]))
    for arrow in sorted(arrows("adinterface.core")):
        lines.append(_between(boxes[f"core.{arrow.importer}"], boxes[f"core.{arrow.imported}"]))
    for name, (x, y) in boxes.items():
        lines.append(
            f'<rect x="{x}" y="{y}" width="120" height="40" rx="6" fill="white" stroke="#33475b"/>'
        )
        lines.append(
            f'<text x="{x + 60}" y="{y + 25}" text-anchor="middle"'
            f' fill="#1d2b3a">{name.removeprefix("core.")}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _boxes() -> dict[str, tuple[int, int]]:
    boxes: dict[str, tuple[int, int]] = {}
    columns = {
        "tools": 40,
        "fit": 180,
        "integrations": 310,
        "namespaces": 450,
        "batching": 590,
        "scipy": 300,
        "sparse": 460,
    }
    columns |= {"rules": 120, "numpy_code": 380}
    for level, layer in enumerate(LAYERS[:-1]):
        for folder in layer:
            boxes[folder] = columns[folder], 20 + 90 * level
    places = {
        "operators": (180, 310),
        "call": (420, 350),
        "derive": (60, 430),
        "tree": (540, 430),
        "contract": (300, 490),
        "support": (300, 550),
    }
    return boxes | {f"core.{folder}": places[folder] for folder in FOLDERS_OF_CORE}


def _between(upper: tuple[int, int], lower: tuple[int, int]) -> str:
    (x, y), (u, v) = upper, lower
    return _line(x + 60, y + 40, u + 60, v) if v > y + 40 else _line(x + 60, y + 40, u + 60, v + 20)


def _line(x: int, y: int, u: int, v: int) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{u}" y2="{v}" stroke="#55677d" marker-end="url(#tip)"/>'


def main() -> int:
    """Write the picture. The exit status."""
    PICTURE.write_text(picture(), encoding="utf-8")
    inside, outside = len(arrows("adinterface.core")), len(arrows())
    print(
        f"{PICTURE.name}: {outside} arrows between the folders of adinterface, {inside} inside core"
    )
    return 0


__all__ = ["Arrow", "arrows", "main", "picture"]
