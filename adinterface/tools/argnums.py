"""`with_argnums` and `backend_of`: what a library with a dispatcher of its own asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._trees import along, flatten_tree
from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.errors import BackendError
from ..core.contract.library import NUMPY, PYTHON
from ..core.contract.registry import auto_class
from ..core.operators.gradient import ValueAndGradient, gradient, value_and_gradient
from ..core.operators.jacobian import ValueAndJacobian, jacobian, value_and_jacobian
from ..core.operators.prepare import prepare
from ..core.tree import Constant, build_gradient

Pick = Callable[[tuple[Any, ...]], Any]


def with_argnums(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backend: AutoBackend,
    argnums: int | Sequence[int] = 0,
    *,
    prepared: bool = False,
) -> Callable[..., Any]:
    """The derivative of f with respect to some of its arguments, as `jax.grad` takes it.

    operator: `gradient`, `value_and_gradient`, `jacobian` or `value_and_jacobian`.
    argnums: the position of an argument, or several; -1 is the last. Every other argument is a
        Constant.
    prepared: the call is prepared at its first use (`prepare`), and f must be pure.

    In place of the tuple with an entry for each argument, the result holds the entry of that one
    argument, for an int, or a tuple with those of several, in the order of argnums. The Jacobian of
    a tree-valued f has that at each leaf of the value. Keywords go to f. Raises TypeError for
    another operator, for argnums that are no ints, and for a position that the call does not have;
    else what the operator raises.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> by_last = with_argnums(gradient, lambda x, y, *, scale=1.0: x * y * scale,
    ...     AutoFiniteDifferences(), -1)
    >>> round(by_last(2.0, 3.0, scale=5.0), 6)
    10.0
    """
    if operator not in _PICKS:
        names = ", ".join(known.__name__ for known in _PICKS)
        raise TypeError(
            f"with_argnums: the operator must be one of {names}, not"
            f" {getattr(operator, '__name__', operator)!r}."
        )
    several = isinstance(argnums, Sequence) and not isinstance(argnums, str)
    wanted: tuple[Any, ...] = tuple(argnums) if several else (argnums,)  # type: ignore[arg-type]
    if not wanted or not all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in wanted
    ):
        raise TypeError(
            f"with_argnums: argnums must be an int or a sequence of ints, not {argnums!r}."
        )
    # The Jacobian alone does not tell at which places the leaves of the value stand.
    asked = value_and_jacobian if operator is jacobian else operator
    fast = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal fast
        for n in wanted:
            if not -len(args) <= n < len(args):
                raise TypeError(
                    f"with_argnums: argnums={argnums!r} of a call with {len(args)} positional"
                    " arguments."
                )
        chosen = [n % len(args) for n in wanted]
        given = [
            x if n in chosen or isinstance(x, Constant) else Constant(x) for n, x in enumerate(args)
        ]
        if prepared:
            fast = fast or prepare(asked, f, backend, *given, **kwargs)
            result = fast(*given, **kwargs)
        else:
            result = asked(f, backend, *given, **kwargs)
        return _PICKS[operator](
            result, lambda parts: tuple([parts[n] for n in chosen]) if several else parts[chosen[0]]
        )

    return call


def _of_jacobian(both: ValueAndJacobian[Any, Any], pick: Pick) -> Any:
    """The Jacobian has a tuple at each leaf of the value."""
    structure, leaves = flatten_tree(both.value)
    rows = along(structure, leaves, both.jacobian, "the Jacobian", any_value=True)
    return build_gradient(structure, iter([None if row is None else pick(row) for row in rows]))


_PICKS: dict[Any, Callable[[Any, Pick], Any]] = {
    gradient: lambda result, pick: pick(result),
    value_and_gradient: lambda both, pick: ValueAndGradient(both.value, pick(both.gradient)),
    jacobian: _of_jacobian,
    value_and_jacobian: lambda both, pick: ValueAndJacobian(both.value, _of_jacobian(both, pick)),
}


def backend_of(*args: Any, default: AutoBackend | None = None) -> AutoBackend:
    """The backend of the engine whose arrays are among the leaves of these arguments.

    Leaves in Constants count.

    `AutoTorch()` for tensors of torch, `AutoJax()` for arrays of JAX, `AutoAutograd()` for what
    autograd traces. NumPy arrays and numbers alone give the default, `AutoFiniteDifferences()` if
    that is None.

    Raises BackendError for arrays of two engines, and NotDifferentiableError for an object with
    arrays that is no node.

    >>> import torch
    >>> backend_of({"w": torch.ones(2)}, 3.0)
    AutoTorch()
    >>> backend_of({"w": 2.0}, 3.0)
    AutoFiniteDifferences()
    """
    _, leaves = flatten_tree([x.value if isinstance(x, Constant) else x for x in args])
    names = sorted({leaf.library.name for leaf in leaves if leaf.library not in (NUMPY, PYTHON)})
    if len(names) > 1:
        raise BackendError(
            f"backend_of: the arguments hold arrays of {' and '.join(names)}. Convert them to one"
            " engine."
        )
    cls = auto_class(names[0]) if names else None
    return cls() if cls else default or AutoFiniteDifferences()


__all__ = ["backend_of", "with_argnums"]
