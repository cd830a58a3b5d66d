"""Every error message, word for word: what was wrong, what was seen, what to do."""

import contextlib
import dataclasses
import enum
import importlib
import importlib.metadata
import re
import subprocess
import sys
import textwrap
import traceback
import types
import warnings
from concurrent.futures import ThreadPoolExecutor

import autograd.extend
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.special
import torch
from autograd.tracer import new_box
from backends_table import BACKENDS, ENGINES, assert_tree, each_backend, each_engine
from example_calls import examples

from adinterface import (
    AdinterfaceError,
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    DisconnectedWarning,
    NotDifferentiableError,
    OutputError,
    PrecisionError,
    SecondOrder,
    TreeError,
    array_namespace,
    check_gradient,
    compare,
    explain,
    gradient,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
)
from adinterface.core.contract import Backend, Pullback, Pushforward, registry
from adinterface.core.operators.table import OPERATORS
from adinterface.rules import fixed_point
from adinterface.tools import check_neutral

X = np.array([1.0, 2.0])
JAX, TORCH, AUTOGRAD = AutoJax(), AutoTorch(), AutoAutograd()


@contextlib.contextmanager
def raises(cls, message):
    """As `pytest.raises`, for the whole message without its notes (JAX adds one to whatever passes through it)."""
    with pytest.raises(cls) as caught:
        yield caught
    assert str(caught.value) == message


def notes_of(error):
    """The notes of an error without the one that JAX adds to whatever passes through it."""
    return [note for note in getattr(error, "__notes__", []) if "JAX_TRACEBACK_FILTERING" not in note]


# The errors themselves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", AdinterfaceError.__subclasses__())
def test_each_error_is_also_the_built_in_one_that_fits(cls):
    assert issubclass(cls, (TypeError, ValueError, ImportError))


# Nothing differentiable -----------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1


def _softmax(x):
    return x


_END = "Pass floating numbers or arrays; a model's arrays must be floating to be trained."
NOTHING = {
    "no argument": ((), ["There is no argument at all: write gradient(f, backend, x), or prepare(gradient, f, backend, x)."]),
    "None": ((None,), ["args[0]: None (None has no gradient)"]),
    "bool": ((True,), ["args[0]: bool True (a bool has no gradient)"]),
    "str": (("text",), ["args[0]: str 'text' (str has no gradient)"]),
    "long str": (("t" * 60,), ["args[0]: str (str has no gradient)"]),
    "enum": ((Color.RED,), ["args[0]: Color <Color.RED: 1> (Color has no gradient)"]),
    "function": ((len,), ["args[0]: builtin_function_or_method <built-in function len> (builtin_function_or_method has no "
                          "gradient)"]),
    "class": ((int,), ["args[0]: type <class 'int'> (type has no gradient)"]),
    "int in a tree": (([3],), ["args[0][0]: int 3 (an int inside a tree has no gradient)"]),
    "Constant": ((Constant(X),), ["args[0]: Constant (marked as not differentiated)"]),
    "Constant in a tree": (({"k": [Constant(X)]},), ["args[0]['k'][0]: Constant (marked as not differentiated)"]),
    "datetime array": ((np.array(["2024-01-01"], "datetime64[D]"),),
                       ["args[0]: ndarray (dtype datetime64[D])"]),
    "integer array in a tree": (
        ({"k": [np.arange(3)]},), ["args[0]['k'][0]: a numpy array of dtype int64 and shape (3,) (integers inside a tree have "
                                   "no gradient)"]),
    "bool array": ((np.array([True]),), ["args[0]: a numpy array of dtype bool and shape (1,) (a bool has no gradient)"]),
    "empty tree": (({}, [()]), []),
    "several": (
        (None, {"a": ["s", 3], "b": Constant(1.0)}, False),
        ["args[0]: None (None has no gradient)", "args[1]['a'][0]: str 's' (str has no gradient)",
         "args[1]['a'][1]: int 3 (an int inside a tree has no gradient)",
         "args[1]['b']: Constant (marked as not differentiated)", "args[2]: bool False (a bool has no gradient)"]),
}  # fmt: skip


@each_backend
@pytest.mark.parametrize("name", NOTHING)
def test_a_call_in_which_nothing_has_a_gradient_lists_each_leaf_with_its_path_type_and_reason(name, backend):
    arguments, lines = NOTHING[name]
    message = "\n".join(["gradient: no argument has a gradient.", *(f"  {line}" for line in lines), _END])
    with raises(NotDifferentiableError, message):
        gradient(lambda *args: 1.0, backend, *arguments)
    message = re.sub(r"\bgradient(?=[:(,])", "value_and_gradient", message)
    with raises(NotDifferentiableError, message):
        value_and_gradient(lambda *args: 1.0, backend, *arguments)


def test_keyword_arguments_are_never_differentiated():
    start = "gradient: no argument has a gradient."
    first = "  There is no argument at all: write gradient(f, backend, x), or prepare(gradient, f, backend, x)."
    message = "\n".join([start, first, "  A keyword is not differentiated: pass x by position.", _END])
    with raises(NotDifferentiableError, message):
        gradient(lambda x: x * x, TORCH, x=2.0)


# What f returns -------------------------------------------------------------------------------------------------------

_NUMBER = "Return a float; counts and tests have no derivative."
_TREE = (
    "For auxiliary results after the scalar use value_and_gradient, with the scalar first; for a tree of arrays use jacobian "
    "or pullback."
)
_BESIDE = (
    "Auxiliary results follow the scalar in a tuple, namedtuple, dict or dataclass, with the scalar first; for a tree of "
    "arrays use jacobian or pullback."
)
_COMPLEX = "Return its real part or its squared modulus, or use jacobian for the derivative of a complex function."
_SUM = "Reduce it to a scalar (a sum or a mean), or use jacobian."
_INDEX = "Index it or take its sum to get a 0-d result, or use jacobian."
#: What an engine's array is called in a message.
_AN = {"jax": "a jax array", "torch": "a torch array", "autograd": "an autograd array", "finite": "a numpy array"}

#: name: (f, what the message says that f returned, the remedy); {} is the engine's array
OUTPUTS = {
    "vector": (lambda x: x * x, "{} of dtype float64 and shape (2,)", _SUM),
    "matrix": (lambda x: x[:, None] * x, "{} of dtype float64 and shape (2, 2)", _SUM),
    "shape (1,)": (lambda x: x[:1], "{} of dtype float64 and shape (1,)", _INDEX),
    "shape (1, 1)": (lambda x: x[:1, None], "{} of dtype float64 and shape (1, 1)", _INDEX),
    "empty": (lambda x: x[:0], "{} of dtype float64 and shape (0,)", _SUM),
    "complex": (lambda x: (1j * x).sum(), "{} of dtype complex128 and shape ()", _COMPLEX),
    "Python complex": (lambda x: 1j, "the complex 1j", _COMPLEX),
    "int": (lambda x: 3, "the int 3", _NUMBER),
    "bool": (lambda x: True, "the bool True", _NUMBER),
    "NumPy integer": (lambda x: np.int64(3), "a numpy array of dtype int64 and shape ()", _NUMBER),
    "NumPy bool": (lambda x: np.bool_(True), "a numpy array of dtype bool and shape ()", _NUMBER),
    "None": (lambda x: None, "None", "Does it lack a return statement?"),
    "tuple": (lambda x: (x.sum(), x), "a tuple", _TREE),
    "list": (lambda x: [x.sum()], "a list", _TREE),
    "dict": (lambda x: {"loss": x.sum()}, "a dict", _TREE),
    "str": (lambda x: "text", "a str", "Return the number, not its text."),
}
#: What value_and_gradient refuses: the rest it takes as a scalar with auxiliary results.
OUTPUTS_WITH_AUX = {
    **{name: OUTPUTS[name] for name in OUTPUTS if name not in ("tuple", "dict")},
    "first entry is no scalar": (lambda x: (x, x.sum()), "{} of dtype float64 and shape (2,)", _SUM),
    "first entry is None": (lambda x: (None, x.sum()), "None", "Does it lack a return statement?"),
    "first entry is an int": (lambda x: {"n": 3, "loss": x.sum()}, "the int 3", _NUMBER),
    "empty tuple": (lambda x: (), "a tuple", _TREE),
    "empty dict": (lambda x: {}, "a dict", _TREE),
}


@pytest.mark.parametrize("engine", BACKENDS)
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_gradient_needs_a_real_scalar(name, engine):
    f, seen, remedy = OUTPUTS[name]
    message = f"gradient: f must return a real scalar, but returned {seen.format(_AN[engine])}. {remedy}"
    with raises(OutputError, message):
        gradient(f, BACKENDS[engine], X)


@pytest.mark.parametrize("engine", BACKENDS)
@pytest.mark.parametrize("name", OUTPUTS_WITH_AUX)
def test_value_and_gradient_needs_a_real_scalar_or_one_in_front(name, engine):
    f, seen, remedy = OUTPUTS_WITH_AUX[name]
    remedy = _BESIDE if remedy == _TREE else remedy  # it does not advise itself
    message = f"value_and_gradient: f must return a real scalar, but returned {seen.format(_AN[engine])}. {remedy}"
    with raises(OutputError, message):
        value_and_gradient(f, BACKENDS[engine], X)


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
    ours.defvjp(lambda x: (2 * x, None), lambda _, cotangent: (backward.append("jax") or 2 * cotangent,))
    primitive = autograd.extend.primitive(lambda x: 2 * x)
    autograd.extend.defvjp(primitive, lambda ans, x: lambda cotangent: backward.append("autograd") or 2 * cotangent)
    return {"torch": Torch.apply, "jax": ours, "autograd": primitive}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_wrong_output_is_refused_before_any_backward_pass(name, engine):
    backward, calls = [], []
    double = _doubling_that_records(backward)[engine]

    def f(x):
        calls.append(1)
        return OUTPUTS[name][0](double(x))

    with pytest.raises(OutputError):
        gradient(f, ENGINES[engine], X)
    assert not backward
    assert len(calls) == 1
    gradient(lambda x: double(x).sum(), ENGINES[engine], X)
    assert backward == [engine]


@each_engine
@pytest.mark.parametrize("f", [lambda x: 1.5, lambda x: np.float64(1.5), lambda x: (X * X).sum()])
def test_a_value_that_depends_on_no_argument_gives_zeros_and_a_warning_at_the_users_line(f, backend):
    for operator in (gradient, value_and_gradient):
        message = (
            f"{operator.__name__}: the value of f depends on none of its differentiated arguments, so every gradient is zero. "
            f"Only what is computed inside f, from the arguments that f receives, is differentiated: a number made by "
            f"float(x), x.item() or x.detach() is a constant, and so is what was pickled or copied by copy.deepcopy."
        )
        with pytest.warns(DisconnectedWarning, match=f"^{re.escape(message)}$") as seen:
            result = operator(f, backend, X)
        np.testing.assert_array_equal(result[-1][0] if operator is value_and_gradient else result[0], 0 * X)
        assert seen[0].filename == __file__


# The backend argument -------------------------------------------------------------------------------------------------

_PASS = "Pass an object such as AutoJax(), AutoTorch(), AutoAutograd() or AutoFiniteDifferences()."
_ORDER = f"The order of arguments is operator(f, backend, *args), all by position. {_PASS}"
NOT_BACKENDS = {
    "string": ("numpy", "'numpy'", _ORDER),
    "name of an engine": ("torch", "'torch'", "Write AutoTorch()."),
    "module": (jax, "<module 'jax' from", None),
    "SecondOrder": (SecondOrder, repr(SecondOrder), "Write SecondOrder(outer, inner)."),
    "AutoBackend": (AutoBackend, repr(AutoBackend), _ORDER),
    "long": (list(range(200)), "a list", _ORDER),
    "None": (None, "None", _ORDER),
    "number": (3, "3", _ORDER),
    "list": ([AutoJax()], "[AutoJax(", None),
    "AutoJax": (AutoJax, repr(AutoJax), "Write AutoJax()."),
    "AutoFiniteDifferences": (AutoFiniteDifferences, repr(AutoFiniteDifferences), "Write AutoFiniteDifferences()."),
    "another class": (int, "<class 'int'>", _ORDER),
    "function": (_softmax, repr(_softmax), _ORDER),
}


@pytest.mark.parametrize("operator", [gradient, value_and_gradient])
@pytest.mark.parametrize("name", NOT_BACKENDS)
def test_an_argument_that_is_not_a_backend_is_an_error_that_shows_how_to_write_one(name, operator):
    value, seen, remedy = NOT_BACKENDS[name]
    start = f"The argument `backend` must be a backend, not {seen}"
    with pytest.raises(BackendError) as caught:
        operator(lambda x: x * x, value, 2.0)
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(f". {remedy or _PASS}")
    assert remedy is None or str(caught.value) == f"{start}. {remedy}"


# The function and the operator -----------------------------------------------------------------------------------------

_NOT_CALLED = "Pass the function itself, without calling it: f, not f(x)."
NOT_FUNCTIONS = {
    "None": (None, "None", "Does the function that made it lack a return statement?"),
    "value": (2.5, "the float 2.5", _NOT_CALLED),
    "array": (X, "a numpy array of dtype float64 and shape (2,)", _NOT_CALLED),
    "gradients": ((X,), "a tuple", _NOT_CALLED),
    "string": ("sin", "a str", "Pass the function itself, without quotes."),
    "Constant": (Constant(_softmax), "a Constant", "Constant(...) is for arguments; pass the function itself."),
    "backend": (TORCH, "the backend AutoTorch", "f stands in front of the backend."),
}
CALLERS = {
    **{
        example.operator.__name__: lambda f, backend, o=example.operator, args=example.args: o(f, backend, *args)
        for example in examples().values()
    },
    "prepare": lambda f, backend: prepare(gradient, f, backend, X),
    "explain": lambda f, backend: explain(gradient, f, backend, X),
    "compare": lambda f, backend: compare(gradient, f, [backend], X),
    "check_gradient": lambda f, backend: check_gradient(f, backend, X),
    "check_neutral": lambda f, backend: check_neutral(f, X, backends=[backend]),
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("name", NOT_FUNCTIONS)
def test_what_is_no_function_is_an_error_that_says_so(name, caller):
    f, seen, remedy = NOT_FUNCTIONS[name]
    for backend in BACKENDS.values() if name in ("None", "value") else [AUTOGRAD]:
        with raises(TypeError, f"{caller}: f must be a function, but is {seen}. {remedy}"):
            CALLERS[caller](f, backend)


def test_numpy_function_takes_a_function():
    message = "numpy_function takes a function, not a float: write @numpy_function above its definition, or numpy_function(f)."
    with raises(TypeError, message):
        numpy_function(2.5)


_OPERATORS = ", ".join(sorted(operation.name for operation in OPERATORS.values()))
TAKING_OPERATORS = {
    "prepare(operator, f, backend, *example_args)": lambda operator, f: prepare(operator, f, AUTOGRAD, X),
    "explain(operator, f, backend, *args)": lambda operator, f: explain(operator, f, AUTOGRAD, X),
    "compare(operator, f, backends, *args)": lambda operator, f: compare(operator, f, [AUTOGRAD], X),
}


@pytest.mark.parametrize("call", TAKING_OPERATORS)
def test_what_is_no_operator_is_an_error_that_says_so(call):
    take = TAKING_OPERATORS[call]
    start = f"{call}: operator must be one of {_OPERATORS}, not "
    called = f" It is passed itself, not called: {call.replace('operator', 'gradient')}."
    with raises(TypeError, f"{start}a tuple.{called}"):
        take(gradient(_total, AUTOGRAD, X), _total)
    with raises(TypeError, f"{start}a NoneType.{called}"):
        take(None, _total)
    with raises(TypeError, f"{start}'hessian'. Pass hessian itself, without quotes."):
        take("hessian", _total)
    with raises(TypeError, f"{start}'loss'."):
        take("loss", _total)
    with raises(TypeError, f"{start}{_total!r}."):  # in the wrong order
        take(_total, gradient)


def _total(x):
    return (x * x).sum()


@pytest.mark.parametrize("backends", ["jax", AutoAutograd, 3])
def test_backends_must_be_a_list(backends):
    end = "backends must be a list of backend values, such as [AutoFiniteDifferences()]."
    with raises(BackendError, f"compare(operator, f, backends, *args): {end}"):
        compare(gradient, _total, backends, X)
    with raises(BackendError, f"check_neutral(f, *args, backends=...): {end}"):
        check_neutral(_total, X, backends=backends)


def test_one_backend_in_place_of_a_list_is_shown_as_a_list():
    with raises(BackendError, "check_neutral(f, *args, backends=...): backends must be a list; write [AutoAutograd()]."):
        check_neutral(_total, X, backends=AUTOGRAD)


@pytest.mark.parametrize("operator", [gradient, value_and_gradient])
@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS.keys())
def test_a_backend_and_f_in_the_wrong_order_is_an_error_that_says_the_order(backend, operator):
    message = f"The argument `backend` must be a backend, not {_softmax!r}. {_ORDER}"
    with raises(BackendError, message):
        operator(backend, _softmax, 2.0)


def test_f_and_the_backend_are_positional_only():
    with pytest.raises(TypeError):
        gradient(f=lambda x: x * x, backend=TORCH)
    (found,) = gradient(lambda x, f, backend: x * f * backend, TORCH, 2.0, f=3.0, backend=4.0)
    assert found == 12.0


@pytest.mark.parametrize("cls", [AutoJax, AutoTorch, AutoAutograd])
@pytest.mark.parametrize(("mode", "error"), [("backward", ValueError), ("", ValueError), (True, TypeError), ([], TypeError)])
def test_an_unknown_mode_is_an_error(mode, error, cls):
    with raises(error, f"{cls.__name__}: mode must be 'forward', 'reverse' or None, not {mode!r}."):
        cls(mode=mode)


@pytest.mark.parametrize("cls", [AutoJax, AutoTorch])
@pytest.mark.parametrize(("size", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_chunk_size_that_is_no_size_is_an_error(size, error, cls):
    with raises(error, f"{cls.__name__}: chunk_size must be a positive int or None, not {size!r}."):
        cls(chunk_size=size)


@pytest.mark.parametrize(("cls", "option"), [(AutoJax, "jit"), (AutoTorch, "compile"), (AutoTorch, "create_graph")])
@pytest.mark.parametrize("value", ["x", 1, None])
def test_a_switch_that_is_neither_true_nor_false_is_an_error(value, cls, option):
    with raises(TypeError, f"{cls.__name__}: {option} must be True or False, not {value!r}."):
        cls(**{option: value})


def test_options_in_the_wrong_place_are_errors():
    with raises(TypeError, "AutoJax: jit must be True or False, not 'x'."):
        AutoJax("reverse", "x")
    with raises(TypeError, "AutoTorch: compile must be True or False, not 'cuda'."):
        AutoTorch("reverse", "cuda")


def test_a_switch_of_an_engine_of_another_package_is_checked_too():
    @dataclasses.dataclass(frozen=True)
    class AutoMine(AutoBackend):
        name = "mine"
        fast: bool = False

    assert AutoMine(True).fast
    with raises(TypeError, "AutoMine: fast must be True or False, not 'reverse'."):
        AutoMine("reverse")


@pytest.mark.parametrize("device", ["cpu", 0])
def test_a_device_that_is_none_of_jax_is_an_error_that_names_those_it_has(device):
    sees = f"JAX sees {', '.join(map(str, jax.devices()))}."
    with raises(BackendError, f"AutoJax: device must be a jax.Device, a Sharding or None, not {device!r}. {sees}"):
        gradient(lambda x: x * x, AutoJax(device=device), 2.0)


# Entry points ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def offer(monkeypatch):
    """Adds entry points to the installed ones: `offer(("name", "module:Class", "distribution"), ...)`."""
    real = importlib.metadata.entry_points

    def add(*points):
        def entry_points(*, group):
            found = list(real(group=group))
            for name, value, distribution in points:
                point = types.SimpleNamespace(name=name, value=value, dist=types.SimpleNamespace(name=distribution))
                module, _, attribute = value.partition(":")
                point.load = lambda module=module, attribute=attribute: getattr(__import__(module), attribute)
                found.append(point)
            return found

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        monkeypatch.setattr(registry, "entry_points", entry_points, raising=False)
        registry._entry_points.cache_clear()
        registry._known.clear()

    yield add
    monkeypatch.undo()
    registry._entry_points.cache_clear()
    registry._known.clear()


def _value(engine):
    return type("AutoFake", (AutoBackend,), {"name": engine})()


class Empty(Backend):
    """Gives no primitive at all."""


def test_two_packages_that_offer_one_name_are_an_error_that_names_both(offer):
    offer(("twice", "pkg_b:Backend", "package-b"), ("twice", "pkg_a:Backend", "package-a"))
    message = (
        "Two packages offer a backend named 'twice': pkg_a:Backend (package-a) and pkg_b:Backend (package-b). Uninstall one of "
        "them."
    )
    with raises(BackendError, message):
        gradient(lambda x: x * x, _value("twice"), 2.0)


def test_a_package_that_claims_one_of_our_names_is_an_error_too(offer):
    offer(("numpy", "pkg_a:Backend", "package-a"), ("numpy", "pkg_a:Backend", "package-a"))  # listed twice is one claim
    assert registry.names().count("numpy") == 1
    offer(("torch", "pkg_b:Backend", "package-b"))
    message = (
        "Two packages offer a backend named 'torch': adinterface_torch:TorchBackend (adinterface) and pkg_b:Backend "
        "(package-b). Uninstall one of them."
    )
    with raises(BackendError, message):
        registry.backend_class("torch")


def test_a_name_that_nobody_offers_is_an_error_that_lists_the_installed_ones(offer):
    offer()
    message = (
        "No installed package offers a backend named 'nobody' (entry-point group 'adinterface.backends'); installed are "
        f"{', '.join(registry.names())}. If you work on adinterface itself, install it: pip install -e ."
    )
    with raises(BackendError, message):
        gradient(lambda x: x * x, _value("nobody"), 2.0)


def test_an_entry_point_that_is_no_backend_is_an_error(offer):
    offer(("wrong", "builtins:int", "package"))
    message = "The entry point 'builtins:int' of backend 'wrong' is not a subclass of adinterface.core.contract.Backend."
    with raises(BackendError, message):
        gradient(lambda x: x * x, _value("wrong"), 2.0)


def test_a_backend_without_a_primitive_is_an_error(offer):
    offer(("empty", f"{__name__}:Empty", "package"))
    message = "Empty defines neither pullback nor pushforward; it must give one of them."
    with raises(BackendError, message):
        gradient(lambda x: x * x, _value("empty"), 2.0)


class DropsTheAux(Backend):
    """Doubles whatever it is given, and takes the aux apart instead of handing it on."""

    def pullback(self, function, leaves, *, differentiable=False):
        outputs, aux = function(*leaves)
        return Pullback(outputs, tuple(aux), lambda cotangents: tuple([2.0 * leaf for leaf in leaves]))


class DropsTheAuxForward(Backend):
    def pushforward(self, function, leaves, tangents, *, value=True):
        outputs, aux = function(*leaves)
        return Pushforward(outputs, tangents, tuple(aux))


@pytest.mark.parametrize(
    ("cls", "operator"),
    [(DropsTheAux, operator) for operator in (gradient, value_and_gradient, jacobian, pullback, pushforward)]
    + [(DropsTheAuxForward, pushforward)],
)
def test_a_backend_that_does_not_hand_on_the_aux_is_an_error_that_names_it(operator, cls, offer):
    offer(("drops", f"{__name__}:{cls.__name__}", "package"))
    given = (X,) if operator is not pushforward else ((X,), (X,))
    result = "Pullback" if cls is DropsTheAux else "Pushforward"
    message = (
        f"{cls.__name__} gave aux as a tuple in its {result}. An engine hands on the Aux that the function returned; "
        f"aux.map(untraced) takes its arrays out of a trace."
    )
    with raises(BackendError, message):
        operator(lambda x: (x * x).sum(), _value("drops"), *given)


# A missing engine -----------------------------------------------------------------------------------------------------

_BLOCKED = """
    import sys
    {block}
    import adinterface
    from adinterface import gradient
    try:
        gradient(lambda x: x * x, adinterface.{auto}(), 2.0)
    except adinterface.MissingEngineError as error:
        assert isinstance(error, ImportError) and error.__suppress_context__
        print(error, error.name.partition(".")[0], sep="|")
    # Every other engine still works.
    print(*gradient(lambda x: x * x, adinterface.{other}(), 2.0))
    print([round(g, 6) for g in gradient(lambda x: x * x, adinterface.AutoFiniteDifferences(), 2.0)])
"""
_BLOCKS = {
    "not installed": """
    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "{engine}":
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    sys.meta_path.insert(0, Blocked())
    """,
    "None in sys.modules": """
    sys.modules["{engine}"] = None
    """,
}


@pytest.mark.parametrize("block", _BLOCKS)
@pytest.mark.parametrize(
    ("auto", "engine", "other"),
    [("AutoJax", "jax", "AutoAutograd"), ("AutoTorch", "torch", "AutoAutograd"), ("AutoAutograd", "autograd", "AutoJax")],
)
def test_a_missing_engine_is_an_error_that_shows_the_install_command(auto, engine, other, block):
    program = textwrap.dedent(_BLOCKED).format(
        auto=auto, other=other, block=textwrap.dedent(_BLOCKS[block]).format(engine=engine)
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{auto} needs {engine}, which is not installed: pip install 'adinterface[{engine}]'|{engine}",
        "4.0",
        "[4.0]",
    ]


@pytest.mark.parametrize(
    ("name", "statement", "error"),
    [
        ("broken", "import a_library_that_the_engine_needs", "ModuleNotFoundError: No module named 'a_library_that_the_engine"),
        ("engine_of_last_year", "from engine_of_last_year import newer", "ImportError: cannot import name 'newer' from 'engi"),
        ("engine_of_last_year", "import engine_of_last_year.newer", "ModuleNotFoundError: No module named 'engine_of_last_"),
        ("engine_of_last_year", "import engine_of_last_year as e\ne._C", "AttributeError: module 'engine_of_last_year' has no"),
        ("engine_of_last_year", "import engine_of_last_year\n1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_an_engine_that_cannot_be_imported_is_told_to_who_asks_for_it_and_leaves_the_rest_alone(
    name, statement, error, offer, monkeypatch, tmp_path
):
    (tmp_path / "engine_of_last_year.py").write_text("class Array:\n    def __array__(self, dtype=None, copy=None): ...\n")
    (tmp_path / "backend_of_today.py").write_text(f"{statement}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "engine_of_last_year", None)  # which is undone afterwards
    del sys.modules["engine_of_last_year"]
    engine = importlib.import_module("engine_of_last_year")
    offer((name, "backend_of_today:Backend", "package"))
    for _ in range(2):
        with pytest.raises(BackendError) as caught:
            gradient(lambda x: x * x, _value(name), 2.0)
        assert str(caught.value).startswith(f"The backend of {name} cannot be imported ({error}")
        assert str(caught.value).endswith(" may lack what it needs: pip install package, then restart Python.")
        assert type(caught.value.__cause__).__name__ == error.partition(":")[0]
        (tmp_path / "backend_of_today.py").unlink(missing_ok=True)  # it is not imported twice
    assert gradient(lambda p: p["x"] * p["x"], AutoAutograd(), {"x": 3.0}) == ({"x": 6.0},)
    if name == "engine_of_last_year":
        for value in (engine.Array(), Constant(engine.Array())):
            with pytest.raises(BackendError, match="The backend of engine_of_last_year cannot be imported"):
                gradient(lambda x, y: x, AutoAutograd(), 2.0, value)


# Notes on f's own errors ----------------------------------------------------------------------------------------------


class Mine(Exception):
    pass


@each_backend
@pytest.mark.parametrize("cls", [Mine, ValueError, TypeError, RuntimeError, KeyboardInterrupt, StopIteration])
def test_an_error_that_f_raises_is_the_same_object_with_its_traceback_and_no_notes(cls, backend):
    error = cls("my own words")

    def inner_of_f(x):
        raise error

    with pytest.raises(cls) as caught:
        gradient(lambda x: inner_of_f(x), backend, X)
    assert caught.value is error
    assert error.args == ("my own words",)
    assert notes_of(error) == []
    assert error.__cause__ is None
    assert traceback.extract_tb(error.__traceback__)[-1].name == "inner_of_f"


_PROMOTED = (
    "argument {} was an integer, so it was promoted to a float and differentiated; if f needs an integer there (an axis, an "
    "index, labels), wrap it in Constant(...)"
)


@each_backend
@pytest.mark.parametrize(
    ("f", "integer"),
    [
        (lambda x, axis: x[None].sum(axis=axis).sum(), 1),
        (lambda x, index: x[index], 1),
        (lambda x, count: sum(x.sum() for _ in range(count)), 2),
        (lambda x, index: x[index].sum(), np.array([0, 1])),
        (lambda x, shape: x.reshape((shape, 1)).sum(), 2),
    ],
    ids=["axis", "index", "count", "index array", "shape"],
)
def test_an_error_from_a_promoted_integer_carries_a_note_that_names_constant(f, integer, backend):
    with pytest.raises((TypeError, IndexError)) as caught:
        gradient(f, backend, X, integer)
    assert _PROMOTED.format(1) in caught.value.__notes__
    (found, none) = gradient(f, backend, X, Constant(integer))
    assert none is None
    assert found.shape == X.shape


@each_backend
@pytest.mark.parametrize("cls", [TypeError, ValueError, RuntimeError, Mine])
def test_each_promoted_integer_has_its_note_whatever_the_error_and_nothing_else_has(cls, backend):
    def f(*args):
        raise cls("mine")

    with pytest.raises(cls, match="mine") as caught:
        gradient(f, backend, 1, 2.0, 3, Constant(4), [5], X)
    assert notes_of(caught.value) == [_PROMOTED.format(0), _PROMOTED.format(2)]


@pytest.mark.parametrize("auto", [AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()])
def test_labels_that_were_promoted_are_noted(auto):
    loss = torch.nn.functional.cross_entropy
    logits, labels = torch.zeros(2, 3, dtype=torch.float64), torch.tensor([0, 2])
    with pytest.raises(RuntimeError, match="Long") as caught:
        gradient(loss, auto, logits, labels)
    assert notes_of(caught.value) == [_PROMOTED.format(1)]
    assert gradient(loss, auto, logits, Constant(labels))[1] is None


@each_backend
def test_an_integer_argument_of_any_size_is_a_float_or_an_error_that_names_it(backend):
    f = lambda n, x: n * x
    for call in (lambda n: gradient(f, backend, n, 2.0), lambda n: prepare(gradient, f, backend, 3, 2.0)(n, 2.0)):
        found = call(2**70)
        assert list(map(type, found)) == [float, float]
        np.testing.assert_allclose(found, [2.0, 2.0**70], rtol=1e-6)
        with raises(
            ConversionError,
            "An integer argument has 1,329 bits, too many for a float, as which it would be differentiated. Wrap it in "
            "Constant(...).",
        ):
            call(10**400)
    assert gradient(lambda n, x: x * (n // 10**400), backend, Constant(10**400), 2.0) == (None, pytest.approx(1.0))


@each_backend
def test_a_direction_that_is_too_large_for_a_float_is_an_error_that_names_it(backend):
    cube = lambda x: x**3
    for path, call in {
        "tangents[0]": lambda n: pushforward(cube, backend, (2.0,), (n,)).tangent,
        "cotangent": lambda n: pullback(cube, backend, 2.0).back(n)[0],
        "v": lambda n: hvp(cube, backend, 2.0, n),
    }.items():
        assert call(2**70) == pytest.approx(12.0 * 2**70, rel=1e-5)
        with raises(TreeError, f"{path} has an integer that is too large for dtype float64."):
            call(10**400)


def test_errors_of_back_and_push_have_the_notes_of_the_call():
    class Squared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x**2

        @staticmethod
        def backward(ctx, cotangent):
            return torch.from_numpy(2 * cotangent.numpy())

    def f(x):
        return torch.from_numpy(x.numpy() ** 2) if torch._C._functorch.is_functorch_wrapped_tensor(x) else x**2

    for call in (
        lambda: pullback(Squared.apply, ENGINES["torch"], X).back.stacked(np.eye(len(X))),
        lambda: linearize(f, AutoTorch(mode="forward"), X).push(X),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert notes_of(caught.value) == [_CALLED_THERE]


@pytest.mark.parametrize("engine", ["jax", "torch"])
@pytest.mark.parametrize("n", [2**70, -(2**70)])
def test_an_integer_that_an_engine_cannot_take_is_noted(n, engine):
    with pytest.raises(OverflowError) as caught:
        gradient(lambda x, n: (x * n).sum(), ENGINES[engine], X, Constant(n))
    assert notes_of(caught.value) == [
        {
            "jax": "A Python int met a JAX array whose integers are narrower. Pass a float, Constant(float(n)).",
            "torch": "A Python int of more than 64 bits met a tensor. Pass a float, Constant(float(n)).",
        }[engine]
    ]
    np.testing.assert_allclose(gradient(lambda x, n: (x * n).sum(), ENGINES[engine], X, Constant(float(n)))[0], float(n))


_NAMESPACE = (
    "Write xp.sin(x) for np.sin(x), with xp = adinterface.array_namespace(x). Or decorate f, and every function whose "
    "arguments f captures, with @adinterface.numpy_function. For SciPy use adinterface.scipy or @numpy_function(deep=True)."
)
_CALLED = {
    "jax": f"NumPy or SciPy was called on a JAX array that is being differentiated. {_NAMESPACE}",
    "torch": f"NumPy or SciPy was called on a tensor that is being differentiated. {_NAMESPACE} "
    "Pass a NumPy array w that f captures as an argument, Constant(w).",
    "autograd": f"NumPy or SciPy was called on an array that autograd is tracing. {_NAMESPACE} Beside an array c that is not "
    "differentiated write array_namespace(c, x).",
}
#: What torch raises in forward mode and in a batched pass.
_CALLED_THERE = f"{_CALLED['torch']} For NumPy in the backward of a torch.autograd.Function write AutoTorch(chunk_size=1)."


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("function", [np.linalg.det, np.linalg.inv])
def test_numpy_on_an_array_that_an_engine_traces_is_noted(function, engine):
    with pytest.raises(Exception) as caught:  # noqa: PT011  (each engine has its own)
        gradient(lambda x: function(x).sum(), ENGINES[engine], np.eye(2))
    assert notes_of(caught.value) == [_CALLED[engine]]


@pytest.mark.parametrize("engine", ["jax", "torch"])
def test_a_numpy_ufunc_on_an_array_that_an_engine_traces_is_noted(engine):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        gradient(lambda x: np.sin(x).sum(), ENGINES[engine], X)
    assert notes_of(caught.value) == [_CALLED[engine]]


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "std", "var"])
def test_a_numpy_reduction_of_a_tensor_is_noted(name, mode):
    reduce = getattr(np, name)
    for x in (torch.ones(3), X):
        with pytest.raises(TypeError) as caught:
            gradient(lambda x: reduce(x, axis=None), AutoTorch(mode=mode), x)
        assert notes_of(caught.value) == [
            "NumPy was called on a tensor. Write x.sum() for np.sum(x), or xp.sum(x) with xp = "
            "adinterface.array_namespace(x), or decorate f with @adinterface.numpy_function."
        ]


SCIPY = np.lib.NumpyVersion(scipy.__version__)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: scipy.spatial.distance.pdist(x[:, None])[0],
        lambda x: scipy.linalg.det(x * x[:, None]),
        lambda x: (scipy.sparse.csr_array(x * x[:, None]) @ X)[0],
        lambda x: scipy.ndimage.gaussian_filter(x, 1.0)[0],
        pytest.param(
            lambda x: scipy.signal.lfilter([1.0], [1.0, 0.5], x)[0],
            marks=pytest.mark.skipif(SCIPY < "1.17.0", reason="before SciPy 1.17 it computes with objects"),
        ),
    ],
    ids=["pdist", "det", "csr", "ndimage", "lfilter"],
)
def test_scipy_on_an_array_that_autograd_traces_is_noted(f):
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        gradient(f, AutoAutograd(), X)
    assert notes_of(caught.value) == [_CALLED["autograd"]]


@pytest.mark.parametrize("operator", [jacobian, pullback])
def test_an_array_of_boxes_that_f_returns_is_noted(operator):
    with pytest.raises(NotDifferentiableError, match=r"^the result of f is a NumPy array of object dtype") as caught:
        operator(lambda x: np.concatenate([x, x]), AutoAutograd(), X)
    assert notes_of(caught.value) == [_CALLED["autograd"]]


@pytest.mark.parametrize(("outer", "inner"), [(JAX, TORCH), (TORCH, JAX)], ids=["torch in JAX", "JAX in torch"])
def test_a_captured_array_of_another_engine_is_noted(outer, inner):
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        gradient(lambda c: gradient(lambda x: (x * c).sum(), inner, X)[0].sum(), outer, X)
    assert notes_of(caught.value) == [
        "An array that JAX is tracing met a tensor. Use one engine for nested calls, or AutoFiniteDifferences() for the outer "
        "one."
    ]


_WRITE_XP = "Write xp.sin(x) with xp = adinterface.array_namespace(x), or differentiate with"
_FUNCTIONS_OF_TORCH = {
    "jax": f"A torch function got a JAX array. {_WRITE_XP} AutoTorch().",
    "autograd": f"A torch function got an array that autograd is tracing. {_WRITE_XP} AutoTorch().",
    "finite": "Code of torch got a NumPy array or number. Write AutoFiniteDifferences(native=AutoTorch()), which gives f "
    "tensors, or xp.sin(x) with xp = adinterface.array_namespace(x).",
}


@pytest.mark.parametrize("engine", _FUNCTIONS_OF_TORCH)
@pytest.mark.parametrize("x", [X, 1.5], ids=["array", "float"])
def test_a_function_of_torch_on_the_array_of_another_library_is_noted(x, engine):
    with pytest.raises(TypeError, match="must be Tensor, not") as caught:
        gradient(torch.sin, BACKENDS[engine], x)
    assert notes_of(caught.value)[:1] == [_FUNCTIONS_OF_TORCH[engine]]
    for remedy in (AutoFiniteDifferences(native=AutoTorch()), AutoTorch()):
        np.testing.assert_allclose(gradient(lambda x: torch.sin(x).sum(), remedy, x)[0], np.cos(x), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")  # torch's, to NumPy
def test_autograd_on_a_torch_tensor_that_f_made_is_noted():
    with pytest.raises(TypeError, match="Can't differentiate") as caught:
        gradient(lambda x: torch.ones(2) @ x, ENGINES["autograd"], X)
    assert notes_of(caught.value) == [_FUNCTIONS_OF_TORCH["autograd"]]


_MET = (
    "A NumPy array met a tensor. If f captured the array, pass it to f as an argument, Constant(w), which is a tensor there, "
    "or decorate f with adinterface.numpy_function. Solvers and code of the host get NumPy arrays: let them use no tensors and "
    "no torch modules."
)


@pytest.mark.parametrize("f", [lambda y, w: y + w, lambda y, w: y * w], ids=["+", "*"])
def test_a_torch_parameter_in_code_for_a_solver_is_noted(f):
    weight = torch.nn.Parameter(torch.tensor([0.1, 0.2], dtype=torch.float64))

    def solved(x):
        return fixed_point(lambda y, a: f(0.1 * y, weight) + a, x * 0, x, solver=lambda g, y: g(g(y))).sum()

    with pytest.raises((TypeError, RuntimeError)) as caught:
        gradient(solved, AutoTorch(mode="forward"), X)
    assert notes_of(caught.value) == [_MET if isinstance(caught.value, TypeError) else _CALLED["torch"]]


def test_a_thread_that_jax_cannot_follow_is_noted():
    def f(x):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: (x * x).sum()).result()

    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        gradient(f, AutoJax(), X)
    (note,) = notes_of(caught.value)
    assert note.endswith("in a thread that it started, which JAX cannot follow: compute in the thread of f.")


def test_a_stack_of_cotangents_for_what_torch_compiled_is_noted():
    compiled = torch.compile(lambda x: x * x, backend="aot_eager")
    stack = np.eye(2)
    with pytest.raises(RuntimeError, match="compiled backward function within vmap") as caught:
        pullback(compiled, AutoTorch(), X).back.stacked(stack)
    (note,) = notes_of(caught.value)
    assert "the backward pass of what torch.compile made" in note
    assert note.endswith("AutoTorch(chunk_size=1) takes one entry after another.")
    assert_tree(pullback(compiled, AutoTorch(chunk_size=1), X).back.stacked(stack)[0], np.diag(2 * X))


@pytest.mark.parametrize("prepared", [False, True])
def test_a_push_through_a_jax_rule_for_reverse_mode_is_noted(prepared):
    double = _doubling_that_records([])["jax"]
    made = prepare(linearize, double, AutoJax(), X)(X) if prepared else linearize(double, AutoJax(), X)
    for push in (made.push, made.push.stacked):
        with pytest.raises(TypeError, match="to a custom_vjp function") as caught:
            push(X if push == made.push else np.stack([X, X]))
        (note,) = notes_of(caught.value)
        assert note.startswith("f calls a function that has a rule for reverse mode alone (jax.custom_vjp")


def test_a_linear_map_of_a_jax_rule_for_reverse_mode_inside_f_is_noted():
    double = _doubling_that_records([])["jax"]
    with pytest.raises(NotImplementedError, match="custom_lin") as caught:
        pullback(lambda x: linearize(double, AutoJax(), x).push(x), AutoJax(), X)
    assert "Use gradient, or AutoJax(mode='reverse')" in notes_of(caught.value)[0]
    reverse = AutoJax(mode="reverse")
    assert_tree(pullback(lambda x: linearize(double, reverse, x).push(x), AutoJax(), X).value, 2 * X)


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize(
    "f",
    [lambda x, w: (x * w).sum(), lambda x, w: (w * x).sum(), lambda x, w: w @ x, lambda x, w: torch.dot(w, x)],
    ids=["x * w", "w * x", "w @ x", "torch.dot"],
)
def test_a_numpy_array_that_f_captured_on_torch_is_noted(f, mode):
    backend, w = AutoTorch(mode=mode), np.array([1.0, 3.0])
    with pytest.raises((TypeError, RuntimeError)) as caught:
        gradient(lambda x: f(x, w), backend, X)
    (note,) = notes_of(caught.value)
    assert note in (_MET, _CALLED["torch"], _CALLED_THERE)
    assert isinstance(caught.value, RuntimeError) == (note != _MET)
    assert_tree(gradient(f, backend, X, Constant(w))[0], w)


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("data", [torch.tensor([1, 2]), torch.ones(2, dtype=torch.float64)], ids=["int64", "float64"])
def test_data_of_another_dtype_than_the_parameters_is_noted_on_torch(data, mode):
    module = torch.nn.Linear(2, 1)
    with pytest.raises(RuntimeError, match="same dtype") as caught:
        gradient(lambda m: m(data).sum(), AutoTorch(mode=mode), module)
    note = (
        "torch does not convert data to the dtype of parameters. Convert it before the call, x.to(weight.dtype) or "
        "array.astype('float32'), or the model: module.double(). If all have one dtype, and mode is 'forward', torch mixed "
        "them: a float32 number that meets a Python float has a float64 tangent there. Then use AutoTorch(), or pass float64."
    )
    assert notes_of(caught.value) == [note]
    (result,) = gradient(lambda m: m(data.to(m.weight.dtype)).sum(), AutoTorch(mode=mode), module)
    assert_tree(result.weight.detach(), torch.as_tensor(data, dtype=torch.float32)[None])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, c: array_namespace(c).linalg.vector_norm(x),
        lambda x, c: np.interp(x, [0.0, 1.0, 5.0], [1.0, 2.0, 3.0]).sum(),
        lambda x, c: scipy.linalg.cholesky(x * np.eye(2)).sum(),
        lambda x, c: scipy.linalg.solve(np.eye(2), x).sum(),
        lambda x, c: scipy.special.logsumexp(x),
    ],
)
def test_numpy_functions_from_elsewhere_on_an_array_of_autograd_are_noted(f):
    with pytest.raises((TypeError, ValueError)) as caught:
        gradient(f, AUTOGRAD, X, Constant(X))
    assert notes_of(caught.value) == [_CALLED["autograd"]]


def test_the_namespace_of_both_arrays_works_as_the_note_says():
    (found, none) = gradient(lambda x, c: array_namespace(c, x).sum((x * c) ** 2), AUTOGRAD, X, Constant(X))
    np.testing.assert_allclose(found, 2 * X**3)
    assert none is None


_WRITES = {
    "jax": "JAX arrays cannot be written to. Build the array with xp.stack, xp.concat or xp.where, or use "
    "x = x.at[i].set(value).",
    "autograd": "autograd cannot differentiate item assignment. Build the array with xp.stack, xp.concat or xp.where "
    "(xp = adinterface.array_namespace(x)).",
    "torch": "f writes into its own argument, which torch cannot differentiate. Write into a copy: x = x.clone(), then "
    "x[i] = value.",
}


def _assigns(x):
    x[0] = 0.0
    return x.sum()


def _assigns_into_numpy(x):
    y = np.zeros(2)
    y[0] = x[0]
    return y.sum()


def _assigns_into_what_is_read_only(x):
    y = np.broadcast_to(np.zeros(()), (2,))
    y[0] = x[0]
    return y.sum()


def _multiplies_in_place(x):
    x.mul_(2.0)
    return x.sum()


def _adds_in_place(x):
    x += 1.0
    return x.sum()


@pytest.mark.parametrize(
    ("f", "engine"),
    [
        (_assigns, "jax"),
        (_assigns, "autograd"),
        (_assigns, "torch"),
        (_assigns_into_numpy, "jax"),
        (_assigns_into_numpy, "autograd"),
        (_assigns_into_what_is_read_only, "autograd"),
        (_multiplies_in_place, "torch"),
        (_adds_in_place, "torch"),
    ],
)
def test_a_write_that_an_engine_cannot_differentiate_is_noted(f, engine):
    x = X.copy()
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        gradient(f, ENGINES[engine], x)
    assert notes_of(caught.value) == [_WRITES[engine]]
    np.testing.assert_array_equal(x, X)


def test_a_branch_on_a_value_under_jit_is_noted():
    def f(x):
        return (x * x).sum() if x.sum() > 0 else x.sum()

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jax.jit(lambda x: gradient(f, JAX, x))(X)
    assert notes_of(caught.value) == [
        "JAX cannot turn a traced array into a Python number, a truth value or a mask here. Keep it an array (xp.sum(x), not "
        "float(xp.sum(x))). Under jax.jit or jax.vmap use jax.numpy.where or adinterface.loops.cond instead of a branch on a "
        "value. A prepared call stays eager with AutoJax(jit=False), a batched one takes one entry after another with "
        "AutoJax(chunk_size=1)."
    ]
    np.testing.assert_allclose(gradient(f, JAX, X)[0], 2 * X)


# Numbers and conversions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [lambda x: x, lambda x: [x], lambda x: (x, 2.0)], ids=["array", "list", "with a float"])
def test_finite_differences_of_a_value_with_less_precision_than_the_arguments_are_an_error(shift):
    message = (
        "Finite differences: f returned float32 for arguments of 64 bits, so its rounding error would drown every difference. "
        "Compute in the arguments' dtype, or pass arguments of dtype float32."
    )
    with raises(PrecisionError, message):
        gradient(lambda m: np.float32((m if isinstance(m, np.ndarray) else m[0]).sum()), AutoFiniteDifferences(), shift(X))


@pytest.mark.parametrize(
    ("array", "narrow"),
    [
        (np.array([2**31, 1]), "int32"),
        (np.array([-(2**31) - 1]), "int32"),
        (np.array([2**32], dtype="uint64"), "uint32"),
    ],
)
@pytest.mark.parametrize("place", ["Constant", "tree", "keyword"])
def test_integers_that_do_not_fit_are_an_error_in_a_jax_call_without_64_bits(place, array, narrow):
    message = (
        f"An array of dtype {array.dtype.name} holds values that do not fit {narrow}, which JAX uses in a call without 64-bit "
        f"floats. Make a floating leaf float64, or set jax_enable_x64."
    )

    def call(x):
        if place == "keyword":
            return gradient(lambda x, n: x.sum() + 0 * n.sum(), JAX, x, n=array)
        if place == "tree":
            return gradient(lambda m: m[0].sum() + 0 * m[1].sum(), JAX, [x, array])
        return gradient(lambda x, n: x.sum() + 0 * n.sum(), JAX, x, Constant(array))

    with raises(PrecisionError, message):
        call(X.astype("float32"))
    call(X)


_SUPPORTED = "float16, bfloat16, float32, float64, complex64, complex128"
LONG = np.dtype(np.longdouble).name, np.dtype(np.clongdouble).name


@pytest.mark.parametrize(("backend", "engine"), [(JAX, "JAX"), (TORCH, "PyTorch")])
@pytest.mark.parametrize("dtype", LONG)
@pytest.mark.parametrize("place", ["argument", "tree", "Constant"])
def test_a_dtype_that_an_engine_lacks_is_an_error_that_names_those_it_has(place, dtype, backend, engine):
    message = (
        f"{engine} has no {dtype}, and nothing is narrowed silently. Convert the leaf yourself to one of {_SUPPORTED}, or use "
        f"AutoFiniteDifferences(), which keeps every dtype."
    )
    x = X.astype(dtype)
    arguments = {"argument": (x,), "tree": ({"k": [x]},), "Constant": (X, Constant(x))}[place]
    with raises(PrecisionError, message):
        gradient(lambda *args: 1.0, backend, *arguments)


@pytest.mark.parametrize("inner", ENGINES)
@pytest.mark.parametrize("outer", ENGINES)
def test_an_array_that_one_engine_traces_is_an_error_for_another(outer, inner):
    def f(x):
        (found,) = gradient(lambda y: (y * y * y).sum(), ENGINES[inner], x)
        return found.sum()

    if outer == inner:
        np.testing.assert_allclose(gradient(f, ENGINES[outer], X)[0], 6 * X)
        return
    with pytest.raises(ConversionError) as caught:
        gradient(f, ENGINES[outer], X)
    message = (
        f"A leaf is traced by {outer} (<type>), and {type(ENGINES[inner]).__name__} cannot see through that trace. Use one "
        f"engine for nested calls, or AutoFiniteDifferences() for the outer one."
    )
    assert re.sub(r"\(\w+\),", "(<type>),", str(caught.value)) == message
    assert notes_of(caught.value) == []


def test_an_engine_never_drops_a_part_of_a_gradient_without_a_word():
    # The inner gradient is of another engine: either an error, or 6 x + 1.
    with pytest.raises(ConversionError):
        gradient(lambda x: x.sum() + torch.as_tensor(gradient(lambda y: (y * y * y).sum(), JAX, x)[0]).sum(), TORCH, X)


def _sparse(layout):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support beta
        dense = torch.eye(2, dtype=torch.float64)
        return dense.to_sparse() if layout == "sparse_coo" else dense.to_sparse_csr()


@each_backend
@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
@pytest.mark.parametrize("place", [lambda x: x, lambda x: {"k": [x]}], ids=["argument", "tree"])
def test_a_sparse_tensor_is_an_error_that_names_the_remedy(place, layout, backend):
    message = f"A torch tensor has layout torch.{layout}; pass x.to_dense(). AutoTorch() takes it in a Constant(...)."
    gradient(lambda x: (x * x).sum(), backend, torch.eye(2, dtype=torch.float64))  # another plan than that of a dense one
    with raises(ConversionError, message):
        gradient(lambda *args: 1.0, backend, place(_sparse(layout)))


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr"])
@pytest.mark.parametrize("backend", [AutoTorch(), AutoFiniteDifferences()], ids=["torch", "finite"])
def test_a_sparse_tensor_may_be_a_constant_as_the_message_says(backend, layout):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    f = lambda a, x: (a.to_dense() @ x).sum()
    fast = prepare(gradient, f, backend, Constant(torch.eye(2, dtype=torch.float64)), x)
    for call in (lambda a: gradient(f, backend, a, x), lambda a: fast(a, x)):
        for constant in (torch.eye(2, dtype=torch.float64), _sparse(layout)):
            none, found = call(Constant(constant))
            assert none is None
            torch.testing.assert_close(found, torch.ones_like(x), rtol=1e-7, atol=0)


@pytest.mark.parametrize("kept", [_sparse("sparse_coo"), torch.eye(2).to_mkldnn()], ids=["sparse", "mkldnn"])
@pytest.mark.parametrize("backend", [JAX, AUTOGRAD], ids=["jax", "autograd"])
def test_a_constant_that_another_engine_cannot_take_names_the_remedy(backend, kept):
    with pytest.raises(ConversionError, match=r"pass x\.to_dense\(\)\. AutoTorch\(\) takes it in a Constant\(\.\.\.\)\.$"):
        gradient(lambda x, c: x * x, backend, 2.0, Constant(kept))


_NESTED = (
    "A torch tensor is nested, so it has no shape. Pass the list of its parts, list(x.unbind()), or "
    "torch.nested.to_padded_tensor(x, 0.0). AutoTorch() takes it in a Constant(...)."
)


def _nested(layout):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls them a prototype
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)


@each_backend
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.parametrize("place", [lambda x: x, lambda x: {"k": [x]}], ids=["argument", "tree"])
def test_a_nested_tensor_is_an_error_that_names_the_remedy(place, layout, backend):
    with raises(ConversionError, _NESTED):
        gradient(lambda *args: 1.0, backend, place(_nested(layout)))


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.parametrize("backend", [AutoTorch(), AutoFiniteDifferences()], ids=["torch", "finite"])
def test_a_nested_tensor_may_be_a_constant_or_a_list_as_the_message_says(backend, layout):
    nested, scale = _nested(layout), torch.tensor(2.0)
    f = lambda parts, scale: sum([part.sum() for part in parts]) * scale
    g = lambda x, scale: f(x.unbind(), scale)
    none, found = gradient(g, backend, Constant(nested), scale)
    assert none is None
    assert_tree(prepare(gradient, g, backend, Constant(nested), scale)(Constant(nested), scale)[1], found)
    torch.testing.assert_close(found, torch.tensor(5.0), rtol=1e-3, atol=0)
    parts, found = gradient(f, backend, list(nested.unbind()), scale)
    torch.testing.assert_close(parts, [torch.full((2,), 2.0), torch.full((3,), 2.0)], rtol=1e-3, atol=0)


_META = (
    "A torch tensor on the meta device has a shape but no numbers, so only AutoTorch() takes it. Give it numbers first: "
    "torch.empty_like(x, device='cpu'), or module.to_empty(device='cpu')."
)


@pytest.mark.parametrize("backend", [b for name, b in BACKENDS.items() if name != "torch"])
def test_a_tensor_without_numbers_is_an_error_that_names_the_remedy(backend):
    with raises(ConversionError, _META):
        gradient(lambda x: (x * x).sum(), backend, torch.ones(2, device="meta"))


def test_a_tensor_without_numbers_has_a_gradient_without_numbers_on_torch():
    for mode in (None, "forward"):
        (result,) = gradient(lambda x: (x * x).sum(), AutoTorch(mode=mode), torch.ones(2, device="meta"))
        assert result.is_meta
        assert result.shape == (2,)


@pytest.mark.parametrize("backend", [lambda auto: auto, lambda auto: AutoFiniteDifferences(native=auto)])
@pytest.mark.parametrize("device", ["cuda", "gpu", torch.device("cuda", 3), 1.5])
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_torch_does_not_have_is_an_error_that_names_those_it_has(device, backend):
    with pytest.raises(BackendError) as caught:
        gradient(lambda x: x * x, backend(AutoTorch(device=device)), 2.0)
    message = str(caught.value)
    assert message.startswith(f"AutoTorch(device={device!r}): torch cannot put a tensor there (")
    assert message.endswith("). It sees cpu.")


def test_arrays_of_two_libraries_have_no_common_namespace():
    message = "array_namespace: jax and torch arrays do not mix; convert them to one library first."
    with raises(TypeError, message):
        array_namespace(torch.ones(2), jnp.ones(2), 2.0, None)


def test_the_namespace_of_autograds_boxes_asks_for_an_axis():
    box = new_box(np.ones((2, 2)), 0, autograd.core.VJPNode.new_root())
    message = "cumulative_sum needs an axis for an array of more than one dimension."
    with raises(ValueError, message):
        array_namespace(box).cumulative_sum(box)


@pytest.mark.parametrize("step", [0.0, -1e-3, float("nan"), float("inf")])
def test_a_relative_step_that_is_no_step_is_an_error(step):
    with raises(ValueError, f"AutoFiniteDifferences: step must be a positive number or None, not {step!r}."):
        AutoFiniteDifferences(step=step)


def test_a_prepared_call_without_its_direction_is_an_error():
    fast = prepare(hvp, lambda x: (x**2).sum(), TORCH, X, X)
    message = "hvp(f, backend, x, v, *constants): takes x and its direction v, but got 1."
    for call in (lambda: fast(X), lambda: prepare(hvp, lambda x: (x**2).sum(), TORCH, X)):
        with raises(TypeError, message):
            call()
    push = prepare(pushforward, lambda x: x**2, TORCH, (X,), (X,))
    with raises(TypeError, "pushforward(f, backend, args, tangents): takes two tuples, arguments and tangents, but got 1."):
        push((X,))
