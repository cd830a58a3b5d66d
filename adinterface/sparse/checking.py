"""A sparse derivative against the engine: a product with one random vector, by the matrix and by a
pass of the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..core.call.call import Call
from ..core.contract.arrays import library_of, size_of
from ..core.contract.backend import Arrays, Backend
from ..core.contract.errors import SparsityError
from ..core.contract.library import epsilon
from ..core.derive import policy
from .blocks import BlockLayout
from .compressed import joined
from .detection import ColouredPattern, Derivative, differenced, numbers_of

Array = np.ndarray[Any, Any]
T = TypeVar("T")


def verify(
    operation: Derivative,
    layout: BlockLayout,
    coloured: ColouredPattern,
    call: Call,
    blocks: list[list[Any]],
    product: Arrays | None,
) -> bool:
    """Raises SparsityError, which names rows, if the matrices times a random vector differ from the
    engine's product.

    blocks: for each block its SciPy matrix, or its entries in the order of the layout as the
        engine's array.
    product: the engine's product with `operation.direction`, if it was computed with the matrices.
    Returns False if the engine has not computed the numbers yet. Rows that are not finite are
    skipped.
    """
    backend = operation.outermost
    beside = product is not None and not operation.compiled
    transposed = (
        coloured.colouring.by == "rows"
        if beside
        else not (operation.second or policy.directions(backend)[0])
    )
    vector = operation.direction(transposed=transposed)
    entries = [[_entries(backend, part) for part in row] for row in blocks]
    if any(part is None for row in entries for part in row):
        return False
    if product is not None:
        expected = _joined(backend, product)
    else:
        expected = _again(operation, call, partial(_by_engine, operation, vector, transposed))
    if expected is None:
        return False
    weights = joined(backend.scales(call.leaves)) if beside else None
    if weights is not None:
        vector = vector * weights
    result, size = _by_matrices(entries, layout, vector, transposed)
    tolerance = _tolerance(operation, call)
    with np.errstate(all="ignore"):
        excess = np.abs(result - expected)
        excess -= tolerance * (size + np.abs(expected) + tolerance * np.max(size, initial=0.0))
        wrong = np.flatnonzero(excess > 0.0)
    if wrong.size and _measured(operation, call):
        wrong = np.flatnonzero(excess > _again(operation, call, partial(_noise, operation, call)))
    if wrong.size:
        _refuse(operation, coloured, wrong, result, expected, transposed)
    return True


def _again(operation: Derivative, call: Call, compute: Callable[[Call, Arrays], T]) -> T:
    """`compute(f, leaves)` in a new call, outside compiled code."""
    again = Call(call.plan, call.f, call.values)
    with again.scope():
        return compute(again, again.enter())


def _by_engine(
    operation: Derivative, vector: Array, transposed: bool, function: Call, leaves: Arrays
) -> Array | None:
    backend = operation.outermost
    likes = function(*leaves)[0] if transposed else leaves
    return _joined(backend, operation.product(function, leaves, split(backend, vector, likes)))


def split(backend: Backend, vector: Array, likes: Arrays) -> Arrays:
    """A vector of all numbers as native arrays like these."""
    parts: list[Any] = []
    offset = 0
    for like in likes:
        library, size = library_of(backend, like), size_of(backend, like)
        part = vector[offset : offset + size].reshape(library.shape(like))
        parts.append(library.asarray(part, dtype=library.dtype(like), like=like))
        offset += size
    return tuple(parts)


def _joined(backend: Backend, arrays: Arrays) -> Array | None:
    """All numbers in one vector; None where the engine has not computed them yet."""
    parts = [np.zeros(0)]
    for array in arrays:
        numbers = numbers_of(backend, array)
        if numbers is None:
            return None
        parts.append(np.ravel(numbers if numbers.dtype.kind in "fc" else numbers.astype("float64")))
    return np.concatenate(parts)


def _by_matrices(
    entries: list[list[Any]], layout: BlockLayout, vector: Array, transposed: bool
) -> tuple[Array, Array]:
    """The product of the matrices and a vector, and that of their absolute values, which bounds the
    rounding.
    """
    rows, columns = [np.cumsum([0, *sizes]) for sizes in (layout.outputs, layout.leaves)]
    result, size = [
        np.zeros(int((columns if transposed else rows)[-1]), dtype) for dtype in (complex, float)
    ]
    for k, (row, blocks) in enumerate(zip(entries, layout.blocks)):
        for n, (own, block) in enumerate(zip(row, blocks)):
            to, of = slice(rows[k], rows[k + 1]), slice(columns[n], columns[n + 1])
            if transposed:
                to, of = of, to
            lines, along = (
                (block.columns, block.rows) if transposed else (block.rows, block.columns)
            )
            with np.errstate(all="ignore"):
                products = own * vector[of][along]
                for total, weights in (
                    (size, np.abs(products)),
                    (result.real, products.real),
                    (result.imag, products.imag),
                ):
                    total[to] += np.bincount(lines, weights, to.stop - to.start)
    return result, size


def _entries(backend: Backend, part: Any) -> Array | None:
    """The entries of a block in the order of its rows, in double precision at least.

    None where they are not known.
    """
    if part is None:  # the block has no entries
        return np.zeros(0)
    result = np.asarray(part.tocsr().data) if hasattr(part, "tocsr") else numbers_of(backend, part)
    if result is None:
        return None
    return result.astype(
        np.result_type(result, "float64") if result.dtype.kind in "fc" else "float64", copy=False
    )


def _tolerance(operation: Derivative, call: Call) -> float:
    """The tolerance for rounding, and for the engine's own error, in a sum of absolute terms."""
    return float(max(np.sqrt(_coarsest(call)), 10 * np.sqrt(_measured(operation, call))))


def _coarsest(call: Call) -> float:
    return max([epsilon(dtype) for dtype in call.plan.dtypes])


def _measured(operation: Derivative, call: Call) -> float:
    """The relative error of finite differences; 0 for an engine that differentiates."""
    engines = operation.outermost, call.plan.backend
    return max([backend.relative_error(operation.orders, _coarsest(call)) for backend in engines])


def _noise(operation: Derivative, call: Call, function: Call, leaves: Arrays) -> float:
    """The absolute error of differences of f, which a constant f has, too."""
    values = _joined(operation.outermost, differenced(operation, function)(*leaves)[0])
    if values is None:
        return 0.0
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    return _measured(operation, call) * max(1.0, float(largest))


def _refuse(
    operation: Derivative,
    coloured: ColouredPattern,
    wrong: Array,
    found: Array,
    expected: Array,
    transposed: bool,
) -> None:
    shown = ", ".join(map(str, wrong[:5].tolist()))
    more = f" and {wrong.size - 5} more" if wrong.size > 5 else ""
    line = "column" if transposed else "row"
    first = int(wrong[0])
    if coloured.how == "given" and coloured.pattern.local:
        remedy = (
            "sparsity(...) has found it for other values, and these lead another way: find it anew,"
            " or pass a pattern=... that holds everywhere."
        )
    elif coloured.how == "given":
        remedy = "Leave pattern=... out to have it detected, or compare it with sparsity(...)."
    elif coloured.how.startswith("probed at"):
        remedy = (
            "It was found at other arguments, near which f fails: make the call without prepare, or"
            " pass a pattern=... that holds everywhere."
        )
    elif coloured.how.startswith("probed"):
        remedy = (
            "It was found at other arguments, where these entries vanish: make the call without"
            " prepare, pass a pattern=... that holds everywhere, or write f so that it can be"
            ' traced and take detect="trace".'
        )
    elif coloured.pattern.local:
        remedy = (
            "f branches on values, and these lead another way: make the call without prepare, or"
            " pass a pattern=... that holds for every branch."
        )
    else:
        remedy = (
            "If f captures what has changed, prepare the call anew, or pass that as an argument,"
            " such as Constant(c). Otherwise pass a pattern=... that holds everywhere."
        )
    single = wrong.size == 1
    raise SparsityError(
        f"{operation.name}: the derivative has entries outside its pattern ({coloured.how}) in"
        f" {line}{'' if single else 's'} {shown}{more}: along a random direction {line} {first} is"
        f" {_short(found[first])} by the matrix and {_short(expected[first])} by"
        f" {type(operation.outermost.auto).__name__}. {remedy}"
    )


def _short(number: Any) -> str:
    number = complex(number)
    return f"{number:.6g}" if number.imag else f"{number.real:.6g}"


__all__ = ["split", "verify"]
