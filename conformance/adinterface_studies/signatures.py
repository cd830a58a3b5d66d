"""`python -m adinterface_studies.signatures`: write the overloads of the operators,
`_signatures.pyi`.

Python cannot map types over a tuple, so the overloads are spelled out for up to four arguments.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import adinterface

#: What `python -m adinterface_studies.signatures` writes.
STUB = Path(adinterface.__file__).parent / "_signatures.pyi"

HEAD = '''\
# Written by: python -m adinterface_studies.signatures
# mypy: disable-error-code="overload-overlap"
import os
from collections.abc import Callable
from typing import Any, Generic, Never, Protocol, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from .core.contract.auto import AutoBackend as _AutoBackend
from .core.contract.auto import MatrixBackend
from .core.contract.backend import Randomness
from .core.operators.derivative import ValueAndDerivative, ValueDerivativeAndSecondDerivative
from .core.operators.gradient import ValueAndGradient
from .core.operators.hessian import GradientAndHvp, ValueGradientAndHessian
from .core.operators.jacobian import ValueAndJacobian
from .core.operators.prepare import Prepared as _Prepared
from .core.operators.pullback import ValueAndBack, ValueAndPush, ValueAndTangent
from .core.tree import Constant
from .batching.batched_call import Each
from .batching.duplicated import Duplicated

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

    from .core.contract.auto import AutoBackend

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
    def __copy__(self) -> Self: ...
'''


class Row(NamedTuple):
    """One overload: the parameters after the backend, the result, and what f returns, where the
    result depends on it.
    """

    parameters: str
    result: str
    returned: str | None = None


# For each argument
# -------------------------------------------------------------------------------------------------

#: The type of an argument and of its gradient, most precise first; a type variable is every other
#: type.
ENTRIES = (("Constant | str | bool | None", "None"), ("int", "float"), (None, None))


def buffered() -> list[tuple[str, str]]:
    """Where a model in buffers is the first or second, among up to four arguments: what comes back
    for it is the model's.
    """

    def row(*entries: tuple[str, str]) -> tuple[str, str]:
        parameters = ", ".join(f"x{i}: {argument}" for i, (argument, _) in enumerate(entries))
        return f"{parameters}, /", f"tuple[{', '.join(gradient for _, gradient in entries)}]"

    model, constant, other = ("Duplicated[A]", "A"), ("Constant", "None"), ("Any", "Any")
    rows = [row(model, *[constant] * count) for count in range(4)]
    rows += [row(model, *[other] * count) for count in range(1, 4)]
    return rows + [row(other, model, *[other] * count) for count in range(3)]


def by_argument(result: str, most: int = 4, buffers: bool = True) -> list[Row]:
    """Every combination of argument types, and a loose row for more arguments.

    Before them those with buffers.
    """
    rows = [
        Row(parameters, result.format(gradients)) for parameters, gradients in buffered() if buffers
    ]
    for count in range(1, most + 1):
        for entries in itertools.product(ENTRIES, repeat=count):
            filled = [
                (entry[0] or variable, entry[1] or variable)
                for entry, variable in zip(entries, "ABCD")
            ]
            parameters = ", ".join(f"x{i}: {argument}" for i, (argument, _) in enumerate(filled))
            gradients = ", ".join(gradient for _, gradient in filled)
            rows.append(Row(f"{parameters}, /", result.format(f"tuple[{gradients}]")))
    return [*rows, Row("/, *args: Any", result.format("tuple[Any, ...]"))]


# By f and the argument
# ---------------------------------------------------------------------------------------------

ANY_ARRAY, STACKED = "NDArray[Any]", "np.ndarray[tuple[Any, ...], Dtype]"


class Kind(NamedTuple):
    """What comes back, by what f returns and what it is given: the value, whose type its derivative
    has, and a Jacobian.
    """

    returned: str
    argument: str
    value: str
    jacobian: str


#: An array comes back in the caller's library, whatever f makes of it; a number only where the
#: arguments are numbers.
#: A tree is taken for what f's annotation says where it is given numbers, and for anything
#: elsewhere.
KINDS = (
    Kind("np.ndarray[Shape, Dtype]", "np.ndarray[Any, Dtype]", "np.ndarray[Shape, Dtype]", STACKED),
    Kind("Array | float", "np.ndarray[Any, Any] | np.generic", ANY_ARRAY, ANY_ARRAY),
    Kind(
        "np.ndarray[Shape, Dtype]", "float", "np.ndarray[Shape, Dtype]", "np.ndarray[Shape, Dtype]"
    ),
    Kind("Array", "float", ANY_ARRAY, ANY_ARRAY),
    Kind("float", "float", "float", "float"),
    Kind("R", "float", "R", "Any"),
    Kind("Native", "Native", "Native", "Native"),
    Kind("float", "Native", "Native", "Native"),
)


def by_value(parameters: str, result: str) -> list[Row]:
    """A row for each kind of f and argument, a loose one, and before them one for an f without
    annotations.
    """
    rows = [Row(parameters.format(k.argument), result.format(k.value), k.returned) for k in KINDS]
    loose = Row(parameters.format("Any"), result.format("Any"), "Any")
    return [loose._replace(returned="Never"), *rows, loose]


def by_jacobian(result: str) -> list[Row]:
    rows = []
    for kind in KINDS:
        jacobian = "Any" if kind.jacobian == "Any" else f"tuple[{kind.jacobian}]"
        rows.append(
            Row(
                f"x: {kind.argument}, /",
                result.format(value=kind.value, jacobian=jacobian),
                kind.returned,
            )
        )
    several = result.format(value="Any", jacobian="tuple[Any, ...]")
    # For a tree as value there is such a tuple for each of its leaves, in a tree whose type Python
    # cannot say.
    loose = Row("/, *args: Any", result.format(value="Any", jacobian="Any"), "Any")
    return [
        loose._replace(returned="Never"),
        *rows,
        Row("/, *args: Any", several, "Array | float"),
        loose,
    ]


# By the argument
# ------------------------------------------------------------------------------------------------


def like_argument(parameters: str, result: str) -> list[Row]:
    return [
        Row(parameters.format(given), result.format(entry))
        for given, entry in (("int", "float"), ("A", "A"))
    ]


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
        Row(
            f"x: {x}, /, *constants: Constant",
            result.format(value=value, gradient=gradient, hessian=hessian),
        )
        for x, value, gradient, hessian in kinds
    ]


ONE = "x: {}, /, *constants: Constant"

#: What comes back of an `AutoSparse`: matrices of SciPy's or of the engine's, whose types Python
#: cannot say.
SPARSE = {
    "Jacobian": [
        Row("/, *args: Any", "tuple[Any, ...]", "Array | float"),
        Row("/, *args: Any", "Any"),
    ],
    "ValueAndJacobian": [
        Row("/, *args: Any", "ValueAndJacobian[Any, tuple[Any, ...]]", "Array | float"),
        Row("/, *args: Any", "ValueAndJacobian[Any, Any]"),
    ],
    "Hessian": [Row("x: Any, /, *constants: Constant", "Any")],
    "ValueGradientAndHessian": [
        Row("x: A, /, *constants: Constant", "ValueGradientAndHessian[Any, A, Any]")
    ],
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
    "Pushforward": by_value(
        "args: tuple[{} | Constant, ...], tangents: tuple[Any, ...], /", "ValueAndTangent[{}]"
    ),
    "Linearize": by_value("/, *args: {} | Constant", "ValueAndPush[{}]"),
    "Hvp": like_argument("x: {}, v: Any, /, *constants: Constant", "{}"),
    "GradientAndHvp": like_argument("x: {}, v: Any, /, *constants: Constant", "GradientAndHvp[{}]"),
    "Hessian": by_hessian("{hessian}"),
    "ValueGradientAndHessian": by_hessian(
        "ValueGradientAndHessian[{value}, {gradient}, {hessian}]"
    ),
}

#: Of `batched`, for operators whose results are like the arguments: what is marked, and a number
#: that is shared, have the axis.
EACH = (("Each[A]", "A"), ("float", "NDArray[Any]"), ("A", "A"))
BATCHED = {"Gradient": "{}", "ValueAndGradient": "ValueAndGradient[{}]", "Hvp": None}

METHOD = "    @overload\n    def __call__({parameters}, **kwargs: Any) -> {result}: ...\n"


def operator(name: str, rows: list[Row]) -> str:
    """The class of an operator, and of what `prepare` makes of it, which knows what f returns."""
    by_f = any(row.returned for row in rows)
    text = f"\nclass {name}Operator(Operator):\n"
    if by_f:  # mypy complains by the first row that may fit: by one that takes every f
        wrong = f"self, f: Callable[..., Any], backend: BackendAfterFunction, {rows[-1].parameters}"
        text += METHOD.format(parameters=wrong, result="Any")
    for row in SPARSE.get(name, []):
        sparse = (
            f"self, f: Callable[..., {row.returned or 'Any'}], backend: MatrixBackend,"
            f" {row.parameters}"
        )
        text += METHOD.format(parameters=sparse, result=row.result)
    for row in rows:
        f = (
            f"self, f: Callable[..., {row.returned or 'Any'}], backend: AutoBackend,"
            f" {row.parameters}"
        )
        text += METHOD.format(parameters=f, result=row.result)
    swapped = "self, f: _AutoBackend, backend: BackendAfterFunction, /, *args: Any"
    text += METHOD.format(parameters=swapped, result="Any")
    text += f"\nclass Prepared{name}(Prepared{', Generic[R_co]' if by_f else ''}):\n"
    for row in rows:
        itself = f"self: Prepared{name}[{row.returned}]" if by_f else "self"
        text += METHOD.format(parameters=f"{itself}, {row.parameters}", result=row.result)
    return text


def batching() -> str:
    """The class of `batched`: what it is typed for comes back like the arguments, everything else
    is Any.
    """
    text = "\nclass BatchedOperator:\n    __name__: str\n    __qualname__: str\n"
    method = METHOD.replace("**kwargs", 'randomness: Randomness = "error", **kwargs')
    first = "self, operator: {}, f: Callable[..., Any], backend: _AutoBackend, "
    for name, result in BATCHED.items():
        of = first.format(f"{name}Operator")
        for argument, gradient in EACH:
            if result is None:
                text += method.format(
                    parameters=f"{of}x: {argument}, v: Any, /, *constants: Constant",
                    result=gradient,
                )
                continue
            for count in range(4):
                constants = "".join(f", c{i}: Constant" for i in range(count))
                gradients = f"tuple[{', '.join([gradient, *['None'] * count])}]"
                text += method.format(
                    parameters=f"{of}x: {argument}{constants}, /", result=result.format(gradients)
                )
        if result is not None:
            text += method.format(
                parameters=f"{of}/, *args: Any", result=result.format("tuple[Any, ...]")
            )
    return text + method.format(
        parameters=first.format("Callable[..., Any]") + "/, *args: Any", result="Any"
    )


def preparation() -> str:
    text = "\nclass Prepare:\n    __name__: str\n    __qualname__: str\n"
    for name in SPARSE:
        parameters = (
            f"self, operator: {name}Operator, f: Callable[..., Any], backend: MatrixBackend, /,"
            " *example_args: Any"
        )
        text += METHOD.format(parameters=parameters, result="_Prepared")
    for name, rows in OPERATORS.items():
        by_f = any(row.returned for row in rows)
        parameters = (
            f"self, operator: {name}Operator, f: Callable[..., {'R' if by_f else 'Any'}], backend:"
            " AutoBackend, /, "
        )
        text += METHOD.format(
            parameters=parameters + "*example_args: Any",
            result=f"Prepared{name}{'[R]' if by_f else ''}",
        )
    batched = (
        "self, batched: BatchedOperator, operator: Callable[..., Any], f: Callable[..., Any],"
        " backend: AutoBackend, /, "
    )
    text += METHOD.format(parameters=batched + "*example_args: Any", result="_Prepared")
    loose = (
        "self, operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /,"
        " *example_args: Any"
    )
    return text + METHOD.format(parameters=loose, result="_Prepared")


def signatures() -> str:
    return (
        HEAD
        + "".join(operator(name, rows) for name, rows in OPERATORS.items())
        + batching()
        + preparation()
    )


def main() -> int:
    """Write the file. The exit status."""
    STUB.write_text(signatures(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    main()
