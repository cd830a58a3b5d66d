"""Nothing of this package replaces an attribute of another package while f runs.

ruff refuses the other ways to watch f: `gc`, `copyreg`, frames and reference counts (`banned-api`
in pyproject.toml).
"""

import ast
from pathlib import Path

import pytest

import adinterface

ROOT = Path(adinterface.__file__).parent.parent
ENGINES = ("jax", "torch", "autograd", "finite")
#: Repairs of an engine may replace what it gets wrong; NumPy code is exempt from the rule.
EXEMPT = {"numpy_code", "repairs"}
FILES = {
    str(path.relative_to(ROOT)): path
    for folder in ("adinterface", *[f"backends/adinterface_{name}" for name in ENGINES])
    for path in (ROOT / folder).rglob("*.py")
    if not EXEMPT.intersection(path.relative_to(ROOT).parts)
}


def foreign(tree):
    """The names by which a file knows modules and objects of other packages."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {
                (alias.asname or alias.name).partition(".")[0]
                for alias in node.names
                if "adinterface" not in alias.name
            }
        elif (
            isinstance(node, ast.ImportFrom)
            and not node.level
            and "adinterface" not in str(node.module)
        ):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def root_of(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def replaced(source):
    """What a file assigns to, or deletes from, objects of other packages."""
    tree, found = ast.parse(source), []
    others = foreign(tree)
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = [each for each in node.targets if isinstance(each, ast.Attribute)]
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            targets = [node.target]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            targets = node.args[:1]
        found += [ast.unparse(target) for target in targets if root_of(target) in others]
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_replaces_nothing_of_others(name):
    assert replaced(FILES[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line", ["torch.sin = f", "del torch.nn.Linear", "torch.a.b += 1", "setattr(torch, 'sin', f)"]
)
def test_a_replaced_attribute_is_found(line):
    assert replaced(f"import torch\n{line}") != []
