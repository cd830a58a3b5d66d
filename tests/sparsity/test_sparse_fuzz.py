"""Patterns from traces: nothing is ever missing, whatever functions f is made of; what is too much is counted.

Prepared calls: right or refused, whatever static values and points they are called with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from adinterface_studies.functions import numpy_code

from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
    PrecisionWarning,
    SecondOrder,
    SparsityError,
    array_namespace,
    hessian,
    jacobian,
    prepare,
)
from adinterface.core.operators.prepare import Prepared
from adinterface.namespaces import uses
from adinterface.namespaces.use import Use
from adinterface.sparse import sparsity
from adinterface.sparse.detect_trace import traced_pattern
from adinterface.sparse.operators import SparseOperation
from adinterface.sparse.traced import Traced

pytestmark = pytest.mark.sweep

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def floating(result: Any) -> Iterator[Any]:
    """The floating arrays of a result, in order."""
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from floating(part)
    elif isinstance(result, (Traced, np.ndarray, np.generic, float, complex)):
        part = result if isinstance(result, Traced) else np.asarray(result)
        if part.dtype.kind in "fc":
            yield part


def vector(f: Function, arrays: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *[np.ravel(part) for part in floating(f(*arrays))]])


def differences(f: Function, arrays: Sequence[Array]) -> Array:
    """Which results move with which inputs, by differences."""
    columns = []
    for n, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            moved = []
            for step in (1e-6, -1e-6):
                copies = [x.copy() for x in arrays]
                copies[n][place] += step
                moved.append(vector(f, copies))
            columns.append(np.abs(moved[0] - moved[1]) > 1e-11)
    return np.stack(columns, axis=-1) if columns else np.zeros((vector(f, arrays).size, 0), bool)


def pattern(f: Function, arrays: Sequence[Array], *, second: bool = False) -> Array:
    def outputs(active: Sequence[Any], others: Sequence[Any]) -> Any:
        return tuple(floating(f(*active))) or (np.zeros(0),)

    return traced_pattern(outputs, arrays, [], second=second, values=True).pattern.toarray()


# Every function --------------------------------------------------------------------------------------------------------

USES = [use for use in (*uses.USES, *numpy_code.USES) if use.kind != "flat"]


def test_every_function_of_the_array_api_and_of_numpy_code_is_traced_without_a_missing_entry() -> None:
    entries = surplus = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for use in USES:
            f = in_namespace(use)
            arrays = [np.array(array) for array in use.arrays]
            found = pattern(f, arrays)
            moved = differences(f, arrays)
            assert not (moved & ~found).any(), use.source or use.name
            entries += int(moved.sum())
            surplus += int((found & ~moved).sum())
    assert len(USES) > 1000
    # What reduces or sorts depends on all that it looks at: at one point, less of it moves.
    assert surplus < 0.3 * entries


def in_namespace(use: Use) -> Function:
    return (lambda *arrays: use.f(array_namespace(*arrays), *arrays)) if use.neutral else use.f


# Random programs -------------------------------------------------------------------------------------------------------


def smooth(rng: np.random.Generator) -> Function:
    name = str(rng.choice(["sin", "tanh", "exp", "cos", "square", "atan", "expm1"]))
    return lambda xp, x: getattr(xp, name)(x / 2)


def pointwise_pair(rng: np.random.Generator) -> Function:
    name = str(rng.choice(["multiply", "add", "subtract", "atan2", "hypot", "maximum", "logaddexp"]))
    return lambda xp, x: getattr(xp, name)(x, xp.flip(x) + 0.3)


def shifted(rng: np.random.Generator) -> Function:
    by = int(rng.integers(1, 4))
    return lambda xp, x: x + xp.roll(x, by) * 0.5


def neighbours(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.concat([x[:1], x[1:] * x[:-1]])


def grid(rng: np.random.Generator) -> Function:
    axis = int(rng.integers(0, 2))

    def rule(xp: Any, x: Any) -> Any:
        y = xp.reshape(x[: x.shape[0] // 2 * 2], (2, -1))
        return xp.reshape(xp.permute_dims(y * xp.sum(y, axis=axis, keepdims=True), (1, 0)), (-1,))

    return rule


def product(rng: np.random.Generator) -> Function:
    weights = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.2)
    return lambda xp, x: xp.matmul(xp.asarray(weights[: x.shape[0], : x.shape[0]]), x) + x


def taken(rng: np.random.Generator) -> Function:
    places = rng.integers(0, 6, 7)
    return lambda xp, x: xp.take(x, xp.asarray(places % x.shape[0]))


def masked(rng: np.random.Generator) -> Function:
    threshold = float(rng.normal())
    return lambda xp, x: xp.where(x > threshold, x * x[0], xp.sin(x))


def clipped(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.clip(x, -0.8, 1.2) + x**3 / 9


def running(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.cumulative_sum(x) / x.shape[0]


def sorted_(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.concat([xp.sort(x[:3]), x[3:]])


def written(rng: np.random.Generator) -> Function:
    place = int(rng.integers(0, 5))

    def rule(xp: Any, x: Any) -> Any:
        y = xp.zeros_like(x)
        y[place] = x[0] * x[place]
        y[1:] += x[1:]
        return y + x / 2

    return rule


def solved(rng: np.random.Generator) -> Function:
    def rule(xp: Any, x: Any) -> Any:
        matrix = xp.reshape(x[:4], (2, 2)) / 9 + xp.eye(2) * 3
        return xp.concat([xp.linalg.solve(matrix, x[:2]), x[2:]])

    return rule


def branched(rng: np.random.Generator) -> Function:
    return lambda xp, x: x * x[1] if x[0] > 0 else xp.flip(x)


def statistics(rng: np.random.Generator) -> Function:
    name = str(rng.choice(["mean", "max", "min", "prod", "std"]))
    return lambda xp, x: xp.concat([xp.reshape(getattr(xp, name)(x[:4]), (1,)), x[1:]])


MOVES = [
    smooth, smooth, pointwise_pair, shifted, neighbours, grid, product, taken, masked, clipped, running, sorted_, written,
    solved, branched, statistics,
]  # fmt: skip


def program(seed: int) -> tuple[Function, Array]:
    rng = np.random.default_rng(seed)
    chosen = [MOVES[int(rng.integers(0, len(MOVES)))](rng) for _ in range(int(rng.integers(2, 7)))]

    def f(x: Any) -> Any:
        xp = array_namespace(x)
        for move in chosen:
            x = move(xp, x)
        return x

    return f, rng.normal(size=int(rng.integers(6, 12)))


def test_200_random_programs_miss_no_entry_of_their_jacobian() -> None:
    entries = surplus = 0
    for seed in range(200):
        f, x = program(seed)
        found, moved = pattern(f, [x]), differences(f, [x])
        assert not (moved & ~found).any(), seed
        entries += int(moved.sum())
        surplus += int((found & ~moved).sum())
    assert surplus < 0.12 * entries


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_programs_miss_no_entry_of_their_hessian(first: int) -> None:
    for seed in range(first, first + 50, 2):
        f, x = program(seed)

        def scalar(x: Any, f: Function = f) -> Any:
            y = f(x)
            return array_namespace(y).sum(y * y[0] + y)

        found = pattern(scalar, [x], second=True)
        with np.errstate(all="ignore"):
            moved = second_differences(scalar, x)
        assert (found == found.T).all()
        assert not (moved & ~found).any(), seed


def second_differences(f: Function, x: Array) -> Array:
    step = 1e-3
    found = np.zeros((x.size, x.size), bool)
    size = max(1.0, abs(float(f(x))))
    for i in range(x.size):
        for j in range(x.size):
            total = 0.0
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                moved = x.copy()
                moved[i] += a * step
                moved[j] += b * step
                total += a * b * float(f(moved))
            found[i, j] = abs(total) / (4 * step**2) > 1e-4 * size
    return found


# Prepared calls --------------------------------------------------------------------------------------------------------


def chosen(rng: np.random.Generator) -> Function:
    """What static values decide."""
    return lambda xp, x, place, name: x * x[place] if name == "one" else x * xp.roll(x, place)


def pivoted(rng: np.random.Generator) -> Function:
    return lambda xp, x: x * xp.where(xp.sum(x) > 0.5, x[0], x[1])


def sorted_whole(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.sort(x)


#: What suits every engine; those of the second row go by values, and the last ones only where nothing is compiled.
STEADY = [smooth, pointwise_pair, shifted, neighbours, taken]
VALUED = [masked, clipped, sorted_, sorted_whole, pivoted, statistics]

ENGINES: dict[str, tuple[AutoBackend, list[Callable[[np.random.Generator], Function]]]] = {
    "jax": (AutoJax(), VALUED),
    "torch": (AutoTorch(), [*VALUED, branched, branched]),
    "autograd": (AutoAutograd(), [*VALUED, branched, branched]),
    "differences": (AutoFiniteDifferences(), [*VALUED, branched, branched]),
}


def drawn(rng: np.random.Generator, valued: Sequence[Callable[[np.random.Generator], Function]]) -> Function:
    """A function of an array, of a number of a place as a keyword, and of a name in a Constant."""
    moves = [valued[int(rng.integers(len(valued)))](rng), *[STEADY[int(rng.integers(len(STEADY)))](rng) for _ in range(2)]]
    moves = [moves[k] for k in rng.permutation(3)]
    choice, at = chosen(rng), int(rng.integers(4))

    def f(x: Any, name: str, *, place: int) -> Any:
        xp = array_namespace(x)
        for n, move in enumerate([*moves, None]):
            if n == at:
                x = choice(xp, x, place, name)
            x = x if move is None else move(xp, x)
        return x

    return f


def prepared_calls(backend: AutoBackend, valued: Sequence[Any], seeds: range, *, second: bool) -> tuple[int, int]:
    """Compares prepared calls of random functions with dense ones; how many were right, and how many refused."""
    right = refused = 0
    measured = isinstance(backend, AutoFiniteDifferences)
    inside: Any = SecondOrder(backend, AutoAutograd()) if measured and second else backend
    operator: Any = hessian if second else jacobian

    def matrix(auto: Any, f: Function, *args: Any, **kwargs: Any) -> Array:
        found = operator(f, auto, *args, **kwargs)
        return np.asarray(found if second else found[0])

    for seed in seeds:
        rng = np.random.default_rng(seed)
        f, auto = drawn(rng, valued), AutoSparse(inside, detect=str(rng.choice(["auto", "probe"])))  # type: ignore[arg-type]

        def called(x: Any, name: str, *, place: int, f: Function = f) -> Any:
            return array_namespace(x).sum(f(x, name, place=place) ** 2) if second else f(x, name, place=place)

        start = rng.normal(size=7)
        calls = [(start, "one", 1)]
        for _ in range(5):
            x = start[rng.permutation(7)] * float(rng.choice([1, 1, -1, 3]))
            calls.append((x, str(rng.choice(["one", "many"])), int(rng.choice([1, 4]))))
        fast = prepare(operator, called, auto, start, Constant("one"), place=1)
        for x, name, place in calls:
            expected = matrix(AutoAutograd(), called, x, Constant(name), place=place)
            if not np.abs(expected).max() < 1e6:  # an exponential of exponentials
                continue
            tolerance = (1e-5 if measured else 1e-9) * max(1.0, np.abs(expected).max())
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore", PrecisionWarning)
                if measured:  # nothing is asked of differences at a kink
                    own = matrix(inside, called, x, Constant(name), place=place)
                    if np.abs(own - expected).max() > tolerance / 10:
                        continue
                try:
                    found = fast(x, Constant(name), place=place)
                except SparsityError as error:
                    found = str(error)
            if isinstance(found, str):
                assert "outside its pattern" in found, (seed, found)
                assert sparsity(operator, called, auto, start, Constant(name), place=place).local, seed
                refused += 1
                continue
            entries = (found if second else found[0]).toarray()
            np.testing.assert_allclose(entries, expected, rtol=0, atol=tolerance, err_msg=f"seed {seed}")
            right += 1
    return right, refused


@pytest.mark.parametrize("second", [False, True], ids=["jacobian", "hessian"])
@pytest.mark.parametrize("name", ENGINES)
def test_prepared_calls_of_random_functions_are_right_or_refused(name: str, second: bool) -> None:
    backend, valued = ENGINES[name]
    right, refused = prepared_calls(backend, valued, range({"jax": 6, "differences": 12}.get(name, 40)), second=second)
    assert right > 2 * refused > 0


@pytest.mark.parametrize("name", ["static values", "points"])
def test_random_functions_find_what_prepared_calls_miss(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "points":
        monkeypatch.setattr(SparseOperation, "checks_each", False)
    else:
        made = Prepared.__init__

        def unkeyed(self: Any, *args: Any) -> None:
            made(self, *args)
            self._keys_static = False

        monkeypatch.setattr(Prepared, "__init__", unkeyed)
    with pytest.raises(AssertionError, match=r"Not equal to tolerance|\.local"):
        prepared_calls(*ENGINES["autograd"], range(40), second=False)
