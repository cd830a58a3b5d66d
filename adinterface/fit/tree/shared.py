"""What is one object at several places of a model."""

from __future__ import annotations

from typing import Any

from ...core.contract.library import PYTHON, Library
from ...core.contract.tracing import untraced
from ...core.tree.matching import along, apart, rebuild
from ...core.tree.recognition import handler_of
from .mapping import require_shape


@untraced
def sum_shared(model: Any, gradients: Any) -> Any:
    """Add up the gradients of what is one object in the model.

    Arrays that stand at several places of a model are several variables to `gradient`. If they are one parameter
    (tied weights), its gradient is the sum of theirs: this gives that sum at each of the places. `gradients` has the
    structure of `model`, as `gradient` returns it; the result has the structure of `gradients`.
    Raises TreeError if the two do not match, in their shapes too.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> w = np.ones(1)
    >>> tree.sum_shared({"a": w, "b": w}, {"a": np.array([24.0]), "b": np.array([48.0])})
    {'a': array([72.]), 'b': array([72.])}
    """
    along(*apart(model), gradients, "gradients", first="the model", fits=require_shape)
    structure, places = apart(gradients)
    owners = along(structure, places, model, "the model", first="gradients")
    pairs = [(owner, place) for owner, place in zip(owners, places) if place.differentiated]
    # Equal Python numbers may be one object without being one variable.
    keys = [n if handler_of(owner) is PYTHON else (id(owner),) for n, (owner, _) in enumerate(pairs)]
    totals: dict[Any, Any] = {}
    for key, (_, part) in zip(keys, pairs):
        totals[key] = totals[key] + part.value if key in totals else part.value
    taken: set[int] = set()
    sums: list[Any] = []
    for key in keys:
        total = totals[key]
        library = handler_of(total)
        sums.append(library.own(total, taken) if isinstance(library, Library) and library is not PYTHON else total)
    remaining = iter(sums)
    return rebuild(structure, iter([next(remaining) if place.differentiated else place.value for place in places]))
