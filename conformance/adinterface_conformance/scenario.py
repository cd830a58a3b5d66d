"""A scenario: one function at one point, as data.

The laws that every engine must satisfy are in `checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


class OneOf:
    """Several right results at a kink, where releases of an engine differ."""

    def __init__(self, *answers: Any) -> None:
        self.answers = answers


@dataclass(frozen=True)
class Scenario:
    """One function at one point.

    name: unique, `family/words-with-dashes`.
    operator: one of adinterface's operators, such as `gradient` or `hessian`.
    f: code with `xp = adinterface.array_namespace(x)`, for arguments of any engine.
    args: NumPy arrays, Python numbers, trees of them, and `Constant(...)`; for `hvp` `(x, v)`, for
        `pullback` the arguments only (see `seed`), for `pushforward` and `linearize` too (see
        `tangents`).
    expected: the result of the operator, in closed form or computed independently with NumPy; None
        if only the laws are checked.
    seed: the cotangent of a `pullback`; tangents: for `pushforward` and `linearize`, one for each
        argument.
    tags: such as `tree`, `complex`, `empty`, `float32`, `kink`, `second-order`, `many-leaves`,
        `neural-net`, `control-flow`, `value-dependent` (a branch on a value, which a compiler
        refuses).
    rtol: the relative accuracy of an engine that differentiates exactly, in the scenario's own
        dtype.
    """

    name: str
    operator: Callable[..., Any]
    f: Callable[..., Any]
    args: tuple[Any, ...]
    expected: Any = None
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    seed: Any = None
    tangents: tuple[Any, ...] | None = None
    tags: frozenset[str] = frozenset()
    rtol: float = 1e-9
    #: For a kink: what each engine answers, by the name of its backend (`AutoBackend.name`), with
    #: the law it follows;
    #: `OneOf(...)` where the releases of an engine differ.
    documented: Mapping[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        return self.name.replace(":", "/").partition("/")[0]
