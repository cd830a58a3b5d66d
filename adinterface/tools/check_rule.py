"""`check_rule`: compares the derivatives of a rule with those of its function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import BackendError, RuleError
from ..core.contract.library import NUMPY, PYTHON, epsilon, kind
from ..core.contract.registry import auto_class, backend_class, find, is_installed, names
from ..core.operators.gradient import gradient
from ..core.operators.hessian import hvp
from ..core.operators.pullback import pullback, pushforward
from ..core.tree import Leaf, Structure, build_gradient, flatten
from ..rules.derived.engine import has_derivative, marked
from ..rules.rule import Rule
from .evidence import Evidence, Look, Outcome, confirmed, decide, look_at
from .leaves import in_double_precision, named_leaves, nearby
from .numbers import Array, largest_of, widened
from .verdict import Verdict

#: What was looked at.
Aspect = Literal["pullback", "pushforward", "adjoint", "linear", "again", "float32", "second order"]


@dataclass(frozen=True)
class RuleFinding:
    """Something that is wrong with a rule, or that cannot be decided."""

    aspect: Aspect
    #: The argument, or the part of the value, where it shows; empty where it is the whole.
    path: str
    message: str
    outcome: Outcome = "wrong"

    def __str__(self) -> str:
        return f"{self.aspect}{f', {self.path}' if self.path else ''}: {self.message}"


@dataclass(frozen=True, repr=False)
class RuleCheck(Verdict):
    """What `check_rule` found. True if nothing is wrong; prints as a page of text."""

    name: str
    backend: AutoBackend
    findings: tuple[RuleFinding, ...]

    @property
    def verdict(self) -> Outcome:
        outcomes = {finding.outcome for finding in self.findings}
        return "wrong" if "wrong" in outcomes else "undecided" if outcomes else "right"

    def __repr__(self) -> str:
        verdict = self.verdict if self.ok else self.verdict.upper()
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
    seed: of the random directions. rtol: the accepted relative error; None takes eps^(1/2) of the coarsest dtype (1.5e-8 in
    double precision). The estimated errors of differences and of the rule's own rounding are added.

    Checks the derivatives' results (a cotangent for each argument, structure, shape, dtype); each cotangent and each part of
    the tangent along a random direction (None where the value depends is an error); that both maps are adjoint and linear; that
    a pullback can be used again and writes into nothing; that single precision stays single, and is right; and the derivatives
    of the derivatives' code. Where arrays are of less than double precision, the primal is evaluated in double precision if it
    can be. Returns a `RuleCheck`, true if all is right. Raises TypeError for anything but a rule, BackendError
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
        #: The precision of the rule, and of the primal that it is compared with, here or in double precision.
        self.epsilon = _coarsest((args, self.value))
        self.around, self.words = self._in_double_precision()
        self.precision = _coarsest((self.around, self.primal(*self.around, **self.words)))
        #: How much slopes may differ; and by how much at most they do where they are right.
        self.rtol, self.limit = self.epsilon**0.5, min(0.1, self.epsilon**0.2)

    def _in_double_precision(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, words = (in_double_precision(tree) for tree in (self.args, self.keywords))
        if self.epsilon < 1e-10:
            return self.args, self.keywords
        with suppress(Exception):  # whatever keeps the primal from it, the given precision remains
            pairs = list(zip(_numbers(self.primal(*args, **words)), _numbers(self.value), strict=True))
            if all(largest_of(wide - own) <= self.epsilon**0.5 * largest_of(own) for wide, own in pairs):
                return args, words
        return self.args, self.keywords

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
        self.back_error = self._rounding(_numbers(cotangents), lambda args: self._back(args, w))
        yield from self._reverse(cotangents, w)
        again = back(w)
        if any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(_numbers(cotangents), _numbers(again))):
            yield RuleFinding("again", "", "the pullback gives something else when it is called a second time.")
        if self.definition.back is not None:
            both = back(_combined(w, w2))
            if not self._linear(_numbers(cotangents), _numbers(back(w2)), _numbers(both), self.back_error):
                yield RuleFinding("linear", "", "the pullback is not linear in the cotangent.")
        pushed = self._push(v)
        push_error = self._rounding(_numbers(pushed), lambda args: self._push(v, args))
        yield from self._forward(pushed, v, push_error)
        if self.definition.push is not None:
            both = self._push(_combined(v, v2))
            if not self._linear(_numbers(pushed), _numbers(self._push(v2)), _numbers(both), push_error):
                yield RuleFinding("linear", "", "the pushforward is not linear in the tangents.")
            if self.definition.back is not None:
                one, size = _inner(w, pushed)
                other, second = _inner(cotangents, v)
                error = _weighted(push_error, w) + _weighted(self.back_error, v)
                if decide(abs(one - other), error, max(size, second), self.rtol) == "wrong":
                    yield RuleFinding("adjoint", "", f"<w, pushforward(v)> is {one:.6g}, but <pullback(w), v> is {other:.6g}.")

    def _reverse(self, cotangents: Any, w: Any) -> Iterator[RuleFinding]:
        """Leaf by leaf of the arguments, along a random direction."""
        (v, _) = self._directions(self.args)
        for n, (path, cotangent) in enumerate(zip(self._paths(self.args), _numbers(cotangents))):
            for aligned in (None, cotangent):
                alone = _only(v, n, aligned)
                claimed, size = _inner([cotangent], [_numbers(alone)[n]])
                own = _weighted(self.back_error, alone)
                outcome, found = self._judged(self._along(alone, w), claimed, size, own)
                if outcome != "right" or not found.loose:
                    break
            if outcome == "wrong" and not np.any(cotangent):
                yield RuleFinding("pullback", path, "its cotangent is zero, or None, but the value depends on it.")
            elif outcome != "right":
                problem = f"along a random direction it gives {claimed:.6g}, differences of the primal {found.differences:.6g}"
                yield _finding("pullback", path, problem, outcome, found)

    def _forward(self, pushed: Any, v: Any, errors: list[float]) -> Iterator[RuleFinding]:
        """Part by part of the value, along a random cotangent."""
        (w, _) = self._directions(self.value)
        for n, (path, result) in enumerate(zip(self._paths(self.value), _numbers(pushed))):
            for aligned in (None, result):
                alone = _only(w, n, aligned)
                claimed, size = _inner([result], [_numbers(alone)[n]])
                outcome, found = self._judged(self._along(v, alone), claimed, size, _weighted(errors, alone))
                if outcome != "right" or not found.loose:
                    break
            if outcome != "right":
                problem = (
                    f"along a random direction it differs from differences of the primal by {found.apart:.3g}; the slopes are "
                    f"{claimed:.6g} and {found.differences:.6g}"
                )
                yield _finding("pushforward", path, problem, outcome, found)

    def _judged(
        self, f: Callable[[float], tuple[float, float]], claimed: float, size: float, own: float | Callable[[], float]
    ) -> tuple[Outcome, Evidence]:
        """A slope at 0 of a function that gives a number, and the size of the terms that it sums up."""
        here, _ = f(0.0)

        def look(step: float) -> Look:
            with np.errstate(all="ignore"):
                (down, one), (up, other) = f(-step), f(step)
                rounding = self.precision * max(one, other, abs(claimed))
                return look_at((down, here, up), step, claimed, rounding)

        return confirmed(look, 1.0, self.precision, self.rtol, self.limit, size).judged(
            self.rtol, self.limit, own if callable(own) else lambda: own, 0.0
        )

    def _along(self, v: Any, w: Any) -> Callable[[float], tuple[float, float]]:
        """The inner product of w with the primal's value, as the arguments move along v."""
        return lambda t: _inner(w, self.primal(*_added(self.around, v, t), **self.words))

    def _rounding(self, numbers: list[Array], compute: Callable[[Any], Any], args: Any = None) -> list[float]:
        """How much each array changes if the arguments are a few roundings off."""
        random = np.random.default_rng(1)
        others = [_numbers(compute(nearby(self.args if args is None else args, random))) for _ in range(2)]
        return [max(largest_of(other[n] - array) for other in others) for n, array in enumerate(numbers)]

    def _back(self, args: tuple[Any, ...], w: Any, words: dict[str, Any] | None = None) -> Any:
        return pullback(self.f, self.auto, *marked(args), **(self.keywords if words is None else words))[1](w)

    def _single_precision(self) -> Iterator[RuleFinding]:
        single = [_as_single(arg) for arg in self.args]
        words = {name: _as_single(value) for name, value in self.keywords.items()}
        value = self.primal(*single, **words)
        dtypes = {leaf.library.dtype(leaf.value) for leaf in _leaves((value, single))} - {"float", "complex"}
        if not dtypes <= {"float32", "complex64"} or not dtypes:
            return
        w = self._directions(value)[0]
        try:
            cotangents = _numbers(self._back(tuple(single), w, words))
            self._push(self._directions(tuple(single))[0], tuple(single), words)
        except RuleError as error:
            yield RuleFinding("float32", "", str(error))
            return
        if self.epsilon > 1e-10:
            return  # what was checked before
        exact = _numbers(self._back(*in_double_precision((tuple(single), w, words))))
        errors = self._rounding(cotangents, lambda args: self._back(args, w, words), tuple(single))
        eps = epsilon("float32")
        for path, one, other, rounding in zip(self._paths(self.args), cotangents, exact, errors):
            apart, size = largest_of(one - other), max(largest_of(one), largest_of(other))
            if math.isfinite(apart) and decide(apart, rounding, size, eps**0.5) == "wrong":
                problem = f"in single precision its cotangent differs by {apart:.3g} from that in double precision, {size:.3g}."
                yield RuleFinding("float32", path, problem)

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

        def along(n: int, u: Array) -> Callable[[float], tuple[float, float]]:
            return lambda t: _inner([u], [_numbers(gradient(weighted, self.auto, _added(args, moved, t))[0])[n]])

        value = _inner(weights, self.value)[1]
        for n, one in enumerate(_numbers(result)):
            u = self.random.choice([-1.0, 1.0], one.shape)
            claimed, size = _inner([u], [one])

            def own(n: int = n, u: Array = u) -> float:
                errors = self._rounding(_numbers(result), lambda near: hvp(weighted, self.auto, near, moved), args)
                floor = 10 * self.epsilon * value / (largest_of(_numbers(args)[n]) or 1.0)  # what is left of f's own rounding
                return (errors[n] + floor) * float(np.abs(u).sum())

            outcome, found = self._judged(along(n, u), claimed, size, own)
            if outcome == "wrong":
                problem = (
                    f"the derivative of its derivative's code is {claimed:.6g} along random directions, differences of its "
                    f"derivative {found.differences:.6g}. Does it compute with what is no longer followed"
                )
                yield RuleFinding("second order", "", f"{problem}?")
                return

    # evaluations

    def _push(self, v: Any, args: tuple[Any, ...] | None = None, words: dict[str, Any] | None = None) -> Any:
        auto = replace(self.auto, mode="forward") if hasattr(self.auto, "mode") else self.auto  # type: ignore[call-arg]
        args = self.args if args is None else args
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(v, args)])
        return pushforward(self.f, auto, marked(args), moved, **(self.keywords if words is None else words)).tangent

    def _directions(self, tree: Any) -> tuple[Any, Any]:
        """Two random trees of the structure of a gradient; of tangents of the arguments, in the scale of these."""
        structure, leaves = _taken(tree)
        live, scaled = [leaf for leaf in leaves if leaf.differentiated], tree is not self.value
        one, other = [build_gradient(structure, iter([self._drawn(leaf, scaled) for leaf in live])) for _ in range(2)]
        return one, other

    def _drawn(self, leaf: Leaf, scaled: bool) -> Any:
        dtype, shape = leaf.library.dtype(leaf.value), leaf.library.shape(leaf.value)
        scale = largest_of(widened(leaf.library.to_numpy(leaf.value))) if scaled else 1.0
        drawn = (scale or 1.0) * self.random.uniform(0.5, 1.5, shape) * self.random.choice([-1.0, 1.0], shape)
        if kind(dtype) == "complex" or dtype == "complex":
            drawn = drawn + 1j * self.random.uniform(-1.0, 1.0, shape)
        if leaf.library is PYTHON:
            return type(leaf.value)(drawn)
        return np.asarray(drawn, dtype)

    def _linear(self, one: list[Array], other: list[Array], both: list[Array], errors: list[float]) -> bool:
        """Whether the results for a, b and 2 a - b / 2 are those of a linear map."""
        return all(
            decide(largest_of(2 * x - 0.5 * y - z), 3 * error, max(largest_of(x), largest_of(y)), self.rtol) != "wrong"
            for x, y, z, error in zip(one, other, both, errors)
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


def _only(tree: Any, n: int, aligned: Array | None = None) -> Any:
    """The tree with zeros everywhere but in its n-th leaf; in the direction in which `aligned` is largest, if it is given."""
    structure, leaves = _taken(tree)
    live = [leaf for leaf in leaves if leaf.differentiated]
    result = [leaf.value if k == n else _like(0 * leaf.value, leaf) for k, leaf in enumerate(live)]
    if aligned is not None:
        units = aligned / np.where(aligned == 0, 1.0, np.abs(aligned))
        result[n] = _like(np.where(aligned == 0, result[n], np.abs(result[n]) * units)[()], live[n])
    return build_gradient(structure, iter(result))


def _inner(a: Any, b: Any) -> tuple[float, float]:
    """The real inner product of two trees, and the sum of the absolute values of its terms."""
    products = [np.real(np.conj(x) * y) for x, y in zip(_numbers(a), _numbers(b))]
    return float(sum([x.sum() for x in products])), float(sum([np.abs(x).sum() for x in products]))


def _weighted(errors: Sequence[float], tree: Any) -> float:
    return sum([error * float(np.abs(array).sum()) for error, array in zip(errors, _numbers(tree))])


def _added(tree: Any, v: Any, t: float) -> Any:
    """The tree, moved by t v."""
    structure, leaves = _taken(tree)
    moves = iter(_numbers(v))
    moved = []
    for leaf in leaves:
        if leaf.differentiated:
            moved.append(_like(leaf.value + t * next(moves), leaf))
        else:
            moved.append(leaf.value)
    return structure.build(iter(moved))


def _coarsest(tree: Any) -> float:
    return max([epsilon(leaf.library.dtype(leaf.value)) for leaf in _leaves(tree)], default=2.0**-52)


def _finding(aspect: Aspect, path: str, problem: str, outcome: Outcome, found: Evidence) -> RuleFinding:
    if outcome == "wrong":
        return RuleFinding(aspect, path, f"{problem}.")
    what = f"{problem}, with an error of {found.error:.2g}, which does not decide. Check at another point."
    return RuleFinding(aspect, path, what, outcome)


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
