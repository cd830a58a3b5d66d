"""The scenarios of the conformance package: well-formed, and right on every backend."""

import warnings
from collections import Counter

import numpy as np
import pytest
from adinterface_conformance.checks import CHECKS, checks_for
from adinterface_conformance.scenarios import SCENARIOS as OF_JUDGE
from adinterface_conformance.scenarios.namespace import FUNCTIONS
from adinterface_studies.scenarios import SCENARIOS, TAGS
from backends_table import BACKENDS, assert_tree

from adinterface import (
    AutoFiniteDifferences,
    DisconnectedWarning,
)
from adinterface.core.contract.registry import find
from adinterface.core.operators.dispatch import OPERATIONS

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])


def test_there_are_at_least_250():
    assert len(OF_JUDGE) >= 250
    assert len(SCENARIOS) >= 485


def test_names_are_unique_and_of_the_agreed_form():
    assert [name for name, count in Counter(s.name for s in SCENARIOS).items() if count > 1] == []
    assert [s.name for s in SCENARIOS if not all(part and part.islower() for part in s.name.split("/"))] == []
    assert [s.name for s in SCENARIOS if s.name.count("/") != 1 or " " in s.name or "_" in s.name] == []


def test_every_operator_is_there_and_no_other():
    assert {s.operator for s in SCENARIOS} == {s.operator for s in OF_JUDGE} == set(OPERATIONS)


def test_the_scenarios_of_the_judge_alone_ask_every_check_of_an_engine():
    """Answers that are documented for an engine are those of this project."""
    found = {check.name for scenario in OF_JUDGE for check in checks_for(scenario, BACKENDS["torch"])}
    assert found == set(CHECKS) - {"documented"}


def test_tags_are_known_and_all_are_used():
    assert {tag for s in (*SCENARIOS, *FUNCTIONS) for tag in s.tags} == set(TAGS)
    assert [s.name for s in SCENARIOS if ("second-order" in s.tags) != (OPERATIONS[s.operator].order == 2)] == []


def test_most_have_an_answer_that_no_engine_gave():
    assert sum(s.expected is not None for s in SCENARIOS) >= len(SCENARIOS) / 2


def test_kinks_and_only_kinks_have_documented_answers():
    names = {backend.name for backend in BACKENDS.values()}
    assert [s.name for s in SCENARIOS if ("kink" in s.tags) != bool(s.documented)] == []
    assert [s.name for s in SCENARIOS if s.documented and set(s.documented) != names] == []


def result_of(scenario, backend):
    """What the operator returns; for one that returns a function, `(value, what the function gives)`."""
    operator, f, args, kwargs = scenario.operator, scenario.f, scenario.args, scenario.kwargs
    operation = OPERATIONS[operator]
    if operation.directions == "second tuple":
        return operator(f, backend, args, scenario.tangents, **kwargs)
    result = operator(f, backend, *args, **kwargs)
    if "back" in operation.forms:
        return result.value, result.back(scenario.seed)
    return (result.value, result.push(*scenario.tangents)) if "push" in operation.forms else result


def tolerance(scenario, backend):
    if not isinstance(backend, AutoFiniteDifferences):
        return scenario.rtol
    if "float16" in scenario.tags:
        return 0.3
    if scenario.tags & {"float32", "complex64"}:
        return 5e-2 if "second-order" in scenario.tags else 5e-3
    return 1e-4 if "second-order" in scenario.tags else 1e-6


def leaves(tree):
    """The numbers of a result, whatever holds them."""
    if isinstance(tree, (np.ndarray, np.generic, int, float, complex)):
        return [tree]
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in leaves(child)]
    if isinstance(tree, (list, tuple)):
        return [leaf for child in tree for leaf in leaves(child)]
    return [leaf for child in vars(tree).values() for leaf in leaves(child)] if hasattr(tree, "__dict__") else []


# The conformance table compares every engine with the answers; this is the same question without the kit's own code.
@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")  # where there is no derivative
@pytest.mark.parametrize("backend", [BACKENDS["autograd"], BACKENDS["finite"]], ids=["autograd", "finite"])
@each_scenario
def test_the_answers_are_right_without_the_kit(scenario, backend):
    if (scenario.name, "formula") in {(known.scenario, known.check) for known in find(backend).known_failures}:
        pytest.skip("a known failure; the table shows its reason")
    with warnings.catch_warnings():
        if "disconnected" in scenario.tags:
            warnings.simplefilter("ignore", DisconnectedWarning)
        if "kink" in scenario.tags:  # the documented answer may be a NaN, made on the way
            warnings.simplefilter("ignore", RuntimeWarning)
        result = result_of(scenario, backend)
    if "kink" in scenario.tags:
        assert_tree(result, scenario.documented[backend.name], tolerance(scenario, backend))
    elif scenario.expected is not None:
        assert_tree(result, scenario.expected, tolerance(scenario, backend))
    else:
        assert all(np.all(np.isfinite(leaf)) for leaf in leaves(result))
