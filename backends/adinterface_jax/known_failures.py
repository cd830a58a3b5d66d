"""What this engine is known not to do, as data: the conformance table shows the reason and the
link.
"""

from adinterface.core.contract import KnownFailure

_BRANCH = "jax.jit cannot follow a Python branch on a value; use {}, or AutoJax(jit=False)"
_MASK = (
    "jax.jit takes a boolean mask as a NumPy array only, because the shape of the result depends"
    " on it"
)
_SHAPES = (
    "jax.jit has no shapes that depend on values, such as the number of different elements; use"
    " AutoJax(jit=False)"
)

KNOWN_FAILURES: tuple[KnownFailure, ...] = tuple(
    [
        KnownFailure(
            scenario,
            check,
            reason,
            f"https://docs.jax.dev/en/latest/errors.html#jax.errors.{error}",
        )
        for scenario, check, reason, error in (
            (
                "function:if x > y",
                "prepared",
                _BRANCH.format("xp.where"),
                "TracerBoolConversionError",
            ),
            ("function:x[[]mask]", "prepared", _MASK, "NonConcreteBooleanIndexError"),
            ("numpy:x[[]index]", "prepared", _MASK, "NonConcreteBooleanIndexError"),
            ("numpy:np.uni*", "prepared", _SHAPES, "ConcretizationTypeError"),
            (
                "numpy:Python's m*",
                "prepared",
                _BRANCH.format("np.max and np.minimum"),
                "TracerBoolConversionError",
            ),
        )
    ]
)
