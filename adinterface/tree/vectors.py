"""Trees as one vector, and trees of blocks as one matrix."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._trees import along, flatten_tree, rebuild
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import ConversionError, TreeError
from ..core.contract.library import NUMPY, PYTHON, Library, complex_of, dtype_kind, widest
from ..core.contract.registry import backend_class, find
from ..core.contract.tracing import untraced
from ..core.tree.structures import Leaf
from .mapping import require_leaf


@untraced
def ravel(tree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All leaves that can have a gradient as one vector, and the inverse function.

    Returns `(vector, unravel)`. The vector has shape `(n,)`, in the library of the first array,
    NumPy for Python numbers. Its dtype is the widest of the leaves, complex if one leaf is.
    `unravel(vector)` gives the tree, with each leaf in its own library, dtype, shape and device;
    for a traced vector, with traced leaves. An array at several places is in the vector at each.

    `unravel` raises TreeError for a vector of another length.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> vector, unravel = tree.ravel({"w": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> vector
    array([1., 2., 3.])
    >>> unravel(vector * 2)
    {'w': array([[2., 4.]]), 'b': 6.0}
    """
    structure, result = flatten_tree(tree)
    active = [leaf for leaf in result if leaf.differentiated]
    library = next((leaf.library for leaf in active if leaf.library is not PYTHON), NUMPY)
    dtype = _common(
        [leaf.library.dtype(leaf.value) for leaf in active if leaf.library is not PYTHON], active
    )
    scoping = library.precision((dtype,))
    with (None if scoping is None else scoping()) or nullcontext():
        parts = [_as_vector(leaf, library, dtype) for leaf in active] or [
            library.asarray(np.zeros(0), dtype=dtype)
        ]
        vector = library.namespace(parts[0]).concat(parts)
    sizes = [math.prod(leaf.library.shape(leaf.value)) for leaf in active]
    kept = [
        (leaf.differentiated, _Place(leaf) if leaf.differentiated else leaf.value)
        for leaf in result
    ]

    def unravel(vector: Any) -> Any:
        source = require_leaf(vector, "the vector")
        if source.shape(vector) != (sum(sizes),):
            raise TreeError(
                f"unravel: the vector has shape {source.shape(vector)}, but the tree has"
                f" {sum(sizes)} numbers: ({sum(sizes)},)."
            )
        start, pieces = 0, []
        for size in sizes:
            pieces.append(vector[start : start + size])
            start += size
        taken: set[int] = set()
        part = iter(pieces)
        values = [
            place.restored(next(part), source, taken) if active else place for active, place in kept
        ]
        return rebuild(structure, iter(values))

    return vector, unravel


class _Place:
    """How a leaf is made from its part of a vector."""

    def __init__(self, leaf: Leaf):
        self.library, self.shape = leaf.library, leaf.library.shape(leaf.value)
        self.dtype = leaf.library.dtype(leaf.value)
        #: An example for the device, and for the class of a NumPy scalar.
        self.like = None if leaf.library is PYTHON else leaf.value

    def restored(self, part: Any, source: Library, taken: set[int]) -> Any:
        xp = source.namespace(part)
        if dtype_kind(source.dtype(part)) == "complex" and not self.dtype.startswith("complex"):
            part = xp.real(part)
        array = xp.reshape(part, self.shape)
        dtype = {"float": "float64", "complex": "complex128"}.get(self.dtype, self.dtype)
        if self.library is PYTHON and source.traced(array):
            return array
        return self.library.restore(array, source, self.like, dtype, taken)


def _common(dtypes: Sequence[str], active: Sequence[Leaf]) -> str:
    real = widest(dtypes)
    complexes = any(dtype_kind(dtype) == "complex" for dtype in dtypes) or any(
        type(leaf.value) is complex for leaf in active
    )
    return complex_of(real) if complexes else real


def _as_vector(leaf: Leaf, library: Library, dtype: str) -> Any:
    value = leaf.value
    if leaf.library is not library:
        value = library.asarray(
            value if leaf.library in (PYTHON, NUMPY) else library.foreign(value, leaf.library),
            dtype=dtype,
        )
    array = library.asarray(value, dtype=dtype)
    return library.namespace(array).reshape(array, (-1,))


# Blocks
# ------------------------------------------------------------------------------------------------


@untraced
def as_matrix(blocks: Any, rows: Any, columns: Any = None) -> Any:
    """What `jacobian` or `hessian` returned as one matrix of shape `(m, n)`.

    rows: what f returned, or a tree like it, of m numbers; columns: the tuple of f's arguments, of
    n numbers. A Hessian takes its argument alone: `as_matrix(hessian(f, backend, x), x)`. The order
    is that of `ravel`. What is None counts as zero. SciPy's sparse matrices, as `AutoSparse` gives
    them, make a sparse matrix of the same format. Raises TreeError where blocks, rows and columns
    do not fit.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, hessian, tree
    >>> x = {"a": 1.0, "b": np.array([2.0, 3.0])}
    >>> H = hessian(lambda x: x["a"] * x["b"][0] * x["b"][1], AutoFiniteDifferences(), x)
    >>> tree.as_matrix(H, x).round(4) + 0.0
    array([[0., 3., 2.],
           [3., 0., 1.],
           [2., 1., 0.]])
    """
    lines = []
    result = list(_lines(blocks, rows, columns))
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and any(
        sparse.issparse(block) for _, parts in result for _, block, _ in parts
    ):
        return _sparse_matrix(sparse, result)
    for m, parts in result:
        made = []
        for n, block, shape in parts:
            library = None if block is None else require_leaf(block, "the blocks")
            if block is not None and library is not None and library.shape(block) != shape:
                raise TreeError(
                    f"as_matrix: a block has shape {library.shape(block)}, but its row and column"
                    f" ask for {shape}."
                )
            made.append((m, n, block, library))
        lines.append(made)
    example = next((cell for line in lines for cell in line if cell[2] is not None), None)
    if example is None:
        raise TreeError("as_matrix: there is no block.")
    library = example[3] if example[3] is not PYTHON else NUMPY
    assert library is not None
    whole = [[_as_block(cell, library, example[2]) for cell in line] for line in lines]
    xp = library.namespace(whole[0][0])
    return xp.concat([xp.concat(line, axis=1) for line in whole], axis=0)


def _sparse_matrix(
    sparse: Any, lines: list[tuple[int, list[tuple[int, Any, tuple[int, ...]]]]]
) -> Any:
    formats = []
    for m, parts in lines:
        for n, block, _ in parts:
            if block is None:
                continue
            if not sparse.issparse(block):
                raise TreeError(
                    f"as_matrix: the blocks are sparse matrices and a {type(block).__name__}. Pass"
                    " one kind alone."
                )
            if block.shape != (m, n):
                raise TreeError(
                    f"as_matrix: a sparse block has shape {block.shape}, but its row and column"
                    f" have {m} and {n} numbers."
                )
            formats.append(block.format)
            single = block
    if len(lines) == len(lines[0][1]) == 1:
        return single
    return sparse.block_array(
        [
            [sparse.coo_array((m, n)) if block is None else block for n, block, _ in parts]
            for m, parts in lines
        ],
        format=formats[0],
    )


def _as_block(cell: tuple[int, int, Any, Library | None], library: Library, example: Any) -> Any:
    m, n, block, own = cell
    if block is None:
        like = None if require_leaf(example, "the blocks") is PYTHON else example
        dtype = "float64" if like is None else library.dtype(like)
        return library.asarray(np.zeros((m, n)), dtype=dtype, like=like)
    if own is not library:
        block = library.asarray(
            block if own in (PYTHON, NUMPY) or own is None else library.foreign(block, own)
        )
    return library.namespace(block).reshape(block, (m, n))


def _lines(
    blocks: Any, rows: Any, columns: Any
) -> list[tuple[int, list[tuple[int, Any, tuple[int, ...]]]]]:
    """The cells of a matrix, for each leaf of the rows.

    Each is `(height, [(width, block, shape of the block), ...])`.
    """
    row_structure, row_leaves = flatten_tree(rows)
    column_structure, column_leaves = (
        (row_structure, row_leaves) if columns is None else flatten_tree(columns)
    )
    lines = []
    for leaf, line in zip(
        row_leaves,
        along(row_structure, row_leaves, blocks, "the blocks", first="the rows", any_value=True),
    ):
        if not leaf.differentiated:
            continue
        height = leaf.library.shape(leaf.value)
        parts = [
            (math.prod(shape), block, (*height, *shape))
            for column, block in zip(
                column_leaves,
                along(
                    column_structure,
                    column_leaves,
                    line,
                    "the blocks",
                    first="the columns",
                    any_value=True,
                ),
            )
            if column.differentiated
            for shape in [column.library.shape(column.value)]
        ]
        lines.append((math.prod(height), parts))
    return lines


# Other libraries
# ------------------------------------------------------------------------------------------------


@untraced
def cast(tree: Any, dtype: Any) -> Any:
    """The same tree with its floating arrays in another dtype, such as `"float32"`.

    `numpy.float64` and names of engines, as `"bfloat16"`, work, too.

    Complex arrays take the complex dtype of that precision; integers and Python's numbers stay.
    Raises PrecisionError for a dtype that a leaf's library lacks, TypeError for one that is not
    real and floating.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> tree.cast({"w": np.ones(2)}, "float32")
    {'w': array([1., 1.], dtype=float32)}
    """
    name = _dtype_name(dtype)
    structure, result = flatten_tree(tree)
    values = [
        _cast(leaf, name) if leaf.differentiated and leaf.library is not PYTHON else leaf.value
        for leaf in result
    ]
    return rebuild(structure, iter(values))


def _dtype_name(dtype: Any) -> str:
    if isinstance(dtype, str):
        name = dtype
    else:
        try:
            name = np.dtype(dtype).name
        except TypeError:  # an engine's own, which is printed with the engine in front
            name = str(dtype).rpartition(".")[2]
    if dtype_kind(name) != "real":
        raise TypeError(f"cast: dtype must be real and floating, such as 'float32', not {dtype!r}.")
    return name


def _cast(leaf: Leaf, dtype: str) -> Any:
    library = leaf.library
    target = complex_of(dtype) if dtype_kind(library.dtype(leaf.value)) == "complex" else dtype
    return (
        leaf.value
        if library.dtype(leaf.value) == target
        else library.asarray(leaf.value, dtype=target)
    )


@untraced
def to(tree: Any, library: str | AutoBackend, *, dtype: Any = None, device: Any = None) -> Any:
    """The same tree with its arrays in another library.

    That is `"numpy"`, `"torch"`, `"jax"`, or the one of a backend, `AutoTorch()`.

    Integer arrays go too, Python's numbers stay. Memory is shared where both libraries allow it.
    `dtype` is as for `cast`, and `device` as the engine names it. Raises BackendError for a name
    that no backend has. Raises ConversionError for a module, whose code computes with its own
    library alone, and for a leaf that an engine traces.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> type(tree.to({"w": np.ones(2)}, "numpy")["w"]).__name__
    'ndarray'
    """
    target = _library_of(library)
    structure, result = flatten_tree(tree)
    values = [
        leaf.value if leaf.library is PYTHON else _moved(leaf, target, device) for leaf in result
    ]
    moved = rebuild(structure, iter(values))
    return moved if dtype is None else cast(moved, dtype)


def _library_of(library: str | AutoBackend) -> Library:
    if library == "numpy":
        return NUMPY
    backend = backend_class(library) if isinstance(library, str) else find(library)
    return next(iter(backend.libraries), NUMPY)


def _moved(leaf: Leaf, target: Library, device: Any) -> Any:
    source, value = leaf.library, leaf.value
    if leaf.owner is not None and source is not target:
        raise ConversionError(
            f"to: the code of {type(leaf.owner).__name__} computes with {source.name} alone, so its"
            " parameters stay there. Convert what you need of it: dict(module.named_parameters())."
        )
    if source is target:
        return value if device is None else target.asarray(value, like=device)
    if source.traced(value):
        raise ConversionError(
            f"to: a leaf is traced by {source.name}, which its numbers cannot leave."
        )
    exported = value if source is NUMPY else target.foreign(value, source)
    return target.asarray(exported, dtype=source.dtype(value), like=device)


__all__ = ["as_matrix", "cast", "ravel", "to"]
