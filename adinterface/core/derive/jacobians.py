"""Gradients and Jacobians from the primitives: by rows or by columns, whichever are fewer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..contract.arrays import block_dtype, cast, filled, full_like, is_complex, library_of, size_of
from ..contract.backend import (
    Arrays,
    Backend,
    FlatFunction,
    Gradient,
    Jacobian,
    Linearized,
    Pullback,
)
from ..contract.errors import NotRecordedError
from ..support.record import active_record, from_engine, note_step
from . import policy
from .basis import Components, empty_block, namespace_of, reshaped, sum_units
from .primitives import checked, linearize, pullback, stacked, transposed


def gradient(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, value: bool = True
) -> Gradient:
    """The gradient of one real scalar output. Without `value`, outputs and aux are not used."""
    if backend.mode != "forward":
        if active_record() is None:  # shorter for the most frequent call
            result = backend.gradient(function, leaves, value=value)
        else:
            step = "one pullback of 1" if "pullback" in backend.gives else "its own gradient"
            result = from_engine(backend, step, backend.gradient, function, leaves, value=value)
        if result is not None:
            gradients = filled(backend, result.gradients, leaves)
            return result if gradients is result.gradients else result._replace(gradients=gradients)
        if "pullback" in backend.gives:
            note_step(backend, "one pullback of 1")
            pulled = checked(backend, backend.pullback(function, leaves), leaves)
            seed = full_like(backend, pulled.outputs[0], 1.0)
            return Gradient(pulled.outputs, pulled.aux, pulled.back((seed,)), pulled.connected)
    outputs, aux, blocks = jacobian(backend, function, leaves, value=value)
    return Gradient(outputs, aux, tuple(blocks[0]))


def jacobian(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, value: bool = True
) -> Jacobian:
    """The Jacobian of every output with respect to every leaf.

    Without `value`, outputs and aux are not used.

    Real outputs: rows in the gradient convention (d/dRe + i d/dIm for a complex leaf). Complex
    outputs: the complex derivative by the leaf or its real part, by rows and by columns alike; the
    holomorphic derivative if there is one.
    """
    result = backend.jacobian(function, leaves, value=value)
    if isinstance(result, Pullback):
        return jacobian_of(backend, checked(backend, result, leaves), leaves)
    if isinstance(result, Linearized):
        return columns(backend, checked(backend, result, leaves), leaves)
    if result is not None:
        return checked(backend, result, leaves)
    if policy.in_one_batch(backend, sum(size_of(backend, leaf) for leaf in leaves)):
        pushed = _push_all(backend, function, leaves)
        if pushed is not None:
            return pushed
    if not policy.in_reverse(backend):
        return columns(backend, linearize(backend, function, leaves), leaves)
    return jacobian_of(
        backend,
        pullback(backend, function, leaves, differentiable=bool(backend.transposes)),
        leaves,
    )


def jacobian_of(backend: Backend, pulled: Pullback, leaves: Arrays) -> Jacobian:
    """The Jacobian from a pullback: rows, or columns of its transpose, whichever are fewer."""
    if by_columns(backend, pulled.outputs, leaves):
        note_step(
            backend, "transposed into a linear map, because the inputs are fewer than the outputs"
        )
        with suppress(NotRecordedError):  # rows need first derivatives only
            return columns(backend, transposed(backend, pulled), leaves)
    return rows(backend, pulled, leaves)


def by_columns(backend: Backend, outputs: Arrays, leaves: Arrays) -> bool:
    return policy.by_columns(
        backend,
        column_components(backend, outputs, leaves).count,
        row_components(backend, outputs).count,
    )


def rows(backend: Backend, pulled: Pullback, leaves: Arrays) -> Jacobian:
    outputs = pulled.outputs
    components = row_components(backend, outputs)
    note_step(backend, f"{components.count} rows of the Jacobian")
    stacks = components.mapped(stacked(backend, pulled)) if components.count else []
    return Jacobian(outputs, pulled.aux, row_blocks(backend, components, stacks, outputs, leaves))


def row_components(backend: Backend, outputs: Arrays) -> Components:
    """The components of the outputs, each of which has a row."""
    return Components(backend, outputs, [is_complex(backend, output) for output in outputs])


def column_components(backend: Backend, outputs: Arrays, leaves: Arrays) -> Components:
    """The components of the leaves, each of which has a column."""
    some_real = not all(is_complex(backend, output) for output in outputs)
    return Components(backend, leaves, [some_real and is_complex(backend, leaf) for leaf in leaves])


def row_blocks(
    backend: Backend, components: Components, stacks: Sequence[Any], outputs: Arrays, leaves: Arrays
) -> list[list[Any]]:
    """The blocks of a Jacobian, from a stack of rows for each leaf."""
    complex_leaves = [is_complex(backend, leaf) for leaf in leaves]
    shapes = [library_of(backend, leaf).shape(leaf) for leaf in leaves]
    complex_outputs = [is_complex(backend, output) for output in outputs]
    blocks: list[list[Any]] = []
    for output, size, ranges, complex_output in zip(
        outputs, components.sizes, components.ranges, complex_outputs
    ):
        rows_of_output = library_of(backend, output).shape(output)
        row: list[Any] = []
        for n, leaf in enumerate(leaves):
            shape = (*rows_of_output, *shapes[n])
            if size == 0:
                row.append(empty_block(backend, shape, output, leaf))
                continue
            parts = [(components.part(stacks[n], offset, size), unit) for offset, unit in ranges]
            if complex_output and complex_leaves[n]:
                parts = [(namespace_of(backend, (part,)).real(part), unit) for part, unit in parts]
            part = sum_units(parts)
            row.append(
                cast(backend, reshaped(backend, part, shape), block_dtype(backend, output, leaf))
            )
        blocks.append(row)
    return blocks


def columns(backend: Backend, linear: Linearized, leaves: Arrays) -> Jacobian:
    outputs = linear.outputs
    components = column_components(backend, outputs, leaves)
    note_step(backend, f"{components.count} columns of the Jacobian")
    stacks = components.mapped(stacked(backend, linear)) if components.count else []
    return Jacobian(
        outputs, linear.aux, column_blocks(backend, components, stacks, outputs, leaves)
    )


def _push_all(backend: Backend, function: FlatFunction, leaves: Arrays) -> Jacobian | None:
    """All columns in one batch; None if the engine cannot, or if they exceed one batch."""
    components = Components(backend, leaves, [is_complex(backend, leaf) for leaf in leaves])
    if (
        "pushforward_stacked" not in backend.gives
        or backend.chunk_size == 1
        or len(list(components.chunks())) != 1
    ):
        return None
    note_step(backend, f"{components.count} columns of the Jacobian in one batch of pushforwards")
    pushed = backend.pushforward_stacked(function, leaves, components.seeds(0, components.count))
    if pushed is None:
        return None
    outputs, stacks, aux = checked(backend, pushed, leaves, components.count)
    return Jacobian(outputs, aux, column_blocks(backend, components, stacks, outputs, leaves))


def column_blocks(
    backend: Backend, components: Components, stacks: Sequence[Any], outputs: Arrays, leaves: Arrays
) -> list[list[Any]]:
    """The blocks of a Jacobian, from a stack of columns for each output."""
    shapes = [library_of(backend, leaf).shape(leaf) for leaf in leaves]
    blocks: list[list[Any]] = []
    # without components there are no stacks
    for output, stack in zip(outputs, stacks if components.count else outputs):
        complex_output = is_complex(backend, output)
        rows_of_output = library_of(backend, output).shape(output)
        row: list[Any] = []
        for leaf, shape_of_leaf, size, ranges in zip(
            leaves, shapes, components.sizes, components.ranges
        ):
            shape = (*rows_of_output, *shape_of_leaf)
            if size == 0 or 0 in shape:
                row.append(empty_block(backend, shape, output, leaf))
                continue
            if complex_output or len(ranges) == 1:
                part = components.part(stack, ranges[0][0], size)
            else:
                parts = [(components.part(stack, offset, size), unit) for offset, unit in ranges]
                part = sum_units(parts)
            block = reshaped(backend, namespace_of(backend, (part,)).moveaxis(part, 0, -1), shape)
            row.append(cast(backend, block, block_dtype(backend, output, leaf)))
        blocks.append(row)
    return blocks
