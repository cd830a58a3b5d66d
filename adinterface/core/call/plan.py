"""Plans: what the arguments of a call decide, independent of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from ..contract.backend import Backend
from ..contract.errors import AdinterfaceError
from ..contract.library import NUMPY, PYTHON
from ..contract.nodes import Wrapping
from ..contract.static_values import Unkeyed
from ..tree import Owner, Signature, Slot, count_leaves
from .conversions import Conversions, conversions
from .layout import Layout


@dataclass(frozen=True)
class Plan:
    """The layout and the conversions of the calls with one signature. It keeps no argument alive."""

    operator: str
    backend: Backend
    layout: Layout
    conversions: Conversions
    #: What surrounds a call that writes into its arguments: f's changes, or gradients in buffers.
    wrappings: tuple[Wrapping, ...]
    #: Indices, into the carried slots, of Constants and keywords that may be in a graph of the engine.
    given: tuple[int, ...]
    #: The signature of the differentiated arguments: tangents with that signature need no other check. None: unknown.
    tangent_key: Any

    def values_like_arguments(self, tangents: Sequence[Any]) -> Sequence[Any] | None:
        """The leaves of tangents whose signatures are those of the arguments; None for any others."""
        if self.tangent_key is None:
            return None
        active = self.layout.active_arguments
        try:
            signature = Signature([tangents[i] for i in active], {})
        except (Unkeyed, AdinterfaceError, RecursionError):
            return None
        others = any(tangents[i] is not None for i in range(len(tangents)) if i not in active)
        return None if others or signature.key != self.tangent_key else signature.values


def plan(
    operator: str,
    backend: Backend,
    layout: Layout,
    args: Sequence[Any],
    values: Sequence[Any],
    *,
    copy: bool = False,
    backends: Sequence[Backend] = (),
    wrappings: Sequence[Wrapping] = (),
) -> Plan:
    """The plan of calls with such arguments, whose slots have these values; see `conversions`."""
    converts = conversions(backend, layout, values, copy=copy, backends=backends or (backend,))
    carried = [(layout.slots[n], values[n]) for n in layout.carried]
    return Plan(
        operator=operator,
        backend=backend,
        layout=layout,
        conversions=converts,
        wrappings=tuple(wrappings),
        given=tuple([k for k, (slot, value) in enumerate(carried) if _may_be_recorded(converts, slot, value)]),
        tangent_key=_tangent_key(layout, args),
    )


#: Static values that refer to no array of an engine. An owner refers to the leaves of the call alone.
_PLAIN = frozenset({bool, str, bytes, type, NoneType, Owner, float, complex, int})


def _may_be_recorded(converts: Conversions, slot: Slot, value: Any) -> bool:
    if slot.library is None:
        return type(value) not in _PLAIN
    return slot.owner is None and (slot.library is converts.library or slot.library not in (NUMPY, PYTHON))


def _tangent_key(layout: Layout, args: Sequence[Any]) -> Any:
    active = layout.active_arguments
    if layout.promoted or sum([count_leaves(layout.structures[i]) for i in active]) != len(layout.active):
        return None
    try:
        return Signature([args[i] for i in active], {}).key
    except Unkeyed:
        return None


__all__ = ["Plan", "plan"]
