"""Bessel functions and their relatives. Source: NIST Digital Library of Mathematical Functions, 9.2, 10.6, 10.29, 11.4."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from .ruled import enter

# Of an order.
enter("jv", lambda y, v, z: (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2, orders=1)
enter("yv", lambda y, v, z: (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2, orders=1)
enter("yn", lambda y, n, z: (special.yv(n - 1.0, z) - special.yv(n + 1.0, z)) / 2, orders=1)
enter("jve", lambda y, v, z: (special.jve(v - 1, z) - special.jve(v + 1, z)) / 2, orders=1)
enter("yve", lambda y, v, z: (special.yve(v - 1, z) - special.yve(v + 1, z)) / 2, orders=1)
enter("iv", lambda y, v, z: (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2, orders=1)
enter("kv", lambda y, v, z: -(special.kv(v - 1, z) + special.kv(v + 1, z)) / 2, orders=1)
enter("kn", lambda y, n, z: -(special.kv(n - 1.0, z) + special.kv(n + 1.0, z)) / 2, orders=1)
enter("ive", lambda y, v, z: (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(z) * y, orders=1)
enter("kve", lambda y, v, z: y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2, orders=1)

# Of order 0 and 1.
enter("j0", lambda y, z: -special.j1(z))
enter("j1", lambda y, z: (special.j0(z) - special.jv(2, z)) / 2)
enter("y0", lambda y, z: -special.y1(z))
enter("y1", lambda y, z: (special.y0(z) - special.yv(2, z)) / 2)
enter("k0", lambda y, z: -special.k1(z))
enter("k1", lambda y, z: -(special.k0(z) + special.kv(2, z)) / 2)
enter("k0e", lambda y, z: y - special.k1e(z))
enter("k1e", lambda y, z: y - (special.k0e(z) + special.kve(2, z)) / 2)


def _struve(sign: int, function: Any) -> Any:
    def partial(y: Any, v: Any, x: Any) -> Any:
        power = np.exp(special.xlogy(v, np.abs(x) / 2) - special.gammaln(v + 1.5)) / math.sqrt(math.pi)
        return (function(v - 1, x) + sign * function(v + 1, x) + power) / 2

    return partial


enter("struve", _struve(-1, special.struve), orders=1)
enter("modstruve", _struve(1, special.modstruve), orders=1)

enter("airy", lambda values, z: ((values[1],), (z * values[0],), (values[3],), (z * values[2],)))
