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
    pulled = pullback(backend, function, leaves, differentiable=bool(backend.transposes))
    return jacobian_of(backend, pulled, leaves)


def jacobian_of(backend: Backend, pulled: Pullback, leaves: Arrays) -> Jacobian:
    """The Jacobian from a pullback: rows, or columns of its transpose, whichever are fewer."""
    inputs = _column_components(backend, pulled.outputs, leaves).count
    if policy.by_columns(backend, inputs, _row_components(backend, pulled.outputs).count):
        note_step(
            backend, "transposed into a linear map, because the inputs are fewer than the outputs"
        )
        with suppress(NotRecordedError):  # rows need first derivatives only
            return columns(backend, transposed(backend, pulled), leaves)
    return rows(backend, pulled, leaves)


def _row_components(backend: Backend, outputs: Arrays) -> Components:
    """The components of the outputs, each of which has a row."""
    return Components(backend, outputs, [is_complex(backend, output) for output in outputs])


def _column_components(backend: Backend, outputs: Arrays, leaves: Arrays) -> Components:
    """The components of the leaves, each of which has a column."""
    some_real = not all(is_complex(backend, output) for output in outputs)
    return Components(backend, leaves, [some_real and is_complex(backend, leaf) for leaf in leaves])


def rows(backend: Backend, pulled: Pullback, leaves: Arrays) -> Jacobian:
    components = _row_components(backend, pulled.outputs)
    note_step(backend, f"{components.count} rows of the Jacobian")
    stacks = components.mapped(stacked(backend, pulled)) if components.count else []
    blocks = _blocks(components, stacks, pulled.outputs, leaves, by_rows=True)
    return Jacobian(pulled.outputs, pulled.aux, blocks)


def columns(backend: Backend, linear: Linearized, leaves: Arrays) -> Jacobian:
    components = _column_components(backend, linear.outputs, leaves)
    note_step(backend, f"{components.count} columns of the Jacobian")
    stacks = components.mapped(stacked(backend, linear)) if components.count else []
    blocks = _blocks(components, stacks, linear.outputs, leaves, by_rows=False)
    return Jacobian(linear.outputs, linear.aux, blocks)


def _push_all(backend: Backend, function: FlatFunction, leaves: Arrays) -> Jacobian | None:
    """All columns in one batch; None if the engine cannot, or if they exceed one batch."""
    components = Components(backend, leaves, [is_complex(backend, leaf) for leaf in leaves])
    if "pushforward_stacked" not in backend.gives or backend.chunk_size == 1:
        return None
    if len(list(components.chunks())) != 1:
        return None
    note_step(backend, f"{components.count} columns of the Jacobian in one batch of pushforwards")
    pushed = backend.pushforward_stacked(function, leaves, components.seeds(0, components.count))
    if pushed is None:
        return None
    outputs, stacks, aux = checked(backend, pushed, leaves, components.count)
    return Jacobian(outputs, aux, _blocks(components, stacks, outputs, leaves, by_rows=False))


def _blocks(
    components: Components, stacks: Sequence[Any], outputs: Arrays, leaves: Arrays, *, by_rows: bool
) -> list[list[Any]]:
    """The blocks of a Jacobian, from stacks: of rows for each leaf, or of columns for each output.

    components: of the outputs or of the leaves, along which the stacks are.
    """
    backend = components.backend
    blocks: list[list[Any]] = []
    for k, output in enumerate(outputs):
        blocks.append([])
        for n, leaf in enumerate(leaves):
            shapes = [library_of(backend, x).shape(x) for x in (output, leaf)]
            shape = (*shapes[0], *shapes[1])
            if 0 in shape:
                blocks[k].append(empty_block(backend, shape, output, leaf))
                continue
            place, stack = (k, stacks[n]) if by_rows else (n, stacks[k])
            size, ranges = components.sizes[place], components.ranges[place]
            if not by_rows and is_complex(backend, output):
                ranges = ranges[:1]
            parts = [(components.part(stack, offset, size), unit) for offset, unit in ranges]
            if by_rows and is_complex(backend, output) and is_complex(backend, leaf):
                real = namespace_of(backend, (stack,)).real
                parts = [(real(part), unit) for part, unit in parts]
            block = sum_units(parts)
            if not by_rows:
                block = namespace_of(backend, (block,)).moveaxis(block, 0, -1)
            block = reshaped(backend, block, shape)
            blocks[k].append(cast(backend, block, block_dtype(backend, output, leaf)))
    return blocks
