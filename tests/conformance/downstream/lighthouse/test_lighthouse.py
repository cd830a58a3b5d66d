import numpy as np
import pytest
from adinterface_conformance.testing import assert_backends_agree
from lighthouse import Lighthouse, loss, shifted

from adinterface import Constant, check_gradient, gradient

FLASHES = np.array([-3.0, 0.5, 1.0, 1.5, 8.0])


@pytest.fixture
def guess():
    return Lighthouse(0.3, 2.0, "guess")


def test_the_gradient_is_right(adinterface_backend, guess):
    check = check_gradient(loss, adinterface_backend, guess, Constant(FLASHES))
    assert check, check


def test_one_step_downhill_helps(adinterface_backend, guess):
    slope, _ = gradient(loss, adinterface_backend, guess, Constant(FLASHES))
    better = Lighthouse(guess.along - 0.01 * slope.along, guess.out - 0.01 * slope.out)
    assert loss(better, FLASHES) < loss(guess, FLASHES)


@pytest.mark.adinterface(
    skip={"AutoAutograd": "its arrays take no item assignment"},
    xfail={"AutoJax": "its arrays take no item assignment"},
)
def test_in_place(adinterface_backend, guess):
    assert gradient(shifted, adinterface_backend, guess, FLASHES)[1][0] == 0.0


def test_all_backends_agree(guess):
    assert_backends_agree(loss, guess, FLASHES)
