"""The zoo's rows for the operators beyond the gradient: each gives the source's numbers, in the result's own form."""

import zoo
from backends_table import assert_tree, each_backend, rtol_of
from test_zoo import as_integers, each_row

from adinterface import (
    AutoFiniteDifferences,
    ValueAndJacobian,
    derivative,
    diagonal_hessian,
    hessian,
    jacobian,
    pullback,
    pushforward,
    value_and_jacobian,
)

PLAIN = {
    "derivative": derivative,
    "jacobian": jacobian,
    "value_and_jacobian": value_and_jacobian,
    "hessian": hessian,
    "diagonal_hessian": diagonal_hessian,
}
SECOND = ("hessian", "diagonal_hessian")


def tolerance(operator, backend):
    """Differences of differences keep fewer digits."""
    return 2e-6 if operator in SECOND and isinstance(backend, AutoFiniteDifferences) else rtol_of(backend)


def check(row, backend, args):
    rtol = tolerance(row.operator, backend)
    if row.operator == "pullback":
        value, back = pullback(row.f, backend, *args)
        assert_tree(back(row.seed), row.expected, rtol, "back")
    elif row.operator == "pushforward":
        value, tangent = pushforward(row.f, backend, args, row.seed)
        assert_tree(tangent, row.expected, rtol, "tangent")
    else:
        expected = ValueAndJacobian(*row.expected) if row.operator == "value_and_jacobian" else row.expected
        assert_tree(PLAIN[row.operator](row.f, backend, *args), expected, rtol)
        return
    if row.value is not None:
        assert_tree(value, row.value, rtol, "value")


ROWS = zoo.rows(*PLAIN, "pullback", "pushforward")


def test_every_row_of_the_zoo_is_run():
    assert {row.operator for row in zoo.ROWS} == {*PLAIN, "pullback", "pushforward", "gradient", "value_and_gradient"}


@each_backend
@each_row(ROWS)
def test_row_gives_the_documented_numbers(row, backend):
    check(row, backend, row.args)


@each_backend
@each_row([row for row in ROWS if row.integers])
def test_bare_integers_give_the_same_as_floats(row, backend):
    check(row, backend, tuple(as_integers(arg) for arg in row.args))


@each_backend
def test_a_pullback_of_two_parts_is_the_pullback_of_the_whole(backend):
    (x,) = next(row.args for row in zoo.ROWS if row.name == "back through a composition")
    between, back_first = pullback(zoo.sum_and_product, backend, x)
    value, back_second = pullback(zoo.exponential_and_logarithm, backend, between)
    whole_value, back = pullback(zoo.composition, backend, x)
    assert_tree(value, whole_value, 1e-12)
    for seed in (zoo.array(1, 0), zoo.array(0, 1)):
        assert_tree(back_first(back_second(seed)[0]), back(seed), 10 * rtol_of(backend))
