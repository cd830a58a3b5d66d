"""Patterns from traces: no function misses an entry; what is too much is counted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from adinterface_conformance import uses
from adinterface_conformance.use import Use
from adinterface_studies.functions import numpy_code

from adinterface import (
    array_namespace,
)
from adinterface.sparse.detect_trace import traced_pattern
from adinterface.sparse.traced import Traced

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def floating(result: Any) -> Iterator[Any]:
    """The floating arrays of a result, in order."""
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from floating(part)
    elif isinstance(result, (Traced, np.ndarray, np.generic, float, complex)):
        part = result if isinstance(result, Traced) else np.asarray(result)
        if part.dtype.kind in "fc":
            yield part


def vector(f: Function, arrays: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *[np.ravel(part) for part in floating(f(*arrays))]])


def differences(f: Function, arrays: Sequence[Array]) -> Array:
    """Which results move with which inputs, by differences."""
    columns = []
    for n, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            moved = []
            for step in (1e-6, -1e-6):
                copies = [x.copy() for x in arrays]
                copies[n][place] += step
                moved.append(vector(f, copies))
            columns.append(np.abs(moved[0] - moved[1]) > 1e-11)
    return np.stack(columns, axis=-1) if columns else np.zeros((vector(f, arrays).size, 0), bool)


def pattern(f: Function, arrays: Sequence[Array]) -> Array:
    def outputs(active: Sequence[Any], others: Sequence[Any]) -> Any:
        return tuple(floating(f(*active))) or (np.zeros(0),)

    return traced_pattern(outputs, arrays, [], second=False, values=True).pattern.toarray()


# Every function
# ------------------------------------------------------------------------------------------------

USES = [use for use in (*uses.USES, *numpy_code.USES) if use.kind != "flat"]


def test_every_function_of_the_array_api_and_of_numpy_code_is_traced_without_a_missing_entry() -> (
    None
):
    entries = surplus = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for use in USES:
            f = in_namespace(use)
            arrays = [np.array(array) for array in use.arrays]
            found = pattern(f, arrays)
            moved = differences(f, arrays)
            assert not (moved & ~found).any(), use.source or use.name
            entries += int(moved.sum())
            surplus += int((found & ~moved).sum())
    assert len(USES) > 1000
    # What reduces or sorts depends on all that it looks at: at one point, less of it moves.
    assert surplus < 0.3 * entries


def in_namespace(use: Use) -> Function:
    return (lambda *arrays: use.f(array_namespace(*arrays), *arrays)) if use.neutral else use.f
