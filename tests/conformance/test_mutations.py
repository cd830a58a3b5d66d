"""The checks have teeth: an engine, or an operator, that is wrong in one way is caught, and by the check that should.

Each mutation is an otherwise right engine (that of autograd) with one thing changed, or an operator whose result is
changed in one thing. No scenario here has a closed form: the laws alone catch them all.
"""

import threading
import time
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_autograd.repairs.box import Box
from adinterface_autograd.repairs.reverse import ReverseNode
from adinterface_autograd.repairs.traces import new_trace
from adinterface_conformance import CHECKS, OneOf, Scenario
from adinterface_conformance.checks import checks_for
from adinterface_conformance.runner import Selection, _ending, begun
from test_mutations_of_calls import CAUGHT as CALLS_CAUGHT

from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
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

# The engine ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AutoMutant(AutoBackend):
    name = "mutant"
    kind: str = ""
    option: Any = None


class Mutant(AutogradBackend):
    """The right engine, but for what `ENGINE[kind]` does to its pullback, or `FORWARD[kind]` to its pushforward."""

    def __init__(self, auto):
        super().__init__(auto)
        self.transposes = auto.kind == "forward" or "always"

    def gradient(self, function, leaves, *, value=True):
        """Only a mutant of this shortcut has it."""
        if self.auto.kind != "gradient":
            return None
        right = super().gradient(function, leaves, value=value)
        return right._replace(gradients=tuple(g * (1 + 1e-6) for g in right.gradients))

    def pullback(self, function, leaves, *, differentiable=False):
        right = super().pullback
        change = ENGINE.get(self.auto.kind)
        return change(right, function, leaves) if change else right(function, leaves)

    def pushforward(self, function, leaves, tangents, *, value=True):
        pushed = super().pushforward(function, leaves, tangents)
        return pushed._replace(tangents=tuple(2 * t for t in pushed.tangents)) if self.auto.kind == "forward" else pushed


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The mutant, found as any engine is."""
    points = registry._entry_points()
    point = SimpleNamespace(name="mutant", value="here:Mutant", dist=None, load=lambda: Mutant)
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "mutant": [point]})
    monkeypatch.setitem(globals(), "MEMORY", {})


MEMORY: dict[str, Any] = {}


def of_gradients(change):
    """A mutation of what `back` gives: `change(gradients, leaves)`."""

    def mutate(right, function, leaves):
        pulled = right(function, leaves)
        return pulled._replace(back=lambda w: tuple(change(list(pulled.back(w)), leaves)))

    return mutate


def of_cotangents(change):
    """A mutation of what `back` is given."""

    def mutate(right, function, leaves):
        pulled = right(function, leaves)
        return pulled._replace(back=lambda w: pulled.back(tuple(change(x) for x in w)))

    return mutate


def one_element(gradients, leaves):
    unit = np.zeros(np.shape(gradients[0]))
    unit.flat[-1] = 1e-3
    return [gradients[0] + unit, *gradients[1:]]


def nondeterministic(gradients, leaves):
    MEMORY["calls"] = MEMORY.get("calls", 0) + 1
    return [g * (1 + MEMORY["calls"] * 2.0**-50) for g in gradients]


def square_transposed(gradients, leaves):
    return [g.T if g.ndim == 2 and g.shape[0] == g.shape[1] else g for g in gradients]


def writing(right, function, leaves):
    pulled = right(function, leaves)
    leaves[0][...] += 1.0
    return pulled


def twice(right, function, leaves):
    right(function, leaves)
    return right(function, leaves)


def again_in_back(right, function, leaves):
    pulled = right(function, leaves)
    return pulled._replace(back=lambda w: right(function, leaves).back(w))


def leaking(right, function, leaves):
    np.seterr(under="raise" if np.geterr()["under"] != "raise" else "warn")
    return right(function, leaves)


def seeding(right, function, leaves):
    np.random.seed(0)  # noqa: NPY002
    return right(function, leaves)


def leaking_on_errors(right, function, leaves):
    before = np.seterr(under="raise" if np.geterr()["under"] != "raise" else "warn")
    pulled = right(function, leaves)
    np.seterr(**before)
    return pulled


def hiding_errors(right, function, leaves):
    try:
        return right(function, leaves)
    except Exception as error:
        raise RuntimeError("the engine failed") from error


def stale(right, function, leaves):
    pulled = right(function, leaves)
    shapes = tuple(np.shape(y) for y in pulled.outputs)
    return pulled._replace(outputs=MEMORY.setdefault(("stale", shapes), pulled.outputs))


def wrong_value(right, function, leaves):
    pulled = right(function, leaves)
    return pulled._replace(outputs=tuple(y + 1e-6 for y in pulled.outputs))


def wrong_aux(right, function, leaves):
    pulled = right(function, leaves)
    return pulled._replace(aux=pulled.aux.map(lambda y: 0 * y))


def once(right, function, leaves):
    pulled, used = right(function, leaves), []

    def back(w):
        used.append(w)
        return tuple(g * (len(used) == 1) for g in pulled.back(w))

    return pulled._replace(back=back)


def one_thread_at_a_time(right, function, leaves):
    spoiled = not LOCK.acquire(blocking=False)
    try:
        time.sleep(0.005)
        pulled = right(function, leaves)
    finally:
        if not spoiled:
            LOCK.release()
    return pulled._replace(back=lambda w: tuple(g * (not spoiled) for g in pulled.back(w)))


LOCK = threading.Lock()


def affine(right, function, leaves):
    pulled = right(function, leaves)
    return pulled._replace(back=lambda w: tuple(g + 1e-4 for g in pulled.back(w)))


def still_traced(gradients, leaves):
    """As of an engine that takes `differentiable` for a wish that results stay in its graph."""
    with new_trace() as trace:
        return [Box(g, trace, ReverseNode.root_of(g)) for g in gradients]


ENGINE = {
    "sign": of_gradients(lambda gs, xs: [-g for g in gs]),
    "conjugate": of_gradients(lambda gs, xs: [anp.conj(g) for g in gs]),
    "imaginary part lost": of_gradients(lambda gs, xs: [anp.real(g) + 0j if g.dtype.kind == "c" else g for g in gs]),
    "conjugate cotangent": of_cotangents(anp.conj),
    "factor": of_gradients(lambda gs, xs: [2 * g for g in gs]),
    "small factor": of_gradients(lambda gs, xs: [g * (1 + 1e-6) for g in gs]),
    "shift": affine,
    "one element": of_gradients(one_element),
    "transposed": of_gradients(square_transposed),
    "reversed": of_gradients(lambda gs, xs: [g[::-1] for g in gs]),
    "a leaf dropped": of_gradients(lambda gs, xs: [*gs[:-1], 0 * gs[-1]]),
    "a leaf with itself": of_gradients(lambda gs, xs: [gs[0] + gs[1], *gs[1:]]),
    "leaves swapped": of_gradients(lambda gs, xs: [gs[1], gs[0], *gs[2:]]),
    "single precision": of_gradients(lambda gs, xs: [g.astype("float32") for g in gs]),
    "the mean of a batch": of_gradients(lambda gs, xs: [g / max(g.shape[0], 1) if g.ndim else g for g in gs]),
    "clipped": of_gradients(lambda gs, xs: [anp.clip(g, -0.5, 0.5) for g in gs]),
    "not linear": of_cotangents(lambda w: w * anp.abs(w)),
    "cotangent ignored": of_cotangents(lambda w: 0 * w + 1.0),
    "cotangent summed": of_cotangents(lambda w: 0 * w + anp.sum(w)),
    "back works once": once,
    "writes to an argument": writing,
    "f evaluated twice": twice,
    "f evaluated in back": again_in_back,
    "leaks the error state": leaking,
    "seeds the generator": seeding,
    "leaks state when f raises": leaking_on_errors,
    "hides what f raises": hiding_errors,
    "stale value": stale,
    "value shifted": wrong_value,
    "auxiliary result lost": wrong_aux,
    "not deterministic": of_gradients(nondeterministic),
    "not safe in threads": one_thread_at_a_time,
    "results still traced": of_gradients(still_traced),
}

# The scenarios -------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(7)
A, B, X = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=4)
Z = RNG.normal(size=3) + 1j * RNG.normal(size=3)


def matrices(p):
    xp = array_namespace(p["a"])
    return xp.sum(xp.sin(p["a"]) * p["b"] ** 2) + xp.sum(p["a"] @ p["b"])


def moduli(z):
    xp = array_namespace(z)
    return xp.sum(xp.real(z) ** 3 * xp.imag(z) ** 2)


def with_aux(x):
    xp = array_namespace(x)
    return xp.sum(x**3), {"doubled": 2 * x, "name": "aux"}


def waves(x):
    xp = array_namespace(x)
    return xp.sin(x) * x[0]


def complex_waves(z):
    xp = array_namespace(z)
    return z * xp.conj(z) * z


def first_alone(p, c):
    return array_namespace(p["x"]).sum(p["x"] ** 2) * c


def named(name, operator, f, *args, **options):
    return Scenario(f"mutations/{name}", operator, f, args, **options)


TREE = {"a": A, "b": B, "name": "tree"}
CUBES = named("cubes", gradient, lambda x: array_namespace(x).sum(x**3), X)
ON = {
    "tree": named("tree", gradient, matrices, TREE),
    "complex": named("complex", gradient, moduli, Z),
    "complex pullback": named("complex-pullback", pullback, complex_waves, Z),
    "cubes": CUBES,
    "aux": named("aux", value_and_gradient, with_aux, X),
    "pullback": named("pullback", pullback, waves, X),
    "linearize": named("linearize", linearize, waves, X),
    "pushforward": named("pushforward", pushforward, waves, X),
    "hvp": named("hvp", gradient_and_hvp, matrices, TREE, {"a": B, "b": A, "name": None}),
    "hessian": named("hessian", hessian, lambda x: array_namespace(x).sum(x**3) * x[0], X),
    "diagonal": named("diagonal", diagonal_hessian, lambda x: array_namespace(x).sum(x**3) * x[0], X),
    "half square": named("half-square", gradient, lambda x: array_namespace(x).sum(x * x) / 2, X),
    "sum": named("sum", gradient, lambda x, y: array_namespace(x).sum(x + y), X, X + 1),
    "unused": named("unused", gradient, first_alone, {"x": X, "y": X}, Constant(2.0)),
    "number": named("number", gradient, lambda x, y: x * y, 2.0, 3.0),
    "zero-d": named("zero-d", gradient, lambda x: x**3, np.array(2.0)),
    "jacobian": named("jacobian", value_and_jacobian, waves, X),
    "rows": named("rows", jacobian, lambda x: array_namespace(x).stack([x[0] * x[1], x[1] * x[2]]), X),
    "derivative": named("derivative", derivative, lambda t: {"a": t**2, "b": t**3}, 0.7),
    "plain hvp": named("plain-hvp", hvp, matrices, TREE, {"a": B, "b": A, "name": None}),
}

#: For each mutation of the engine: where it shows, and a check that must catch it there.
ENGINE_CAUGHT = [
    ("sign", "tree", "taylor"),
    ("sign", "cubes", "consistency"),
    ("conjugate", "complex", "taylor"),
    ("conjugate", "complex pullback", "taylor"),
    ("imaginary part lost", "complex", "taylor"),
    ("conjugate cotangent", "complex pullback", "adjointness"),
    ("factor", "tree", "consistency"),
    ("factor", "pullback", "taylor"),
    ("small factor", "cubes", "consistency"),
    ("shift", "pullback", "linearity"),
    ("shift", "tree", "consistency"),
    ("one element", "tree", "consistency"),
    ("transposed", "tree", "taylor"),
    ("reversed", "cubes", "consistency"),
    ("a leaf dropped", "tree", "consistency"),
    ("a leaf with itself", "tree", "consistency"),
    ("leaves swapped", "tree", "taylor"),
    ("single precision", "cubes", "consistency"),
    ("the mean of a batch", "cubes", "taylor"),
    ("clipped", "cubes", "consistency"),
    ("not linear", "pullback", "linearity"),
    ("cotangent ignored", "pullback", "adjointness"),
    ("cotangent summed", "pullback", "adjointness"),
    ("back works once", "pullback", "linearity"),
    ("writes to an argument", "cubes", "arguments_untouched"),
    ("f evaluated twice", "cubes", "evaluations"),
    ("f evaluated in back", "pullback", "evaluations"),
    ("leaks the error state", "cubes", "state_untouched"),
    ("seeds the generator", "cubes", "state_untouched"),
    ("leaks state when f raises", "cubes", "exceptions"),
    ("hides what f raises", "cubes", "exceptions"),
    ("stale value", "aux", "value"),
    ("value shifted", "aux", "value"),
    ("auxiliary result lost", "aux", "value"),
    ("not deterministic", "cubes", "deterministic"),
    ("not safe in threads", "cubes", "threads"),
    ("results still traced", "cubes", "dtype"),
    ("factor", "hvp", "taylor"),
    ("factor", "hessian", "taylor"),
    ("factor", "diagonal", "taylor"),
    ("transposed", "plain hvp", "taylor"),
    ("leaves swapped", "hvp", "taylor"),
    ("forward", "pushforward", "adjointness"),
    ("gradient", "cubes", "consistency"),
]

# Mutations of results ------------------------------------------------------------------------------------------------


def result(change):
    """An operator whose result is changed; `change(result, args)`."""

    def mutate(operator):
        def changed(f, backend, *args, **kwargs):
            return change(operator(f, backend, *args, **kwargs), args)

        changed.__name__ = operator.__name__
        return changed

    return mutate


def read_only(results, args):
    results[0].flags.writeable = False
    return results


def strided(results, args):
    return (np.repeat(results[0], 2)[::2],)


def sheared(matrix, args):
    return matrix + np.triu(np.full(matrix.shape, 1e-3), 1)


def second_evaluation(operator):
    def changed(f, backend, *args, **kwargs):
        f(*args)
        return operator(f, backend, *args, **kwargs)

    changed.__name__ = operator.__name__
    return changed


def stack_reversed(pulled, args):
    back = SimpleNamespace(stacked=lambda w: pulled.back.stacked(w[::-1]))
    return pulled._replace(back=back)


RESULT_CAUGHT = [
    ("a float is an array", "number", result(lambda r, a: (np.asarray(r[0]), r[1])), "dtype"),
    ("an array is a float", "zero-d", result(lambda r, a: (float(r[0]),)), "dtype"),
    ("an array is a scalar", "zero-d", result(lambda r, a: (r[0][()],)), "dtype"),
    ("another dtype", "cubes", result(lambda r, a: (r[0].astype("float32"),)), "dtype"),
    ("complex instead of real", "cubes", result(lambda r, a: (r[0] + 0j,)), "dtype"),
    ("a list for an array", "cubes", result(lambda r, a: (list(r[0]),)), "structure"),
    ("an axis more", "zero-d", result(lambda r, a: (r[0][None],)), "structure"),
    ("no tuple around one", "cubes", result(lambda r, a: r[0]), "structure"),
    ("an entry too many", "cubes", result(lambda r, a: (*r, None)), "structure"),
    ("a list for a tuple", "sum", result(lambda r, a: list(r)), "structure"),
    ("a key lost", "unused", result(lambda r, a: ({"x": r[0]["x"]}, r[1])), "structure"),
    ("keys in another order", "unused", result(lambda r, a: (dict(reversed(r[0].items())), r[1])), "structure"),
    ("zero is None", "unused", result(lambda r, a: ({**r[0], "y": None}, r[1])), "structure"),
    ("None is zero", "unused", result(lambda r, a: (r[0], 0.0)), "structure"),
    ("a name kept", "tree", result(lambda r, a: ({**r[0], "name": "tree"},)), "structure"),
    ("an argument returned", "half square", result(lambda r, a: (a[0],)), "memory"),
    ("a view of an argument", "half square", result(lambda r, a: (a[0][:],)), "memory"),
    ("one array twice", "sum", result(lambda r, a: (r[0], r[0])), "memory"),
    ("read-only", "cubes", result(read_only), "memory"),
    ("not dense", "cubes", result(strided), "memory"),
    ("rows are columns", "rows", result(lambda r, a: (r[0].T.copy(),)), "structure"),
    ("a square transposed", "jacobian", result(lambda r, a: r._replace(jacobian=(r.jacobian[0].T.copy(),))), "consistency"),
    ("a triangle sheared", "hessian", result(sheared), "symmetry"),
    ("the diagonal doubled", "hessian", result(lambda r, a: r + np.diag(np.diag(r))), "taylor"),
    ("one diagonal element", "diagonal", result(lambda r, a: (r[0] * [1, 1, 1.01, 1],)), "taylor"),
    ("another companion", "aux", result(lambda r, a: r._replace(gradient=(r.gradient[0] * (1 + 1e-10),))), "companion"),
    ("auxiliary result dropped", "aux", result(lambda r, a: r._replace(value=r.value[0])), "value"),
    ("auxiliary text changed", "aux", result(lambda r, a: r._replace(value=(r.value[0], {**r.value[1], "name": ""}))), "value"),
    ("leaves of the value swapped", "derivative", result(lambda r, a: {"a": r["b"], "b": r["a"]}), "taylor"),
    ("one evaluation more", "aux", second_evaluation, "evaluations"),
    ("no tangent", "pushforward", result(lambda r, a: r._replace(tangent=None)), "structure"),
]

# Tests ---------------------------------------------------------------------------------------------------------------


#: What takes more time than everything else, and is looked at where it is asked for.
DEAR = {"growth", "threads"}


def caught(scenario, backend, *dear):
    """The checks that fail; those that are dear only if they are named."""
    found = {}
    for check in checks_for(scenario, backend, everything=True):
        if check.name in DEAR - set(dear):
            continue
        try:
            check.function(scenario, backend)
        except Exception as error:
            found[check.name] = str(error).partition("\nassert ")[0]
    return found


def fresh(scenario):
    """The same scenario as a new object with arrays of its own, so that nothing is shared with another test."""

    def copied(x):
        return x.copy() if isinstance(x, np.ndarray) else {k: copied(v) for k, v in x.items()} if isinstance(x, dict) else x

    return replace(scenario, args=tuple(copied(arg) for arg in scenario.args))


def in_words(value):
    return "" if callable(value) else value.replace(" ", "-")


@pytest.mark.parametrize("name", ON)
def test_the_right_engine_passes(name):
    assert caught(fresh(ON[name]), AutoMutant(), *(DEAR if name == "hvp" else ())) == {}


@pytest.mark.parametrize(("kind", "on", "check"), ENGINE_CAUGHT, ids=in_words)
def test_a_wrong_engine_is_caught(kind, on, check):
    found = caught(fresh(ON[on]), AutoMutant(kind), check)
    assert check in found, found
    assert "runs" not in found, found


@pytest.mark.parametrize(("name", "on", "change", "check"), RESULT_CAUGHT, ids=in_words)
def test_a_wrong_result_is_caught(name, on, change, check):
    scenario = fresh(ON[on])
    found = caught(replace(scenario, operator=change(scenario.operator)), AutoMutant(), check)
    assert check in found, found


def test_a_wrong_stack_is_caught(monkeypatch):
    from adinterface.core.operators.pullback import Back

    right = Back.stacked
    monkeypatch.setattr(Back, "stacked", lambda self, w: tuple(g[::-1] for g in right(self, w)))
    assert "stacks" in caught(fresh(ON["pullback"]), AutoMutant())


@pytest.mark.parametrize("wrong", ["factor", "only the first time"])
def test_wrong_compiled_code_is_caught(wrong, monkeypatch):
    def compiled(self, compute):
        calls = []

        def call(*arrays):
            calls.append(arrays)
            results = compute(*arrays)
            if wrong == "factor" or (wrong == "only the first time" and len(calls) > 1):
                results = tuple(1.5 * x for x in results)
            return results

        return call

    assert caught(fresh(CUBES), AutoMutant()) == {}
    monkeypatch.setattr(Mutant, "compile", compiled)
    assert "prepared" in caught(fresh(CUBES), AutoMutant())


def test_a_backend_that_does_not_pickle_is_caught():
    assert "picklable" in caught(fresh(CUBES), AutoMutant(option=lambda: None))


def test_an_f_that_is_not_refused_is_caught():
    def tolerant(f, backend, *args, **kwargs):
        return gradient(lambda *inner: array_namespace(*inner).sum(f(*inner)), backend, *args, **kwargs)

    tolerant.__name__ = "gradient"
    assert "refuses_what_is_no_scalar" in caught(replace(fresh(CUBES), operator=tolerant), AutoMutant())


def test_a_formula_catches_what_no_law_can():
    """At a kink the laws say nothing."""
    kink = Scenario("mutations/kink", gradient, lambda x: array_namespace(x).abs(x), (0.0,), tags=frozenset({"kink"}))
    assert caught(replace(kink, documented={"mutant": (0.0,)}), AutoMutant()) == {}
    assert set(caught(replace(kink, documented={"mutant": (1.0,)}), AutoMutant())) == {"documented"}
    assert caught(replace(kink, documented={"mutant": OneOf((1.0,), (0.0,))}), AutoMutant()) == {}
    assert set(caught(replace(kink, documented={"mutant": OneOf((1.0,), (2.0,))}), AutoMutant())) == {"documented"}
    assert set(caught(replace(fresh(CUBES), expected=(3 * X**2 + 1e-3,)), AutoMutant())) == {"formula"}


@pytest.mark.parametrize(
    "wrong", [lambda m: 1.5 * m, lambda m: m.T.tocsr(), lambda m: m.tocoo()], ids=["factor", "turned", "coo"]
)
def test_a_wrong_sparse_result_is_caught(wrong):
    def f(x):
        xp = array_namespace(x)
        return xp.concat([x[1:] * x[:-1], x[:1] ** 2])

    def changed(g, backend, *args):
        found = jacobian(g, backend, *args)
        return tuple(map(wrong, found)) if isinstance(backend, AutoSparse) else found

    changed.__name__ = "jacobian"
    scenario = named("neighbours", jacobian, f, X)
    assert "sparse" not in caught(fresh(scenario), AutoMutant())
    assert "sparse" in caught(replace(fresh(scenario), operator=changed), AutoMutant())


@pytest.mark.parametrize(
    "wrong", [lambda r: r[::-1], lambda r: np.stack([r[0], r[0]]), lambda r: 1.5 * r], ids=["turned", "first", "factor"]
)
def test_a_wrong_batched_result_is_caught(wrong, monkeypatch):
    import adinterface

    right = adinterface.batched
    assert "batched" not in caught(fresh(CUBES), AutoMutant())
    monkeypatch.setattr(adinterface, "batched", lambda *args, **kwargs: tuple(map(wrong, right(*args, **kwargs))))
    assert set(caught(fresh(CUBES), AutoMutant())) == {"batched"}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda m, workers: m[::-1], "jacobian"),
        (lambda m, workers: 1.5 * m, "jacobian"),
        (lambda m, workers: m * (1 + 1e-15 * workers), "by three workers"),
    ],
    ids=["turned", "factor", "by the number of workers"],
)
@pytest.mark.parametrize("backend", [AutoAutograd(), AutoTorch(), AutoJax(jit=False)], ids=lambda backend: backend.name)
def test_a_wrong_result_of_workers_is_caught(backend, wrong, words):
    def changed(f, backend, *args):
        found = jacobian(f, backend, *args)
        return found if backend.executor is None else tuple(wrong(m, backend.executor._max_workers) for m in found)

    changed.__name__ = "jacobian"
    scenario, check = named("waves-in-parts", jacobian, waves, X), CHECKS["workers"].function
    check(fresh(scenario), backend)
    with pytest.raises(AssertionError, match=words):
        check(replace(fresh(scenario), operator=changed), backend)


@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch()], ids=lambda backend: backend.name)
@pytest.mark.parametrize("wrong", [lambda g: -g, np.asarray, lambda g: 1 / 0], ids=["sign", "numpy", "refused"])
def test_a_wrong_result_for_arrays_of_the_engine_is_caught(wrong, backend):
    def changed(f, backend, x):
        found = gradient(f, backend, x)
        return found if isinstance(x, np.ndarray) else tuple(map(wrong, found))

    changed.__name__ = "gradient"
    check = CHECKS["own_arrays"].function
    check(fresh(CUBES), backend)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        check(replace(fresh(CUBES), operator=changed), backend)


def test_a_member_that_the_contract_does_not_have_is_caught(monkeypatch):
    monkeypatch.setattr(Mutant, "vjp", lambda self: None, raising=False)
    assert "Mutant defines vjp, which Backend does not have" in caught(fresh(CUBES), AutoMutant())["members"]


@pytest.mark.parametrize(
    ("raised", "checked"),
    [(NotImplementedError("no nesting"), False), (ValueError("a fault"), True)],
    ids=["refused", "broken"],
)
def test_nested_derivatives_are_left_out_only_where_the_engine_refuses_them(raised, checked, monkeypatch):
    def once(right, function, leaves):
        if MEMORY.get("inside"):
            raise raised
        MEMORY["inside"] = True
        try:
            return right(function, leaves)
        finally:
            MEMORY["inside"] = False

    monkeypatch.setitem(ENGINE, "alone", once)
    backend = AutoMutant("alone", option=checked)
    assert (CHECKS["outer"].unasked(backend) == "") is checked
    assert ("outer" in caught(fresh(CUBES), backend)) is checked
    if not checked:
        told = list(_ending(Selection((backend,), ()), begun(Selection((backend,), ()))))
        assert "outer, maps_outside: it refuses derivatives of its own derivatives (no nesting)." in told[0]


def test_every_check_catches_something():
    checks = {row[-1] for row in (*ENGINE_CAUGHT, *RESULT_CAUGHT)}
    checks |= {"prepared", "stacks", "picklable", "refuses_what_is_no_scalar", "documented", "formula", "runs", "sparse"}
    checks |= {"batched", "workers", "own_arrays", "members", "recorded"}  # of a rule: test_mutations_of_calls.py
    assert checks | {row[-1] for row in CALLS_CAUGHT} == set(CHECKS)


def test_there_are_at_least_twenty_kinds_and_every_one_is_tried():
    assert len(ENGINE) + len({row[0] for row in RESULT_CAUGHT}) >= 20
    assert set(ENGINE) | {"forward", "gradient"} == {row[0] for row in ENGINE_CAUGHT}


def test_messages_say_where_what_was_got_and_what_was_wanted():
    scenario = replace(fresh(ON["unused"]), expected=({"x": 4 * X, "y": np.array([0.0, 1.0, 0.0, 0.0])}, None))
    (message,) = caught(scenario, AutoMutant()).values()
    assert message == "gradient[0]['y'][1]: got 0.0, wanted 1.0, off by 1 where 1e-09 is allowed"
    scenario = replace(scenario, expected=None, operator=RESULT_CAUGHT[12][2](gradient))
    assert caught(scenario, AutoMutant())["structure"] == "gradient[0]['y']: got None, wanted a number"
