"""`check_rule`: compares the derivatives of a rule with those of its function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.errors import BackendError, PrecisionWarning, RuleError
from ..core.contract.library import NUMPY, PYTHON, epsilon, kind
from ..core.contract.registry import auto_class, backend_class, find, is_installed, names
from ..core.operators.gradient import gradient
from ..core.operators.hessian import hvp
from ..core.operators.pullback import pullback, pushforward
from ..core.tree import Leaf, Structure, build_gradient, flatten
from ..rules.derived.engine import has_derivative, marked
from ..rules.rule import Rule
from .leaves import named_leaves
from .numbers import largest_of, widened
from .verdict import Verdict

Array = np.ndarray[Any, Any]
#: What was looked at.
Aspect = Literal["pullback", "pushforward", "adjoint", "linear", "again", "float32", "second order"]


@contextmanager
def _unwarned() -> Iterator[None]:
    """Differences of a wrong derivative are rarely smooth, which the findings report better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        yield


@dataclass(frozen=True)
class RuleFinding:
    """Something that is wrong with a rule."""

    aspect: Aspect
    #: The argument, or the part of the value, where it shows; empty where it is the whole.
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.aspect}{f', {self.path}' if self.path else ''}: {self.message}"


@dataclass(frozen=True, repr=False)
class RuleCheck(Verdict):
    """What `check_rule` found. True if nothing is wrong; prints as a page of text."""

    name: str
    backend: AutoBackend
    findings: tuple[RuleFinding, ...]

    @property
    def ok(self) -> bool:
        return not self.findings

    def __repr__(self) -> str:
        verdict = "ok" if self.ok else "WRONG"
        return "\n".join(
            [f"check_rule({self.name}) on {self.backend!r}: {verdict}", *[f"  {result}" for result in self.findings]]
        )


def check_rule(
    f: Callable[..., Any],
    /,
    *args: Any,
    backend: AutoBackend | None = None,
    seed: int = 0,
    rtol: float | None = None,
    **keywords: Any,
) -> RuleCheck:
    """Compare the derivatives of a rule with finite differences of its primal, in both modes.

    f: made by `rule`, `scalar_rule` or `differentiate_with`. args, keywords: the point, NumPy arrays and numbers away from
    kinks.
    backend: the engine that uses the rule; None takes the first that is installed.
    seed: of the random directions. rtol: the largest relative error; None takes 1e-5 in double precision.

    Checks the derivatives' results (a cotangent for each argument, structure, shape, dtype); each cotangent and each part of
    the tangent along a random direction (None where the value depends is an error); that both maps are adjoint and linear; that
    a pullback can be used again and writes into nothing; that single precision stays single; and the derivatives of the
    derivatives' code. Returns a `RuleCheck`, true if nothing is wrong. Raises TypeError for anything but a rule, BackendError
    if no engine is installed, and the errors of the primal.

    >>> import numpy as np
    >>> from adinterface import array_namespace
    >>> from adinterface.rules import scalar_rule
    >>> from adinterface.tools import check_rule
    >>> sine = scalar_rule(lambda x: array_namespace(x).sin(x), lambda value, x: array_namespace(x).cos(x))
    >>> check_rule(sine, np.array([0.3, 1.2])).ok
    True
    """
    if not isinstance(f, Rule) or (f._definition.back is None and f._definition.push is None):
        what = "has neither a pullback nor a pushforward" if isinstance(f, Rule) else "is no rule"
        raise TypeError(f"check_rule: {getattr(f, '__name__', f)} {what}. Decorate it with @rule, and give it a derivative.")
    auto = backend or _an_engine()
    if not find(auto).libraries:
        raise BackendError(f"check_rule: {type(auto).__name__} uses no rule, but the primal alone. Pass an engine's backend.")
    check = _Check(f, auto, args, keywords, seed)
    if rtol is not None:
        check.rtol = rtol
    return RuleCheck(f._definition.name, auto, tuple(check.findings()))


def _an_engine() -> AutoBackend:
    for name in names():
        if is_installed(name):
            backend_class(name)  # loads the engine, so that its arrays are recognised
            cls = auto_class(name)
            if cls is not None and backend_class(name).libraries:
                return cls()
    raise BackendError("check_rule: no engine is installed that would use a rule: pip install 'adinterface[all]'")


class _Check:
    def __init__(self, f: Rule[..., Any], auto: AutoBackend, args: tuple[Any, ...], keywords: dict[str, Any], seed: int):
        self.f, self.auto, self.args, self.keywords = f, auto, args, keywords
        self.definition = f._definition
        self.random = np.random.default_rng(seed)
        self.primal = self.definition.f
        self.value = self.primal(*args, **keywords)
        self.given = marked(args)
        coarsest = max([epsilon(leaf.library.dtype(leaf.value)) for leaf in _leaves(args)], default=2.0**-52)
        #: The largest relative error.
        self.rtol = 1e-5 if coarsest < 1e-10 else 2e-2

    def findings(self) -> Iterator[RuleFinding]:
        before = [widened(leaf.value) for leaf in _leaves(self.args)]
        try:
            yield from self._first_order()
        except RuleError as error:
            aspect: Aspect = "pushforward" if "its pushforward" in str(error) else "pullback"
            yield RuleFinding(aspect, "", str(error))
            return
        for known, leaf in zip(before, _leaves(self.args)):
            if not np.array_equal(known, widened(leaf.value), equal_nan=True):
                yield RuleFinding("again", "", "the rule wrote into its own argument. Write into a copy.")
        yield from self._single_precision()
        yield from self._second_order()

    # the pieces of it

    def _first_order(self) -> Iterator[RuleFinding]:
        (v, v2), (w, w2) = self._directions(self.args), self._directions(self.value)
        _, back = pullback(self.f, self.auto, *self.given, **self.keywords)
        cotangents = back(w)
        yield from self._reverse(cotangents, w)
        again = back(w)
        if any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(_numbers(cotangents), _numbers(again))):
            yield RuleFinding("again", "", "the pullback gives something else when it is called a second time.")
        if self.definition.back is not None:
            both = back(_combined(w, w2))
            if not self._linear(_numbers(cotangents), _numbers(back(w2)), _numbers(both)):
                yield RuleFinding("linear", "", "the pullback is not linear in the cotangent.")
        pushed = self._push(v)
        yield from self._forward(pushed, v)
        if self.definition.push is not None:
            if not self._linear(_numbers(pushed), _numbers(self._push(v2)), _numbers(self._push(_combined(v, v2)))):
                yield RuleFinding("linear", "", "the pushforward is not linear in the tangents.")
            if self.definition.back is not None:
                one, size = _inner(w, pushed)
                other, _ = _inner(cotangents, v)
                if not abs(one - other) <= 1e-3 * self.rtol * max(size, abs(other)):
                    yield RuleFinding("adjoint", "", f"<w, pushforward(v)> is {one:.6g}, but <pullback(w), v> is {other:.6g}.")

    def _reverse(self, cotangents: Any, w: Any) -> Iterator[RuleFinding]:
        """Leaf by leaf of the arguments, along a random direction."""
        (v, _) = self._directions(self.args)
        directions, paths = _numbers(v), self._paths(self.args)
        for n, (path, cotangent) in enumerate(zip(paths, _numbers(cotangents))):
            moved = self._differences(_only(v, n))
            expected, size = _inner(w, moved)
            result = _product(cotangent, directions[n])
            if abs(result - expected) <= self.rtol * max(size, largest_of(cotangent) * largest_of(directions[n]), 1e-12):
                continue
            if not np.any(cotangent):
                yield RuleFinding("pullback", path, "its cotangent is zero, or None, but the value depends on it.")
            else:
                problem = f"along a random direction it gives {result:.6g}, differences of the primal {expected:.6g}."
                yield RuleFinding("pullback", path, problem)

    def _forward(self, pushed: Any, v: Any) -> Iterator[RuleFinding]:
        """Part by part of the value."""
        for path, result, expected in zip(self._paths(self.value), _numbers(pushed), _numbers(self._differences(v))):
            error, sizes = largest_of(result - expected), (largest_of(result), largest_of(expected))
            if not error <= self.rtol * max(*sizes, 1e-12):
                problem = (
                    f"along a random direction it differs from differences of the primal by {error:.3g}; their largest numbers "
                    f"are {sizes[0]:.6g} and {sizes[1]:.6g}."
                )
                yield RuleFinding("pushforward", path, problem)

    def _single_precision(self) -> Iterator[RuleFinding]:
        single = [_as_single(arg) for arg in self.args]
        words = {name: _as_single(value) for name, value in self.keywords.items()}
        value = self.primal(*single, **words)
        dtypes = {leaf.library.dtype(leaf.value) for leaf in _leaves((value, single))} - {"float", "complex"}
        if not dtypes <= {"float32", "complex64"} or not dtypes:
            return
        try:
            _, back = pullback(self.f, self.auto, *marked(tuple(single)), **words)
            back(self._directions(value)[0])
            self._push(self._directions(tuple(single))[0], tuple(single), words)
        except RuleError as error:
            yield RuleFinding("float32", "", str(error))

    def _second_order(self) -> Iterator[RuleFinding]:
        if any(np.iscomplexobj(number) for number in _numbers((self.args, self.value))):
            return
        weights, (v, _) = self._directions(self.value)[0], self._directions(self.args)
        constants = [arg for arg in self.args if not has_derivative(arg)]
        args = tuple([arg for arg in self.args if has_derivative(arg)])
        moved = tuple([t for t, arg in zip(v, self.args) if has_derivative(arg)])
        if not args:
            return

        def weighted(inner: tuple[Any, ...]) -> Any:
            remaining, fixed = iter(inner), iter(constants)
            full = [next(remaining) if has_derivative(arg) else next(fixed) for arg in self.args]
            return _weighted_sum(self.f(*full, **self.keywords), weights)

        try:
            result = hvp(weighted, self.auto, args, moved)
        except (RuleError, TypeError, ValueError, NotImplementedError, RuntimeError) as error:
            yield RuleFinding("second order", "", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
            return
        with _unwarned():
            slope = lambda inner: gradient(weighted, self.auto, inner)[0]
            slopes = pushforward(slope, AutoFiniteDifferences(), (args,), (moved,))
        for one, other in zip(_numbers(result), _numbers(slopes.tangent)):
            if not largest_of(one - other) <= 10 * self.rtol * max(largest_of(one), largest_of(other), 1.0):
                problem = (
                    f"the derivative of its derivative's code is {largest_of(one):.6g} at most, differences of its derivative "
                    f"{largest_of(other):.6g}. Does it compute with what is no longer followed?"
                )
                yield RuleFinding("second order", "", problem)
                return

    # evaluations

    def _differences(self, v: Any) -> Any:
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(v, self.args)])
        with _unwarned():
            return pushforward(self.primal, AutoFiniteDifferences(), self.given, moved, **self.keywords).tangent

    def _push(self, v: Any, args: tuple[Any, ...] | None = None, words: dict[str, Any] | None = None) -> Any:
        auto = replace(self.auto, mode="forward") if hasattr(self.auto, "mode") else self.auto  # type: ignore[call-arg]
        args = self.args if args is None else args
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(v, args)])
        return pushforward(self.f, auto, marked(args), moved, **(self.keywords if words is None else words)).tangent

    def _directions(self, tree: Any) -> tuple[Any, Any]:
        """Two random trees of the structure of a gradient."""
        structure, leaves = _taken(tree)
        live = [leaf for leaf in leaves if leaf.differentiated]
        one, other = [build_gradient(structure, iter([self._drawn(leaf) for leaf in live])) for _ in range(2)]
        return one, other

    def _drawn(self, leaf: Leaf) -> Any:
        dtype, shape = leaf.library.dtype(leaf.value), leaf.library.shape(leaf.value)
        drawn = self.random.uniform(0.5, 1.5, shape) * self.random.choice([-1.0, 1.0], shape)
        if kind(dtype) == "complex" or dtype == "complex":
            drawn = drawn + 1j * self.random.uniform(-1.0, 1.0, shape)
        if leaf.library is PYTHON:
            return type(leaf.value)(drawn)
        return np.asarray(drawn, dtype)

    def _linear(self, one: list[Array], other: list[Array], both: list[Array]) -> bool:
        """Whether the results for a, b and 2 a - b / 2 are those of a linear map."""
        tolerance = 1e-3 * self.rtol
        return all(
            largest_of(2 * x - 0.5 * y - z) <= tolerance * max(largest_of(x), largest_of(y), 1e-12)
            for x, y, z in zip(one, other, both)
        )

    def _paths(self, tree: Any) -> list[str]:
        if tree is self.args:
            return [
                path
                for i, arg in enumerate(self.args)
                for path, leaf in named_leaves(arg, self.definition.path(i))
                if leaf.differentiated
            ]
        return [path for path, leaf in named_leaves(tree, "value") if leaf.differentiated]


def _taken(tree: Any) -> tuple[Structure, list[Leaf]]:
    leaves: list[Leaf] = []
    return flatten(tree, leaves, lambda: "an argument"), leaves


def _leaves(tree: Any) -> list[Leaf]:
    return [leaf for leaf in _taken(tree)[1] if leaf.differentiated]


def _numbers(tree: Any) -> list[Array]:
    return [widened(leaf.library.to_numpy(leaf.value)) for leaf in _leaves(tree)]


def _combined(a: Any, b: Any) -> Any:
    """2 a - b / 2, tree by tree."""
    structure, leaves = _taken(a)
    pairs = zip([x for x in leaves if x.differentiated], [x for x in _taken(b)[1] if x.differentiated])
    result = [_like(2 * x.value - 0.5 * y.value, x) for x, y in pairs]
    return build_gradient(structure, iter(result))


def _like(x: Any, leaf: Leaf) -> Any:
    return type(leaf.value)(x) if leaf.library is PYTHON else np.asarray(x, leaf.value.dtype)


def _only(tree: Any, n: int) -> Any:
    """The tree with zeros everywhere but in its n-th leaf."""
    structure, leaves = _taken(tree)
    live = [leaf for leaf in leaves if leaf.differentiated]
    result = [leaf.value if k == n else _like(0 * leaf.value, leaf) for k, leaf in enumerate(live)]
    return build_gradient(structure, iter(result))


def _product(a: Array, b: Array) -> float:
    return float(np.real(np.vdot(a, b)))


def _inner(a: Any, b: Any) -> tuple[float, float]:
    """The real inner product of two trees, and the sum of the absolute values of its terms."""
    products = [np.real(np.conj(x) * y) for x, y in zip(_numbers(a), _numbers(b))]
    return float(sum([x.sum() for x in products])), float(sum([np.abs(x).sum() for x in products]))


def _weighted_sum(value: Any, weights: Any) -> Any:
    parts = [leaf.value for leaf in _leaves(value)]
    factors: Sequence[Any] = [leaf.value for leaf in _leaves(weights)]
    total: Any = 0.0
    for part, leaf, factor in zip(parts, _leaves(value), factors):
        library = leaf.library
        weight = factor if library is PYTHON else library.lift(np.asarray(factor), part)
        total = total + (part * weight if library is PYTHON else library.namespace(part).sum(part * weight))
    return total


def _as_single(tree: Any) -> Any:
    """A tree with its NumPy arrays in single precision."""
    structure, leaves = _taken(tree)
    result = []
    for leaf in leaves:
        narrow = leaf.library is NUMPY and leaf.differentiated
        dtype = "complex64" if narrow and leaf.value.dtype.kind == "c" else "float32"
        result.append(leaf.value.astype(dtype) if narrow else leaf.value)
    return structure.build(iter(result))


__all__ = ["RuleCheck", "RuleFinding", "check_rule"]
