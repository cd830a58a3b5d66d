"""Arrays that are no plain NumPy arrays, beside autograd's boxes."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd.extend import VSpace
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.numpy.numpy_vspaces import ArrayVSpace
from backends_table import assert_tree

from adinterface import (
    AutoAutograd,
    Constant,
    ConversionError,
    diagonal_hessian,
    gradient,
    hessian,
    jacobian,
    pullback,
    pushforward,
)
from adinterface.core.contract import library_of_array


class Labelled(np.ndarray):
    """As `pennylane.numpy.tensor`, which autograd is told of."""


ArrayBox.register(Labelled)
VSpace.register(Labelled, ArrayVSpace)


@pytest.mark.parametrize("given", [lambda f, w: (lambda x: f(x, w), ()), lambda f, w: (f, (Constant(w),))])
@pytest.mark.parametrize("operator", [gradient, jacobian, hessian, diagonal_hessian, pullback, pushforward])
def test_a_subclass_that_f_computes_with_gives_plain_arrays(operator, given):
    w, x = np.arange(3.0).view(Labelled), np.array([1.0, 2.0, 3.0])
    f, rest = given(lambda x, w: anp.sum(x**3 * w), w)
    plain, constants = given(lambda x, w: anp.sum(x**3 * w), np.arange(3.0))

    def called(f, rest):
        if operator is pushforward:
            return operator(f, AutoAutograd(), (x, *rest), (x, *[None for _ in rest]))
        value = operator(f, AutoAutograd(), x, *rest)
        return (value[0], *value[1](2.0)) if operator is pullback else value

    found, wanted = called(f, rest), called(plain, constants)
    assert list(map(type, found)) == list(map(type, wanted))
    assert_tree(found, wanted)


def test_an_array_that_no_library_knows_is_named():
    with pytest.raises(ConversionError, match=r"^A builtins\.object stands where an engine has its arrays, and no library"):
        library_of_array(object())
