"""The engine `dualnum` behind adinterface's contract: the one primitive that it has is
`pushforward`.
"""

from dataclasses import dataclass

import dualnum
import numpy as np

from adinterface import AutoBackend
from adinterface.core.contract import NUMPY, Backend, Library, Pushforward


@dataclass(frozen=True)
class AutoDual(AutoBackend):
    """Dual numbers over NumPy arrays."""

    name = "dualnum"


class DualLibrary(Library):
    """NumPy arrays, and the dual numbers that stand for them inside f."""

    types = (dualnum.Dual,)

    def dtype(self, x):
        return x.dtype.name

    def traced(self, x):
        return isinstance(x, dualnum.Dual)

    def to_numpy(self, x):
        return np.asarray(x)

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        return x if self.traced(x) else NUMPY.asarray(x, dtype=dtype, copy=copy)

    def namespace(self, x):
        return dualnum


class DualBackend(Backend):
    libraries = (DualLibrary(),)

    def pushforward(self, function, leaves, tangents, *, value=True):
        outputs, aux = function(*map(dualnum.Dual, leaves, tangents))
        outputs = tuple(map(dualnum.lift, outputs))
        spread = tuple(np.broadcast_to(y.tangent, y.shape).astype(y.dtype) for y in outputs)
        return Pushforward(
            tuple(y.value for y in outputs), spread, aux.map(lambda y: dualnum.lift(y).value)
        )
