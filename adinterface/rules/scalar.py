"""`scalar_rule`: both derivatives of a scalar function from its partial derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..core.contract.errors import RuleError
from .namespace import array_namespace
from .rule import Rule, rule

P = ParamSpec("P")
T = TypeVar("T")
#: `product(seed, partial, anew)`: a cotangent or tangent times a partial derivative. `anew(wrap)`
#: computes the partial again,
#: from `wrap(x)` of each argument and of the value.
Product = Callable[[Any, Any, Callable[[Callable[[Any], Any]], Any]], Any]


def scalar_rule(
    f: Callable[P, T], partials: Callable[..., Any], /, *, host: bool | Callable[..., Any] = False
) -> Rule[P, T]:
    """A function of numbers, or elementwise of arrays, as a rule from partial derivatives.

    partials: `partials(value, *args, **keywords)` returns a tuple with the derivative by each
        positional argument, None for
    zero. For one argument it may be the derivative alone. If f returns a tuple, it returns such a
    tuple for each entry.
    host: as in `rule`; f runs on NumPy arrays. A ufunc, such as those of scipy.special, always
        does.

    Arguments are broadcast against each other. A complex function must be holomorphic.
    Raises RuleError if the number of partial derivatives is not that of the arguments.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, array_namespace, gradient
    >>> from adinterface.rules import scalar_rule
    >>> hypotenuse = scalar_rule(lambda x, y: (x**2 + y**2) ** 0.5, lambda h, x, y: (x / h, y / h))
    >>> [round(slope, 6) for slope in gradient(hypotenuse, AutoFiniteDifferences(), 3.0, 4.0)]
    [0.6, 0.8]
    """
    return from_partials(f, partials, host, lambda seed, partial, anew: seed * partial)


def from_partials(
    f: Callable[P, T],
    partials: Callable[..., Any],
    host: bool | Callable[..., Any],
    product: Product,
) -> Rule[P, T]:
    """As `scalar_rule`; `product` multiplies by the partial derivatives."""
    made = rule(host=host or isinstance(f, np.ufunc))(f)
    name = made.definition.name
    if not callable(partials):
        raise TypeError(
            f"scalar_rule: the partial derivatives of {name} must be a function, partials(value,"
            f" *args), not a {type(partials).__name__}."
        )

    def rows(value: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Sequence[Any]]:
        """The partial derivatives of each output."""
        given = partials(value, *args, **keywords)
        if type(value) is not tuple:
            return [_row(name, given, len(args))]
        if type(given) is not tuple or len(given) != len(value):
            raise RuleError(
                f"{name}: it returns {len(value)} values, so there must be as many tuples of"
                " partial derivatives."
            )
        return [_row(name, row, len(args)) for row in given]

    def entry(
        k: int, i: int, value: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Callable[..., Any]:
        """The function `anew` of the i-th partial derivative of the k-th output."""

        def anew(stand_in: Callable[[Any], Any]) -> Any:
            result = tuple(map(stand_in, value)) if type(value) is tuple else stand_in(value)
            return rows(result, tuple(map(stand_in, args)), keywords)[k][i]

        return anew

    @made.pullback
    def back(cotangent: Any, value: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]:
        cotangents = cotangent if type(value) is tuple else (cotangent,)
        totals: list[Any] = [None] * len(args)
        for k, (seed, row) in enumerate(zip(cotangents, rows(value, args, keywords))):
            for i, (partial, arg) in enumerate(zip(row, args)):
                if partial is not None and not isinstance(arg, (int, str)) and not _is_exact(arg):
                    anew = _conjugated(entry(k, i, value, args, keywords))
                    term = like(product(seed, conj(partial), anew), arg)
                    totals[i] = term if totals[i] is None else totals[i] + term
        return tuple(totals)

    @made.pushforward
    def push(tangents: tuple[Any, ...], value: Any, *args: Any, **keywords: Any) -> Any:
        values = value if type(value) is tuple else (value,)
        result: list[Any] = []
        for k, (one, row) in enumerate(zip(values, rows(value, args, keywords))):
            terms = [
                product(t, partial, entry(k, i, value, args, keywords))
                for i, (partial, t) in enumerate(zip(row, tangents))
                if partial is not None and t is not None
            ]
            result.append(spread(sum(terms[1:], terms[0]), one) if terms else None)
        return tuple(result) if type(value) is tuple else result[0]

    return made


def _row(name: str, given: Any, count: int) -> Sequence[Any]:
    row = given if type(given) is tuple else (given,)
    if len(row) != count:
        raise RuleError(
            f"{name}: it has {len(row)} partial derivative{'s' * (len(row) != 1)} for {count}"
            f" argument{'s' * (count != 1)}. There must be one for each positional argument; None"
            " is zero."
        )
    return row


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


def is_complex(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return isinstance(x, complex) if dtype is None else "complex" in str(dtype)


def _is_exact(x: Any) -> bool:
    """Whether it is an array of integers or booleans, which has no derivative."""
    return hasattr(x, "dtype") and ("int" in str(x.dtype) or "bool" in str(x.dtype))


def conj(x: Any) -> Any:
    return (
        array_namespace(x).conj(x)
        if is_complex(x) and hasattr(x, "dtype")
        else x.conjugate()
        if is_complex(x)
        else x
    )


def _conjugated(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: conj(function(x))


def like(x: Any, arg: Any) -> Any:
    """The sum over the axes along which an argument was broadcast: `(2, 3)` for `(3,)` -> `(3,)`.

    Real for a real argument.
    """
    shape, target = _shape(x), _shape(arg)
    if shape != target:
        xp, front = array_namespace(x), len(shape) - len(target)
        stretched = tuple(
            [front + n for n, length in enumerate(target) if length != shape[front + n]]
        )
        x = xp.reshape(xp.sum(x, axis=(*range(front), *stretched)), target)
    return array_namespace(x).real(x) if is_complex(x) and not is_complex(arg) else x


def spread(tangent: Any, value: Any) -> Any:
    """A tangent broadcast to the shape of the value: `(3,)` for `(2, 3)` -> `(2, 3)`."""
    return (
        tangent
        if _shape(tangent) == _shape(value)
        else array_namespace(tangent).broadcast_to(tangent, _shape(value))
    )


__all__ = ["conj", "from_partials", "is_complex", "like", "scalar_rule", "spread"]
