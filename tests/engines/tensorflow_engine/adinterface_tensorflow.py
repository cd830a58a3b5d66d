"""The engine TensorFlow behind adinterface."""

import threading
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from adinterface_tensorflow_failures import KNOWN_FAILURES

from adinterface.core.contract import AutoBackend, Aux, Backend, Library, Point, Pullback
from adinterface.namespaces import ComposedNamespace


@dataclass(frozen=True)
class AutoTensorFlow(AutoBackend):
    """TensorFlow in reverse mode. compile: whether `tf.function` compiles prepared calls."""

    name = "tensorflow"
    compile: bool = True


class TensorFlowLibrary(Library):
    """Tensors.

    TensorFlow does not mark what a tape follows: every tensor is taken as traced while f is
    evaluated.
    """

    types = (tf.Tensor,)
    mutable = False
    _thread = threading.local()
    stopped = staticmethod(tf.stop_gradient)
    namespace = staticmethod(lambda x: NAMESPACE)

    def dtype(self, x):
        return x.dtype.name

    def traced(self, x):
        return bool(self._tapes()) or not hasattr(x, "numpy")

    def _tapes(self):
        return vars(self._thread).setdefault("tapes", [])

    def value_under_trace(self, x):
        return x.numpy() if hasattr(x, "numpy") else None

    def to_numpy(self, x):
        return x.numpy()

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        if isinstance(x, tf.Tensor):
            return x if dtype in (None, x.dtype.name) else tf.cast(x, dtype)
        return tf.constant(np.asarray(x, dtype))

    def outside(self, function, arrays, example):
        results = tf.nest.flatten(
            tf.numpy_function(lambda *xs: function(*xs), arrays, [y.dtype for y in example()])
        )
        return tuple([tf.ensure_shape(y, like.shape) for y, like in zip(results, example())])

    def custom(self, rule, leaves, carried):
        def back(*cotangents):
            point = Point(leaves, carried, outputs, aux)
            if rule.pullback is not None:
                return rule.pullback(cotangents, point)
            tangents = tuple(map(tf.zeros_like, leaves))
            with tf.GradientTape() as tape:
                tape.watch(tangents)
                images = rule.pushforward(tangents, point)
            return tuple(tape.gradient(images, tangents, cotangents, tf.UnconnectedGradients.ZERO))

        value, aux = rule.value(tuple(map(tf.stop_gradient, leaves)), carried)
        if any(x is not None for tape, roots in self._tapes() for x in tape.gradient(value, roots)):
            raise rule.captured()
        # `back` needs the followed ones
        outputs = tuple(tf.custom_gradient(lambda *leaves: (value, back))(*leaves))
        return outputs, aux


def concat(arrays, axis=0):
    return tf.concat(
        [tf.reshape(x, [-1]) for x in arrays] if axis is None else list(arrays), axis or 0
    )


def argsort(x, axis=-1, descending=False, stable=True):
    return tf.argsort(
        x, axis=axis, direction="DESCENDING" if descending else "ASCENDING", stable=stable
    )


def svd(x, full_matrices=True):
    values, left, right = tf.linalg.svd(x, full_matrices)
    return left, values, tf.linalg.adjoint(right)


# reshape makes the cotangent of gather dense, which tnp's operators need
OWN = {"concat": concat, "argsort": argsort}
OWN |= {"gather": lambda x, indices, axis: tf.gather(tf.reshape(x, x.shape), indices, axis=axis)}
OWN |= {
    "matrix_product": tf.matmul,
    "transpose": lambda x, axes: tf.transpose(x, axes),
    "linalg.svd": svd,
}
OWN |= {f"linalg.{name}": getattr(tf.linalg, name) for name in ("inv", "det", "eigh")}
OWN |= {
    "linalg.cholesky": lambda x, upper=False: (
        tf.linalg.adjoint(tf.linalg.cholesky(x)) if upper else tf.linalg.cholesky(x)
    )
}
OWN |= {f"bitwise_{side}_shift": getattr(tf.bitwise, f"{side}_shift") for side in ("left", "right")}
OWN |= {"linalg.qr": lambda x, mode="reduced": tf.linalg.qr(x, mode == "complete")}
LIBRARY = TensorFlowLibrary()
OMIT = (
    "log10 log2 clip var std cumulative_sum cumulative_prod diff flip eye argmin sort take einsum"
)
OWN |= dict.fromkeys(OMIT.split())
NAMESPACE = ComposedNamespace(LIBRARY, tf.experimental.numpy, OWN)


class TensorFlowBackend(Backend):
    libraries = (LIBRARY,)
    transposes = True
    known_failures = KNOWN_FAILURES

    def pullback(self, function, leaves, *, differentiable=False):
        leaves, tapes = tuple(map(tf.identity, leaves)), LIBRARY._tapes()
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(leaves)
            tapes.append((tape, leaves))
            try:
                outputs, aux = function(*leaves)
            finally:
                tapes.pop()

        def back(cotangents):
            return tuple(
                [
                    None if x is None else tf.convert_to_tensor(x)
                    for x in tape.gradient(outputs, leaves, cotangents)
                ]
            )

        return Pullback(outputs, aux, back)

    def compile(self, compute):
        if not self.auto.compile:
            return None
        form = []

        @tf.function(autograph=False)
        def flat(*arrays):
            results = []
            form[:] = [_taken_apart(compute(*arrays), results)]
            return results

        def compiled(*arrays):
            narrow = all(
                np.asarray(x).dtype.itemsize <= 4 * (1 + np.iscomplexobj(x))
                for x in arrays
                if hasattr(x, "dtype")
            )
            results = iter(
                flat(
                    *[
                        tf.convert_to_tensor(x) if hasattr(x, "dtype") else _number(x, narrow)
                        for x in arrays
                    ]
                )
            )
            return _built(form[0], results)

        return compiled


def _number(x, narrow):
    """A Python number as a tensor in the precision of the call: TensorFlow would choose float32."""
    kind = "complex" if type(x) is complex else "float"
    return tf.convert_to_tensor(x, f"{kind}{(32 if narrow else 64) * (1 + (kind == 'complex'))}")


def _taken_apart(results, found):
    """The structure of results, with `iter` in place of each array, which goes into `found`:
    `tf.function` takes no `Aux`.
    """
    if results is None:
        return None
    if isinstance(results, Aux):
        found.extend(results.arrays)
        return Aux(tuple([iter] * len(results.arrays)), results.layout)
    if isinstance(results, (tuple, list)):
        parts = [_taken_apart(part, found) for part in results]
        return type(results)(*parts) if hasattr(results, "_fields") else type(results)(parts)
    found.append(results)
    return iter


def _built(structure, arrays):
    if structure is None:
        return None
    if structure is iter:
        return next(arrays)
    if isinstance(structure, Aux):
        return structure.map(lambda _: next(arrays))
    parts = [_built(part, arrays) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
