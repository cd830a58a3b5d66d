"""Is a function right on an engine? Its value, its derivative in each mode, and its second
derivative, against NumPy's own.

The reference is a central difference of eighth order of the plain NumPy function: its error is of
order h^8, and it is taken with two steps, which must agree. Source of the coefficients: Fornberg,
Generation of finite difference formulas on arbitrarily spaced grids, 1988.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.use import Array, Use

from adinterface import (
    AutoBackend,
    array_namespace,
    gradient,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)
from adinterface.core.contract import Library
from adinterface.core.contract.registry import find
from adinterface.core.tree import handler_of

#: Value and dtype; the Jacobian by rows, and by columns; a product of the Hessian; the Jacobian by
#: a prepared call.
MODES = ("value", "reverse", "forward", "second order", "prepared")

# Central differences of the eighth order (Fornberg 1988, table 1).
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}


class Wrong(AssertionError):
    """An engine returned something else than NumPy's function and its derivative."""


def modes_of(use: Use, backend: AutoBackend) -> tuple[str, ...]:
    """What is asked of a function on this backend."""
    if use.kind == "discrete":
        return ("value",)
    modes = ["value", "reverse"]
    if any(field.name == "mode" for field in dataclasses.fields(backend)):
        modes += ["forward", *["second order"] * (use.kind != "once")]
    return (*modes, "prepared")


def judge(use: Use, backend: AutoBackend, mode: str) -> None:
    """Raises Wrong, with both answers, where the engine is wrong, and whatever the engine raises
    where it refuses.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _CHECKS[mode](use, backend)


# NumPy's answers
# ------------------------------------------------------------------------------------------------


def plain(use: Use, *arrays: Array) -> Any:
    """What NumPy gives."""
    return use.f(array_namespace(arrays[0]), *arrays) if use.neutral else use.f(*arrays)


def _parts(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _vector(use: Use, *arrays: Array) -> Array:
    return np.concatenate([np.ravel(part) for part in _parts(plain(use, *arrays))])


def derivative_along(
    f: Callable[..., Array],
    arrays: tuple[Array, ...],
    direction: tuple[Array, ...],
    step: float = 2.0**-9,
) -> Array:
    """The derivative of f in a direction, to about 1e-11.

    Raises ValueError if two steps do not agree.
    """
    slopes = []
    for h in (step, step / 2):
        total: Any = 0.0
        for k, weight in _WEIGHTS.items():
            ahead = f(*[x + k * h * v for x, v in zip(arrays, direction)])
            behind = f(*[x - k * h * v for x, v in zip(arrays, direction)])
            total = total + weight * (ahead - behind)
        slopes.append(total / h)
    if not np.allclose(slopes[0], slopes[1], rtol=1e-7, atol=1e-7):
        raise ValueError("The reference is no smooth function here: choose another point.")
    return np.asarray(slopes[1])


def reference(use: Use) -> tuple[Array, ...]:
    """The Jacobian of the outputs, one after the other, for each argument."""
    blocks = []
    for n, array in enumerate(use.arrays):
        columns = []
        for i in range(array.size):
            direction = [np.zeros(x.shape) for x in use.arrays]
            direction[n].reshape(-1)[i] = 1.0
            columns.append(
                derivative_along(lambda *x: _vector(use, *x), use.arrays, tuple(direction))
            )
        size = _vector(use, *use.arrays).size
        blocks.append(
            np.stack(columns, axis=-1).reshape(size, *array.shape)
            if columns
            else np.zeros((size, *array.shape))
        )
    return tuple(blocks)


_references: dict[int, tuple[Use, tuple[Array, ...]]] = {}


def _reference(use: Use) -> tuple[Array, ...]:
    if id(use) not in _references:
        _references[id(use)] = use, reference(use)
    return _references[id(use)][1]


# The engine's answers
# ------------------------------------------------------------------------------------------------


def _on_engine(use: Use) -> Callable[..., Any]:
    """The outputs, one after the other, as one array of the engine."""
    f = use.f if use.neutral else numpy_function(use.f)

    def outputs(*arrays: Any) -> Any:
        xp = array_namespace(*arrays)
        result = f(xp, *arrays) if use.neutral else f(*arrays)
        return xp.concat([xp.reshape(xp.asarray(part), (-1,)) for part in _parts(result)])

    return outputs


def _tolerance(backend: AutoBackend) -> float:
    return 1e-9 if find(backend).library is not None else 1e-6


def _compare(what: str, got: Any, wanted: Any, rtol: float) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape:
        raise Wrong(f"{what} has shape {got.shape}, wanted {wanted.shape}")
    if not np.allclose(got, wanted, rtol=rtol, atol=rtol, equal_nan=True):
        raise Wrong(f"{what} is {got.tolist()}, wanted {wanted.tolist()}")


def _value(use: Use, backend: AutoBackend) -> None:
    f = use.f if use.neutral else numpy_function(use.f)
    for dtype in ("float64", "float32"):
        arrays = tuple([array.astype(dtype) for array in use.arrays])
        wanted = _parts(plain(use, *arrays))
        seen: list[Any] = []

        def watched(*arrays: Any, seen: list[Any] = seen) -> Any:
            xp = array_namespace(*arrays)
            result = f(xp, *arrays) if use.neutral else f(*arrays)
            if not seen:  # finite differences come again, around the point, after the value
                seen.extend(_numbers(part) for part in _parts(result))
            return xp.sum(arrays[0] * 3)

        slope, *_ = value_and_gradient(watched, backend, *arrays).gradient
        _compare(f"{dtype}: the gradient of the rest", slope, np.full(arrays[0].shape, 3.0), 1e-3)
        if len(seen) != len(wanted):
            raise Wrong(f"{dtype}: {len(seen)} results, wanted {len(wanted)}")
        for n, (got, expected) in enumerate(zip(seen, wanted)):
            kind = np.asarray(expected).dtype
            if got is None:
                continue
            # A constant of f may be wider than the arguments: then an engine may keep to their
            # precision, as JAX does.
            if (
                kind.kind in "fc"
                and got.dtype != kind
                and kind.itemsize <= np.dtype(dtype).itemsize * (1 + (kind.kind == "c"))
            ):
                raise Wrong(f"{dtype}: result {n} has dtype {got.dtype}, wanted {kind}")
            if kind.kind != got.dtype.kind and {kind.kind, got.dtype.kind} != {"i", "u"}:
                raise Wrong(f"{dtype}: result {n} has dtype {got.dtype}, wanted {kind}")
            _compare(f"{dtype}: result {n}", got, expected, 1e-12 if dtype == "float64" else 2e-4)


def _numbers(part: Any) -> Any:
    """The numbers of a result under a trace; None where the engine has not computed them yet."""
    handler = handler_of(part, scan=False)
    if isinstance(handler, Library):
        return (
            handler.value_under_trace(part)
            if handler.traced(part)
            else np.asarray(handler.to_numpy(part))
        )
    return np.asarray(part)


def _jacobian(use: Use, backend: AutoBackend, operator: Callable[..., Any] = jacobian) -> None:
    blocks = operator(_on_engine(use), backend, *use.arrays)
    for n, (got, wanted) in enumerate(zip(blocks, _reference(use))):
        _compare(f"the derivative by argument {n}", got, wanted, _tolerance(backend))


def _in_mode(mode: str) -> Callable[[Use, AutoBackend], None]:
    def checked(use: Use, backend: AutoBackend) -> None:
        has_mode = any(field.name == "mode" for field in dataclasses.fields(backend))
        _jacobian(use, dataclasses.replace(backend, mode=mode) if has_mode else backend)  # type: ignore[call-arg]

    return checked


def _prepared(use: Use, backend: AutoBackend) -> None:
    _jacobian(use, backend, lambda f, backend, *args: prepare(jacobian, f, backend, *args)(*args))


def _second(use: Use, backend: AutoBackend) -> None:
    """A product of the Hessian is the derivative of the gradient, which is compared with NumPy."""
    outputs = _on_engine(use)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, _vector(use, *use.arrays).size)

    def energy(arrays: Any) -> Any:
        xp = array_namespace(*arrays)
        return xp.sum(outputs(*arrays) * xp.asarray(weights))

    def slope(*arrays: Any) -> Any:
        return np.concatenate([np.ravel(part) for part in gradient(energy, backend, arrays)[0]])

    direction = tuple([np.asarray(rng.uniform(-1.0, 1.0, array.shape)) for array in use.arrays])
    got = np.concatenate([np.ravel(part) for part in hvp(energy, backend, use.arrays, direction)])
    for step in (2.0**-9, 2.0**-12, 2.0**-6):  # short near a kink, long for few digits
        with contextlib.suppress(ValueError):
            wanted = derivative_along(slope, use.arrays, direction, step)
            break
    else:
        raise ValueError("The gradient is no smooth function here: choose another point.")
    _compare("the product of the Hessian", got, wanted, 1e-7)


_CHECKS = {
    "value": _value,
    "reverse": _in_mode("reverse"),
    "forward": _in_mode("forward"),
    "second order": _second,
    "prepared": _prepared,
}
