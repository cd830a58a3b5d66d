"""Random programs: what is planted into an engine is found and shrunk.

Blocks and statements are right or refused.
"""

import contextlib

import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_studies.__main__ import main
from adinterface_studies.fuzz import search
from adinterface_studies.fuzz import statements as st
from adinterface_studies.fuzz.blocks import BLOCKS, OPERATORS
from adinterface_studies.fuzz.judging import is_ours, wrong
from adinterface_studies.fuzz.programs import PRELUDE, Program
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


def test_a_wrong_engine_is_found_and_its_program_runs_when_pasted(monkeypatch):
    right = AutogradBackend.pullback

    def dropping(self, function, leaves, *, differentiable=False):
        pulled = right(self, function, leaves, differentiable=differentiable)
        return pulled._replace(back=lambda w: (*pulled.back(w)[:-1], 2 * pulled.back(w)[-1]))

    monkeypatch.setattr(AutogradBackend, "pullback", dropping)
    found = search([AutoAutograd(mode="reverse")], 0, 60)
    assert found is not None
    with pytest.raises(AssertionError):
        exec(compile(str(found), "<pasted>", "exec", dont_inherit=True), {"__name__": "pasted"})
    assert len(found.program.f.splitlines()) < 8


INNER = """
def F0(x):
    return array_namespace(x).sin(x)


F1 = F0


def c(x):
    xp = array_namespace(x)
"""


def program_of(block, dtype, backend):
    """A block alone, on a vector."""
    text, setup = block.engines.get(backend.name, (block.text, block.setup))
    chain = INNER + "\n".join(f"    {line}" for line in [*text.split("\n"), "return x"])
    point = "np.array([0.7, -0.4])" if dtype == "float64" else "np.array([0.7 + 0.2j, -0.4 + 0.5j])"
    f = "def f(a):\n    return total(c(a))"
    return Program(
        backend, "gradient", "taylor", f"X = {point}\n\n{setup}\n\n{chain}", f, (point,), (point,)
    )


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in OPERATORS])
@pytest.mark.parametrize("backend", [AutoTorch(), AUTOGRAD], ids=["torch", "autograd"])
def test_a_block_alone_is_right_or_refused(name, backend):
    block = BLOCKS[name]
    for dtype in ("float64", "complex128"):
        if dtype[0] in block.kinds and not block.hooked:
            program = program_of(block, dtype, backend)
            assert wrong(program) is None, str(program)


#: A static value of each kind, and another one, by what a statement asks.
OPERANDS = {
    st.word: ("Constant('text')", "Constant('word')"),
    st.truth: ("Constant(True)", "Constant(False)"),
    st.integer: ("Constant(2)", "Constant(3)"),
    st.switch: ("Constant(Switch(2))", "Constant(Switch(3))"),
    st.method: ("Constant(Switch(2).raised)", "Constant(Switch(3).raised)"),
    st.number: ("np.array(0.7)", "-np.array(0.7)"),
}  # fmt: skip


@pytest.mark.parametrize("check", ["taylor", "elsewhere", "outer"])
@pytest.mark.parametrize("number", range(len(st.STATIC) + len(st.CAPTURED) + len(st.CAUGHT)))
def test_a_statement_of_a_theme_is_right_or_refused(number, check):
    rule = (*st.STATIC, *st.CAPTURED, *st.CAUGHT)[number]
    array = "np.array([0.9, -0.5])", "-np.array([0.9, -0.5])"
    args, others = zip(*[OPERANDS.get(fits, array) for fits in rule.operands])
    letters = "abcd"[: len(args)]
    deep = "@numpy_function(deep=True)\n" if rule in st.CAUGHT else ""
    lines = [
        "xp = np" if deep else "xp = array_namespace(a)",
        *rule.text.format(*letters, n="t").split("\n"),
    ]
    f = f"{deep}def f({', '.join(letters)}):\n" + "\n".join(
        f"    {line}" for line in [*lines, "return xp.sum(t)"]
    )
    for backend in (AutoTorch(), AUTOGRAD):
        program = Program(backend, "gradient", check, "", f, args, others)
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
