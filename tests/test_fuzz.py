"""The fuzzer: its programs are sound, its reference is exact, it finds what is wrong, and cuts it down to what runs."""

import contextlib
import importlib
import io

import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_conformance.__main__ import main
from adinterface_conformance.fuzz import making, reference
from adinterface_conformance.fuzz.making import Wanted
from adinterface_conformance.fuzz.nodes import Layer, Pair
from adinterface_conformance.fuzz.program import written
from adinterface_conformance.fuzz.run import fuzz
from backends_table import BACKENDS, assert_tree

from adinterface import AutoAutograd, AutoFiniteDifferences, Constant, array_namespace

# Right engines -------------------------------------------------------------------------------------------------------


def test_a_short_run_on_all_backends_finds_nothing():
    done = fuzz(list(BACKENDS.values()), 2026, programs=24)
    assert [str(failure) for failure in done.failures] == []
    assert set(done.comparisons) == {type(backend).__name__ for backend in BACKENDS.values()}
    assert sum(done.comparisons.values()) > 800
    assert done.skipped < done.programs / 4


def test_a_seed_says_everything():
    first, second = (fuzz([AutoFiniteDifferences()], 5, programs=6) for _ in range(2))
    assert first == second
    assert first.comparisons != fuzz([AutoFiniteDifferences()], 6, programs=6).comparisons
    rest = fuzz([AutoFiniteDifferences()], 5, programs=3, start=3)
    assert fuzz([AutoFiniteDifferences()], 5, programs=3).comparisons + rest.comparisons == first.comparisons


def test_what_a_backend_is_asked_does_not_depend_on_the_others():
    alone, beside = (
        fuzz([AutoFiniteDifferences()], 5, programs=6),
        fuzz([AutoAutograd(), AutoFiniteDifferences()], 5, programs=6),
    )
    assert alone.comparisons["AutoFiniteDifferences"] <= beside.comparisons["AutoFiniteDifferences"]
    assert beside.good


def test_programs_are_of_many_kinds():
    programs = []
    for seed in range(150):
        with contextlib.suppress(making.Impossible):
            programs.append(making.program(np.random.default_rng(seed), Wanted(("scalar", "auxiliary", "tree")[seed % 3])))
    texts = "\n".join(f"{program.source()}{written(program.args)}{written(dict(program.kwargs))}" for program in programs)
    for word in (
        "xp.sum", "@", "linalg", "if xp", "while", "for k in", "def step", "[None, ...]", "axis=", "Constant(", "Pair(",
        "Layer(", "defaultdict(list", "OrderedDict", "'<f4'", "None", "'text'", "steps", "scale", '"aux"', "1j",
        ".reshape((0,))", "np.float",
    ):  # fmt: skip
        assert word in texts, word
    assert sum(program.branches for program in programs) >= 5


# The reference -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "wanted"), [(1, np.cos), (2, lambda x: -np.sin(x))])
def test_the_reference_is_exact(order, wanted):
    x = np.array([0.3, -1.2])
    (found,) = reference.along(lambda leaves: [np.sin(leaves[0])], [x], [np.ones(2)], order, 1e-10)
    exact = wanted(x.astype(np.longdouble))
    assert np.max(np.abs(found - exact)) < (1e-13 if np.finfo(np.longdouble).eps < 1e-18 else 1e-9)


def test_the_reference_knows_where_it_is_not():
    for f in (np.abs, lambda x: np.sin(1000 * x)):
        with pytest.raises(reference.NotSmooth):
            reference.along(lambda leaves, f=f: [f(leaves[0])], [np.array(0.001)], [np.ones(())], 1, 1e-10)


def test_the_references_linear_algebra_is_numpys():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    xp, positive = reference.reference_namespace(), a @ a.T + np.eye(3)
    for mine, wanted in (
        (xp.linalg.solve(a, b), np.linalg.solve(a, b)),
        (xp.linalg.inv(a), np.linalg.inv(a)),
        (xp.linalg.det(a), np.linalg.det(a)),
        (xp.linalg.cholesky(positive), np.linalg.cholesky(positive)),
        (xp.linalg.slogdet(a).logabsdet, np.linalg.slogdet(a).logabsdet),
        (xp.linalg.slogdet(a).sign, np.linalg.slogdet(a).sign),
    ):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)
    assert xp.linalg.solve(a.astype(np.longdouble), b).dtype == np.longdouble


def test_values_are_written_as_they_are():
    value = {
        "x": np.array([[0.1, -2.0]], dtype="float32"),
        "y": (Pair(1.5, None), [np.float64(0.25), 1j], Layer(np.array(0.5), "text")),
        3: np.zeros((0, 2)),
        "z": np.array([1 + 0.5j], dtype="complex64"),
    }
    scope = {"np": np, "Pair": Pair, "Layer": Layer, "Constant": Constant}
    assert_tree(eval(written(value), scope), value, 0.0)
    assert eval(written(Constant(2.0)), scope).value == 2.0
    assert written(np.array([1.0]), lambda path: True) == "native(np.array([1.0]))"


# Wrong engines -------------------------------------------------------------------------------------------------------


def of_gradients(change):
    """autograd with other gradients; `change(gradient, leaf)`."""

    def install(monkeypatch):
        gradient, pullback = AutogradBackend.gradient, AutogradBackend.pullback

        def changed(gradients, leaves):
            return tuple(change(g, x) for g, x in zip(gradients, leaves))

        def wrong_gradient(self, function, leaves, *, value=True):
            right = gradient(self, function, leaves, value=value)
            return right._replace(gradients=changed(right.gradients, leaves))

        def wrong_pullback(self, function, leaves, *, differentiable=False):
            right = pullback(self, function, leaves, differentiable=differentiable)
            return right._replace(back=lambda w: changed(right.back(w), leaves))

        monkeypatch.setattr(AutogradBackend, "gradient", wrong_gradient)
        monkeypatch.setattr(AutogradBackend, "pullback", wrong_pullback)

    return install


def _shape(x):
    return x.shape if hasattr(x, "shape") else ()


def _raising(g, x):
    if _shape(x) == (3, 3):
        raise NotImplementedError("no derivative of a matrix")
    return g


WRONG = {
    "matrices transposed": (of_gradients(lambda g, x: g.T if _shape(x) in ((2, 2), (3, 3)) else g), "is wrong"),
    "a factor for vectors": (of_gradients(lambda g, x: g * 1.001 if _shape(x) == (3,) else g), "is wrong"),
    "single precision lost": (of_gradients(lambda g, x: g * 0 if x.dtype == "float32" else g), "is wrong"),
    "matrices refused": (of_gradients(_raising), "raises NotImplementedError"),
    "conjugated": (of_gradients(lambda g, x: g.conj() if x.dtype.kind == "c" else g), "is wrong"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_and_cut_down(name, monkeypatch):
    install, kind = WRONG[name]
    install(monkeypatch)
    programs = 0
    while True:
        done = fuzz([AutoAutograd()], 31, programs=1, start=programs)
        programs += 1
        if done.failures:
            break
        assert programs < 40
    failure = done.failures[0]
    assert kind in failure.kind
    assert f"first in program {programs - 1}" in str(failure)
    code = [line for line in failure.text.splitlines() if line and not line.startswith("#")]
    assert len(code) <= 14, failure.text
    with contextlib.redirect_stdout(io.StringIO()) as printed, np.errstate(all="ignore"):
        if kind.startswith("raises"):
            with pytest.raises(NotImplementedError, match="no derivative of a matrix"):
                exec(failure.text, {})
        else:
            exec(failure.text, {})
            assert printed.getvalue()
    assert any(line.startswith("# ") for line in failure.text.splitlines())


def test_a_wrong_prepared_call_is_found(monkeypatch):
    from adinterface.operators.prepare import Prepared

    right = Prepared.__call__

    def first_answer(self, *args, **kwargs):
        if not hasattr(self, "answer"):
            self.answer = right(self, *args, **kwargs)
        return self.answer

    monkeypatch.setattr(Prepared, "__call__", first_answer)
    done = fuzz([AutoAutograd()], 3, programs=12)
    assert done.failures
    assert "fast = prepare(" in done.failures[0].text
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(done.failures[0].text, {})
    assert printed.getvalue()


def test_a_failure_that_is_known_is_counted_and_not_cut_down_again(monkeypatch):
    WRONG["matrices refused"][0](monkeypatch)
    done = fuzz([AutoAutograd()], 31, programs=25)
    assert len(done.failures) <= 3
    assert max(failure.count for failure in done.failures) > 1


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_says_what_it_did(capsys, tmp_path):
    report = tmp_path / "failures.txt"
    options = ["--backend", "AutoFiniteDifferences", "--programs", "2", "--seed", "4", "--output", str(report)]
    assert main(["fuzz", *options]) == 0
    line = capsys.readouterr().out
    assert line.startswith("seed 4: 2 programs, ")
    assert "comparisons (AutoFiniteDifferences " in line
    assert line.rstrip().endswith("0 ways to fail")
    assert report.read_text() == line


def test_the_command_fails_if_something_does(capsys, monkeypatch):
    WRONG["a factor for vectors"][0](monkeypatch)
    assert main(["fuzz", "--backend", "AutoAutograd", "--programs", "12", "--seed", "31"]) == 1
    assert "def f(" in capsys.readouterr().out


def test_the_command_refuses_what_is_no_backend(capsys):
    assert main(["fuzz", "--backend", "AutoNothing"]) == 2
    assert "There is no backend 'AutoNothing'" in capsys.readouterr().err


@pytest.mark.parametrize("rich", [True, False])
def test_the_command_shows_how_far_it_is(rich, capsys, monkeypatch):
    from adinterface_conformance.fuzz import command

    right = importlib.import_module

    def import_module(name, *package):
        if name.startswith("rich") and not rich:
            raise ImportError(name)
        return right(name, *package)

    monkeypatch.setattr(importlib, "import_module", import_module)
    monkeypatch.setattr(command.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("adinterface_conformance.progress.EVERY", 0.0)
    assert main(["fuzz", "--backend", "AutoFiniteDifferences", "--programs", "1"]) == 0
    shown = capsys.readouterr().err
    assert "1 programs, " in shown.replace("\n", " ")
    assert ("s: 1 programs" in shown) is not rich


def test_arrays_of_an_engine_are_tried_too():
    from adinterface_conformance.fuzz.trial import as_native, native_library

    assert native_library(BACKENDS["autograd"]) is None
    for name in ("jax", "torch"):
        library = native_library(BACKENDS[name])
        x = as_native(library, {"a": np.array([1.0, 2.0]), "b": Constant(np.float32(3.0)), "n": 2})
        assert type(x["a"]) is not np.ndarray
        assert str(x["a"].dtype).endswith("float64")
        assert x["n"] == 2
        assert array_namespace(x["b"].value) is array_namespace(x["a"])
