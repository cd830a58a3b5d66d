"""Results that compiled code finishes: where leaves go into it as they are, nothing is left of a call but to put the arrays
of the results into their containers, those of NumPy and Python's numbers in the library of their leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..call.call import Call
from ..call.plan import Plan
from ..contract.backend import Arrays, Aux
from ..contract.library import PYTHON, Enter, Leave, Library, as_it_is
from ..tree import Leaf, LeafSpec, Node, Structure, flatten
from .dense import may_be_wasteful
from .operation import Operation, Results


class NotWhole(Exception):
    """Something is to be done in each call."""


def may_be_whole(operation: Operation, plan: Plan, enters: Sequence[Enter]) -> bool:
    """Whether leaves can go in as they are, and results come out so, as far as the arguments tell.

    enters: how the active leaves go in.
    """
    slots, numbers, foreign = plan.slots, numbers_of(plan), foreign_of(plan)
    return (
        plan.backend.library is not None
        and type(operation).compile is Operation.compile
        and {"back", "push"}.isdisjoint(operation.forms)
        and (not foreign or (plan.backend.device is None and operation.call_type is Call))
        and not (numbers and operation.directions is not None)  # which are numbers, too
        and all(
            plan.dtypes[place] in _NUMBERS
            if place in numbers
            else enters[place] is as_it_is and slots[n].dtype == plan.dtypes[place]
            for place, n in enumerate(plan.active)
        )
        and not any(slot.holder for slot in slots)
    )


#: What compiled code makes of Python's number as NumPy does.
_NUMBERS = ("float32", "float64")


def numbers_of(plan: Plan) -> list[int]:
    """Which of the active leaves are Python's floating numbers."""
    return [place for place, n in enumerate(plan.active) if plan.slots[n].library is PYTHON and plan.slots[n].dtype == "float"]


def foreign_of(plan: Plan) -> list[int]:
    """Which of the active leaves are no arrays of the engine's own."""
    return [place for place, n in enumerate(plan.active) if plan.slots[n].library is not plan.backend.library]


#: How one of the arrays that compiled code gives becomes a result: which, the short way back if there is one, and the leaf
#: whose gradient it is, None for a part of the value.
Way = tuple[int, "Leave | None", "int | None"]


#: Results of which many entries may be zeros for nothing.
_DENSE = frozenset({"jacobian", "hessian"})


class Finished:
    """The flat function with the arrays of the user's results. Raises NotWhole, while it is traced, if those are no such."""

    def __init__(self, operation: Operation, plan: Plan, f: Callable[..., Any], flat: Callable[..., Results]):
        self._operation, self._plan, self._f, self._flat = operation, plan, f, flat
        #: How the results are put together, known once it has been traced: no engine has to carry it along.
        self.structure: Structure | None = None
        #: Those of the arrays with which something is to be done in each call, and what.
        self.ways: list[Way] = []

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
        if not _DENSE.isdisjoint(operation.forms) and may_be_wasteful([math.prod(leaf.value.shape) for leaf in leaves]):
            raise NotWhole  # each call looks at their numbers
        if foreign_of(plan):
            self.ways = self._ways_back(finished)
        return tuple([leaf.value for leaf in leaves])

    def _ways_back(self, finished: Any) -> list[Way]:
        operation, plan = self._operation, self._plan
        back: list[Way] = []
        for form, part in zip(operation.forms, [finished] if operation.result is None else finished, strict=True):
            leaves: list[Leaf] = []
            flatten(part, leaves, lambda: "the results")
            if form not in ("arguments", "argument"):
                presented = plan.result_library is plan.library
                back += [(len(back) + n, as_it_is if presented else plan.present, None) for n in range(len(leaves))]
            elif len(leaves) == len(plan.active):  # in their order
                assert plan.leave is not None
                back += [(len(back) + place, way, place) for place, way in enumerate(plan.leave)]
            else:
                raise NotWhole
        return [way for way in back if way[1] is not as_it_is]


def back_by(ways: Sequence[Way], plan: Plan, found: Arrays, values: Sequence[Any], f: Callable[..., Any]) -> list[Any]:
    """The results from what compiled code gave for these values."""
    results, taken = [*found], set[int]()
    for n, way, place in ways:
        result = None if way is None else way(results[n], taken)
        if result is None:
            call = Call(plan, values, f)
            result = call.present(results[n]) if place is None else call.restore(place, results[n])
        results[n] = result
    return results


def lie_together(library: Library, arrays: Sequence[Any], found: Arrays) -> bool:
    """Whether results lie where the leaves do: where devices are several, they may have to be moved."""
    mine = [array for array in arrays if library.owns(array)]
    if not mine:
        return True
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
