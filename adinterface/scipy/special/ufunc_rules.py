"""Makes a rule for a ufunc of scipy.special from its partial derivatives, which are NumPy code with
such ufuncs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from ...numpy_code.array import NumpyArray, unwrap, wrap
from ...numpy_code.engine import Engine
from ...rules.rule import Rule
from ...rules.scalar import from_partials
from ..arrays import cast
from .zero_products import product


def ruled(
    name: str,
    function: Callable[..., Any],
    partials: Callable[..., Any] | None,
    *,
    orders: int = 0,
    what: str = "order",
    host: bool = True,
) -> Callable[..., Any]:
    """A function that runs on the host, with `partials(value, *args)` for the arguments behind the
    first `orders`.

    Derivatives by these orders, or by arguments without partials, raise an error. what: the name of
    the orders in the error. host: as for `rule`.
    """

    def in_order(
        variables: tuple[Any, ...], constants: tuple[Any, ...], places: tuple[int, ...]
    ) -> list[Any]:
        """All arguments of the function; places: those of the variables."""
        next_variable, next_constant = iter(variables), iter(constants)
        count = len(variables) + len(constants)
        return [next(next_variable) if n in places else next(next_constant) for n in range(count)]

    def value(*variables: Any, constants: tuple[Any, ...], places: tuple[int, ...]) -> Any:
        args = in_order(variables, constants, places)
        # which some ufuncs of SciPy's take for float64
        if host and any(type(arg) is float for arg in args):
            dtype = np.empty(0, alike(*args)).real.dtype
            args = [np.asarray(arg, dtype) if type(arg) is float else arg for arg in args]
        result = function(*args)
        if (
            host
            and getattr(result, "dtype", None) == np.complex128
            and alike(*args) == np.complex64
        ):
            # xlogy and xlog1py have their types in another order
            return result.astype(np.complex64)
        return result

    def derivatives(
        result: Any, *variables: Any, constants: tuple[Any, ...], places: tuple[int, ...]
    ) -> Any:
        if partials is None:
            raise NumpyCodeError(
                f"numpy_function: scipy.special.{name} has no further derivative here. {_INSTEAD}"
            )
        # outside the domain, where the derivative may not be needed
        with np.errstate(all="ignore"):
            rows = partials(result, *in_order(variables, constants, places))
            if type(result) is tuple:
                return tuple([_chosen(row, places, orders, result[0]) for row in rows])
            return _chosen(rows, places, orders, result)

    rule: Rule[..., Any] = from_partials(value, derivatives, host, product)
    definition = rule.definition
    definition.name = f"scipy.special.{name}"
    definition.refusal = NumpyCodeError(
        f"numpy_function: scipy.special.{name} has no derivative here with respect to its {what}."
        " Pass that in Constant(...), or use AutoFiniteDifferences()."
    )

    def call(*args: Any) -> Any:
        args = _promoted(args)
        # An argument that no engine traces is a constant: its partial derivative is not computed.
        places = tuple([n for n, arg in enumerate(args) if n >= orders and _followed(arg)])
        if not places:
            places = tuple(
                [n for n, arg in enumerate(args) if n >= orders and isinstance(arg, NumpyArray)][:1]
            )
        constants = tuple([arg for n, arg in enumerate(args) if n not in places])
        return rule(*[args[n] for n in places], constants=constants, places=places)

    return call


_INSTEAD = "Pass its parameters in Constant(...), or use AutoFiniteDifferences()."


def _promoted(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Real engine arrays in one dtype that SciPy has, so that each has its own cotangent."""
    if not any(isinstance(arg, NumpyArray) for arg in args):
        return args
    dtype = np.result_type(
        *[arg if isinstance(arg, (bool, int, float, complex)) else arg.dtype for arg in args]
    )
    if dtype.kind != "f":
        return args
    if dtype.itemsize < 4:
        dtype = np.dtype(np.float32)

    def other(x: Any) -> bool:
        return isinstance(x, NumpyArray) and x.dtype.kind == "f" and x.dtype != dtype

    return tuple([cast(x, dtype) if other(x) else x for x in args])


def _followed(x: Any) -> bool:
    return isinstance(x, NumpyArray) and x.engine.library.traced(x.native) and x.dtype.kind in "fc"


def _chosen(given: Any, places: tuple[int, ...], orders: int, result: Any) -> tuple[Any, ...]:
    """The partial derivatives by the arguments in these places.

    Those of a complex64 value have its precision.
    """
    row = given if type(given) is tuple else (given,)
    chosen = [row[n - orders] for n in places]
    found = [
        partial() if callable(partial) and not isinstance(partial, NumpyArray) else partial
        for partial in chosen
    ]
    narrow = getattr(result, "dtype", None) == np.complex64
    return tuple(
        [
            x.astype(np.complex64) if narrow and getattr(x, "dtype", None) == np.complex128 else x
            for x in found
        ]
    )


def scipy_ufunc(name: str) -> Any:
    """A public or private ufunc of scipy.special.

    None where the installed SciPy does not have it.
    """
    from scipy import special

    return getattr(special, name, None) or getattr(special._ufuncs, name, None)


def natively(code: Callable[..., Any], engine: Engine) -> Callable[..., Any]:
    """NumPy code as a function of the engine's own arrays."""

    def call(*natives: Any) -> Any:
        beside = next((x for x in natives if isinstance(x, engine.types)), None)
        return unwrap(code(*[wrap(x, engine) for x in natives]), engine, beside)

    return call


def alike(*args: Any) -> np.dtype[Any]:
    """The floating dtype of a function of these arguments."""
    dtype = np.result_type(*args)
    return dtype if dtype.kind in "fc" else np.dtype(float)


def require_real(*args: Any) -> None:
    """Raises NumpyCodeError for complex arguments, for which the derivative by a parameter is
    unknown.
    """
    if any(getattr(x, "dtype", np.dtype(type(x))).kind == "c" for x in args):
        raise NumpyCodeError(
            "numpy_function: a derivative by a parameter is known here for real arguments alone."
            f" {_INSTEAD}"
        )


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's arrays, computed in float64 and rounded once to the dtype of the
    arguments.
    """

    def call(*args: Any) -> Any:
        require_real(*args)
        with np.errstate(all="ignore"):
            return np.asarray(function(*[np.asarray(x, float) for x in args]), alike(*args))

    return call
