"""Programs with statements: containers, loops, branches, writes, derivatives inside, and small models."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

#: Each program with its arguments, which are all differentiated.
LONGER: dict[Callable[..., Any], tuple[Any, ...]] = {}

_random = np.random.default_rng(21)
_X, _Y = np.array([0.31, -1.24, 2.12, 0.73]), np.array([0.92, 0.45, 1.71, -0.83])
_M = _random.normal(size=(4, 3))
_SQUARE = _random.normal(size=(3, 3)) + 2.5 * np.eye(3)


def _of(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def note(f: Callable[..., Any]) -> Callable[..., Any]:
        LONGER[f] = args
        return f

    return note


# Containers ----------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


@_of({"weight": _X, "bias": 0.4})
def a_dict(d: Any) -> Any:
    return np.sum(d["weight"] ** 2) * d["bias"]


@_of({"inner": {"x": _X, "list": [1.5, _Y]}, "c": 0.7})
def dicts_in_dicts(d: Any) -> Any:
    return np.sin(d["inner"]["x"]) * d["inner"]["list"][1] * d["c"] + d["inner"]["list"][0]


@_of({"b": 1.3, "a": _X})
def items_of_a_dict(d: Any) -> Any:
    total = 0.0
    for key in sorted(d):
        total = total + np.sum(d[key]) * len(key)
    for value in d.values():
        total = total * np.sum(value)
    return total + sum(np.sum(value**2) for _, value in d.items()) + d.get("b") + d.get("missing", 2.0)


@_of(0.6, _X)
def a_dict_is_made(a: Any, x: Any) -> Any:
    made = {"scale": a, "array": x}
    made["product"] = a * x
    return {"sum": np.sum(made["product"]), "rest": made["array"] ** 2, "scale": made["scale"]}


@_of(OrderedDict(one=_X, two=_Y))
def an_ordered_dict(d: Any) -> Any:
    return np.concatenate(list(d.values())) ** 2


@_of([_X, _Y, 0.5])
def a_list(parts: Any) -> Any:
    return parts[0] * parts[1] + parts[2] * parts[-1]


@_of([0.3, 1.2, 0.9, -0.4])
def slices_of_a_list(numbers: Any) -> Any:
    return sum(numbers[1:3]) * numbers[0] - sum(numbers[::2]) ** 2 + np.prod(np.array(numbers[2:]))


@_of([[_X, 1.1], [_Y]])
def lists_in_lists(parts: Any) -> Any:
    return [part * 2 for part in parts[0]] + [np.exp(parts[1][0])]


@_of((0.3, _X))
def a_tuple(pair: Any) -> Any:
    a, x = pair
    return (a * x, x, (a,))


@_of(((0.3, _X), (_Y, 0.8)))
def tuples_in_tuples(pairs: Any) -> Any:
    total = 0.0
    for left, right in pairs:
        total = total + np.sum(left * right)
    return total


@_of(Pair(_X, 0.9))
def a_named_tuple(pair: Any) -> Any:
    swapped = Pair(pair.second, pair.first)
    return swapped.second * swapped.first**2


@_of(_X, 0.4)
def a_list_is_made(x: Any, a: Any) -> Any:
    made = [a]
    for value in x:
        made.append(made[-1] * value)
    return np.stack(made[1:])


@_of(_X, _Y)
def two_results(x: Any, y: Any) -> Any:
    return np.sum(x * y), x - y


@_of(_X)
def kinds_that_are_asked_for(x: Any) -> Any:
    assert isinstance(x, np.ndarray)
    assert isinstance(x.sum(), float)
    return x * (2.0 if isinstance([x], list) else 1.0)


# Loops and branches ----------------------------------------------------------------------------------------------------


@_of(1.7)
def a_while_loop(a: Any) -> Any:
    guess = a
    while abs(guess * guess - a) > 1e-13:
        guess = (guess + a / guess) / 2
    return guess


@_of(0.6, _X)
def recursion(a: Any, x: Any) -> Any:
    def power(base: Any, n: Any) -> Any:
        return base if n == 1 else base * power(base, n - 1)

    return power(a, 5) * power(x, 3)


@_of(_X)
def a_branch_for_each(x: Any) -> Any:
    return np.stack([value**2 if value > 0.5 else -3 * value for value in x])


@_of(_X)
def a_loop_of_indices(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += x[i] * x[i + 1] ** 2
    return total


@_of(0.8)
def a_series(a: Any) -> Any:
    total, term = 0.0, 1.0
    for n in range(1, 30):
        total, term = total + term, term * a / n
    return total


@_of(0.7, _X)
def a_captured_variable(a: Any, x: Any) -> Any:
    def inner(y: Any) -> Any:
        return np.sum(a * y * x)

    return inner(x) * inner(x**2)


@_of(0.7)
def used_many_times(a: Any) -> Any:
    b = a * a
    c = b + a
    return c * b * a + np.sin(c) * np.cos(b)


@_of(_X)
def nothing_depends_on_it(x: Any) -> Any:
    return np.sum(np.ones(3)) + 0 * x[0]


@_of(_X)
def an_assertion(x: Any) -> Any:
    assert np.all(x < 10)
    assert x.shape == (4,)
    return x**2


@_of(0.7, _X)
def keywords_and_defaults(a: Any, x: Any) -> Any:
    def scaled(y: Any, *, scale: Any = 2.0, **others: Any) -> Any:
        return y * scale + others.get("shift", 0.0)

    return scaled(x, scale=a, shift=a**2)


# Writes --------------------------------------------------------------------------------------------------------------


@_of(_X, 0.4)
def items_are_written(x: Any, a: Any) -> Any:
    out = np.zeros(6)
    out[1:5] = x * a
    out[0] = a
    out[5] = out[1] * out[2]
    return out


@_of(_X)
def added_in_place(x: Any) -> Any:
    y = x.copy()
    y += x**2
    y *= 2
    y[1] -= y[0]
    return y


@_of(_M)
def rows_are_written(m: Any) -> Any:
    out = np.empty_like(m)
    for i in range(4):
        out[i] = m[i] / np.sum(m[i] ** 2)
    out[:, 1] *= 2
    return out


@_of(_X)
def a_mask_is_written(x: Any) -> Any:
    y = np.array(x)
    y[y < 0.5] = 0.0
    return y * x


@_of(_X)
def added_at(x: Any) -> Any:
    out = np.zeros(3)
    np.add.at(out, np.array([0, 2, 0, 1]), x)
    return out**2


@_of(0.4, 1.2)
def a_table_is_filled(a: Any, b: Any) -> Any:
    table = np.zeros((4, 4))
    table[0, :], table[:, 0] = a, b
    for i in range(1, 4):
        for j in range(1, 4):
            table[i, j] = table[i - 1, j] + a * table[i, j - 1] * b
    return table[-1]


@_of(_SQUARE)
def elimination(m: Any) -> Any:
    u = m.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            u[i, k:] = u[i, k:] - u[i, k] / u[k, k] * u[k, k:]
    return np.diag(u)


# Models --------------------------------------------------------------------------------------------------------------


@_of([(_random.normal(size=(3, 5)), np.zeros(5) + 0.1), (_random.normal(size=(5, 1)), np.zeros(1))], _M)
def a_network(layers: Any, inputs: Any) -> Any:
    for weight, bias in layers[:-1]:
        inputs = np.tanh(inputs @ weight + bias)
    weight, bias = layers[-1]
    return inputs @ weight + bias


@_of(_random.normal(size=3), _M)
def logistic_regression(weight: Any, inputs: Any) -> Any:
    predicted = 0.5 * (np.tanh(inputs @ weight) + 1)
    targets = np.array([True, False, True, True])
    return -np.sum(np.log(predicted * targets + (1 - predicted) * ~targets))


@_of(_X, np.array([0.2, 0.1, 0.4, 0.3]))
def a_mixture_of_normals(means: Any, shares: Any) -> Any:
    data = np.linspace(-1.0, 2.0, 6)[:, None]
    logs = scipy.stats.norm.logpdf(data, means, 0.7) + np.log(shares)
    top = np.max(logs, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(logs - top), axis=1)) + top[:, 0])


@_of(0.7, 0.3, _X)
def a_gaussian_process(length: Any, noise: Any, y: Any) -> Any:
    inputs = np.linspace(0.0, 1.0, 4)
    gram = np.exp(-((inputs[:, None] - inputs) ** 2) / length**2) + noise * np.eye(4)
    factor = np.linalg.cholesky(gram)
    return np.sum(np.linalg.solve(factor, y) ** 2) + 2 * np.sum(np.log(np.diag(factor)))


@_of(_X[:3], _random.normal(size=(3, 3)) * 0.4, _random.normal(size=(2, 3)))
def a_recurrent_network(state: Any, weight: Any, inputs: Any) -> Any:
    for row in inputs:
        state = np.tanh(weight @ state + row)
    return state


@_of(np.array([1.0, 0.2]), 0.3)
def a_pendulum(state: Any, drag: Any) -> Any:
    angle, speed = state
    for _ in range(20):
        speed = speed - 0.05 * (np.sin(angle) + drag * speed)
        angle = angle + 0.05 * speed
    return np.array([angle, speed])


@_of(_X, _M)
def rosenbrock_and_quadratic(x: Any, m: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) + x @ (m @ m.T) @ x


@_of(_SQUARE, _X[:3])
def power_iteration(m: Any, vector: Any) -> Any:
    for _ in range(6):
        vector = m @ vector
        vector = vector / np.linalg.norm(vector)
    return vector @ m @ vector


@_of(_X + 0.2j, 0.4 - 0.3j)
def waves(amplitudes: Any, phase: Any) -> Any:
    field = np.sum(amplitudes * np.exp(1j * np.arange(4) * phase))
    return np.abs(field) ** 2 + np.real(phase * np.conj(field))


@_of(_X)
def spectral_power(x: Any) -> Any:
    spectrum = np.fft.fft(x)
    half = spectrum[: len(x) // 2 + 1]
    return np.abs(half) ** 2 / len(x)


@_of(np.array([[0.1, 0.4], [0.7, -0.2]]))
def convolution_by_windows(image: Any) -> Any:
    padded = np.pad(image, 1)
    kernel = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])
    return np.array([[np.sum(padded[i : i + 3, j : j + 3] * kernel) for j in range(2)] for i in range(2)])
