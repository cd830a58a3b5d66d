"""The engine `tapenum` behind adinterface's contract: the one primitive that it has is
`pullback`.
"""

from dataclasses import dataclass

import numpy as np
import tapenum

from adinterface import AutoBackend
from adinterface.core.contract import NUMPY, Backend, Library, Pullback


@dataclass(frozen=True)
class AutoTape(AutoBackend):
    """A tape over NumPy arrays."""

    name = "tapenum"


class TapeLibrary(Library):
    """NumPy arrays, and what is on the tape for them inside f."""

    types = (tapenum.Taped,)

    def dtype(self, x):
        return x.dtype.name

    def traced(self, x):
        return isinstance(x, tapenum.Taped)

    def to_numpy(self, x):
        return np.asarray(x)

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        return x if self.traced(x) else NUMPY.asarray(x, dtype=dtype, copy=copy)

    def namespace(self, x):
        return tapenum


class TapeBackend(Backend):
    libraries = (TapeLibrary(),)

    def pullback(self, function, leaves, *, differentiable=False):
        roots = [tapenum.Taped(leaf) for leaf in leaves]
        outputs, aux = function(*roots)
        ends = [tapenum.lift(y) for y in outputs]

        def back(cotangents):
            found = {}
            for end, cotangent in zip(ends, cotangents):
                tapenum.backward(end, cotangent, found)
            return tuple(
                np.asarray(found.get(id(r), 0) + np.zeros(r.shape), r.dtype) for r in roots
            )

        return Pullback(
            tuple(y.value for y in ends), aux.map(lambda y: tapenum.lift(y).value), back
        )
