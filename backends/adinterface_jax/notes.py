"""Notes on JAX errors: what the user should know."""

from __future__ import annotations

import jax

from adinterface.core.contract import TAKE_FUNCTIONS, Note

_OUTLIVED = (
    "A traced array outlived its trace. A rule, root, fixed_point or linear_solve gives no"
    " derivative by an array that it captures. Make it a positional parameter, or pass it through"
    " ignore_derivatives outside of the rule. Or f computes with the array in a thread that it"
    " started, which JAX cannot follow: compute in the thread of f."
)
_READ_ONLY = (
    "JAX arrays cannot be written to. Build the array with xp.stack, xp.concat or xp.where, or use"
    " x = x.at[i].set(value)."
)

NOTES = [
    Note(
        TypeError,
        "unsupported format string passed to .*Tracer",
        "A number that JAX is tracing has no text. Print it with jax.debug.print('{}', x), or print"
        " outside of f.",
    ),
    Note(
        jax.errors.TracerArrayConversionError,
        "",
        f"NumPy or SciPy was called on a JAX array that is being differentiated. {TAKE_FUNCTIONS}",
    ),
    Note(
        TypeError,
        "must be Tensor, not",
        "A torch function got a JAX array. Write xp.sin(x) with xp ="
        " adinterface.array_namespace(x), or differentiate with AutoTorch().",
    ),
    Note(
        TypeError,
        "as an abstract array|is not a valid JAX type",
        "A JAX function got something that is not an array of numbers. Convert it: numpy.asarray(x,"
        " dtype=float).",
    ),
    Note(
        TypeError,
        "'Tensor' and '.*Tracer'|Tracer' and 'Tensor'",
        "An array that JAX is tracing met a tensor. Use one engine for nested calls, or"
        " AutoFiniteDifferences() for the outer one.",
    ),
    Note(
        (TypeError, NotImplementedError),
        "to a custom_vjp function|Differentiation rule for 'custom_lin'",
        "f calls a function that has a rule for reverse mode alone (jax.custom_vjp, as Diffrax's"
        " solvers do). Use gradient, or AutoJax(mode='reverse'). To go forward, Diffrax takes"
        " adjoint=diffrax.ForwardMode().",
    ),
    Note(
        (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError),
        "",
        "JAX cannot turn a traced array into a Python number, a truth value or a mask here. Keep it"
        " an array (xp.sum(x), not float(xp.sum(x))). Under jax.jit or jax.vmap use jax.numpy.where"
        " or adinterface.loops.cond instead of a branch on a value. A prepared call stays eager"
        " with AutoJax(jit=False), a batched one takes one entry after another with"
        " AutoJax(chunk_size=1).",
    ),
    Note(
        OverflowError,
        "parsing an argument|too large to convert",
        "A Python int met a JAX array whose integers are narrower. Pass a float,"
        " Constant(float(n)).",
    ),
    Note(jax.errors.UnexpectedTracerError, "", _OUTLIVED),
    Note(
        TypeError,
        "No constant handler for type.*Tracer|Tracer.*No constant handler for type",
        _OUTLIVED,
    ),
    Note(
        RuntimeError,
        "has been deleted",
        "A JAX array that was passed, or that f captures, no longer has its numbers: a function of"
        " jax.jit with donate_argnums has taken them. Pass what that function returned, or do not"
        " donate what is needed again.",
    ),
    Note(TypeError, "item assignment", _READ_ONLY),
    Note(ValueError, "setting an array element with a sequence", _READ_ONLY),
]
