"""How often each operator evaluates f, on each backend: one table, which the docs show."""

import numpy as np
import pytest
from example_calls import example_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    SecondOrder,
    explain,
    linearize,
    pullback,
)
from adinterface.tools.facts import operator_rows

#: n numbers in the argument (4), m in the result of a function that gives an array (3), or 1 number
#: for derivatives.
N, M = 4, 3
X, V, W = np.arange(1.0, N + 1), np.ones(N), np.ones(M)


def array(x):
    return x[:M] ** 2 * x[N - 1]


DIFFERENCES = AutoFiniteDifferences(method="central")
BACKENDS = {
    "jax": AutoJax(),
    "torch": AutoTorch(),
    "autograd": AutoAutograd(),
    "differences": DIFFERENCES,
    "differences over torch": SecondOrder(DIFFERENCES, AutoTorch()),
}

#: Central differences: two evaluations for each direction, and the value where it is wanted; of
#: gradients likewise.
BY_DIFFERENCES = {
    "gradient": "2n",
    "value_and_gradient": "1 + 2n",
    "jacobian": "2n",
    "value_and_jacobian": "1 + 2n",
    "pullback": "1",
    "pushforward": "3",
    "linearize": "1",
    "derivative": "2",
    "value_and_derivative": "3",
    "second_derivative": "4",
    "value_derivative_and_second_derivative": "7",
    "hvp": "2 (2n)",
    "gradient_and_hvp": "3 (2n)",
    "hessian": "(2n)^2",
    "value_gradient_and_hessian": "(2n)^2 + 2n + 1",
    "diagonal_hessian": "(2n)^2 + 2n",
}
#: The calls that are counted, of functions of n numbers. Of an operator that the tables lack the
#: count is compared with that of `explain` alone.
OPERATORS = {row.name: example_of(row, x=X, v=V) for row in operator_rows()}
ONCE = dict.fromkeys(BY_DIFFERENCES, "1")
OVER_AN_ENGINE = ONCE | {
    "second_derivative": "2",
    "value_derivative_and_second_derivative": "3",
    "hvp": "2",
    "gradient_and_hvp": "3",
    "hessian": "2n",
    "value_gradient_and_hessian": "1 + 2n",
    "diagonal_hessian": "1 + 2n",
}


#: For each backend and operator, how often the call itself evaluates f.
EVALUATIONS = dict.fromkeys(BACKENDS, ONCE) | {
    "differences": BY_DIFFERENCES,
    "differences over torch": OVER_AN_ENGINE,
}


def count_of(formula):
    """`3 (1 + 2n)` as a number, for the sizes of this file."""
    return eval(formula.replace("^", "**").replace(" (", "*(").replace("2n", f"2*{N}"))


class Counting:
    def __init__(self, f):
        self.f, self.count = f, 0

    def __call__(self, *args):
        self.count += 1
        return self.f(*args)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_evaluates_f_as_often_as_the_table_says_and_explain_too(backend, operator):
    function, f, args = OPERATORS[operator]
    counting = Counting(f)
    function(counting, BACKENDS[backend], *args)
    if operator in EVALUATIONS[backend]:
        assert counting.count == count_of(EVALUATIONS[backend][operator])
    if "over" not in backend:
        assert explain(function, f, BACKENDS[backend], *args).evaluations == counting.count


def test_back_and_push_of_differences_evaluate_f_for_each_direction():
    counting = Counting(array)
    back = pullback(counting, DIFFERENCES, X).back
    push = linearize(counting, DIFFERENCES, X).push
    for use, expected in (
        (lambda: back(W), 2 * N),
        (lambda: push(V), 2),
        (lambda: back.stacked(np.stack([W, W])), 4 * N),
        (lambda: push.stacked(np.stack([V, V])), 4),
    ):
        before = counting.count
        use()
        assert counting.count - before == expected


@pytest.mark.parametrize("mode", ["torch", "autograd"])
def test_forward_mode_without_linearization_evaluates_f_in_one_batch_or_for_each_direction(mode):
    """torch: one batched pass for value and all columns.

    Autograd: the value, and one pass for each column.
    """
    for operator, expected in {
        "pushforward": {"torch": 1, "autograd": 1},
        "derivative": {"torch": 1, "autograd": 1},
        "linearize": {"torch": 1, "autograd": 1},
        "jacobian": {"torch": 1, "autograd": 1 + N},
        "value_and_jacobian": {"torch": 1, "autograd": 1 + N},
        "gradient": {"torch": 1, "autograd": 1 + N},
    }.items():
        function, f, args = OPERATORS[operator]
        counting = Counting(f)
        function(
            counting, {"torch": AutoTorch, "autograd": AutoAutograd}[mode](mode="forward"), *args
        )
        assert (operator, counting.count) == (operator, expected[mode])
