"""Operators in parts, on the workers of an executor or on several devices: Jacobians, and `batched`
calls.

The parts depend only on the arguments and the backend, so results are equal to the last bit for any
number of workers. A worker gets f, the arguments and its part, and makes the call of a backend
without an executor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from ..core import derive
from ..core.call.call import Call
from ..core.call.plan import Plan
from ..core.call.row import OperatorRow, Parts
from ..core.contract.arrays import copies, library_of, library_of_array
from ..core.contract.auto import AutoBackend
from ..core.contract.backend import Arrays, Aux
from ..core.contract.library import Library, dtype_kind
from ..core.derive import jacobians
from ..core.derive.basis import concatenated
from ..core.operators.jacobian import JACOBIAN, VALUE_AND_JACOBIAN
from ..core.operators.run import evaluate, find_plan, run
from ..core.operators.second_order import first_order
from ..core.support.record import note_step
from ..core.tree import CONSTANT, Constant, Node, Structure, flatten_tree, handler_of, rebuild
from .batched import BatchedRow
from .batched_call import EACH
from .workers import PIECES, Outside, Task, run_all


def spread(row: OperatorRow, auto: Any) -> tuple[OperatorRow, AutoBackend]:
    """The row and the backend for one with an executor; operators without parts use the plain
    one.
    """
    if first_order(auto).estimates:
        return row, auto
    if row is JACOBIAN or row is VALUE_AND_JACOBIAN:
        return _spread_jacobian(row), auto
    if not isinstance(row, BatchedRow):
        return row, auto
    alone = replace(auto, executor=None)
    inner = row.inner
    if row.randomness != "error" or inner.directions is not None or inner.outlives:
        return row, alone
    return _spread_batched(row, alone, auto.executor), alone


def _run_all(
    alone: Any, executor: Any, call: Callable[..., Any], parts: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """`call(backend, *part)` for each part, on the workers."""
    devices = getattr(executor, "devices", None)  # an array of them, as of `jax.sharding.Mesh`
    if not isinstance(devices, np.ndarray):
        computed = list(run_all(executor, [Task(call, (alone, *part)) for part in parts]))
    else:
        backends = [replace(alone, device=device) for device in devices.flat]
        with ThreadPoolExecutor(len(backends)) as threads:
            computed = list(
                threads.map(
                    lambda n: call(backends[n % len(backends)], *parts[n]), range(len(parts))
                )
            )
    for result in computed:
        if isinstance(result, Outside):
            raise result.error
    return computed


def _ranges(count: int, size: int | None) -> list[tuple[int, int]]:
    """`(10, 4)` -> `[(0, 4), (4, 8), (8, 10)]`; without a size at most `PIECES` ranges."""
    step = size or max(1, -(-count // PIECES))
    return [(start, min(start + step, count)) for start in range(0, count, step)]


def _again(structure: Structure, values: Iterator[Any]) -> Any:
    """An argument as it was passed, markers included, with these values."""

    def built(node: Node, children: list[Any]) -> Any:
        if node.type in (CONSTANT, EACH):
            return node.type.replace(None, children)
        if node.type.is_owner:  # its frozen values are its own
            children = [child.value if type(child) is Constant else child for child in children]
        return node.made(node.type.unflatten, children)

    return structure.fold(lambda place: place.build(values), built)


def _arguments(plan: Plan, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments and keywords of a call, from the values of its slots."""
    remaining = iter(values)
    args = tuple([_again(structure, remaining) for structure in plan.structures])
    words = {name: _again(structure, remaining).value for name, structure in plan.keywords.items()}
    return args, words


# Jacobians
# ------------------------------------------------------------------------------------------------


def _rows(call: Call, leaves: Arrays, ends: Arrays) -> Parts:
    """Some rows of a Jacobian, as native stacks. ends: `(first row, end)`, in place of tangents."""
    backend = call.plan.backend
    pulled = derive.pullback(backend, call, leaves)
    seeds = jacobians.row_components(backend, pulled.outputs).seeds(*ends)
    return derive.back_stacked(backend, pulled)(seeds)


def _columns(call: Call, leaves: Arrays, ends: Arrays) -> Parts:
    backend = call.plan.backend
    linear = derive.linearize(backend, call, leaves)
    seeds = jacobians.column_components(backend, linear.outputs, leaves).seeds(*ends)
    return derive.push_stacked(backend, linear)(seeds)


_PART_OF_ROWS = replace(
    JACOBIAN,
    compute=_rows,
    finish=lambda call, parts: parts,
    tangents=lambda call, ends, _: (*ends,),
)
_PART_OF_COLUMNS = replace(_PART_OF_ROWS, compute=_columns)


def _part(
    auto: AutoBackend,
    columns: bool,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *ends: int,
) -> Arrays:
    """Some rows or columns of a Jacobian, on a worker. ends: see `_rows`."""
    plan, values, _ = find_plan(_PART_OF_COLUMNS if columns else _PART_OF_ROWS, auto, args, kwargs)
    stacks: Arrays = evaluate(Call(plan, f, values), ends)
    return tuple([_sent(stack) for stack in stacks])


def _sent(x: Any) -> Any:
    library = handler_of(x)
    # such as random keys
    if (
        not isinstance(library, Library)
        or library.mutable
        or dtype_kind(library.dtype(x)) == "other"
    ):
        return x
    return library.to_numpy(x)  # JAX reads its own arrays with 32 bits where jax_enable_x64 is off


@cache
def _spread_jacobian(row: OperatorRow) -> OperatorRow:
    """The row of a Jacobian whose rows or columns are computed in parts."""

    def compute(call: Call, leaves: Arrays, tangents: Arrays) -> Parts:
        result = _in_parts(call, leaves)
        if result is None:
            return row.compute(call, leaves, tangents)
        outputs, aux, blocks = result
        jacobian = Aux((), aux.layout), blocks
        return ((outputs, aux), jacobian) if "value" in row.forms else (jacobian,)

    return replace(row, compute=compute, compiles=False)


def _in_parts(call: Call, leaves: Arrays) -> tuple[Arrays, Aux, list[list[Any]]] | None:
    """Outputs, aux and blocks; None for leaves that an outer derivative follows, which belong to
    their thread.
    """
    plan = call.plan
    backend = plan.backend
    if any(library_of(backend, leaf).traced(leaf) for leaf in leaves):
        return None
    values = [*call.entered]
    for n, leaf in zip(plan.active, leaves):
        values[n] = leaf
    args, kwargs = _arguments(plan, [*map(_sent, values)])
    with library_of(backend, leaves[0]).evaluation(leaves) or nullcontext():
        outputs, aux = call(*copies(backend, leaves, call.owned))
    columns = jacobians.by_columns(backend, outputs, leaves)
    if columns:
        components = jacobians.column_components(backend, outputs, leaves)
    else:
        components = jacobians.row_components(backend, outputs)
    alone, executor = replace(backend.auto, executor=None), backend.auto.executor  # type: ignore[call-arg, attr-defined]
    ranges = _ranges(components.count, backend.chunk_size)
    result = _run_all(
        alone, executor, _part, [(columns, call.f, args, kwargs, *ends) for ends in ranges]
    )
    note_step(
        backend,
        f"{components.count} {'columns' if columns else 'rows'} of the Jacobian, in {len(result)}"
        " parts",
    )
    homes = [map(_home, stacks, outputs if columns else leaves) for stacks in result]
    stacks = [concatenated(backend, column) for column in zip(*homes)]
    blocks = jacobians.column_blocks if columns else jacobians.row_blocks
    return outputs, aux, blocks(backend, components, stacks, outputs, leaves)


def _home(stack: Any, like: Any) -> Any:
    """A stack from another device or process, moved to the device of this array."""
    return library_of_array(like).asarray(stack, like=like)


# Batched calls
# ------------------------------------------------------------------------------------------------


def _spread_batched(row: BatchedRow, alone: AutoBackend, executor: Any) -> OperatorRow:
    """The row of a batched call whose entries go out in parts."""
    compute = partial(_entries_or_nothing, row)
    return replace(
        row, compute=compute, compiles=False, finish=partial(_finish_in_parts, row, alone, executor)
    )


def _entries_or_nothing(row: BatchedRow, call: Call, leaves: Arrays, tangents: Arrays) -> Parts:
    """`_NOTHING`, as the parts are computed from the caller's arrays; or all entries at once, here.

    That is so without entries, inside an outer derivative, and for a module with frozen parameters,
    whose zero gradients have no axis.
    """
    plan = call.plan
    traced = any(library_of(plan.backend, leaf).traced(leaf) for leaf in leaves)
    if not plan.marks.count or traced or any(map(_is_part_frozen, plan.structures)):
        return row.compute(call, leaves, tangents)
    return _NOTHING


def _finish_in_parts(
    row: BatchedRow, alone: AutoBackend, executor: Any, call: Call, results: Parts
) -> Any:
    if results is not _NOTHING:
        assert row.finish is not None
        return row.finish(call, results)
    plan, axis = call.plan, call.plan.marks
    parts: list[tuple[Any, ...]] = []
    for start, stop in _ranges(axis.count, plan.backend.chunk_size):
        values = [
            value[start:stop] if each else value for value, each in zip(call.values, axis.each)
        ]
        parts.append((row, call.f, *_arguments(plan, values)))
    return _joined(_run_all(alone, executor, _entries, parts))


_NOTHING = object()


def _is_part_frozen(structure: Structure) -> bool:
    children = [
        child for node in structure.nodes() if node.type.is_owner for child in node.children
    ]
    return any(isinstance(child, Node) and child.type is CONSTANT for child in children)


def _entries(
    auto: AutoBackend,
    row: BatchedRow,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Some entries of a batched call, on a worker."""
    return run(row, auto, f, args, kwargs)


def _joined(results: Sequence[Any]) -> Any:
    """The results of all parts as one: their arrays concatenated."""
    structure, first = flatten_tree(results[0])
    columns = zip(
        *[[leaf.value for leaf in flatten_tree(result)[1]] for result in results], strict=True
    )
    arrays: list[Any] = []
    for leaf, column in zip(first, columns):
        same_device = [leaf.library.asarray(part, like=column[0]) for part in column]
        arrays.append(leaf.library.namespace(column[0]).concat(same_device))
    return rebuild(structure, iter(arrays))
