"""Rows of the judge: right gradients of awkward functions, and planted faults."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adinterface import Constant, array_namespace, rule

Random = np.random.Generator
#: From random numbers and a dtype to a function and its arguments; and the function that is
#: prepared, if a prepared call is
#: checked.
Maker = Callable[[Random, str], tuple[Any, ...]]


class Row(NamedTuple):
    """A function.

    Whether it is meant for float64 alone; the backends that can evaluate it, and in which mode.
    """

    make: Maker
    double: bool = False
    engines: tuple[str, ...] = ("AutoTorch", "AutoJax", "AutoAutograd")
    mode: str | None = None


def _drawn(random: Random, dtype: str, *shape: int, scale: float = 1.0) -> Any:
    return (scale * random.standard_normal(shape)).astype(dtype)


# Right gradients
# ------------------------------------------------------------------------------------------------


def _network(random: Random, dtype: str) -> Any:
    x, y = _drawn(random, dtype, 16, 6), _drawn(random, dtype, 16, 2)
    p = {
        f"w{n}": _drawn(random, dtype, *shape, scale=shape[0] ** -0.5)
        for n, shape in enumerate([(6, 12), (12, 12), (12, 2)])
    }
    p |= {f"b{n}": _drawn(random, dtype, k, scale=0.1) for n, k in enumerate([12, 12, 2])}
    return _network_loss, (p, Constant(x), Constant(y))


def _network_loss(p: Any, x: Any, y: Any) -> Any:
    xp = array_namespace(x)
    h = xp.tanh(x @ p["w0"] + p["b0"])
    h = xp.tanh(h @ p["w1"] + p["b1"])
    return xp.mean((h @ p["w2"] + p["b2"] - y) ** 2)


def _deep(depth: int) -> Maker:
    def make(random: Random, dtype: str) -> Any:
        def f(layers: Any, x: Any, y: Any) -> Any:
            xp = array_namespace(x)
            for w, b in layers[:-1]:
                x = xp.maximum(x @ w + b, xp.zeros_like(b))
            return xp.mean((x @ layers[-1][0] + layers[-1][1] - y) ** 2)

        widths = [6, *[8] * depth, 1]
        layers = [
            (
                _drawn(random, dtype, a, b, scale=(1 / (3 * a)) ** 0.5),
                _drawn(random, dtype, b, scale=0.3),
            )
            for a, b in itertools.pairwise(widths)
        ]
        return f, (
            layers,
            Constant(_drawn(random, dtype, 8, 6)),
            Constant(_drawn(random, dtype, 8, 1)),
        )

    return make


def _of(f: Callable[[Any, Any], Any], draw: Callable[[Random], Any]) -> Maker:
    """A function `f(xp, x)` of one array, drawn in float64."""

    def make(random: Random, dtype: str) -> Any:
        x = np.asarray(draw(random))
        kind = {"float32": "complex64"}.get(dtype, "complex128") if x.dtype.kind == "c" else dtype
        return lambda x: f(array_namespace(x), x), (x.astype(kind),)

    return make


def _one_kink(random: Random, dtype: str) -> Any:
    x = _drawn(random, dtype, 50)
    x[random.integers(50)] = 0.0
    return lambda x: array_namespace(x).sum(abs(x) ** 1 + x * x), (x,)


def _prepared(factor: float) -> Maker:
    """A prepared call of another function: with this factor on a leaf."""

    def make(random: Random, dtype: str) -> Any:
        loss, args = _network(random, dtype)
        return loss, args, _network_with(_times(factor), "w1")(random, dtype)[0]

    return make


RIGHT: dict[str, Row] = {
    "a tanh network": Row(_network),
    "20 ReLU layers": Row(_deep(20)),
    "saturated tanh": Row(_of(lambda xp, x: xp.sum(xp.tanh(x)), lambda r: r.uniform(15, 25, 3))),
    "1e10 + 1e-8 x**2": Row(
        _of(lambda xp, x: xp.sum(1e10 + 1e-8 * x**2), lambda r: r.standard_normal(3)), True
    ),
    "complex": Row(
        _of(
            lambda xp, z: xp.sum(xp.real(z * z * xp.conj(z) * (1 + 2j))),
            lambda r: r.standard_normal(3) + 1j * r.standard_normal(3),
        )
    ),
    "one kink of 50": Row(_one_kink),
    "x log x": Row(_of(lambda xp, x: -xp.sum(x * xp.log(x)), lambda r: r.dirichlet(np.ones(5)))),
    "a tanh network, prepared": Row(_prepared(1)),
}


# Planted faults
# ------------------------------------------------------------------------------------------------


def _tainted(change: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """The identity, with a pullback that changes the cotangent: `change(cotangent, x)`."""

    @rule
    def identity(x: Any) -> Any:
        return x * 1

    identity.pullback(lambda cotangent, value, x: change(cotangent, x))
    return identity


def _times(factor: float) -> Callable[[Any, Any], Any]:
    return lambda cotangent, x: cotangent * factor


CHANGES = {f"factor {factor}": _times(factor) for factor in (1.001, 0, -1)}


def _one_entry(c: Any, x: Any) -> Any:
    xp = array_namespace(c)
    return xp.where(xp.asarray(np.arange(c.shape[0]) == 17), 1.5 * c, c)


def _forward(random: Random, dtype: str) -> Any:
    """Its pullback is right, its pushforward is not."""

    @rule
    def sine(x: Any) -> Any:
        return array_namespace(x).sin(x)

    sine.pullback(lambda c, value, x: c * array_namespace(x).cos(x))
    sine.pushforward(lambda t, value, x: -t[0] * array_namespace(x).cos(x))
    return lambda x: array_namespace(x).sum(sine(x) ** 2), (_drawn(random, dtype, 5),)


def _network_with(change: Callable[[Any, Any], Any], leaf: str) -> Maker:
    def make(random: Random, dtype: str) -> Any:
        loss, args = _network(random, dtype)
        taint = _tainted(change)
        return lambda p, x, y: loss({**p, leaf: taint(p[leaf])}, x, y), args

    return make


def _of_tainted(
    f: Callable[..., Any], change: Callable[[Any, Any], Any], draw: Callable[[Random], Any]
) -> Maker:
    taint = _tainted(change)
    return _of(lambda xp, x: f(xp, taint(x)), draw)


def _weak(random: Random, dtype: str) -> Any:
    taint = _tainted(lambda c, x: -c)

    def f(t: Any) -> Any:
        xp = array_namespace(t["large"])
        return 1e3 * xp.sum(t["large"] ** 2) + 1e-2 * xp.sum(xp.sin(taint(t["small"])))

    return f, ({"large": _drawn(random, dtype, 3), "small": _drawn(random, dtype, 3)},)


FAULTS: dict[str, Row] = {
    **{f"a weight, {name}": Row(_network_with(change, "w1")) for name, change in CHANGES.items()},
    **{f"a bias, {name}": Row(_network_with(change, "b0")) for name, change in CHANGES.items()},
    "in forward mode only": Row(_forward, mode="forward"),
    **{f"in the prepared call only, factor {factor}": Row(_prepared(factor)) for factor in (1.001, 0)},
    "one entry of 1e5": Row(_of_tainted(lambda xp, x: xp.sum(xp.sin(x)), _one_entry, lambda r: r.standard_normal(100_000))),
    "a weak leaf, negated": Row(_weak),
    "no conjugate": Row(
        _of_tainted(
            lambda xp, z: xp.sum(xp.real(z * z * (1 + 2j))),
            lambda c, x: array_namespace(c).conj(c),
            lambda r: r.standard_normal(3) + 1j * r.standard_normal(3),
        )
    ),
}  # fmt: skip
