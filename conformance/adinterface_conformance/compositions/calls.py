"""The ways to differentiate a program: each a text that is run after the program, and the meaning of its result."""

from __future__ import annotations

import functools
import random
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from adinterface import AutoBackend, AutoFiniteDifferences, tree
from adinterface.core.contract.registry import find

from ..accuracy import differentiates
from ..fuzz.trial import as_native, native_library
from ..trees import numbers_of
from .program import SHARES, Program, source

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Road:
    """A way to a derivative. op, of, args: the call; `{c}` is the place of constants. then: the statements that follow, where
    `CALL` is the call. gives: the quantity. layout: how the result holds it. only: the kinds of numbers and of arguments."""

    op: str
    of: str
    args: str
    then: str
    gives: str
    layout: str
    kinds: str = "fc"
    trees: bool = True
    wrap: str = "B"
    order: int = 1


#: J is the Jacobian of f, g the gradient of the loss, H its Hessian, d the diagonal of H, C the complex Jacobian.
ROADS = {
    "value": Road("pullback", "f", "{p}{c}", "result = CALL.value", "value", "vector"),
    "value of pushforward": Road("pushforward", "f", "({p}{c},), ({v}{n},)", "result = CALL.value", "value", "vector"),
    "gradient": Road("gradient", "loss", "{p}{c}", "result = CALL[0]", "g", "vector"),
    "value_and_gradient": Road("value_and_gradient", "loss", "{p}{c}", "result = CALL.gradient[0]", "g", "vector"),
    "jacobian": Road("jacobian", "f", "{p}{c}", "result = CALL[0]", "J", "matrix", "f"),
    "complex jacobian": Road("jacobian", "f", "{p}{c}", "result = CALL[0]", "C", "matrix", "c"),
    "value_and_jacobian": Road("value_and_jacobian", "f", "{p}{c}", "result = CALL.jacobian[0]", "J", "matrix", "f"),
    "pushforward": Road("pushforward", "f", "({p}{c},), ({v}{n},)", "result = [CALL.tangent for v in basis]", "J", "columns"),
    "linearize": Road("linearize", "f", "{p}{c}", "push = CALL.push\nresult = [push(v{n}) for v in basis]", "J", "columns"),
    "pullback": Road("pullback", "f", "{p}{c}", "back = CALL.back\nresult = [back(w)[0] for w in rows]", "J", "rows"),
    "stacked back": Road("pullback", "f", "{p}{c}", "result = CALL.back.stacked(np.stack(rows))[0]", "J", "matrix", "f"),
    "hessian": Road("hessian", "loss", "{p}{c}", "result = CALL", "H", "blocks", "f", order=2),
    "value_gradient_and_hessian": Road(
        "value_gradient_and_hessian", "loss", "{p}{c}", "result = CALL.hessian", "H", "blocks", "f", order=2
    ),
    "hvp": Road("hvp", "loss", "{p}, {v}{c}", "result = [CALL for v in basis]", "H", "rows", "f", order=2),
    "gradient_and_hvp": Road(
        "gradient_and_hvp", "loss", "{p}, {v}{c}", "result = [CALL.hvp for v in basis]", "H", "rows", "f", order=2
    ),
    "diagonal_hessian": Road("diagonal_hessian", "loss", "{p}{c}", "result = CALL[0]", "d", "vector", "f", order=2),
    "pushforward of gradient": Road(
        "pushforward", "slope", "({p}{c},), ({v}{n},)", "result = [CALL.tangent for v in basis]", "H", "rows", order=2
    ),
    "pullback of gradient": Road(
        "pullback", "slope", "{p}{c}", "back = CALL.back\nresult = [back(v)[0] for v in basis]", "H", "rows", order=2
    ),
    "jacobian of gradient": Road("jacobian", "slope", "{p}{c}", "result = CALL[0]", "H", "matrix", "f", trees=False, order=2),
    "sparse jacobian": Road(
        "jacobian", "f", "{p}{c}", "result = CALL[0].toarray()", "J", "matrix", "f", trees=False, wrap="AutoSparse(B)"
    ),
    "sparse hessian": Road(
        "hessian", "loss", "{p}{c}", "result = CALL.toarray()", "H", "matrix", "f", trees=False, wrap="AutoSparse(B)", order=2
    ),
}


@dataclass(frozen=True)
class Call:
    """A road on a backend, prepared for other numbers or not."""

    backend: AutoBackend
    road: str
    prepared: bool = False

    def __str__(self) -> str:
        return f"{self.backend!r}, {self.road}{', prepared' * self.prepared}"


@functools.lru_cache(maxsize=64)
def inner_of(backend: AutoBackend) -> AutoBackend:
    """The backend of the operators inside f: for differences the engine whose arrays f gets."""
    native = getattr(backend, "native", None)
    return native if native is not None else backend


def forward_of(backend: AutoBackend) -> AutoBackend:
    """The same engine in forward mode, if it has a mode."""
    has_mode = any(field.name == "mode" for field in fields(backend))
    return replace(backend, mode="forward") if has_mode else backend  # type: ignore[call-arg]


def stages_of(call: Call, program: Program, constant: str = "p") -> list[str]:
    """The statements of a call, those of its preparation before them. constant: the name of what is constant."""
    road = ROADS[call.road]
    _, _, wrapped, keyword = SHARES[program.share]

    def args(p: str, v: str, c: str) -> str:
        given = f", {wrapped.format(x=c)}" if wrapped else ""
        text = road.args.format(p=p, v=v, c=given, n=", None" if wrapped else "")
        return text + (f", {keyword.format(x=c)}" if keyword else "")

    then = road.then.format(n=", None" if wrapped else "")
    if "for v in" not in then:  # it takes one direction, or none
        then = f"v = basis[0]\n{then}" if "{v}" in road.args else then
    if not call.prepared:
        return [then.replace("CALL", f"{road.op}({road.of}, {road.wrap}, {args('p', 'v', constant)})")]
    elsewhere = args("other", "other", "other")
    made = f"fast = prepare({road.op}, {road.of}, {road.wrap}, {elsewhere})\nfast({elsewhere})"
    return [made, then.replace("CALL", f"fast({args('p', 'v', constant)})")]


class Place:
    """A program in the words of one engine, ready to be called."""

    def __init__(self, program: Program, backend: AutoBackend):
        self.program = program
        self.inner = inner_of(backend)
        self.names: dict[str, Any] = {"B": self.inner, "B_forward": forward_of(self.inner), "__name__": "program"}
        module = types.ModuleType("program")  # dataclasses look their module up
        module.__dict__.update(self.names)
        self.names = module.__dict__
        sys.modules["program"] = module
        exec(compile(source(program, self.inner.name), "<program>", "exec", dont_inherit=True), self.names)

    def run(self, call: Call, at: Array | None = None) -> Array:
        """The quantity that the call gives, at another point with the constants of this one. Raises whatever it raises."""
        x = self.names["X"] if at is None else at
        library = native_library(self.inner) if self.program.pack == "native" else None

        def pack(v: Array) -> Any:
            return self.names["pack"](as_native(library, v))

        units = list(np.eye(x.size, dtype=x.dtype))
        units += [1j * e for e in units] if self.program.is_complex else []
        # The operators inside f keep the engine of the program, while the call may be by differences.
        names = self.names | {"B": call.backend, "p": pack(x.copy()), "other": pack(x * 0.875), "rows": units}
        names |= {"basis": [pack(e) for e in units], "fixed": pack(self.names["X"])}
        for stage in stages_of(call, self.program, "p" if at is None else "fixed"):
            random.seed(5)
            np.random.seed(5)  # noqa: NPY002
            self.names.get("seed", _nothing)()
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec(stage, names)
        return _laid_out(names["result"], ROADS[call.road], self.program)


def _nothing() -> None:
    pass


def _same(x: Any) -> Any:
    return x


def _leaves(value: Any) -> list[Any]:
    return [numbers_of(leaf) for leaf in tree.leaves(value) if leaf is not None]


def _row(value: Any) -> Array:
    parts = [np.ravel(x) for x in _leaves(value)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _real(x: Array) -> Array:
    return np.concatenate([np.real(x), np.imag(x)])


def _laid_out(result: Any, road: Road, program: Program) -> Array:
    """The quantity as real numbers; of complex ones the imaginary parts after the real parts."""
    real = _real if program.is_complex and road.gives != "C" else _same
    if road.layout == "vector":
        return np.asarray(real(_row(result)))
    if road.layout in ("rows", "columns"):
        stacked = np.stack([real(_row(each)) for each in result])
        return stacked.T if road.layout == "columns" else stacked
    leaves = _leaves(result)
    if road.layout == "matrix":
        return np.concatenate([np.reshape(x, (x.shape[0], -1)) for x in leaves], axis=1)
    count = round(len(leaves) ** 0.5)
    return np.asarray(np.block([leaves[n * count : (n + 1) * count] for n in range(count)]))


# The reference -------------------------------------------------------------------------------------------------------

#: Central differences of sixth order: the weights of the points at 1, 2 and 3 steps, and those of fourth order.
_FIRST, _FIRST4 = (45 / 60, -9 / 60, 1 / 60), (2 / 3, -1 / 12, 0.0)
_SECOND, _SECOND4 = (1.5, -0.15, 1 / 90), (4 / 3, -1 / 12, 0.0)
STEP = 2.0**-7


class Rough(Exception):
    """The differences are not exact enough to judge by."""


class Reference:
    """The derivatives of a program by differences of its values, as one engine computes them in double precision."""

    def __init__(self, program: Program, backend: AutoBackend, value: Callable[[Array], Array], loss: Callable[[Array], float]):
        self.backend = backend
        wide = replace(program, dtype="complex128" if program.is_complex else "float64")
        self._x, self._value, self._loss = wide.point, value, loss
        self.size = self._x.size * (2 if program.is_complex else 1)
        self._known: dict[bytes, tuple[Array, float]] = {}
        self.table: dict[str, Array] = {"value": self._at(np.zeros(self.size))[0]}
        #: How exact the differences are, relative.
        self.doubt = 0.0

    def of(self, quantity: str) -> Array:
        """A quantity. Raises Rough."""
        if quantity not in self.table:
            if quantity == "J":
                self.table["J"] = np.stack([self._along(e, 0, _FIRST, _FIRST4) for e in np.eye(self.size)], axis=1)
            elif quantity == "g":
                self.table["g"] = np.stack([self._along(e, 1, _FIRST, _FIRST4) for e in np.eye(self.size)])
            elif quantity in ("H", "d"):
                self.table["H"] = self._hessian()
                self.table["d"] = np.diag(self.table["H"])
            elif quantity == "C":  # the derivative by the real parts
                columns, n = self.of("J")[:, : self.size // 2], self.table["J"].shape[0] // 2
                self.table["C"] = columns[:n] + 1j * columns[n:]
        return self.table[quantity]

    def _at(self, change: Array) -> tuple[Array, float]:
        key = change.tobytes()
        if key not in self._known:
            n = self._x.size
            x = self._x + (change[:n] + 1j * change[n:] if self.size > n else change)
            self._known[key] = self._value(x), self._loss(x)
        return self._known[key]

    def _along(self, v: Array, which: int, weights: Sequence[float], fewer: Sequence[float], sign: int = -1) -> Any:
        """A derivative along v: of first order with sign -1, of second order with sign 1."""
        centre = self._at(np.zeros(self.size))[which]
        sums = []
        for row in (weights, fewer):
            total: Any = -2 * sum(row) * np.asarray(centre) if sign == 1 else 0.0
            for k, weight in enumerate(row, 1):
                ahead, behind = (np.asarray(self._at(s * k * STEP * v)[which]) for s in (1, -1))
                total = total + weight * (ahead + sign * behind)
            sums.append(total / STEP ** (1 if sign == -1 else 2))
        size = 1 + np.max(np.abs(sums[0]), initial=0.0)
        off = float(np.max(np.abs(sums[0] - sums[1]), initial=0.0)) / size
        if not off < 1e-4:
            raise Rough
        self.doubt = max(self.doubt, 10 * off)  # where a singularity is near, the higher order is no better
        return sums[0]

    def _hessian(self) -> Array:
        basis = np.eye(self.size)
        diagonal = [self._along(e, 1, _SECOND, _SECOND4, 1) for e in basis]
        found = np.diag(diagonal)
        for i in range(self.size):
            for j in range(i):
                both = self._along(basis[i] + basis[j], 1, _SECOND, _SECOND4, 1)
                found[i, j] = found[j, i] = (both - diagonal[i] - diagonal[j]) / 2
        return found


def reference(program: Program, backend: AutoBackend, road: str) -> Reference:
    """By the values of this backend."""
    wide = replace(program, dtype="complex128" if program.is_complex else "float64")
    place = Place(wide, backend)

    def value(x: Array) -> Array:
        return place.run(Call(backend, road), x)

    def loss(x: Array) -> float:
        y = value(x)
        n = y.size // 2
        y = y[:n] + 1j * y[n:] if program.is_complex else y
        return float(np.real(np.sum(y * y) + y[0] * (0.5 + 0.3j if program.is_complex else 0.5)))

    return Reference(program, backend, value, loss)


def engines_of(backends: Sequence[AutoBackend]) -> list[AutoBackend]:
    """The backends in the order in which they are tried, those that compile last.

    Finite differences evaluate f on the arrays of the first engine that differentiates.
    """
    exact = sorted([backend for backend in backends if differentiates(backend)], key=compiles)
    return exact + [
        replace(backend, native=exact[0]) if isinstance(backend, AutoFiniteDifferences) else backend
        for backend in backends
        if backend not in exact and exact
    ]


def compiles(backend: AutoBackend) -> bool:
    """Whether a prepared call is compiled, which takes a second."""
    return "compile" in find(inner_of(backend)).gives


__all__ = ["ROADS", "Call", "Place", "Reference", "Rough", "compiles", "engines_of", "reference", "stages_of"]
