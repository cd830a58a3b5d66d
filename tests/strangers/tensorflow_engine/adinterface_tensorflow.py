"""The engine TensorFlow behind adinterface."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from adinterface import AutoBackend, Backend, ComposedNamespace, KnownFailure, Library, Pullback
from adinterface.core.contract.rules import Point


@dataclass(frozen=True)
class AutoTensorFlow(AutoBackend):
    """TensorFlow: reverse mode. `compile`: prepared calls are compiled by `tf.function`."""

    name = "tensorflow"
    compile: bool = True


class Evaluation(threading.local):
    """How many calls of this engine are evaluating f in this thread."""

    depth = 0


EVALUATION = Evaluation()


@contextmanager
def evaluating():
    EVALUATION.depth += 1
    try:
        yield
    finally:
        EVALUATION.depth -= 1


class TensorFlowLibrary(Library):
    """Tensors. A tensor in f looks like any other: all are taken as traced while f is evaluated."""

    name = "tensorflow"
    types = (tf.Tensor,)
    mutable = False

    def dtype(self, x):
        return x.dtype.name

    def traced(self, x):
        return EVALUATION.depth > 0 or not hasattr(x, "numpy")

    def value_under_trace(self, x):
        return x.numpy() if hasattr(x, "numpy") else None

    def to_numpy(self, x):
        return x.numpy()

    def stopped(self, x):
        return tf.stop_gradient(x)

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        if dtype is not None and not hasattr(tf, dtype):
            raise ValueError(dtype)
        if isinstance(x, tf.Tensor):
            return x if dtype in (None, x.dtype.name) else tf.cast(x, dtype)
        return tf.constant(np.asarray(x, dtype))

    def namespace(self, x):
        return NAMESPACE

    def outside(self, function, arrays, example):
        if all(hasattr(x, "numpy") for x in arrays):
            return tuple([tf.constant(y) for y in function(*[x.numpy() for x in arrays])])
        shapes = example()
        results = tf.numpy_function(lambda *xs: function(*xs), arrays, [y.dtype for y in shapes])
        return tuple([tf.ensure_shape(y, like.shape) for y, like in zip(results, shapes)])

    def custom(self, rule, leaves, carried):
        followed = aux = ()

        def back(*cotangents):
            point = Point(leaves, carried, followed, aux)
            if rule.pullback is not None:
                return rule.pullback(cotangents, point)
            tangents = tuple(map(tf.zeros_like, leaves))
            with tf.GradientTape() as tape:
                tape.watch(tangents)
                images = rule.pushforward(tangents, point)
            return tuple(tape.gradient(images, tangents, cotangents, tf.UnconnectedGradients.ZERO))

        @tf.custom_gradient
        def function(*leaves):
            nonlocal aux
            outputs, aux = rule.value(leaves, carried)
            return outputs, back

        followed = tuple(function(*leaves))
        return followed, aux


def concat(arrays, axis=0):
    return tf.concat([tf.reshape(x, [-1]) for x in arrays] if axis is None else list(arrays), axis or 0)


def argsort(x, axis=-1, descending=False, stable=True):
    return tf.argsort(x, axis=axis, direction="DESCENDING" if descending else "ASCENDING", stable=stable)


def svd(x, full_matrices=True):
    values, left, right = tf.linalg.svd(x, full_matrices)
    return left, values, tf.linalg.adjoint(right)


LIBRARY = TensorFlowLibrary()
NAMESPACE = ComposedNamespace(
    LIBRARY,
    tf.experimental.numpy,
    {
        "gather": lambda x, indices, axis: tf.gather(x, indices, axis=axis),
        "matrix_product": tf.matmul,
        "transpose": lambda x, axes: tf.transpose(x, axes),
        "concat": lambda arrays, axis=0: tf.concat(
            [tf.reshape(x, [-1]) for x in arrays] if axis is None else arrays, axis or 0
        ),
        "argsort": argsort,
        "linalg.cholesky": lambda x, upper=False: tf.linalg.adjoint(tf.linalg.cholesky(x)) if upper else tf.linalg.cholesky(x),
        "linalg.svd": svd,
        "linalg.qr": lambda x, mode="reduced": tf.linalg.qr(x, mode == "complete"),
        "linalg.inv": tf.linalg.inv,
        "linalg.det": tf.linalg.det,
        "linalg.eigh": tf.linalg.eigh,
    },
    backend=lambda: TensorFlowBackend(AutoTensorFlow()),
)


class TensorFlowBackend(Backend):
    """Gradient tapes."""

    libraries = (LIBRARY,)
    transposes = True
    known_failures = (
        KnownFailure(
            "control-flow/branch-*",
            "prepared",
            "tf.function does not compile Python branches on values; AutoTensorFlow("
            "compile=False) runs them, and adinterface.cond compiles",
            "https://www.tensorflow.org/guide/function",
        ),
    )

    def pullback(self, function, leaves, *, differentiable=False):
        leaves = tuple(map(tf.identity, leaves))
        with tf.GradientTape(persistent=True) as tape, evaluating():
            tape.watch(leaves)
            outputs, aux = function(*leaves)

        def back(cotangents):
            return tuple([None if x is None else tf.convert_to_tensor(x) for x in tape.gradient(outputs, leaves, cotangents)])

        return Pullback(outputs, aux, back)

    def compile(self, compute):
        return tf.function(compute, autograph=False) if self.auto.compile else None

    def vectorize(self, compute, each, *, chunk, randomness):
        if not all(each) or randomness != "error":
            return None
        return lambda *arrays: tf.vectorized_map(lambda entries: compute(*entries), arrays, fallback_to_while_loop=False)
