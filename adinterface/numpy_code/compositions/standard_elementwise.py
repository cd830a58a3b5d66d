"""The elementwise functions of the standard, under NumPy's names and with its promotion."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

from .complex_order import ORDERED
from .composing import (
    COMPOSITIONS,
    REAL,
    Array,
    array,
    is_complex,
    name_of,
    operands,
    promoted,
    sine_dtype,
)

Composition: TypeAlias = Callable[..., Array]


def _floating(standard: str) -> Composition:
    return lambda xp, x: getattr(xp, standard)(sine_dtype(xp, x))


def _any(standard: str) -> Composition:
    return lambda xp, x: getattr(xp, standard)(x)


def _pair(standard: str) -> Composition:
    return lambda xp, a, b: getattr(xp, standard)(*operands(xp, a, b))


def _extremum(standard: str) -> Composition:
    def call(xp: ModuleType, a: Any, b: Any) -> Array:
        a, b = promoted(xp, a, b)
        return ORDERED[standard](xp, a, b) if is_complex(a) else getattr(xp, standard)(a, b)

    return call


def _comparison(name: str) -> Composition:
    """By Python's operator of this name."""
    compare, ordered = getattr(operator, name), ORDERED.get(name)

    def call(xp: ModuleType, a: Any, b: Any) -> Array:
        a, b = operands(xp, a, b)
        if ordered is not None and is_complex(b if type(a) in REAL else a):
            return ordered(xp, *promoted(xp, a, b))
        return compare(a, b)

    return call


def pair_of_floats(xp: ModuleType, a: Any, b: Any) -> list[Array]:
    if hasattr(a, "shape") and hasattr(b, "shape"):
        # Each separately: NumPy promotes int8 and uint8 to float16, not to int16 and so to float32.
        a, b = sine_dtype(xp, array(xp, a, b)), sine_dtype(xp, array(xp, b, a))
    return [sine_dtype(xp, x) for x in promoted(xp, a, b)]


def _floating_pair(standard: str) -> Composition:
    return lambda xp, a, b: getattr(xp, standard)(*pair_of_floats(xp, a, b))


def truth(xp: ModuleType, x: Array) -> Array:
    return x if name_of(x) == "bool" else x != 0


def _logical(standard: str) -> Composition:
    return lambda xp, a, b: getattr(xp, standard)(truth(xp, array(xp, a)), truth(xp, array(xp, b)))


#: What makes a composition, the names of the standard, and NumPy's where they are others.
_STANDARD: list[tuple[Callable[[str], Composition], str, dict[str, str]]] = [
    (_floating, "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh", {
        "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
        "atan": "arctan", "atanh": "arctanh",
    }),
    (_any, "negative positive sign square isfinite isinf isnan signbit", {"bitwise_invert": "invert"}),  # noqa: E501
    (_pair, "add subtract multiply remainder bitwise_and bitwise_or bitwise_xor", {
        "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    }),
    (_extremum, "maximum minimum", {}),
    (_comparison, "", {
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
        "ge": "greater_equal",
    }),
    (_floating_pair, "copysign hypot nextafter", {"atan2": "arctan2"}),
    (_logical, "logical_and logical_or logical_xor", {}),
]  # fmt: skip
for _make, _alike, _others in _STANDARD:
    for _standard in [*_alike.split(), *_others]:
        COMPOSITIONS[_others.get(_standard, _standard)] = _make(_standard)

maximum, minimum = COMPOSITIONS["maximum"], COMPOSITIONS["minimum"]
