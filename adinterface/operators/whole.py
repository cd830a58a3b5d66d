"""Results that compiled code finishes: where leaves are the engine's own arrays, which go in and come out as they are, nothing
is left of a call but to put the arrays of the results into their containers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..call.plan import Plan
from ..contract.backend import Arrays, Aux
from ..contract.library import PYTHON, Library, as_it_is
from ..tree import Leaf, LeafSpec, Node, Structure, flatten
from .operation import Operation, Results


class NotWhole(Exception):
    """Something is to be done in each call."""


def may_be_whole(operation: Operation, plan: Plan, enter: object) -> bool:
    """Whether nothing has to be done to leaves or results, as far as the arguments tell, but that Python's numbers are some
    of the leaves.

    enter: how the active leaves go in.
    """
    slots, library, numbers = plan.slots, plan.backend.library, numbers_of(plan)
    return (
        (enter is None or _beside_numbers(operation, plan, numbers))
        and type(operation).compile is Operation.compile
        and {"back", "push"}.isdisjoint(operation.forms)
        and all(
            place in numbers or (slots[n].library is library and slots[n].dtype == plan.dtypes[place])
            for place, n in enumerate(plan.active)
        )
        and not any(slot.holder for slot in slots)
    )


def _beside_numbers(operation: Operation, plan: Plan, numbers: Sequence[int]) -> bool:
    """Whether all that is to be done concerns Python's numbers, of which compiled code makes arrays."""
    library = plan.backend.library
    return (
        0 < len(numbers) < len(plan.active)
        and library is not None
        and not library.mutable  # what can be written to is not taken as it is
        and plan.backend.device is None
        and operation.forms in (("arguments",), ("value", "arguments"))
        and all(plan.dtypes[place] in _NUMBERS for place in numbers)
    )


#: What compiled code makes of Python's number as NumPy does.
_NUMBERS = ("float32", "float64")


def numbers_of(plan: Plan) -> list[int]:
    """Which of the active leaves are Python's floating numbers."""
    return [place for place, n in enumerate(plan.active) if plan.slots[n].library is PYTHON and plan.slots[n].dtype == "float"]


class Finished:
    """The flat function with the arrays of the user's results. Raises NotWhole, while it is traced, if those are no such."""

    def __init__(self, operation: Operation, plan: Plan, f: Callable[..., Any], flat: Callable[..., Results]):
        self._operation, self._plan, self._f, self._flat = operation, plan, f, flat
        #: How the results are put together, known once it has been traced: no engine has to carry it along.
        self.structure: Structure | None = None
        #: Which of the arrays are gradients of Python's numbers, and become such.
        self.numbers: tuple[int, ...] = ()

    def __call__(self, *arrays: Any) -> Arrays:
        operation, plan, numbers = self._operation, self._plan, numbers_of(self._plan)
        if numbers:
            library, given = plan.backend.library, [*arrays]
            assert library is not None
            for place in numbers:
                given[place] = library.asarray(given[place], dtype=plan.dtypes[place])
            arrays = tuple(given)
        results = self._flat(*arrays)
        if _is_cut_off(results):
            raise NotWhole
        values: list[Any] = [None] * len(plan.slots)
        for n, array in zip(plan.active, arrays):
            values[n] = array
        leaves: list[Leaf] = []
        finished = operation.finish(operation.call_type(plan, values, self._f), results)
        self.structure = flatten(finished, leaves, lambda: "the results")
        if not _is_of_containers(self.structure) or any(leaf.library is not plan.library for leaf in leaves):
            raise NotWhole
        if numbers:  # the gradients of the leaves come last, in their order
            gradients = finished if len(operation.forms) == 1 else finished[-1]
            count: list[Leaf] = []
            flatten(gradients, count, lambda: "the gradients")
            if len(count) != len(plan.active):
                raise NotWhole
            self.numbers = tuple([len(leaves) - len(count) + place for place in numbers])
        return tuple([leaf.value for leaf in leaves])


def lie_together(library: Library, arrays: Sequence[Any], found: Arrays) -> bool:
    """Whether results lie where the leaves do: where devices are several, they may have to be moved."""
    mine = [array for array in arrays if library.owns(array)]
    leave = library.leave(mine[0], library) or as_it_is
    return all(leave(array, set()) is not None for array in (*mine, *found))


def _is_cut_off(results: Results) -> bool:
    """Whether nothing depends on the leaves somewhere, of which each call warns."""
    if type(results) is Aux:
        return results.form is None
    return isinstance(results, (tuple, list)) and any(map(_is_cut_off, results))


def _is_of_containers(structure: Structure) -> bool:
    """Whether it is made of arrays, None, and containers that are their parts and nothing else."""
    if isinstance(structure, Node):
        kind = structure.type
        plain = not (kind.held or kind.stateful or kind.stands_for_array)
        return plain and all(map(_is_of_containers, structure.children))
    return isinstance(structure, LeafSpec) or getattr(structure, "value", structure) is None
