"""Products with the Jacobian of f, as functions of arrays that can be differentiated again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.contract.auto import AutoBackend
from ..core.operators.gradient import value_and_gradient
from ..core.operators.pullback import pullback, pushforward
from ..core.tree.structures import Constant

#: A function of arrays, as users write it.
ArrayFunction = Callable[..., Any]


class Valued:
    """The value and the gradient of f, a tuple, as a function of its arguments."""

    def __init__(self, f: ArrayFunction, backend: AutoBackend, active: tuple[bool, ...]):
        self.f: ArrayFunction = f
        self.backend: AutoBackend = backend
        self.active: tuple[bool, ...] = active
        self.key: tuple[Any, ...] = ("gradient", active)
        self.__name__: str = f"gradient of {getattr(f, '__name__', f)}"

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        value, gradients = value_and_gradient(self.f, self.backend, *_marked(args, self.active))
        return value, *[g for g, is_active in zip(gradients, self.active) if is_active]


class Pulled:
    """The pullback of f as a function of its arguments and of the cotangents that are present."""

    def __init__(
        self,
        f: ArrayFunction,
        backend: AutoBackend,
        active: tuple[bool, ...],
        present: tuple[bool, ...],
        single: bool,
    ):
        self.f: ArrayFunction = f
        self.backend: AutoBackend = backend
        self.active: tuple[bool, ...] = active
        self.present: tuple[bool, ...] = present
        self.single: bool = single
        self.key: tuple[Any, ...] = ("pullback", active, present)
        self.__name__: str = f"pullback of {getattr(f, '__name__', f)}"

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        count = len(self.active)
        _, back = pullback(self.f, self.backend, *_marked(args[:count], self.active))
        seeds = _spread(args[count:], self.present)
        return tuple(
            [
                g
                for g, is_active in zip(back(seeds[0] if self.single else seeds), self.active)
                if is_active
            ]
        )


class Pushed:
    """The pushforward of f as a function of its arguments and of the tangents that are present."""

    def __init__(
        self, f: ArrayFunction, backend: AutoBackend, present: tuple[bool, ...], single: bool
    ):
        self.f: ArrayFunction = f
        self.backend: AutoBackend = backend
        self.present: tuple[bool, ...] = present
        self.single: bool = single
        self.key: tuple[Any, ...] = ("pushforward", present)
        self.__name__: str = f"pushforward of {getattr(f, '__name__', f)}"

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        count = len(self.present)
        points, tangents = _marked(args[:count], self.present), _spread(args[count:], self.present)
        _, tangent = pushforward(self.f, self.backend, points, tangents)
        return (tangent,) if self.single else tuple(tangent)


def _marked(args: Sequence[Any], active: Sequence[bool]) -> tuple[Any, ...]:
    return tuple([x if is_active else Constant(x) for x, is_active in zip(args, active)])


def _spread(seeds: Sequence[Any], present: Sequence[bool]) -> tuple[Any, ...]:
    rest = iter(seeds)
    return tuple([next(rest) if is_present else None for is_present in present])


__all__ = ["ArrayFunction", "Pulled", "Pushed", "Valued"]
