"""Wrong calls, as one table: the call, the class of its error, and its words: what was wrong, what
was seen, what to do.

The words are the whole message with its notes; `...` stands for anything. A new message has its row
here.
"""

import asyncio
import collections
import copy
import dataclasses
import enum
import pickle
import re
import types
import warnings
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from unittest import mock

import autograd.extend
import autograd.numpy
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.sparse
import scipy.spatial
import scipy.special
import torch
from autograd.tracer import new_box
from backends_table import BACKENDS, ENGINES, assert_told, assert_tree, each_engine
from example_calls import arguments_for, examples
from torch.autograd import forward_ad
from torch.utils.checkpoint import checkpoint

import adinterface.scipy.special
from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    DisconnectedWarning,
    Each,
    NotDifferentiableError,
    NotRecordedError,
    OutputError,
    PrecisionError,
    RuleError,
    SecondOrder,
    TreeError,
    array_namespace,
    batched,
    check_gradient,
    compare,
    derivative,
    diagonal_hessian,
    explain,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    register_node,
    rule,
    tree,
    value_and_gradient,
)
from adinterface.core.contract import registry
from adinterface.fit import minimize
from adinterface.rules import checkpoint as checkpoint_rule
from adinterface.rules import (
    differentiate_with,
    fixed_point,
    gradient_hook,
    ignore_derivatives,
    linear_solve,
    non_differentiable,
    root,
    scalar_rule,
)
from adinterface.tools import backend_of, check_neutral, check_rule, choose, with_argnums
from adinterface.tools import summary as tools_summary
from adinterface.tools.facts import operator_of, operator_rows

JAX, TORCH, AUTOGRAD, FINITE = AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences()
FORWARD = AutoTorch(mode="forward")
X, ONES = np.array([1.0, 2.0]), np.ones(2)
#: What the array of an engine is called.
AN = {"jax": "a jax", "torch": "a torch", "autograd": "an autograd", "finite": "a numpy"}

DIFFERENTIATING, EVERY = "jax torch autograd", "finite jax torch autograd"
#: The rows: name, engine, call, class, words.
ROWS = []


def rows(cls, engines, **table):
    """Add rows `name=(call of a backend, words)` for each of these engines.

    `<an>` is what its array is called.
    """
    for name, (call, words) in table.items():
        for engine in engines.split():
            ROWS.append((name, engine, call, cls, words.replace("<an>", AN[engine])))


def square(x):
    return (x * x).sum()


def product(x, y):
    return (x * y).sum()


def never(*args):
    raise AssertionError("f was called")


def cumulated():
    box = new_box(np.ones((2, 2)), 0, autograd.core.VJPNode.new_root())
    return array_namespace(box).cumulative_sum(box)


# Backends, functions and operators
# --------------------------------------------------------------------------------------

_PASS = "Pass an object such as AutoJax(), AutoTorch(), AutoAutograd() or AutoFiniteDifferences()."
_NOT = "The argument `backend` must be a backend, not "
_ORDER = f". The order of arguments is operator(f, backend, *args), all by position. {_PASS}"
_CALLED = "Pass the function itself, without calling it: f, not f(x)."
_F = "gradient: f must be a function, but is "


@dataclasses.dataclass(frozen=True)
class AutoOption(AutoBackend):
    name = "option"
    fast: bool = False
    weights: object = None


rows(
    BackendError, "finite",
    backend_behind_x=(lambda b: gradient(square, X, b), f"{_NOT}array([1., 2.]){_ORDER}"),
    no_backend=(lambda b: gradient(square, 2.0), f"{_NOT}2.0{_ORDER}"),
    backend_before_f=(lambda b: gradient(b, square, X), f"{_NOT}{square!r}{_ORDER}"),
    two_backends=(lambda b: gradient(square, [b, b], X), f"{_NOT}[AutoFiniteDifferences(...)]{_ORDER}"),
    name_of_an_engine=(lambda b: gradient(square, "jax", X), f"{_NOT}'jax'. Write AutoJax()."),
    name_of_a_backend=(lambda b: gradient(square, "AutoTorch", X), f"{_NOT}'AutoTorch'. Write AutoTorch()."),
    another_name=(lambda b: gradient(square, "numpy", X), f"{_NOT}'numpy'{_ORDER}"),
    a_class=(lambda b: gradient(square, AutoJax, X), f"{_NOT}{AutoJax!r}. Write AutoJax()."),
    class_of_pairs=(lambda b: gradient(square, SecondOrder, X), "... Write SecondOrder(outer, inner)."),
    class_of_all=(lambda b: gradient(square, AutoBackend, X), f"{_NOT}{AutoBackend!r}{_ORDER}"),
    backend_is_None=(lambda b: gradient(square, None, X), f"{_NOT}None{_ORDER}"),
    a_long_backend=(lambda b: gradient(square, list(range(200)), X), f"{_NOT}a list{_ORDER}"),
    a_backend_inside=(lambda b: AutoFiniteDifferences(native="jax"),
     "AutoFiniteDifferences: native must be a backend, not 'jax'. Pass an..."),
    a_class_inside=(lambda b: AutoFiniteDifferences(native=AutoJax), "...AutoJax'>. Write AutoJax()."),
    outer_of_a_pair=(lambda b: SecondOrder("jax", b),
     "SecondOrder: outer must be a backend, not 'jax'. Pass an object such as AutoJax() or AutoTorch()."),
    inner_of_a_pair=(lambda b: SecondOrder(b, None), "SecondOrder: inner must be a backend, not None. Pass..."),
    pair_of_pairs=(lambda b: hessian(square, SecondOrder(b, SecondOrder(b, b)), X),
     "SecondOrder takes two first-order backends. For a third derivative nest the calls: the derivative of a function that "
     "computes a second derivative."),
    devices_of_a_pair=(lambda b: hessian(square, SecondOrder(AutoTorch(device="cpu"), TORCH), 2.0),
     "...f gets the arrays of the inner backend, so that one takes the device, or both take the same..."),
    device_of_jax=(lambda b: gradient(square, AutoJax(device="cpu"), 2.0),
     f"AutoJax: device must be a jax.Device, a Sharding or None, not 'cpu'. JAX sees {', '.join(map(str, jax.devices()))}."),
    no_list_of_backends=(lambda b: compare(gradient, square, "jax", X),
     "compare(operator, f, backends, *args): backends must be a list of backend values, such as [AutoFiniteDifferences()]."),
    one_backend_for_a_list=(lambda b: check_neutral(square, X, backends=b),
     "check_neutral(f, *args, backends=...): backends must be a list; write [AutoFiniteDifferences()]."),
)  # fmt: skip
rows(
    TypeError, "finite",
    backend_as_a_keyword=(lambda b: gradient(square, backend=b), "...missing ... required positional argument..."),
    f_alone=(lambda b: gradient(square), "...missing ... required positional argument..."),
    unknown_option=(lambda b: AutoJax(foo=1), "...unexpected keyword argument 'foo'"),
    f_is_a_value=(lambda b: gradient(square(X), b, X), f"{_F}a numpy array of dtype float64 and shape (). {_CALLED}"),
    f_is_a_float=(lambda b: gradient(2.5, b, X), f"{_F}the float 2.5. {_CALLED}"),
    f_is_gradients=(lambda b: gradient(gradient(square, b, X), b, X), f"{_F}a tuple. {_CALLED}"),
    f_is_None=(lambda b: gradient(None, b, X), f"{_F}None. Does the function that made it lack a return statement?"),
    f_is_a_name=(lambda b: gradient("square", b, X), f"{_F}a str. Pass the function itself, without quotes."),
    f_in_a_Constant=(lambda b: gradient(Constant(square), b, X),
     f"{_F}a Constant. Constant(...) is for arguments; pass the function itself."),
    f_is_a_backend=(lambda b: gradient(b, b, X), f"{_F}the backend AutoFiniteDifferences. f stands in front of the backend."),
    numpy_function=(lambda b: numpy_function(2.5),
     "numpy_function takes a function, not a float: write @numpy_function above its definition, or numpy_function(f)."),
    two_libraries=(lambda b: array_namespace(torch.ones(2), jnp.ones(2), 2.0, None),
     "array_namespace: jax and torch arrays do not mix; convert them to one library first."),
)  # fmt: skip
rows(
    ValueError, "finite",
    mode=(lambda b: AutoJax(mode="backward"), "AutoJax: mode must be 'forward', 'reverse' or None, not 'backward'."),
    mode_of_a_type=(lambda b: AutoTorch(mode=True), "AutoTorch: mode must be 'forward', 'reverse' or None, not True."),
    chunks_of_a_type=(lambda b: AutoJax(chunk_size=True), "AutoJax: chunk_size must be a positive int or None, not True."),
    switch=(lambda b: AutoJax("reverse", "x"), "AutoJax: jit must be True or False, not 'x'."),
    switch_of_another=(lambda b: AutoOption("x"), "AutoOption: fast must be True or False, not 'x'."),
    chunks=(lambda b: AutoTorch(chunk_size=0), "AutoTorch: chunk_size must be a positive int or None, not 0."),
    axis_of_a_box=(lambda b: cumulated(), "cumulative_sum needs an axis for an array of more than one dimension."),
)  # fmt: skip
_METHODS = "'adaptive', 'central', 'forward', 'backward', 'complex'"
_LIMITS, _NOISE = (
    "(lowest, highest), each a number or None",
    "a number that is not negative, or (relative, absolute)",
)
_EXECUTOR = (
    "executor must be an executor such as ThreadPoolExecutor(4), or a function that maps as map does,"
    " not"
)
_OPTIONS = (
    ({"method": "secant"}, f"method must be one of {_METHODS}, not 'secant'."),
    ({"order": 4}, "order goes with fixed steps; 'adaptive' chooses its own. Leave it out."),
    ({"method": "central", "order": 3}, "order must be an even number from 2 to 12 for 'central', not 3."),
    ({"method": "forward", "order": 0}, "order must be a number from 1 to 12 for 'forward', not 0."),
    ({"scale": -1.0}, "scale must be a positive number or None, not -1.0."),
    ({"step": 0.0}, "step must be a positive number or None, not 0.0."),
    ({"step": np.inf}, "step must be a positive number or None, not inf."),
    ({"max_evaluations": 3}, "max_evaluations must be an int of at least 4, not 3."),
    ({"bounds": (1, 0)}, f"bounds must be {_LIMITS}, not (1, 0)."),
    ({"noise": -1e-3}, f"noise must be {_NOISE}, not -0.001."),
    ({"method": 3}, f"method must be one of {_METHODS}, not 3."),
    ({"method": "central", "order": 2.0}, "order must be an even number from 2 to 12 for 'central', not 2.0."),
    ({"step": "x"}, "step must be a positive number or None, not 'x'."),
    ({"scale": True}, "scale must be a positive number or None, not True."),
    ({"max_evaluations": 10.0}, "max_evaluations must be an int of at least 4, not 10.0."),
    ({"bounds": 3}, f"bounds must be {_LIMITS}, not 3."),
    ({"bounds": ("0", 1)}, f"bounds must be {_LIMITS}, not ('0', 1)."),
    ({"noise": "x"}, f"noise must be {_NOISE}, not 'x'."),
    ({"executor": 4}, f"{_EXECUTOR} 4."),
    ({"executor": Executor}, f"{_EXECUTOR} <c..."),
)  # fmt: skip
for _n, (_options, _words) in enumerate(_OPTIONS):
    rows(ValueError, "finite", **{f"option_{_n}_{[*_options][-1]}": (
        lambda b, options=_options: AutoFiniteDifferences(**options), f"AutoFiniteDifferences: {_words}",
    )})  # fmt: skip
rows(
    AttributeError, "finite",
    name_in_jax=(lambda b: adinterface.grad, "... It is adinterface.gradient"),
)  # fmt: skip

rows(
    RuleError, "finite",
    pullback_without_the_value=(lambda b: rule(square).pullback(lambda cotangent, x: cotangent),
     "square: its pullback is called with (cotangent, value, x), and must take so many arguments."),
    pushforward_without_the_value=(lambda b: rule(product).pushforward(lambda tangents, x, y: x),
     "product: its pushforward is called with (tangents, value, x, y), and must take so many arguments."),
)  # fmt: skip

_MADE = {
    "prepare(operator, f, backend, *example_args)": lambda operator, f, b: prepare(
        operator, f, b, X
    ),
    "explain(operator, f, backend, *args)": lambda operator, f, b: explain(operator, f, b, X),
    "compare(operator, f, backends, *args)": lambda operator, f, b: compare(operator, f, [b], X),
}
_OPERATORS = ", ".join(sorted(row.name for row in operator_rows()))
for _made, _take in _MADE.items():
    _start = f"{_made}: operator must be one of {_OPERATORS}, not "
    _itself = f". It is passed itself, not called: {_made.replace('operator', 'gradient')}."
    rows(TypeError, "finite", **{
        f"{_made[:7]}_{name}": (lambda b, take=_take, operator=operator, f=f: take(operator, f, b), words)
        for name, operator, f, words in (
            ("called", (X,), square, f"{_start}a tuple{_itself}"),
            ("None", None, square, f"{_start}a NoneType{_itself}"),
            ("name", "hessian", square, f"{_start}'hessian'. Pass hessian itself, without quotes."),
            ("another_name", "loss", square, f"{_start}'loss'."),
            ("wrong_order", square, gradient, f"{_start}{square!r}."),
            ("left_out", square, JAX, f"{_start}{square!r}."),
        )
    })  # fmt: skip

CALLERS = {
    **{
        e.operator.__name__: lambda f, b, e=e: e.operator(f, b, *e.args)
        for e in examples().values()
    },
    "prepare": lambda f, b: prepare(gradient, f, b, X),
    "explain": lambda f, b: explain(gradient, f, b, X),
    "compare": lambda f, b: compare(gradient, f, [b], X),
    "check_gradient": lambda f, b: check_gradient(f, b, X),
    "check_neutral": lambda f, b: check_neutral(f, X, backends=[b]),
}
rows(TypeError, "finite", **{
    f"f_of_{name}": (lambda b, call=call: call(None, b), f"{name}: f must be a function, but is None. Does the ...?")
    for name, call in CALLERS.items()
})  # fmt: skip

# Keywords
# ------------------------------------------------------------------------------------------------

_ALL = "Every positional argument is differentiated: wrap the others in Constant(...)"
_WORDS = "...\nKeyword arguments go to f, {} too. {}..."
rows(TypeError, DIFFERENTIATING, **{
    f"keyword_{name}{'_prepared' * prepared}": (
        partial(lambda b, prepared, given: (prepare(gradient, product, b, X, X) if prepared else partial(gradient, product, b))(
            X, X, **given), prepared=prepared, given={name: value}),
        _WORDS.format(name, remedy),
    )
    for name, value, remedy in (
        ("argnums", 0, _ALL),
        ("wrt", "x", _ALL),
        ("has_aux", True, "Write value_and_gradient, whose f returns (scalar, auxiliary)"),
        ("mode", "forward", "It is an option of the backend: Auto...(mode=...)"),
        ("backend", AUTOGRAD, "Write gradient(f, backend, x), by position"),
        ("allow_unused", True, "f does not take it"),
    )
    for prepared in (False, True)
})  # fmt: skip
rows(
    TypeError, "torch",
    create_graph=(lambda b: gradient(square, b, X, create_graph=True), "...AutoTorch(create_graph=...)..."),
)  # fmt: skip
_AGAIN = "...a prepared call takes the arguments of f alone, fast(x)...."
rows(
    TypeError, DIFFERENTIATING,
    prepared_given_f=(lambda b: prepare(gradient, square, b, X)(square, b, X), _AGAIN),
    prepared_given_its_backend=(lambda b: prepare(gradient, square, b, X)(b, X), _AGAIN),
)  # fmt: skip
rows(
    NotDifferentiableError, DIFFERENTIATING,
    prepared_given_nothing=(lambda b: prepare(gradient, square, b, X)(), "...There is no argument at all..."),
)  # fmt: skip

# What results are
# ------------------------------------------------------------------------------------------------

_LIST = (
    "...\nargument 0 is a list, which reaches f as a list of its entries. Pass np.array(x) for one"
    " array..."
)
rows(
    TypeError, EVERY,
    gradient_as_an_array=(lambda b: gradient(square, b, X) / 2, "...tuple..."),
    list_times_itself=(lambda b: gradient(square, b, [1.0, 2.0]), _LIST),
    index_of_lists=(lambda b: gradient(lambda x: x[0, 1], b, [[1.0, 2.0], [3.0, 4.0]]), _LIST),
    a_tuple=(lambda b: gradient(lambda x: 2.0 * x, b, (1.0, 2.0)),
     "...argument 0 is a tuple...np.array(x)..., or gradient(f, backend, *x)..."),
    tuple_of_arguments=(lambda b: gradient(product, b, (X, X)),
     "...argument 0 is one tuple. Pass its entries ...: gradient(f, backend, *x)..."),
    a_dict=(lambda b: gradient(square, b, {"w": X}), "...argument 0 is a dict...Compute with its entries..."),
)  # fmt: skip
rows(
    (TypeError, OutputError), EVERY,
    list_times_a_number=(lambda b: gradient(lambda x: 2.0 * x, b, [1.0, 2.0]), _LIST),
)  # fmt: skip
rows(
    AttributeError, EVERY,
    shape_of_a_list=(lambda b: gradient(lambda x: 1.0 * x.shape[0], b, [1.0, 2.0]), _LIST),
    second_argument=(lambda b: gradient(lambda x, y: product(x, y.T), b, X, [1.0]), "...\nargument 1 is a list..."),
)  # fmt: skip

# Nothing differentiable
# -------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Plain:
    w: object
    b: object = None


class Pair(collections.namedtuple("Pair", "first second")):
    __slots__ = ()


_NOTHING = (
    "gradient: no argument has a gradient.{}\nPass floating numbers or arrays; a model's arrays"
    " must be floating to be trained."
)
_NO_ARGUMENT = (
    "\n  There is no argument at all: write gradient(f, backend, x), or prepare(gradient, f,"
    " backend, x)."
)
rows(NotDifferentiableError, EVERY, **{
    f"nothing_in_{name}": (lambda b, args=args: gradient(never, b, *args), _NOTHING.format("".join(f"\n  {x}" for x in lines)))
    for name, (args, lines) in {
        "no_argument": ((), [_NO_ARGUMENT[3:]]),
        "scalars": ((None, True, "text", "t" * 60), [
            "args[0]: None (None has no gradient)", "args[1]: bool True (a bool has no gradient)",
            "args[2]: str 'text' (str has no gradient)", "args[3]: str (str has no gradient)"]),
        "objects": ((Color.RED, int), [
            "args[0]: Color <Color.RED: 1> (Color has no gradient)", "args[1]: type <class 'int'> (type has no gradient)"]),
        "a_tree": (({"k": [3, Constant(X)], 3: (Plain("s"),)}, Pair(1, np.arange(3))), [
            "args[0]['k'][0]: int 3 (an int inside a tree has no gradient)",
            "args[0]['k'][1]: Constant (marked as not differentiated)",
            "args[0][3][0].w: str 's' (str has no gradient)", "args[0][3][0].b: None (None has no gradient)",
            "args[1].first: int 1 (an int inside a tree has no gradient)",
            "args[1].second: a numpy array of dtype int64 and shape (3,) (integers inside a tree have no gradient)"]),
        "arrays": ((np.array(["2024-01-01"], "datetime64[D]"), np.array([True])), [
            "args[0]: ndarray (dtype datetime64[D])",
            "args[1]: a numpy array of dtype bool and shape (1,) (a bool has no gradient)"]),
        "empty_trees": (({}, [()]), []),
    }.items()
})  # fmt: skip
rows(
    NotDifferentiableError, "finite",
    x_as_a_keyword=(lambda b: gradient(square, b, x=X),
     _NOTHING.format(f"{_NO_ARGUMENT}\n  A keyword is not differentiated: pass x by position.")),
    a_frozen_module=(lambda b: gradient(never, b, torch.nn.Linear(1, 1).requires_grad_(False)),
     "...\n  args[0].weight: Constant..."),
    prepare_without_example=(lambda b: prepare(gradient, square, b), f"...{_NO_ARGUMENT}..."),
)  # fmt: skip

# One argument, one number, real numbers
# ---------------------------------------------------------------------------------

_ONE = "{} differentiates exactly one argument, the first, but args[1] would be, too. Wrap every further argument in " \
    "Constant(...), " \
    "or pass one tuple or dict that holds them all."  # fmt: skip
for _row in operator_rows():
    _operator, _name = operator_of(_row), _row.name

    def _of(b, x, *rest, operator=_operator, row=_row):
        return operator(never, b, *arguments_for(row, x, x, *rest))

    if _row.takes in ("one number", "one argument"):
        rows(
            NotDifferentiableError,
            "finite",
            **{f"{_name}_of_two": (lambda b, of=_of: of(b, 1.0, 2), _ONE.format(_name))},
        )
    if _row.takes == "one number":
        rows(NotDifferentiableError, "finite", **{f"{_name}_of_a_vector": (
            lambda b, of=_of: of(b, X),
            f"{_name} differentiates with respect to one real number, but args[0] holds an array of shape (2,). Use "
            f"jacobian, or "
            "pushforward for the derivative in one direction.",
        )})  # fmt: skip
    if _row.takes == "one number" or (_row.order == 2 and not _name.endswith("hvp")):
        _parts = (
            "A holomorphic derivative is a jacobian; otherwise pass the real and imaginary parts as"
            " two real arguments."
        )
        _parts = (
            _parts
            if "derivative" in _name
            else "Pass its real and imaginary parts as two real arrays."
        )
        rows(NotDifferentiableError, EVERY, **{f"{_name}_of_a_complex_number": (
            lambda b, of=_of: of(b, np.array(1 + 2j)),
            f"{_name} is taken with respect to real arguments only, but args[0] is complex. {_parts}",
        )})  # fmt: skip
rows(
    NotDifferentiableError, "finite",
    nothing_first=(lambda b: hessian(never, b, {"a": Constant(X), "n": 3}, 2.0),
     "...the first, but args[0] has no gradient..."),
    several_more=(lambda b: derivative(never, b, 1.0, Constant(1.0), 2.0, {"a": X}),
     "...but args[2], args[3] would be, too..."),
    two_numbers=(lambda b: derivative(never, b, (1.0, 2.0)), "...but args[0] holds 2 arrays..."),
    complex_deep_in_a_tree=(lambda b: hessian(never, b, {"a": ONES, "layers": [1.0, {"w": ONES + 1j}]}),
     "...but args[0]['layers'][1]['w'] is complex..."),
)  # fmt: skip
rows(
    TypeError, "finite",
    hvp_without_v=(lambda b: hvp(square, b, X), "...missing 1 required positional argument: 'v'"),
    prepared_hvp_without_v=(lambda b: prepare(hvp, square, b, X, X)(X),
     "hvp(f, backend, x, v, *constants): takes x and its direction v, but got 1."),
    prepared_pushforward_without_tangents=(lambda b: prepare(pushforward, square, b, (X,), (X,))((X,)),
     "pushforward(f, backend, args, tangents): takes two tuples, arguments and tangents, but got 1."),
    pushforward_without_tuples=(lambda b: pushforward(square, b, X, X),
     "pushforward(f, backend, args, tangents): args must be a tuple with one entry for each argument of f, not a ndarray."),
    tangents_in_a_list=(lambda b: pushforward(square, b, (X,), [X]),
     "pushforward(f, backend, args, tangents): tangents must be a tuple with one entry for each argument of f, not a list."),
)  # fmt: skip

# What f returns
# ------------------------------------------------------------------------------------------------


async def coroutine(x):
    return x.sum()


def generator(x):
    yield x.sum()


_NUMBER = "Return a float; counts and tests have no derivative."
_ASIDE = "for a tree of arrays use jacobian or pullback."
_TREE = (
    "For auxiliary results after the scalar use value_and_gradient, with the scalar first;"
    f" {_ASIDE}"
)
_BESIDE = (
    "Auxiliary results follow the scalar in a tuple, namedtuple, dict or dataclass, with the"
    f" scalar first; {_ASIDE}"
)
_SUM = "Reduce it to a scalar (a sum or a mean), or use jacobian."
_RETURN = "Does it lack a return statement?"
#: What is no scalar: f, what the message says that it returned, the remedy.
NO_SCALAR = {
    "vector": (lambda x: x * x, "<an> array of dtype float64 and shape (2,)", _SUM),
    "one_entry": (
        lambda x: x[:1], "<an> array of dtype float64 and shape (1,)",
        "Index it or take its sum to get a 0-d result, or use jacobian.",
    ),
    "empty": (lambda x: x[:0], "<an> array of dtype float64 and shape (0,)", _SUM),
    "complex": (
        lambda x: (1j * x).sum(), "<an> array of dtype complex128 and shape ()",
        "Return its real part or its squared modulus, or use jacobian for the derivative of a complex function.",
    ),
    "int": (lambda x: 3, "the int 3", _NUMBER),
    "numpy_bool": (lambda x: np.bool_(True), "a numpy array of dtype bool and shape ()", _NUMBER),
    "None": (lambda x: None, "None", _RETURN),
    "list": (lambda x: [x.sum()], "a list", _TREE),
    "str": (lambda x: "text", "a str", "Return the number, not its text."),
}  # fmt: skip
rows(OutputError, EVERY, **{
    f"{operator.__name__}_of_{name}": (
        lambda b, operator=operator, f=f: operator(f, b, X) if operator is not hvp else hvp(f, b, X, X),
        f"{operator.__name__}: f must return a real scalar, but returned {seen}. "
        f"{_BESIDE if remedy == _TREE and operator is value_and_gradient else remedy}",
    )
    for name, (f, seen, remedy) in NO_SCALAR.items()
    for operator in (gradient, value_and_gradient, hessian, hvp)
})  # fmt: skip
rows(OutputError, "finite", **{f"{operator.__name__}_with_aux_of_{name}": (
    lambda b, operator=operator, f=f: operator(f, b, X),
    f"{operator.__name__}: f must return a real scalar, but returned {seen}. {remedy}",
) for operator, name, f, seen, remedy in (
    (gradient, "tuple", lambda x: (x.sum(), x), "a tuple", _TREE),
    (hessian, "dict", lambda x: {"loss": x.sum()}, "a dict", _TREE),
    (gradient, "dataclass", lambda x: Plain(x.sum(), x), "a Plain", _TREE),
    (value_and_gradient, "vector_first", lambda x: (x, x.sum()), "a numpy array of dtype float64 and shape (2,)", _SUM),
    (value_and_gradient, "None_first", lambda x: (None, x.sum()), "None", _RETURN),
    (value_and_gradient, "int_first", lambda x: {"n": 3, "loss": x.sum()}, "the int 3", _NUMBER),
    (value_and_gradient, "dataclass", lambda x: Plain(2 * x, x.sum()), "a numpy array of dtype float64 and shape (2,)", _SUM),
    (value_and_gradient, "empty", lambda x: (), "a tuple", _BESIDE),
)})  # fmt: skip
rows(OutputError, EVERY, **{
    f"{operator.__name__}_of_{name}": (lambda b, operator=operator, f=f: operator(f, b, X), f"...returned a {words}...")
    for name, f, words in (
        ("generator", generator, "generator...f contains a yield..."),
        ("coroutine", coroutine, "coroutine...f is an async function: write a plain one"),
        ("function", lambda x: lambda y: x.sum(), "function...Return its value: call it in f"),
        ("set", lambda x: {1.0}, "set...Return list(x)"),
    )
    for operator in (gradient, jacobian)
})  # fmt: skip
_NO_DERIVATIVE = (
    "{}: f returned {}, in which nothing has a derivative. Return floating numbers or arrays."
)
rows(OutputError, EVERY, **{
    f"{name}_of_what_has_no_derivative": (
        lambda b, operator=operator, args=args, returned=returned: operator(lambda x: returned, b, *args),
        _NO_DERIVATIVE.format(name, said),
    )
    for name, operator, args, returned, said in (
        ("jacobian", jacobian, (X,), 3, "the int 3"),
        ("pullback", pullback, (X,), None, "a NoneType"),
        ("linearize", linearize, (X,), {"a": "b"}, "a dict"),
        ("pushforward", pushforward, ((X,), (X,)), (), "a tuple"),
        ("derivative", derivative, (1.0,), 3, "the int 3"),
    )
})  # fmt: skip
rows(
    NotDifferentiableError, "autograd",
    an_array_of_boxes=(lambda b: jacobian(lambda x: np.concatenate([x, x]), b, X),
     "the result of f is a NumPy array of object dtype...\nNumPy or SciPy was called on an array that autograd is tracing..."),
)  # fmt: skip

# Cotangents and tangents
# ------------------------------------------------------------------------------------------------


def forms(x, s):
    """A value with a dict, a tuple, a list, a dataclass, an integer array and a name."""
    xp = array_namespace(x)
    return {
        "y": x * s,
        "pair": (x[0], [x * 2.0]),
        "point": Plain(s * 1.0, x),
        "n": xp.arange(2),
        "name": "f",
    }


def cotangent(**changes):
    return {
        "y": ONES,
        "pair": (1.0, [ONES]),
        "point": Plain(1.0, ONES),
        "n": None,
        "name": None,
    } | changes


def model():
    return {"w": X, "b": (0.5, 3), "frozen": Constant(X), "name": "layer"}


def loss(p):
    return array_namespace(p["w"]).sum(p["w"] ** 2 * p["b"][0])


def tangent(**changes):
    return {"w": X, "b": None, "frozen": None, "name": None} | changes


_ZERO, _OTHER = "or None for zero, not", "has another structure than the cotangent must have:"
_NARROWED = "must have dtype float32, not float64, which would be narrowed."
_STACK = "the {}: a stack needs at least one array with a leading axis."
rows(TreeError, EVERY, **{
    f"cotangent_{name}": (lambda b, wrong=wrong: pullback(forms, b, X, 2.0).back(wrong), f"cotangent{words}")
    for name, wrong, words in (
        ("keys", {key: value for key, value in cotangent(Y=ONES).items() if key not in ("y", "name")},
         f" {_OTHER} ['y'], ['name'] missing; ['Y'] not expected."),
        ("array_for_dict", ONES, f" must be a dict, {_ZERO} a ndarray."),
        ("list_for_tuple", cotangent(pair=[1.0, [ONES]]), f"['pair'] must be a tuple, {_ZERO} a list."),
        ("dict_for_dataclass", cotangent(point={"w": 1.0, "b": ONES}), f"['point'] must be a Plain, {_ZERO} a dict."),
        ("short_tuple", cotangent(pair=(1.0,)), f"['pair'] {_OTHER} [1] missing."),
        ("long_list", cotangent(pair=(1.0, [ONES, ONES])), f"['pair'][1] {_OTHER} [1] not expected."),
        ("shape", cotangent(point=Plain(1.0, np.ones((2, 1)))), "['point'].b must have shape (2,), not (2, 1)."),
        ("array_for_number", cotangent(pair=(np.ones(1), [ONES])), "['pair'][0] must have shape (), not (1,)."),
        ("complex", cotangent(y=ONES * 1j), "['y'] must be real (dtype float64), not complex128."),
        ("complex_number", cotangent(pair=(1j, [ONES])), "['pair'][0] must be real (dtype float64), not complex."),
        ("text", cotangent(y="ones"), f"['y'] must be an array of shape (2,), {_ZERO} a str."),
        ("for_integers", cotangent(n=ONES),
         "['n'] has no derivative, so the cotangent must be None there, not a numpy array of dtype float64 and shape (2,)."),
        (
            "for_text", cotangent(name=1.0),
            "['name'] has no derivative, so the cotangent must be None there, not the float 1.0.",
        ),
    )
}, **{
    f"tangent_{name}": (lambda b, wrong=wrong, call=call: call(b, wrong), f"{path}{words}")
    for name, wrong, words, path, call in (
        ("keys", {"w": X, "b": None, "frozen": None}, " has another structure than the tangent must have: ['name'] missing.",
         "tangents[0]", lambda b, v: pushforward(loss, b, (model(),), (v,))),
        ("list", tangent(b=[1.0, None]), f"['b'] must be a tuple, {_ZERO} a list.", "v", lambda b, v: hvp(loss, b, model(), v)),
        ("shape", tangent(w=np.ones((2, 1))), "['w'] must have shape (2,), not (2, 1).",
         "v", lambda b, v: gradient_and_hvp(loss, b, model(), v)),
        ("complex", tangent(w=X * 1j), "['w'] must be real (dtype float64), not complex128.",
         "tangents[0]", lambda b, v: linearize(loss, b, model()).push(v)),
        ("for_an_int", tangent(b=(1.0, 1.0)), "['b'][1] has no derivative, so the tangent must be None there, not the float "
        "1.0.",
         "v", lambda b, v: hvp(loss, b, model(), v)),
        ("for_a_Constant", tangent(frozen=2), "['frozen'] is a Constant, so the tangent must be None there, not the int 2.",
         "tangents[0]", lambda b, v: pushforward(loss, b, (model(),), (v,))),
        ("for_a_Constant_argument", X, " is a Constant, so the tangent must be None there, not a numpy array of dtype "
        "float64 and shape (2,).",
         "tangents[1]", lambda b, v: linearize(product, b, X, Constant(X)).push(X, v)),
    )
})  # fmt: skip
_COUNT = (
    "{}: there are 2 arguments, so there must be as many tangents, not {}; None is the tangent of a"
    " Constant."
)
rows(
    TreeError, EVERY,
    tangents_too_few=(lambda b: pushforward(product, b, (X, Constant(X)), (X,)), _COUNT.format("pushforward", 1)),
    tangents_too_many=(lambda b: linearize(product, b, X, Constant(X)).push(X, None, X), _COUNT.format("linearize", 3)),
    shape_of_a_cotangent=(lambda b: pullback(lambda x: x, b, X).back(np.ones(3)), "cotangent must have shape (2,), not (3,)."),
    cotangent_in_a_tuple=(lambda b: pullback(lambda x: x, b, X).back((X,)),
     "cotangent must have shape (2,), not (1, 2). Pass the array itself, without a tuple around it."),
    tangent_in_a_list=(lambda b: linearize(lambda x: x, b, X).push([X]),
     "tangents[0] must have shape (2,), not (1, 2). Pass the array itself, without a list around it."),
    tangent_before_f=(lambda b: hvp(never, b, X, np.ones(3)), "v must have shape (2,), not (3,)."),
    wide_cotangent=(lambda b: pullback(lambda x: x * 2, b, X.astype("f4")).back(ONES), f"cotangent {_NARROWED}"),
    wide_tangent=(lambda b: pushforward(lambda x: x * 2, b, (torch.ones(2),), (ONES,)), f"tangents[0] {_NARROWED}"),
    stacks_of_two_lengths=(lambda b: linearize(product, b, X, 2.0).push.stacked(np.ones((2, 2)), np.ones(4)),
     "tangents[1] must be a stack of shape (2,), not (4,)."),
    stack_of_nothing=(lambda b: linearize(product, b, X, 2.0).push.stacked(None, None), _STACK.format("tangent")),
)  # fmt: skip
rows(TreeError, EVERY, **{
    f"stack_{name}": (lambda b, wrong=wrong: pullback(lambda x: {"a": x, "b": x[0]}, b, X).back.stacked(wrong), words)
    for name, wrong, words in (
        ("two_lengths", {"a": np.ones((2, 2)), "b": np.ones(3)}, "cotangent['b'] must be a stack of shape (2,), not (3,)."),
        ("no_axis", {"a": ONES, "b": None}, "cotangent['a'] must be a stack of shape (n, 2), not (2,)."),
        ("no_axis_of_a_number", {"a": None, "b": 1.0}, "cotangent['b'] must be a stack of shape (n,), not ()."),
        ("another_shape", {"a": np.ones((2, 4)), "b": None}, "cotangent['a'] must be a stack of shape (n, 2), not (2, 4)."),
        ("None", {"a": None, "b": None}, _STACK.format("cotangent")),
    )
})  # fmt: skip

# Numbers and conversions
# ------------------------------------------------------------------------------------------------


def sparse(layout=torch.sparse_coo):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support beta
        return torch.eye(2, dtype=torch.float64).to_sparse(layout=layout)


def nested(layout=torch.strided):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls them a prototype
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)


_SPARSE = (
    "A torch tensor has layout torch.{}; pass x.to_dense(). AutoTorch() takes it in a"
    " Constant(...)."
)
_NESTED = "A torch tensor is nested, so it has no shape. Pass the list of its parts, list(x.unbind()), or " \
    "torch.nested.to_padded_tensor(x, 0.0). AutoTorch() takes it in a Constant(...)."  # fmt: skip
_META = "A torch tensor on the meta device has a shape but no numbers, so only AutoTorch() takes it. Give it numbers first: " \
    "torch.empty_like(x, device='cpu'), or module.to_empty(device='cpu')."  # fmt: skip
_LACKS = "{} has no {}, and nothing is narrowed silently. Convert the leaf yourself to one of float16, bfloat16, float32, " \
    "float64, " \
    "complex64, complex128, or use AutoFiniteDifferences(), which keeps every dtype."  # fmt: skip
_LONG = np.dtype(np.longdouble)
rows(
    ConversionError, EVERY,
    sparse_tensor=(lambda b: gradient(never, b, sparse()), _SPARSE.format("sparse_coo")),
    sparse_in_a_tree=(lambda b: gradient(never, b, {"k": [sparse(torch.sparse_csr)]}), _SPARSE.format("sparse_csr")),
    nested_tensor=(lambda b: gradient(never, b, nested()), _NESTED),
    nested_in_a_tree=(lambda b: gradient(never, b, {"k": [nested(torch.jagged)]}), _NESTED),
)  # fmt: skip
rows(
    ConversionError, "jax autograd",
    sparse_constant=(lambda b: gradient(product, b, 2.0, Constant(sparse())), "...pass x.to_dense()..."),
    mkldnn_constant=(lambda b: gradient(product, b, 2.0, Constant(torch.eye(2).to_mkldnn())), "...pass x.to_dense()..."),
)  # fmt: skip
rows(
    ConversionError, "jax autograd finite",
    meta=(lambda b: gradient(square, b, torch.ones(2, device="meta")), _META),
)  # fmt: skip
for _engine, _called in (("jax", "JAX"), ("torch", "PyTorch")):
    rows(
        PrecisionError, _engine,
        longdouble=(lambda b: gradient(never, b, X.astype(_LONG)), _LACKS.format(_called, _LONG.name)),
        longdouble_in_a_Constant=(lambda b: prepare(gradient, product, b, X, Constant(X))(X, Constant(X.astype(_LONG))),
         _LACKS.format(_called, _LONG.name)),
    )  # fmt: skip
_FIT = "An array of dtype {} holds values that do not fit {}, which JAX uses in a call without 64-bit floats. Make a " \
    "floating leaf " \
    "float64, or set jax_enable_x64."  # fmt: skip
rows(
    PrecisionError, "jax",
    large_int64=(lambda b: gradient(product, b, X.astype("f4"), Constant(np.array([2**31, 1]))), _FIT.format("int64", "int32")),
    large_uint64=(lambda b: gradient(lambda m: square(m[0]), b, [X.astype("f4"), np.array([2**32], "uint64")]),
     _FIT.format("uint64", "uint32")),
    small_int64=(lambda b: gradient(lambda x, n: square(x), b, X.astype("f4"), n=np.array([-(2**31) - 1])),
     _FIT.format("int64", "int32")),
)  # fmt: skip
rows(
    ConversionError, "jax",
    float4_of_torch=(lambda b: gradient(never, b, 1.0, Constant(torch.zeros(2).to(torch.uint8).view(torch.float4_e2m1fn_x2))),
     "NumPy has no float4_e2m1fn_x2, so only AutoTorch() takes such a tensor..."),
)  # fmt: skip
rows(
    RuntimeError, "jax",
    a_deleted_array=(lambda b: gradient(square, b, deleted()), "...has been deleted...donate_argnums has taken them..."),
)  # fmt: skip


def deleted():
    gone = jnp.ones(3)
    gone.delete()
    return gone


rows(
    RuntimeError, "torch",
    deleted_array=(lambda b: gradient(square, b, deleted()), "Array has been deleted..."),
)  # fmt: skip
rows(
    PrecisionError, "torch",
    float8_of_numpy=(lambda b: gradient(never, b, 1.0, Constant(np.zeros(2, ml_dtypes.float8_e3m4))),
     "PyTorch has no float8_e3m4, ..., complex128."),
)  # fmt: skip
rows(
    PrecisionError, "autograd",
    float8=(lambda b: gradient(never, b, 1.0, Constant(np.zeros(2, ml_dtypes.float8_e4m3fn))),
     "autograd has no float8_e4m3fn..."),
)  # fmt: skip
rows(
    PrecisionError, "finite",
    float8=(lambda b: gradient(square, b, np.ones(2, ml_dtypes.float8_e4m3fn)),
     "Finite differences: an argument of dtype float8_e4m3fn has too few digits for a step. ..."),
    narrow_value=(lambda b: gradient(lambda x: np.float32(x[0].sum()), b, (X, 2.0)),
     "Finite differences: f returned float32 for arguments of 64 bits, so its rounding error would drown every difference. "
     "Compute in the arguments' dtype, or pass arguments of dtype float32."),
    narrow_value_of_torch=(lambda b: jacobian(lambda x: torch.from_numpy(x).float(), b, X), "...f returned float32..."),
)  # fmt: skip
if not torch.cuda.is_available():
    rows(
        BackendError, "finite",
        device_of_torch=(lambda b: gradient(square, AutoFiniteDifferences(native=AutoTorch(device="cuda")), 2.0),
         "AutoTorch(device='cuda'): torch cannot put a tensor there (...). It sees cpu."),
    )  # fmt: skip

# Pairs of backends
# ------------------------------------------------------------------------------------------------

_TRACED = "A leaf is traced by {} ({}), and {} cannot see through that trace. Use one engine for nested calls, or " \
    "AutoFiniteDifferences() for the outer one."  # fmt: skip
_PAIRS = "... cannot work: {o} cannot see through the arrays of {i}. Pairs that do: one engine twice, such as " \
    "SecondOrder({i}(), {i}()), with any modes; or finite differences outside, " \
    "SecondOrder(AutoFiniteDifferences(), {i}())."  # fmt: skip
for _outer in ENGINES:
    for _inner in [name for name in ENGINES if name != _outer]:
        _i, _o = (type(ENGINES[name]).__name__ for name in (_inner, _outer))
        rows(ConversionError, _outer, **{f"{_inner}_inside": (
            lambda b, inner=ENGINES[_inner]: gradient(lambda x: gradient(square, inner, x)[0].sum(), b, X),
            _TRACED.format(_outer, "Box" if _outer == "autograd" else "...", _i),
        )})  # fmt: skip
        rows(BackendError, _outer, **{f"over_{_inner}": (
            lambda b, inner=ENGINES[_inner]: hessian(never, SecondOrder(b, inner), 0.7),
            _PAIRS.format(o=_o, i=_i),
        )})  # fmt: skip
rows(
    BackendError, DIFFERENTIATING,
    over_differences=(lambda b: hessian(never, SecondOrder(b, FINITE), 0.7),
     "... cannot see through ... SecondOrder(AutoFiniteDifferences(), ...()..."),
)  # fmt: skip
rows(BackendError, "torch", **{
    f"native_{name}": (lambda b, pair=pair: hessian(never, pair, 0.7), f"{pair!r} cannot work: ...")
    for name, pair in (
        ("outside", SecondOrder(AutoFiniteDifferences(native=JAX), TORCH)),
        ("inside", SecondOrder(TORCH, AutoFiniteDifferences(native=JAX))),
        ("both", SecondOrder(AutoFiniteDifferences(native=TORCH), AutoFiniteDifferences(native=AUTOGRAD))),
    )
})  # fmt: skip
_INSIDE = {
    "argument": lambda x: gradient(square, FINITE, x)[0].sum(),
    "number": lambda x: gradient(square, FINITE, x[0])[0].sum(),
    "captured": (
        lambda x: gradient(lambda y: (y**2 * x).sum(), FINITE, array_namespace(x).asarray(X))[
            0
        ].sum()
    ),
    "tangent": lambda x: pushforward(lambda y: y**2, FINITE, (X,), (x,)).tangent.sum(),
    "push": lambda x: linearize(lambda y: y**2, FINITE, X).push(x).sum(),
    "hessian": lambda x: hessian(square, FINITE, x).sum(),
}
rows((BackendError, ConversionError), DIFFERENTIATING, **{
    f"differences_inside_by_{name}": (
        lambda b, f=f: gradient(f, b, X), "...differentiate_with...",
    )
    for name, f in _INSIDE.items()
})  # fmt: skip

# Objects
# ------------------------------------------------------------------------------------------------


def other(package, attribute, bases=(), **attributes):
    """A class of a package that need not be installed."""
    return type(
        "Quantity",
        bases,
        {"__module__": package, attribute: property(lambda self: X), **attributes},
    )


class Opaque:
    def __init__(self, w=None):
        self.w = w


class Slots:
    __slots__ = ("__secret",)

    def __init__(self, secret):
        self.__secret = secret


class Labelled(np.ndarray):
    pass


def knot(*before):
    own = [*before]
    own.append(own)
    return own


_LOOK = "{0} is a " + __name__ + ".{2}, which adinterface cannot look into, but {0}{1} is a floating array: it would " \
    "silently have no gradient. " \
    "Register the class with register_node({2}, {3}), make it a dataclass, or wrap it in Constant(...)."  # fmt: skip
_FIELD = "{} is an attribute that is not a field but holds a floating array, which would silently have no gradient. Declare " \
    "it as a field, " \
    "mark it static with field(metadata={{'static': True}}), register the class with register_node, or wrap the object in " \
    "Constant(...)."  # fmt: skip
_NO_END = (
    "{} contains itself, or is nested deeper than Python's recursion limit lets it be taken apart."
    " Leave out a reference to a parent, or hold a weakref.ref; put the levels of a deep tree into a"
    " list."
)
_SUBCLASS = (
    "a subclass of numpy.ndarray whose meaning an engine would drop. Pass numpy.asarray(x),"
    " wrap it in Constant(...), or register the class with register_node."
)
_DTYPE = "which no engine differentiates. Convert it to floating arrays (for example x.astype(float), or a dict of fields), " \
    "or wrap it in " \
    "Constant(...)."  # fmt: skip


def nest(levels):
    nested = 1.0
    for _ in range(levels):
        nested = [nested]
    return nested


def recursive(x):
    return recursive(x)


def attribute_beside_the_fields():
    made = Plain(X)
    made.cache = {"a": [X]}
    return made


rows(
    NotDifferentiableError, EVERY,
    opaque_argument=(lambda b: gradient(never, b, Opaque(X)), _LOOK.format("args[0]", ".w", "Opaque", "fields=['w']")),
    opaque=(lambda b: gradient(never, b, X, [Opaque([0, {"k": X}])]),
     _LOOK.format("args[1][0]", ".w[1]['k']", "Opaque", "fields=['w']")),
    opaque_slots=(lambda b: gradient(never, b, Plain(X, Slots(torch.ones(2)))),
     _LOOK.format("args[0].b", "._Slots__secret", "Slots", "fields=['_Slots__secret']")),
    opaque_bag=(lambda b: gradient(never, b, X, type("Bag", (dict,), {})(k=jnp.ones(2))),
     _LOOK.format("args[1]", "['k']", "Bag", "flatten, unflatten")),
    deque=(lambda b: gradient(never, b, X, collections.deque([X])),
     "args[1] is a collections.deque, ... Pass list(x), in Constant(...) if it is not differentiated."),
    namespace=(lambda b: gradient(never, b, types.SimpleNamespace(w=X)),
     "...Register the class with register_node(SimpleNamespace, fields=['w']), make it a dataclass, or wrap it in Constant(...)."),
    beside_the_fields=(lambda b: gradient(never, b, [attribute_beside_the_fields()]), _FIELD.format("Plain.cache['a'][0]")),
    objects=(lambda b: gradient(never, b, [np.array([1.0, None])]), f"args[0][0] is a NumPy array of object dtype, {_DTYPE}"),
    structured=(lambda b: gradient(never, b, np.zeros(2, [("a", int), ("b", [("c", "c8")])])),
     f"args[0] is a NumPy array of structured dtype, {_DTYPE}"),
)  # fmt: skip
rows(
    ConversionError, EVERY,
    masked=(lambda b: gradient(never, b, X, np.ma.array(X)), f"args[1] is a numpy.ma.MaskedArray, {_SUBCLASS}"),
    matrix=(lambda b: gradient(never, b, [X, X[None].view(np.matrix)]), f"args[0][1] is a numpy.matrix, {_SUBCLASS}"),
    labelled=(lambda b: gradient(never, b, X.view(Labelled)), f"args[0] is a {__name__}.Labelled, {_SUBCLASS}"),
)  # fmt: skip
rows(
    TreeError, EVERY,
    knot=(lambda b: prepare(gradient, len, b, knot(X)), _NO_END.format("args[0]")),
    knot_in_a_Constant=(lambda b: gradient(len, b, 1.0, Constant({"k": knot()})), _NO_END.format("args[1]")),
    knot_in_a_keyword=(lambda b: gradient(len, b, 1.0, k=knot()), _NO_END.format("k")),
    knot_of_f=(lambda b: pullback(lambda x: [x, knot()], b, 1.0), _NO_END.format("the result of f")),
)  # fmt: skip
rows(
    TreeError, "finite",
    knot_of_dataclasses=(lambda b: gradient(len, b, linked()), _NO_END.format("args[0]")),
    too_deep=(lambda b: gradient(len, b, nest(20_000)), _NO_END.format("args[0]")),
    knot_to_fit=(lambda b: minimize(len, TORCH, knot(X)), _NO_END.format("the tree")),
)  # fmt: skip
rows(
    RecursionError, "finite",
    recursion_of_f=(lambda b: gradient(recursive, b, 1.0), "..."),
)  # fmt: skip
rows(
    NotDifferentiableError, "finite",
    keras=(lambda b: gradient(never, b, keras_model(), X),
     "...model.stateless_call(trainable, non_trainable, x), with trainable..."),
    set=(lambda b: gradient(square, b, {1.0}), "...Pass list(x)..."),
    generator=(lambda b: gradient(sum, b, (x for x in [1.0])), "...has no gradient; pass list(x)..."),
)  # fmt: skip
rows(
    TypeError, "finite",
    values_of_a_dict=(lambda b: gradient(lambda x, y: x * y, b, 2.0, Constant({"a": X}.values())), "...Pass list(x)..."),
    registering_what_has_a_meaning=(lambda b: register_node(dict, lambda value: ((), None), lambda data, children: None),
     "register_node: dict is no class of yours: ...Derive..."),
    registering_a_tensor=(lambda b: register_node(torch.Tensor, fields=["grad"]),
     "register_node: Tensor is no class of yours: ...Derive..."),
    registering_a_scalar=(lambda b: register_node(np.float64, fields=["real"]),
     "register_node: float64 is no class of yours: ...Derive..."),
    registering_no_class=(lambda b: register_node(3, lambda value: ((), None), lambda data, children: None),
     "register_node: 3 is no class of yours..."),
    registering_one_function=(lambda b: register_node(Opaque, lambda value: ((), None)),
     "register_node takes both functions...fields=..."),
    registering_a_property=(lambda b: register_node(other("mine", "seen"), fields=["seen"]),
     "register_node: ....seen is a property, which cannot be set. Name the attribute..."),
)  # fmt: skip
rows(
    ConversionError, "finite",
    a_unit=(lambda b: gradient(square, b, np.ones(2).view(other("astropy.units.quantity", "value", (np.ndarray,)))),
     "args[0] is an astropy.units...Pass x.value, in Constant(...)..."),
)  # fmt: skip
rows(
    OutputError, "finite",
    f_returns_a_unit=(lambda b: gradient(lambda x: other("pint.registry", "magnitude")(), b, X),
     "...returned a Quantity. Return x.magnitude..."),
    f_returns_an_object_of_arrays=(lambda b: gradient(lambda x: Opaque(x), b, X),
     "gradient: f must return a real scalar, but returned an Opaque. ..."),
)  # fmt: skip
rows(
    ValueError, "finite",
    registering_twice=(lambda b: [register_node(Once, fields=["w"]) for _ in range(2)],
     "Once is registered already; a class is flattened in one way."),
)  # fmt: skip


class Once:
    pass


def linked():
    made = Plain(X, Plain(X))
    made.b.b = [made]
    return made


def keras_model():
    call = lambda self, trainable, non_trainable, x: None
    cls = type("Model", (), {"__module__": "keras.src.models.model", "stateless_call": call})
    made = cls()
    made._variables = [types.SimpleNamespace(_value=ONES)]
    return made


_ARRAY = {"__array__": lambda self, dtype=None, copy=None: X}
for _cls, _made in (
    (other("pandas.core.series", "dtype", **_ARRAY), "x.to_numpy()"),
    (other("polars.series", "dtype", **_ARRAY), "x.to_numpy()"),
    (other("xarray.core.dataarray", "data"), "x.data"),
    (other("xarray.core.dataset", "data_vars"), "{name: x[name].data for name in x}"),
    (other("pint.registry", "magnitude"), "x.magnitude"),
    (other("astropy.units.quantity", "value"), "x.value"),
    (other("uncertainties.core", "nominal_value"), "x.nominal_value"),
    (other("dask.array.core", "compute"), "x.compute()"),
    (other("cupy", "get"), "x.get()"),
    (other("tensorflow.python", "numpy"), "x.numpy()"),
):
    _value = _cls()
    _value.held, _package = X, _cls.__module__.partition(".")[0]
    rows(NotDifferentiableError, "finite", **{f"{_package}_argument_{_made}": (
        lambda b, value=_value: gradient(never, b, [X, value]),
        f"...Pass {_made}, in Constant(...)...",
    )})  # fmt: skip
    rows(TypeError, DIFFERENTIATING, **{f"{_package}_met_{_made}": (
        lambda b, value=_value: gradient(lambda x, y: x.sum() * abs(y), b, X, Constant(value)),
        f"...f got a Quantity x, which does not mix with an engine's arrays. Pass {_made}...",
    )})  # fmt: skip
rows(
    NotDifferentiableError, "finite",
    pandas=(lambda b: gradient(never, b, type("Series", (), {"__module__": "pandas", "dtype": X.dtype, **_ARRAY})()),
     "args[0] is a pandas.Series. Pass x.to_numpy(), in Constant(...) if it is not differentiated..."),
)  # fmt: skip
_variable = other("keras.src.backend.common.variables", "value")()
_variable.held = X
rows(NotDifferentiableError, "finite", keras_variable=(
    lambda b: gradient(never, b, [X, _variable]),
    "...Pass the value of a Keras variable, variable.value...",
))  # fmt: skip
_DENSE = "...Pass x.toarray(), or Constant(x) with adinterface.scipy.sparse.product(x, v)..."
_CSR = scipy.sparse.csr_array(np.diag(X))
rows(
    NotDifferentiableError, "finite",
    sparse_matrix=(lambda b: gradient(square, b, _CSR), _DENSE),
)  # fmt: skip
rows(
    (TypeError, RuntimeError), DIFFERENTIATING,
    times_a_sparse_matrix=(lambda b: gradient(lambda x, A: (A @ x).sum(), b, X, Constant(_CSR)), _DENSE),
)  # fmt: skip

rows(TreeError, "finite", **{
    f"sum_shared_{name}": (lambda b, given=given: tree.sum_shared(*given), words) for name, given, words in (
    ("tuple", ([X], (X,)), "gradients is a tuple, but the model has a list there. A gradient comes as a tuple with an entry "
    "for each argument of f: pass "
     "the entry, gradient(...)[0]."),
    ("inside", ([{"k": [X]}], [{"k": (X,)}]), "gradients[0]['k'] is a tuple, but the model has a list there."),
    ("field", (Plain([X]), Plain({"a": X})), "gradients.w is a dict, but the model has a list there."),
    ("length", ({"m": [X, X]}, {"m": []}), "gradients['m'] has 0 children, but the model has 2 there."),
    ("keys", ({"a": X, "b": X}, {"a": X, "c": X}), "gradients has the keys 'a', 'c', but the model has 'a', 'b' there."),
    ("leaf", ([X], [[X]]), "gradients[0] is a list, but the model has a ndarray there."),
)}, **{
    f"tree_without_end_{name}": (lambda b, take=take: take(knot(X)), _NO_END.format("the tree"))
    for name, take in (
        ("map", lambda t: tree.map(abs, t)), ("norm", tree.norm), ("zeros_like", tree.zeros_like),
        ("ravel", tree.ravel),
    )
})  # fmt: skip

# Notes on the errors of f and of engines
# ----------------------------------------------------------------------------------

_PROMOTED = "argument {} was an integer, so it was promoted to a float and differentiated; if f needs an integer there (an " \
    "axis, an " \
    "index, labels), wrap it in Constant(...)"  # fmt: skip
_XP = "Write xp.sin(x) for np.sin(x), with xp = adinterface.array_namespace(x). Or decorate f, and every function whose " \
    "arguments f captures, " \
    "with @adinterface.numpy_function. For SciPy use adinterface.scipy or @numpy_function(deep=True)."  # fmt: skip
NUMPY = {
    "jax": f"NumPy or SciPy was called on a JAX array that is being differentiated. {_XP}",
    "torch": (
        f"NumPy or SciPy was called on a tensor that is being differentiated. {_XP} Pass a NumPy"
        " array w that f captures as an argument, Constant(w)."
    ),
    "autograd": (
        f"NumPy or SciPy was called on an array that autograd is tracing. {_XP} Beside an array c"
        " that is not differentiated write array_namespace(c, x)."
    ),
}
_BACKWARD = " For NumPy in the backward of a torch.autograd.Function write AutoTorch(chunk_size=1)."


class Mine(Exception):
    pass


def raises_mine(*args):
    raise Mine("mine")


rows(
    (TypeError, IndexError), EVERY,
    axis=(lambda b: gradient(lambda x, axis: x[None].sum(axis=axis).sum(), b, X, 1), f"...\n{_PROMOTED.format(1)}..."),
    index=(lambda b: gradient(lambda x, i: x[i].sum(), b, X, np.array([0, 1])), f"...\n{_PROMOTED.format(1)}..."),
)  # fmt: skip
rows(
    TypeError, EVERY,
    count=(lambda b: gradient(lambda x, n: sum(x.sum() for _ in range(n)), b, X, 2), f"...\n{_PROMOTED.format(1)}..."),
)  # fmt: skip
rows(
    Mine, EVERY,
    each_integer=(lambda b: gradient(raises_mine, b, 1, 2.0, 3, Constant(4), [5], X),
     f"mine\n{_PROMOTED.format(0)}\n{_PROMOTED.format(2)}"),
    own_error=(lambda b: gradient(raises_mine, b, X), "mine"),
)  # fmt: skip
rows(
    RuntimeError, "torch",
    labels=(lambda b: gradient(torch.nn.functional.cross_entropy, b, torch.zeros(2, 3), torch.tensor([0, 2])),
     f"...Long...\n{_PROMOTED.format(1)}"),
)  # fmt: skip
rows(Exception, DIFFERENTIATING, **{
    f"numpy_{name}": (lambda b, f=f: gradient(f, b, np.eye(2)), "...\nNumPy or SciPy was called on ...")
    for name, f in (("det", np.linalg.det), ("inv", lambda x: np.linalg.inv(x).sum()), ("logsumexp", scipy.special.logsumexp))
})  # fmt: skip
rows(
    Exception, "jax torch",
    ufunc=(lambda b: gradient(lambda x: np.sin(x).sum(), b, X), "...\nNumPy or SciPy was called on ..."),
)  # fmt: skip
rows(
    Exception, "jax torch",
    gammaln=(lambda b: gradient(lambda x: scipy.special.gammaln(x).sum(), b, X), "...For SciPy use ..."),
)  # fmt: skip
rows((TypeError, ValueError, RuntimeError), "autograd", **{
    name: (lambda b, f=f: gradient(f, b, X, Constant(X)), f"...\n{NUMPY['autograd']}")
    for name, f in (
        ("namespace_of_the_other", lambda x, c: array_namespace(c).linalg.vector_norm(x)),
        ("solve", lambda x, c: scipy.linalg.solve(np.eye(2), x).sum()),
        ("pdist", lambda x, c: scipy.spatial.distance.pdist(x[:, None])[0]),
        ("csr", lambda x, c: (scipy.sparse.csr_array(x * x[:, None]) @ X)[0]),
        ("ndimage", lambda x, c: scipy.ndimage.gaussian_filter(x, 1.0)[0]),
    )
})  # fmt: skip
_SUM_OF = "...\nNumPy was called on a tensor. Write x.sum() for np.sum(x), or xp.sum(x) with xp = " \
    "adinterface.array_namespace(x), or decorate f with " \
    "@adinterface.numpy_function."  # fmt: skip
rows(TypeError, "torch", **{
    f"numpy_{name}": (lambda b, f=f: gradient(lambda x: f(x, axis=None), b, X), _SUM_OF)
    for name, f in ((name, getattr(np, name)) for name in ("sum", "mean", "prod", "max", "min", "std", "var"))
})  # fmt: skip
_INT = "...\nA Python int {}. Pass a float, Constant(float(n))."
_LARGE = "int too large to convert to float\nAn integer argument is differentiated as a float. Wrap it in Constant."
rows(
    OverflowError, "jax torch autograd finite",
    large_integer=(lambda b: gradient(never, b, 10**400), _LARGE),
    large_integer_prepared=(lambda b: prepare(gradient, lambda x: x * 1.0, b, 3)(10**400), _LARGE),
)  # fmt: skip
rows(
    OverflowError, "jax",
    large_int=(lambda b: gradient(product, b, X, Constant(2**70)), _INT.format("met a JAX array whose integers are narrower")),
)  # fmt: skip
_JAX_FUNCTION = (
    "...\nA JAX function got {}. Write xp.sin(x) with xp = adinterface.array_namespace(x), or"
    " differentiate with AutoJax()..."
)
_TORCH_FUNCTION = _JAX_FUNCTION.replace("JAX function", "torch function").replace(
    "AutoJax", "AutoTorch"
)
_MET = "A NumPy array met a tensor. If f captured the array, pass it to f as an argument, Constant(w), which is a tensor " \
    "there, or decorate f with " \
    "adinterface.numpy_function. Solvers and code of the host get NumPy arrays: let them use no tensors and no torch " \
    "modules."  # fmt: skip
_TYPES = (TypeError, RuntimeError)
_WEIGHT = torch.nn.Parameter(torch.tensor([0.1, 0.2], dtype=torch.float64))
_W = np.array([1.0, 3.0])


def solved(x):
    return fixed_point(
        lambda y, a: 0.1 * y + _WEIGHT + a, x * 0, x, solver=lambda g, y: g(g(y))
    ).sum()


def in_a_thread(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: (x * x).sum()).result()


def assigns(x):
    x[0] = 0.0
    return x.sum()


def assigns_into_numpy(x):
    y = np.zeros(2)
    y[0] = x[0]
    return y.sum()


def adds_in_place(x):
    x += 1.0
    return x.sum()


def branches(x):
    return (x * x).sum() if x.sum() > 0 else x.sum()


only_in_reverse = jax.custom_vjp(lambda x: 2 * x)
only_in_reverse.defvjp(lambda x: (2 * x, None), lambda _, cotangent: (2 * cotangent,))
_REVERSE = (
    "...to a custom_vjp function...\nf calls a function that has a rule for reverse mode alone"
    " (jax.custom_vjp..."
)
_BUILD = "Build the array with xp.stack, xp.concat or xp.where"
rows(
    TypeError, "jax",
    text_of_a_tracer=(lambda b: gradient(lambda x: len(f"{x[0]:.3f}") * x.sum(), b, X), "...Print it with jax.debug.print..."),
    torch_sin=(lambda b: gradient(torch.sin, b, X), _TORCH_FUNCTION.format("a JAX array")),
    a_string_to_jnp=(lambda b: gradient(lambda x: jnp.sin("x"), b, X), "...got something that is not an array of numbers..."),
    tensor_inside=(lambda b: gradient(lambda c: gradient(lambda x: (x * c).sum(), TORCH, X)[0].sum(), b, X),
     "...\nAn array that JAX is tracing met a tensor. Use one engine for nested calls, or AutoFiniteDifferences() for the "
     "outer one."),
    push_of_a_rule=(lambda b: linearize(only_in_reverse, b, X).push(X), _REVERSE),
    prepared_push_of_a_rule=(lambda b: prepare(linearize, only_in_reverse, b, X)(X).push.stacked(np.stack([X, X])), _REVERSE),
    write=(lambda b: gradient(assigns, b, X),
     f"...\nJAX arrays cannot be written to. {_BUILD}, or use x = x.at[i].set(value)."),
)  # fmt: skip
rows(
    jax.errors.UnexpectedTracerError, "jax",
    thread=(lambda b: gradient(in_a_thread, b, X),
     "...in a thread that it started, which JAX cannot follow: compute in the thread of f."),
)  # fmt: skip
rows(
    NotImplementedError, "jax",
    map_of_a_rule=(lambda b: pullback(lambda x: linearize(only_in_reverse, b, x).push(x), b, X),
     "...custom_lin...Use gradient, or AutoJax(mode='reverse')..."),
)  # fmt: skip
rows(
    Exception, "jax",
    write_into_numpy=(lambda b: gradient(assigns_into_numpy, b, X), "...\nJAX arrays cannot be written to..."),
)  # fmt: skip
rows(
    jax.errors.TracerBoolConversionError, "jax",
    branch=(lambda b: prepare(gradient, branches, b, X)(X),
     "...\nJAX cannot turn a traced array into a Python number, a truth value or a mask here. Keep it an array (xp.sum(x), "
     "not float(xp.sum(x))). Under jax.jit or jax.vmap use jax.numpy.where or adinterface.loops.cond instead of a branch on "
     "a value. A prepared call stays eager with AutoJax(jit=False), a batched one takes one entry after another with "
     "AutoJax(chunk_size=1)."),
)  # fmt: skip
rows(
    TypeError, "autograd",
    jnp_sin=(lambda b: gradient(lambda x: jnp.sin(x).sum(), b, X), _JAX_FUNCTION.format("an array ...")),
    jitted=(lambda b: gradient(jax.jit(jnp.sum), b, X), _JAX_FUNCTION.format("an array ...")),
    torch_sin=(lambda b: gradient(torch.sin, b, X), _TORCH_FUNCTION.format("an array that autograd is tracing")),
    write=(lambda b: gradient(assigns, b, X),
     f"...\nautograd cannot differentiate item assignment. {_BUILD} (xp = adinterface.array_namespace(x))."),
)  # fmt: skip
rows(
    ValueError, "autograd",
    write_into_numpy=(lambda b: gradient(assigns_into_numpy, b, X),
     f"...\nautograd cannot differentiate item assignment. {_BUILD} (xp = adinterface.array_namespace(x)). Or {NUMPY['autograd']}"),
    interp=(lambda b: gradient(lambda x: np.interp(x, [0.0, 1.0, 5.0], [1.0, 2.0, 3.0]).sum(), b, X), "... Or NumPy or SciPy was called..."),
)  # fmt: skip
_DTYPES = "...same dtype...\ntorch does not convert data to the dtype of parameters. Convert it before the call, " \
    "x.to(weight.dtype) or " \
    "array.astype('float32'), or the model: module.double(). If all have one dtype, and mode is 'forward', torch mixed " \
    "them: a float32 number that " \
    "meets a Python float has a float64 tangent there. Then use AutoTorch(), or pass float64."  # fmt: skip
rows(
    TypeError, "torch",
    jnp_sin=(lambda b: gradient(lambda x: jnp.sin(x).sum(), b, X), _JAX_FUNCTION.format("a tensor")),
    captured_jax=(lambda b: gradient(lambda x: (x * jnp.ones(2)).sum(), b, X),
     "...A JAX array that f captured...Constant(w)..."),
    captured_in_a_product=(lambda b: gradient(lambda x: torch.dot(_W, x), b, X), f"...\n{_MET}"),
    traced_by_jax_inside=(lambda b: gradient(lambda c: gradient(lambda x: (x * c).sum(), JAX, X)[0].sum(), b, X),
     "...\nAn array that JAX is tracing met a tensor..."),
)  # fmt: skip
rows(
    _TYPES, "torch",
    captured_numpy=(lambda b: gradient(lambda x: (_W * x).sum(), b, X), f"...\n{_MET}"),
    autograd_numpy=(lambda b: gradient(lambda x: autograd.numpy.sin(x).sum(), b, X), f"...\n{NUMPY['torch']}"),
    parameter_for_a_solver=(lambda b: gradient(solved, FORWARD, X), "...\n...NumPy...tensor..."),
    complex_difference=(lambda b: gradient(lambda x: torch.sum(torch.imag((0.3 + 1j) - x * x) ** 2), FORWARD, X),
     "...view_as_real...\ntorch's forward mode gives c - x, of a complex number c and a real tensor x, a real tangent, which "
     "has no imaginary part. Write -x + c, or differentiate in reverse, with AutoTorch()."),
)  # fmt: skip
rows(
    OverflowError, "torch",
    large_int=(lambda b: gradient(product, b, X, Constant(-(2**70))), _INT.format("of more than 64 bits met a tensor")),
)  # fmt: skip
rows(
    RuntimeError, "torch",
    write=(lambda b: gradient(assigns, b, X),
     "...\nf writes into its own argument, which torch cannot differentiate. Write into a copy: x = x.clone(), then x[i] = "
     "value."),
    add_in_place=(lambda b: gradient(adds_in_place, b, X), "...\nf writes into its own argument..."),
    dtype_of_data=(lambda b: gradient(lambda m: m(torch.ones(2).double()).sum(), b, torch.nn.Linear(2, 1)), _DTYPES),
    dtype_in_forward_mode=(lambda b: gradient(lambda m: m(torch.tensor([1, 2])).sum(), FORWARD, torch.nn.Linear(2, 1)),
     _DTYPES),
    numpy_in_forward_mode=(lambda b: linearize(numpy_in_forward_mode, FORWARD, X).push(X), f"...\n{NUMPY['torch']}{_BACKWARD}"),
    stack_of_compiled_code=(lambda b: pullback(compiled_square(), b, X).back.stacked(np.eye(2)),
     "...compiled backward function within vmap...the backward pass of what torch.compile made...AutoTorch(chunk_size=1) "
     "takes one entry after another."),
    write_into_zeros=(lambda b: hessian(write_and_add, FORWARD, X),
     "...ZeroTensors...\nf writes in place to a tensor whose derivative is zero so far, which torch does not allow inside "
     "two levels of forward mode. Write y = y + x * x for y += x * x, or take one of the two derivatives in reverse, with "
     "AutoTorch()."),
    fill_in_a_batch=(lambda b: hessian(fills, FORWARD, X),
     "...vmap: fill_...AutoTorch(chunk_size=1) takes one entry after another..."),
    mixed_dtypes=(lambda b: hessian(mixes_dtypes, SecondOrder(FORWARD, AutoTorch(mode="reverse")), X.astype("f4")),
     "...same dtype...If all have one dtype, and mode is 'forward', torch mixed..."),
)  # fmt: skip
rows(
    BackendError, "torch",
    forward_in_a_dual_level=(lambda b: in_a_dual_level(lambda x: gradient(square, FORWARD, X)),
     "AutoTorch(mode='forward') inside torch.autograd.forward_ad.dual_level: torch has one such level at a time. Use "
     "AutoTorch(), or take the outer derivative with torch.func.jvp."),
    a_dual_number=(lambda b: in_a_dual_level(lambda x: gradient(square, b, x)),
     "A tensor of this call has a tangent of torch.autograd.forward_ad.dual_level, which would be lost. Take the outer "
     "derivative with torch.func.jvp, or with adinterface.pushforward."),
)  # fmt: skip


def compiled_square():
    return torch.compile(lambda x: x * x, backend="aot_eager")


def mixes_dtypes(x):
    return torch.dot(torch.stack([x.sum() * 2.0, x[0] / 3.0]), x)


def numpy_in_forward_mode(x):
    return (
        torch.from_numpy(x.numpy() ** 2)
        if torch._C._functorch.is_functorch_wrapped_tensor(x)
        else x**2
    )


def write_and_add(x):
    y = x * 1
    y += x * x
    return (y * y).sum()


def fills(x):
    y = torch.empty(2, dtype=x.dtype)
    y[:] = x.sum()
    return (y * y * x.sum()).sum()


def in_a_dual_level(call):
    with forward_ad.dual_level():
        return call(forward_ad.make_dual(torch.ones(2), torch.ones(2)))


_NATIVE = "Code of torch got a NumPy array or number. Write AutoFiniteDifferences(native=AutoTorch()), which gives f " \
    "tensors, or xp.sin(x) with " \
    "xp = adinterface.array_namespace(x)."  # fmt: skip
rows(
    TypeError, "finite", torch_sin=(lambda b: gradient(torch.sin, b, 1.5), f"...\n{_NATIVE}"),
    tensor=(lambda b: gradient(lambda x: (x * torch.ones(2)).sum(), b, X), "...native=AutoTorch()..."),
)  # fmt: skip
rows(
    PrecisionError, "finite",
    jnp_sin=(lambda b: gradient(lambda x: jnp.sin(x).sum(), b, X), "...AutoFiniteDifferences(native=...)...jax..."),
)  # fmt: skip

# Modules of torch
# ------------------------------------------------------------------------------------------------


def linear(inputs=2, outputs=2):
    return torch.nn.Linear(inputs, outputs).double()


def quiet(make, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has deprecated it
        return make(*args, **options)


def values_of(m):
    return (m(torch.tensor(X)) ** 2).sum()


class Unknown(torch.nn.Linear):
    pass


Unknown.__module__ = "torch.distributed.unknown"
_ALONE = "The code of Linear computes with torch alone, so {!r} cannot take it. Use AutoTorch(), or AutoFiniteDifferences() " \
    "without `native`."  # fmt: skip
_WRAPS = "{} wraps a Linear: its hooks do not run here, or it cannot be rebuilt around gradients. Pass the inner module, " \
    "model.{}, and call the wrapper inside f if you need it."  # fmt: skip
_SCRIPT = "...: a ScriptModule keeps its parameters in C++ and cannot be rebuilt around gradients. Pass the module it was made " \
    "from, with its state (load_state_dict), or wrap it in Constant(...); torch.compile it inside f if you need the " \
    "speed."  # fmt: skip
_LAZY = "A lazy module has parameters without a shape, which get one in its first call. Call it once with an example before " \
    "differentiating."  # fmt: skip
rows(ConversionError, "jax autograd", **{
    f"module_of_torch_{name}": (lambda b, place=place: gradient(never, b, place(linear())), "The code of Linear computes with torch alone...")
    for name, place in (("alone", lambda m: m), ("in_a_tree", lambda m: {"k": [m]}))
})  # fmt: skip
rows(
    ConversionError, "finite",
    module_of_torch=(lambda b: gradient(never, AutoFiniteDifferences(native=JAX), linear()),
     _ALONE.format(AutoFiniteDifferences(native=JAX))),
)  # fmt: skip
rows(ConversionError, "torch finite", **{
    f"module_{name}": (lambda b, make=make: gradient(values_of, b, make()), words)
    for name, make, words in (
        ("in_parallel", lambda: torch.nn.DataParallel(linear()), _WRAPS.format("DataParallel", "module")),
        ("in_a_list", lambda: [torch.nn.DataParallel(linear())], _WRAPS.format("DataParallel", "module")),
        ("compiled_in_part", lambda: torch.nn.Sequential(quiet(torch.compile, linear(), backend="eager")),
         _WRAPS.format("OptimizedModule", "_orig_mod")),
        ("scripted", lambda: quiet(torch.jit.script, linear()), _SCRIPT),
        ("scripted_inside", lambda: torch.nn.Sequential(quiet(torch.jit.script, linear())), _SCRIPT),
        ("traced", lambda: quiet(torch.jit.trace, linear(), torch.tensor(X), check_trace=False), _SCRIPT),
    )
})  # fmt: skip
rows(
    ConversionError, "torch",
    lazy_module=(lambda b: gradient(values_of, b, torch.nn.Sequential(torch.nn.LazyLinear(2))), _LAZY),
    unknown_exchange=(lambda b: gradient(values_of, b, torch.nn.Sequential(Unknown(2, 2))),
     "Unknown spreads its parameters over processes in a way that is not known here. Shard the model with torch.distributed.fsdp."
     "fully_shard, or with DTensor, whose gradients are global here, or wrap it in Constant(...)."),
    a_copy_of_a_leaf=(lambda b: gradient(lambda x: (copy.deepcopy([x])[0] ** 2).sum() + x.sum(), b, {"w": torch.tensor(X)}["w"]),
     "A tensor that is being differentiated was pickled or copied ... drops its gradient. Compute with it in this..."),
    a_pickle_of_a_leaf=(lambda b: gradient(lambda x: (pickle.loads(pickle.dumps(x)) ** 2).sum(), b, X),
     "A tensor that is being differentiated was pickled or copied ... drops its gradient..."),
)  # fmt: skip
rows(
    RuntimeError, "torch",
    counting_in_forward_mode=(lambda b: gradient(lambda x, m: (m(x) ** 3).sum(), FORWARD, torch.ones(3, 2), Constant(torch.nn.BatchNorm1d(2))),
     "...captured Tensor...\nf writes to a tensor that it captured or that a module holds, which forward mode and batches of torch "
     "do not allow. A BatchNorm does in training mode: module.eval(). Or use AutoTorch(), in a batch AutoTorch(chunk_size=1)."),
    numpy_in_a_backward=(lambda b: jacobian(ByNumpy.apply, b, torch.tensor(X)), "...AutoTorch(chunk_size=1)..."),
    checkpoint_of_torch=(lambda b: hessian(by_checkpoint, SecondOrder(FORWARD, AutoTorch(mode="reverse")), torch.tensor(X)),
     "...AutoTorch(chunk_size=1), or leave checkpoint out..."),
)  # fmt: skip
_DIFFERENCED = "SecondOrder(AutoFiniteDifferences(), AutoTorch())"
rows(
    NotRecordedError, "torch",
    unrecorded=(lambda b: hvp(unrecorded, b, X, X),
     "f applies Unrecorded, a torch.autograd.Function whose backward torch did not record (once_differentiable, no_grad, or NumPy "
     "in it): a derivative of its derivative would lack a part. Write that backward with torch operations, or take second "
     f"derivatives with {_DIFFERENCED}."),
    compiled_twice=(lambda b: hvp(values_of, b, *[quiet(torch.compile, linear(), backend="aot_eager")] * 2),
     "...Pass the function or module that it was made from (model._orig_mod)..."),
    weight_norm=(lambda b: diagonal_hessian(values_of, b, torch.nn.utils.parametrizations.weight_norm(linear())),
     "...g * v / torch.linalg.vector_norm(v, dim=1, keepdim=True)..."),
    distances=(lambda b: hessian(lambda x: torch.cdist(x, torch.ones(1, 2).double()).sum(), b, np.eye(2)),
     "...the derivative for '_cdist_backward' is not implemented. Take it with differences: SecondOrder(..."),
)  # fmt: skip


def unrecorded(x):
    return Unrecorded.apply(x).sum()


class Unrecorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


class ByNumpy(Unrecorded):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(2 * x.detach().numpy() * g.detach().numpy())


def by_checkpoint(x):
    return checkpoint(lambda y: y.sin() * y, x, use_reentrant=False).sum()


# Rules and tools
# ------------------------------------------------------------------------------------------------

_DERIVATIVES = "scalar_rule: the partial derivatives of sin must be a function, partials..."
_POSITIONS = "with_argnums: argnums must be an int or a sequence of ints, not "
_ONE_TUPLE = "check_gradient: gradient=... must return a tuple with an entry for each argument of f (2 here), as `gradient` does; it " \
    "returned ..."  # fmt: skip
rows(
    TypeError, "finite",
    rule_of_a_number=(lambda b: rule(3.0), "rule takes a function, not a float: write @rule above its definition..."),
    pullback_of_None=(lambda b: rule(square).pullback(None), "square.pullback takes a function, not a NoneType..."),
    root_of_a_number=(lambda b: root(3.0, 1.0, solver=abs), "root: f must be a function, not a float..."),
    name_of_a_solver=(lambda b: root(abs, 1.0, solver="newton"), "root: solver must be a function, not a str..."),
    no_solver=(lambda b: root(abs, 1.0), "root: solver must be a function, it is missing. Write, for example, solver=lambda g, x0:..."),
    solver_is_None=(lambda b: fixed_point(abs, 1.0, solver=None), "fixed_point: solver must be a function, it is missing. Write, for..."),
    a_matrix=(lambda b: linear_solve(np.eye(2), X, solver=abs), "linear_solve: matvec must be a function, not a ndarray..."),
    a_hook=(lambda b: gradient_hook(1.0, 2.0), "gradient_hook takes a value and a function of its cotangent, not a float..."),
    a_checkpoint=(lambda b: checkpoint_rule(1.0), "checkpoint takes a function, not a float: write @checkpoint above its definition..."),
    partials=(lambda b: scalar_rule(np.sin, 3.0), _DERIVATIVES),
    backend_to_cross_to=(lambda b: differentiate_with(b, abs),
     "differentiate_with takes a function, then a backend; in place of f there is a Auto..."),
    constant_function=(lambda b: non_differentiable(3.0),
     "non_differentiable takes a function, not a float: write @non_differentiable above..."),
    checked_without_rule=(lambda b: check_rule(square, X), "check_rule: square is no rule. Decorate it with @rule, and give it a derivative..."),
    checked_without_derivative=(lambda b: check_rule(rule(square), X), "check_rule: square has neither a pullback nor a pushforward..."),
    checked_gradient=(lambda b: check_gradient(product, b, X, X, gradient=lambda x, y: x), _ONE_TUPLE),
    chosen_in_another_order=(lambda b: choose(square, gradient, X), "choose(operator, f, *args): operator must be one of derivative, ..."),
    operator_by_position=(lambda b: with_argnums(hessian, square, b),
     "with_argnums: the operator must be one of gradient, value_and_gradient, jacobian, ..."),
    no_position=(lambda b: with_argnums(gradient, square, b, ()), f"{_POSITIONS}()..."),
    position_by_name=(lambda b: with_argnums(gradient, square, b, "xy"), f"{_POSITIONS}'xy'..."),
    broken_position=(lambda b: with_argnums(gradient, square, b, 1.0), f"{_POSITIONS}1.0..."),
    truth_for_a_position=(lambda b: with_argnums(gradient, square, b, (True,)), f"{_POSITIONS}(True,)..."),
    position_that_is_lacking=(lambda b: with_argnums(gradient, product, b, 2)(X, X),
     "with_argnums: argnums=2 of a call with 2 positional arguments..."),
    explained_in_another_order=(lambda b: explain(batched, square, b, Each(X)),
     "explain(batched, operator, f, backend, ...): operator must be one of..."),
    explained_without_Each=(lambda b: explain(batched, gradient, square, b, X), "...nothing is marked with Each..."),
)  # fmt: skip
rows(
    ValueError, "finite",
    no_direction=(lambda b: check_gradient(square, b, X, directions=0), "check_gradient: directions must be at least 1, not 0."),
    explained_randomness=(lambda b: explain(batched, gradient, square, b, Each(np.eye(2)), randomness="some"),
     "...randomness must be one of..."),
)  # fmt: skip
rows(
    OutputError, "finite",
    checked_array=(lambda b: check_gradient(lambda x: x, b, X), "...must return a real scalar..."),
)  # fmt: skip
rows(
    RuleError, "finite",
    rule_of_a_module=(lambda b: moduled(torch.nn.Linear(2, 1), torch.ones(2)),
     "...the argument m holds a Linear, whose parameters a rule cannot give derivatives of..."),
    ignored_module=(lambda b: ignore_derivatives(torch.nn.Linear(1, 1)), "ignore_derivatives: a Linear holds its parameters itself..."),
)  # fmt: skip
rows(
    BackendError, "finite",
    name_to_cross_to=(lambda b: differentiate_with(abs, "torch"), "...must be a backend, not 'torch'. Write AutoTorch()."),
    checked_by_differences=(lambda b: check_rule(moduled, X, X, backend=b),
     "check_rule: AutoFiniteDifferences uses no rule, but the primal alone..."),
    chosen_of_one=(lambda b: choose(gradient, square, X, backends=b), "...backends must be a list; write [AutoFiniteDifferences()]."),
    chosen_by_position=(lambda b: choose(gradient, square, [b], X), "...backends are a keyword. Write backends=[AutoFiniteDifferences()]."),
    compared_with_one=(lambda b: compare(gradient, square, b, X),
     "compare(operator, f, backends, *args): backends must be a list; write [AutoFiniteDifferences()]."),
    compared_with_a_class=(lambda b: compare(gradient, square, [AutoJax], X), "...Write AutoJax()..."),
    neutral_on_a_name=(lambda b: check_neutral(square, X, backends=["torch"]), "...must be a backend, not 'torch'..."),
    backend_of_two=(lambda b: backend_of(jnp.ones(2), torch.ones(2)), "backend_of: the arguments hold arrays of jax and torch..."),
)  # fmt: skip
rows(
    NotDifferentiableError, "finite",
    summary_of_an_object=(lambda b: tools_summary({"a": Opaque(X)}), "...register_node..."),
    explained_Constant=(lambda b: explain(gradient, square, b, Constant(X)), "gradient: no argument has a gradient...."),
)  # fmt: skip
rows(
    AttributeError, "autograd",
    function_of_no_standard=(lambda b: gradient(lambda x: array_namespace(x).nanmedian(x), b, X), "...The namespace of autograd has no nanmedian..."),
)  # fmt: skip
rows(
    ValueError, "autograd",
    device=(lambda b: gradient(lambda x: x.to_device("cuda").sum(), b, X), "...autograd computes on the CPU alone, so there is no device 'cuda'..."),
)  # fmt: skip
rows(
    ValueError, "torch",
    a_copy_that_is_forbidden=(lambda b: gradient(lambda x: array_namespace(x).asarray(x, dtype=torch.float32, copy=False).sum(), b, X),
     "...asarray: this conversion needs a copy, which copy=False forbids..."),
)  # fmt: skip
moduled = rule(lambda m, x: m(x))
moduled.pullback(lambda c, v, m, x: (None, None))

# Errors of Python and of engines that docs/errors.md explains
# ------------------------------------------------------------------------------------------------


def branches_on_x(x):
    return x**2 if x > 0 else x


def penalty(backend):
    net = torch.nn.Linear(2, 1, dtype=torch.float64)
    (slope,) = gradient(lambda x: net(x).sum() ** 2, backend, torch.tensor(X))
    slope.sum().backward()


def dropout(x):
    return torch.nn.functional.dropout(x).sum()


def without_engine():
    missing = ModuleNotFoundError("No module named 'jax'", name="jax")
    with mock.patch.object(registry, "backend_class", side_effect=missing):
        registry.backend_for.__wrapped__(JAX)


rows(
    Exception, "jax",
    attribute_of_a_tuple=(lambda b: jacobian(lambda x: x, b, X).shape, "'tuple' object has no attribute 'shape'..."),
    gradient_times_a_float=(lambda b: X - 0.1 * gradient(square, b, X), "can't multiply sequence by non-int of type 'float'..."),
    tuple_for_scipy=(lambda b: scipy.optimize.minimize(lambda x: square(x) ** 2, np.ones(3), jac=lambda x: gradient(square, b, x)),
     "shapes (3,3) and (1,3) not aligned..."),
    numpy_of_a_tracer=(lambda b: gradient(lambda x: np.sin(x).sum(), b, X),
     "The numpy.ndarray conversion method __array__() was called on traced array..."),
    boolean_of_a_tracer=(lambda b: prepare(gradient, branches_on_x, b, 1.0)(1.0), "Attempted boolean conversion of traced array..."),
    float_of_a_tracer=(lambda b: gradient(lambda x: float(x), b, 1.0),
     "Abstract tracer value encountered where concrete value is expected..."),
    jacobian_of_a_rule=(lambda b: jacobian(lambda x: only_in_reverse(x) * jnp.ones(3), b, 1.0),
     "can't apply forward-mode autodiff (jvp) to a custom_vjp function...."),
    without_jax=(lambda b: without_engine(), "AutoJax needs jax, which is not installed..."),
)  # fmt: skip
rows(
    Exception, "torch",
    numpy_of_a_tensor=(lambda b: gradient(lambda x: np.sin(x).sum(), b, X), "Can't call numpy() on Tensor that requires grad..."),
    dtypes_of_a_product=(lambda b: gradient(lambda m, x: m(x).sum(), b, torch.nn.Linear(2, 1), Constant(X)),
     "mat1 and mat2 must have the same dtype..."),
    branch_in_a_batch=(lambda b: batched(gradient, branches_on_x, b, Each(X)),
     "...\ntorch.vmap cannot do this for all entries of a batched call at once..."),
    write_into_what_entries_share=(lambda b: batched(gradient, lambda m, x: m(x)[0].sum(), b, torch.nn.GRU(2, 2),
     Constant(Each(torch.ones(2, 1, 2)))), "...\nIn a batched call torch.vmap cannot write numbers of an entry..."),
    random_in_a_batch=(lambda b: batched(gradient, dropout, b, Each(np.ones((3, 2)))),
     "vmap: called random operation while in randomness error mode..."),
    penalty_without_graph=(penalty, "element 0 of tensors does not require grad..."),
)  # fmt: skip
rows(
    Exception, "autograd",
    no_reverse_rule=(lambda b: gradient(lambda x: autograd.numpy.nextafter(x, 1.0).sum(), b, X),
     "autograd has no reverse rule for nextafter..."),
    entries_outside=(lambda b: jacobian(lambda x: x * x[::-1], AutoSparse(b, pattern=np.eye(2)), X),
     "jacobian: the derivative has entries outside its pattern..."),
)  # fmt: skip

# The table
# ------------------------------------------------------------------------------------------------


# torch's, to NumPy
@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[0]}-{row[1]}") for row in ROWS])
def test_a_wrong_call_says_what_was_wrong_what_was_seen_and_what_to_do(row):
    _, engine, call, cls, words = row
    x = X.copy()
    assert_told(lambda: call(BACKENDS[engine]), cls, words)
    np.testing.assert_array_equal(X, x)


def test_each_message_of_the_errors_page_is_in_a_row():
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
    quoted = re.findall(r"^\| `(?!\w+Warning)([^`]+)` \| [^|]* \|$", page, re.M)
    assert len(quoted) > 40
    for words in quoted:
        pattern = re.escape(words.replace("'backend'", "`backend`")).replace(r"\.\.\.", ".*")
        assert any(re.search(pattern, row[4]) for row in ROWS), words


# What is no error
# ------------------------------------------------------------------------------------------------


def _doubling_that_records(backward):
    """`2 x` for each engine, whose rule says when the backward pass runs it."""

    class Torch(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, cotangent):
            backward.append("torch")
            return 2 * cotangent

    ours = jax.custom_vjp(lambda x: 2 * x)
    ours.defvjp(
        lambda x: (2 * x, None), lambda _, cotangent: (backward.append("jax") or 2 * cotangent,)
    )
    primitive = autograd.extend.primitive(lambda x: 2 * x)
    autograd.extend.defvjp(
        primitive, lambda ans, x: lambda cotangent: backward.append("autograd") or 2 * cotangent
    )
    return {"torch": Torch.apply, "jax": ours, "autograd": primitive}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_output_is_refused_before_any_backward_pass(engine):
    backward, calls = [], []
    double = _doubling_that_records(backward)[engine]
    for f, *_ in NO_SCALAR.values():
        with pytest.raises(OutputError):
            gradient(lambda x, f=f: calls.append(1) or f(double(x)), ENGINES[engine], X)
    assert (backward, len(calls)) == ([], len(NO_SCALAR))
    gradient(lambda x: double(x).sum(), ENGINES[engine], X)
    assert backward == [engine]


@each_engine
@pytest.mark.parametrize("prepared", [False, True])
def test_a_value_that_depends_on_no_argument_gives_zeros_and_a_warning_at_the_users_line(
    prepared, backend
):
    for operator in (gradient, value_and_gradient):
        message = (
            f"{operator.__name__}: the value of f depends on none of its differentiated arguments,"
            " so every gradient is zero. Only what is computed inside f, from the arguments that f"
            " receives, is differentiated: a number made by float(x), x.item() or x.detach() is a"
            " constant, and so is what was pickled or copied by copy.deepcopy."
        )
        f = lambda x: (X * X).sum()
        call = prepare(operator, f, backend, X) if prepared else partial(operator, f, backend)
        for _ in range(1 + prepared):
            with pytest.warns(DisconnectedWarning, match=f"^{re.escape(message)}$") as seen:
                result = call(X)
            np.testing.assert_array_equal(
                result[-1][0] if operator is value_and_gradient else result[0], 0 * X
            )
            assert seen[0].filename == __file__


def test_keywords_that_f_takes_and_other_errors_have_no_note():
    for words in ("about a keyword 'other'", "about 'argnums'", "about a read-only array"):

        def f(x, c, argnums, words=words):
            raise TypeError(words)

        wrong = lambda f=f: gradient(f, AUTOGRAD, X, Constant(X), argnums=2)
        assert_told(wrong, TypeError, words)
    words = "...f must return a real scalar, but returned None. Does it lack a return statement?"
    assert_told(lambda: gradient(lambda x: None, AUTOGRAD, 2), OutputError, words)
    (found,) = gradient(lambda x, f, backend: x * f * backend, TORCH, 2.0, f=3.0, backend=4.0)
    assert found == 12.0


def test_a_prepared_call_without_the_constant_of_its_example_differentiates_both():
    # As `gradient` does: a new structure is specialised once more. The number of specializations
    # shows it.
    fast = prepare(gradient, product, FINITE, X, Constant(X))
    assert fast(X, Constant(X))[1] is None
    np.testing.assert_allclose(fast(X, X)[1], X)
    assert fast.specializations == 2


@each_engine
def test_what_the_notes_name_works(backend):
    deep = numpy_function(lambda x: np.sum(scipy.special.gammaln(x)), deep=True)
    for f, slope in (
        (lambda x: array_namespace(x).sum(array_namespace(x).sin(x)), np.cos(X)),
        (deep, scipy.special.digamma(X)),
        (lambda x: adinterface.scipy.special.gammaln(x).sum(), scipy.special.digamma(X)),
    ):
        np.testing.assert_allclose(gradient(f, backend, X)[0], slope, rtol=1e-6)
    by_product = lambda x, A: adinterface.scipy.sparse.product(A, x).sum()
    np.testing.assert_allclose(gradient(by_product, backend, X, Constant(_CSR))[0], X)
    np.testing.assert_allclose(
        gradient(lambda x, c: array_namespace(c, x).sum(x * c), backend, X, Constant(X))[0], X
    )
    np.testing.assert_allclose(gradient(lambda x: asyncio.run(coroutine(x)), backend, X)[0], ONES)
    np.testing.assert_allclose(gradient(branches, backend, X)[0], 2 * X)
    np.testing.assert_allclose(
        gradient(lambda x, i: x[i].sum(), backend, X, Constant(np.array([0])))[0], [1.0, 0.0]
    )


def test_what_the_notes_name_for_torch_works():
    for remedy in (AutoFiniteDifferences(native=TORCH), TORCH):
        np.testing.assert_allclose(
            gradient(lambda x: torch.sin(x).sum(), remedy, X)[0], np.cos(X), rtol=1e-6
        )
    np.testing.assert_allclose(
        gradient(lambda x, w: torch.dot(w, x), TORCH, X, Constant(_W))[0], _W
    )
    assert_tree(
        pullback(compiled_square(), AutoTorch(chunk_size=1), X).back.stacked(np.eye(2))[0],
        np.diag(2 * X),
    )
    assert_tree(
        hessian(fills, AutoTorch(mode="forward", chunk_size=1), X), hessian(fills, TORCH, X)
    )
    reverse = AutoJax(mode="reverse")
    assert_tree(
        pullback(lambda x: linearize(only_in_reverse, reverse, x).push(x), reverse, X).value, 2 * X
    )
    tangent = torch.func.jvp(
        lambda x: gradient(square, TORCH, x)[0], (torch.ones(2),), (torch.ones(2),)
    )[1]
    assert_tree(tangent, 2 * torch.ones(2))


@pytest.mark.parametrize("backend", [TORCH, FINITE], ids=["torch", "finite"])
def test_sparse_and_nested_tensors_may_be_constants_as_the_messages_say(backend):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    f = lambda a, x: (a.to_dense() @ x).sum()
    fast = prepare(gradient, f, backend, Constant(torch.eye(2, dtype=torch.float64)), x)
    for constant in (torch.eye(2, dtype=torch.float64), sparse(), sparse(torch.sparse_csr)):
        for call in (partial(gradient, f, backend), fast):
            torch.testing.assert_close(
                call(Constant(constant), x)[1], torch.ones_like(x), rtol=1e-7, atol=0
            )
    total, scale = (
        (lambda x, scale: sum([part.sum() for part in x.unbind()]) * scale),
        torch.tensor(2.0),
    )
    for constant in (nested(), nested(torch.jagged)):
        torch.testing.assert_close(
            gradient(total, backend, Constant(constant), scale)[1],
            torch.tensor(5.0),
            rtol=1e-3,
            atol=0,
        )


@pytest.mark.parametrize("mode", [None, "forward"])
def test_a_tensor_without_numbers_has_a_gradient_without_numbers_on_torch(mode):
    (result,) = gradient(square, AutoTorch(mode=mode), torch.ones(2, device="meta"))
    assert (result.is_meta, result.shape) == (True, (2,))
