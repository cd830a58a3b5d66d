"""What this engine is known not to do: the conformance table shows the reason and the link."""

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

_ERRORS = "https://docs.jax.dev/en/latest/errors.html#jax.errors."
_BOOL = "TracerBoolConversionError"

KNOWN_FAILURES: tuple[KnownFailure, ...] = tuple(
    [
        KnownFailure(scenario, "prepared", reason, _ERRORS + error)
        for scenario, reason, error in (
            ("function:if x > y", _BRANCH.format("xp.where"), _BOOL),
            ("function:x[[]mask]", _MASK, "NonConcreteBooleanIndexError"),
            ("numpy:x[[]index]", _MASK, "NonConcreteBooleanIndexError"),
            ("numpy:np.uni*", _SHAPES, "ConcretizationTypeError"),
            ("numpy:Python's m*", _BRANCH.format("np.max and np.minimum"), _BOOL),
        )
    ]
)
