"""Functions of MLX that are exact, and what MLX cannot do, as data for the conformance table."""

import mlx.core as mx
import numpy as np

from adinterface.core.contract import KnownFailure, unsupported_dtype

DTYPES = {str(dtype).removeprefix("mlx.core."): dtype for dtype in vars(mx).values() if isinstance(dtype, mx.Dtype)}
COMPLEX = "MLX has complex64 alone, no complex128"
ANEW = "mx.vjp evaluates the function anew for each cotangent"
RULES = "this small engine has no way to be told a derivative (Library.custom)"
AGAIN = [
    "trees/*",
    "layouts/[bhs]*",
    "functions/*",
    "empty/[sbn]*",
    "constants/*",
    "arrays/squared*",
    "arrays/rank-[12]*",
    "arrays/outer*",
]
FAILURES = {
    COMPLEX: [("complex/*", "*")],
    ANEW: [
        *((f"{name}-by-pullback", "evaluations") for name in AGAIN),
        ("trees/none-in-a-cotangent", "evaluations"),
        ("rules/quotient-that-b*", "evaluations"),
    ],
    RULES: [
        ("rules/host-code", "runs"),
        ("rules/root", "runs"),
        ("rules/linear-system*", "runs"),
        ("crossings/differences-inside*", "runs"),
    ],
}
LINKS = {
    COMPLEX: "https://ml-explore.github.io/mlx/build/html/python/data_types.html",
    ANEW: "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.vjp.html",
    RULES: "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.custom_function.html",
}
KNOWN_FAILURES = tuple(
    KnownFailure(scenario, check, reason, LINKS[reason]) for reason, places in FAILURES.items() for scenario, check in places
)


def require(name):
    if name not in DTYPES:
        raise unsupported_dtype(name, "MLX", DTYPES)


def exact(value, slope):
    """A function with its own derivative: exp, sin and cos of MLX are right to 1e-8 only, and other derivatives use them."""
    made = mx.custom_function(value)
    made.vjp(lambda x, cotangent, _: cotangent * mx.conj(slope(x)))
    return made


exp = exact(lambda x: mx.power(mx.array(np.e, x.dtype), x), lambda x: exp(x))
sin = exact(lambda x: 2 * mx.tan(x / 2) / (1 + mx.tan(x / 2) ** 2), lambda x: cos(x))
cos = exact(lambda x: 2 / (1 + mx.tan(x / 2) ** 2) - 1, lambda x: -sin(x))
tan = exact(mx.tan, lambda x: 1 / cos(x) ** 2)
expm1 = exact(mx.expm1, exp)
log2 = exact(mx.log2, lambda x: 1 / (x * mx.array(np.log(2), x.dtype)))
log10 = exact(mx.log10, lambda x: 1 / (x * mx.array(np.log(10), x.dtype)))
inv = mx.custom_function(lambda x: mx.linalg.inv(x))
inv.vjp(lambda x, cotangent, y: -(mx.swapaxes(y, -1, -2) @ cotangent @ mx.swapaxes(y, -1, -2)))


def logaddexp(x, y):
    return mx.maximum(x, y) + mx.log1p(exp(-mx.abs(x - y)))


OWN = {"exp": exp, "sin": sin, "cos": cos, "tan": tan, "expm1": expm1, "log2": log2, "log10": log10}
OWN |= {"logaddexp": logaddexp, "linalg.inv": inv}
