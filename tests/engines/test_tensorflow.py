"""TensorFlow as an engine of a package of its own: `make engines` installs it, and runs this file
alone.

The tests switch TensorFlow's NumPy operators on, as f in the scenarios needs them. The switch holds
for the process.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from adinterface import (
    BackendError,
    Each,
    batched,
    explain,
    gradient,
    hessian,
    prepare,
    tree,
    value_and_gradient,
)
from adinterface.loops import while_loop

tf = pytest.importorskip("tensorflow", reason="TensorFlow is installed by `make engines` alone")
engine = pytest.importorskip("adinterface_tensorflow", reason="`make engines` installs the engine")
tf.experimental.numpy.experimental_enable_numpy_behavior()

BACKEND = engine.AutoTensorFlow()
X = np.array([0.5, 1.5, 2.5])


def energy(p):
    xp = engine.NAMESPACE
    return xp.sum(p["k"] * xp.sin(p["x"]) ** 2)


def test_every_check_passes_or_is_a_known_failure(capsys):
    from adinterface_conformance.__main__ import main

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["--backend", "AutoTensorFlow()"]) == 0, capsys.readouterr().out[-3000:]


def test_every_function_of_the_standard_is_right_or_a_known_failure(capsys):
    from adinterface_studies.functions.command import main

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["--backend", "AutoTensorFlow()"]) == 0, capsys.readouterr().out[-3000:]


def test_a_prepared_call_is_compiled_once_for_a_signature():
    traces = []

    def f(p):
        traces.append(1)
        return energy(p)

    p = {"x": X, "k": 3.0}
    fast = prepare(value_and_gradient, f, BACKEND, p)
    results = [fast({"x": X * n, "k": 3.0}) for n in range(1, 4)]
    assert len(traces) == 1
    assert fast.specializations == 1
    for n, result in enumerate(results, 1):
        plain = value_and_gradient(energy, BACKEND, {"x": X * n, "k": 3.0})
        np.testing.assert_allclose(
            tree.ravel(result.gradient)[0], tree.ravel(plain.gradient)[0], rtol=1e-13
        )


def test_operators_of_higher_order_batches_and_threads():
    def cubes(x):
        return engine.NAMESPACE.sum(x**3)

    np.testing.assert_allclose(hessian(cubes, BACKEND, X), np.diag(6 * X), rtol=1e-13)
    np.testing.assert_allclose(
        batched(gradient, cubes, BACKEND, Each(np.stack([X, 2 * X])))[0],
        3 * np.stack([X, 2 * X]) ** 2,
    )
    with ThreadPoolExecutor(4) as threads:
        for n, (result,) in enumerate(
            threads.map(lambda n: gradient(cubes, BACKEND, n * X), range(20))
        ):
            np.testing.assert_allclose(result, 3 * (n * X) ** 2)
    assert "AutoTensorFlow" in str(explain(gradient, cubes, BACKEND, X))


def test_a_loop_that_the_compiler_cannot_decide_names_the_hook():
    def doubled(x):
        return while_loop(lambda y: y < 10.0, lambda y: 2.0 * y, x)

    assert gradient(doubled, BACKEND, 1.5)[0] == 8.0
    with pytest.raises(
        BackendError, match=r"while_loop: tensorflow does not know .* \(`Library.loops`\)"
    ):
        prepare(gradient, doubled, BACKEND, 1.5)(1.5)
