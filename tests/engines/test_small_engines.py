"""Backends of a distribution of their own, in the folder `small_engines`: found by entry point,
used as ours are.
"""

import json
import textwrap
from pathlib import Path

import numpy as np
import pytest
from installed import installed

SOURCE = Path(__file__).parent / "small_engines"
ENGINES = {"dualnum": "AutoDual", "tapenum": "AutoTape"}
each_stranger = pytest.mark.parametrize(("engine", "auto"), ENGINES.items(), ids=ENGINES)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    program = installed(SOURCE, tmp_path_factory.mktemp("stranger"))
    return lambda text: program("-c", textwrap.dedent(text))


def test_strangers_are_found_by_their_entry_points_without_being_imported(run):
    printed = run("""
        import json, sys
        from adinterface.core.contract import registry
        print(json.dumps([registry.names(), sorted(sys.modules)]))
    """)
    names, modules = json.loads(printed)
    assert {"dualnum", "tapenum", "jax", "torch", "autograd", "finite_differences"} <= set(names)
    assert names == sorted(names)
    assert not {"dualnum", "tapenum", "adinterface_dual", "adinterface_tape"} & set(modules)


@each_stranger
def test_a_stranger_differentiates_a_tree_as_our_backends_do(engine, auto, run):
    printed = run(f"""
        import dataclasses, json
        import numpy as np
        from adinterface import AutoAutograd, Constant, array_namespace, gradient, value_and_gradient
        from adinterface_{engine.removesuffix("num")} import {auto}

        @dataclasses.dataclass(frozen=True)
        class Model:
            weights: dict
            scale: float
            name: str = "model"

        model = Model({{"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "unused": np.ones(3)}}, 2.0)
        x = np.array([0.5, -0.25])

        def loss(m, x, power):
            y = array_namespace(x).sin(m.weights["w"][0] * x - 1.0)
            for _ in range(power - 1):
                y = y * y
            return {{"loss": m.scale * y.sum(), "y": y}}

        for backend in ({auto}(), AutoAutograd()):
            value, (m, dx, none) = value_and_gradient(loss, backend, model, x, Constant(2))
            assert type(m) is Model and m.name is None and none is None, (m, none)
            assert type(m.scale) is float and type(m.weights["unused"]) is np.ndarray
            numbers = value["loss"], value["y"], *m.weights.values(), m.scale, dx
            print(json.dumps([np.asarray(number).tolist() for number in numbers]))
    """)
    stranger, ours = map(json.loads, printed.splitlines())
    for mine, theirs in zip(ours, stranger, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-12)
