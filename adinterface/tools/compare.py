"""`compare`: one call of an operator on several backends, side by side."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..call.output import OutputKind
from ..contract.auto import AutoBackend, AutoFiniteDifferences, SecondOrder
from ..contract.errors import BackendError
from ..contract.library import NUMPY, PYTHON, epsilon, kind
from ..operators.pullback import Back, Push
from ..registry import find
from ..tree import Constant, Leaf, Structure, build_gradient, flatten
from .check_gradient import Array, Probe, between, kink_among, ladder, named_leaves, widened

#: Later calls are repeated until they have taken this long, at least once and at most so many times.
_SECONDS, _MOST_CALLS = 0.2, 20
#: How many leaves are examined for a kink.
_EXAMINED = 8


# Results -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeafDifference:
    """One leaf of a result against the same leaf of the reference.

    absolute: the largest difference of two numbers.
    scale: the largest number of the reference's leaf.
    kink: f has a kink here (its slopes ahead and behind differ), and both answers lie between these slopes.
    note: why the leaf cannot be compared, if so (it is missing, or has another shape); the difference is then infinite.
    """

    path: str
    absolute: float
    scale: float
    kink: bool = False
    note: str = ""

    @property
    def relative(self) -> float:
        """`absolute / scale`: 0 where there is no difference, infinite where the reference is zero and the other is not."""
        if self.absolute == 0:
            return 0.0
        return self.absolute / self.scale if self.scale else math.inf

    def __str__(self) -> str:
        return self.note or f"{self.absolute:.1e} ({self.relative:.1e})".replace("0.0e+00", "0") + " kink" * self.kink


@dataclass(frozen=True, eq=False)
class Measured:
    """What one backend did.

    result: what the operator returned; None if it raised `error`.
    leaves: the numbers of the result by path, as NumPy arrays of at least float64.
    first_seconds, later_seconds: time of the first call, and the median of later ones, until the numbers are there.
    evaluations: calls of f in the first call of the operator.
    peak_bytes: the most memory that was allocated at once during a call, as far as `tracemalloc` sees it.
    differences: for each leaf, against the reference.
    """

    backend: AutoBackend
    result: Any = None
    error: Exception | None = None
    leaves: Mapping[str, Array] = field(default_factory=dict)
    first_seconds: float = math.nan
    later_seconds: float = math.nan
    evaluations: int = 0
    peak_bytes: int = 0
    differences: tuple[LeafDifference, ...] = ()

    @property
    def name(self) -> str:
        """The backend as one writes it, without the options that have their default."""
        return label(self.backend)

    @property
    def worst(self) -> LeafDifference | None:
        """The leaf with the largest relative difference."""
        return max(self.differences, key=lambda d: (d.relative, d.absolute), default=None)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What `compare` found. Prints as a table, shows itself in a notebook, and plots.

    operator: the operator's name.
    backends: what each backend did, in the order given.
    reference: the backend that the others are compared with; None if all of them failed.
    dtype: the coarsest floating dtype in the call, which decides how exactly the backends must agree.
    """

    operator: str
    backends: tuple[Measured, ...]
    reference: Measured | None
    dtype: str

    def __getitem__(self, backend: AutoBackend) -> Measured:
        """What this backend did; KeyError if it was not compared."""
        for measured in self.backends:
            if measured.backend == backend:
                return measured
        raise KeyError(backend)

    def agree(self, *, rtol: float | None = None, atol: float | None = None) -> bool:
        """Whether no backend failed and every leaf of every backend is near enough to the reference.

        Near enough is `atol + rtol * scale`, where scale is the largest number of the reference's leaf. Leaves at a kink
        of f, where each engine may answer in its own way, agree.

        rtol: None takes eps^(3/5) of the call's coarsest dtype (4e-10 for float64, 7e-5 for float32); eps^(2/5) (5e-7,
            2e-3) if one side is finite differences, eps^(3/10) (2e-5, 8e-3) for their second derivatives.
        atol: None takes 100 eps of the largest number of the whole result; 10 eps^(2/3) with finite differences,
            10 eps^(1/2) for their second derivatives.
        """
        return not any(m.error for m in self.backends) and next(self.disagreements(rtol=rtol, atol=atol), None) is None

    def disagreements(
        self, *, rtol: float | None = None, atol: float | None = None
    ) -> Iterator[tuple[Measured, LeafDifference, float]]:
        """The leaves that do not agree: backend, leaf, and the difference that would be allowed. See `agree`."""
        for measured in self.backends:
            for difference in measured.differences:
                allowed = self._allowed(measured, difference, rtol, atol)
                if not difference.kink and not difference.absolute <= allowed:
                    yield measured, difference, allowed

    def _allowed(self, measured: Measured, difference: LeafDifference, rtol: float | None, atol: float | None) -> float:
        assert self.reference is not None
        eps = epsilon(self.dtype)
        second = any(word in self.operator for word in ("hessian", "hvp", "second"))
        if not any(map(_differences, (measured.backend, self.reference.backend))):
            relative, absolute = eps**0.6, 100 * eps
        elif second:
            relative, absolute = eps**0.3, 10 * eps**0.5
        else:
            relative, absolute = eps**0.4, 10 * eps ** (2 / 3)
        if atol is None:
            largest = max(map(_largest, self.reference.leaves.values()), default=0.0)
            atol = absolute * (largest if 0 < largest < math.inf else 1.0)
        scale = difference.scale if math.isfinite(difference.scale) else 0.0
        return atol + (relative if rtol is None else rtol) * scale

    def against(self, backend: AutoBackend) -> Comparison:
        """The same measurements with another backend as the reference. Kinks are not looked for again.

        Raises KeyError if this backend was not compared, ValueError if it failed.
        """
        reference = self[backend]
        if reference.error is not None:
            raise ValueError(f"{reference.name} raised {type(reference.error).__name__}, so nothing can be compared with it.")
        paths = {d.path for m in self.backends for d in m.differences if d.kink}
        wrong = {(m.backend, d.path) for m, d, _ in self.disagreements()}
        kinks = {(m.backend, path) for m in self.backends for path in paths} - wrong
        return _report(self.operator, self.backends, reference, self.dtype, kinks)

    # shown

    def __repr__(self) -> str:
        from .compare_table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .compare_table import as_html

        return as_html(self)

    def plot(self, figure: Any = None) -> Any:
        """Draw the relative difference of each leaf against the reference, and the times, on log axes.

        figure: a Matplotlib figure to draw on; None makes a new one with pyplot. Returns the figure.
        Raises MissingEngineError if Matplotlib is not installed.
        """
        from .compare_plot import draw

        return draw(self, figure)


# Measuring -----------------------------------------------------------------------------------------------------------


def compare(
    operator: Callable[..., Any], f: Callable[..., Any], backends: Iterable[AutoBackend], /, *args: Any, **kwargs: Any
) -> Comparison:
    """Make the same call of an operator with several backends, and report what each gave and what it took.

    operator: one of this package's operators. The maps that `pullback` and `linearize` give are applied once, to the
        same random direction on every backend, and that is compared.
    backends: a list of backend values. The first that succeeds and is not finite differences is the reference; the
        first that succeeds if there is none.
    args, kwargs: what the operator takes after the backend.

    For each backend: the result; the largest difference against the reference, for each leaf with its path; the time of
    the first call and the median of later ones (at least one, for about 0.2 s); evaluations of f in the first call; peak
    memory of a call. Each backend is called three times or more, so f should be pure. An error that a backend raises is
    part of the report. Where `gradient` or `value_and_gradient` differ at a kink of f, the report says so.

    Peak memory is what `tracemalloc` sees: the allocations of Python and of NumPy. What an engine allocates in its own
    C++ heap or on an accelerator it does not see.

    Raises BackendError if `backends` is not a list of backend values.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, compare, gradient
    >>> report = compare(gradient, lambda p: (p["x"] ** 2).sum(), [AutoFiniteDifferences()], {"x": np.ones(3)})
    >>> report.agree(), report[AutoFiniteDifferences()].evaluations
    (True, 7)
    """
    chosen = _checked(backends)
    name = getattr(operator, "__name__", str(operator))
    measured = tuple([_measure(operator, name, f, backend, args, kwargs) for backend in chosen])
    working = [m for m in measured if m.error is None]
    reference = next((m for m in working if not _differences(m.backend)), working[0] if working else None)
    dtype = _coarsest(args, kwargs, working)
    if reference is None:
        return Comparison(name, measured, None, dtype)
    report = _report(name, measured, reference, dtype, set())
    kinks = _kinks(report, f, args, kwargs)
    return _report(name, measured, reference, dtype, kinks) if kinks else report


def label(backend: AutoBackend) -> str:
    """A backend as one writes it, without the options that have their default."""
    try:
        plain = type(backend)()
    except TypeError:  # an option without a default
        return repr(backend)
    changed = [o.name for o in fields(backend) if getattr(backend, o.name) != getattr(plain, o.name)]
    options = [f"{name}={getattr(backend, name)!r}" for name in changed]
    return f"{type(backend).__name__}({', '.join(options)})"


def _checked(backends: Any) -> list[AutoBackend]:
    if isinstance(backends, AutoBackend):
        raise BackendError(f"compare(operator, f, backends, *args): backends must be a list; write [{label(backends)}].")
    chosen = list(backends) if isinstance(backends, Iterable) else []
    if not chosen:
        raise BackendError(
            "compare(operator, f, backends, *args): backends must be a list of backend values, such as "
            f"[{AutoFiniteDifferences.__name__}()]."
        )
    for backend in chosen:
        if not isinstance(backend, AutoBackend):
            find(backend)  # raises, and says what to write
    return chosen


def _differences(backend: AutoBackend) -> bool:
    if isinstance(backend, SecondOrder):
        return _differences(backend.outer) or _differences(backend.inner)
    return isinstance(backend, AutoFiniteDifferences)


def _measure(
    operator: Callable[..., Any],
    name: str,
    f: Callable[..., Any],
    backend: AutoBackend,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Measured:
    evaluations = 0

    @functools.wraps(f)
    def counted(*inner: Any, **keywords: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return f(*inner, **keywords)

    def call() -> tuple[Any, dict[str, Any], float]:
        start = time.perf_counter()
        result = operator(counted, backend, *args, **kwargs)
        numbers = {path: leaf.library.to_numpy(leaf.value) for path, leaf in _leaves(name, result)}
        return result, numbers, time.perf_counter() - start

    try:
        for part in (backend.outer, backend.inner) if isinstance(backend, SecondOrder) else (backend,):
            find(part)  # so that importing the engine is not part of the first call
        result, numbers, first = call()
        first_evaluations = evaluations
        leaves = {path: widened(array) for path, array in numbers.items()}
        later = [call()[2]]
        while sum(later) < _SECONDS and len(later) < _MOST_CALLS:
            later.append(call()[2])
        peak = _peak(call)
    except Exception as error:
        return Measured(backend, error=error)
    return Measured(backend, result, None, leaves, first, float(np.median(later)), first_evaluations, peak)


def _peak(call: Callable[[], Any]) -> int:
    import tracemalloc  # here, because few programs need it

    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        call()
        return max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not running:
            tracemalloc.stop()


def _leaves(name: str, result: Any) -> Iterator[tuple[str, Leaf]]:
    """The numbers of a result by path: `gradient[0]['w']`; fields of a named tuple stand for themselves."""
    for path, part in zip(result._fields, result) if hasattr(result, "_fields") else [(name, result)]:
        if isinstance(part, Back):
            part = part(_random(result.value))
        elif isinstance(part, Push):
            part = part(*_random_tangents(part))
        yield from named_leaves(part, path)


def _random(value: Any) -> Any:
    """A cotangent for this value: its structure, random numbers, always the same ones."""
    leaves: list[Leaf] = []
    structure = flatten(value, leaves, lambda: "value")
    return _filled([structure], [leaf for leaf in leaves if leaf.differentiated])[0]


def _random_tangents(push: Push[Any]) -> list[Any]:
    return _filled(push._call.structures, push._call.active)


def _filled(structures: Iterable[Structure], leaves: Iterable[Leaf]) -> list[Any]:
    random = np.random.default_rng(0)
    drawn: list[Any] = []
    for leaf in leaves:
        shape, dtype = leaf.library.shape(leaf.value), leaf.library.dtype(leaf.value)
        numbers = random.standard_normal(shape)
        if kind(dtype) == "complex":
            numbers = numbers + 1j * random.standard_normal(shape)
        if leaf.library is PYTHON or kind(dtype) == "integer":
            drawn.append(NUMPY.asarray(numbers).item() if shape == () else numbers.round())
        else:
            drawn.append(leaf.library.asarray(numbers, dtype=dtype, like=leaf.value))
    entries = iter(drawn)
    return [build_gradient(structure, entries) for structure in structures]


# Comparing -----------------------------------------------------------------------------------------------------------


def _coarsest(args: tuple[Any, ...], kwargs: dict[str, Any], measured: list[Measured]) -> str:
    """The coarsest floating dtype among the arguments and the results."""
    trees = [Constant((args, kwargs)), *[m.result for m in measured]]
    dtypes = {leaf.library.dtype(leaf.value) for tree in trees for _, leaf in _numeric(tree)}
    floating = sorted(dtype for dtype in dtypes if kind(dtype) in ("real", "complex") and dtype not in ("float", "complex"))
    return max(floating, key=epsilon, default="float64")


def _numeric(tree: Any) -> Iterator[tuple[str, Leaf]]:
    if hasattr(tree, "_fields"):
        tree = tuple([part for part in tree if not isinstance(part, (Back, Push))])
    return named_leaves(tree, "")


#: Where a backend may differ, since f has a kink there.
Kinks = set[tuple[AutoBackend, str]]


def _report(name: str, measured: Sequence[Measured], reference: Measured, dtype: str, kinks: Kinks) -> Comparison:
    compared: list[Measured] = []
    for m in measured:
        apart = () if m is reference or m.error else tuple(_against(m, reference.leaves, kinks))
        compared.append(replace(m, differences=apart))
    chosen = next(new for new, old in zip(compared, measured) if old is reference)
    return Comparison(name, tuple(compared), chosen, dtype)


def _against(measured: Measured, reference: Mapping[str, Array], kinks: Kinks) -> Iterator[LeafDifference]:
    leaves = measured.leaves
    for path in [*reference, *(path for path in leaves if path not in reference)]:
        mine, other = leaves.get(path), reference.get(path)
        if mine is None or other is None:
            note = "missing" if mine is None else "the reference has none"
        elif mine.shape != other.shape:
            note = f"shape {mine.shape}, the reference has {other.shape}"
        else:
            apart = _largest(distances(mine, other))
            yield LeafDifference(path, apart, _largest(other), apart > 0 and (measured.backend, path) in kinks)
            continue
        yield LeafDifference(path, math.inf, 0.0 if other is None else _largest(other), note=note)


def distances(a: Array, b: Array) -> Array:
    """How far the numbers of two arrays are apart: 0 where both are NaN or the same infinity, infinite where one is."""
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, apart)
    return np.where(np.isnan(apart), np.inf, apart)


def _largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))


# Kinks ---------------------------------------------------------------------------------------------------------------

_SCALAR: dict[str, OutputKind] = {"gradient": "scalar", "value_and_gradient": "scalar and aux"}


def _kinks(report: Comparison, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kinks:
    """Where backends differ only because f has a kink at this point."""
    output, reference = _SCALAR.get(report.operator), report.reference
    suspects = [(m, d.path) for m, d, _ in report.disagreements() if not d.note and d.path.startswith("gradient")]
    if output is None or reference is None or not suspects:
        return set()
    paths = list(dict.fromkeys(path for _, path in suspects))[:_EXAMINED]
    try:
        probe = Probe(f, reference.backend, args, kwargs, output)
        return {
            (m.backend, path)
            for m, path in suspects
            if path in paths and _at_kink(probe, path, m.leaves[path], reference.leaves[path])
        }
    except Exception:  # f need not allow to be evaluated elsewhere; then the difference stands as it is
        return set()


def _at_kink(probe: Probe, path: str, mine: Array, other: Array) -> bool:
    """Whether f has a kink in the direction in which two gradients differ, and both of them lie between its slopes."""
    n = probe.paths.index(path.replace("gradient", "args", 1))
    apart = mine - other
    if not np.all(np.isfinite(apart)):
        return False
    direction = {n: apart / np.max(np.abs(apart))}
    step = probe.first_step(direction) * max(1.0, _largest(probe.points[n]))
    kink = kink_among(ladder(probe, direction, step, {n: other}))
    return kink is not None and between(kink, kink.gradient) and between(kink, _slope(mine, direction[n]))


def _slope(gradient: Array, direction: Array) -> float:
    return float(np.real(np.conj(gradient) * direction).sum())


__all__ = ["Comparison", "LeafDifference", "Measured", "compare"]
