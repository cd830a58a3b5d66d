"""Nothing of this package watches f: no look at what the interpreter keeps, and no attribute of
others replaced.
"""

import ast
from pathlib import Path

import pytest

import adinterface

ROOT = Path(adinterface.__file__).parent.parent
#: Numpy code follows Python code by its frames, and repairs of an engine may replace what it gets
#: wrong.
EXEMPT = ("numpy_code", "repairs")
MODULES = {"gc", "copyreg"}
NAMES = {
    "sys.getrefcount",
    "sys._getframe",
    "inspect.currentframe",
    "inspect.stack",
    "threading.settrace",
    "sys.settrace",
}
#: What a file may do all the same.
# a warning points at the line of the user
ALLOWED = {"adinterface/core/contract/errors.py": ["uses sys._getframe"]}
FILES = {
    str(path.relative_to(ROOT)): path
    for folder in (
        "adinterface",
        *[f"backends/adinterface_{name}" for name in ("jax", "torch", "autograd", "finite")],
    )
    for path in (ROOT / folder).rglob("*.py")
    if not set(EXEMPT).intersection(path.relative_to(ROOT).parts)
}


def foreign(tree):
    """The names by which a file knows modules, and objects of modules, that are not of this
    package.
    """
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
            and "adinterface" not in (node.module or "")
        ):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def root_of(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def watching(source):
    tree, found = ast.parse(source), []
    others = foreign(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"imports {alias.name}" for alias in node.names if alias.name in MODULES]
        elif isinstance(node, ast.ImportFrom):
            found += [f"imports {node.module}"] * (node.module in MODULES)
            found += [
                f"imports {alias.name}"
                for alias in node.names
                if f"{node.module}.{alias.name}" in NAMES
            ]
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in NAMES:
            found.append(f"uses {ast.unparse(node)}")
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            found += [
                f"replaces {ast.unparse(target)}"
                for target in targets
                if isinstance(target, ast.Attribute) and root_of(target) in others
            ]
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("setattr", "delattr")
            and root_of(node.args[0]) in others
        ):
            found.append(f"replaces an attribute of {ast.unparse(node.args[0])}")
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_watches_nothing(name):
    assert watching(FILES[name].read_text(encoding="utf-8")) == ALLOWED.get(name, [])
