"""Evaluations of f on the workers of an executor: threads, processes, machines.

The same to the last bit as without.
"""

import concurrent.futures
import math
import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from adinterface_conformance.trees import leaves_inside
from backends_table import assert_told
from forked import forkserver

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    PrecisionError,
    array_namespace,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    pullback,
    pushforward,
    second_derivative,
    tree,
    value_and_gradient,
)
from adinterface.batching import workers

X = np.array([0.3, 1.7, -2.2, 0.0])
PLAIN = AutoFiniteDifferences()


def wave(x):
    return float(np.sin(x).sum() * np.exp(x[0]))


def waves(x):
    return np.outer(np.sin(x), np.cos(2 * x))


def neutral_waves(x):
    xp = array_namespace(x)
    return xp.sin(x)[:, None] * xp.cos(2 * x)[None, :]


def of_tree(p, c, power=2):
    return np.sum(p["w"] ** power) * p["b"] * c


def norm_without_constants(p):
    return tree.norm(p)


def raises(x):
    if x[1] != X[1]:
        raise KeyError("f's own")
    return float(x.sum())


CALLS = {
    "gradient": lambda backend: gradient(wave, backend, X),
    "value_and_gradient": lambda backend: value_and_gradient(wave, backend, X),
    "of a tree": lambda backend: gradient(
        of_tree, backend, {"w": X, "b": 2.0}, Constant(3.0), power=3
    ),
    "without the Constants inside": lambda backend: gradient(
        norm_without_constants, backend, {"w": X, "frozen": Constant(X + 1)}
    ),
    "jacobian": lambda backend: jacobian(waves, backend, X),
    "pushforward": lambda backend: pushforward(waves, backend, (X,), (np.ones(4),)),
    "pullback": lambda backend: pullback(waves, backend, X).back(np.ones((4, 4))),
    "hessian": lambda backend: hessian(wave, backend, X),
    "hvp": lambda backend: hvp(wave, backend, X, np.ones(4)),
}


def flat(result):
    return [np.asarray(leaf) for _, leaf in leaves_inside(result, "") if leaf is not None]


def assert_same_bits(found, wanted):
    for a, b in zip(flat(found), flat(wanted), strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


class Parallel:
    """As joblib's: called with functions and their arguments."""

    n_jobs = 2

    def __call__(self, delayed):
        return [function(*args, **kwargs) for function, args, kwargs in delayed]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_threads_give_the_same_bits(call, workers):
    with concurrent.futures.ThreadPoolExecutor(workers) as executor:
        assert_same_bits(CALLS[call](AutoFiniteDifferences(executor=executor)), CALLS[call](PLAIN))


@pytest.mark.parametrize("executor", [Parallel(), map], ids=["joblib", "map"])
def test_what_maps_is_an_executor(executor):
    for call in CALLS.values():
        assert_same_bits(call(AutoFiniteDifferences(executor=executor)), call(PLAIN))


def test_processes_give_the_same_bits_and_raise_what_f_raises():
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=forkserver()) as executor:
        backend = AutoFiniteDifferences(executor=executor)
        for call in CALLS.values():
            assert_same_bits(call(backend), call(PLAIN))
        with pytest.raises(KeyError, match="f's own"):
            gradient(raises, backend, X)
        # f's derivative is no function that a process can take
        for method in ("central", "forward"):
            nested, alone = (
                AutoFiniteDifferences(method=method, executor=each) for each in (executor, None)
            )
            assert_same_bits(hessian(wave, nested, X), hessian(wave, alone, X))
            assert_same_bits(hvp(wave, nested, X, X), hvp(wave, alone, X, X))
            assert_same_bits(
                second_derivative(math.sin, nested, 0.3), second_derivative(math.sin, alone, 0.3)
            )


class Watched(concurrent.futures.ThreadPoolExecutor):
    """Threads that no thread of theirs hands anything, since both would wait."""

    def submit(self, function, /, *args, **kwargs):
        assert not threading.current_thread().name.startswith("watched"), (
            "a worker waits for a worker"
        )
        return super().submit(function, *args, **kwargs)


# one-sided differences of one-sided ones
@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")
@pytest.mark.parametrize("method", ["adaptive", "central", "forward", "backward", "complex"])
@pytest.mark.parametrize(
    "call",
    [
        lambda auto: hessian(wave, auto, X),
        lambda auto: hvp(wave, auto, X, X),
        lambda auto: diagonal_hessian(wave, auto, X),
        lambda auto: second_derivative(lambda t: math.sin(t) * t, auto, 0.7),
        lambda auto: gradient(lambda x: wave(x) + (gradient(wave, auto, x)[0] ** 2).sum(), auto, X),
        lambda auto: jacobian(
            lambda x: jacobian(neutral_waves, AutoTorch(), x)[0].ravel(), auto, X
        ),
    ],
    ids=[
        "hessian",
        "hvp",
        "diagonal_hessian",
        "second_derivative",
        "gradient in f",
        "another engine in f",
    ],
)
def test_no_worker_waits_for_another(method, call):
    """With as many outer tasks as threads, all of them would wait for ever."""
    with Watched(2, thread_name_prefix="watched") as pool:
        found = flat(call(AutoFiniteDifferences(method=method, executor=pool)))
    # Where f takes differences itself, lines that are followed together know more of their noise
    # than one after another.
    rtol = 1e-9 if method == "adaptive" else 1e-13
    np.testing.assert_allclose(found, flat(call(AutoFiniteDifferences(method=method))), rtol=rtol)


def test_an_executor_belongs_to_a_backend_by_identity_and_stays_at_home():
    with (
        concurrent.futures.ThreadPoolExecutor(1) as executor,
        concurrent.futures.ThreadPoolExecutor(1) as other,
    ):
        backend = AutoFiniteDifferences(executor=executor)
        assert backend == AutoFiniteDifferences(executor=executor)
        assert hash(backend) == hash(AutoFiniteDifferences(executor=executor))
        assert backend != AutoFiniteDifferences(executor=other)
        assert backend != PLAIN
        assert pickle.loads(pickle.dumps(backend)) == PLAIN


def test_a_worker_that_would_read_another_precision_is_an_error():
    with jax.enable_x64(True):
        there = pickle.dumps(
            workers._Piece(
                [workers.Task(len, ([{"w": jnp.ones(3)}, 2.0, "x"],))],
                stays=False,
                busy=frozenset(),
            )
        )
        with pytest.raises(PrecisionError) as caught:
            workers._require_dtypes([jnp.ones(3)], ["float32"])
    assert (
        str(caught.value)
        == "An array of dtype float32 went to another process, or came from it, which reads it as"
        " float64, as an engine does whose 64 bits are switched off there. Switch them on, here"
        " and for the workers, or pass NumPy arrays."
    )
    words = "...An array of dtype float64 went to another process, ... reads it as float32..."
    assert_told(lambda: pickle.loads(there)(), PrecisionError, words)
    same = pickle.loads(
        pickle.dumps(workers._Piece([workers.Task(np.sum, (X,))], stays=False, busy=frozenset()))
    )
    assert same() == ([pytest.approx(-0.2)], ["float64"])
