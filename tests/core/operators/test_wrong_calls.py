"""Wrong calls that people write first: each is an error, or has a note, that names the remedy."""

import asyncio
import importlib
import re
import types
from functools import partial

import autograd.numpy
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.special
import torch
from backends_table import BACKENDS, ENGINES, each_backend

import adinterface.scipy.special
from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    NotDifferentiableError,
    OutputError,
    PrecisionError,
    array_namespace,
    derivative,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
)

JAX, TORCH, AUTOGRAD, FINITE = AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences()
X = np.array([1.0, 2.0])


def square(x):
    return (x * x).sum()


def product(x, y):
    return (x * y).sum()


def other(package, attribute, bases=(), **attributes):
    """An object of a package that need not be installed."""
    attributes = {"__module__": package, attribute: property(lambda self: X), **attributes}
    return type("Quantity", bases, attributes)


def told(error):
    """An error as a user reads it: its message, then its notes."""
    notes = [note for note in getattr(error, "__notes__", []) if "JAX_TRACEBACK_FILTERING" not in note]
    return "\n".join([str(error), *notes])


def refused(call, cls, remedy):
    with pytest.raises(cls) as caught:
        call()
    assert re.search(remedy, told(caught.value), re.DOTALL), told(caught.value)


# The order of arguments, and keywords ----------------------------------------------------------------------------------

_ORDER = r"The order of arguments is operator\(f, backend, \*args\), all by position"
_BY_POSITION = "missing .* required positional argument"
CALLS = {
    "backend behind x": (lambda: gradient(square, X, AUTOGRAD), BackendError, _ORDER),
    "no backend": (lambda: gradient(square, X), BackendError, _ORDER),
    "a number for the backend": (lambda: gradient(square, 2.0), BackendError, _ORDER),
    "backend before f": (lambda: gradient(AUTOGRAD, square, X), BackendError, _ORDER),
    "backend=, x in its place": (lambda: gradient(square, X, backend=AUTOGRAD), BackendError, _ORDER),
    "two backends": (lambda: gradient(square, [AUTOGRAD, FINITE], X), BackendError, _ORDER),
    "backend=": (lambda: gradient(square, backend=AUTOGRAD), TypeError, _BY_POSITION),
    "f=, backend=": (lambda: gradient(f=square, backend=AUTOGRAD), TypeError, _BY_POSITION),
    "f alone": (lambda: gradient(square), TypeError, _BY_POSITION),
    "x=": (lambda: gradient(square, AUTOGRAD, x=X), NotDifferentiableError, r"not differentiated: pass x by position"),
    "as jax.grad": (lambda: gradient(square, AUTOGRAD)(X), NotDifferentiableError, r"write gradient\(f, backend, x"),
    "the name of an engine": (lambda: gradient(square, "jax", X), BackendError, r"Write AutoJax\(\)"),
    "the name of a backend": (lambda: gradient(square, "AutoTorch", X), BackendError, r"Write AutoTorch\(\)"),
    "a class": (lambda: gradient(square, AutoJax, X), BackendError, r"Write AutoJax\(\)"),
    "None": (lambda: gradient(square, None, X), BackendError, r"Pass an object such as AutoJax\(\)"),
    "f(x)": (lambda: gradient(square(X), AUTOGRAD, X), TypeError, r"f, not f\(x\)"),
    "f is None": (lambda: gradient(None, AUTOGRAD, X), TypeError, "lack a return statement"),
    "f is a name": (lambda: gradient("square", AUTOGRAD, X), TypeError, "without quotes"),
    "f in Constant": (lambda: gradient(Constant(square), AUTOGRAD, X), TypeError, "pass the function itself"),
    "gradient of a gradient": (lambda: gradient(gradient(square, AUTOGRAD, X), AUTOGRAD, X), TypeError, r"f, not f\(x\)"),
    "hvp without v": (lambda: hvp(square, AUTOGRAD, X), TypeError, "missing 1 required positional argument: 'v'"),
    "hvp of two": (lambda: hvp(product, AUTOGRAD, X, X, X), NotDifferentiableError, r"in Constant\(...\)"),
    "derivative of two": (lambda: derivative(product, AUTOGRAD, 1.0, 2.0), NotDifferentiableError, r"in Constant\(...\)"),
    "derivative by an array": (lambda: derivative(square, AUTOGRAD, X), NotDifferentiableError, "Use jacobian"),
    "pushforward without tuples": (lambda: pushforward(square, AUTOGRAD, X, X), TypeError, "must be a tuple"),
    "prepare without example": (
        lambda: prepare(gradient, square, AUTOGRAD),
        TypeError,
        r"or prepare\(gradient, f, backend, x\)",
    ),
    "option": (lambda: AutoJax(foo=1), TypeError, r"^AutoJax has no option 'foo'\. Its options are: mode, jit, chunk_size, "),
    "jax.grad": (lambda: adinterface.grad, AttributeError, r"It is adinterface\.gradient$"),
    "prepare without operator": (lambda: prepare(square, AUTOGRAD, X), TypeError, r"^prepare\(operator, f, backend"),
    "prepare, backend before f": (lambda: prepare(gradient, AUTOGRAD, square, X), TypeError, "in front of the backend"),
    "prepare, name": (lambda: prepare("gradient", square, AUTOGRAD, X), TypeError, "Pass gradient itself"),
    "prepare, called": (lambda: prepare(gradient(square, AUTOGRAD, X), square, AUTOGRAD), TypeError, "itself, not called"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_with_arguments_in_the_wrong_places_says_where_they_go(name):
    refused(*CALLS[name])


_ALL = r"Every positional argument is differentiated: wrap the others in Constant\(\.\.\.\)"
KEYWORDS = {
    "argnums": (0, _ALL),
    "argnum": (0, _ALL),
    "wrt": ("x", _ALL),
    "has_aux": (True, r"Write value_and_gradient, whose f returns \(scalar, auxiliary\)"),
    "mode": ("forward", r"It is an option of the backend: Auto\w+\(mode=\.\.\.\)"),
    "backend": (AUTOGRAD, r"Write gradient\(f, backend, x\), by position"),
    "allow_unused": (True, "f does not take it"),
}


@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
@pytest.mark.parametrize("name", KEYWORDS)
@pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
def test_a_keyword_of_another_package_is_noted(backend, name, prepared):
    value, remedy = KEYWORDS[name]
    call = (
        prepare(gradient, product, backend, X, X) if prepared else lambda *args, **kw: gradient(product, backend, *args, **kw)
    )
    refused(lambda: call(X, X, **{name: value}), TypeError, f"Keyword arguments go to f, {name} too. {remedy}")


def test_an_option_of_torch_is_noted():
    refused(lambda: gradient(square, TORCH, X, create_graph=True), TypeError, r"AutoTorch\(create_graph=\.\.\.\)")


def test_a_keyword_that_f_takes_has_no_note():
    def f(x, argnums):
        raise TypeError("about a keyword 'other'")

    with pytest.raises(TypeError) as caught:
        gradient(f, AUTOGRAD, X, argnums=2)
    assert told(caught.value) == "about a keyword 'other'"


@pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
def test_a_prepared_call_that_is_given_f_or_the_backend_is_noted(backend):
    fast = prepare(gradient, square, backend, X)
    for args in ((square, backend, X), (backend, X)):
        refused(partial(fast, *args), TypeError, r"takes the arguments of f alone, fast\(x\)")
    refused(fast, NotDifferentiableError, "There is no argument at all")


def test_a_prepared_call_without_the_constant_of_its_example_differentiates_both():
    # As `gradient` does: a new structure is specialised once more. The number of specializations shows it.
    fast = prepare(gradient, product, FINITE, X, Constant(X))
    assert fast(X, Constant(X))[1] is None
    assert fast.specializations == 1
    np.testing.assert_allclose(fast(X, X)[1], X)
    assert fast.specializations == 2


# Arithmetic on results: the tuple is Python's own, as `zip(args, gradients)` and pytrees need it ----------------------------

RESULTS = {
    "x - 0.1 * gradient": (lambda: X - 0.1 * gradient(square, AUTOGRAD, X), TypeError, "sequence"),
    "gradient / 2": (lambda: gradient(square, AUTOGRAD, X) / 2, TypeError, "tuple"),
    "gradient.sum()": (lambda: gradient(square, AUTOGRAD, X).sum(), AttributeError, "tuple"),
    "jacobian.shape": (lambda: jacobian(lambda x: x, AUTOGRAD, X).shape, AttributeError, "tuple"),
    "pullback(...)(v)": (lambda: pullback(square, AUTOGRAD, X)(1.0), TypeError, "value, back = pullback"),
    "linearize(...)(v)": (lambda: linearize(square, AUTOGRAD, X)(X), TypeError, "value, push = linearize"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_used_as_one_array_is_pythons_error_that_names_the_type(name):
    refused(*RESULTS[name])


def test_the_result_is_a_plain_tuple_which_is_a_pytree():
    gradients = gradient(product, JAX, X, X)
    assert type(gradients) is tuple
    moved = jax.tree.map(lambda x, g: x - 0.5 * g, (X, X), gradients)
    np.testing.assert_allclose(moved, [X / 2, X / 2])


# Lists, tuples and dicts as arguments ------------------------------------------------------------------------------------

_LIST = r"argument 0 is a list, which reaches f as a list of its entries\. Pass np\.array\(x\) for one array\."
CONTAINERS = {
    "x * x": ([1.0, 2.0], square, _LIST),
    "x ** 2": ([1.0, 2.0], lambda x: (x**2).sum(), _LIST),
    "2.0 * x": ([1.0, 2.0], lambda x: 2.0 * x, _LIST),
    "2 * x": ([1.0, 2.0], lambda x: 2 * x, _LIST),
    "x.shape": ([1.0, 2.0], lambda x: 1.0 * x.shape[0], _LIST),
    "x[0, 1]": ([[1.0, 2.0], [3.0, 4.0]], lambda x: x[0, 1], _LIST),
    "list of arrays": ([X, X], lambda x: x.sum(), _LIST),
    "tuple": ((1.0, 2.0), lambda x: 2.0 * x, r"argument 0 is a tuple.*np\.array\(x\).*, or gradient\(f, backend, \*x\)"),
    "tuple of arguments": ((X, X), product, r"argument 0 is one tuple. Pass its entries .*: gradient\(f, backend, \*x\)"),
    "list of arguments": ([X, X], product, r"argument 0 is one list. Pass its entries .*: gradient\(f, backend, \*x\)"),
    "dict": ({"w": X}, square, "argument 0 is a dict.*Compute with its entries"),
}  # fmt: skip


@each_backend
@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_that_f_uses_as_an_array_is_noted(name, backend):
    value, f, remedy = CONTAINERS[name]
    refused(lambda: gradient(f, backend, value), (TypeError, AttributeError), remedy)


def test_the_second_argument_is_counted_and_other_errors_have_no_note():
    refused(lambda: gradient(lambda x, y: (x * y.T).sum(), FINITE, X, [1.0]), AttributeError, "^[^\n]*\nargument 1 is a list")

    def f(params):
        raise ValueError("setting an array element with a sequence.")

    with pytest.raises(ValueError, match="sequence") as caught:
        gradient(f, FINITE, [X])
    assert "argument 0" not in told(caught.value)


# Functions of one library on the arrays of another -----------------------------------------------------------------------

_XP = r"Write xp\.sin\(x\) with xp = adinterface\.array_namespace\(x\), or differentiate with"
_SCIPY = r"array_namespace.*numpy_function.*For SciPy use adinterface\.scipy or @numpy_function\(deep=True\)"
FOREIGN = {
    "jnp.sin on torch": (lambda x: jnp.sin(x).sum(), TORCH, rf"A JAX function got a tensor\. {_XP} AutoJax\(\)"),
    "jnp.dot on torch": (lambda x: jnp.dot(x, x), TORCH, rf"A JAX function got a tensor\. {_XP} AutoJax\(\)"),
    "jnp.sin on autograd": (lambda x: jnp.sin(x).sum(), AUTOGRAD, rf"A JAX function got an array .* {_XP} AutoJax\(\)"),
    "jax.jit on autograd": (jax.jit(lambda x: jnp.sum(x)), AUTOGRAD, rf"A JAX function got an array .* {_XP} AutoJax\(\)"),
    "jnp.sin of differences": (lambda x: jnp.sin(x).sum(), FINITE, r"AutoFiniteDifferences\(native=\.\.\.\).*jax"),
    "text of a tracer": (lambda x: len(f"{x[0]:.3f}") * x.sum(), JAX, r"Print it with jax\.debug\.print"),
    "torch.sin on jax": (lambda x: torch.sin(x).sum(), JAX, rf"A torch function got a JAX array\. {_XP} AutoTorch\(\)"),
    "torch.sin on autograd": (lambda x: torch.sin(x).sum(), AUTOGRAD, rf"A torch function got .* {_XP} AutoTorch\(\)"),
    "torch.sin of differences": (lambda x: torch.sin(x).sum(), FINITE, r"AutoFiniteDifferences\(native=AutoTorch\(\)\)"),
    "a captured JAX array": (lambda x: (x * jnp.ones(2)).sum(), TORCH, r"A JAX array that f captured.*Constant\(w\)"),
    "a captured NumPy array": (lambda x: (x * np.ones(2)).sum(), TORCH, r"NumPy array w that f captures .*Constant\(w\)"),
    "a tensor of differences": (lambda x: (x * torch.ones(2)).sum(), FINITE, r"native=AutoTorch\(\)"),
    "np.sin on jax": (lambda x: np.sin(x).sum(), JAX, _SCIPY),
    "np.sin on torch": (lambda x: np.sin(x).sum(), TORCH, _SCIPY),
    "np.sum on torch": (np.sum, TORCH, r"Write x\.sum\(\) for np\.sum\(x\)"),
    "autograd.numpy on torch": (lambda x: autograd.numpy.sin(x).sum(), TORCH, _SCIPY),
    "gammaln on jax": (lambda x: scipy.special.gammaln(x).sum(), JAX, _SCIPY),
    "gammaln on torch": (lambda x: scipy.special.gammaln(x).sum(), TORCH, _SCIPY),
    # Not a ufunc: numpy_function(deep=True) teaches autograd's arrays those of SciPy, for the rest of the process.
    "logsumexp on autograd": (scipy.special.logsumexp, AUTOGRAD, _SCIPY),
    "solve on torch": (lambda x: scipy.linalg.solve(np.eye(2), x).sum(), TORCH, _SCIPY),
    "a string to jnp": (lambda x: jnp.sin("x"), JAX, "got something that is not an array of numbers"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")  # torch's, to NumPy
def test_a_function_of_another_library_is_noted(name):
    f, backend, remedy = FOREIGN[name]
    refused(lambda: gradient(f, backend, X), (TypeError, RuntimeError, PrecisionError), remedy)


@pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
def test_what_the_notes_name_works(backend):
    def by_namespace(x):
        xp = array_namespace(x)
        return xp.sum(xp.sin(x))

    deep = numpy_function(lambda x: np.sum(scipy.special.gammaln(x)), deep=True)
    np.testing.assert_allclose(gradient(by_namespace, backend, X)[0], np.cos(X))
    np.testing.assert_allclose(gradient(deep, backend, X)[0], scipy.special.digamma(X), rtol=1e-6)
    own = gradient(lambda x: adinterface.scipy.special.gammaln(x).sum(), backend, X)[0]
    np.testing.assert_allclose(own, scipy.special.digamma(X), rtol=1e-6)


# Objects of other packages ----------------------------------------------------------------------------------------------

OBJECTS = {
    "pandas": (other("pandas.core.series", "dtype", __array__=lambda self, dtype=None, copy=None: X), r"x\.to_numpy\(\)"),
    "polars": (other("polars.series", "dtype", __array__=lambda self, dtype=None, copy=None: X), r"x\.to_numpy\(\)"),
    "xarray": (other("xarray.core.dataarray", "data"), r"x\.data"),
    "xarray.Dataset": (other("xarray.core.dataset", "data_vars"), r"\{name: x\[name\]\.data for name in x\}"),
    "pint": (other("pint.registry", "magnitude"), r"x\.magnitude"),
    "astropy": (other("astropy.units.quantity", "value"), r"x\.value"),
    "uncertainties": (other("uncertainties.core", "nominal_value"), r"x\.nominal_value"),
    "dask": (other("dask.array.core", "compute"), r"x\.compute\(\)"),
    "cupy": (other("cupy", "get"), r"x\.get\(\)"),
    "tensorflow": (other("tensorflow.python", "numpy"), r"x\.numpy\(\)"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_of_another_package_names_what_makes_an_array_of_it(name):
    cls, made = OBJECTS[name]
    value = cls()
    value.held = X
    for f, args in ((square, (value,)), (lambda x, y: square(x), (X, value)), (lambda m: square(m[0]), ([X, value],))):
        with pytest.raises(NotDifferentiableError, match=rf"Pass {made}, in Constant\(\.\.\.\)") as caught:
            gradient(f, FINITE, *args)
        assert "dataclass" not in str(caught.value)
    note = rf"f got a Quantity x, which does not mix with an engine's arrays\. Pass {made}"
    for backend in ENGINES.values():
        call = partial(gradient, lambda x, y: x.sum() * abs(y), backend, X, Constant(value))
        refused(call, TypeError, note)
    refused(lambda: gradient(lambda x: value, FINITE, X), OutputError, f"returned a Quantity. Return {made}")


def test_an_array_with_a_unit_names_its_value():
    quantity = np.ones(2).view(other("astropy.units.quantity", "value", (np.ndarray,)))
    refused(lambda: gradient(square, FINITE, quantity), ConversionError, r"is an astropy\..*Pass x\.value")


@pytest.mark.parametrize("value", [{1.0, 2.0}, frozenset({1.0}), {"a": X}.values()], ids=["set", "frozenset", "values"])
def test_a_set_names_a_list(value):
    refused(lambda: gradient(square, FINITE, value), NotDifferentiableError, r"Pass list\(x\)")
    refused(lambda: gradient(lambda x, y: x * y, FINITE, 2.0, Constant(value)), TypeError, r"Pass list\(x\)")


def test_a_generator_names_a_list():
    generator = (x for x in [1.0])
    refused(lambda: gradient(sum, FINITE, generator), NotDifferentiableError, r"has no gradient; pass list\(x\)")


@pytest.mark.parametrize("layout", ["csr_array", "coo_matrix"])
def test_a_sparse_matrix_names_a_dense_one_and_a_product(layout):
    A = getattr(scipy.sparse, layout)(np.diag(X))
    remedy = r"Pass x\.toarray\(\), or Constant\(x\) with adinterface\.scipy\.sparse\.product\(x, v\)"
    refused(lambda: gradient(square, FINITE, A), NotDifferentiableError, remedy)
    for backend in ENGINES.values():
        times = lambda x, A: (A @ x).sum()
        refused(partial(gradient, times, backend, X, Constant(A)), (TypeError, RuntimeError), remedy)
        np.testing.assert_allclose(gradient(times, backend, X, Constant(A.toarray()))[0], X)
        by_product = lambda x, A: adinterface.scipy.sparse.product(A, x).sum()
        np.testing.assert_allclose(gradient(by_product, backend, X, Constant(A))[0], X)


class Mine:
    def __init__(self):
        self.w = X


@pytest.mark.parametrize(("value", "author"), [(Mine(), True), (types.SimpleNamespace(w=X), False)], ids=["mine", "Python's"])
def test_a_dataclass_is_advised_to_the_author_of_a_class_alone(value, author):
    with pytest.raises(NotDifferentiableError, match="register_node") as caught:
        gradient(square, FINITE, value)
    assert ("make it a dataclass" in str(caught.value)) == author


def test_a_class_of_an_installed_package_is_not_to_be_made_a_dataclass():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge(0, 1, weight=2.5)
    with pytest.raises(NotDifferentiableError, match=r"register_node\(Graph, fields=\['_adj'\]\), or wrap it in Constant"):
        gradient(square, FINITE, graph)


def test_words_have_their_article():
    refused(lambda: jacobian(lambda x: types.SimpleNamespace(), FINITE, X), OutputError, "f returned a SimpleNamespace")
    refused(lambda: hessian(lambda x: x, AUTOGRAD, X), OutputError, "returned an autograd array")
    array = __import__("array").array("d", [1.0])
    refused(lambda: gradient(square, FINITE, array), NotDifferentiableError, r"^args\[0\] is an array\.array")


# What f returns ---------------------------------------------------------------------------------------------------------


async def _async(x):
    return x.sum()


def _yields(x):
    yield x.sum()


VALUES = {
    "str": (lambda x: "1.0", r"returned a str\b.*Return the number, not its text"),
    "generator function": (_yields, r"returned a generator\b.*f contains a yield"),
    "generator": (lambda x: (v for v in x), r"returned a generator\b.*f contains a yield, or ends in a generator expression"),
    "coroutine": (_async, r"returned a coroutine\b.*f is an async function: write a plain one"),
    "function": (lambda x: lambda y: x.sum(), r"returned a function\b.*Return its value: call it in f"),
    "set": (lambda x: {1.0}, r"returned a set\b.*Return list\(x\)"),
}


@pytest.mark.parametrize("operator", [gradient, value_and_gradient, jacobian, pullback])
@pytest.mark.parametrize("name", VALUES)
@each_backend
def test_a_value_that_is_no_number_says_what_to_return(backend, name, operator):
    f, remedy = VALUES[name]
    refused(lambda: operator(f, backend, X), OutputError, remedy)


def test_an_async_function_can_be_run_in_a_plain_one():
    np.testing.assert_allclose(gradient(lambda x: asyncio.run(_async(x)), AUTOGRAD, X)[0], np.ones(2))


@pytest.mark.parametrize("operator", [gradient, value_and_gradient])
def test_an_array_and_a_forgotten_return_say_what_to_return(operator):
    refused(lambda: operator(lambda x: x, AUTOGRAD, X), OutputError, "Reduce it to a scalar")
    refused(lambda: operator(lambda x: None, AUTOGRAD, X), OutputError, "lack a return statement")
    refused(lambda: operator(lambda x: x[:1], AUTOGRAD, X), OutputError, "Index it")


# How long notes are -----------------------------------------------------------------------------------------------------


def test_a_remedy_is_short():
    for name in BACKENDS:
        for f in (np.sin, torch.sin, lambda x: jnp.sin(x).sum(), scipy.special.logsumexp, lambda x: [x].shape):
            try:
                gradient(f, BACKENDS[name], X)
            except (TypeError, RuntimeError, AttributeError) as error:
                _is_short(told(error)[len(str(error)) :])
    for engine in "jax", "torch":
        for row in importlib.import_module(f"adinterface_{engine}.notes").NOTES:
            _is_short(row.note)


def _is_short(note):
    """One fact a sentence, and a sentence of at most 25 words."""
    assert max(len(fact.split()) for fact in re.split(r"[.:]\s", note)) <= 25, note
