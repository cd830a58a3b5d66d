"""What this engine is known not to do, as data: the conformance table shows the reason and the link."""

from adinterface.core.contract.backend import KnownFailure

KNOWN_FAILURES: tuple[KnownFailure, ...] = (
    KnownFailure(
        "*",
        "outer_in_a_thread",
        "an array that JAX traces belongs to the thread of its trace",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError",
    ),
    KnownFailure(
        "function:if x > y",
        "prepared",
        "jax.jit cannot follow a Python branch on a value; use xp.where, or AutoJax(jit=False)",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError",
    ),
    KnownFailure(
        "function:x[[]mask]",
        "prepared",
        "jax.jit takes a boolean mask as a NumPy array only, because the shape of the result depends on it",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.NonConcreteBooleanIndexError",
    ),
    KnownFailure(
        "numpy:x[[]index]",
        "prepared",
        "jax.jit takes a boolean mask as a NumPy array only, because the shape of the result depends on it",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.NonConcreteBooleanIndexError",
    ),
    KnownFailure(
        "numpy:np.uni*",
        "prepared",
        "jax.jit has no shapes that depend on values, such as the number of different elements; use AutoJax(jit=False)",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError",
    ),
    KnownFailure(
        "numpy:Python's m*",
        "prepared",
        "jax.jit cannot follow a Python branch on a value; use np.max and np.minimum, or AutoJax(jit=False)",
        "https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError",
    ),
)
