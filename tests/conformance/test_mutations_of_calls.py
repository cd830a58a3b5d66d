"""The checks of how calls behave have teeth, on every engine: each is shown what it is there for, and must see it.

Here the engines are right, and what is wrong is what stands between them and the caller: operators, and what `prepare`,
`pullback` and `linearize` give. test_mutations.py has the wrong engines and the wrong numbers.
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
import warnings
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import autograd.tracer
import jax
import numpy as np
import pytest
import torch
from adinterface_conformance import CHECKS, Scenario, ownership
from adinterface_conformance.state import global_state, restored
from adinterface_studies.scenarios import SCENARIOS
from backends_table import BACKENDS, each_backend

import adinterface
from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    Constant,
    DisconnectedWarning,
    array_namespace,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_gradient,
)
from adinterface.core.operators.pullback import Back, Push
from adinterface.rules import ignore_derivatives, scalar_rule

pytestmark = pytest.mark.sweep  # test_conformance.py and test_laws.py run with every change

# The scenarios -------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
A, B, X = RNG.normal(size=(2, 2)), RNG.normal(size=(2, 2)), RNG.normal(size=3)


@dataclass
class Model:
    weight: Any
    steps: int = 2
    name: Any = field(default="model", metadata={"static": True})


def cubes(x):
    return array_namespace(x).sum(x**3)


def with_constants(x, c, n, scale=1.0):
    """Its integers must be integers, and its factors are never the same twice."""
    return sum(cubes(x) * k for k in range(1, n["steps"] + 1)) * c[0] * scale


def waves(x, c):
    return array_namespace(x).sin(x) * x[0] * c


def of_model(m):
    return array_namespace(m.weight).sum(m.weight**2) * m.steps


def crossed(t):
    xp = array_namespace(t["a"])
    return xp.sum((t["a"] @ t["b"]) ** 2) + xp.sum(t["a"] ** 3)


def both(t):
    return t["a"] @ t["b"]


def disconnected(x):
    return array_namespace(x).sum(array_namespace(x).ones_like(x))


CONSTANTS = (X, Constant(np.array([0.5])), Constant({"steps": 2, "on": True, "which": np.array([1, 0])}))
ON = {
    "constants": Scenario("calls/constants", gradient, with_constants, CONSTANTS, kwargs={"scale": 1.5}),
    "cubes": Scenario("calls/cubes", gradient, cubes, (X,)),
    "pullback": Scenario("calls/pullback", pullback, waves, (X, Constant(np.array(0.5)))),
    "linearize": Scenario("calls/linearize", linearize, waves, (X, Constant(np.array(0.5)))),
    "pushforward": Scenario("calls/pushforward", pushforward, waves, (X, Constant(np.array(0.5)))),
    "hvp": Scenario("calls/hvp", hvp, cubes, (X, X[::-1].copy())),
    "hessian": Scenario("calls/hessian", hessian, crossed, ({"a": A, "b": B},)),
    "jacobian": Scenario("calls/jacobian", jacobian, both, ({"a": A, "b": B},)),
    "default dict": Scenario("calls/default-dict", gradient, lambda t: cubes(t["a"]), (defaultdict(list, a=X),)),
    "ordered dict": Scenario("calls/ordered-dict", gradient, lambda t: cubes(t["a"]), (OrderedDict(a=X),)),
    "model": Scenario("calls/model", gradient, of_model, (Model(X),)),
    "aux": Scenario("calls/aux", value_and_gradient, lambda x: (cubes(x), defaultdict(list, a=x)), (X,)),
    "disconnected": Scenario("calls/none", gradient, disconnected, (X,), tags=frozenset({"disconnected"})),
}

# Wrong prepared calls ------------------------------------------------------------------------------------------------


def preparing(call):
    """A mutation of what `prepare` gives: `call(fast, operator, f, backend, memory, args, kwargs)`."""

    def prepare(operator, f, backend, *example, **example_kwargs):
        fast = RIGHT(operator, f, backend, *example, **example_kwargs)
        memory = SimpleNamespace(results=[], first=None)

        class Wrong:
            specializations = 1

            def __call__(self, *args, **kwargs):
                memory.first = memory.first or (args, kwargs)
                return call(fast, operator, f, backend, memory, args, kwargs)

        return Wrong()

    return prepare


RIGHT = adinterface.prepare


def _first_numbers(fast, operator, f, backend, memory, args, kwargs):
    return fast(*memory.first[0], **memory.first[1])


def _first_constants(fast, operator, f, backend, memory, args, kwargs):
    return fast(args[0], *memory.first[0][1:], **kwargs)


def _first_keywords(fast, operator, f, backend, memory, args, kwargs):
    return fast(*args, **memory.first[1])


def _first_tangents(fast, operator, f, backend, memory, args, kwargs):
    return fast(args[0], memory.first[0][1], **kwargs)


def _first_results(fast, operator, f, backend, memory, args, kwargs):
    memory.results = memory.results or [fast(*args, **kwargs)]
    return memory.results[0]


def _evaluates_twice(fast, operator, f, backend, memory, args, kwargs):
    operator(f, backend, *args, **kwargs)
    operator(f, backend, *args, **kwargs)
    return fast(*args, **kwargs)


def _one_buffer(fast, operator, f, backend, memory, args, kwargs):
    result = fast(*args, **kwargs)
    memory.results = memory.results or [result]
    memory.results[0][0][...] = result[0]
    return memory.results[0]


def _reads_late(fast, operator, f, backend, memory, args, kwargs):
    result = fast(*args, **kwargs)
    return result._replace(back=lambda w: pullback(f, backend, *args, **kwargs).back(w))


def _float_steps(fast, operator, f, backend, memory, args, kwargs):
    def g(x, c, n, **others):
        return f(x, c, {**n, "which": n["which"] * 1.0}, **others)

    return RIGHT(operator, g, backend, *args, **kwargs)(*args, **kwargs)


def _narrow(fast, operator, f, backend, memory, args, kwargs):
    return tuple(g if g is None else g.astype("float32") for g in fast(*args, **kwargs))


def _a_list(fast, operator, f, backend, memory, args, kwargs):
    return list(fast(*args, **kwargs))


def _leaking(fast, operator, f, backend, memory, args, kwargs):
    os.environ["ADINTERFACE_LEAK"] = "1"
    return fast(*args, **kwargs)


PREPARED = [
    ("the first numbers", "cubes", _first_numbers, "prepared"),
    ("the first numbers of a pullback", "pullback", _first_numbers, "prepared"),
    ("the first Constants", "constants", _first_constants, "prepared"),
    ("the first keywords", "constants", _first_keywords, "prepared"),
    ("the first tangents", "pushforward", _first_tangents, "prepared"),
    ("the first direction", "hvp", _first_tangents, "prepared"),
    ("the first results", "cubes", _first_results, "prepared"),
    ("evaluates twice more", "cubes", _evaluates_twice, "prepared"),
    ("writes into the results before", "cubes", _one_buffer, "prepared"),
    ("reads arrays when they have changed", "pullback", _reads_late, "prepared"),
    ("integers become floats", "constants", _float_steps, "prepared"),
    ("another dtype", "cubes", _narrow, "prepared"),
    ("another container", "cubes", _a_list, "prepared"),
    ("leaks when it is prepared", "cubes", _leaking, "state_untouched"),
]

# Wrong operators -----------------------------------------------------------------------------------------------------


def wrapped(change):
    """A mutation of an operator: `change(operator, f, backend, args, kwargs)`."""

    def mutate(operator):
        @functools.wraps(operator)
        def wrong(f, backend, *args, **kwargs):
            return change(operator, f, backend, args, kwargs)

        return wrong

    return mutate


def result(change):
    return wrapped(lambda operator, f, backend, args, kwargs: change(operator(f, backend, *args, **kwargs), args))


def before(change):
    """Something is done before the call."""

    def changed(operator, f, backend, args, kwargs):
        change()
        return operator(f, backend, *args, **kwargs)

    return wrapped(changed)


def _late_back(operator, f, backend, args, kwargs):
    right = operator(f, backend, *args, **kwargs)
    return right._replace(back=lambda w: operator(f, backend, *args, **kwargs).back(w))


def _late_push(operator, f, backend, args, kwargs):
    right = operator(f, backend, *args, **kwargs)
    return right._replace(push=lambda *v: operator(f, backend, *args, **kwargs).push(*v))


def _late_constant(operator, f, backend, args, kwargs):
    right, x = operator(f, backend, *args, **kwargs), args[0].copy()
    return right._replace(back=lambda w: operator(f, backend, x, *args[1:], **kwargs).back(w))


def _same_result(pulled, args):
    known = []

    def back(w):
        known.extend([pulled.back(w)] if not known else [])
        return known[0]

    return pulled._replace(back=back)


def _by_the_value(pulled, args):
    """As the derivative of exp may be taken from its value: from what the caller has."""
    right = np.array(pulled.value)
    return pulled._replace(back=lambda w: tuple(g if g is None else g * (pulled.value / right) for g in pulled.back(w)))


def _thread():
    threading.Thread(target=EVENT.wait, daemon=True).start()


EVENT = threading.Event()
VARIABLE = contextvars.ContextVar("left_behind", default=0)


def _set_filters():
    warnings.filters[:] = [("ignore", None, UserWarning, None, 0), *warnings.filters[1:]]


def _lost_variable():
    os.environ.pop("PATH", None)


def on_interrupt(change):
    """Something is done, or done otherwise, when f is interrupted: `change(error, backend)`."""

    def changed(operator, f, backend, args, kwargs):
        try:
            return operator(f, backend, *args, **kwargs)
        except BaseException as error:
            change(error, backend)
            raise

    return wrapped(changed)


def _hidden(error, backend):
    raise RuntimeError("interrupted") from error


def _left_trace(error, backend):
    """What each engine keeps while f runs."""
    if isinstance(error, KeyboardInterrupt):
        if backend.name == "jax":
            jax.config.update("jax_enable_x64", not jax.config.jax_enable_x64)
        elif backend.name == "torch":
            torch.set_grad_enabled(not torch.is_grad_enabled())
        elif backend.name == "autograd":
            autograd.tracer.trace_stack.top += 1
        else:
            sys.setrecursionlimit(sys.getrecursionlimit() + 1)


def _wrong_afterwards():
    def changed(operator, f, backend, args, kwargs):
        try:
            result = operator(f, backend, *args, **kwargs)
        except KeyboardInterrupt:
            MEMORY["interrupted"] = True
            raise
        return tuple(g * 2 for g in result) if MEMORY.get("interrupted") else result

    return wrapped(changed)


MEMORY: dict[str, Any] = {}


def on_error(change):
    def changed(operator, f, backend, args, kwargs):
        try:
            return operator(f, backend, *args, **kwargs)
        except Exception as error:
            change(error)

    return wrapped(changed)


def _stripped(error):
    raise error.with_traceback(None)


def _from_another(error):
    raise error from ValueError("the engine failed")


def _without_notes(error):
    error.__notes__.clear()
    raise error


def _another(error):
    raise type(error)(*error.args)


def _silent(operator, f, backend, args, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return operator(f, backend, *args, **kwargs)


def _silently_disconnected(operator, f, backend, args, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        return operator(f, backend, *args, **kwargs)


def _warning(category):
    return before(lambda: warnings.warn("nothing to say", category, stacklevel=2))


KEPT: list[Any] = []


def keeping(what):
    def changed(operator, f, backend, args, kwargs):
        result = operator(f, backend, *args, **kwargs)
        KEPT.append(what(f, args, result))
        return result

    return wrapped(changed)


def _blocks_transposed(blocks, args):
    (a, b), (c, d) = [list(row.values()) for row in blocks.values()]
    return {"a": {"a": a, "b": np.transpose(b, (1, 0, 3, 2)).copy()}, "b": {"a": np.transpose(c, (1, 0, 3, 2)).copy(), "b": d}}


def _blocks_swapped(blocks, args):
    rows = [list(row.values()) for row in blocks.values()]
    return {"a": {"a": rows[0][0], "b": rows[1][0]}, "b": {"a": rows[0][1], "b": rows[1][1]}}


def _axes_swapped(blocks, args):
    return {i: {j: np.swapaxes(block, 2, 3).copy() for j, block in row.items()} for i, row in blocks.items()}


def _leaves_swapped(jacobian, args):
    return ({"a": jacobian[0]["b"], "b": jacobian[0]["a"]},)


OPERATORS = [
    # a snapshot that is none
    ("back reads the arrays late", "pullback", wrapped(_late_back), "snapshot"),
    ("push reads the arrays late", "linearize", wrapped(_late_push), "snapshot"),
    ("back reads a Constant late", "pullback", wrapped(_late_constant), "snapshot"),
    ("back gives one array again and again", "pullback", result(_same_result), "snapshot"),
    ("back works with the caller's value", "pullback", result(_by_the_value), "snapshot"),
    # state that was changed before anybody looked, since it is changed to the same in every call
    ("the recursion limit", "cubes", before(lambda: sys.setrecursionlimit(4321)), "state_untouched"),
    ("the digits of an integer", "cubes", before(lambda: sys.set_int_max_str_digits(12345)), "state_untouched"),
    ("the print options of NumPy", "cubes", before(lambda: np.set_printoptions(precision=3)), "state_untouched"),
    ("the error state of NumPy", "cubes", before(lambda: np.seterr(under="raise")), "state_untouched"),
    ("the generator of Python", "cubes", before(random.random), "state_untouched"),
    ("denormal numbers", "cubes", before(lambda: torch.set_flush_denormal(True)), "state_untouched"),
    ("the decimal precision", "cubes", before(lambda: setattr(decimal.getcontext(), "prec", 11)), "state_untouched"),
    ("garbage collection", "cubes", before(gc.disable), "state_untouched"),
    ("an environment variable", "cubes", before(lambda: os.environ.update(LEAK="1")), "state_untouched"),
    ("a lost environment variable", "cubes", before(_lost_variable), "state_untouched"),
    ("as many filters of warnings", "cubes", before(_set_filters), "state_untouched"),
    ("a context variable", "cubes", before(lambda: VARIABLE.set(1)), "state_untouched"),
    ("a daemon's thread", "cubes", before(_thread), "state_untouched"),
    # what an interrupt leaves behind
    ("an interrupt is hidden", "cubes", on_interrupt(_hidden), "interrupts"),
    ("a thread after an interrupt", "cubes", on_interrupt(lambda error, backend: _thread()), "interrupts"),
    ("filters of warnings after an interrupt", "cubes", on_interrupt(lambda error, backend: _set_filters()), "interrupts"),
    ("a trace after an interrupt", "cubes", on_interrupt(_left_trace), "interrupts"),
    ("wrong numbers after an interrupt", "cubes", _wrong_afterwards(), "interrupts"),
    # errors of f that do not arrive as they are
    ("a stripped traceback", "cubes", on_error(_stripped), "exceptions"),
    ("an error from another", "cubes", on_error(_from_another), "exceptions"),
    ("an error without its notes", "cubes", on_error(_without_notes), "exceptions"),
    ("a copy of the error", "cubes", on_error(_another), "exceptions"),
    # warnings
    ("warnings of f are swallowed", "cubes", wrapped(_silent), "warns"),
    ("a DisconnectedWarning for nothing", "cubes", _warning(DisconnectedWarning), "warns"),
    ("another warning", "cubes", _warning(RuntimeWarning), "warns"),
    ("no DisconnectedWarning", "disconnected", wrapped(_silently_disconnected), "warns"),
    # memory
    ("f is kept", "cubes", keeping(lambda f, args, result: f), "growth"),
    ("arguments are kept", "cubes", keeping(lambda f, args, result: args), "growth"),
    ("results are kept", "cubes", keeping(lambda f, args, result: result), "growth"),
    ("memory is kept", "cubes", keeping(lambda f, args, result: bytearray(10_000)), "growth"),
    ("objects are kept", "cubes", keeping(lambda f, args, result: [None]), "growth"),
    # containers
    ("another default_factory", "default dict", result(lambda r, a: (defaultdict(dict, r[0]),)), "structure"),
    ("no default_factory", "default dict", result(lambda r, a: (defaultdict(None, r[0]),)), "structure"),
    ("another class of dict", "ordered dict", result(lambda r, a: (dict(r[0]),)), "structure"),
    ("another static field", "model", result(lambda r, a: (replace(r[0], name="other"),)), "structure"),
    ("a static field that is None", "model", result(lambda r, a: (replace(r[0], name=None),)), "structure"),
    ("an attribute more", "model", result(lambda r, a: (vars(r[0]).update(extra=1), r[0])[1:]), "structure"),
    ("another default_factory in a value", "aux", result(
        lambda r, a: r._replace(value=(r.value[0], defaultdict(dict, r.value[1])))), "value"),
    # blocks of equal shape
    ("the mixed blocks transposed", "hessian", result(_blocks_transposed), "taylor"),
    ("the mixed blocks exchanged", "hessian", result(_blocks_swapped), "taylor"),
    ("the axes of the columns exchanged", "hessian", result(_axes_swapped), "symmetry"),
    ("the blocks of two leaves exchanged", "jacobian", result(_leaves_swapped), "consistency"),
]  # fmt: skip


# What f gets: the mutation is of what a call hands on, so f is wrapped from inside ---------------------------------------


def handing_on(change):
    """A mutation of the way to f: f gets `change(args, kwargs)` of what it should."""

    def changed(operator, f, backend, args, kwargs):
        def g(*inner, **options):
            inner, options = change(list(inner), dict(options))
            return f(*inner, **options)

        return operator(g, backend, *args, **kwargs)

    return wrapped(changed)


def _float_in_a_constant(args, kwargs):
    args[2] = {**args[2], "steps": _Float(args[2]["steps"])}
    return args, kwargs


class _Float(float):
    """A float that range takes, as what looks like an integer does."""

    def __add__(self, other):
        return int(self) + other


def _bool_as_int(args, kwargs):
    args[2] = {**args[2], "on": 1}
    return args, kwargs


def _float_index(args, kwargs):
    args[2] = {**args[2], "which": args[2]["which"] * 1.0}
    return args, kwargs


def _another_shape(args, kwargs):
    args[1] = args[1][None][0][None]
    return args, kwargs


RECEIVED = [
    ("an integer in a Constant is a float", "constants", handing_on(_float_in_a_constant), "received"),
    ("a bool in a Constant is an integer", "constants", handing_on(_bool_as_int), "received"),
    ("an index in a Constant is floating", "constants", handing_on(_float_index), "received"),
    ("a Constant has an axis more", "constants", handing_on(_another_shape), "received"),
]

# Whose it is: what a call does with Constants, objects and random numbers ------------------------------------------------


def _follows_the_twin(operator, f, backend, args, kwargs):
    """What a keyword shares with an argument is differentiated with it."""
    if "twin" not in kwargs:
        return operator(f, backend, *args, **kwargs)
    words = {name: value for name, value in kwargs.items() if name != "twin"}
    return operator(lambda *inner, **others: f(*inner, twin=inner, **others), backend, *args, **words)


def _cuts_keywords(operator, f, backend, args, kwargs):
    return operator(f, backend, *args, **{name: ignore_derivatives(value) for name, value in kwargs.items()})


def _cuts_what_a_map_takes(found, args):
    value, map_ = found
    return type(found)(value, lambda *given: map_(*map(ignore_derivatives, given)))


def _copies_keywords(args, kwargs):
    return args, copy.deepcopy(kwargs)


OWNERSHIP = [
    ("a keyword is differentiated with what it shares", "cubes", wrapped(_follows_the_twin), "constants"),
    ("a keyword is differentiated in a Hessian", "hessian", wrapped(_follows_the_twin), "constants"),
    ("an outer derivative does not reach keywords", "cubes", wrapped(_cuts_keywords), "outer"),
    ("an outer derivative does not reach a cotangent", "pullback", result(_cuts_what_a_map_takes), "maps_outside"),
    ("an outer derivative does not reach a tangent", "linearize", result(_cuts_what_a_map_takes), "maps_outside"),
    ("f gets a copy of an object", "cubes", handing_on(_copies_keywords), "identity"),
]

CAUGHT = [*PREPARED, *OPERATORS, *RECEIVED, *OWNERSHIP]

# Tests ---------------------------------------------------------------------------------------------------------------


def failure(scenario, backend, check):
    """What a check says of a scenario; None if it passes."""
    try:
        CHECKS[check].function(scenario, backend)
    except AssertionError as error:
        return str(error).partition("\nassert ")[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def in_words(value):
    return value.replace(" ", "-") if isinstance(value, str) else ""


@pytest.fixture(autouse=True)
def _as_before():
    filters, grad, x64 = list(warnings.filters), torch.is_grad_enabled(), jax.config.jax_enable_x64
    top = autograd.tracer.trace_stack.top
    with restored():
        yield
    warnings.filters[:] = filters
    torch.set_grad_enabled(grad)
    jax.config.update("jax_enable_x64", x64)
    autograd.tracer.trace_stack.top = top
    VARIABLE.set(0)
    torch.set_flush_denormal(False)
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    EVENT.set()
    EVENT.clear()
    KEPT.clear()
    MEMORY.clear()


@each_backend
@pytest.mark.parametrize("on", ON, ids=in_words)
def test_what_is_right_passes(on, backend):
    checks = {"runs"} | {row[3] for row in CAUGHT if row[1] == on}
    assert {check: said for check in checks if (said := failure(replace(ON[on]), backend, check))} == {}


@each_backend
@pytest.mark.parametrize(("name", "on", "call", "check"), PREPARED, ids=in_words)
def test_a_wrong_prepared_call_is_caught(name, on, call, check, backend, monkeypatch):
    monkeypatch.setattr(adinterface, "prepare", preparing(call))
    scenario = replace(ON[on])
    if check == "state_untouched":
        failure(scenario, backend, "prepared")
    assert failure(scenario, backend, check)


#: Differences cannot tell that a value depends on nothing; what a compiler keeps in its own caches is not looked at.
NOT_SEEN = {("no DisconnectedWarning", "finite"), ("memory is kept", "jax"), ("objects are kept", "jax")}


@each_backend
@pytest.mark.parametrize(("name", "on", "mutate", "check"), [*OPERATORS, *RECEIVED, *OWNERSHIP], ids=in_words)
def test_a_wrong_call_is_caught(name, on, mutate, check, backend):
    scenario = replace(ON[on], operator=mutate(ON[on].operator))
    said = failure(scenario, backend, check)
    short = next(short for short, other in BACKENDS.items() if other == backend)
    assert bool(said) is ((name, short) not in NOT_SEEN), said


@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch(), AutoAutograd()], ids=lambda backend: backend.name)
@pytest.mark.parametrize("on", ["hvp", "hessian"])
def test_a_rule_whose_derivative_is_not_recorded_is_caught(on, backend, monkeypatch):
    wrong = scalar_rule(np.exp, lambda value, x: ignore_derivatives(value))
    monkeypatch.setattr(ownership, "exponential", wrong)
    assert failure(replace(ON[on]), backend, "recorded")


#: Of an engine: the backend, a part of its state, how it is read and written, and another value of it.
OF_ENGINES = [
    (AutoTorch(), "get_num_threads", torch.get_num_threads, torch.set_num_threads, 3),
    (AutoTorch(), "get_default_dtype", torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    (AutoTorch(), "get_default_device", torch.get_default_device, torch.set_default_device, "meta"),
    (AutoTorch(), "matmul_precision", torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"),
    (AutoTorch(), "are_deterministic", torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
    (AutoTorch(), "anomaly", torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly, True),
    (
        AutoTorch(),
        "cudnn.benchmark",
        lambda: torch.backends.cudnn.benchmark,
        lambda value: setattr(torch.backends.cudnn, "benchmark", value),
        True,
    ),
    (
        AutoTorch(),
        "mkldnn.deterministic",
        lambda: torch.backends.mkldnn.deterministic,
        lambda value: setattr(torch.backends.mkldnn, "deterministic", value),
        True,
    ),
    *[
        (AutoJax(), name, functools.partial(getattr, jax.config, name), functools.partial(jax.config.update, name), other)
        for name, other in (
            ("jax_default_matmul_precision", "float32"),
            ("jax_debug_nans", True),
            ("jax_numpy_dtype_promotion", "strict"),
        )
    ],
]


@pytest.mark.parametrize(("backend", "part", "read", "write", "other"), OF_ENGINES, ids=[row[1] for row in OF_ENGINES])
def test_what_a_call_changes_in_an_engine_is_caught(backend, part, read, write, other):
    kept = read()

    def changed(operator, f, backend, args, kwargs):
        right = operator(f, backend, *args, **kwargs)
        write(other)
        return right

    scenario = replace(ON["cubes"], operator=wrapped(changed)(ON["cubes"].operator))
    try:
        assert part in failure(scenario, backend, "state_untouched")
    finally:
        write(kept)


def test_the_state_that_is_compared_holds_numbers_of_threads():
    """That of threads between operations can be set once, before the first work, so no test sets it."""
    state = global_state(AutoTorch())
    assert {"torch.get_num_threads()", "torch.get_num_interop_threads()"} <= state.keys()
    assert state["denormal numbers"]
    assert state["rounding"] == (True, False)


# Scenarios that show what is wrong for some arguments alone -------------------------------------------------------------


def _numbers(tree):
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in _numbers(child)]
    if isinstance(tree, (tuple, list)):
        return [leaf for child in tree for leaf in _numbers(child)]
    return [tree] if isinstance(tree, (np.ndarray, np.generic)) else []


def only_if(condition, change):
    """A result changed where an argument is so."""

    def changed(operator, f, backend, args, kwargs):
        right = operator(f, backend, *args, **kwargs)
        return tuple(map(change, right)) if any(map(condition, _numbers(args))) else right

    return wrapped(changed)


def _native(g):
    return g.astype(g.dtype.newbyteorder("=")) if isinstance(g, np.ndarray) else g


TAGGED = [
    ("float16", only_if(lambda x: x.dtype == "float16", lambda g: g.astype("float32"))),
    ("float16", only_if(lambda x: x.dtype == "float16", lambda g: 2 * g)),
    ("float16", only_if(lambda x: x.dtype == "float16", lambda g: g[::-1])),
    ("complex64", only_if(lambda x: x.dtype == "complex64", np.conj)),
    ("complex64", only_if(lambda x: x.dtype == "complex64", lambda g: g.astype("complex128"))),
    ("complex64", only_if(lambda x: x.dtype == "complex64", lambda g: g.real)),
    ("large", only_if(lambda x: x.size > 128, lambda g: np.append(g[:128], 0 * g[128:]))),
    ("large", only_if(lambda x: x.size > 128, lambda g: np.roll(g, 1))),
    ("large", only_if(lambda x: x.size > 128, lambda g: g.astype("float32"))),
    ("big-endian", only_if(lambda x: not x.dtype.isnative, _native)),
    ("big-endian", only_if(lambda x: not x.dtype.isnative, lambda g: g.byteswap())),
    ("big-endian", only_if(lambda x: not x.dtype.isnative, lambda g: 0 * g)),
    ("numpy-scalar", only_if(lambda x: isinstance(x, np.generic), np.asarray)),
    ("numpy-scalar", only_if(lambda x: isinstance(x, np.generic), float)),
    ("numpy-scalar", only_if(lambda x: isinstance(x, np.generic), lambda g: g * 2)),
]  # fmt: skip


@each_backend
@pytest.mark.parametrize(("tag", "mutate"), TAGGED, ids=in_words)
def test_some_scenario_shows_what_is_wrong_for_some_arguments_alone(tag, mutate, backend):
    scenario = next(each for each in SCENARIOS if tag in each.tags and each.operator is gradient)
    checks = ("formula", "structure", "dtype", "memory")
    wrong = replace(scenario, operator=mutate(gradient))
    assert any(failure(wrong, backend, check) for check in checks)


@each_backend
@pytest.mark.parametrize(
    "cut", [lambda g: g[:32], lambda g: np.append(g[:32], g[:8], 0), lambda g: np.append(g[:32], 0 * g[32:], 0)]
)
@pytest.mark.parametrize(("on", "map_"), [("pullback", Back), ("linearize", Push)])
def test_a_stack_that_is_wrong_from_row_33_on_is_caught(on, map_, cut, backend, monkeypatch):
    right = map_.stacked

    def stacked(self, *stacks):
        found = right(self, *stacks)
        return tuple(g if g is None else cut(g) for g in found) if isinstance(found, tuple) else cut(found)

    assert failure(replace(ON[on]), backend, "stacks") is None
    monkeypatch.setattr(map_, "stacked", stacked)
    assert failure(replace(ON[on]), backend, "stacks")
