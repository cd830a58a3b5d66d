"""Code whose path depends on numbers, compiled for each path."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface import NumpyCodeError
from adinterface.numpy_code.for_engines import Undecided, assuming, recording

from . import unrolled
from .python_numbers import PythonNumbers, narrows

#: The largest number of compiled paths; further paths run uncompiled. A path decided by non-integers rarely repeats.
MANY_WAYS, FEW_WAYS = 8, 2
#: A path of so many operations is not compiled. A loop until an error is small has as many paths as step counts, and XLA took
#: 30 s for 2,300 operations and 125 s for 4,600, where the uncompiled call took less than one.
LONG = 4_000

#: What code that runs ends with where numbers are not known.
_NOT_COMPILED = (Undecided, NumpyCodeError, jax.errors.JAXTypeError, jax.errors.JAXIndexError)


class Decided:
    """`compute` for a prepared call, with a compiled form for each path that its arguments have taken.

    Each form also computes whether the numbers decide the assumed path. If no form fits, the call runs uncompiled and
    records the path, which is then compiled. If that fails, calls run uncompiled. Raises the errors of such a run, and
    Undecided if even that does not know the numbers.
    """

    def __init__(self, compute: Callable[..., Any]):
        self._compute = compute
        self._forms: dict[Any, Callable[..., Any]] = {}
        #: A way was too long, or its code cannot be compiled: it passes numbers on to code that takes plain arrays.
        self._left = False

    def __call__(self, *arrays: Any) -> Any:
        if any(isinstance(x, jax.core.Tracer) for x in arrays):  # inside the user's compiled code: JAX raises its own error
            return self._compute(*arrays)
        for key, form in reversed(list(self._forms.items())):
            results, holds = form(*arrays)
            if holds:
                self._used(key)
                return results
        kept = (jax.Array, float, complex) if narrows() else jax.Array
        with recording() as decisions:
            results = self._compute(*[x if isinstance(x, kept) else jnp.array(x) for x in arrays])
        broken = any(answer.dtype.kind in "fc" and np.any(answer != np.round(answer)) for answer in decisions.answers)
        if self._left or len(self._forms) >= (FEW_WAYS if broken else MANY_WAYS):
            return results
        key = tuple([(answer.dtype.str, answer.shape, answer.tobytes()) for answer in decisions.answers])
        assuming_answers = functools.partial(_assuming, self._compute, decisions.answers)
        form = PythonNumbers(assuming_answers, lambda compute: compute)
        try:
            count = unrolled.operations(jax.jit(assuming_answers).trace(*arrays).jaxpr.jaxpr)
            if count >= LONG:
                self._left = True
                unrolled.warn_left(count)
                return results
            compiled, holds = form(*arrays)  # JAX has cached the trace
        except _NOT_COMPILED:
            self._left = True
            return results
        if not holds:  # compiled code rounds differently, and one of the numbers is at a threshold
            return results
        self._forms[key] = form
        return compiled

    def _used(self, key: Any) -> None:
        """The form that was used last is tried first."""
        form = self._forms.pop(key, None)
        if form is not None:  # another thread may be here, too
            self._forms[key] = form


def _assuming(compute: Callable[..., Any], answers: Sequence[np.ndarray[Any, Any]], *arrays: Any) -> Any:
    with assuming(answers) as decisions:
        results = compute(*arrays)
    others = [jnp.ravel(jnp.asarray(asked) != answer) for asked, answer in zip(decisions.asked, answers)]
    return results, ~jnp.any(jnp.concatenate(others)) if others else jnp.asarray(True)
