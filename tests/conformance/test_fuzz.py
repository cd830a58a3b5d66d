"""The fuzzer: its programs are sound, its reference is exact, it finds what is wrong, and cuts it down to what runs."""

import contextlib
import importlib
import io

import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_conformance.__main__ import main
from adinterface_conformance.fuzz import making, reference, rules, run, shrinking
from adinterface_conformance.fuzz.elsewhere import elsewhere, switched
from adinterface_conformance.fuzz.judging import judge
from adinterface_conformance.fuzz.making import Wanted
from adinterface_conformance.fuzz.nodes import Layer, Pair, Switch
from adinterface_conformance.fuzz.program import Program, Statement, written
from adinterface_conformance.fuzz.run import fuzz
from adinterface_conformance.fuzz.trial import Call, Trial
from adinterface_jax import JaxBackend
from adinterface_torch import TorchBackend
from backends_table import BACKENDS, assert_tree, each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    PrecisionError,
    array_namespace,
    gradient,
    hvp,
)
from adinterface.core.contract.library import Library
from adinterface.core.contract.loops import Loops
from adinterface.tools.facts import operation_of_name

pytestmark = pytest.mark.sweep  # test_conformance.py and test_laws.py run with every change

# Right engines -------------------------------------------------------------------------------------------------------


@pytest.mark.sweep  # ten seconds; what is wrong is found by other tests, and here there is nothing
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
    assert sum("branch" in program.kinds for program in programs) >= 5


@pytest.mark.parametrize("theme", ["static", "captured", "caught"])
def test_programs_are_about_their_theme(theme):
    kinds, texts = [], set()
    for seed in range(60):
        with contextlib.suppress(making.Impossible):
            program = making.program(np.random.default_rng(seed), Wanted("scalar", theme=theme))
            kinds += program.kinds
            texts |= {statement.text for statement in program.statements}
            assert program.deep is (theme == "caught")
    assert kinds.count(theme) >= 15
    assert len(texts & {rule.text for rule in making.THEMES[theme]}) > len(making.THEMES[theme]) / 2


# What the themes are about ------------------------------------------------------------------------------------------------

#: A static value of each kind.
OPERANDS = {
    rules.word: Constant("text"), rules.truth: Constant(True), rules.integer: Constant(2),
}  # fmt: skip


def program_of(rule, deep=False, sign=1.0):
    """One statement on the leaves of one argument, and on static values, that suit it."""
    leaves, args, operands = {}, [], []
    for n, fits in enumerate(rule.operands):
        constant = OPERANDS.get(fits)
        if fits in (rules.switch, rules.method):
            setting = Switch(2)
            constant = Constant(setting if fits is rules.switch else setting.raised)
        if constant is None:
            leaves[f"x{n}"] = (
                np.array(sign * (0.7 - 0.3 * n)) if fits is rules.number else sign * np.array([0.9, -0.5]) + 0.1 * n
            )
            operands.append(f"a['x{n}']")
        else:
            operands.append("bcd"[len(args)])
            args.append(constant)
    statement = Statement("t0", rule.text, tuple(operands), rule.kind)
    return Program((leaves, *args), {}, (statement,), (Statement("r0", "xp.sum({0})", ("t0",)),), "scalar", deep)


def named(themed):
    """Names of tests: the number of the rule, and the end of its text."""
    return [f"{n}: {rule.text.splitlines()[-1].removeprefix('{n} = ')}" for n, rule in enumerate(themed)]


def findings(program, operator, call, seed):
    """What is wrong with an operator on a program."""
    trial = Trial(program, operator, operation_of_name(operator.__name__), seed, {})
    return [finding.message for finding in judge(trial, call).findings]


@each_engine
@pytest.mark.parametrize("rule", rules.STATIC, ids=named(rules.STATIC))
def test_a_prepared_call_knows_what_a_static_value_decides(rule, backend):
    # The seed decides whether static values, switches or both are others in the first call.
    for seed in (0, 3):
        assert findings(program_of(rule), gradient, Call(backend, prepared=True), seed) == []


@each_engine
@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("rule", rules.CAPTURED, ids=named(rules.CAPTURED))
def test_a_rule_that_captures_is_right_or_refused(rule, mode, backend):
    call = Call(type(backend)(mode=mode))
    for operator in (gradient, hvp):
        assert findings(program_of(rule), operator, call, 1) == []


@each_engine
@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("rule", rules.CAUGHT, ids=named(rules.CAUGHT))
def test_what_numpy_code_catches_is_raised(rule, prepared, backend):
    for sign in (1.0, -1.0):
        assert findings(program_of(rule, True, sign), gradient, Call(backend, prepared), 1) == []


def test_a_program_elsewhere_has_other_numbers_static_values_and_switches():
    switch = Switch(2)
    rule = Statement("t0", "{n} = {0} ** {1}.power if {2} else {0}", ("a", "b", "c"))
    args = np.array([0.5, -1.0]), Constant(switch), Constant(True)
    program = Program(args, {"word": "text", "steps": 3}, (rule,), (Statement("r0", "xp.sum({0})", ("t0",)),), "scalar")
    seen = set()
    for seed in range(12):
        there = elsewhere(program, seed)
        numbers, setting, truth = there.program.args
        np.testing.assert_array_equal(numbers, -0.96875 * args[0])
        with switched(there):
            seen.add((setting.value.power, truth.value, there.program.kwargs["word"], there.program.kwargs["steps"]))
        assert setting.value is switch
        assert switch.power == 2
    assert seen == {(2, False, "word", 1), (3, True, "text", 3), (3, False, "word", 1)}


def test_a_program_elsewhere_runs():
    rule = Statement("t0", "{n} = xp.stack([{0}])[{1} - 2]", ("a", "b"))
    program = Program((np.array([0.5]), Constant(2)), {}, (rule,), (Statement("r0", "xp.sum({0})", ("t0",)),), "scalar")
    for seed in range(6):  # an index of 1 is out of range, so only the numbers are others
        assert elsewhere(program, seed).program.args[1].value == 2


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
        done = fuzz([AutoAutograd()], 2, programs=1, start=programs)
        programs += 1
        failure = next((each for each in done.failures if kind in each.kind), None)
        if failure is not None:
            break
        assert programs < 80
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


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_with_one_operator_a_program(name, monkeypatch):
    monkeypatch.setattr(shrinking, "SECONDS", 0.0)
    install, kind = WRONG[name]
    install(monkeypatch)
    done = fuzz([AutoAutograd()], 31, programs=60, operators=1)
    assert any(kind in failure.kind for failure in done.failures)


def test_options_say_how_much_is_tried():
    backends = [AutoAutograd(), AutoJax()]
    few = fuzz(backends, 5, programs=6, operators=1, share=6)
    many = fuzz(backends, 5, programs=6, operators=4, share=2)
    assert few.good
    assert many.good
    assert many.comparisons.total() > 2 * few.comparisons.total()
    assert 0 < few.comparisons["AutoJax"] < few.comparisons["AutoAutograd"]
    assert (few.operators, few.share) == (1, 6)
    assert run.drawn(5, 3, 1)[0].source() == run.drawn(5, 3, 4)[0].source()


def test_a_wrong_prepared_call_is_found(monkeypatch):
    from adinterface.core.operators.prepare import Prepared

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


def test_a_static_value_that_a_prepared_call_forgets_is_found(monkeypatch):
    from adinterface.core.operators.prepare import Prepared

    right = Prepared.__call__

    def forgetful(self, *args, **kwargs):
        static = {n: arg for n, arg in enumerate(args) if isinstance(arg, Constant) and type(arg.value) in (str, bool, int)}
        self.first = getattr(self, "first", static)
        return right(self, *[self.first.get(n, arg) for n, arg in enumerate(args)], **kwargs)

    monkeypatch.setattr(Prepared, "__call__", forgetful)
    decided = [rule for rule in rules.STATIC if rule.operands[1] in (rules.word, rules.truth, rules.integer)]
    found = [rule for rule in decided if findings(program_of(rule), gradient, Call(AutoAutograd(), prepared=True), 0)]
    assert len(found) > len(decided) / 2


def test_a_rule_that_is_silently_short_is_found(monkeypatch):
    from adinterface_torch import custom

    monkeypatch.setattr(custom, "_refuse_captured", lambda rule, outputs: None)
    monkeypatch.setattr(custom, "derived", lambda rule, derivative, moved, point: derivative(moved, point))
    kinds = set()
    for rule in rules.CAPTURED:
        program = program_of(rule)
        trial = Trial(program, gradient, operation_of_name("gradient"), 1, {})
        kinds |= {finding.kind for finding in judge(trial, Call(AutoTorch())).findings}
    assert "gradient is wrong" in kinds


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


def test_failures_are_shown_as_they_come(capsys, monkeypatch):
    WRONG["a factor for vectors"][0](monkeypatch)
    main(["fuzz", "--backend", "AutoAutograd", "--programs", "12", "--seed", "31"])
    assert "def f(" in capsys.readouterr().err


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


def test_a_refused_dtype_is_documented_only_where_the_engine_lacks_it(monkeypatch, capsys):
    def refused(self, function, leaves, **options):
        raise PrecisionError("autograd has no float64, and nothing is narrowed silently.")

    monkeypatch.setattr(AutogradBackend, "gradient", refused)
    monkeypatch.setattr(AutogradBackend, "pullback", refused)
    assert main(["fuzz", "--programs", "8", "--seed", "3", "--backend", "AutoAutograd"]) == 1
    assert "raises PrecisionError" in capsys.readouterr().out


def test_an_engine_that_compiles_no_branches_is_not_asked_for_them(monkeypatch):
    """A prepared call is not tried where code decides by values; `cond` of such an engine refuses, as documented."""
    caught = first_trial(lambda trial: trial.program.deep and "caught" in trial.program.kinds)
    branching = first_trial(lambda trial: " cond(xp.sum(" in trial.program.source())
    assert not run.may_prepare(caught, AutoJax())
    assert run.may_prepare(caught, AutoJax(jit=False))
    assert not judge(branching, Call(AutoJax(), True)).refused
    monkeypatch.setattr(type(JaxBackend.libraries[0]), "loops", lambda self: Loops(self))
    assert judge(branching, Call(AutoJax(), True)).refused


def test_an_engine_without_rules_may_refuse_code_that_it_cannot_trace(monkeypatch):
    solving = first_trial(lambda trial: " root(" in trial.program.source() and "captured" not in trial.program.kinds)
    assert not judge(solving, Call(AutoTorch(), False)).refused
    for name in ("custom", "outside"):
        monkeypatch.setattr(type(TorchBackend.libraries[0]), name, getattr(Library, name))
    assert judge(solving, Call(AutoTorch(), False)).refused


def first_trial(suits):
    return next(trial for number in range(3000) for trial in run.drawn(3, number, 1)[1] if suits(trial))
