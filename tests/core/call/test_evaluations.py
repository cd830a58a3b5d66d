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
from adinterface.tools.facts import operations

#: n numbers in the argument (4), m in the result of a function that gives an array (3), or 1 number
#: for derivatives.
N, M = 4, 3
X, V, W = np.arange(1.0, N + 1), np.ones(N), np.ones(M)


def array(x):
    return x[:M] ** 2 * x[N - 1]


DIFFERENCES = AutoFiniteDifferences(method="central")
BACKENDS = {
    "AutoJax()": AutoJax(),
    'AutoJax(mode="forward")': AutoJax(mode="forward"),
    'AutoJax(mode="reverse")': AutoJax(mode="reverse"),
    "AutoTorch()": AutoTorch(),
    'AutoTorch(mode="reverse")': AutoTorch(mode="reverse"),
    "AutoAutograd()": AutoAutograd(),
    'AutoAutograd(mode="reverse")': AutoAutograd(mode="reverse"),
    "AutoFiniteDifferences(method='central')": DIFFERENCES,
    "SecondOrder(AutoFiniteDifferences(method='central'), AutoJax())": SecondOrder(
        DIFFERENCES, AutoJax()
    ),
    "SecondOrder(AutoFiniteDifferences(method='central'), AutoTorch())": SecondOrder(
        DIFFERENCES, AutoTorch()
    ),
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
#: The calls that are counted, of functions of n numbers. An operator that the tables above lack
#: fails by its name.
OPERATORS = {operation.name: example_of(operation, x=X, v=V) for operation in operations()}
ONCE = dict.fromkeys(OPERATORS, "1")
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
    "AutoFiniteDifferences(method='central')": BY_DIFFERENCES,
    "SecondOrder(AutoFiniteDifferences(method='central'), AutoJax())": OVER_AN_ENGINE,
    "SecondOrder(AutoFiniteDifferences(method='central'), AutoTorch())": OVER_AN_ENGINE,
}

#: How often `back` and `push`, and their stacks of k, evaluate f again.
AFTERWARDS = {
    name: ("0", "0", "0", "0") for name in BACKENDS if not name.startswith("SecondOrder")
} | {"AutoFiniteDifferences(method='central')": ("2n", "2", "2nk", "2k")}


def count_of(formula, k=2):
    """`3 (1 + 2n)` as a number, for the sizes of this file."""
    text = (
        formula.replace("^", "**")
        .replace(" (", "*(")
        .replace("2nk", f"2*{N}*{k}")
        .replace("2n", f"2*{N}")
    )
    return eval(text.replace("2k", f"2*{k}"))


class Counting:
    def __init__(self, f):
        self.f, self.count = f, 0

    def __call__(self, *args):
        self.count += 1
        return self.f(*args)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_evaluates_f_as_often_as_the_table_says(backend, operator):
    function, f, args = OPERATORS[operator]
    counting = Counting(f)
    function(counting, BACKENDS[backend], *args)
    assert counting.count == count_of(EVALUATIONS[backend][operator])


@pytest.mark.parametrize("backend", AFTERWARDS)
def test_back_and_push_evaluate_f_as_often_as_the_table_says(backend):
    back_count, push_count, back_stacked, push_stacked = map(count_of, AFTERWARDS[backend])
    counting = Counting(array)
    back = pullback(counting, BACKENDS[backend], X).back
    push = linearize(counting, BACKENDS[backend], X).push
    uses = [
        (lambda: back(W), back_count),
        (lambda: back(W), back_count),
        (lambda: push(V), push_count),
        (lambda: push(V), push_count),
        (lambda: back.stacked(np.stack([W, W])), back_stacked),
        (lambda: push.stacked(np.stack([V, V])), push_stacked),
    ]
    for use, expected in uses:
        before = counting.count
        use()
        assert counting.count - before == expected


@pytest.mark.parametrize("mode", ["torch", "autograd"])
def test_forward_mode_without_linearization_evaluates_f_in_one_batch_or_for_each_direction(mode):
    """torch: one batched pass for value and all columns; autograd: the value, and one pass for each
    column.
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


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "backend",
    ["AutoJax()", "AutoTorch()", "AutoAutograd()", "AutoFiniteDifferences(method='central')"],
)
def test_explain_counts_the_same_evaluations(backend, operator, capsys):
    function, f, args = OPERATORS[operator]
    report = explain(function, f, BACKENDS[backend], *args)
    assert report.evaluations == count_of(EVALUATIONS[backend][operator])
    assert f"\nevaluations of f: {report.evaluations}\n" in capsys.readouterr().out
