"""Public modules import as they are named, and what is public has its public place: in pickles,
hints, `dir` and `help`.
"""

import dataclasses
import importlib
import pickle
import pickletools
import pydoc
import types

import numpy as np
import pytest
from forked import printed

import adinterface
from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
    Duplicated,
    Each,
    SecondOrder,
    TreeError,
    batched,
    check_gradient,
    compare,
    derivative,
    explain,
    gradient,
    hessian,
    jacobian,
    prepare,
    sparse,
    tools,
    value_and_gradient,
    value_gradient_and_hessian,
)
from adinterface.fit import Training

MODULES = ("tree", "loops", "rules", "sparse", "fit", "tools", "scipy", "integrations")
LISTS = ("adinterface", *[f"adinterface.{name}" for name in (*MODULES[:6], "core.contract")])
FINITE = AutoFiniteDifferences()
X = np.array([1.0, 2.0])


def square(x):
    return (x * x).sum()


@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_imports_as_it_is_named(name):
    assert name in dir(adinterface)
    loaded = (
        "import sys; assert not {'jax', 'torch', 'scipy'} & set(sys.modules);"
        f" print(adinterface.{name}.__name__)"
    )
    assert printed(f"import adinterface.{name}; {loaded}") == f"adinterface.{name}"
    assert printed(f"import adinterface; {loaded}") == f"adinterface.{name}"


def test_a_star_import_does_not_replace_the_module_of_another_package():
    assert not {"scipy", "integrations"} & set(adinterface.__all__)
    assert (
        printed("import scipy; from adinterface import *; print(scipy.__name__, tree.__name__)")
        == "scipy adinterface.tree"
    )


@pytest.mark.parametrize("name", LISTS)
def test_what_a_module_lists_has_a_public_place(name):
    module = importlib.import_module(name)
    for word in module.__all__:
        value = getattr(module, word)
        if isinstance(value, (type, types.FunctionType)):
            assert value.__module__ in LISTS, word
            assert getattr(importlib.import_module(value.__module__), word) is value
            assert pickle.loads(pickle.dumps(value)) is value


VALUES = {
    **{
        repr(value): value
        for value in (AutoJax(jit=False), AutoTorch(), AutoAutograd("forward"), FINITE)
    },
    "second order": SecondOrder(FINITE, AutoTorch()),
    "sparse": AutoSparse(AutoJax(), detect="probe"),
    "value and gradient": value_and_gradient(square, FINITE, X),
    "value, gradient, hessian": value_gradient_and_hessian(square, FINITE, X),
    "constant": Constant(X),
    "each": Each(X),
    "duplicated": Duplicated({"w": X}),
    "prepared": prepare(gradient, square, FINITE, X),
    "prepared, sparse": prepare(hessian, square, AutoSparse(FINITE), X),
    "prepared, batched": prepare(
        batched, derivative, np.sin, FINITE, Each(X), randomness="different"
    ),
    "pattern": sparse.sparsity(jacobian, np.sin, FINITE, X),
    "error": TreeError("no"),
    "warning": adinterface.PrecisionWarning("no"),
    "explanation": explain(gradient, square, FINITE, X),
    "check": check_gradient(square, FINITE, X),
    "choice": tools.choose(gradient, square, X, backends=[FINITE]),
    "training": Training(square, FINITE, 0.1, X),
    "comparison": compare(gradient, square, [FINITE], X),
    "summary": tools.summary(X),
    "operator": gradient,
}


def _globals(pickled):
    """The modules that a pickle names, by protocol 2."""
    return {
        argument.partition(" ")[0]
        for code, argument, _ in pickletools.genops(pickled)
        if code.name == "GLOBAL"
    }


@pytest.mark.parametrize("name", VALUES)
def test_a_pickle_names_public_places_alone(name):
    value = VALUES[name]
    ours = {
        module
        for module in _globals(pickle.dumps(value, 2))
        if module.partition(".")[0] == "adinterface"
    }
    assert ours <= set(LISTS)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value)
        if isinstance(value, (AutoBackend, sparse.SparsityPattern)):
            assert again == value
        elif not callable(value):
            assert repr(again) == repr(value)


def test_a_prepared_call_works_after_a_round_trip():
    for name in ("prepared", "prepared, sparse", "prepared, batched"):
        fast = VALUES[name]
        fast.max_specializations = 3
        again = pickle.loads(pickle.dumps(fast))
        assert again.max_specializations == 3
        argument = Each(X) if name.endswith("batched") else X
        found, expected = again(argument), fast(argument)
        dense = (lambda value: value.toarray()) if name.endswith("sparse") else np.asarray
        np.testing.assert_array_equal(dense(found), dense(expected))


@pytest.mark.parametrize("cls", [AutoJax, AutoTorch, AutoAutograd, AutoFiniteDifferences])
def test_help_of_a_backend_value_shows_options_and_no_machinery(cls):
    text = pydoc.render_doc(cls, renderer=pydoc.plaintext)
    assert text.startswith(
        f"Python Library Documentation: class {cls.__name__} in module adinterface\n"
    )
    assert not [
        word
        for word in ("exports", "optimisers", "changed_options", "is_compiling", "_Ours", "Facts")
        if word in text
    ]
    for option in dataclasses.fields(cls):
        assert f"\n |  {option.name}" in text
    public = {name for name in dir(cls) if not name.startswith("_")}
    assert public == {option.name for option in dataclasses.fields(cls)} | {"name", "install"}
