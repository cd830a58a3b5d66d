"""Integrals by SciPy of functions that contain traced arrays.

Each derivative is a further integral, with its own nodes.

For I = integral of f(x, p) from a to b: dI/dp is the integral of df/dp, dI/db is f(b, p), dI/da is
-f(a, p).
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.integrate as scipy_integrate

from ..core import derive
from ..core.contract.backend import Arrays, Aux, Backend, FlatFunction
from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import Library, widest
from ..core.contract.registry import auto_class, backend_for
from ..numpy_code.array import NumpyArray
from ..numpy_code.engine import engine_of
from ..rules.rule import rule
from .arrays import numbers
from .dispatch import is_native
from .substitution import Captured, is_traced, library_of, native_of

_NAME = "scipy.integrate.quad"


class Integrand:
    """`func(x, *args)` as a function of x and of the traced arrays in it."""

    def __init__(self, library: Library, captured: Captured, ends: Sequence[Any]):
        self.library: Library = library
        self._captured = captured
        #: It is NumPy code, which takes arrays behind wrappers; else code of the engine.
        self.is_numpy_code: bool = any(type(x) is NumpyArray for x in (*captured.arrays, *ends))
        #: Of each array how many real parameters it is: 0 for one that has no derivative, 2 for a
        #: complex one.
        self._counts = [parameters_of(x) for x in captured.arrays]

    def parameters(self) -> Arrays:
        """What is followed as real arrays, the engine's own."""
        values: list[Any] = []
        for x, count in zip(self._captured.arrays, self._counts):
            if count == 2:
                array = NumpyArray(native_of(x), engine_of(self.library))
                values += [np.real(array).native, np.imag(array).native]
            elif count == 1:
                values.append(native_of(x))
        return tuple(values)

    def of_numbers(self, parameters: Sequence[np.ndarray[Any, Any]]) -> Callable[[float], float]:
        """The function at these numbers, as SciPy evaluates it."""
        values: list[Any] = []
        for old, new in zip(self._captured.arrays, self._whole(parameters)):
            known = np.asarray(numbers(old, _NAME) if new is None else new)
            values.append(known[()] if type(old) is NumpyArray else self.library.asarray(known))
        func, args = self._captured.with_values(values)
        return lambda x: number(func(x, *args))

    def followed(self, x: Any, parameters: Arrays) -> Any:
        """The function where the parameters, and perhaps x, are engine arrays, traced or not."""
        engine = engine_of(self.library)
        values: list[Any] = []
        for old, new in zip(
            self._captured.arrays, self._whole([NumpyArray(p, engine) for p in parameters])
        ):
            values.append(
                old if new is None else new if type(old) is NumpyArray else native_of(new)
            )
        func, args = self._captured.with_values(values)
        y = native_of(func(NumpyArray(x, engine) if self.is_numpy_code else x, *args))
        if not self.library.owns(y):
            y = self.library.asarray(np.asarray(y, float), like=x)
        return y

    def _whole(self, parameters: Sequence[Any]) -> list[Any]:
        """The arrays, of which the complex ones came in parts.

        None for those without a derivative.
        """
        parts = iter(parameters)
        return [
            None if n == 0 else next(parts) if n == 1 else next(parts) + 1j * next(parts)
            for n in self._counts
        ]

    def derivatives(self, order: int, x: Any, parameters: Arrays) -> Any:
        """All derivatives of this order by the parameters at x, a vector."""
        xp = self.library.namespace(parameters[0] if parameters else x)
        if order == 0:
            return xp.reshape(self.followed(x, parameters), (1,))
        before = _Flat(lambda *moved: self.derivatives(order - 1, x, moved))
        blocks = derive.jacobian(self._backend(), before, parameters).blocks[0]
        rows = [xp.reshape(block, (block.shape[0], -1)) for block in blocks]
        return xp.reshape(rows[0] if len(rows) == 1 else xp.concat(rows, axis=1), (-1,))

    def _backend(self) -> Backend:
        auto = auto_class(self.library.name)
        if auto is None:
            raise NumpyCodeError(
                f"{_NAME}: no backend of adinterface differentiates {self.library.name} arrays."
            )
        return backend_for(auto())


def parameters_of(x: Any) -> int:
    if not is_traced(x):
        return 0
    library, native = library_of(x), native_of(x)
    return (
        (2 if library.dtype(native).startswith("complex") else 1)
        if library.is_floating(native)
        else 0
    )


class _Flat(FlatFunction):
    """A function of arrays with one output, as backends take it."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        return (self._function(*leaves),), Aux()


class Integral:
    """The integrals of all derivatives of one order of an integrand, at known numbers."""

    def __init__(self, integrand: Integrand, order: int, dtype: str, *known: Any):
        self.integrand: Integrand = integrand
        self.order: int = order
        # known: the limits, the parameters, and the options of quad
        self._dtype, self._known = dtype, known

    @functools.cached_property
    def next(self) -> Integral:
        """The integrals of the derivatives of one order more."""
        return Integral(self.integrand, self.order + 1, self._dtype, *self._known)

    @functools.cached_property
    def value(self) -> np.ndarray[Any, Any]:
        """A vector."""
        return np.asarray(self._integrated(*self._known), self._dtype)

    def _integrated(
        self,
        ends: tuple[float, float],
        known: Sequence[np.ndarray[Any, Any]],
        options: dict[str, Any],
    ) -> list[float]:
        library = self.integrand.library
        precision = library.precision(("float64",))
        scope = None if precision is None else precision()
        kept: dict[float, list[float]] = {}
        with scope or nullcontext():
            parameters = tuple([library.asarray(p) for p in known])

            def at(x: float) -> list[float]:
                if x not in kept:
                    value = self.integrand.derivatives(
                        self.order, library.asarray(np.asarray(x)), parameters
                    )
                    kept[x] = numbers(
                        NumpyArray(library.stopped(value), engine_of(library)), _NAME
                    ).tolist()
                return kept[x]

            count = sum([p.size for p in known]) ** self.order
            return [self._of_component(at, n, ends, options) for n in range(count)]

    def _of_component(
        self, at: Callable[[float], list[float]], n: int, ends: Any, options: dict[str, Any]
    ) -> float:
        value, error, *rest = scipy_integrate.quad(
            lambda x: at(x)[n], *ends, full_output=1, **options
        )
        if len(rest) > 1:
            warnings.warn(
                f"{_NAME}: the integral of a derivative of order {self.order} may have an error"
                f" above the {error:.2g} that is estimated. {rest[1]}",
                scipy_integrate.IntegrationWarning,
                stacklevel=2,
            )
        return float(value)


@rule
def _integral(ends: dict[int, Any], parameters: Arrays, *, of: Integral) -> Any:
    """ends: the traced limits: -1 for the lower, 1 for the upper one."""
    return of.value


@_integral.pushforward
def _push(tangents: Any, value: Any, ends: Any, parameters: Arrays, *, of: Integral) -> Any:
    moved_ends, moved = tangents
    xp = of.integrand.library.namespace(value)
    slopes = [
        sign * moved_ends[sign] * of.integrand.derivatives(of.order, ends[sign], parameters)
        for sign in ends
    ]
    if parameters:
        together = xp.concat([xp.reshape(t, (-1,)) for t in moved])
        slopes.append(xp.sum(_slopes(xp, value, ends, parameters, of) * together, axis=1))
    return sum(slopes[1:], start=slopes[0])


@_integral.pullback
def _back(
    cotangent: Any, value: Any, ends: Any, parameters: Arrays, *, of: Integral
) -> tuple[Any, Any]:
    xp = of.integrand.library.namespace(value)
    of_ends = {
        sign: (
            sign
            * xp.reshape(
                xp.sum(cotangent * of.integrand.derivatives(of.order, end, parameters)), end.shape
            )
        )
        for sign, end in ends.items()
    }
    if not parameters:
        return of_ends, ()
    weights = xp.sum(
        xp.reshape(cotangent, (-1, 1)) * _slopes(xp, value, ends, parameters, of), axis=0
    )
    stops = list(itertools.accumulate([math.prod(p.shape) for p in parameters], initial=0))
    parts = [weights[start:stop] for start, stop in itertools.pairwise(stops)]
    return of_ends, tuple([xp.reshape(part, p.shape) for part, p in zip(parts, parameters)])


_integral.definition.name = _NAME


def _slopes(xp: Any, value: Any, ends: Any, parameters: Arrays, of: Integral) -> Any:
    """The derivatives of a vector of integrals by the parameters, a matrix."""
    return xp.reshape(_integral(ends, parameters, of=of.next), (value.shape[0], -1))


def number(x: Any) -> float:
    """The number that an integrand returns. Raises NumpyCodeError if an engine traces it."""
    if is_traced(x):
        raise NumpyCodeError(
            f"{_NAME}: func captures an array that is being differentiated in a place where it is"
            " not found, such as a global name. Pass it in args=(...), or as a variable of an"
            " enclosing function."
        )
    if isinstance(x, NumpyArray):
        return float(np.reshape(x.__array__(), ()))
    return float(np.reshape(library_of(x).to_numpy(x) if is_native(x) else x, ()))


def _settled(option: Any) -> Any:
    """An option in numbers: the tolerances and the points change how SciPy computes, but not the
    result.
    """
    if isinstance(option, (list, tuple)):
        return [_settled(part) for part in option]
    return numbers(option, _NAME) if is_traced(option) else option


def integrated(
    func: Callable[..., Any],
    a: Any,
    b: Any,
    args: tuple[Any, ...],
    full_output: Any,
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """scipy.integrate.quad of NumPy code, or of code for the engine that traces the arrays that
    func captures.
    """
    captured = Captured((func, args))
    ends = {sign: end for sign, end in ((-1, a), (1, b)) if is_traced(end)}
    low, high = [float(np.reshape(numbers(end, _NAME), ())) for end in (a, b)]
    options = {name: _settled(value) for name, value in options.items()}
    followed = [*ends.values(), *[x for x in captured.arrays if parameters_of(x)]]
    if not followed:
        func, args = captured.with_values([numbers(x, _NAME)[()] for x in captured.arrays])
        values: tuple[Any, ...] = scipy_integrate.quad(
            lambda x: number(func(x, *args)), low, high, (), full_output, **options
        )
        return values
    if any(math.isinf(high if sign > 0 else low) for sign in ends):
        raise NumpyCodeError(
            f"{_NAME}: an infinite limit that is differentiated by is not supported. Write np.inf."
        )
    library = library_of(followed[0])
    if "custom" not in library.gives:
        raise NumpyCodeError(
            f"{_NAME}: {library.name} takes no derivative of a function: it has no"
            " `Library.custom`."
        )
    integrand = Integrand(library, captured, [*ends.values()])
    natives = {sign: native_of(end) for sign, end in ends.items()}
    parameters = integrand.parameters()
    known = [np.array(numbers(NumpyArray(p, engine_of(library)), _NAME), float) for p in parameters]
    dtype = widest([library.dtype(x) for x in (*natives.values(), *parameters)])
    integral = Integral(integrand, 0, dtype, (low, high), known, options)
    value, *rest = scipy_integrate.quad(
        integrand.of_numbers(known), low, high, (), full_output, **options
    )
    integral.value = np.asarray([value], dtype)
    result = _integral(natives, parameters, of=integral)[0]
    return NumpyArray(result, engine_of(library)) if integrand.is_numpy_code else result, *rest
