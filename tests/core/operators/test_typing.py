"""Precise types: what mypy says of an operator's result is what it returns."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest
from adinterface_studies.signatures import STUB, signatures

import adinterface
from adinterface.core.contract.registry import REGISTRY

DOCS = Path(__file__).parents[3] / "docs"


def test_the_overloads_are_those_that_this_file_writes():
    assert STUB.read_text(encoding="utf-8") == signatures()


SAMPLE = """
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from adinterface import *
from adinterface import Prepared, ValueAndBack, ValueAndDerivative, ValueAndJacobian, ValueAndTangent, ValueGradientAndHessian

B: AutoBackend = AutoFiniteDifferences()
x: NDArray[np.float64] = np.ones(2)
vector = np.ones(2)  # whose type knows that it has one axis
model: dict[str, float] = {"w": 1.0}

class Tensor:
    ndim = 1
    def __len__(self) -> int: ...

z = Tensor()

def f(*args: Any) -> Any: ...
def number(x: float) -> float: ...
def scalar(t: float) -> np.float64: ...
def loss(x: NDArray[np.float64]) -> float: ...
def mapped(x: NDArray[np.float64]) -> NDArray[np.float64]: ...
def curve(t: float) -> NDArray[np.float64]: ...
def of_tensor(x: Tensor) -> Tensor: ...
def tree_of(t: float) -> dict[str, float]: ...

# for each argument
assert_type(gradient(f, B, 1.0), tuple[float])
assert_type(gradient(f, B, 1), tuple[float])
assert_type(gradient(f, B, x), tuple[NDArray[np.float64]])
assert_type(gradient(f, B, model), tuple[dict[str, float]])
assert_type(gradient(f, B, model, Constant(x)), tuple[dict[str, float], None])
assert_type(gradient(f, B, Constant(1), 2, x), tuple[None, float, NDArray[np.float64]])
assert_type(gradient(f, B, x, "mean", None, True), tuple[NDArray[np.float64], None, None, None])
assert_type(gradient(f, B, x, 1, Constant(1), model, scale=2.0), tuple[NDArray[np.float64], float, None, dict[str, float]])
assert_type(gradient(f, B, x, x, x, x, x), tuple[Any, ...])
assert_type(gradient(lambda x: x.sum(), B, x), tuple[NDArray[np.float64]])
assert_type(value_and_gradient(f, B, x, Constant(1)).gradient, tuple[NDArray[np.float64], None])
assert_type(diagonal_hessian(f, B, 1, 2.0), tuple[float, float])
assert_type(pullback(f, B, x, Constant(1)), ValueAndBack[tuple[NDArray[np.float64], None]])
assert_type(pullback(f, B, x, 1).back(2.0), tuple[NDArray[np.float64], float])
assert_type(pullback(f, B, x, 1).back.stacked(x), tuple[Any, ...])

# by what f returns
assert_type(derivative(number, B, 1), float)
assert_type(derivative(scalar, B, 1.0), float)
assert_type(derivative(curve, B, 1.0), NDArray[np.float64])
assert_type(derivative(tree_of, B, 1.0, Constant(x)), dict[str, float])
assert_type(derivative(of_tensor, B, 1.0), NDArray[Any])
assert_type(derivative(of_tensor, B, z), Tensor)
assert_type(derivative(number, B, z), Tensor)
assert_type(derivative(number, B, np.float64(1.0)), NDArray[Any])
assert_type(derivative(f, B, 1.0), Any)
assert_type(derivative(lambda t: 2 * t, B, 1.0), Any)
assert_type(second_derivative(curve, B, 1.0), NDArray[np.float64])
assert_type(value_and_derivative(number, B, 1.0), ValueAndDerivative[float])
assert_type(value_derivative_and_second_derivative(tree_of, B, 1.0).second_derivative, dict[str, float])
assert_type(jacobian(mapped, B, x), tuple[NDArray[np.float64]])
assert_type(jacobian(mapped, B, vector), tuple[NDArray[np.float64]])
assert_type(jacobian(loss, B, vector), tuple[NDArray[Any]])
assert_type(jacobian(curve, B, 1.0), tuple[NDArray[np.float64]])
assert_type(jacobian(number, B, 1.0), tuple[float])
assert_type(jacobian(of_tensor, B, z), tuple[Tensor])
assert_type(jacobian(of_tensor, B, x), tuple[NDArray[Any]])
assert_type(jacobian(mapped, B, x, Constant(1)), tuple[Any, ...])
assert_type(jacobian(tree_of, B, 1.0), Any)
assert_type(jacobian(f, B, x), Any)
assert_type(value_and_jacobian(mapped, B, x), ValueAndJacobian[NDArray[np.float64], tuple[NDArray[np.float64]]])
assert_type(value_and_jacobian(loss, B, x).value, NDArray[Any])
assert_type(pushforward(mapped, B, (x, Constant(1)), (x, None)), ValueAndTangent[NDArray[np.float64]])
assert_type(pushforward(number, B, (1, 2.0), (1.0, None)).tangent, float)
assert_type(linearize(curve, B, 1.0).push(1.0), NDArray[np.float64])
assert_type(linearize(of_tensor, B, z, Constant(1)).value, Tensor)

# by the argument
assert_type(hvp(f, B, x, x), NDArray[np.float64])
assert_type(hvp(f, B, model, model, Constant(1)), dict[str, float])
assert_type(hvp(f, B, 1, 1), float)
assert_type(gradient_and_hvp(f, B, model, model).gradient, dict[str, float])
assert_type(hessian(f, B, x), NDArray[np.float64])
assert_type(hessian(f, B, vector), NDArray[np.float64])
assert_type(hessian(f, B, np.float32(1.0)), NDArray[np.float32])
assert_type(hessian(f, B, 1), float)
assert_type(hessian(f, B, z), Tensor)
assert_type(hessian(f, B, model), Any)
together = value_gradient_and_hessian(f, B, x)
assert_type(together, ValueGradientAndHessian[NDArray[Any], NDArray[np.float64], NDArray[np.float64]])
assert_type(value_gradient_and_hessian(f, B, 1).value, float)
assert_type(value_gradient_and_hessian(f, B, model).gradient, dict[str, float])

# prepared
fast = prepare(gradient, f, B, x)
assert_type(fast(x), tuple[NDArray[np.float64]])
assert_type(fast(model, 1), tuple[dict[str, float], float])
assert_type(fast.specializations, int)
assert_type(prepare(value_and_gradient, f, B, x)(x).gradient, tuple[NDArray[np.float64]])
assert_type(prepare(diagonal_hessian, f, B, 1)(1), tuple[float])
assert_type(prepare(pullback, f, B, x)(x).back(1.0), tuple[NDArray[np.float64]])
assert_type(prepare(derivative, curve, B, 1.0)(1), NDArray[np.float64])
assert_type(prepare(second_derivative, number, B, 1.0)(1), float)
assert_type(prepare(derivative, lambda t: t, B, 1.0)(1.0), Any)
assert_type(prepare(value_and_derivative, number, B, 1.0)(1).value, float)
assert_type(prepare(value_derivative_and_second_derivative, number, B, 1.0)(1).value, float)
assert_type(prepare(jacobian, mapped, B, x)(x), tuple[NDArray[np.float64]])
assert_type(prepare(jacobian, f, B, x)(x), Any)
assert_type(prepare(value_and_jacobian, mapped, B, x)(x).value, NDArray[np.float64])
assert_type(prepare(pushforward, mapped, B, (x,), (x,))((x,), (x,)).tangent, NDArray[np.float64])
assert_type(prepare(linearize, mapped, B, x)(x).push(x), NDArray[np.float64])
assert_type(prepare(hvp, f, B, model, model)(model, model), dict[str, float])
assert_type(prepare(gradient_and_hvp, f, B, x, x)(x, x).hvp, NDArray[np.float64])
assert_type(prepare(hessian, f, B, x)(x), NDArray[np.float64])
assert_type(prepare(value_gradient_and_hessian, f, B, 1.0)(1.0).hessian, float)
assert_type(fast(Duplicated(x)), tuple[NDArray[np.float64]])

# with buffers
assert_type(Duplicated(model).gradient, dict[str, float])
assert_type(gradient(f, B, Duplicated(model)), tuple[dict[str, float]])
assert_type(gradient(f, B, Duplicated(model), Constant(x))[0], dict[str, float])
assert_type(gradient(f, B, Duplicated(model), Constant(x), Constant(x))[2], None)
assert_type(gradient(f, B, Duplicated(model), x)[0], dict[str, float])
assert_type(gradient(f, B, Constant(x), Duplicated(model), Constant(x))[1], dict[str, float])
assert_type(value_and_gradient(f, B, Duplicated(model)).gradient, tuple[dict[str, float]])
(buffered, _) = gradient(f, B, Duplicated(model), Constant(x))
assert_type(buffered, dict[str, float])

# batched
assert_type(batched(gradient, f, B, Each(x)), tuple[NDArray[np.float64]])
assert_type(batched(gradient, f, B, model), tuple[dict[str, float]])
assert_type(batched(gradient, f, B, 1.0), tuple[NDArray[Any]])
assert_type(batched(gradient, f, B, model, Constant(Each(x)), Constant(Each(x)))[0], dict[str, float])
(each, _, _) = batched(gradient, f, B, model, Constant(Each(x)), Constant(Each(x)))
assert_type(each, dict[str, float])
assert_type(batched(value_and_gradient, f, B, Each(x)).gradient, tuple[NDArray[np.float64]])
assert_type(batched(hvp, f, B, x, Each(x)), NDArray[np.float64])
assert_type(batched(gradient, f, B, x, Each(x), randomness="same"), tuple[Any, ...])
assert_type(batched(hessian, f, B, Each(x)), Any)
assert_type(prepare(batched, gradient, f, B, x, Each(x)), Prepared)

# sparse results
S = AutoSparse(AutoFiniteDifferences())
assert_type(jacobian(mapped, S, x), tuple[Any, ...])
assert_type(jacobian(f, S, x), Any)
assert_type(value_and_jacobian(mapped, S, x).jacobian, tuple[Any, ...])
assert_type(hessian(loss, S, x), Any)
assert_type(value_gradient_and_hessian(loss, S, x).gradient, NDArray[np.float64])
assert_type(gradient(loss, S, x), tuple[NDArray[np.float64]])
assert_type(prepare(jacobian, mapped, S, x), Prepared)
assert_type(prepare(hessian, loss, S, x)(x), Any)

for operator in (gradient, jacobian):
    assert_type(prepare(operator, f, B, x), Prepared)
"""

WRONG_HEAD = """
from adinterface import *

def number(x: float) -> float: ...
"""

CANNOT_BE = 'Value of type variable "{}" of "__call__" of "{}" cannot be "{}"  [type-var]'

#: What mypy says of a wrong call: one line.
WRONG = {
    'gradient(number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "GradientOperator", "str"),
    "gradient(number, AutoFiniteDifferences)": CANNOT_BE.format(
        "AutoBackend", "GradientOperator", "type[AutoFiniteDifferences]"
    ),
    "value_and_gradient(lambda a, b: a, AutoFiniteDifferences, 1.0, 2)": CANNOT_BE.format(
        "AutoBackend", "ValueAndGradientOperator", "type[AutoFiniteDifferences]"
    ),
    "gradient(AutoFiniteDifferences(), number, 1.0)": CANNOT_BE.format(
        "BackendAfterFunction", "GradientOperator", "Callable[[float], float]"
    ),
    'derivative(number, "jax", 1.0)': CANNOT_BE.format(
        "BackendAfterFunction", "DerivativeOperator", "str"
    ),
    'jacobian(lambda x: x, "jax", 1.0)': CANNOT_BE.format(
        "BackendAfterFunction", "JacobianOperator", "str"
    ),
    'hessian(number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "HessianOperator", "str"),
    'prepare(gradient, number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "Prepare", "str"),
    'prepare(derivative, number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "Prepare", "str"),
}


def docs() -> str:
    """The python block of docs/operators.md that this file has mypy check, with what the page
    imports before it.
    """
    page = (DOCS / "operators.md").read_text(encoding="utf-8")
    block = re.search(r"## In a type checker\n.*?```python\n(.*?)```", page, re.S)
    assert block is not None
    return "import numpy as np\nfrom adinterface import *\n" + block[1]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of one run of mypy over the samples, each in a file of its own."""
    folder = tmp_path_factory.mktemp("typing")
    samples = {"sample.py": SAMPLE, "wrong.py": WRONG_HEAD + "\n".join(WRONG), "docs.py": docs()}
    for name, code in samples.items():
        (folder / name).write_text(code, encoding="utf-8")
    options = [
        "--strict",
        "--disable-error-code=empty-body",
        "--no-error-summary",
        "--cache-dir",
        str(folder / "cache"),
    ]
    command = [sys.executable, "-m", "mypy", *options, *(str(folder / name) for name in samples)]
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not output.stderr
    return [line.removeprefix(f"{folder}/") for line in output.stdout.splitlines()]


@pytest.mark.parametrize("name", ["sample.py", "docs.py"])
def test_results_have_precise_types(said, name):
    assert [line for line in said if line.startswith(name)] == []


def test_a_wrong_backend_is_one_line(said):
    first = WRONG_HEAD.count("\n") + 1
    expected = [
        f"wrong.py:{first + n}: error: {message}" for n, message in enumerate(WRONG.values())
    ]
    assert [line for line in said if line.startswith("wrong.py")] == expected


def test_at_run_time_operators_are_plain_functions():
    for name in (
        name for name in adinterface.__all__ if getattr(adinterface, name) in REGISTRY.operators
    ):
        function = getattr(adinterface, name)
        assert type(function) is FunctionType
        assert function.__doc__
        assert inspect.getsource(function).startswith("@typed["), (
            f"{name} has no overloads in _signatures.pyi"
        )
        assert next(iter(inspect.signature(function).parameters)) == "f"
    assert list(inspect.signature(adinterface.prepare).parameters) == [
        "operator",
        "f",
        "backend",
        "example_args",
        "kwargs",
    ]
