"""The engine MLX behind adinterface."""

from dataclasses import dataclass

import mlx.core as mx
import numpy as np
from adinterface_mlx_failures import KNOWN_FAILURES

from adinterface.core.contract import AutoBackend, Backend, Library, Pullback, unsupported_dtype
from adinterface.namespaces import ComposedNamespace

mx.set_default_device(mx.cpu)  # which alone has float64
DTYPES = {
    str(dtype).removeprefix("mlx.core."): dtype
    for dtype in vars(mx).values()
    if isinstance(dtype, mx.Dtype)
}


@dataclass(frozen=True)
class AutoMlx(AutoBackend):
    name = "mlx"


class MlxLibrary(Library):
    types, mutable = (mx.array,), False  # its arrays do not show whether they are traced
    dtype = staticmethod(lambda x: str(x.dtype).removeprefix("mlx.core."))
    namespace = staticmethod(lambda x: NAMESPACE)

    def to_numpy(self, x):
        # np.array would evaluate it without letting go of the GIL, for which a thread of MLX may
        # wait
        mx.eval(x)
        return np.array(x, order="C")

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        name = dtype or (self.dtype(x) if isinstance(x, mx.array) else np.asarray(x).dtype.name)
        if name not in DTYPES:
            raise unsupported_dtype(name, "MLX", DTYPES)
        return (
            x.astype(DTYPES[name])
            if isinstance(x, mx.array)
            else mx.array(np.array(x, name), DTYPES[name])
        )


class MlxBackend(Backend):
    libraries, known_failures = (MlxLibrary(),), KNOWN_FAILURES

    def pullback(self, function, leaves, *, differentiable=False):
        leaves, results = [mx.array(x) for x in leaves], []

        def first(*leaves):
            results[:] = function(*leaves)
            return NAMESPACE.sum(results[0][0]).astype(mx.float32)

        _, slopes = mx.vjp(first, leaves, [mx.array(1.0)])  # lazily

        def back(cotangents):
            if [y.shape for y in results[0]] == [()]:
                return tuple([cotangents[0] * slope for slope in slopes])
            return tuple(
                mx.vjp(
                    lambda *leaves: [1 * y for y in function(*leaves)[0]], leaves, list(cotangents)
                )[1]
            )

        return Pullback(*results, back)


OMIT = """cos exp log10 log2 sin logaddexp clip var std cumulative_sum cumulative_prod diff moveaxis
repeat argsort sort vecdot linalg.pinv linalg.solve linalg.svd"""
OWN = dict.fromkeys(OMIT.split())
OWN["tan"] = mx.custom_function(mx.tan).vjp(lambda x, w, y: w * (1 + y * y))
OWN["linalg.inv"] = mx.custom_function(mx.linalg.inv).vjp(lambda x, w, y: -(y.mT @ w @ y.mT))
NAMESPACE = ComposedNamespace(MlxLibrary(), mx, OWN)
