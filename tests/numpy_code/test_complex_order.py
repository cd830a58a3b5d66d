"""NumPy orders complex numbers by the real part and then by the imaginary one.

The Array API has no order for them.
"""

import numpy as np
import pytest
import torch
from adinterface_torch.library import TORCH

from adinterface import AutoAutograd, AutoJax, AutoTorch, gradient, numpy_function
from adinterface.numpy_code.engine import engine_of

NAN = np.nan
Z = np.array([[0.4 + 1j, 1.3 - 0.2j, 1.7 + 2.2j], [-0.5 + 0.1j, 2.1 - 1j, -0.1 + 0.9j]])
SPECIAL = [
    Z,
    np.array([1 + 1j, 1 - 1j, 1 + 1j, 1 - 2j]),
    np.array([1 + 1j, complex(NAN, 0), complex(2, NAN), complex(NAN, 3), 5]),
    np.array([complex(-np.inf, 2), complex(-np.inf, 3), complex(-np.inf, -np.inf)]),
    np.array([complex(np.inf, 2), complex(np.inf, np.inf), complex(3, -np.inf)]),
    np.array(2.5 - 1j),
    Z.astype(np.complex64),
]

REDUCTIONS = [np.max, np.min, np.amax, np.amin, np.argmax, np.argmin, np.ptp]
ORDERED = {
    "max": lambda z: np.abs(np.max(z)) ** 2,
    "methods": lambda z: np.abs(z.max() * z.min()),
    "axis": lambda z: (
        np.sum(np.abs(np.max(z, axis=0)) ** 2)
        + np.sum(np.abs(np.min(z, axis=-1, keepdims=True) * z))
    ),
    "reduce": lambda z: (
        np.sum(np.abs(np.maximum.reduce(z))) + np.sum(np.abs(np.minimum.reduce(z, axis=1)))
    ),
    "accumulate": lambda z: np.sum(np.abs(np.maximum.accumulate(z, axis=1))),
    "pairs": lambda z: np.sum(
        np.abs(np.maximum(z, z[::-1]) * np.minimum(z, 1.0) + np.fmax(1j, z) + np.fmin(z, 2.0))
    ),
    "comparisons": lambda z: np.sum(
        np.abs(np.where(z > 1, z, 2 * z) * np.where(z <= 1j, 3 * z, z))
    ),
    "places": lambda z: np.abs(z.ravel()[np.argmax(z)] * z.ravel()[np.argmin(z)]),
    "sort": lambda z: (
        np.sum(np.abs(np.sort(z, axis=1) * np.arange(3.0))) + np.abs(np.sort(z, axis=None)[2])
    ),
    "clip": lambda z: np.sum(np.abs(np.clip(z, 0.2, 1.5))),
}


@pytest.mark.parametrize("z", SPECIAL, ids=range(len(SPECIAL)))
def test_numbers_are_those_of_numpy(z):
    functions = engine_of(TORCH).functions
    found = torch.from_numpy(np.atleast_1d(z))[0] if not z.ndim else torch.from_numpy(z)
    with np.errstate(all="ignore"):
        for axis in (None, *range(z.ndim)):
            # torch subtracts infinities in its own way
            for function in REDUCTIONS[: None if np.all(np.isfinite(z)) else -1]:
                ours = functions[function]
                np.testing.assert_array_equal(
                    ours(found, axis), function(z, axis), err_msg=f"{function} {axis}"
                )
                np.testing.assert_array_equal(
                    ours(found, axis, keepdims=True), function(z, axis, keepdims=True)
                )
            if z.ndim:
                np.testing.assert_array_equal(functions[np.sort](found, axis), np.sort(z, axis))
                np.testing.assert_array_equal(
                    functions[np.argsort](found, axis), np.argsort(z, axis, kind="stable")
                )
        for name in (
            "less",
            "less_equal",
            "greater",
            "greater_equal",
            "maximum",
            "minimum",
            "fmax",
            "fmin",
        ):
            for other in (z[..., ::-1].copy() if z.ndim else z, np.full(z.shape, 1 + 1j, z.dtype)):
                wanted = getattr(np, name)(z, other)
                ours = functions[getattr(np, name)](found, torch.from_numpy(other))
                np.testing.assert_array_equal(ours, wanted, err_msg=name)


@pytest.mark.parametrize(
    ("auto", "mode"),
    [(AutoTorch, None), (AutoTorch, "forward"), (AutoJax, None)],
)
@pytest.mark.parametrize("name", ORDERED)
def test_derivatives(name, auto, mode):
    f = numpy_function(ORDERED[name])
    wanted = gradient(f, AutoAutograd(), Z)[0]
    np.testing.assert_allclose(gradient(f, auto(mode=mode), Z)[0], wanted, rtol=1e-12, atol=1e-15)
