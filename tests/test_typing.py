"""Precise types: what mypy says of an operator's result is what it returns."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import adinterface

STUB = Path(adinterface.__file__).parent / "operators" / "signatures.pyi"

HEAD = """# Written by tests/test_typing.py: python tests/test_typing.py
# mypy: disable-error-code="overload-overlap"
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload

from ..contract.auto import AutoBackend
from ..tree import Constant
from .gradient import ValueAndGradient

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
"""

PROTOCOL = """
class {name}(Protocol):
    __name__: str
"""

OVERLOAD = """\
    @overload
    def __call__(self, f: Callable[..., Any], backend: AutoBackend, /, {parameters}**kwargs: Any) -> {result}: ...
"""

#: The type of an argument and of its gradient, most precise first; a type variable stands for every other type.
ENTRIES = (("Constant", "None"), ("int", "float"), (None, None))


def signatures() -> str:
    """The stub: every combination of argument types for one to four arguments, and a loose one beyond."""
    text = HEAD
    for name, wrap in (("GradientOperator", "{}"), ("ValueAndGradientOperator", "ValueAndGradient[{}]")):
        text += PROTOCOL.format(name=name)
        for count in range(1, 5):
            for entries in itertools.product(ENTRIES, repeat=count):
                filled = [entry if entry[0] else (variable, variable) for entry, variable in zip(entries, "ABCD")]
                parameters = "".join(f"x{i}: {argument}, " for i, (argument, _) in enumerate(filled))
                result = f"tuple[{', '.join(gradient for _, gradient in filled)}]"
                text += OVERLOAD.format(parameters=f"{parameters}/, ", result=wrap.format(result))
        text += OVERLOAD.format(parameters="*args: Any, ", result=wrap.format("tuple[Any, ...]"))
    return text.replace("backend: AutoBackend, /, x0", "backend: AutoBackend, x0")


def test_the_overloads_are_those_that_this_file_writes():
    assert STUB.read_text(encoding="utf-8") == signatures()


SAMPLE = """
from typing import Any, assert_type
import numpy as np
from numpy.typing import NDArray
from adinterface import AutoFiniteDifferences, Constant, diagonal_hessian, gradient, value_and_gradient

B = AutoFiniteDifferences()
x: NDArray[np.float64] = np.ones(2)
model: dict[str, float] = {"w": 1.0}

def f(*args: Any) -> Any:
    return args[0]

assert_type(gradient(f, B, 1.0), tuple[float])
assert_type(gradient(f, B, 1), tuple[float])
assert_type(gradient(f, B, x), tuple[NDArray[np.float64]])
assert_type(gradient(f, B, model), tuple[dict[str, float]])
assert_type(gradient(f, B, model, Constant(x)), tuple[dict[str, float], None])
assert_type(gradient(f, B, Constant(1), 2, x), tuple[None, float, NDArray[np.float64]])
assert_type(gradient(f, B, x, 1, Constant(1), model, scale=2.0), tuple[NDArray[np.float64], float, None, dict[str, float]])
assert_type(gradient(f, B, x, x, x, x, x), tuple[Any, ...])
assert_type(value_and_gradient(f, B, x, Constant(1)).gradient, tuple[NDArray[np.float64], None])
assert_type(diagonal_hessian(f, B, 1, 2.0), tuple[float, float])
"""

WRONG = """
from adinterface import AutoFiniteDifferences, gradient
gradient(lambda x: x, AutoFiniteDifferences)
gradient(lambda x: x, "jax", 1.0)
gradient(AutoFiniteDifferences(), lambda x: x, 1.0)
"""


def mypy(tmp_path: Path, code: str) -> str:
    sample = tmp_path / "sample.py"
    sample.write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(sample)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def shared_path(tmp_path_factory):
    return tmp_path_factory.mktemp("typing")


def test_results_have_precise_types(shared_path):
    assert mypy(shared_path, SAMPLE).startswith("Success")


def test_a_wrong_order_or_a_string_for_a_backend_is_a_type_error(shared_path):
    assert mypy(shared_path, WRONG).count("No overload variant") == 3


if __name__ == "__main__":
    STUB.write_text(signatures(), encoding="utf-8")
