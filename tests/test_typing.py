"""Precise types: what mypy says of an operator's result is what it returns."""

import inspect
import itertools
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import pytest

import adinterface
from adinterface.core.operators.operation import OPERATIONS

STUB = Path(adinterface.__file__).parent / "operators" / "signatures.pyi"
DOCS = Path(__file__).parent.parent / "docs"

HEAD = '''\
# Written by tests/test_typing.py: python tests/test_typing.py
# mypy: disable-error-code="overload-overlap"
import os
from collections.abc import Callable
from typing import Any, Generic, Never, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ..contract.auto import AutoBackend as _AutoBackend
from ..contract.auto import AutoSparse
from ..contract.backend import Randomness
from ..tree import Constant, Duplicated, Each
from .derivative import ValueAndDerivative, ValueDerivativeAndSecondDerivative
from .gradient import ValueAndGradient
from .hessian import GradientAndHvp, ValueGradientAndHessian
from .jacobian import ValueAndJacobian
from .prepare import Prepared as _Prepared
from .pullback import ValueAndBack, ValueAndPush, ValueAndTangent

class Array(Protocol):
    """What a tensor and a JAX array have, and neither a number, nor a NumPy scalar, nor a container or a module."""

    @property
    def ndim(self) -> int: ...
    def __len__(self) -> int: ...

T_co = TypeVar("T_co", covariant=True)

class Instance(Protocol[T_co]):
    @property  # type: ignore[misc]
    def __class__(self) -> type[T_co]: ...  # type: ignore[override]

# mypy lists every overload where no overload fits, unless one fits by the outermost type of each argument. With these
# bounds, which any type fits so, it says in one line what is no backend. pyright, which knows os.name and not MYPY, does
# that for the plain class.
MYPY = False
if os.name == "mypy":
    AutoBackend = TypeVar("AutoBackend", bound=Instance[_AutoBackend])
    BackendAfterFunction = TypeVar("BackendAfterFunction", bound=Instance[Never])
elif not MYPY:
    from typing import Never as BackendAfterFunction

    from ..contract.auto import AutoBackend

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Shape = TypeVar("Shape", bound=tuple[int, ...])
Dtype = TypeVar("Dtype", bound=np.dtype[Any])
Scalar = TypeVar("Scalar", bound=np.generic)
Native = TypeVar("Native", bound=Array)

class Operator:
    __name__: str
    __qualname__: str
    def __call__(self, f: Callable[..., Any], backend: _AutoBackend, /, *args: Any, **kwargs: Any) -> Any: ...

class Prepared(_Prepared):
    def copy(self) -> Self: ...
    def __copy__(self) -> Self: ...
'''


class Row(NamedTuple):
    """One overload: the parameters after the backend, the result, and what f returns, where the result depends on it."""

    parameters: str
    result: str
    returned: str | None = None


# For each argument -------------------------------------------------------------------------------------------------

#: The type of an argument and of its gradient, most precise first; a type variable stands for every other type.
ENTRIES = (("Constant | str | bool | None", "None"), ("int", "float"), (None, None))


def buffered() -> list[tuple[str, str]]:
    """Where a model in buffers stands first or second, among up to four arguments: what comes back for it is the model's."""

    def row(*entries: tuple[str, str]) -> tuple[str, str]:
        parameters = ", ".join(f"x{i}: {argument}" for i, (argument, _) in enumerate(entries))
        return f"{parameters}, /", f"tuple[{', '.join(gradient for _, gradient in entries)}]"

    model, constant, other = ("Duplicated[A]", "A"), ("Constant", "None"), ("Any", "Any")
    rows = [row(model, *[constant] * count) for count in range(4)]
    rows += [row(model, *[other] * count) for count in range(1, 4)]
    return rows + [row(other, model, *[other] * count) for count in range(3)]


def by_argument(result: str, most: int = 4, buffers: bool = True) -> list[Row]:
    """Every combination of argument types, and a loose row for more arguments; before them those with buffers."""
    rows = [Row(parameters, result.format(gradients)) for parameters, gradients in buffered() if buffers]
    for count in range(1, most + 1):
        for entries in itertools.product(ENTRIES, repeat=count):
            filled = [entry if entry[0] else (variable, variable) for entry, variable in zip(entries, "ABCD")]
            parameters = ", ".join(f"x{i}: {argument}" for i, (argument, _) in enumerate(filled))
            gradients = ", ".join(gradient for _, gradient in filled)
            rows.append(Row(f"{parameters}, /", result.format(f"tuple[{gradients}]")))
    return [*rows, Row("/, *args: Any", result.format("tuple[Any, ...]"))]


# By f and the argument ---------------------------------------------------------------------------------------------

ANY_ARRAY, STACKED = "NDArray[Any]", "np.ndarray[tuple[Any, ...], Dtype]"


class Kind(NamedTuple):
    """What comes back, by what f returns and what it is given: the value, whose type its derivative has, and a Jacobian."""

    returned: str
    argument: str
    value: str
    jacobian: str


#: An array comes back in the caller's library, whatever f makes of it; a number only where the arguments are numbers.
#: A tree is taken for what f's annotation says where it is given numbers, and for anything elsewhere.
KINDS = (
    Kind("np.ndarray[Shape, Dtype]", "np.ndarray[Any, Dtype]", "np.ndarray[Shape, Dtype]", STACKED),
    Kind("Array | float", "np.ndarray[Any, Any] | np.generic", ANY_ARRAY, ANY_ARRAY),
    Kind("np.ndarray[Shape, Dtype]", "float", "np.ndarray[Shape, Dtype]", "np.ndarray[Shape, Dtype]"),
    Kind("Array", "float", ANY_ARRAY, ANY_ARRAY),
    Kind("float", "float", "float", "float"),
    Kind("R", "float", "R", "Any"),
    Kind("Native", "Native", "Native", "Native"),
    Kind("float", "Native", "Native", "Native"),
)


def by_value(parameters: str, result: str) -> list[Row]:
    """A row for each kind of f and argument, a loose one, and before them one for an f without annotations."""
    rows = [Row(parameters.format(k.argument), result.format(k.value), k.returned) for k in KINDS]
    loose = Row(parameters.format("Any"), result.format("Any"), "Any")
    return [loose._replace(returned="Never"), *rows, loose]


def by_jacobian(result: str) -> list[Row]:
    rows = []
    for kind in KINDS:
        jacobian = "Any" if kind.jacobian == "Any" else f"tuple[{kind.jacobian}]"
        rows.append(Row(f"x: {kind.argument}, /", result.format(value=kind.value, jacobian=jacobian), kind.returned))
    several = result.format(value="Any", jacobian="tuple[Any, ...]")
    # For a tree as value there is such a tuple for each of its leaves, in a tree whose type Python cannot say.
    loose = Row("/, *args: Any", result.format(value="Any", jacobian="Any"), "Any")
    return [loose._replace(returned="Never"), *rows, Row("/, *args: Any", several, "Array | float"), loose]


# By the argument ---------------------------------------------------------------------------------------------------


def like_argument(parameters: str, result: str) -> list[Row]:
    return [Row(parameters.format(given), result.format(entry)) for given, entry in (("int", "float"), ("A", "A"))]


def by_hessian(result: str) -> list[Row]:
    """The shapes of an array twice; for a tree, a tree of trees, whose type Python cannot say."""
    kinds = (
        ("np.ndarray[Shape, Dtype]", ANY_ARRAY, "np.ndarray[Shape, Dtype]", STACKED),
        ("Scalar", ANY_ARRAY, "Scalar", "NDArray[Scalar]"),
        ("float", "float", "float", "float"),
        ("Native", "Native", "Native", "Native"),
        ("A", "Any", "A", "Any"),
    )
    return [
        Row(f"x: {x}, /, *constants: Constant", result.format(value=value, gradient=gradient, hessian=hessian))
        for x, value, gradient, hessian in kinds
    ]


ONE = "x: {}, /, *constants: Constant"

#: What comes back of an `AutoSparse`: matrices of SciPy's or of the engine's, whose types Python cannot say.
SPARSE = {
    "Jacobian": [Row("/, *args: Any", "tuple[Any, ...]", "Array | float"), Row("/, *args: Any", "Any")],
    "ValueAndJacobian": [
        Row("/, *args: Any", "ValueAndJacobian[Any, tuple[Any, ...]]", "Array | float"),
        Row("/, *args: Any", "ValueAndJacobian[Any, Any]"),
    ],
    "Hessian": [Row("x: Any, /, *constants: Constant", "Any")],
    "ValueGradientAndHessian": [Row("x: A, /, *constants: Constant", "ValueGradientAndHessian[Any, A, Any]")],
}

#: The rows of each class of operators.
OPERATORS = {
    "Gradient": by_argument("{}"),
    "ValueAndGradient": by_argument("ValueAndGradient[{}]"),
    "Pullback": by_argument("ValueAndBack[{}]", most=2, buffers=False),
    "Jacobian": by_jacobian("{jacobian}"),
    "ValueAndJacobian": by_jacobian("ValueAndJacobian[{value}, {jacobian}]"),
    "Derivative": by_value(ONE, "{}"),
    "ValueAndDerivative": by_value(ONE, "ValueAndDerivative[{}]"),
    "ValueDerivativeAndSecondDerivative": by_value(ONE, "ValueDerivativeAndSecondDerivative[{}]"),
    "Pushforward": by_value("args: tuple[{} | Constant, ...], tangents: tuple[Any, ...], /", "ValueAndTangent[{}]"),
    "Linearize": by_value("/, *args: {} | Constant", "ValueAndPush[{}]"),
    "Hvp": like_argument("x: {}, v: Any, /, *constants: Constant", "{}"),
    "GradientAndHvp": like_argument("x: {}, v: Any, /, *constants: Constant", "GradientAndHvp[{}]"),
    "Hessian": by_hessian("{hessian}"),
    "ValueGradientAndHessian": by_hessian("ValueGradientAndHessian[{value}, {gradient}, {hessian}]"),
}

#: Of `batched`, for operators whose results are like the arguments: what is marked, and a number that is shared, have the axis.
EACH = (("Each[A]", "A"), ("float", "NDArray[Any]"), ("A", "A"))
BATCHED = {
    "Gradient": "{}",
    "ValueAndGradient": "ValueAndGradient[{}]",
    "Hvp": None,
}

METHOD = "    @overload\n    def __call__({parameters}, **kwargs: Any) -> {result}: ...\n"


def operator(name: str, rows: list[Row]) -> str:
    """The class of an operator, and of what `prepare` makes of it, which knows what f returns."""
    by_f = any(row.returned for row in rows)
    text = f"\nclass {name}Operator(Operator):\n"
    if by_f:  # mypy complains by the first row that may fit: by one that takes every f
        wrong = f"self, f: Callable[..., Any], backend: BackendAfterFunction, {rows[-1].parameters}"
        text += METHOD.format(parameters=wrong, result="Any")
    for row in SPARSE.get(name, []):
        sparse = f"self, f: Callable[..., {row.returned or 'Any'}], backend: AutoSparse, {row.parameters}"
        text += METHOD.format(parameters=sparse, result=row.result)
    for row in rows:
        f = f"self, f: Callable[..., {row.returned or 'Any'}], backend: AutoBackend, {row.parameters}"
        text += METHOD.format(parameters=f, result=row.result)
    swapped = "self, f: _AutoBackend, backend: BackendAfterFunction, /, *args: Any"
    text += METHOD.format(parameters=swapped, result="Any")
    text += f"\nclass Prepared{name}(Prepared{', Generic[R_co]' if by_f else ''}):\n"
    for row in rows:
        itself = f"self: Prepared{name}[{row.returned}]" if by_f else "self"
        text += METHOD.format(parameters=f"{itself}, {row.parameters}", result=row.result)
    return text


def batching() -> str:
    """The class of `batched`: what it is typed for comes back like the arguments, everything else is Any."""
    text = "\nclass BatchedOperator:\n    __name__: str\n    __qualname__: str\n"
    method = METHOD.replace("**kwargs", 'randomness: Randomness = "error", **kwargs')
    first = "self, operator: {}, f: Callable[..., Any], backend: _AutoBackend, "
    for name, result in BATCHED.items():
        of = first.format(f"{name}Operator")
        for argument, gradient in EACH:
            if result is None:
                text += method.format(parameters=f"{of}x: {argument}, v: Any, /, *constants: Constant", result=gradient)
                continue
            for count in range(4):
                constants = "".join(f", c{i}: Constant" for i in range(count))
                gradients = f"tuple[{', '.join([gradient, *['None'] * count])}]"
                text += method.format(parameters=f"{of}x: {argument}{constants}, /", result=result.format(gradients))
        if result is not None:
            text += method.format(parameters=f"{of}/, *args: Any", result=result.format("tuple[Any, ...]"))
    return text + method.format(parameters=first.format("Callable[..., Any]") + "/, *args: Any", result="Any")


def preparation() -> str:
    text = "\nclass Prepare:\n    __name__: str\n    __qualname__: str\n"
    for name in SPARSE:
        parameters = f"self, operator: {name}Operator, f: Callable[..., Any], backend: AutoSparse, /, *example_args: Any"
        text += METHOD.format(parameters=parameters, result="_Prepared")
    for name, rows in OPERATORS.items():
        by_f = any(row.returned for row in rows)
        parameters = f"self, operator: {name}Operator, f: Callable[..., {'R' if by_f else 'Any'}], backend: AutoBackend, /, "
        text += METHOD.format(parameters=parameters + "*example_args: Any", result=f"Prepared{name}{'[R]' if by_f else ''}")
    batched = "self, batched: BatchedOperator, operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /, "
    text += METHOD.format(parameters=batched + "*example_args: Any", result="_Prepared")
    loose = "self, operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /, *example_args: Any"
    return text + METHOD.format(parameters=loose, result="_Prepared")


def signatures() -> str:
    return HEAD + "".join(operator(name, rows) for name, rows in OPERATORS.items()) + batching() + preparation()


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
assert_type(fast.copy()(x), tuple[NDArray[np.float64]])
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
    'derivative(number, "jax", 1.0)': CANNOT_BE.format("BackendAfterFunction", "DerivativeOperator", "str"),
    'jacobian(lambda x: x, "jax", 1.0)': CANNOT_BE.format("BackendAfterFunction", "JacobianOperator", "str"),
    'hessian(number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "HessianOperator", "str"),
    'prepare(gradient, number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "Prepare", "str"),
    'prepare(derivative, number, "jax", 1.0)': CANNOT_BE.format("AutoBackend", "Prepare", "str"),
}


def docs() -> str:
    """The python block of docs/operators.md that this file has mypy check, with what the page imports before it."""
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
    options = ["--strict", "--disable-error-code=empty-body", "--no-error-summary", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, *(str(folder / name) for name in samples)]
    output = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not output.stderr
    return [line.removeprefix(f"{folder}/") for line in output.stdout.splitlines()]


@pytest.mark.parametrize("name", ["sample.py", "docs.py"])
def test_results_have_precise_types(said, name):
    assert [line for line in said if line.startswith(name)] == []


def test_a_wrong_backend_is_one_line(said):
    first = WRONG_HEAD.count("\n") + 1
    expected = [f"wrong.py:{first + n}: error: {message}" for n, message in enumerate(WRONG.values())]
    assert [line for line in said if line.startswith("wrong.py")] == expected


def test_at_run_time_operators_are_plain_functions():
    for name in (name for name in adinterface.__all__ if getattr(adinterface, name) in OPERATIONS):
        function = getattr(adinterface, name)
        assert type(function) is FunctionType
        assert function.__doc__
        assert next(iter(inspect.signature(function).parameters)) == "f"
    assert list(inspect.signature(adinterface.prepare).parameters) == ["operator", "f", "backend", "example_args", "kwargs"]


if __name__ == "__main__":
    STUB.write_text(signatures(), encoding="utf-8")
