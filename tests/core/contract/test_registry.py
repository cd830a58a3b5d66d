"""Backends are values that the registry finds by entry point.

What cannot be found, loaded or used says why.
"""

import copy
import dataclasses
import importlib
import pickle
import sys
import types

import numpy as np
import pytest
from backends_table import assert_told
from forked import printed

import adinterface
from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    SecondOrder,
    gradient,
    pullback,
    pushforward,
)
from adinterface.core.contract import Backend, Pullback, Pushforward, registry
from adinterface.core.contract.auto import BUILT_IN

# Values
# ------------------------------------------------------------------------------------------------

VALUES = [
    *[cls() for cls in BUILT_IN],
    AutoTorch(create_graph=True, device="cpu"),
    AutoFiniteDifferences(step=1e-4),
    AutoFiniteDifferences(native=AutoTorch(create_graph=True)),
    SecondOrder(AutoFiniteDifferences(), AutoTorch(mode="forward")),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_backend_is_a_frozen_value_that_its_repr_rebuilds(value):
    twin = eval(repr(value), {name: getattr(adinterface, name) for name in adinterface.__all__})
    copies = [twin, copy.copy(value), copy.deepcopy(value), dataclasses.replace(value)]
    copies += [
        pickle.loads(pickle.dumps(value, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    ]
    for other in copies:
        assert (other, hash(other)) == (value, hash(value))
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.mode = None
    if not isinstance(value, SecondOrder):
        assert registry.find(twin) is registry.find(value)
        assert type(registry.find(value)) is registry.backend_class(value.name)
    assert [each for each in VALUES if each == value] == [value]


def test_a_repr_shows_the_options_that_do_not_have_their_default():
    assert repr(AutoTorch(chunk_size=3)) == "AutoTorch(chunk_size=3)"
    assert (
        repr(VALUES[-1])
        == "SecondOrder(outer=AutoFiniteDifferences(), inner=AutoTorch(mode='forward'))"
    )


def test_a_derived_value_keeps_its_bases_backend():
    @dataclasses.dataclass(frozen=True)
    class Mine(AutoTorch):
        extra: int = 3

    assert type(registry.find(Mine())) is registry.backend_class("torch")
    np.testing.assert_allclose(gradient(lambda x: x * x, Mine(), 3.0), (6.0,))
    assert registry.auto_class("torch") is AutoTorch
    assert registry.auto_class("nobody") is None


def test_options_of_another_package_mean_what_they_mean_there():
    @dataclasses.dataclass(frozen=True, repr=False)
    class AutoOptions(AutoBackend):
        name = "options"
        mode: str = "fast"

    @dataclasses.dataclass(frozen=True)
    class AutoOurMode(AutoBackend):
        name = "other"
        mode: str | None = None

    assert Backend(AutoOptions(mode="slow")).mode is None
    assert Backend(AutoOurMode("forward")).mode == "forward"
    words = "...AutoOurMode: mode must be 'forward', 'reverse' or None, not 'slow'..."
    assert_told(lambda: AutoOurMode("slow"), ValueError, words)
    assert AutoOptions.install() == "pip install options"
    assert AutoJax.install() == "pip install 'adinterface[jax]'"


# Entry points
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def offer(monkeypatch):
    """Adds entry points to the installed ones: `offer(("name", "module:Class", "distribution"),
    ...)`.
    """
    real = importlib.metadata.entry_points

    def add(*points):
        def entry_points(*, group):
            found = list(real(group=group))
            for name, value, distribution in points:
                point = types.SimpleNamespace(
                    name=name, value=value, dist=types.SimpleNamespace(name=distribution)
                )
                module, _, attribute = value.partition(":")
                point.load = lambda module=module, attribute=attribute: getattr(
                    __import__(module), attribute
                )
                found.append(point)
            return found

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
        registry._entry_points.cache_clear()
        registry.REGISTRY.backends.clear()

    yield add
    monkeypatch.undo()
    registry._entry_points.cache_clear()
    registry.REGISTRY.backends.clear()


def test_the_registry_shows_what_is_registered():
    gradient(np.sum, AutoAutograd(), np.ones(1))
    lines = [line.partition(": ") for line in str(registry.REGISTRY).splitlines()]
    shown = {title: entries.split(", ") for title, _, entries in lines}
    for title, entry in {
        "backends": "finite_differences",
        "loaded": "autograd",
        "operators": "gradient",
        "around an operator": "batched",
        "functions of extensions": "matrix_row = adinterface.sparse.operators:sparse_row",
        "registered classes": "Duplicated",
    }.items():
        assert entry in shown[title]
    assert "libraries of extensions" in shown


def value_of(engine):
    return type("AutoFake", (AutoBackend,), {"name": engine})()


class Empty(Backend):
    """Gives no primitive at all."""


class DropsTheAux(Backend):
    """Doubles whatever it is given, and takes the aux apart instead of handing it on."""

    def pullback(self, function, leaves, *, differentiable=False):
        outputs, aux = function(*leaves)
        return Pullback(
            outputs, tuple(aux), lambda cotangents: tuple([2.0 * leaf for leaf in leaves])
        )


class DropsTheAuxForward(Backend):
    def pushforward(self, function, leaves, tangents, *, value=True):
        outputs, aux = function(*leaves)
        return Pushforward(outputs, tangents, tuple(aux))


_AUX = "{} gave aux as a tuple in its {}. An engine hands on the Aux that the function returned; aux.map(untraced) takes its " \
    "arrays out of a trace."  # fmt: skip
OFFERS = [
    ([("twice", "pkg_b:B", "b"), ("twice", "pkg_a:B", "a")],
     "Two packages offer a backend named 'twice': pkg_a:B (a) and pkg_b:B (b). Uninstall one of them."),
    ([("torch", "pkg_b:B", "b")],
     "Two packages offer a backend named 'torch': adinterface_torch:TorchBackend (adinterface) and pkg_b:B (b)..."),
    ([], "No installed package offers a backend named 'nobody' (entry-point group 'adinterface.backends'); installed are "
     "autograd, ..., jax, torch. If you work on adinterface itself, install it: pip install -e ."),
    ([("wrong", "builtins:int", "package")],
     "The entry point 'builtins:int' of backend 'wrong' is not a subclass of adinterface.core.contract.Backend."),
    ([("empty", f"{__name__}:Empty", "package")], "Empty defines neither pullback nor pushforward; it must give one of them."),
    ([("drops", f"{__name__}:DropsTheAux", "package")], _AUX.format("DropsTheAux", "Pullback")),
    ([("drops", f"{__name__}:DropsTheAuxForward", "package")], _AUX.format("DropsTheAuxForward", "Pushforward")),
]  # fmt: skip


@pytest.mark.parametrize(("points", "words"), OFFERS, ids=range(len(OFFERS)))
def test_an_entry_point_that_is_wrong_is_an_error_that_names_it(points, words, offer):
    offer(*points)
    value, x = value_of(points[0][0] if points else "nobody"), np.ones(2)
    f = lambda x: (x * x).sum()
    assert_told(lambda: gradient(f, value, x), BackendError, words)
    assert_told(lambda: pushforward(f, value, (x,), (x,)), BackendError, words)
    if "Forward" not in words:
        assert_told(lambda: pullback(f, value, x), BackendError, words)


def test_names_are_sorted_and_listed_once_and_loaded_engines_are_told_without_importing_any(offer):
    # listed twice is one claim
    offer(("numpy", "pkg_a:Backend", "package-a"), ("numpy", "pkg_a:Backend", "package-a"))
    assert registry.names() == sorted(
        {*registry.names(), "autograd", "finite_differences", "jax", "numpy", "torch"}
    )
    assert registry.backend_class("torch") in registry.loaded_backends()
    before = set(sys.modules)
    assert not registry.is_installed("an_engine_that_nobody_wrote")
    assert set(sys.modules) == before


UNIMPORTABLE = [
    ("broken", "import a_library_that_the_engine_needs",
     "ModuleNotFoundError: No module named 'a_library_that_the_engine"),
    ("of_last_year", "from of_last_year import newer", "ImportError: cannot import name 'newer' from 'of_l"),
    ("of_last_year", "import of_last_year.newer", "ModuleNotFoundError: No module named 'of_last_year"),
    ("of_last_year", "import of_last_year as e\ne._C", "AttributeError: module 'of_last_year' has no"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "statement", "error"), UNIMPORTABLE)
def test_an_engine_that_cannot_be_imported_is_told_to_who_asks_for_it_and_leaves_the_rest_alone(
    name, statement, error, offer, monkeypatch, tmp_path
):
    array = "class Array:\n    def __array__(self, dtype=None, copy=None): ...\n"
    (tmp_path / "of_last_year.py").write_text(array)
    (tmp_path / "backend_of_today.py").write_text(f"{statement}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "of_last_year", None)  # which is undone afterwards
    del sys.modules["of_last_year"]
    engine = importlib.import_module("of_last_year")
    offer((name, "backend_of_today:Backend", "package"))
    words = (
        f"The backend of {name} cannot be imported ({error}... may lack what it needs: pip install"
        " package, then restart ..."
    )
    for _ in range(2):
        assert_told(lambda: gradient(lambda x: x * x, value_of(name), 2.0), BackendError, words)
    assert gradient(lambda p: p["x"] * p["x"], AutoAutograd(), {"x": 3.0}) == ({"x": 6.0},)
    if name == "of_last_year":
        for value in (engine.Array(), Constant(engine.Array())):
            call = lambda value=value: gradient(lambda x, y: x, AutoAutograd(), 2.0, value)
            assert_told(call, BackendError, words)


_BLOCKED = """
    import sys
    class Blocked:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "{engine}":
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    if {hidden}:
        sys.modules["{engine}"] = None
    else:
        sys.meta_path.insert(0, Blocked())
    import adinterface
    from adinterface import gradient
    try:
        gradient(lambda x: x * x, adinterface.{auto}(), 2.0)
    except adinterface.MissingEngineError as error:
        assert isinstance(error, ImportError) and error.__suppress_context__
        print(error, error.name.partition(".")[0], sep="|")
    # Every other engine still works.
    print(*gradient(lambda x: x * x, adinterface.{other}(), 2.0))
"""


@pytest.mark.parametrize(
    ("auto", "engine", "other", "hidden"),
    [
        ("AutoJax", "jax", "AutoAutograd", False),
        ("AutoTorch", "torch", "AutoFiniteDifferences", True),
        ("AutoAutograd", "autograd", "AutoFiniteDifferences", False),
    ],
)
def test_a_missing_engine_is_an_error_that_shows_the_install_command(auto, engine, other, hidden):
    program = _BLOCKED.format(auto=auto, other=other, engine=engine, hidden=hidden)
    told, slope = printed(program).splitlines()
    assert (
        told == f"{auto} needs {engine}, which is not installed: pip install"
        f" 'adinterface[{engine}]'|{engine}"
    )
    assert float(slope) == pytest.approx(4.0)
