"""What an operator is stands in its row, where everybody reads it."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from adinterface_conformance import Scenario, run_scenario
from backends_table import BACKENDS, assert_told, assert_tree, each_backend
from example_calls import example_of

import adinterface
from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    Constant,
    array_namespace,
    compare,
    explain,
    gradient_and_hvp,
    prepare,
)
from adinterface.core.contract.registry import REGISTRY
from adinterface.core.operators.hessian import GRADIENT_AND_HVP
from adinterface.core.operators.run import run
from adinterface.tools.facts import (
    arguments_of,
    fields_of,
    gives_map,
    operator_of,
    operator_rows,
    plain_of,
    row_of_name,
)

X, V = np.array([0.4, -1.3, 0.8]), np.array([1.0, 0.5, -2.0])


def cubes(x: Any) -> Any:
    return array_namespace(x).sum(x**3)


# The operators that there are
# ----------------------------------------------------------------------------------------


def test_every_operator_is_called_as_its_operation_says_and_is_public():
    for operator, row in REGISTRY.operators.items():
        assert getattr(adinterface, row.name) is operator
        assert operator.__name__ == row.name
        assert row_of_name(row.name) is row
        assert operator_of(row) is operator
    assert row_of_name("prepare") is None
    orders = [row.order for row in operator_rows()]
    assert orders == sorted(orders)


def test_the_plain_twins():
    twins = {row.name: plain.name for row in operator_rows() if (plain := plain_of(row))}
    assert twins == {
        "value_and_gradient": "gradient",
        "value_and_jacobian": "jacobian",
        "value_and_derivative": "derivative",
        "value_derivative_and_second_derivative": "second_derivative",
        "gradient_and_hvp": "hvp",
        "value_gradient_and_hessian": "hessian",
    }


@pytest.mark.parametrize("row", REGISTRY.operators.values(), ids=lambda row: row.name)
def test_results_are_what_the_facts_say(row):
    operator, f, args = example_of(row)
    result = operator(f, AutoAutograd(), *args)
    assert arguments_of(row, args) == (args[0][0] if row.directions == "second tuple" else args[0],)
    assert tuple(fields_of(row)) == getattr(result, "_fields", (row.name,))
    assert row.result is None or type(result) is row.result
    results = dict(zip(fields_of(row), (result,) if row.result is None else result))
    assert gives_map(row) == any(callable(part) for part in results.values())
    for name, form in fields_of(row).items():
        part = results[name]
        assert callable(part) == (form in ("back", "push"))
        assert (type(part) is tuple) == (form in ("arguments", "jacobian")), name
    if row.takes != "arguments":
        with pytest.raises(
            adinterface.NotDifferentiableError, match="differentiates exactly one argument"
        ):
            operator(lambda x, y: f(x), AutoAutograd(), *args, args[0])


# One more
# ------------------------------------------------------------------------------------------------


class HvpAndGradient(NamedTuple):
    hvp: Any
    gradient: Any


TOY_PRODUCT = replace(
    GRADIENT_AND_HVP,
    name="hvp_and_gradient",
    compute=lambda *given: GRADIENT_AND_HVP.compute(*given)[::-1],
    result=HvpAndGradient,
)


def hvp_and_gradient(f, backend, /, *args, **kwargs):
    return run(TOY_PRODUCT, backend, f, args, kwargs)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(REGISTRY.operators, hvp_and_gradient, TOY_PRODUCT)


SCENARIO = Scenario(
    "toys/cubes",
    hvp_and_gradient,
    lambda x, c: cubes(x) * c,
    (X, V, Constant(2.0)),
    (12 * X * V, 6 * X**2),
    tags=frozenset({"second-order"}),
)


@pytest.mark.usefixtures("registered")
@each_backend
def test_prepare_knows_a_new_operator(backend):
    slope, product = gradient_and_hvp(cubes, backend, X, V)
    assert_tree(
        tuple(prepare(hvp_and_gradient, cubes, backend, X, V)(X, V)), (product, slope), 1e-12
    )


@pytest.mark.usefixtures("registered")
def test_compare_knows_a_new_operator():
    report = compare(hvp_and_gradient, cubes, BACKENDS.values(), X, V)
    assert [list(measured.leaves) for measured in report.backends] == [["hvp", "gradient"]] * 4
    assert report.order == 2
    assert report.agree(), report


@pytest.mark.usefixtures("registered")
def test_explain_knows_a_new_operator():
    report = explain(
        hvp_and_gradient, lambda x, c: cubes(x) * c, AutoFiniteDifferences(), X, V, Constant(2.0)
    )
    assert report.operator == "hvp_and_gradient"
    assert [(leaf.path, leaf.differentiated) for leaf in report.leaves] == [
        ("args[0]", True),
        ("args[1]", False),
    ]


@pytest.mark.usefixtures("registered")
@each_backend
def test_the_conformance_kit_judges_a_new_operator(backend):
    outcomes = list(run_scenario(SCENARIO, backend, everything=True))
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    checked = {outcome.check for outcome in outcomes}
    laws = {"formula", "structure", "dtype", "memory", "taylor", "prepared"}
    assert laws | {"linearity", "symmetry"} <= checked


# What the kit does not know
# ------------------------------------------------------------------------------------------


def test_without_its_line_nobody_knows_it():
    with pytest.raises(TypeError, match="operator must be one of"):
        prepare(hvp_and_gradient, cubes, AutoAutograd(), X, V)
    words = "hvp_and_gradient is no operator: it has no row in the registry"
    assert_told(lambda: list(run_scenario(SCENARIO, AutoAutograd())), TypeError, words)
