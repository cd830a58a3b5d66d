"""The fuzz of compositions: what is planted into an engine or an operator is found, and cut down to what runs."""

import contextlib
import io
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from adinterface_autograd import AutogradBackend
from adinterface_conformance.__main__ import main
from adinterface_conformance.compositions import program as programs
from adinterface_conformance.compositions import run
from adinterface_conformance.compositions.blocks import BLOCKS, OPERATORS, PACKS
from adinterface_conformance.compositions.calls import ROADS, Call, Place
from adinterface_conformance.compositions.program import Node, Program, drawn, smaller, source
from adinterface_conformance.compositions.run import compositions, is_ours
from adinterface_studies import compositions as studies
from backends_table import BACKENDS

import adinterface
from adinterface import AutoAutograd, AutoBackend, AutoTorch, Constant, OutputError, gradient, rules
from adinterface.core.contract import registry
from adinterface.tools.facts import operations, plain_of

pytestmark = pytest.mark.sweep  # test_conformance.py and test_laws.py run with every change

#: Programs of seed 1 that were right on all engines when they were first run. Others have errors that were known then.
RIGHT = (0, 2, 5, 8, 13, 14, 16, 20, 23, 26, 32)


def test_each_operator_is_in_programs_itself_or_without_the_value():
    known = {road.op for road in ROADS.values()} | set(OPERATORS)
    assert {(plain_of(operation) or operation).name for operation in operations()} <= known


@dataclass(frozen=True)
class AutoPlanted(AutoBackend):
    """An engine that is autograd, except for what `Mutant` does."""

    name = "planted"


class Mutant(AutogradBackend):
    def pullback(self, function, leaves, *, differentiable=False):
        """Twice the derivative."""
        pulled = super().pullback(function, leaves, differentiable=differentiable)
        return pulled._replace(back=lambda cotangents: pulled.back([2.0 * each for each in cotangents]))


@pytest.fixture
def mutant(monkeypatch):
    points = registry._entry_points()
    point = SimpleNamespace(name="planted", value="here:Mutant", dist=None, load=lambda: Mutant)
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "planted": [point]})
    return AutoPlanted()


@pytest.fixture
def only(monkeypatch):
    """Programs of these blocks alone, in the default mode."""

    def choose(*names):
        monkeypatch.setattr(run, "forward_of", lambda backend: backend)
        monkeypatch.setattr(programs, "ORDER", 1)  # which is fast
        monkeypatch.setattr(programs, "BLOCKS", {name: BLOCKS[name] for name in (*names, "square")})

    return choose


def found(backend, count, seed=0):
    """The shrunk programs of what is wrong."""
    return [find.program.chain for find in compositions([backend], seed, programs=count).finds]


def test_a_constant_that_is_differentiated_is_found(only, monkeypatch):
    only("gradient", "sine", "coupled")

    def leaking(f, backend, *args, **kwargs):
        right = gradient(f, backend, *args, **kwargs)
        shares = len(args) == 2 and type(args[1]) is Constant and args[0] is args[1].value
        if shares and hasattr(args[0], "shape"):
            return right[0] + gradient(f, backend, args[0], args[1].value, **kwargs)[1], None
        return right

    assert found(AutoAutograd(), 16) == []
    monkeypatch.setattr(adinterface, "gradient", leaking)
    finds = compositions([AutoAutograd()], 0, programs=16).finds
    # What is left is one gradient whose constant is its argument, or none where that is the argument of the program.
    assert finds
    assert {("same" in find.program.blocks, len(find.program.nodes) < 2) for find in finds} == {(True, True)}


def test_a_rule_that_is_left_out_at_second_order_is_found(only, monkeypatch):
    only("scalar rule", "sine", "checkpoint")

    def once(f, partials, **options):
        return rules_scalar_rule(f, lambda *args: rules.ignore_derivatives(partials(*args)), **options)

    rules_scalar_rule = rules.scalar_rule
    assert found(AutoAutograd(), 8) == []
    monkeypatch.setattr(rules, "scalar_rule", once)
    chains = found(AutoAutograd(), 8)
    assert chains
    assert set(chains) == {(Node("scalar rule"),)}


def test_an_error_that_is_not_ours_is_found(only, monkeypatch):
    only("sine", "root", "fixed_point")
    monkeypatch.setattr(rules, "root", lambda *args, **kwargs: {}["x"])
    done = compositions([AutoAutograd()], 0, programs=4)
    assert {find.kind for find in done.finds} == {"raises KeyError x"}
    assert {find.program.chain for find in done.finds} == {(Node("root", ((),)),)}


def test_what_is_found_runs_when_pasted(mutant, only):
    only("sine")
    find = compositions([mutant], 0, programs=4).finds[0]
    text = str(find).replace("AutoPlanted", "AutoAutograd")
    assert len(find.text.splitlines()) < 50
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "<pasted>", "exec", dont_inherit=True), {"__name__": "pasted"})
    assert out.getvalue()
    assert "# got " in text
    assert "wanted " in text


def test_a_seed_says_everything():
    assert [drawn(5, n) for n in range(20)] == [drawn(5, n) for n in range(20)]
    assert len({drawn(5, n) for n in range(20)} | {drawn(6, n) for n in range(20)}) == 40


def test_all_that_is_named_is_drawn():
    many = [drawn(1, n) for n in range(1500)]
    assert {node.block for program in many for node in program.nodes} == set(BLOCKS)
    assert {program.pack for program in many} == set(PACKS)
    assert {node.place for program in many for node in program.nodes} == {"plain", "prepared", "outside"}
    assert all(2 <= len(program.nodes) <= 7 for program in many)


@pytest.mark.parametrize("engine", ["", "torch", "jax", "autograd"])
def test_every_block_is_python_in_the_words_of_every_engine(engine):
    for block in BLOCKS.values():
        kinds = [dtype for dtype in ("float64", "complex128") if dtype[0] in block.kinds]
        for dtype in kinds:
            node = Node(block.name, ((Node("square"),),) * block.bodies)
            compile(source(Program((node,), dtype), engine), block.name, "exec")


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_a_block_alone_runs(name):
    """With an engine that is known to have it, so that a block is not refused for a mistake in its text."""
    block = BLOCKS[name]
    node = Node(name, ((Node("sine"),),) * block.bodies)
    for dtype in [dtype for dtype in ("float64", "complex128") if dtype[0] in block.kinds]:
        place = Place(Program((node,), dtype), AutoTorch())
        try:
            value = place.run(Call(AutoTorch(), "value"))
        except RuntimeError as error:
            if not is_ours(error):  # it is, where torch cannot record a write
                raise
        else:
            assert np.all(np.isfinite(value))


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("road", sorted(ROADS))
def test_every_road_is_right_for_a_right_program(road, prepared):
    program = Program((Node("sine"), Node("coupled")), "complex128" if ROADS[road].kinds == "c" else "float64", share="same")
    for each in (program, replace(program, share="keyword"), replace(program, share="none", pack="list")):
        if each.pack != "list" or ROADS[road].trees:
            got, wanted = (Place(each, backend).run(Call(backend, road, prepared)) for backend in (AutoTorch(), AutoAutograd()))
            np.testing.assert_allclose(got, wanted, atol=1e-10)


def test_smaller_programs_are_smaller():
    def size(program):
        choices = sum(node != Node(node.block, node.bodies) for node in program.nodes)
        return len(program.nodes), choices, program != Program(program.chain), [node.block for node in program.nodes]

    for n in range(30):
        program = drawn(3, n)
        assert all(less != program and size(less)[0] <= size(program)[0] for less in smaller(program))


def test_errors_of_ours_and_of_others():
    with pytest.raises(OutputError) as ours:
        gradient(lambda x: x, AutoAutograd(), np.ones(2))
    with pytest.raises(TypeError) as told:
        gradient(lambda x: x, AutoAutograd())
    noted = KeyError("x")
    noted.add_note("adinterface: what to do")
    assert is_ours(ours.value)
    assert is_ours(told.value)
    assert is_ours(noted)
    assert not is_ours(KeyError("x"))
    shortened = KeyError("x")
    shortened.add_note("Internal frames have been removed from the traceback.")
    assert not is_ours(shortened)


def test_the_command(capsys):
    assert main(["compositions", "--backend", "nonsense"]) == 2
    assert main(["compositions", "--without", "nonsense"]) == 2
    assert studies.main(["--programs", "0", "--refusals"]) == 0
    assert "seed 0: 0 programs, 0 comparisons" in capsys.readouterr().out


@pytest.mark.sweep  # compiling, and differences of differences
@pytest.mark.parametrize("number", RIGHT)
def test_programs_on_all_engines(number):
    done = compositions(list(BACKENDS.values()), 1, programs=1, start=number)
    assert [str(find) for find in done.finds] == []
    assert done.comparisons > 0
