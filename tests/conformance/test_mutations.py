"""The checks have teeth: one table of faults, each with the scenario on which it shows and the
check that must catch it.

A fault is an engine (that of autograd) with one thing changed, an operator whose call or result is
changed, or a change of what `prepare`, `batched` and stacks give. No scenario here has a closed
form: the laws alone catch them all.
"""

import contextvars
import copy
import decimal
import functools
import gc
import os
import random
import sys
import threading
import time
import warnings
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import autograd.numpy as anp
import jax
import numpy as np
import pytest
import torch
from adinterface_autograd import AutogradBackend
from adinterface_autograd.repairs.box import Box
from adinterface_autograd.repairs.reverse import ReverseNode
from adinterface_autograd.repairs.traces import new_trace
from adinterface_conformance import CHECKS, OneOf, Scenario, ownership
from adinterface_conformance.checks import checks_for
from adinterface_conformance.runner import Selection, _ending, begun
from adinterface_conformance.state import global_state, restored
from adinterface_conformance.trees import leaves_of
from adinterface_studies.scenarios import SCENARIOS

import adinterface
from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
    DisconnectedWarning,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)
from adinterface.core.contract import registry
from adinterface.core.operators.pullback import Back, Push
from adinterface.rules import ignore_derivatives, scalar_rule

# The scenarios
# ------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(7)
A, B, X = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=4)
Z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
TREE, ALONG = {"a": A, "b": B, "name": "tree"}, {"a": B, "b": A, "name": None}


@dataclass
class Model:
    weight: Any
    steps: int = 2
    name: Any = field(default="model", metadata={"static": True})


def total(x):
    return array_namespace(x).sum(x)


def cubes(x):
    return total(x**3)


def matrices(p):
    xp = array_namespace(p["a"])
    return xp.sum(xp.sin(p["a"]) * p["b"] ** 2) + xp.sum(p["a"] @ p["b"])


def crossed(t):
    return total((t["a"] @ t["b"]) ** 2) + cubes(t["a"])


def moduli(z):
    xp = array_namespace(z)
    return xp.sum(xp.real(z) ** 3 * xp.imag(z) ** 2)


def waves(x, c=1.0):
    return array_namespace(x).sin(x) * x[0] * c


def with_constants(x, c, n, scale=1.0):
    """Its integers must be integers, and its factors are never the same twice."""
    return sum(cubes(x) * k for k in range(1, n["steps"] + 1)) * c[0] * scale


PAIR, HALF = {"a": A[:2, :2].copy(), "b": B[:2, :2].copy()}, Constant(np.array(0.5))
CONSTANTS = (
    X,
    Constant(np.array([0.5])),
    Constant({"steps": 2, "on": True, "which": np.array([1, 0])}),
)
#: name: (operator, f, arguments, what else a scenario has)
ON = {
    "tree": (gradient, matrices, (TREE,), {}), "complex": (gradient, moduli, (Z,), {}),
    "complex pullback": (pullback, lambda z: z * array_namespace(z).conj(z) * z, (Z,), {}),
    "cubes": (gradient, cubes, (X,), {}),
    "aux": (value_and_gradient, lambda x: (cubes(x), defaultdict(list, doubled=2 * x, name="aux")), (X,), {}),
    "pullback": (pullback, waves, (X, HALF), {}), "linearize": (linearize, waves, (X, HALF), {}),
    "pushforward": (pushforward, waves, (X, HALF), {}),
    "hvp": (gradient_and_hvp, matrices, (TREE, ALONG), {}),
    "plain hvp": (hvp, matrices, (TREE, ALONG), {}),
    "hvp of cubes": (hvp, cubes, (X, X[::-1].copy()), {}),
    "hessian": (hessian, lambda x: cubes(x) * x[0], (X,), {}),
    "blocks": (hessian, crossed, (PAIR,), {}),
    "jacobian of a tree": (jacobian, lambda t: t["a"] @ t["b"], (PAIR,), {}),
    "diagonal": (diagonal_hessian, lambda x: cubes(x) * x[0], (X,), {}),
    "half square": (gradient, lambda x: total(x * x) / 2, (X,), {}),
    "sum": (gradient, lambda x, y: total(x + y), (X, X + 1), {}),
    "unused": (gradient, lambda p, c: total(p["x"] ** 2) * c, ({"x": X, "y": X}, Constant(2.0)), {}),
    "number": (gradient, lambda x, y: x * y, (2.0, 3.0), {}),
    "zero-d": (gradient, lambda x: x**3, (np.array(2.0),), {}),
    "jacobian": (value_and_jacobian, waves, (X,), {}),
    "plain jacobian": (jacobian, waves, (X,), {}),
    "neighbours": (jacobian, lambda x: array_namespace(x).concat([x[1:] * x[:-1], x[:1] ** 2]), (X,), {}),
    "rows": (jacobian, lambda x: array_namespace(x).stack([x[0] * x[1], x[1] * x[2]]), (X,), {}),
    "derivative": (derivative, lambda t: {"a": t**2, "b": t**3}, (0.7,), {}),
    "constants": (gradient, with_constants, CONSTANTS, {"kwargs": {"scale": 1.5}}),
    "default dict": (gradient, lambda t: cubes(t["a"]), (defaultdict(list, a=X),), {}),
    "ordered dict": (gradient, lambda t: cubes(t["a"]), (OrderedDict(a=X),), {}),
    "model": (gradient, lambda m: total(m.weight**2) * m.steps, (Model(X),), {}),
    "disconnected": (gradient, lambda x: total(array_namespace(x).ones_like(x)), (X,), {"tags": frozenset({"disconnected"})}),
    "kink": (gradient, abs, (0.0,), {"tags": frozenset({"kink"}), "documented": {"mutant": (0.0,)}}),
}  # fmt: skip


def scenario(on):
    """A new object with arrays of its own, so that nothing is shared with another test."""
    operator, f, args, rest = ON[on]
    return Scenario(f"mutations/{on.replace(' ', '-')}", operator, f, copy.deepcopy(args), **rest)


# Faults of an engine
# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AutoMutant(AutoBackend):
    name = "mutant"
    #: A change of the engine: of its pullback, its pushforward or its gradient.
    change: Any = None
    where: str = "pullback"
    executor: Any = None


class Mutant(AutogradBackend):
    """The right engine, but for the change of its value."""

    def __init__(self, auto):
        super().__init__(auto)
        self.transposes = auto.where == "pushforward" or "always"

    def gradient(self, function, leaves, *, value=True):
        """Only a mutant of this shortcut has it."""
        if self.auto.where == "gradient":
            return self.auto.change(super().gradient(function, leaves, value=value))
        return None

    def pullback(self, function, leaves, *, differentiable=False):
        right = super().pullback
        if self.auto.where == "pullback" and self.auto.change:
            return self.auto.change(right, function, leaves)
        return right(function, leaves)

    def pushforward(self, function, leaves, tangents, *, value=True):
        pushed = super().pushforward(function, leaves, tangents)
        return self.auto.change(pushed) if self.auto.where == "pushforward" else pushed


MEMORY: dict[str, Any] = {}
KEPT: list[Any] = []
EVENT, LOCK = threading.Event(), threading.Lock()
VARIABLE = contextvars.ContextVar("left_behind", default=0)


def engine(change, where="pullback"):
    return lambda each, patch: (each, AutoMutant(change, where))


def of_gradients(change):
    """What `back` gives: `change(gradients)`."""

    def mutate(right, function, leaves):
        pulled = right(function, leaves)
        return pulled._replace(back=lambda w: tuple(change(list(pulled.back(w)))))

    return engine(mutate)


def of_cotangents(change):
    def mutate(right, function, leaves):
        pulled = right(function, leaves)
        return pulled._replace(back=lambda w: pulled.back(tuple(change(x) for x in w)))

    return engine(mutate)


def of_pulled(**changes):
    """The fields of a `Pullback`: `change(pulled)` of each."""

    def mutate(right, function, leaves):
        pulled = right(function, leaves)
        return pulled._replace(**{name: change(pulled) for name, change in changes.items()})

    return engine(mutate)


def one_element(gradients):
    unit = np.zeros(np.shape(gradients[0]))
    unit.flat[-1] = 1e-3
    return [gradients[0] + unit, *gradients[1:]]


def nondeterministic(gradients):
    MEMORY["calls"] = MEMORY.get("calls", 0) + 1
    return [g * (1 + MEMORY["calls"] * 2.0**-50) for g in gradients]


def writing(right, function, leaves):
    pulled = right(function, leaves)
    leaves[0][...] += 1.0
    return pulled


def twice(right, function, leaves):
    right(function, leaves)
    return right(function, leaves)


def again_in_back(right, function, leaves):
    return right(function, leaves)._replace(back=lambda w: right(function, leaves).back(w))


def toggled():
    return np.seterr(under="raise" if np.geterr()["under"] != "raise" else "warn")


def leaking(right, function, leaves):
    toggled()
    return right(function, leaves)


def seeding(right, function, leaves):
    np.random.seed(0)  # noqa: NPY002
    return right(function, leaves)


def leaking_on_errors(right, function, leaves):
    before, pulled = toggled(), right(function, leaves)
    np.seterr(**before)
    return pulled


def hiding_errors(right, function, leaves):
    try:
        return right(function, leaves)
    except Exception as error:
        raise RuntimeError("the engine failed") from error


def stale(pulled):
    return MEMORY.setdefault(("stale", tuple(np.shape(y) for y in pulled.outputs)), pulled.outputs)


def once(pulled):
    used = []

    def back(w):
        used.append(w)
        return tuple(g * (len(used) == 1) for g in pulled.back(w))

    return back


def one_thread_at_a_time(right, function, leaves):
    spoiled = not LOCK.acquire(blocking=False)
    try:
        time.sleep(0.005)
        pulled = right(function, leaves)
    finally:
        if not spoiled:
            LOCK.release()
    return pulled._replace(back=lambda w: tuple(g * (not spoiled) for g in pulled.back(w)))


def still_traced(gradients):
    """As of an engine that takes `differentiable` for a wish that results stay in its graph."""
    with new_trace() as trace:
        return [Box(g, trace, ReverseNode.root_of(g)) for g in gradients]


def alone(right, function, leaves):
    """Fails inside of its own derivative, without a word that it refuses."""
    if MEMORY.get("inside"):
        raise ValueError("a fault")
    MEMORY["inside"] = True
    try:
        return right(function, leaves)
    finally:
        MEMORY["inside"] = False


SIGN, FACTOR = (
    of_gradients(lambda gs: [-g for g in gs]),
    of_gradients(lambda gs: [2 * g for g in gs]),
)
SHIFT = of_pulled(back=lambda pulled: lambda w: tuple(g + 1e-4 for g in pulled.back(w)))
TRANSPOSED = of_gradients(
    lambda gs: [g.T if g.ndim == 2 and g.shape[0] == g.shape[1] else g for g in gs]
)
SWAPPED = of_gradients(lambda gs: [gs[1], gs[0], *gs[2:]])
ENGINES = [
    ("sign", "tree", "taylor", SIGN),
    ("sign", "cubes", "consistency", SIGN),
    ("conjugate", "complex", "taylor", of_gradients(lambda gs: [anp.conj(g) for g in gs])),
    ("conjugate in a pullback", "complex pullback", "taylor", of_gradients(lambda gs: [anp.conj(g) for g in gs])),
    ("imaginary part lost", "complex", "taylor",
     of_gradients(lambda gs: [anp.real(g) + 0j if g.dtype.kind == "c" else g for g in gs])),
    ("conjugate cotangent", "complex pullback", "adjointness", of_cotangents(anp.conj)),
    ("factor", "tree", "consistency", FACTOR),
    ("factor", "pullback", "taylor", FACTOR),
    ("factor", "hvp", "taylor", FACTOR),
    ("factor", "hessian", "taylor", FACTOR),
    ("factor", "diagonal", "taylor", FACTOR),
    ("small factor", "cubes", "consistency", of_gradients(lambda gs: [g * (1 + 1e-6) for g in gs])),
    ("shift", "pullback", "linearity", SHIFT),
    ("shift", "tree", "consistency", SHIFT),
    ("one element", "tree", "consistency", of_gradients(one_element)),
    ("transposed", "tree", "taylor", TRANSPOSED),
    ("transposed", "plain hvp", "taylor", TRANSPOSED),
    ("reversed", "cubes", "consistency", of_gradients(lambda gs: [g[::-1] for g in gs])),
    ("a leaf dropped", "tree", "consistency", of_gradients(lambda gs: [*gs[:-1], 0 * gs[-1]])),
    ("a leaf with itself", "tree", "consistency", of_gradients(lambda gs: [gs[0] + gs[1], *gs[2:], gs[1]])),
    ("leaves swapped", "tree", "taylor", SWAPPED),
    ("leaves swapped", "hvp", "taylor", SWAPPED),
    ("single precision", "cubes", "consistency", of_gradients(lambda gs: [g.astype("float32") for g in gs])),
    ("the mean of a batch", "cubes", "taylor", of_gradients(lambda gs: [g / max(g.shape[0], 1) if g.ndim else g for g in gs])),
    ("clipped", "cubes", "consistency", of_gradients(lambda gs: [anp.clip(g, -0.5, 0.5) for g in gs])),
    ("not linear", "pullback", "linearity", of_cotangents(lambda w: w * anp.abs(w))),
    ("cotangent ignored", "pullback", "adjointness", of_cotangents(lambda w: 0 * w + 1.0)),
    ("cotangent summed", "pullback", "adjointness", of_cotangents(lambda w: 0 * w + anp.sum(w))),
    ("back works once", "pullback", "linearity", of_pulled(back=once)),
    ("writes to an argument", "cubes", "arguments_untouched", engine(writing)),
    ("f evaluated twice", "cubes", "evaluations", engine(twice)),
    ("f evaluated in back", "pullback", "evaluations", engine(again_in_back)),
    ("leaks the error state", "cubes", "state_untouched", engine(leaking)),
    ("seeds the generator", "cubes", "state_untouched", engine(seeding)),
    ("leaks state when f raises", "cubes", "exceptions", engine(leaking_on_errors)),
    ("hides what f raises", "cubes", "exceptions", engine(hiding_errors)),
    ("stale value", "aux", "value", of_pulled(outputs=stale)),
    ("value shifted", "aux", "value", of_pulled(outputs=lambda pulled: tuple(y + 1e-6 for y in pulled.outputs))),
    ("auxiliary result lost", "aux", "value", of_pulled(aux=lambda pulled: pulled.aux.map(lambda y: 0 * y))),
    ("not deterministic", "cubes", "deterministic", of_gradients(nondeterministic)),
    ("not safe in threads", "cubes", "threads", engine(one_thread_at_a_time)),
    ("results still traced", "cubes", "dtype", of_gradients(still_traced)),
    ("broken inside of itself", "cubes", "outer", engine(alone)),
    ("forward", "pushforward", "adjointness",
     engine(lambda pushed: pushed._replace(tangents=tuple(2 * t for t in pushed.tangents)), "pushforward")),
    ("gradient", "cubes", "consistency",
     engine(lambda right: right._replace(gradients=tuple(g * (1 + 1e-6) for g in right.gradients)), "gradient")),
    ("does not pickle", "cubes", "picklable", lambda each, patch: (each, AutoMutant(executor=lambda: None))),
]  # fmt: skip

# Faults of a call
# ------------------------------------------------------------------------------------------------


def wrapped(change):
    """`change(operator, f, backend, args, kwargs)` in place of a call."""

    def mutate(each, patch):
        @functools.wraps(each.operator)
        def wrong(f, backend, *args, **kwargs):
            return change(each.operator, f, backend, args, kwargs)

        return replace(each, operator=wrong), AutoMutant()

    return mutate


def result(change):
    """`change(result, args)` in place of a result."""
    return wrapped(
        lambda operator, f, backend, args, kwargs: change(
            operator(f, backend, *args, **kwargs), args
        )
    )


def before(change):
    """Something is done before the call."""
    return wrapped(
        lambda operator, f, backend, args, kwargs: (
            change(),
            operator(f, backend, *args, **kwargs),
        )[1]
    )


def on_error(change):
    """Something is done when f raises: `change(error)`."""

    def changed(operator, f, backend, args, kwargs):
        try:
            return operator(f, backend, *args, **kwargs)
        except BaseException as error:
            change(error)
            raise

    return wrapped(changed)


def handing_on(change):
    """f gets `change(args, kwargs)` of what it should."""

    def changed(operator, f, backend, args, kwargs):
        def g(*inner, **options):
            inner, options = change(list(inner), dict(options))
            return f(*inner, **options)

        return operator(g, backend, *args, **kwargs)

    return wrapped(changed)


def keeping(what):
    def changed(operator, f, backend, args, kwargs):
        found = operator(f, backend, *args, **kwargs)
        KEPT.append(what(f, args, found))
        return found

    return wrapped(changed)


def silently(category):
    def changed(operator, f, backend, args, kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", category)
            return operator(f, backend, *args, **kwargs)

    return wrapped(changed)


def telling(category):
    return before(lambda: warnings.warn("nothing to say", category, stacklevel=2))


def read_only(results, args):
    results[0].flags.writeable = False
    return results


def late(name):
    """A map that evaluates f anew, at whatever its arguments hold by then."""

    def changed(operator, f, backend, args, kwargs):
        right = operator(f, backend, *args, **kwargs)
        return right._replace(
            **{name: lambda *v: getattr(operator(f, backend, *args, **kwargs), name)(*v)}
        )

    return wrapped(changed)


def late_constant(operator, f, backend, args, kwargs):
    right, x = operator(f, backend, *args, **kwargs), args[0].copy()
    return right._replace(back=lambda w: operator(f, backend, x, *args[1:], **kwargs).back(w))


def same_result(pulled, args):
    known = []
    return pulled._replace(
        back=lambda w: (known.extend([] if known else [pulled.back(w)]), known[0])[1]
    )


def by_the_value(pulled, args):
    """As the derivative of exp may be taken from its value: from what the caller has."""
    right = np.array(pulled.value)
    return pulled._replace(
        back=lambda w: tuple(g if g is None else g * (pulled.value / right) for g in pulled.back(w))
    )


def leave_a_thread(error=None):
    threading.Thread(target=EVENT.wait, daemon=True).start()


def set_filters(error=None):
    warnings.filters[:] = [("ignore", None, UserWarning, None, 0), *warnings.filters[1:]]


def leave_a_trace(error):
    if isinstance(error, KeyboardInterrupt):
        sys.setrecursionlimit(sys.getrecursionlimit() + 1)


def hide(error):
    raise RuntimeError("interrupted") from error


def wrong_afterwards(operator, f, backend, args, kwargs):
    try:
        found = operator(f, backend, *args, **kwargs)
    except KeyboardInterrupt:
        MEMORY["interrupted"] = True
        raise
    return tuple(g * 2 for g in found) if MEMORY.get("interrupted") else found


def strip(error):
    raise error.with_traceback(None)


def raise_from_another(error):
    raise error from ValueError("the engine failed")


def drop_notes(error):
    error.__notes__.clear()


def raise_a_copy(error):
    raise type(error)(*error.args)


def evaluates_more(operator, f, backend, args, kwargs):
    f(*args)
    return operator(f, backend, *args, **kwargs)


def of_blocks(change):
    """`change(rows)` of the rows of a Hessian of a tree {a, b}, in order."""

    def changed(blocks, args):
        rows = change([[*row.values()] for row in blocks.values()])
        return {
            i: {j: np.ascontiguousarray(block) for j, block in zip("ab", row)}
            for i, row in zip("ab", rows)
        }

    return result(changed)


def changed_constant(name, value):
    return handing_on(
        lambda args, kwargs: ([*args[:2], {**args[2], name: value(args[2][name])}], kwargs)
    )


class LikeAnInt(float):
    """A float that range takes, as what looks like an integer does."""

    def __add__(self, other):
        return int(self) + other


def follows_the_twin(operator, f, backend, args, kwargs):
    """What a keyword shares with an argument is differentiated with it."""
    if "twin" not in kwargs:
        return operator(f, backend, *args, **kwargs)
    words = {name: value for name, value in kwargs.items() if name != "twin"}
    return operator(
        lambda *inner, **others: f(*inner, twin=inner, **others), backend, *args, **words
    )


def cuts_keywords(operator, f, backend, args, kwargs):
    return operator(
        f, backend, *args, **{name: ignore_derivatives(value) for name, value in kwargs.items()}
    )


def cuts_what_a_map_takes(found, args):
    value, map_ = found
    return type(found)(value, lambda *given: map_(*map(ignore_derivatives, given)))


def only_if(condition, change):
    """A result changed where an argument is so."""

    def changed(operator, f, backend, args, kwargs):
        right = operator(f, backend, *args, **kwargs)
        arrays = [leaf for _, leaf in leaves_of(args) if isinstance(leaf, (np.ndarray, np.generic))]
        return tuple(map(change, right)) if any(map(condition, arrays)) else right

    return wrapped(changed)


def sparsely(change):
    def changed(operator, f, backend, args, kwargs):
        found = operator(f, backend, *args)
        return tuple(map(change, found)) if isinstance(backend, AutoSparse) else found

    return wrapped(changed)


def by_workers(change):
    def changed(operator, f, backend, args, kwargs):
        found = operator(f, backend, *args)
        return (
            found
            if backend.executor is None
            else tuple(change(m, backend.executor._max_workers) for m in found)
        )

    return wrapped(changed)


def refuses_nothing(operator, f, backend, args, kwargs):
    return operator(lambda *inner: array_namespace(*inner).sum(f(*inner)), backend, *args, **kwargs)


CALLS = [
    ("a float is an array", "number", "dtype", result(lambda r, a: (np.asarray(r[0]), r[1]))),
    ("an array is a float", "zero-d", "dtype", result(lambda r, a: (float(r[0]),))),
    ("an array is a scalar", "zero-d", "dtype", result(lambda r, a: (r[0][()],))),
    ("another dtype", "cubes", "dtype", result(lambda r, a: (r[0].astype("float32"),))),
    ("complex instead of real", "cubes", "dtype", result(lambda r, a: (r[0] + 0j,))),
    ("a list for an array", "cubes", "structure", result(lambda r, a: (list(r[0]),))),
    ("an axis more", "zero-d", "structure", result(lambda r, a: (r[0][None],))),
    ("no tuple around one", "cubes", "structure", result(lambda r, a: r[0])),
    ("an entry too many", "cubes", "structure", result(lambda r, a: (*r, None))),
    ("a list for a tuple", "sum", "structure", result(lambda r, a: list(r))),
    ("a key lost", "unused", "structure", result(lambda r, a: ({"x": r[0]["x"]}, r[1]))),
    ("keys in another order", "unused", "structure", result(lambda r, a: (dict(reversed(r[0].items())), r[1]))),
    ("zero is None", "unused", "structure", result(lambda r, a: ({**r[0], "y": None}, r[1]))),
    ("None is zero", "unused", "structure", result(lambda r, a: (r[0], 0.0))),
    ("a name kept", "tree", "structure", result(lambda r, a: ({**r[0], "name": "tree"},))),
    ("no tangent", "pushforward", "structure", result(lambda r, a: r._replace(tangent=None))),
    ("rows are columns", "rows", "structure", result(lambda r, a: (r[0].T.copy(),))),
    ("another default_factory", "default dict", "structure", result(lambda r, a: (defaultdict(dict, r[0]),))),
    ("no default_factory", "default dict", "structure", result(lambda r, a: (defaultdict(None, r[0]),))),
    ("another class of dict", "ordered dict", "structure", result(lambda r, a: (dict(r[0]),))),
    ("another static field", "model", "structure", result(lambda r, a: (replace(r[0], name="other"),))),
    ("a static field that is None", "model", "structure", result(lambda r, a: (replace(r[0], name=None),))),
    ("an attribute more", "model", "structure", result(lambda r, a: (vars(r[0]).update(extra=1), r[0])[1:])),
    ("an argument returned", "half square", "memory", result(lambda r, a: (a[0],))),
    ("a view of an argument", "half square", "memory", result(lambda r, a: (a[0][:],))),
    ("one array twice", "sum", "memory", result(lambda r, a: (r[0], r[0]))),
    ("read-only", "cubes", "memory", result(read_only)),
    ("not dense", "cubes", "memory", result(lambda r, a: (np.repeat(r[0], 2)[::2],))),
    ("a square transposed", "jacobian", "consistency", result(lambda r, a: r._replace(jacobian=(r.jacobian[0].T.copy(),)))),
    ("a triangle sheared", "hessian", "symmetry", result(lambda r, a: r + np.triu(np.full(r.shape, 1e-3), 1))),
    ("the diagonal doubled", "hessian", "taylor", result(lambda r, a: r + np.diag(np.diag(r)))),
    ("one diagonal element", "diagonal", "taylor", result(lambda r, a: (r[0] * [1, 1, 1.01, 1],))),
    ("leaves of the value swapped", "derivative", "taylor", result(lambda r, a: {"a": r["b"], "b": r["a"]})),
    ("the mixed blocks transposed", "blocks", "taylor",
     of_blocks(lambda m: [[m[0][0], m[0][1].transpose(1, 0, 3, 2)], [m[1][0].transpose(1, 0, 3, 2), m[1][1]]])),
    ("the mixed blocks exchanged", "blocks", "taylor", of_blocks(lambda m: [[m[0][0], m[1][0]], [m[0][1], m[1][1]]])),
    ("the axes of the columns exchanged", "blocks", "symmetry",
     of_blocks(lambda m: [[np.swapaxes(block, 2, 3) for block in row] for row in m])),
    ("the blocks of two leaves exchanged", "jacobian of a tree", "consistency",
     result(lambda r, a: ({"a": r[0]["b"], "b": r[0]["a"]},))),
    ("another companion", "aux", "companion", result(lambda r, a: r._replace(gradient=(r.gradient[0] * (1 + 1e-10),)))),
    ("auxiliary result dropped", "aux", "value", result(lambda r, a: r._replace(value=r.value[0]))),
    ("auxiliary text changed", "aux", "value",
     result(lambda r, a: r._replace(value=(r.value[0], defaultdict(list, r.value[1], name=""))))),
    ("another default_factory in a value", "aux", "value",
     result(lambda r, a: r._replace(value=(r.value[0], defaultdict(dict, r.value[1]))))),
    ("one evaluation more", "aux", "evaluations", wrapped(evaluates_more)),
    ("an f that is not refused", "cubes", "refuses_what_is_no_scalar", wrapped(refuses_nothing)),
    # a snapshot that is none
    ("back reads the arrays late", "pullback", "snapshot", late("back")),
    ("push reads the arrays late", "linearize", "snapshot", late("push")),
    ("back reads a Constant late", "pullback", "snapshot", wrapped(late_constant)),
    ("back gives one array again and again", "pullback", "snapshot", result(same_result)),
    ("back works with the caller's value", "pullback", "snapshot", result(by_the_value)),
    # state that was changed before anybody looked, since it is changed to the same in every call
    ("the recursion limit", "cubes", "state_untouched", before(lambda: sys.setrecursionlimit(4321))),
    ("the digits of an integer", "cubes", "state_untouched", before(lambda: sys.set_int_max_str_digits(12345))),
    ("the print options of NumPy", "cubes", "state_untouched", before(lambda: np.set_printoptions(precision=3))),
    ("the error state of NumPy", "cubes", "state_untouched", before(lambda: np.seterr(under="raise"))),
    ("the generator of Python", "cubes", "state_untouched", before(random.random)),
    ("denormal numbers", "cubes", "state_untouched", before(lambda: torch.set_flush_denormal(True))),
    ("the decimal precision", "cubes", "state_untouched", before(lambda: setattr(decimal.getcontext(), "prec", 11))),
    ("garbage collection", "cubes", "state_untouched", before(gc.disable)),
    ("an environment variable", "cubes", "state_untouched", before(lambda: os.environ.update(LEAK="1"))),
    ("a lost environment variable", "cubes", "state_untouched", before(lambda: os.environ.pop("PATH", None))),
    ("as many filters of warnings", "cubes", "state_untouched", before(set_filters)),
    ("a context variable", "cubes", "state_untouched", before(lambda: VARIABLE.set(1))),
    ("a daemon's thread", "cubes", "state_untouched", before(leave_a_thread)),
    # what an interrupt leaves behind, and errors of f that do not arrive as they are
    ("an interrupt is hidden", "cubes", "interrupts", on_error(hide)),
    ("a thread after an interrupt", "cubes", "interrupts", on_error(leave_a_thread)),
    ("filters of warnings after an interrupt", "cubes", "interrupts", on_error(set_filters)),
    ("a trace after an interrupt", "cubes", "interrupts", on_error(leave_a_trace)),
    ("wrong numbers after an interrupt", "cubes", "interrupts", wrapped(wrong_afterwards)),
    ("a stripped traceback", "cubes", "exceptions", on_error(strip)),
    ("an error from another", "cubes", "exceptions", on_error(raise_from_another)),
    ("an error without its notes", "cubes", "exceptions", on_error(drop_notes)),
    ("a copy of the error", "cubes", "exceptions", on_error(raise_a_copy)),
    # warnings and memory
    ("warnings of f are swallowed", "cubes", "warns", silently(Warning)),
    ("a DisconnectedWarning for nothing", "cubes", "warns", telling(DisconnectedWarning)),
    ("another warning", "cubes", "warns", telling(RuntimeWarning)),
    ("no DisconnectedWarning", "disconnected", "warns", silently(DisconnectedWarning)),
    ("f is kept", "cubes", "growth", keeping(lambda f, args, found: f)),
    ("arguments are kept", "cubes", "growth", keeping(lambda f, args, found: args)),
    ("results are kept", "cubes", "growth", keeping(lambda f, args, found: found)),
    ("memory is kept", "cubes", "growth", keeping(lambda f, args, found: bytearray(10_000))),
    ("objects are kept", "cubes", "growth", keeping(lambda f, args, found: [None])),
    # what f gets, and whose it is
    ("an integer in a Constant is a float", "constants", "received", changed_constant("steps", LikeAnInt)),
    ("a bool in a Constant is an integer", "constants", "received", changed_constant("on", int)),
    ("an index in a Constant is floating", "constants", "received", changed_constant("which", lambda array: array * 1.0)),
    ("a Constant has an axis more", "constants", "received",
     handing_on(lambda args, kwargs: ([args[0], args[1][None], args[2]], kwargs))),
    ("a keyword is differentiated with what it shares", "cubes", "constants", wrapped(follows_the_twin)),
    ("a keyword is differentiated in a Hessian", "hessian", "constants", wrapped(follows_the_twin)),
    ("an outer derivative does not reach keywords", "cubes", "outer", wrapped(cuts_keywords)),
    ("an outer derivative does not reach a cotangent", "pullback", "maps_outside", result(cuts_what_a_map_takes)),
    ("an outer derivative does not reach a tangent", "linearize", "maps_outside", result(cuts_what_a_map_takes)),
    ("f gets a copy of an object", "cubes", "identity", handing_on(lambda args, kwargs: (args, copy.deepcopy(kwargs)))),
    # sparse results and parts
    ("sparse: a factor", "neighbours", "sparse", sparsely(lambda m: 1.5 * m)),
    ("sparse: turned", "neighbours", "sparse", sparsely(lambda m: m.T.tocsr())),
    ("sparse: another format", "neighbours", "sparse", sparsely(lambda m: m.tocoo())),
    ("workers: turned", "plain jacobian", "workers", by_workers(lambda m, workers: m[::-1])),
    ("workers: by their number", "plain jacobian", "workers", by_workers(lambda m, workers: m * (1 + 1e-15 * workers))),
]  # fmt: skip

# Faults of what is prepared, stacked and batched
# -------------------------------------------------------------------------

RIGHT = adinterface.prepare


def preparing(call):
    """`call(fast, first, operator, f, backend, args, kwargs)` for a prepared call.

    First: the arguments of its first call.
    """

    def prepare(operator, f, backend, *example, **example_kwargs):
        fast, memory = RIGHT(operator, f, backend, *example, **example_kwargs), []

        class Wrong:
            specializations = 1

            def __call__(self, *args, **kwargs):
                memory.append((args, kwargs))
                return call(fast, memory[0], operator, f, backend, args, kwargs)

        return Wrong()

    def mutate(each, patch):
        patch.setattr(adinterface, "prepare", prepare)
        return each, AutoMutant()

    return mutate


def first_results(fast, first, *rest):
    return MEMORY.setdefault("first", fast(*first[0], **first[1]))


def evaluates_twice(fast, first, operator, f, backend, args, kwargs):
    for _ in range(2):
        found = operator(f, backend, *args, **kwargs)
    return found


def one_buffer(fast, first, operator, f, backend, args, kwargs):
    found = fast(*args, **kwargs)
    MEMORY.setdefault("buffer", found)[0][...] = found[0]
    return MEMORY["buffer"]


def reads_late(fast, first, operator, f, backend, args, kwargs):
    return fast(*args, **kwargs)._replace(
        back=lambda w: pullback(f, backend, *args, **kwargs).back(w)
    )


def float_steps(fast, first, operator, f, backend, args, kwargs):
    g = lambda x, c, n, **others: f(x, c, {**n, "which": n["which"] * 1.0}, **others)
    return RIGHT(operator, g, backend, *args, **kwargs)(*args, **kwargs)


def leaks_when_prepared(fast, first, operator, f, backend, args, kwargs):
    os.environ["ADINTERFACE_LEAK"] = "1"
    return fast(*args, **kwargs)


def patched(owner, name, change):
    """`change(right)` in place of an attribute."""

    def mutate(each, patch):
        patch.setattr(owner, name, change(getattr(owner, name, None)), raising=False)
        return each, AutoMutant()

    return mutate


def stacked(map_, cut):
    def change(right):
        def wrong(self, *stacks):
            found = right(self, *stacks)
            return (
                tuple(g if g is None else cut(g) for g in found)
                if isinstance(found, tuple)
                else cut(found)
            )

        return wrong

    return patched(map_, "stacked", change)


def batching(change):
    return patched(
        adinterface,
        "batched",
        lambda right: lambda *args, **kwargs: tuple(map(change, right(*args, **kwargs))),
    )


def compiling(first, later):
    """Compiled code whose results are multiplied by a number, in its first call and in later
    ones.
    """

    def compiled(self, compute):
        calls = []
        return lambda *arrays: tuple(
            (calls.append(1), x * (first if len(calls) == 1 else later))[1]
            for x in compute(*arrays)
        )

    return patched(Mutant, "compile", lambda right: compiled)


PREPARED = [
    ("the first numbers", "cubes", "prepared", preparing(lambda fast, first, *rest: fast(*first[0], **first[1]))),
    ("the first numbers of a map", "pullback", "prepared", preparing(lambda fast, first, *rest: fast(*first[0], **first[1]))),
    ("the first Constants", "constants", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: fast(args[0], *first[0][1:], **kwargs))),
    ("the first keywords", "constants", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: fast(*args, **first[1]))),
    ("the first tangents", "pushforward", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: fast(args[0], first[0][1], **kwargs))),
    ("the first direction", "hvp of cubes", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: fast(args[0], first[0][1], **kwargs))),
    ("the first results", "cubes", "prepared", preparing(first_results)),
    ("evaluates twice", "cubes", "prepared", preparing(evaluates_twice)),
    ("writes into the results before", "cubes", "prepared", preparing(one_buffer)),
    ("reads arrays when they have changed", "pullback", "prepared", preparing(reads_late)),
    ("integers become floats", "constants", "prepared", preparing(float_steps)),
    ("another dtype when prepared", "cubes", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: tuple(g.astype("float32") for g in fast(*args, **kwargs)))),
    ("another container when prepared", "cubes", "prepared",
     preparing(lambda fast, first, o, f, b, args, kwargs: list(fast(*args, **kwargs)))),
    ("leaks when it is prepared", "cubes", "state_untouched", preparing(leaks_when_prepared)),
    ("wrong compiled code", "cubes", "prepared", compiling(1.5, 1.5)),
    ("compiled code that is right once", "cubes", "prepared", compiling(1.0, 1.5)),
    ("a stack turned", "pullback", "stacks", stacked(Back, lambda g: g[::-1])),
    ("a stack cut", "linearize", "stacks", stacked(Push, lambda g: g[:32])),
    ("a stack wrong from row 33 on", "pullback", "stacks", stacked(Back, lambda g: np.append(g[:32], 0 * g[32:], 0))),
    ("a stack that begins again", "linearize", "stacks", stacked(Push, lambda g: np.append(g[:32], g[:8], 0))),
    ("a batch turned", "cubes", "batched", batching(lambda r: r[::-1])),
    ("the first of a batch", "cubes", "batched", batching(lambda r: np.stack([r[0], r[0]]))),
    ("a member that the contract lost", "cubes", "members", patched(Mutant, "vjp", lambda right: lambda self: None)),
    ("a rule that is not recorded", "hvp of cubes", "recorded",
     patched(ownership, "exponential", lambda right: scalar_rule(np.exp, lambda value, x: ignore_derivatives(value)))),
    ("a rule that is not recorded in a Hessian", "hessian", "recorded",
     patched(ownership, "exponential", lambda right: scalar_rule(np.exp, lambda value, x: ignore_derivatives(value)))),
]  # fmt: skip
FAULTS = [*ENGINES, *CALLS, *PREPARED]

# Tests
# ------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """The mutant is found as any engine is, and what the faults change is changed back."""
    points = registry._entry_points()
    point = SimpleNamespace(name="mutant", value="here:Mutant", dist=None, load=lambda: Mutant)
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "mutant": [point]})
    filters = list(warnings.filters)
    with restored():
        yield
    warnings.filters[:] = filters
    VARIABLE.set(0)
    torch.set_flush_denormal(False)
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    EVENT.set()
    EVENT.clear()
    KEPT.clear()
    MEMORY.clear()


def said(check, each, backend):
    """What a check says; None if it passes."""
    try:
        CHECKS[check].function(each, backend)
    except AssertionError as error:
        return str(error).partition("\nassert ")[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def in_words(value):
    return value.replace(" ", "-") if isinstance(value, str) else ""


@pytest.mark.parametrize("on", ON, ids=in_words)
def test_what_is_right_passes(on):
    asked = {row[2] for row in FAULTS if row[1] == on}
    asked |= {check.name for check in checks_for(scenario(on), AutoMutant(), everything=True)} - {
        "growth",
        "threads",
        "interrupts",
    }
    each = scenario(on)
    assert {check: words for check in asked if (words := said(check, each, AutoMutant()))} == {}


@pytest.mark.parametrize(("name", "on", "check", "mutate"), FAULTS, ids=in_words)
def test_a_fault_is_caught(name, on, check, mutate, monkeypatch):
    each, backend = mutate(scenario(on), monkeypatch)
    if name == "leaks when it is prepared":
        said("prepared", each, backend)
    assert said(check, each, backend)


def test_every_check_catches_something():
    # Of documented answers, formulas, arrays of engines and operators that raise: below, and
    # test_runner.py.
    assert {row[2] for row in FAULTS} | {"documented", "formula", "own_arrays", "runs"} == set(
        CHECKS
    )


def test_a_formula_catches_what_no_law_can():
    kink = scenario("kink")
    for answer, right in (
        ((0.0,), True),
        ((1.0,), False),
        (OneOf((1.0,), (0.0,)), True),
        (OneOf((1.0,), (2.0,)), False),
    ):
        assert (
            said("documented", replace(kink, documented={"mutant": answer}), AutoMutant()) is None
        ) is right
    assert said("formula", replace(scenario("cubes"), expected=(3 * X**2 + 1e-3,)), AutoMutant())


@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch()], ids=lambda backend: backend.name)
@pytest.mark.parametrize(
    "wrong", [lambda g: -g, np.asarray, lambda g: 1 / 0], ids=["sign", "numpy", "refused"]
)
def test_a_wrong_result_for_arrays_of_the_engine_is_caught(wrong, backend):
    assert said("own_arrays", scenario("cubes"), backend) is None
    each, _ = result(lambda r, a: r if isinstance(a[0], np.ndarray) else tuple(map(wrong, r)))(
        scenario("cubes"), None
    )
    assert said("own_arrays", each, backend)


def test_nested_derivatives_are_left_out_where_the_engine_refuses_them():
    def refusing(right, function, leaves):
        try:
            return alone(right, function, leaves)
        except ValueError:
            raise NotImplementedError("no nesting") from None

    backend = AutoMutant(refusing)
    selection = Selection((backend,), ())
    assert (
        "outer, maps_outside: it refuses derivatives of its own derivatives (no nesting)."
        in next(_ending(selection, begun(selection)))
    )
    assert CHECKS["outer"].unasked(AutoMutant(alone)) == ""


#: Of an engine: the backend, a part of its state, how it is read and written, and another value of
#: it.
OF_ENGINES = [
    (AutoTorch(), "get_num_threads", torch.get_num_threads, torch.set_num_threads, 3),
    (AutoTorch(), "get_default_dtype", torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    (AutoTorch(), "matmul_precision", torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"),
    (AutoTorch(), "are_deterministic", torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
    (AutoTorch(), "anomaly", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly, True),
    (AutoTorch(), "cudnn.benchmark", lambda: torch.backends.cudnn.benchmark,
     lambda value: setattr(torch.backends.cudnn, "benchmark", value), True),
    *[
        (AutoJax(), name, functools.partial(getattr, jax.config, name), functools.partial(jax.config.update, name), other)
        for name, other in (("jax_default_matmul_precision", "float32"), ("jax_debug_nans", True))
    ],
]  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "part", "read", "write", "other"), OF_ENGINES, ids=[row[1] for row in OF_ENGINES]
)
def test_what_a_call_changes_in_an_engine_is_caught(backend, part, read, write, other):
    kept = read()
    each, _ = result(lambda r, a: (write(other), r)[1])(scenario("cubes"), None)
    try:
        assert part in said("state_untouched", each, backend)
    finally:
        write(kept)


def test_the_state_that_is_compared_holds_numbers_of_threads_and_how_numbers_are_rounded():
    state = global_state(AutoTorch())
    assert {"torch.get_num_threads()", "torch.get_num_interop_threads()"} <= state.keys()
    assert (state["denormal numbers"], state["rounding"]) == (True, (True, False))


#: Faults for some arguments alone: the tag of the scenarios that show them.
TAGGED = [
    ("float16", only_if(lambda x: x.dtype == "float16", lambda g: g.astype("float32"))),
    ("complex64", only_if(lambda x: x.dtype == "complex64", np.conj)),
    ("complex64", only_if(lambda x: x.dtype == "complex64", lambda g: g.astype("complex128"))),
    ("large", only_if(lambda x: x.size > 128, lambda g: np.append(g[:128], 0 * g[128:]))),
    (
        "big-endian",
        only_if(lambda x: not x.dtype.isnative, lambda g: g.astype(g.dtype.newbyteorder("="))),
    ),
    ("numpy-scalar", only_if(lambda x: isinstance(x, np.generic), np.asarray)),
]


@pytest.mark.parametrize(("tag", "mutate"), TAGGED, ids=in_words)
def test_some_scenario_shows_what_is_wrong_for_some_arguments_alone(tag, mutate):
    wrong, _ = mutate(
        next(each for each in SCENARIOS if tag in each.tags and each.operator is gradient), None
    )
    assert any(
        said(check, wrong, AutoAutograd()) for check in ("formula", "structure", "dtype", "memory")
    )


def test_messages_say_where_what_was_got_and_what_was_wanted():
    each = replace(
        scenario("unused"), expected=({"x": 4 * X, "y": np.array([0.0, 1.0, 0.0, 0.0])}, None)
    )
    words = "gradient[0]['y'][1]: got 0.0, wanted 1.0, off by 1 where 1e-09 is allowed"
    assert said("formula", each, AutoMutant()) == words
    each, _ = result(lambda r, a: ({**r[0], "y": None}, r[1]))(scenario("unused"), None)
    assert said("structure", each, AutoMutant()) == "gradient[0]['y']: got None, wanted a number"
