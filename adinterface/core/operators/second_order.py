"""The pair of backends for second derivatives."""

from __future__ import annotations

from ..call.plan import Engines
from ..call.row import OperatorRow
from ..contract.auto import AutoBackend, SecondOrder
from ..contract.backend import Backend
from ..contract.errors import BackendError
from ..contract.registry import find


def engines_of(row: OperatorRow, auto: AutoBackend) -> Engines:
    """The backends of an operator on a backend value."""
    if row.order == 1:
        backend = first_order(auto)
        return Engines(backend, backend, backend, (backend,))
    outer, inner = second_order(auto)
    backend, other = (inner, outer) if inner.library is not None else (outer, inner)
    # Two modes of one backend have the same options.
    return Engines(
        outer, inner, backend, (backend, other) if isinstance(auto, SecondOrder) else (backend,)
    )


def first_order(auto: AutoBackend) -> Backend:
    """The backend of a first-order operator: of `SecondOrder(outer, inner)` the inner one."""
    return find(auto.inner if isinstance(auto, SecondOrder) else auto)


def second_order(auto: AutoBackend) -> tuple[Backend, Backend]:
    """`(outer, inner)`; raises BackendError for a pair that cannot work."""
    if not isinstance(auto, SecondOrder):
        return _pair(find(auto))
    if isinstance(auto.outer, SecondOrder) or isinstance(auto.inner, SecondOrder):
        raise BackendError(
            "SecondOrder takes two first-order backends. For a third derivative nest the calls: the"
            " derivative of a function that computes a second derivative."
        )
    outer, inner = find(auto.outer), find(auto.inner)
    if auto.outer == auto.inner and outer.library is None:
        return _pair(outer)  # differences of differences need wider steps
    if inner.estimates and not outer.estimates:
        raise BackendError(
            f"{auto!r} cannot work: {_name(auto.outer)} cannot see through finite differences. Take"
            f" them outside: SecondOrder({_name(auto.inner)}(), {_name(auto.outer)}())."
        )
    if inner.library not in (None, outer.library) and outer.library is not None:
        raise BackendError(
            f"{auto!r} cannot work: {_name(auto.outer)} cannot see through the arrays of"
            f" {_name(auto.inner)}. Pairs that do: one engine twice, such as"
            f" SecondOrder({_name(auto.inner)}(), {_name(auto.inner)}()), with any modes; or finite"
            f" differences outside, SecondOrder(AutoFiniteDifferences(), {_name(auto.inner)}())."
        )
    if inner.library is not None and outer.device not in (None, inner.device):
        raise BackendError(
            f"{auto!r}: f gets the arrays of the inner backend, so that one takes the device, or"
            " both take the same."
        )
    return outer, inner


def _pair(backend: Backend) -> tuple[Backend, Backend]:
    """The outer and the inner backend for second derivatives on one backend."""
    return backend.second_order() if backend.mode is None else (backend, backend)


def _name(auto: AutoBackend) -> str:
    return type(auto).__name__
