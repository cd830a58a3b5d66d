"""The operators on `AutoSparse`: the pattern and its colouring once, then a few products instead of
all.

`bind` finds the pattern for a call, or for a specialization of a prepared one. An engine compiles
the bound `compute`, and `finish` makes matrices of its results.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import derive
from ..core.call.call import Call
from ..core.call.output import OutputLayout
from ..core.call.row import Compiled, Compute, OperatorRow, Parts
from ..core.contract.arrays import block_dtype, cast, is_complex, library_of, size_of
from ..core.contract.backend import Arrays, Aux, Backend
from ..core.contract.errors import (
    NotDifferentiableError,
    OutputError,
    PrecisionError,
    SparsityError,
)
from ..core.contract.library import dtype_kind
from ..core.derive import policy
from ..core.operators.hessian import HESSIAN, VALUE_GRADIENT_AND_HESSIAN
from ..core.operators.jacobian import JACOBIAN, VALUE_AND_JACOBIAN
from ..core.operators.second_order import engines_of
from ..core.support.record import note_step
from ..core.tree import build_gradient
from . import compressed
from .auto import AutoSparse
from .blocks import Block, BlockLayout
from .checking import split, verify
from .colouring import by_symmetry, choose, fits, require_valid, symmetric
from .detection import ColouredPattern, detected_pattern, given_pattern
from .scipy_import import scipy_sparse

_SCIPY_DTYPES = (
    "float32",
    "float64",
    "complex64",
    "complex128",
    np.dtype(np.longdouble).name,
    np.dtype(np.clongdouble).name,
)


class SparseDerivative:
    """What a sparse Jacobian, or Hessian, is computed from; `bind` adds the pattern."""

    def __init__(self, row: OperatorRow, auto: AutoSparse):
        scipy_sparse()
        self.row, self.name, self.sparse = row, row.name, auto
        #: Whether it is a Hessian.
        self.second: bool = "hessian" in row.forms
        self.outer, self.inner, self.backend, _ = engines_of(row, auto.backend)
        #: The pattern and the colouring of one call, or of one specialization; None before that.
        self.coloured: ColouredPattern | None = None
        self.layout: BlockLayout | None = None
        #: The size and the dtype of each output.
        self.results: list[tuple[int, str]] = []
        #: The dtypes of the blocks of each output.
        self.dtypes: list[list[str]] = []
        #: What makes the matrix of each block: a function of the engine, or the first csr_array.
        self.makers: dict[tuple[int, int], Any] = {}
        #: Whether an engine compiles this operation: then what f captures is fixed.
        self.compiled = False
        #: Random numbers, of the inputs and of the outputs, along which products are compared.
        self._vectors: dict[bool, np.ndarray[Any, Any]] = {}
        #: Whether the next evaluation is to be compared with the engine.
        self.unchecked: bool = auto.check is not False

    @property
    def outermost(self) -> Backend:
        """The backend that makes the products."""
        return self.outer

    @property
    def orders(self) -> int:
        """How often the outermost backend takes differences, if it does: 2 for differences of
        differences.
        """
        return 2 if self.second and self.inner.estimates else 1

    def flat(self, function: Call, *, value: bool = True) -> Any:
        """The function whose Jacobian is compressed: f, or its gradient."""
        if not self.second:
            return function
        return derive.DerivedFunction(derive.gradients, self.inner, function, value=value)

    def bind(self, call: Call, leaves: Arrays) -> OperatorRow:
        """The row with the pattern of a call."""
        bound = copy.copy(self)
        bound.makers, bound._vectors = {}, {}
        bound.coloured = self._pattern_of(call, leaves)
        pattern = bound.coloured.pattern
        note_step(
            self.outermost,
            f"pattern: {bound.coloured.how}; {pattern.shape[0]} x {pattern.shape[1]}, {pattern.nnz}"
            f" entries, {bound.coloured.colouring}",
        )
        return replace(self.row, compute=bound.compute, finish=bound.finish, pieces=bound.pieces)

    def _pattern_of(self, call: Call, leaves: Arrays) -> ColouredPattern:
        if any(dtype_kind(dtype) == "complex" for dtype in call.plan.dtypes):
            raise NotDifferentiableError(
                f"{self.name}: AutoSparse takes real arguments, but one is complex. Pass its real"
                " and imaginary parts as two real arrays, or take the dense Jacobian without"
                " AutoSparse."
            )
        pushes, pulls = policy.directions(self.outermost)
        inputs = sum([size_of(self.outermost, leaf) for leaf in leaves])
        if self.sparse.pattern is not None:
            result = given_pattern(self.name, self.sparse.pattern, inputs)
        else:
            result = detected_pattern(self, call, leaves)
        pattern = symmetric(result.pattern) if self.second else result.pattern
        colouring = pattern.colouring
        if colouring is not None and fits(pattern, pushes=pushes, pulls=pulls, second=self.second):
            require_valid(pattern, colouring)
        else:
            colouring = (
                by_symmetry(pattern) if self.second else choose(pattern, pushes=pushes, pulls=pulls)
            )
        return ColouredPattern(pattern.coloured(colouring), colouring, result.how)

    @property
    def checks_each(self) -> bool:
        """Whether every evaluation is compared with the engine: f may depend on values, or on what
        it captures, anew.
        """
        local = self.coloured is not None and self.coloured.pattern.local
        return self.sparse.check == "always" or (
            self.sparse.check == "first" and (local or not self.compiled)
        )

    def direction(self, *, transposed: bool) -> np.ndarray[Any, Any]:
        """A vector of random numbers, none near zero: of the inputs, or `transposed` of the
        outputs. Read-only.
        """
        known = self._vectors.get(transposed)
        if known is None:
            assert self.coloured is not None
            size = self.coloured.pattern.shape[0 if transposed else 1]
            known = np.random.default_rng(size).uniform(0.5, 1.5, size)
            known *= np.random.default_rng(1).choice([-1.0, 1.0], size)
            self._vectors[transposed] = known
        return known

    def product(self, function: Call, leaves: Arrays, vector: Arrays) -> Arrays:
        """The derivative times a vector, by the engine alone.

        By its transpose if there is no forward mode.
        """
        if self.second:
            return derive.hvp(
                self.outer, self.inner, function, leaves, vector, value=False
            ).tangents
        if policy.directions(self.outermost)[0]:
            return derive.pushforward(
                self.outermost, function, leaves, vector, value=False
            ).tangents
        return derive.pullback(self.outermost, function, leaves).back(vector)

    def pieces(self, compiled: Callable[[Compute], Compiled]) -> Compiled:
        self.compiled = True
        matrices = compiled(self.compute)
        if (
            not self.checks_each
            or self.outermost.estimates
            or not policy.directions(self.outermost)[0]
        ):
            # differences are compared without compiled code, because their noise must be known
            return matrices
        product = compiled(self.product)
        direction: Arrays = ()

        def checked(*arrays: Any) -> Parts:
            nonlocal direction
            results = matrices(*arrays)
            assert self.layout is not None
            leaves = arrays[: len(self.layout.leaves)]
            if any(library_of(self.outermost, leaf).traced(leaf) for leaf in leaves):
                # which are checked without compiled code, for the direction must not be of this
                # trace
                return results
            if not direction:
                direction = split(self.outermost, self.direction(transposed=False), leaves)
            return (*results, product(*arrays, *direction))

        return checked

    # the products

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Parts:
        value = "value" in self.row.forms
        try:
            return self.products(function, leaves, value=value)
        except _AnotherColouring as other:
            self.coloured = other.coloured
            return self.products(function, leaves, value=value)

    def products(self, function: Call, leaves: Arrays, *, value: bool) -> Parts:
        """The results, without outputs if there is no `value`.

        If a check is due and possible, the engine's product with a direction, of the same
        evaluation, is behind them.
        """
        backend, product = self.outermost, []
        assert self.coloured is not None
        colouring, scales, direction = self.coloured.colouring, backend.scales(leaves), None
        if self.unchecked and not any(library_of(backend, leaf).traced(leaf) for leaf in leaves):
            direction = self.direction(transposed=colouring.by == "rows")
        compress = compressed.compressed_hessian if self.second else compressed.compressed_jacobian
        outputs, aux, coloured, singles = compress(
            backend, self.flat(function, value=value), leaves, colouring, scales, direction
        )
        layout = self._layout(outputs, leaves)
        if direction is not None:
            product = [tuple([stack[-1] for stack in coloured])]
            coloured = [stack[:-1] for stack in coloured]
        if not value:
            outputs, aux = (), Aux((), aux.layout)
        stacks = [*coloured, *singles]
        # What an engine compiles it also gathers faster; elsewhere NumPy does.
        compiled = bool(stacks) and library_of(backend, stacks[0]).traced(stacks[0])
        if not compiled and not self._has_own_format():
            return outputs, aux, [*coloured], [*singles], *product
        weights = compressed.joined(scales)
        entries: list[list[Any]] = []
        for k, row in enumerate(layout.blocks):
            entries.append([])
            for n, block in enumerate(row):
                if not block.rows.size:
                    entries[-1].append(None)
                    continue
                result = compressed.gathered(
                    backend, layout.stores(k, n, coloured, singles), block.places
                )
                if weights is not None:
                    result = result / library_of(backend, result).asarray(
                        weights[block.seeds], like=result
                    )
                entries[-1].append(cast(backend, result, self.dtypes[k][n]))
        return outputs, aux, entries, None, *product

    def _has_own_format(self) -> bool:
        library = self.outermost.library
        own = library is not None and "sparse_matrices" in library.gives
        return own and self.sparse.format == "native"

    def _layout(self, outputs: Arrays, leaves: Arrays) -> BlockLayout:
        """The layout, made when the outputs are first known: by an engine that compiles, while it
        traces.
        """
        backend, coloured = self.outermost, self.coloured
        assert coloured is not None
        results = [(size_of(backend, y), library_of(backend, y).dtype(y)) for y in outputs]
        if self.layout is not None:
            self._require_same(results)
            return self.layout
        if any(is_complex(backend, output) for output in outputs) and (
            coloured.colouring.by != "columns" or coloured.colouring.singles.size
        ):
            if not policy.directions(backend)[0]:
                raise OutputError(
                    f"{self.name}: a complex result has no rows in reverse mode that a sparse"
                    " Jacobian could be made of. Return its real and imaginary parts, or choose a"
                    " backend with forward mode."
                )
            # Rows are in the gradient convention, which of a complex result is only its real part.
            colouring = choose(coloured.pattern, pushes=True, pulls=False)
            raise _AnotherColouring(
                ColouredPattern(coloured.pattern.coloured(colouring), colouring, coloured.how)
            )
        heights, widths = [size for size, _ in results], [size_of(backend, x) for x in leaves]
        if (sum(heights), sum(widths)) != coloured.pattern.shape:
            raise SparsityError(
                f"{self.name}: the pattern has shape {coloured.pattern.shape}, but f has"
                f" {sum(heights)} outputs and {sum(widths)} inputs. A pattern has a row for each"
                " number in the result and a column for each in the arguments."
            )
        dtypes = [library_of(backend, x).dtype(x) for x in leaves]
        self.results = results
        self.dtypes = [[block_dtype(of_y, of_x) for of_x in dtypes] for _, of_y in results]
        self.layout = BlockLayout(coloured.pattern, coloured.colouring, heights, widths)
        return self.layout

    def _require_same(self, results: list[tuple[int, str]]) -> None:
        """Raises SparsityError for results of other sizes or dtypes than the layout was made
        for.
        """
        if results == self.results:
            return
        seen, known = [
            ", ".join([f"{size} numbers of {dtype}" for size, dtype in result])
            for result in (results, self.results)
        ]
        raise SparsityError(
            f"{self.name}: f gives {seen} for these values, but {known} when its pattern was found."
            " Make the call without prepare, or let the result of f have the same shapes and"
            " dtypes for all values."
        )

    # the matrices

    def matrices(self, call: Call, results: Parts) -> list[list[Any]]:
        _, _, coloured, singles, *_ = results
        layout, backend = self.layout, self.outermost
        assert layout is not None
        if singles is None:
            make = self._native if self._has_own_format() else self._gathered
            return [
                [make(k, n, coloured[k][n]) for n in range(len(row))]
                for k, row in enumerate(layout.blocks)
            ]
        numbers = [
            [_numbers(self.name, backend, stack) for stack in stacks]
            for stacks in (coloured, singles)
        ]
        scales = backend.scales(call.leaves)
        weights = compressed.joined(scales)
        result = []
        for k, row in enumerate(layout.blocks):
            result.append(
                [
                    self._matrix(k, n, block, layout.stores(k, n, *numbers), weights)
                    for n, block in enumerate(row)
                ]
            )
        return result

    def _matrix(self, k: int, n: int, block: Block, stores: list[Any], weights: Any) -> Any:
        if not block.rows.size:
            return self._scipy(k, n, np.zeros(0))
        flat = stores[0] if len(stores) == 1 else np.concatenate(list(map(np.ravel, stores)))
        entries = np.take(flat, block.places)
        return self._scipy(k, n, entries if weights is None else entries / weights[block.seeds])

    def _gathered(self, k: int, n: int, entries: Any) -> Any:
        if entries is None:
            return self._scipy(k, n, np.zeros(0))
        # for it may be read-only
        return self._scipy(k, n, np.array(_numbers(self.name, self.outermost, entries)))

    def _scipy(self, k: int, n: int, entries: Any) -> Any:
        assert self.layout is not None
        dtype, block = self.dtypes[k][n], self.layout.blocks[k][n]
        if dtype not in _SCIPY_DTYPES:
            raise PrecisionError(
                f"{self.name}: SciPy has no sparse matrices of dtype {dtype}, and nothing is"
                " widened silently. Take "
                f'the engine\'s own, AutoSparse(..., format="native"), or convert the leaf to'
                f" float32 or float64."
            )
        sp = scipy_sparse()
        entries = entries.astype(dtype, copy=False)
        if self.sparse.format == "coo":
            return sp.coo_array(
                (entries, (block.rows.copy(), block.columns.copy())), shape=block.shape
            )
        made = self.makers.get((k, n))
        if made is None:
            made = self.makers[k, n] = sp.csr_array(
                (entries, block.columns, block.pointers), shape=block.shape
            )
            made.has_canonical_format = True
        matrix = copy.copy(made)  # SciPy checks the pattern of the first matrix alone
        matrix.data, matrix.indices, matrix.indptr = (
            entries,
            made.indices.copy(),
            made.indptr.copy(),
        )
        return matrix.tocsc() if self.sparse.format == "csc" else matrix

    def _native(self, k: int, n: int, entries: Any) -> Any:
        assert self.layout is not None
        library: Any = self.outermost.library
        block = self.layout.blocks[k][n]
        make = self.makers.get((k, n))
        if make is None:
            make = self.makers[k, n] = library.sparse_matrices(
                block.rows, block.columns, block.shape
            )
        return make(
            library.asarray(np.zeros(0), dtype=self.dtypes[k][n]) if entries is None else entries
        )

    def checked(self, call: Call, results: Parts) -> list[list[Any]]:
        """The matrices, after comparison with the engine if a check is due.

        A fifth result is the engine's product.
        """
        coloured, matrices = self.coloured, self.matrices(call, results)
        assert coloured is not None
        if self.unchecked:
            assert self.layout is not None
            _, _, entries, singles, *product = results
            entries = entries if singles is None else matrices
            if verify(self, self.layout, coloured, call, entries, product[0] if product else None):
                self.unchecked = self.checks_each
            elif self.sparse.check == "always" or (
                coloured.pattern.local and coloured.how != "given"
            ):
                raise SparsityError(
                    f"{self.name}: its pattern ({coloured.how}) is checked in every call, but"
                    " inside this transformation of the engine there are no numbers to check it"
                    " with. Pass a pattern=... that holds everywhere, or take AutoSparse(...,"
                    " check=False)."
                )
        return matrices

    def finish(self, call: Call, results: Parts) -> Any:
        outputs, aux, *_ = results
        matrices = self.checked(call, results)
        result = self.row.result
        if not self.second:
            jacobian = _assembled(call, aux.layout, matrices)
            return jacobian if result is None else result(call.value((outputs, aux)), jacobian)  # type: ignore[call-arg]
        hessian = _square(call, matrices)
        if result is None:
            return hessian
        value = call.value((aux.arrays[:1], Aux(aux.arrays[1:], aux.layout)))
        return result(value, call.gradients(outputs), hessian)  # type: ignore[call-arg]


class _AnotherColouring(Exception):
    """The result of f, once it is known, needs another colouring than the one chosen before."""

    def __init__(self, coloured: ColouredPattern):
        super().__init__()
        self.coloured = coloured


def _numbers(name: str, backend: Backend, stack: Any) -> np.ndarray[Any, Any]:
    library = library_of(backend, stack)
    if library.traced(stack):
        raise SparsityError(
            f"{name}: inside a transformation of {library.name} a SciPy matrix cannot hold what is"
            " traced. Take "
            f'AutoSparse(..., format="native").'
        )
    return library.to_numpy(stack)


def _assembled(call: Call, layout: OutputLayout, matrices: list[list[Any]]) -> Any:
    """For each output the matrices of all arguments, in the structure of f's result."""
    return build_gradient(
        layout.structure, iter([call.plan.gradients(row, call.values) for row in matrices])
    )


def _square(call: Call, matrices: list[list[Any]]) -> Any:
    rows = [call.plan.gradients(row, call.values)[0] for row in matrices]
    return call.plan.gradients(rows, call.values)[0]


SPARSE = (JACOBIAN, VALUE_AND_JACOBIAN, HESSIAN, VALUE_GRADIENT_AND_HESSIAN)


def sparse_row(row: OperatorRow, auto: AutoSparse) -> OperatorRow:
    """The sparse row of an operator, or the dense one of an operator that returns no matrix."""
    return replace(row, bind=SparseDerivative(row, auto).bind) if row in SPARSE else row
