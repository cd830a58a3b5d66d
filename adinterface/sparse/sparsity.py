"""`sparsity`: the pattern of a sparse derivative, with its colouring, to inspect and to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.call.call import Call
from ..core.call.messages import require_function
from ..core.contract.auto import AutoBackend
from ..core.operators.run import bound, find_plan, resolved
from ..core.operators.table import require_operator
from .auto import AutoSparse
from .pattern import SparsityPattern


def sparsity(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *args: Any,
    **kwargs: Any,
) -> SparsityPattern:
    """The sparsity pattern of f's Jacobian or Hessian, and its colouring.

    operator: `jacobian` or `hessian` (or the operators that return the value, too). backend: an
    `AutoSparse`; any other is wrapped in `AutoSparse(backend)`. The pattern is found by its
    `detect`, and coloured for its engine. args, kwargs: the operator's arguments after the backend.
    The pattern has a row for each number in the result and a column for each in the arguments, in
    the order of their leaves.

    The result can be saved, drawn, and passed on: `AutoSparse(backend, pattern=sparsity(jacobian,
    f, backend, x))` skips detection and colouring.

    Raises the operator's errors, SparsityError if no pattern can be found, TypeError for another
    operator.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, jacobian
    >>> from adinterface.sparse import sparsity
    >>> sparsity(jacobian, lambda x: x[1:] * x[:-1], AutoFiniteDifferences(), np.ones(5))
    SparsityPattern(4 x 5, 8 entries, density 40 %, 2 colours of columns: 2 passes)
    """
    row = require_operator("sparsity(operator, f, backend, *args)", operator)
    require_function("sparsity", f)
    auto = backend if isinstance(backend, AutoSparse) else AutoSparse(backend)
    if resolved(row, auto)[0].bind is None:
        raise TypeError(f"sparsity: {row.name} gives no matrix. Pass jacobian or hessian.")
    plan, values, _ = find_plan(row, auto, args, kwargs)
    call = Call(plan, f, values)
    with call.scope():
        call.enter()
        compute: Any = bound(plan, call).compute
    pattern: SparsityPattern = compute.__self__.coloured.pattern
    return pattern


__all__ = ["sparsity"]
