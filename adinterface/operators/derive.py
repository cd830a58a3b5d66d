"""The operators of the flat contract, each derived once from `pullback` or `pushforward`.

Everything here sees native arrays only. Engines override for speed; what they leave out is made here: a pushforward
from a pullback (by transposing it, or row by row), a pullback from pushforwards (column by column), and from these
gradients, Jacobians and the building blocks of second derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..backend import Arrays, Backend, FlatFunction, Linearized, Pullback, Pushforward, gives
from ..errors import BackendError
from ..library import Library, complex_of, kind
from ..record import note_step
from ..tree import handler_of

#: Seeds of a batched Jacobian or Hessian take at most this many bytes, unless `chunk_size` says otherwise.
SEED_BYTES = 64 * 2**20

Stacked = Callable[[Arrays], Arrays]


# Arrays --------------------------------------------------------------------------------------------------------------


def library_of(backend: Backend, array: Any) -> Library:
    """The library of a native array."""
    if backend.library is not None and backend.library.owns(array):
        return backend.library
    handler = handler_of(array)
    assert isinstance(handler, Library), type(array)
    return handler


def size_of(backend: Backend, array: Any) -> int:
    return math.prod(library_of(backend, array).shape(array))


def is_complex(backend: Backend, array: Any) -> bool:
    return kind(library_of(backend, array).dtype(array)) == "complex"


def full_like(backend: Backend, array: Any, value: float, count: int | None = None) -> Any:
    """An array like this one, or a stack of `count` of them, filled with one number."""
    library = library_of(backend, array)
    shape = library.shape(array) if count is None else (count, *library.shape(array))
    return library.asarray(np.full(shape, value), dtype=library.dtype(array), like=array)


# The primitives, from one another ------------------------------------------------------------------------------------


def pullback(backend: Backend, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
    """The engine's pullback, or one made of pushforwards: one for each real component of the leaves, in every `back`."""
    if gives(backend, "pullback") and backend.mode != "forward":
        note_step(backend, "one pullback")
        return backend.pullback(function, leaves, differentiable=differentiable)
    linear = linearize(backend, function, leaves)
    note_step(backend, "back: one pushforward for each real number in the arguments")
    back = _adjoint(backend, push_stacked(backend, linear), leaves)
    return Pullback(linear.outputs, linear.aux, back)


def linearize(backend: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    """The engine's linear map, or one made of its pullback."""
    if _goes_forward(backend):
        note_step(backend, "linearize")
        return backend.linearize(function, leaves)
    if backend.transposes:
        note_step(backend, "one pullback, transposed into a linear map")
        return transposed(backend, backend.pullback(function, leaves, differentiable=True))
    if not gives(backend, "pullback"):
        raise BackendError(f"{type(backend).__name__} defines neither pullback nor pushforward; it must give one of them.")
    note_step(backend, "one pullback; push: one back for each real number in the result")
    pulled = backend.pullback(function, leaves)
    return Linearized(pulled.outputs, pulled.aux, _adjoint(backend, back_stacked(backend, pulled), pulled.outputs))


def pushforward(backend: Backend, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
    """The engine's pushforward, or one made of its pullback."""
    if _goes_forward(backend):
        note_step(backend, "one pushforward")
        return backend.pushforward(function, leaves, tangents)
    linear = linearize(backend, function, leaves)
    return Pushforward(linear.outputs, linear.push(tangents), linear.aux)


def tangents(backend: Backend, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Arrays:
    """The tangents of a pushforward, without its value."""
    if not _goes_forward(backend):
        return pushforward(backend, function, leaves, tangents).tangents
    note_step(backend, "one pushforward")
    return backend.tangents(function, leaves, tangents)


def _goes_forward(backend: Backend) -> bool:
    if not gives(backend, "pushforward"):
        return False
    if backend.mode is not None and gives(backend, "pullback"):
        return backend.mode == "forward"
    return not backend.prefers_transposing


def linearize_by_pushforward(backend: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    """Evaluates f once for its value, and once more in every push."""
    outputs, aux = function(*leaves)
    return Linearized(outputs, aux, lambda tangents: backend.pushforward(function, leaves, tangents).tangents)


def transposed(backend: Backend, pulled: Pullback) -> Linearized:
    """The derivative as the adjoint of its own adjoint: `back` is linear, so its pullback at any point is the push."""

    class Back:
        held: frozenset[int] = frozenset()
        fresh = False

        def __call__(self, *cotangents: Any) -> tuple[Arrays, Arrays]:
            return pulled.back(cotangents), ()

    # Not at zero, where an engine's rule may leave out what it multiplies by zero.
    again = backend.pullback(Back(), tuple([full_like(backend, output, 1.0) for output in pulled.outputs]))
    return Linearized(pulled.outputs, pulled.aux, again.back, again.back_stacked)


# Stacks --------------------------------------------------------------------------------------------------------------


def back_stacked(backend: Backend, pulled: Pullback) -> Stacked:
    return pulled.back_stacked or _looped(backend, pulled.back)


def push_stacked(backend: Backend, linear: Linearized) -> Stacked:
    return linear.push_stacked or _looped(backend, linear.push)


def _looped(backend: Backend, apply: Callable[[Arrays], Arrays]) -> Stacked:
    """One call for each entry of the stacks, for engines that have no batched one."""

    def stacked(stacks: Arrays) -> Arrays:
        count = library_of(backend, stacks[0]).shape(stacks[0])[0]
        if count == 0:  # one call tells the shapes
            return tuple([_stack(backend, [x])[:0] for x in apply(tuple([_zero_entry(backend, stack) for stack in stacks]))])
        rows = [apply(tuple([stack[i] for stack in stacks])) for i in range(count)]
        return tuple([_stack(backend, column) for column in zip(*rows)])

    return stacked


def _zero_entry(backend: Backend, stack: Any) -> Any:
    library = library_of(backend, stack)
    return library.asarray(np.zeros(library.shape(stack)[1:]), dtype=library.dtype(stack), like=stack)


def _deciding(backend: Backend, arrays: Sequence[Any]) -> tuple[Library, Any]:
    """The library and namespace in which these arrays meet: that of one which is traced, else of the first."""
    libraries = [library_of(backend, array) for array in arrays]
    pairs = list(zip(libraries, arrays))
    library, array = next((pair for pair in pairs if pair[0].traced(pair[1])), pairs[0])
    return library, library.namespace(array)


def _namespace(backend: Backend, arrays: Sequence[Any]) -> Any:
    return _deciding(backend, arrays)[1]


def _stack(backend: Backend, arrays: Sequence[Any]) -> Any:
    library, xp = _deciding(backend, arrays)
    return xp.stack([library.asarray(array) for array in arrays])


def _concat(backend: Backend, arrays: Sequence[Any]) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    library, xp = _deciding(backend, arrays)
    return xp.concat([library.asarray(array) for array in arrays])


class Components:
    """The real components of some arrays, numbered: all of the first, then of the second, ...

    A complex array counts twice where `doubled` says so: first along 1, then along i.
    """

    def __init__(self, backend: Backend, arrays: Arrays, doubled: Sequence[bool]):
        self.backend, self.arrays = backend, arrays
        self.sizes = [size_of(backend, array) for array in arrays]
        self.ranges: list[list[tuple[int, complex]]] = []
        offset = 0
        for size, double in zip(self.sizes, doubled):
            units = (1.0, 1.0j) if double else (1.0,)
            self.ranges.append([(offset + n * size, unit) for n, unit in enumerate(units)])
            offset += size * len(units)
        self.count = offset

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of component numbers whose seeds fit the budget."""
        step = self.backend.chunk_size
        if step is None:
            row = sum(size * (16 if is_complex(self.backend, x) else 8) for size, x in zip(self.sizes, self.arrays)) or 8
            step = max(1, SEED_BYTES // row)
        for start in range(0, self.count, step):
            yield start, min(start + step, self.count)

    def seeds(self, start: int, stop: int) -> Arrays:
        """The basis vectors of components start to stop, as stacks like the arrays."""
        seeds: list[Any] = []
        for array, size, ranges in zip(self.arrays, self.sizes, self.ranges):
            library = library_of(self.backend, array)
            dtype = library.dtype(array)
            shape = (stop - start, *library.shape(array))
            xp = library.namespace(array)
            # Inside a trace they are made on the way, and not read from memory; JAX's eager operations are compiled one by one.
            if hasattr(xp, "eye") and (library.mutable or library.traced(array)):
                units = [xp.eye(stop - start, size, k=start - offset) for offset, _ in ranges]
                seeds.append(library.asarray(xp.reshape(sum_units([*zip(units, (1.0, 1j))]), shape), dtype=dtype, like=array))
                continue
            # JAX takes no float16 hint from the numbers, so they travel as doubles and are cast on arrival.
            stack = np.zeros((stop - start, size), dtype="complex128" if kind(dtype) == "complex" else "float64")
            for offset, unit in ranges:
                numbers = np.arange(max(start, offset), min(stop, offset + size))
                stack[numbers - start, numbers - offset] = unit
            seeds.append(library.asarray(stack.reshape(shape), dtype=dtype, like=array))
        return tuple(seeds)

    def part(self, stack: Any, offset: int, size: int) -> Any:
        """The entries of `size` components from `offset` on, in a stack over all of them."""
        return stack if size == self.count else stack[offset : offset + size]

    def mapped(self, apply: Stacked) -> list[Any]:
        """`apply` to every basis vector: for each result, a stack over all components."""
        parts = [apply(self.seeds(start, stop)) for start, stop in self.chunks()]
        return [_concat(self.backend, column) for column in zip(*parts)]


def _adjoint(backend: Backend, apply: Stacked, domain: Arrays) -> Callable[[Arrays], Arrays]:
    """The adjoint of a linear map from `domain` in the real inner product, by applying the map to a basis."""

    def adjoint(codomain: Arrays) -> Arrays:
        components = Components(backend, domain, [is_complex(backend, array) for array in domain])
        parts: list[Any] = []
        for start, stop in components.chunks():
            total: Any = None
            for image, weight in zip(apply(components.seeds(start, stop)), codomain):
                xp = _namespace(backend, (image, weight))
                product = xp.real(xp.conj(image) * weight) if is_complex(backend, image) else image * weight
                term = xp.sum(xp.reshape(product, (stop - start, -1)), axis=1)
                total = term if total is None else total + term
            parts.append(total)
        results: list[Any] = []
        flat = _concat(backend, parts) if parts else None
        for array, size, ranges in zip(domain, components.sizes, components.ranges):
            if size == 0:
                results.append(full_like(backend, array, 0.0))
                continue
            assert flat is not None
            result = sum_units([(flat[offset : offset + size], unit) for offset, unit in ranges])
            results.append(_namespace(backend, (result,)).reshape(result, library_of(backend, array).shape(array)))
        return tuple(results)

    return adjoint


def sum_units(parts: Sequence[tuple[Any, complex]]) -> Any:
    """The sum of real parts times 1 and i."""
    return parts[0][0] if len(parts) == 1 else parts[0][0] + 1j * parts[1][0]


# Gradients and Jacobians ---------------------------------------------------------------------------------------------


def gradient(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
    """`(outputs, aux, gradients, connected)` of a function with one real scalar output."""
    own = type(backend).gradient is not Backend.gradient
    if backend.mode != "forward" and (own or gives(backend, "pullback")):
        note_step(backend, "one pullback of 1" if gives(backend, "pullback") else "gradient, leaf by leaf")
        return backend.gradient(function, leaves)
    outputs, aux, blocks = jacobian(backend, function, leaves)
    return outputs, aux, tuple(blocks[0]), True


def gradients(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, bool]:
    """`(gradients, connected)`, as by `gradient`, for engines that find them without the value."""
    if backend.mode == "forward" or type(backend).gradients is Backend.gradients:
        return gradient(backend, function, leaves)[2:]
    note_step(backend, "gradient, leaf by leaf")
    return backend.gradients(function, leaves)


def gradient_by_pullback(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
    pulled = backend.pullback(function, leaves)
    seed = full_like(backend, pulled.outputs[0], 1.0)
    return pulled.outputs, pulled.aux, pulled.back((seed,)), pulled.connected


def jacobian(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, value: bool = True
) -> tuple[Arrays, Arrays, list[list[Any]]]:
    """`(outputs, aux, blocks)`, where `blocks[k][n]` has the shape of output k followed by that of leaf n.

    Without `value`, outputs and aux are not looked at.

    Real outputs: rows in the gradient convention (d/dRe + i d/dIm for a complex leaf). Complex outputs of complex
    leaves: the holomorphic derivative. Complex outputs of real leaves: the complex derivative.
    """
    own = backend.jacobian(function, leaves, value=value)
    if own is not None:
        return own
    forward = not gives(backend, "pullback") or backend.mode == "forward"
    inputs = sum(size_of(backend, leaf) for leaf in leaves)
    if forward or (backend.mode is None and inputs <= backend.forward_below):
        pushed = _push_all(backend, function, leaves)
        if pushed is not None:
            return pushed
    if forward:
        return columns(backend, linearize(backend, function, leaves), leaves)
    return jacobian_of(backend, pullback(backend, function, leaves, differentiable=backend.transposes), leaves)


def jacobian_of(backend: Backend, pulled: Pullback, leaves: Arrays) -> tuple[Arrays, Arrays, list[list[Any]]]:
    """The Jacobian from a pullback: rows, or columns of its transpose, whichever are fewer."""
    inputs = sum(size_of(backend, leaf) for leaf in leaves)
    outputs = sum(size_of(backend, output) for output in pulled.outputs)
    if backend.mode is None and backend.transposes and inputs < outputs:
        note_step(backend, "transposed into a linear map, because the inputs are fewer than the outputs")
        return columns(backend, transposed(backend, pulled), leaves)
    return rows(backend, pulled, leaves)


def rows(backend: Backend, pulled: Pullback, leaves: Arrays) -> tuple[Arrays, Arrays, list[list[Any]]]:
    outputs = pulled.outputs
    complex_leaves = [is_complex(backend, leaf) for leaf in leaves]
    shapes = [library_of(backend, leaf).shape(leaf) for leaf in leaves]
    complex_outputs = [is_complex(backend, output) for output in outputs]
    components = Components(backend, outputs, [of_output and not all(complex_leaves) for of_output in complex_outputs])
    note_step(backend, f"{components.count} rows of the Jacobian")
    stacks = components.mapped(back_stacked(backend, pulled)) if components.count else []
    blocks: list[list[Any]] = []
    for output, size, ranges, complex_output in zip(outputs, components.sizes, components.ranges, complex_outputs):
        rows_of_output = library_of(backend, output).shape(output)
        row: list[Any] = []
        for n, leaf in enumerate(leaves):
            shape = (*rows_of_output, *shapes[n])
            if size == 0:
                row.append(_empty(backend, shape, output, leaf))
                continue
            part = components.part(stacks[n], ranges[0][0], size)
            if complex_output and complex_leaves[n]:
                part = _namespace(backend, (part,)).conj(part)
            elif complex_output:
                part = sum_units([(components.part(stacks[n], offset, size), unit) for offset, unit in ranges])
            row.append(_reshaped(backend, part, shape))
        blocks.append(row)
    return outputs, pulled.aux, blocks


def columns(backend: Backend, linear: Linearized, leaves: Arrays) -> tuple[Arrays, Arrays, list[list[Any]]]:
    outputs = linear.outputs
    some_real = not all(is_complex(backend, output) for output in outputs)
    doubled = [some_real and is_complex(backend, leaf) for leaf in leaves]
    components = Components(backend, leaves, doubled)
    note_step(backend, f"{components.count} columns of the Jacobian")
    stacks = components.mapped(push_stacked(backend, linear)) if components.count else []
    return outputs, linear.aux, _column_blocks(backend, components, stacks, outputs, leaves)


def _push_all(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, list[list[Any]]] | None:
    """All columns in one batch, from one evaluation of f; None if the engine cannot or they are too many for one."""
    components = Components(backend, leaves, [is_complex(backend, leaf) for leaf in leaves])
    if not gives(backend, "pushforward_stacked") or backend.chunk_size == 1 or len(list(components.chunks())) != 1:
        return None
    note_step(backend, f"{components.count} columns of the Jacobian in one batch of pushforwards")
    outputs, stacks, aux = backend.pushforward_stacked(function, leaves, components.seeds(0, components.count))
    return outputs, aux, _column_blocks(backend, components, stacks, outputs, leaves)


def _column_blocks(
    backend: Backend, components: Components, stacks: Sequence[Any], outputs: Arrays, leaves: Arrays
) -> list[list[Any]]:
    shapes = [library_of(backend, leaf).shape(leaf) for leaf in leaves]
    blocks: list[list[Any]] = []
    for output, stack in zip(outputs, stacks if components.count else outputs):  # of no components, there are no stacks
        complex_output, rows_of_output = is_complex(backend, output), library_of(backend, output).shape(output)
        row: list[Any] = []
        for leaf, shape_of_leaf, size, ranges in zip(leaves, shapes, components.sizes, components.ranges):
            shape = (*rows_of_output, *shape_of_leaf)
            if size == 0 or 0 in shape:
                row.append(_empty(backend, shape, output, leaf))
                continue
            if complex_output or len(ranges) == 1:
                part = components.part(stack, ranges[0][0], size)
            else:
                part = sum_units([(components.part(stack, offset, size), unit) for offset, unit in ranges])
            row.append(_reshaped(backend, _namespace(backend, (part,)).moveaxis(part, 0, -1), shape))
        blocks.append(row)
    return blocks


def _reshaped(backend: Backend, array: Any, shape: tuple[int, ...]) -> Any:
    library = library_of(backend, array)
    return array if library.shape(array) == shape else library.namespace(array).reshape(array, shape)


def _empty(backend: Backend, shape: tuple[int, ...], output: Any, leaf: Any) -> Any:
    library = library_of(backend, output)
    dtype = library.dtype(output)
    if is_complex(backend, leaf) and kind(dtype) == "real":
        dtype = complex_of(dtype)
    return library.asarray(np.zeros(shape, dtype="complex128" if kind(dtype) == "complex" else "float64"), dtype=dtype)


# Second derivatives --------------------------------------------------------------------------------------------------


class GradientFunction:
    """The gradient of a scalar flat function as a flat function: outputs are the gradients, aux is `(value, *aux)`."""

    def __init__(self, inner: Backend, function: FlatFunction):
        self.inner, self.function = inner, function
        self.held = function.held
        self.fresh, function.fresh = function.fresh, False  # the leaves are the outer engine's now

    def __call__(self, *leaves: Any) -> tuple[Arrays, Arrays]:
        outputs, aux, found, _ = gradient(self.inner, self.function, leaves)
        return found, (*outputs, *aux)

    def repeated(self) -> Callable[[Sequence[Any]], Arrays]:
        """The gradients at one point after another, without the value."""
        return lambda leaves: gradients(self.inner, self.function, tuple(leaves))[0]


class DerivativeFunction:
    """The derivative of a flat function of one real number: outputs are the derivatives, aux is `(*outputs, *aux)`."""

    def __init__(self, inner: Backend, function: FlatFunction):
        self.inner, self.function = inner, function
        self.held = function.held
        self.fresh, function.fresh = function.fresh, False  # the leaves are the outer engine's now
        self.outputs = 0

    def __call__(self, *leaves: Any) -> tuple[Arrays, Arrays]:
        outputs, tangents, aux = derivative(self.inner, self.function, leaves)
        self.outputs = len(outputs)
        return tangents, (*outputs, *aux)


def derivative(backend: Backend, function: FlatFunction, leaves: Arrays) -> Pushforward:
    """The pushforward of 1."""
    return pushforward(backend, function, leaves, (full_like(backend, leaves[0], 1.0),))


def hessian_map(outer: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    """The Hessian as a linear map: outputs are the gradient, and push is `v -> H v`.

    In reverse mode it is the pullback of the gradient, since the Hessian is symmetric.
    """
    if gives(outer, "pullback") and outer.mode == "reverse":
        pulled = pullback(outer, function, leaves)
        return Linearized(pulled.outputs, pulled.aux, pulled.back, pulled.back_stacked)
    return linearize(outer, function, leaves)


def hessian_product(outer: Backend, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Arrays:
    """As `hvp`, the products alone."""
    if gives(outer, "pullback") and outer.mode == "reverse":
        return hvp(outer, function, leaves, directions).tangents
    return tangents(outer, function, leaves, directions)


def hvp(outer: Backend, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
    if gives(outer, "pullback") and outer.mode == "reverse":
        pulled = pullback(outer, function, leaves)
        return Pushforward(pulled.outputs, pulled.back(tangents), pulled.aux)
    return pushforward(outer, function, leaves, tangents)


def hessian_diagonal(outer: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays]:
    """`(gradients, aux, diagonals)`; never more of the Hessian in memory than one chunk of its rows."""
    linear = hessian_map(outer, function, leaves)
    apply = push_stacked(outer, linear)
    components = Components(outer, leaves, [False] * len(leaves))
    note_step(outer, f"{components.count} products of the Hessian with a basis vector")
    parts: list[Any] = []
    for start, stop in components.chunks():
        seeds = components.seeds(start, stop)
        total: Any = None
        for image, seed in zip(apply(seeds), seeds):
            xp = _namespace(outer, (image, seed))
            term = xp.sum(xp.reshape(image * seed, (stop - start, -1)), axis=1)
            total = term if total is None else total + term
        parts.append(total)
    diagonals: list[Any] = []
    flat = _concat(outer, parts) if parts else None
    for array, size, ranges in zip(leaves, components.sizes, components.ranges):
        if size == 0:
            diagonals.append(full_like(outer, array, 0.0))
            continue
        assert flat is not None
        xp, offset = _namespace(outer, (flat,)), ranges[0][0]
        diagonals.append(xp.reshape(flat[offset : offset + size], library_of(outer, array).shape(array)))
    return linear.outputs, linear.aux, tuple(diagonals)
