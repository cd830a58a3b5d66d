"""Every function of the Array API standard as scenarios: are the values those of NumPy, and the
derivatives right?

Only the laws are checked. Several scenarios share the name of their function, which known failures
refer to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adinterface import (
    array_namespace,
    gradient_and_hvp,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)

from ..scenario import Scenario
from ..use import Use
from ..uses import USES


def scenarios_of(use: Use) -> Iterator[Scenario]:
    """The value in single precision.

    A smooth function also has its Jacobian, pushforward and Hessian product.
    """

    def results(*arrays: Any) -> tuple[Any, ...]:
        xp = array_namespace(*arrays)
        result = use.f(xp, *arrays)
        return tuple(
            [
                xp.asarray(part)
                for part in (result if isinstance(result, (tuple, list)) else (result,))
            ]
        )

    def with_results(*arrays: Any) -> tuple[Any, ...]:
        return (array_namespace(*arrays).sum(3.0 * arrays[0]), *results(*arrays))

    def energy(arrays: tuple[Any, ...]) -> Any:
        xp = array_namespace(*arrays)
        floating = [
            part
            for part in results(*arrays)
            if xp.isdtype(part.dtype, ("real floating", "complex floating"))
        ]
        products = [part * xp.asarray(_weights(part)) for part in floating]
        return sum(
            xp.sum(xp.real(part) if xp.isdtype(part.dtype, "complex floating") else part)
            for part in products
        )

    single = tuple([array.astype(np.float32) for array in use.arrays])
    # A function with constants of double precision may keep to either precision.
    if all(part.dtype.name not in ("float64", "complex128") for part in results(*single)):
        yield Scenario(
            use.key,
            value_and_gradient,
            with_results,
            single,
            tags=frozenset({"discrete", "float32"}),
            rtol=1e-4,
        )
    if use.kind == "discrete":
        yield Scenario(
            use.key, value_and_gradient, with_results, use.arrays, tags=frozenset({"discrete"})
        )
        return
    yield Scenario(use.key, value_and_jacobian, results, use.arrays)
    yield Scenario(use.key, pushforward, results, use.arrays)
    yield Scenario(
        use.key,
        gradient_and_hvp,
        energy,
        (use.arrays, tuple([_weights(array) for array in use.arrays])),
    )


def _weights(array: Any) -> Any:
    """No two alike, and none of them zero."""
    return np.random.default_rng(0).uniform(0.5, 1.5, array.shape)


FUNCTIONS: tuple[Scenario, ...] = tuple(scenario for use in USES for scenario in scenarios_of(use))
