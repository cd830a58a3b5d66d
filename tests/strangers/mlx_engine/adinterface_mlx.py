"""The engine MLX behind adinterface."""

from dataclasses import dataclass

import mlx.core as mx
import numpy as np
from adinterface_mlx_functions import DTYPES, KNOWN_FAILURES, OWN, require

from adinterface import AutoBackend
from adinterface.core.contract import Backend, Library, Pullback
from adinterface.doors.namespaces import ComposedNamespace

mx.set_default_device(mx.cpu)  # which alone has float64


@dataclass(frozen=True)
class AutoMlx(AutoBackend):
    """MLX on the processor."""

    name = "mlx"


class MlxLibrary(Library):
    """Arrays of MLX, which do not show whether they are traced."""

    name, types, mutable = "mlx", (mx.array,), False

    def dtype(self, x):
        return str(x.dtype).removeprefix("mlx.core.")

    def to_numpy(self, x):
        mx.eval(x)  # np.array would evaluate it without letting go of the GIL, for which a thread of MLX may wait
        return np.array(x, order="C")

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        name = dtype or (self.dtype(x) if isinstance(x, mx.array) else np.asarray(x).dtype.name)
        require(name)
        return x.astype(DTYPES[name]) if isinstance(x, mx.array) else mx.array(np.array(x, name), DTYPES[name])

    def namespace(self, x):
        return NAMESPACE


class MlxBackend(Backend):
    libraries, known_failures = (MlxLibrary(),), KNOWN_FAILURES

    def pullback(self, function, leaves, *, differentiable=False):
        leaves, results = [mx.array(x) for x in leaves], []

        def first(*leaves):
            results.append(function(*leaves))
            return results[0][0][0].sum().astype(mx.float32)

        _, slopes = mx.vjp(first, leaves, [mx.array(1.0)])  # lazily
        outputs, aux = results[0]

        def back(cotangents):
            if len(outputs) == 1 and outputs[0].ndim == 0:
                return tuple([cotangents[0] * slope for slope in slopes])
            return tuple(mx.vjp(lambda *leaves: [1 * y for y in function(*leaves)[0]], leaves, list(cotangents))[1])

        return Pullback(outputs, aux, back)


NAMESPACE = ComposedNamespace(MlxBackend.libraries[0], mx, OWN, backend=lambda: MlxBackend(AutoMlx()))
