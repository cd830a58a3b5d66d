"""The elementwise functions of the standard, under NumPy's names and with its promotion."""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

from .complex_order import ORDERED
from .composing import COMPOSITIONS, REAL, Array, array, composition, is_complex, name_of, operands, promoted, sine_dtype

_FLOATING = {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
} | {
    name: name
    for name in ("cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh")
}
_ANY = {"negative": "negative", "positive": "positive", "sign": "sign", "square": "square", "invert": "bitwise_invert"} | {
    name: name for name in ("isfinite", "isinf", "isnan", "signbit")
}
_PAIRS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "remainder": "remainder",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
}
_EXTREMA = ("maximum", "minimum")
#: The operators of Python that they are.
_COMPARISONS = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}
_FLOATING_PAIRS = {
    "arctan2": "atan2",
    "copysign": "copysign",
    "hypot": "hypot",
    "nextafter": "nextafter",
}
_LOGICAL = ("logical_and", "logical_or", "logical_xor")


def _register_standard() -> None:
    def floating(standard: str) -> Any:
        return lambda xp, x: getattr(xp, standard)(sine_dtype(xp, x))

    def plain(standard: str) -> Any:
        return lambda xp, x: getattr(xp, standard)(x)

    def pair(standard: str) -> Any:
        return lambda xp, a, b: getattr(xp, standard)(*operands(xp, a, b))

    def extremum(standard: str) -> Any:
        def call(xp: ModuleType, a: Any, b: Any) -> Array:
            a, b = promoted(xp, a, b)
            return ORDERED[standard](xp, a, b) if is_complex(a) else getattr(xp, standard)(a, b)

        return call

    def comparison(name: str) -> Any:
        compare, ordered = getattr(operator, name), ORDERED.get(name)

        def call(xp: ModuleType, a: Any, b: Any) -> Array:
            a, b = operands(xp, a, b)
            if ordered is not None and is_complex(b if type(a) in REAL else a):
                return ordered(xp, *promoted(xp, a, b))
            return compare(a, b)

        return call

    def floating_pair(standard: str) -> Any:
        def call(xp: ModuleType, a: Any, b: Any) -> Array:
            if hasattr(a, "shape") and hasattr(b, "shape"):
                # Each separately: NumPy promotes int8 and uint8 to float16, not to int16 and so to float32.
                a, b = sine_dtype(xp, array(xp, a, b)), sine_dtype(xp, array(xp, b, a))
            return getattr(xp, standard)(*[sine_dtype(xp, x) for x in promoted(xp, a, b)])

        return call

    def logical(standard: str) -> Any:
        return lambda xp, a, b: getattr(xp, standard)(truth(xp, array(xp, a)), truth(xp, array(xp, b)))

    for name, standard in _FLOATING.items():
        composition(name)(floating(standard))
    for name, standard in _ANY.items():
        composition(name)(plain(standard))
    for name, standard in _PAIRS.items():
        composition(name)(pair(standard))
    for name in _EXTREMA:
        composition(name)(extremum(name))
    for name, operation in _COMPARISONS.items():
        composition(name)(comparison(operation))
    for name, standard in _FLOATING_PAIRS.items():
        composition(name)(floating_pair(standard))
    for name in _LOGICAL:
        composition(name)(logical(name))


def truth(xp: ModuleType, x: Array) -> Array:
    return x if name_of(x) == "bool" else x != 0


_register_standard()
maximum, minimum = COMPOSITIONS["maximum"], COMPOSITIONS["minimum"]
