"""A sparse derivative against the engine: a product with one random vector, by the matrix and by a pass of the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import derive
from ..call.call import Call
from ..call.output import Function
from ..contract.backend import Arrays, Backend
from ..contract.errors import SparsityError
from ..contract.library import epsilon
from ..derive.basis import library_of, size_of
from ..sparse.layout import Layout
from ..sparse.scipy_door import scipy_sparse
from .sparse_pattern import Derivative, Structure

Array = np.ndarray[Any, Any]


def verify(
    operation: Derivative, layout: Layout, structure: Structure, call: Call, matrices: list[list[Any]], product: Arrays | None
) -> None:
    """Raises SparsityError, which names rows, if the matrices times a random vector is not what the engine gives for it.

    product: what the engine gives for `layout.direction`, where compiled code has computed it.
    Under a transformation of the engine there are no numbers to compare. Rows that are not finite are passed over.
    """
    backend = operation.outermost
    transposed = not operation.second and not derive.directions(backend)[0]
    vector, noise = layout.direction(transposed=transposed), 0.0
    if product is not None:
        expected = _joined(backend, product)
    else:
        again = Call(call.plan, call.values, call.f)
        with again.scope():
            leaves = again.enter()
            if any(library_of(backend, leaf).traced(leaf) for leaf in leaves) or _traced(backend, matrices):
                return
            function = Function(call.plan, call.f, again.enter_carried(), operation.output)
            expected = _by_engine(operation, function, leaves, vector, transposed)
            noise = _noise(operation, call, function, leaves)
    found, size = _by_matrices(backend, matrices, layout, vector, transposed)
    tolerance = _tolerance(operation, call)
    with np.errstate(all="ignore"):
        apart = np.abs(found - expected)
        wrong = np.flatnonzero(apart > tolerance * (size + np.abs(expected) + tolerance * np.max(size, initial=0.0)) + noise)
    if wrong.size:
        _refuse(operation, structure, wrong, found, expected, transposed)


def _traced(backend: Backend, matrices: list[list[Any]]) -> bool:
    library = backend.library
    data = [getattr(matrix, "data", None) for row in matrices for matrix in row]
    return library is not None and any(library.owns(part) and library.traced(part) for part in data)


def _by_engine(operation: Derivative, function: Function, leaves: Arrays, vector: Array, transposed: bool) -> Array:
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


def _joined(backend: Backend, arrays: Arrays) -> Array:
    numbers = [np.ravel(library_of(backend, array).to_numpy(array)) for array in arrays]
    return np.concatenate([part if part.dtype.kind in "fc" else part.astype("float64") for part in numbers] or [np.zeros(0)])


def _by_matrices(
    backend: Backend, matrices: list[list[Any]], layout: Layout, vector: Array, transposed: bool
) -> tuple[Array, Array]:
    """The product, and that of absolute values, by which rounding is measured."""
    rows, columns = [np.cumsum([0, *sizes]) for sizes in (layout.outputs, layout.leaves)]
    found, size = [np.zeros(int((columns if transposed else rows)[-1]), dtype) for dtype in (complex, float)]
    for k, (row, blocks) in enumerate(zip(matrices, layout.blocks)):
        for n, (matrix, block) in enumerate(zip(row, blocks)):
            entries = _entries(backend, matrix, block)
            to, of = slice(rows[k], rows[k + 1]), slice(columns[n], columns[n + 1])
            if transposed:
                to, of = of, to
            with np.errstate(all="ignore"):
                for total, numbers, factors in ((found, entries, vector), (size, np.abs(entries), np.abs(vector))):
                    whole = scipy_sparse().csr_array((numbers, block.columns, block.pointers), shape=block.shape)
                    total[to] += (whole.T if transposed else whole) @ factors[of]
    return found, size


def _entries(backend: Backend, matrix: Any, block: Any) -> Array:
    """The entries of a block in the order of its rows, whatever form it has, in double precision at least."""
    if hasattr(matrix, "tocsr"):
        found = np.asarray(matrix.tocsr().data)
    else:
        values = matrix.values() if callable(getattr(matrix, "values", None)) else matrix.data
        found = library_of(backend, values).to_numpy(values)
    return found.astype(np.result_type(found, "float64") if found.dtype.kind in "fc" else "float64", copy=False)


def _tolerance(operation: Derivative, call: Call) -> float:
    """How much rounding, or the engine's own error, may make of the sum of absolute terms."""
    return float(max(np.sqrt(_coarsest(call)), 10 * np.sqrt(_measured(operation, call))))


def _coarsest(call: Call) -> float:
    return max([epsilon(dtype) for dtype in call.plan.dtypes])


def _measured(operation: Derivative, call: Call) -> float:
    """The relative error of an engine that measures; 0 of one that differentiates."""
    order = 2 if operation.second else 1
    errors = [backend.relative_error(order, _coarsest(call)) for backend in (operation.outermost, call.plan.backend)]
    return max([error for error in errors if error is not None], default=0.0)


def _noise(operation: Derivative, call: Call, function: Function, leaves: Arrays) -> float:
    """What differences of f's values are never without, however flat f is."""
    measured = _measured(operation, call)
    if not measured:
        return 0.0
    values = _joined(operation.outermost, function(*leaves)[0])
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    return measured * max(1.0, float(largest))


def _refuse(operation: Derivative, structure: Structure, wrong: Array, found: Array, expected: Array, transposed: bool) -> None:
    shown = ", ".join(map(str, wrong[:5].tolist()))
    more = f" and {wrong.size - 5} more" if wrong.size > 5 else ""
    line = "column" if transposed else "row"
    first = int(wrong[0])
    if structure.how == "given":
        remedy = "Leave pattern=... out to have it detected, or compare it with sparsity(...)."
    elif structure.local and structure.how.startswith("probed"):
        remedy = (
            "It was found at other arguments, beside which f fails: make the call without prepare, or pass a pattern=... that "
            "holds everywhere."
        )
    elif structure.local:
        remedy = (
            "f branches on values, and these lead another way: make the call without prepare, or pass a pattern=... that holds "
            "for every branch."
        )
    else:
        remedy = "Pass a pattern=... that holds everywhere" + (
            ', or write f so that it can be traced and take detect="trace".' if structure.how.startswith("probed") else "."
        )
    single = wrong.size == 1
    raise SparsityError(
        f"{operation.name}: the derivative has entries outside its pattern ({structure.how}) in {line}{'' if single else 's'} "
        f"{shown}{more}: along a random direction {line} {first} is {_short(found[first])} by the matrix and "
        f"{_short(expected[first])} by {type(operation.outermost.auto).__name__}. {remedy}"
    )


def _short(number: Any) -> str:
    number = complex(number)
    return f"{number:.6g}" if number.imag else f"{number.real:.6g}"


__all__ = ["split", "verify"]
