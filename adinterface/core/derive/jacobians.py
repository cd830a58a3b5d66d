"""Gradients and Jacobians from the primitives: by rows or by columns, whichever are fewer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..contract.arrays import block_dtype, filled, full_like, library_of, size_of
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
from .basis import Components, double, namespace_of, sum_units
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
    outputs = Components(backend, pulled.outputs)
    inputs = _column_components(outputs, leaves)
    if policy.by_columns(backend, inputs.count, outputs.count):
        note_step(
            backend, "transposed into a linear map, because the inputs are fewer than the outputs"
        )
        with suppress(NotRecordedError):  # rows need first derivatives only
            return columns(backend, transposed(backend, pulled), leaves)
    note_step(backend, f"{outputs.count} rows of the Jacobian")
    stacks = outputs.mapped(stacked(backend, pulled)) if outputs.count else []
    blocks = _blocks(outputs, inputs, stacks, by_rows=True)
    return Jacobian(pulled.outputs, pulled.aux, blocks)


def _column_components(outputs: Components, leaves: Arrays) -> Components:
    """The components of the leaves, each of which has a column."""
    return Components(outputs.backend, leaves, doubled=not all(outputs.complex))


def columns(backend: Backend, linear: Linearized, leaves: Arrays) -> Jacobian:
    outputs = Components(backend, linear.outputs)
    inputs = _column_components(outputs, leaves)
    note_step(backend, f"{inputs.count} columns of the Jacobian")
    stacks = inputs.mapped(stacked(backend, linear)) if inputs.count else []
    blocks = _blocks(outputs, inputs, stacks, by_rows=False)
    return Jacobian(linear.outputs, linear.aux, blocks)


def _push_all(backend: Backend, function: FlatFunction, leaves: Arrays) -> Jacobian | None:
    """All columns in one batch; None if the engine cannot, or if they exceed one batch."""
    components = Components(backend, leaves)
    if "pushforward_stacked" not in backend.gives or backend.chunk_size == 1:
        return None
    if len(list(components.chunks())) != 1:
        return None
    note_step(backend, f"{components.count} columns of the Jacobian in one batch of pushforwards")
    pushed = backend.pushforward_stacked(function, leaves, components.seeds(0, components.count))
    if pushed is None:
        return None
    outputs, stacks, aux = checked(backend, pushed, leaves, components.count)
    blocks = _blocks(Components(backend, outputs), components, stacks, by_rows=False)
    return Jacobian(outputs, aux, blocks)


def _blocks(
    outputs: Components, leaves: Components, stacks: Sequence[Any], *, by_rows: bool
) -> list[list[Any]]:
    """The blocks, from a stack of rows for each leaf, or a stack of columns for each output."""
    blocks: list[list[Any]] = []
    for k in range(len(outputs.arrays)):
        blocks.append([])
        for n in range(len(leaves.arrays)):
            shape = (*outputs.shapes[k], *leaves.shapes[n])
            dtype = block_dtype(outputs.dtypes[k], leaves.dtypes[n])
            if 0 in shape:
                zeros = np.zeros(shape, double(dtype))
                block = outputs.libraries[k].asarray(zeros, dtype=dtype)
            elif by_rows:
                block = _of_rows(outputs, k, stacks[n], of_complex=leaves.complex[n])
            else:
                block = _of_columns(leaves, n, stacks[k], of_complex=outputs.complex[k])
            blocks[k].append(_as_block(outputs.backend, block, shape, dtype))
    return blocks


def _of_rows(outputs: Components, k: int, stack: Any, *, of_complex: bool) -> Any:
    """From a stack of rows those of output k, joined. of_complex: whether the leaf is complex."""
    parts = outputs.parts(stack, k)
    if outputs.complex[k] and of_complex:
        real = namespace_of(outputs.backend, (stack,)).real
        parts = [(real(part), unit) for part, unit in parts]
    return sum_units(parts)


def _of_columns(leaves: Components, n: int, stack: Any, *, of_complex: bool) -> Any:
    """From a stack of columns those of leaf n, joined. of_complex: whether the output is."""
    parts = leaves.parts(stack, n)
    block = sum_units(parts[:1] if of_complex else parts)
    return namespace_of(leaves.backend, (block,)).moveaxis(block, 0, -1)


def _as_block(backend: Backend, block: Any, shape: tuple[int, ...], dtype: str) -> Any:
    library = library_of(backend, block)
    if library.shape(block) != shape:
        block = library.namespace(block).reshape(block, shape)
    return block if library.dtype(block) == dtype else library.asarray(block, dtype=dtype)
