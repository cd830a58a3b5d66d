"""Evaluations of f on the workers of an executor: threads, processes, machines; the same to the last bit as without."""

import concurrent.futures
import functools
import math
import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from forked import forkserver

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    PrecisionError,
    array_namespace,
    batched,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)
from adinterface.batching import workers

pytestmark = pytest.mark.sweep  # test_batched.py and test_parts.py run with every change

X = np.array([0.3, 1.7, -2.2, 0.0])
PLAIN = AutoFiniteDifferences()


def wave(x):
    return float(np.sin(x).sum() * np.exp(x[0]))


def waves(x):
    return np.outer(np.sin(x), np.cos(2 * x))


def neutral_waves(x):
    xp = array_namespace(x)
    return xp.sin(x)[:, None] * xp.cos(2 * x)[None, :]


def neutral_wave(x):
    return array_namespace(x).sum(neutral_waves(x))


def of_tree(p, c, power=2):
    return np.sum(p["w"] ** power) * p["b"] * c


def raises(x):
    if x[1] != X[1]:
        raise KeyError("f's own")
    return float(x.sum())


class Cancelled(Exception):
    pass


CALLS = {
    "gradient": lambda backend: gradient(wave, backend, X),
    "value_and_gradient": lambda backend: value_and_gradient(wave, backend, X),
    "of a tree": lambda backend: gradient(of_tree, backend, {"w": X, "b": 2.0}, Constant(3.0), power=3),
    "jacobian": lambda backend: jacobian(waves, backend, X),
    "pushforward": lambda backend: pushforward(waves, backend, (X,), (np.ones(4),)),
    "pullback": lambda backend: pullback(waves, backend, X).back(np.ones((4, 4))),
    "hessian": lambda backend: hessian(wave, backend, X),
    "hvp": lambda backend: hvp(wave, backend, X, np.ones(4)),
}


def flat(result):
    found = []
    for entry in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(entry, (tuple, list)):
            found.extend(flat(entry))
        elif isinstance(entry, dict):
            found.extend(flat(list(entry.values())))
        else:
            found.append(np.asarray(entry))
    return found


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


def test_every_method_takes_workers():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        for method in ("adaptive", "central", "forward", "backward", "complex"):
            found = gradient(wave, AutoFiniteDifferences(method=method, executor=executor), X)
            np.testing.assert_allclose(found[0], gradient(wave, AutoFiniteDifferences(method=method), X)[0], rtol=1e-6)


def test_processes_give_the_same_bits_and_raise_what_f_raises():
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=forkserver()) as executor:
        backend = AutoFiniteDifferences(executor=executor)
        for call in CALLS.values():
            assert_same_bits(call(backend), call(PLAIN))
        with pytest.raises(KeyError, match="f's own"):
            gradient(raises, backend, X)
        for method in ("central", "forward"):  # f's derivative is no function that a process can take
            nested, alone = (AutoFiniteDifferences(method=method, executor=each) for each in (executor, None))
            assert_same_bits(hessian(wave, nested, X), hessian(wave, alone, X))
            assert_same_bits(hvp(wave, nested, X, X), hvp(wave, alone, X, X))
            assert_same_bits(second_derivative(math.sin, nested, 0.3), second_derivative(math.sin, alone, 0.3))


@pytest.mark.parametrize("step", [None, 1e-3, 1e-2])
def test_evaluations_are_as_many_without_workers(step):
    """One output, some lines: each goes to its end by itself without workers, and both ways ask for the same accuracy."""
    count, x = [], np.linspace(0.1, 2.0, 5)

    def linear(x):
        count.append(1)
        return np.sum(3 * x) + 0.0

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        for backend in (AutoFiniteDifferences(step=step), AutoFiniteDifferences(step=step, executor=executor)):
            found = value_and_gradient(linear, backend, x)
            np.testing.assert_allclose(found.gradient[0], 3, rtol=1e-13)
    assert len(count) == 2 * (4 * len(x) + 1)


class Watched(concurrent.futures.ThreadPoolExecutor):
    """Threads that are never handed anything by one of themselves, which would wait for the others, and they for it."""

    def submit(self, function, /, *args, **kwargs):
        assert not threading.current_thread().name.startswith("watched"), "a worker waits for a worker"
        return super().submit(function, *args, **kwargs)


@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")  # one-sided differences of one-sided ones
@pytest.mark.parametrize("method", ["adaptive", "central", "forward", "backward", "complex"])
@pytest.mark.parametrize(
    "call",
    [
        lambda auto: hessian(wave, auto, X),
        lambda auto: hvp(wave, auto, X, X),
        lambda auto: diagonal_hessian(wave, auto, X),
        lambda auto: second_derivative(lambda t: math.sin(t) * t, auto, 0.7),
        lambda auto: gradient(lambda x: wave(x) + (gradient(wave, auto, x)[0] ** 2).sum(), auto, X),
        lambda auto: jacobian(lambda x: jacobian(neutral_waves, AutoTorch(executor=auto.executor), x)[0].ravel(), auto, X),
    ],
    ids=["hessian", "hvp", "diagonal_hessian", "second_derivative", "gradient in f", "another engine in f"],
)
def test_no_worker_waits_for_another(method, call):
    """Derivatives of derivatives on one pool: with as many outer tasks as threads, all of them would wait for ever."""
    with Watched(2, thread_name_prefix="watched") as pool:
        found = flat(call(AutoFiniteDifferences(method=method, executor=pool)))
    # Where f takes differences itself, lines that are followed together know more of their noise than one after another.
    rtol = 1e-9 if method == "adaptive" else 1e-13
    np.testing.assert_allclose(found, flat(call(AutoFiniteDifferences(method=method))), rtol=rtol)


class Impatient(concurrent.futures.ThreadPoolExecutor):
    """Threads whose results nobody waits for longer than half a minute."""

    def submit(self, function, /, *args, **kwargs):
        future = super().submit(function, *args, **kwargs)
        future.result = functools.partial(future.result, 30)
        return future


def test_no_worker_waits_for_another_by_way_of_a_second_pool():
    """One pool's workers wait for those of another, which take derivatives with the first."""

    def squares(backend, f):
        return lambda x: (gradient(f, backend, x)[0] ** 2).sum()

    with Impatient(1) as pool, Impatient(1) as other:
        first, second = (AutoFiniteDifferences(executor=executor) for executor in (pool, other))
        (found,) = gradient(squares(second, squares(first, lambda x: x @ x)), first, X)
    np.testing.assert_allclose(found, 128 * X, atol=1e-7)


def test_a_pool_of_the_caller_s_own_may_be_the_executor_too():
    """A thread of the pool differentiates with it: its one worker would wait for itself."""
    with Watched(1, thread_name_prefix="watched") as pool:
        backend = AutoFiniteDifferences(executor=pool)
        found = pool.submit(gradient, wave, backend, X).result(30)
    assert_same_bits(found, gradient(wave, PLAIN, X))


def test_what_has_not_begun_is_cancelled():
    begun = []
    release = threading.Event()

    def f(x):
        begun.append(1)
        if len(begun) == 1:
            raise Cancelled
        assert release.wait(60)  # until what has not begun is cancelled
        return float(x.sum())

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        try:
            with pytest.raises(Cancelled):
                gradient(f, AutoFiniteDifferences(executor=executor), np.ones(200))
        finally:
            release.set()
    assert len(begun) < 100


def test_a_point_outside_the_domain_is_no_fault_on_a_worker_either():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        found = derivative(lambda x: math.log(x - 0.97), AutoFiniteDifferences(executor=executor, max_evaluations=14), 1.0)
    assert found == pytest.approx(1 / 0.03, rel=1e-8)


def test_an_executor_belongs_to_a_backend_by_identity_and_stays_at_home():
    with concurrent.futures.ThreadPoolExecutor(1) as executor, concurrent.futures.ThreadPoolExecutor(1) as other:
        backend = AutoFiniteDifferences(executor=executor)
        assert backend == AutoFiniteDifferences(executor=executor)
        assert hash(backend) == hash(AutoFiniteDifferences(executor=executor))
        assert backend != AutoFiniteDifferences(executor=other)
        assert backend != PLAIN
        assert pickle.loads(pickle.dumps(backend)) == PLAIN


def test_a_cluster_of_processes_gives_the_same_bits():
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    forkserver()
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", scheduler_port=0, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        backend = AutoFiniteDifferences(executor=client)
        for name in ("gradient", "jacobian", "hessian"):
            assert_same_bits(CALLS[name](backend), CALLS[name](PLAIN))
        captured = 3.0
        found = gradient(lambda x: captured * wave(x), backend, X)  # a closure: dask takes what pickle does not
        assert_same_bits(found, gradient(lambda x: captured * wave(x), PLAIN, X))
        with pytest.raises(KeyError, match="f's own"):
            gradient(raises, backend, X)
        with concurrent.futures.ThreadPoolExecutor(1) as here:
            for engine in (AutoAutograd, AutoJax, AutoTorch):  # columns, rows and entries, each on a process of its own
                there, alone = engine(executor=client), engine(executor=here)
                for f in (neutral_waves, lambda x: neutral_waves(x)[:2, 0] * captured):
                    assert_same_bits(jacobian(f, there, X), jacobian(f, alone, X))
                stack = Each(np.stack([X, 2 * X, X + 1]))
                assert_same_bits(batched(hessian, neutral_wave, there, stack), batched(hessian, neutral_wave, alone, stack))


def test_a_worker_that_would_read_another_precision_is_an_error():
    with jax.enable_x64(True):
        there = pickle.dumps(
            workers._Piece([workers.Task(len, ([Constant({"w": jnp.ones(3)}), 2.0, "x"],))], stays=False, busy=frozenset())
        )
        with pytest.raises(PrecisionError) as caught:
            workers._require_dtypes([jnp.ones(3)], ["float32"])
    assert str(caught.value) == (
        "An array of dtype float32 went to another process, or came from it, which reads it as float64, as an engine does "
        "whose 64 bits are switched off there. Switch them on, here and for the workers, or pass NumPy arrays."
    )
    with pytest.raises(PrecisionError, match=r"An array of dtype float64 went to another process, .* reads it as float32"):
        pickle.loads(there)()
    same = pickle.loads(pickle.dumps(workers._Piece([workers.Task(np.sum, (X,))], stays=False, busy=frozenset())))
    assert same() == ([pytest.approx(-0.2)], ["float64"])
