"""The gradient zoo on every backend, as far as its rows have rules of their own or several calls:
the judge has the others.
"""

import copy

import jax
import pytest
import zoo
from adinterface_conformance.scenarios.building import array, scalar
from adinterface_studies.scenarios import zoo as judged
from adinterface_studies.scenarios import zoo_functions as functions
from backends_table import assert_tree, each_backend, rtol_of

from adinterface import (
    AutoFiniteDifferences,
    DisconnectedWarning,
    gradient,
    pullback,
    pushforward,
    value_and_gradient,
)


def result_of(scenario, backend):
    """What the operator returns; a map is applied."""
    if scenario.operator is pushforward:
        return pushforward(scenario.f, backend, scenario.args, scenario.tangents)
    result = scenario.operator(scenario.f, backend, *scenario.args)
    return (result.value, result.back(scenario.seed)) if scenario.operator is pullback else result


@each_backend
@pytest.mark.parametrize(
    "scenario", zoo.SCENARIOS, ids=[scenario.name for scenario in zoo.SCENARIOS]
)
def test_row_gives_the_documented_numbers(scenario, backend):
    """A warning about a disconnected value is expected exactly where an engine can tell."""
    differences = isinstance(backend, AutoFiniteDifferences)
    rtol = 2e-6 if differences and "second-order" in scenario.tags else rtol_of(backend)
    if "disconnected" in scenario.tags and not differences:
        with pytest.warns(
            DisconnectedWarning, match="depends on none of its differentiated arguments"
        ):
            result = result_of(scenario, backend)
    else:
        result = result_of(scenario, backend)
    assert_tree(result, scenario.expected, rtol)


@each_backend
def test_a_pullback_of_two_parts_is_the_pullback_of_the_whole(backend):
    (x,) = next(
        scenario.args for scenario in judged.SCENARIOS if scenario.f is functions.composition
    )
    between, back_first = pullback(functions.sum_and_product, backend, x)
    value, back_second = pullback(functions.exponential_and_logarithm, backend, between)
    whole_value, back = pullback(functions.composition, backend, x)
    assert_tree(value, whole_value, 1e-12)
    for seed in (array(1, 0), array(0, 1)):
        assert_tree(back_first(back_second(seed)[0]), back(seed), 10 * rtol_of(backend))


@each_backend
def test_descent_leaves_the_model_as_it_was_and_moves_its_copy(backend):
    model = functions.embedding_model()
    (grads,) = gradient(functions.squared_norm_of_first, backend, model)
    moved = jax.tree.map(lambda w, g: w - g / 3, model.layers[0].weight, grads.layers[0].weight)
    assert_tree(moved, functions.WEIGHT_AFTER_ONE_STEP, rtol_of(backend))
    assert_tree(model, functions.embedding_model(), 0)


@each_backend
def test_two_steps_of_descent_give_the_documented_model(backend):
    model = copy.deepcopy(functions.embedding_model())
    for _ in range(2):
        (grads,) = gradient(functions.squared_norm_of_first, backend, model)
        model.layers[0].weight -= grads.layers[0].weight / 3
    value, (grads,) = value_and_gradient(functions.squared_norm_of_first, backend, model)
    slope = functions.SLOPE_AFTER_TWO_STEPS
    assert_tree(model.layers[0].weight, functions.WEIGHT_AFTER_TWO_STEPS, rtol_of(backend))
    assert_tree(value, scalar(functions.VALUE_AFTER_TWO_STEPS), rtol_of(backend))
    assert_tree(grads.layers[0].weight, array([-slope, 0, 0], [slope, 0, 0]), rtol_of(backend))


x, y, z = (array(2) for _ in range(3))
