"""Random programs: what is planted into an engine is found and shrunk.

A block alone is right or refused.
"""

import contextlib
from itertools import product

import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_studies.__main__ import main
from adinterface_studies.fuzz import search
from adinterface_studies.fuzz.judging import Switch, is_ours, wrong
from adinterface_studies.fuzz.programs import PRELUDE, Program, indented
from adinterface_studies.fuzz.vocabulary import OPERATED, OPERATORS, VOCABULARY
from backends_table import BACKENDS

from adinterface import AutoAutograd, AutoTorch, OutputError, gradient
from adinterface.tools.facts import operator_rows, plain_of

AUTOGRAD = AutoAutograd()


@pytest.mark.parametrize(
    ("name", "count"), [("jax", 10), ("torch", 20), ("autograd", 25), ("finite", 15)]
)
def test_a_short_run_finds_nothing(name, count):
    found = search([BACKENDS[name]], 11, count)
    assert found is None, str(found)


def _last_doubled(arrays):
    *others, last = arrays
    return (*others, last if last is None else 2 * last)


def test_a_wrong_engine_is_found_and_its_program_runs_when_pasted(monkeypatch):
    pullback, right = AutogradBackend.pullback, AutogradBackend.gradient

    def wrong_pullback(self, function, leaves, *, differentiable=False):
        pulled = pullback(self, function, leaves, differentiable=differentiable)
        return pulled._replace(back=lambda cotangents: _last_doubled(pulled.back(cotangents)))

    def wrong_gradient(self, function, leaves, *, value=True):
        result = right(self, function, leaves, value=value)
        return result._replace(gradients=_last_doubled(result.gradients))

    monkeypatch.setattr(AutogradBackend, "pullback", wrong_pullback)
    monkeypatch.setattr(AutogradBackend, "gradient", wrong_gradient)
    searches = (search([AutoAutograd()], number, 60) for number in range(6))
    found = next(found for found in searches if found is not None)
    with pytest.raises(AssertionError):
        exec(compile(str(found), "<pasted>", "exec", dont_inherit=True), {"__name__": "pasted"})
    assert len(found.program.f.splitlines()) < 8


#: Operands of each kind, for a call and for another one.
OPERANDS = [
    ("np.array([0.9, -0.5])", "-np.array([0.9, -0.5])"),
    ("np.array([0.7 + 0.2j, -0.4 + 0.5j])", "np.array([0.3 - 0.2j, 0.4 + 0.1j])"),
    ("np.array(0.7)", "-np.array(0.7)"),
    ("np.array([[0.9, -0.5], [0.2, 1.3]])", "np.array([[1.2, 0.4], [-0.7, 0.8]])"),
    ("Constant(0.6)", "Constant(-0.6)"), ("Constant(2)", "Constant(3)"),
    ("Constant('text')", "Constant('word')"), ("Constant(True)", "Constant(False)"),
    ("Constant(Switch(2))", "Constant(Switch(3))"),
    ("Constant(Switch(2).raised)", "Constant(Switch(3).raised)"),
]  # fmt: skip
SCOPE = {"np": np, "Switch": Switch, "Constant": lambda value: value}


def programs_of(block, check):
    """A block alone, in a program for each dtype and engine; its inner functions are sines."""
    for first in OPERANDS[:4]:
        operands = next(
            (
                chosen
                for chosen in product([first], *[OPERANDS] * (len(block.operands) - 1))
                if block_takes(block, [eval(text, SCOPE) for text, _ in chosen])
            ),
            None,
        )
        if operands is None:
            continue
        args, others = zip(*operands)
        names = [f"x{n}" for n in range(len(args))]
        for backend in (AutoTorch(), AUTOGRAD):
            setup, text = block.written(
                "t", names, ["sine"] * len(block.inner), args[0], backend.name
            )
            setup = f"def sine(x):\n    return array_namespace(x).sin(x)\n\n\n{setup}"
            body = indented(["xp = array_namespace(x0)", text, "return xp.sum(xp.real(t * t))"])
            f = f"def f({', '.join(names)}):\n{body}"
            yield Program(backend, "gradient", check, setup, f, args, others)


def block_takes(block, values):
    return all(block.fits(x, n) for n, x in enumerate(values)) and block.suits(values)


#: Functions of arrays, which the table of functions checks.
PLAIN = "elementwise", "shapes", "reductions", "linear algebra"
ALONE = [
    pytest.param(block, check, id=f"{kind}-{n}-{check}")
    for kind, blocks in VOCABULARY.items()
    for n, block in enumerate(blocks)
    for check in ("taylor", "elsewhere", "outer")
    if not block.hooked
    if kind in ("code", "rules", "loops", "caught") or (check == "taylor" and kind not in PLAIN)
    if kind != "operators" or block not in OPERATED[:-8]
]


@pytest.mark.parametrize(("block", "check"), ALONE)
def test_a_block_alone_is_right_or_refused(block, check):
    programs = [*programs_of(block, check)]
    assert programs
    for program in programs:
        assert wrong(program) is None, str(program)


def test_each_operator_is_in_programs_itself_or_without_the_value():
    assert {(plain_of(row) or row).name for row in operator_rows()} <= {*OPERATORS}


def test_errors_of_ours_and_of_others():
    with pytest.raises(OutputError) as ours:
        gradient(lambda x: x, AUTOGRAD, np.ones(2))
    noted = KeyError("x")
    noted.add_note("adinterface: what to do")
    assert is_ours(ours.value)
    assert is_ours(noted)
    assert not is_ours(KeyError("x"))


def test_the_command(capsys):
    with pytest.raises(SystemExit), contextlib.redirect_stderr(None):
        main(["fuzz", "--backend", "nonsense"])
    assert main(["fuzz", "--searches", "0"]) == 0
    assert "0 searches of 100 programs: 0 findings" in capsys.readouterr().out
    assert "def total(" in PRELUDE
