"""The pattern of one call: given, traced or probed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core import derive
from ..core.call.call import Call
from ..core.contract.arrays import library_of, size_of
from ..core.contract.backend import Arrays, Backend
from ..core.contract.errors import SparsityError
from ..core.contract.library import PYTHON, Library, dtype_kind, epsilon
from ..core.contract.nodes import NodeType
from ..core.derive import policy
from ..core.tree import handler_of
from .auto import AutoSparse
from .detect_probe import probed_pattern, united
from .detect_trace import Branched, DetectedPattern, traced_pattern
from .pattern import Colouring, SparsityPattern
from .traced import placeholder


class ColouredPattern(NamedTuple):
    """A pattern, its colouring, and how the pattern was found."""

    pattern: SparsityPattern
    colouring: Colouring
    how: str


class Derivative(Protocol):
    """A `SparseDerivative`: of which function, by which arguments."""

    name: str
    second: bool
    sparse: AutoSparse
    backend: Backend
    compiled: bool

    @property
    def outermost(self) -> Backend: ...

    @property
    def orders(self) -> int: ...

    def direction(self, *, transposed: bool) -> np.ndarray[Any, Any]: ...

    def flat(self, function: Call, *, value: bool = True) -> Any: ...

    def product(self, function: Call, leaves: Arrays, vector: Arrays) -> Arrays: ...


def given_pattern(name: str, pattern: SparsityPattern, inputs: int) -> DetectedPattern:
    if pattern.shape[1] != inputs:
        raise SparsityError(
            f"{name}: the pattern has shape {pattern.shape}, but the differentiated arguments hold"
            f" {inputs} numbers. A pattern has a row for each number in the result and a column for"
            " each in the arguments."
        )
    return DetectedPattern(pattern, "given")


def detected_pattern(operation: Derivative, call: Call, leaves: Arrays) -> DetectedPattern:
    """The pattern, by the methods that `detect` allows."""
    detect, refused = operation.sparse.detect, ""
    if detect != "probe":
        try:
            return _traced(operation, call, leaves)
        except SparsityError:
            raise
        except Exception as error:
            # raised by f, on arrays that it was not written for; probing shows its own errors
            refused = (
                "f branches on values that are not there"
                if isinstance(error, Branched)
                else _short(error)
            )
            if detect == "trace":
                raise SparsityError(
                    f"{operation.name}: f cannot be traced for its pattern ({refused}). Write it"
                    " with array_namespace or plain "
                    f"NumPy; or find the pattern by products with random vectors, AutoSparse(...,"
                    f' detect="probe"); or pass '
                    f"pattern=..."
                ) from error
    try:
        result, beside = _probed(operation, leaves, call)
    except _NoNumbers:
        raise SparsityError(
            f"{operation.name}: inside a transformation of the engine there are no numbers to probe"
            f" f with, and it could not be traced for its pattern ({refused or 'detect is probe'})."
            " Find it outside, with sparsity(...), and pass it as pattern=..."
        ) from None
    how = "probed" if beside else "probed at the arguments alone, as f fails beside them"
    return DetectedPattern(result, how + (f", because tracing met {refused}" if refused else ""))


class _NoNumbers(Exception):
    """The engine has not computed the numbers of traced arrays."""


def _short(error: Exception) -> str:
    message = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {message[:100]}"


# Tracing
# ------------------------------------------------------------------------------------------------


def _traced(operation: Derivative, call: Call, leaves: Arrays) -> DetectedPattern:
    plan = call.plan
    if plan.owned:
        raise TypeError("the code of a module computes with its engine alone")
    known = True

    def plain(array: Any, library: Library) -> Any:
        nonlocal known
        result = (
            library.value_under_trace(array) if library.traced(array) else library.to_numpy(array)
        )
        if result is None:  # only shapes and dtypes follow from such an array: f may not branch
            known = False
            return placeholder(library, array)
        return _plain(result, library.dtype(array))

    numbers = [plain(leaf, library_of(operation.backend, leaf)) for leaf in leaves]
    carried = []
    for n in plan.carried:
        value, library = call.values[n], plan.slots[n].library
        handler = handler_of(value, scan=False) if library is None else None
        # it is one object with other numbers in another call
        if isinstance(handler, NodeType) and handler.is_owner:
            raise TypeError("the code of a module computes with its engine alone")
        carried.append(value if library is None or library is PYTHON else plain(value, library))

    def f(active: Sequence[Any], others: Sequence[Any]) -> Any:
        values: list[Any] = [None] * len(plan.slots)
        for n, value in zip((*plan.active, *plan.carried), (*active, *others)):
            values[n] = value
        args, kwargs = plan.arguments(values)
        return call.f(*args, **kwargs)

    return traced_pattern(f, numbers, carried, second=operation.second, values=known)


def _plain(array: Any, dtype: str) -> Any:
    """The array in a dtype of NumPy itself: bfloat16 becomes float32."""
    return (
        array.astype("float32")
        if dtype_kind(dtype) == "real" and array.dtype.kind != "f"
        else array
    )


# Probing
# ------------------------------------------------------------------------------------------------


def _probed(operation: Derivative, leaves: Arrays, function: Call) -> tuple[SparsityPattern, bool]:
    """The union of the patterns at two points, one near the arguments and one far from them.

    And whether one was possible.

    Not at the arguments themselves, which are often zeros or ones, where more entries vanish than
    elsewhere. If f is not finite at such a point, nearer ones are tried. If none works, the
    arguments are used, and every evaluation is checked.
    """
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        outputs = function(*leaves)[0]
        finite, rows = (
            _all_finite(operation.backend, outputs),
            sum([size_of(operation.backend, y) for y in outputs]),
        )

        def beside_by(size: float) -> SparsityPattern | None:
            result = _pattern_near(
                operation, function, _displaced(operation.backend, leaves, rng, size), finite
            )
            # Of another shape it says nothing of the result here.
            return result if result is None or operation.second or result.shape[0] == rows else None

        near = None
        for size in (1e-2, 1e-5):
            near = near or beside_by(size)
        far = beside_by(0.5)
        if near is not None and far is not None:
            return united(near, far), True
        beside = near if near is not None else far
        if beside is not None:
            return beside, True
        here = _pattern_at(
            operation, function, _displaced(operation.backend, leaves, rng, 0.0), False
        )
    assert here is not None
    return here, False


def _pattern_near(
    operation: Derivative, function: Call, leaves: Arrays, finite: bool
) -> SparsityPattern | None:
    """As `_pattern_at`.

    None if f rejects the point, which at the caller's own point would be an error.
    """
    try:
        return _pattern_at(operation, function, leaves, finite)
    except Exception:
        return None


def _displaced(backend: Backend, leaves: Arrays, rng: np.random.Generator, size: float) -> Arrays:
    """The leaves, each number moved by about `size * max(1, abs(x))` in a random direction."""
    moved: list[Any] = []
    for leaf in leaves:
        library = library_of(backend, leaf)
        x = _plain(_numbers(backend, leaf), library.dtype(leaf)).astype("float64")
        step = (
            size
            * np.maximum(1.0, np.abs(x))
            * rng.uniform(0.5, 1.0, x.shape)
            * rng.choice([-1.0, 1.0], x.shape)
        )
        moved.append(
            library.asarray(np.asarray(x + step), dtype=library.dtype(leaf), like=leaf, copy=True)
        )
    return tuple(moved)


def _all_finite(backend: Backend, outputs: Arrays) -> bool:
    return all(bool(np.isfinite(_numbers(backend, output)).all()) for output in outputs)


def numbers_of(backend: Backend, array: Any) -> np.ndarray[Any, Any] | None:
    """The numbers of a native array, traced or not; None while the engine has not computed them."""
    library = library_of(backend, array)
    return library.value_under_trace(array) if library.traced(array) else library.to_numpy(array)


def _numbers(backend: Backend, array: Any) -> np.ndarray[Any, Any]:
    result = numbers_of(backend, array)
    if result is None:
        raise _NoNumbers
    return result if result.dtype.kind in "fc" else result.astype("float32")


def _pattern_at(
    operation: Derivative, function: Call, leaves: Arrays, needs_finite: bool
) -> SparsityPattern | None:
    """The pattern at one point; None where f must be finite and is not."""
    backend = operation.outermost
    pushes, pulls = policy.directions(backend)
    flat = operation.flat(function, value=False)
    push = pull = None
    if operation.second:
        linear = derive.hessian_map(backend, flat, leaves)
        outputs = linear.outputs
        push = pull = _on_numbers(
            backend, derive.stacked(backend, linear), leaves, backend.scales(leaves)
        )
        noise = _noise_of_differences(operation, function, leaves)
        if noise:  # differences of differences are never exactly zero
            push = pull = lambda stack, push=push: np.where(
                np.abs(result := push(stack)) > noise, result, 0.0
            )
    else:
        if pulls:
            pulled = derive.pullback(backend, flat, leaves)
            outputs = pulled.outputs
            pull = _on_numbers(backend, derive.stacked(backend, pulled), outputs, None)
        if pushes:
            linear = derive.linearize(backend, flat, leaves)
            outputs = linear.outputs
            push = _on_numbers(
                backend, derive.stacked(backend, linear), leaves, backend.scales(leaves)
            )
    if needs_finite and not _all_finite(backend, outputs):
        return None
    heights, widths = (
        sum([size_of(backend, y) for y in outputs]),
        sum([size_of(backend, x) for x in leaves]),
    )
    if push is not None:
        return probed_pattern(push, widths, heights, pull)
    assert pull is not None
    turned = probed_pattern(pull, heights, widths, None)
    return SparsityPattern.of_entries(turned.columns, turned.rows, (heights, widths), local=True)


def differenced(operation: Derivative, function: Call) -> Any:
    """What the outermost backend takes differences of: f, or exact gradients of it."""
    return operation.flat(function, value=False) if operation.orders == 1 else function


def _noise_of_differences(operation: Derivative, function: Call, leaves: Arrays) -> float:
    coarsest = max([epsilon(library_of(operation.backend, leaf).dtype(leaf)) for leaf in leaves])
    measured = operation.outermost.relative_error(operation.orders, coarsest)
    if not measured:
        return 0.0
    values = [
        _numbers(operation.backend, output)
        for output in differenced(operation, function)(*leaves)[0]
    ]
    return measured * max([1.0, *[float(np.max(np.abs(value), initial=0.0)) for value in values]])


def _on_numbers(backend: Backend, apply: Any, likes: Arrays, scales: Sequence[Any] | None) -> Any:
    """A map of stacks of native arrays as one of stacks of flat NumPy vectors."""

    def on_numbers(stack: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        parts: list[Any] = []
        offset = 0
        for n, like in enumerate(likes):
            library, size = library_of(backend, like), size_of(backend, like)
            part = stack[:, offset : offset + size].reshape(len(stack), *library.shape(like))
            part = part if scales is None else part * scales[n]
            parts.append(
                library.asarray(np.ascontiguousarray(part), dtype=library.dtype(like), like=like)
            )
            offset += size
        return np.concatenate(
            [_numbers(backend, result).reshape(len(stack), -1) for result in apply(tuple(parts))],
            axis=1,
        )

    return on_numbers
