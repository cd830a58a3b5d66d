"""`adinterface.integrations.tesseract`, by the checks of Tesseract and its command."""

import json
import os
import sys
import types

import autograd.numpy as anp
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend
from forked import python

pytest.importorskip("tesseract_core", reason="`make integrations` installs Tesseract")

from pydantic import BaseModel
from tesseract_core.runtime import Array, Differentiable, Float32, Float64
from tesseract_core.runtime.core import check_tesseract_api
from tesseract_core.runtime.testing.finite_differences import check_gradients
from tesseract_core.sdk.api_parse import validate_tesseract_api

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    OutputError,
    TreeError,
)
from adinterface.integrations.tesseract import endpoints

NAMESPACES = {AutoJax(): jnp, AutoTorch(): torch, AutoAutograd(): anp, AutoFiniteDifferences(): np}


class Layer(BaseModel):
    weights: Differentiable[Array[(None,), Float64]]
    scale: Differentiable[Float64]


class InputSchema(BaseModel):
    layers: list[Layer]
    pair: tuple[Layer, Layer]
    named: dict[str, Differentiable[Array[(None,), Float64]]]
    order: int = 2
    name: str = "sine"
    factor: float = 1.5


class OutputSchema(BaseModel):
    y: Differentiable[Array[(None,), Float64]]
    sums: dict[str, Differentiable[Float64]]
    label: str


def _component(xp):
    def f(inputs):
        assert isinstance(inputs["pair"], tuple)
        function = {"sine": xp.sin, "cosine": xp.cos}[inputs["name"]]
        total = (
            sum(layer["scale"] * function(layer["weights"]) for layer in inputs["layers"])
            * inputs["factor"]
        )
        total = total + inputs["pair"][0]["weights"] * inputs["pair"][1]["scale"]
        y = total ** inputs["order"]
        return {
            "y": y,
            "sums": {"a": total.sum(), "b.c": (total * inputs["named"]["q.r"]).sum()},
            "label": inputs["name"],
        }

    return f


def _layer(start):
    return {"weights": (np.arange(3.0) + start).tolist(), "scale": start + 0.5}


INPUTS = {
    "layers": [_layer(1), _layer(2)],
    "pair": [_layer(3), _layer(4)],
    "named": {"q.r": [1.0, 2.0, 3.0]},
}


def _module(backend, f=None, schemas=(InputSchema, OutputSchema)):
    """What `tesseract_api.py` would be."""
    module = types.SimpleNamespace(
        __name__="tesseract_api", InputSchema=schemas[0], OutputSchema=schemas[1]
    )
    made = endpoints(f or _component(NAMESPACES[backend]), backend)
    for name, endpoint in made._asdict().items():
        setattr(module, name, endpoint)
    return module


@each_backend
@pytest.mark.parametrize("name", ["sine", "cosine"])
def test_tesseracts_own_check_of_gradients(backend, name):
    module = _module(backend)
    check_tesseract_api(module)
    checks = {}
    for endpoint, failures, count in check_gradients(
        module,
        {"inputs": INPUTS | {"name": name}},
        eps=1e-6,
        rtol=1e-5,
        seed=0,
        show_progress=False,
        max_evals=60,
    ):
        assert failures == []
        checks[endpoint] = count
    assert set(checks) == {"jacobian", "jacobian_vector_product", "vector_jacobian_product"}
    assert min(checks.values()) > 50


class SingleInput(BaseModel):
    x: Differentiable[Array[(None,), Float32]]
    n: int = 3


class SingleOutput(BaseModel):
    y: Differentiable[Float32]


# The file and the command
# ------------------------------------------------------------------------------------------------

FILE = """
import jax.numpy as jnp
from pydantic import BaseModel
from tesseract_core.runtime import Array, Differentiable, Float64

from adinterface import AutoJax
from adinterface.integrations.tesseract import endpoints


class InputSchema(BaseModel):
    x: Differentiable[Array[(None,), Float64]]
    a: Differentiable[Float64]


class OutputSchema(BaseModel):
    y: Differentiable[Array[(None,), Float64]]


def f(inputs):
    return {"y": inputs["a"] * jnp.sin(inputs["x"])}


made = endpoints(f, AutoJax())


def apply(inputs: InputSchema) -> OutputSchema:
    return made.apply(inputs)


jacobian, jacobian_vector_product, vector_jacobian_product = made[1:]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tesseract_api.py"
    path.write_text(FILE)
    (tmp_path / "tesseract_config.yaml").write_text("name: sine\nversion: '1.0.0'\n")
    return path


def test_the_command_checks_the_gradients_of_a_file(file):
    validate_tesseract_api(file.parent)  # what `tesseract build` asks for
    program = "from tesseract_core.runtime.cli import main; main()"
    payload = json.dumps({"inputs": {"x": [0.5, 1.0], "a": 2.0}})
    arguments = ["-c", program, "check-gradients", payload, "--rtol", "1e-3"]
    place = {"path": os.pathsep.join(sys.path), "folder": file.parent}
    done = python(*arguments, **place, TESSERACT_API_PATH=str(file), NO_COLOR="1")
    assert (done.stdout + done.stderr).count("passed ✅ (0 failures") == 3


# What does not fit
# ------------------------------------------------------------------------------------------------


def _simple(f):
    return _module(AutoJax(), f, (SingleInput, SingleOutput)), SingleInput(
        x=np.ones(2, dtype="float32")
    )


def test_what_is_no_function_and_no_backend():
    with pytest.raises(TypeError, match="endpoints"):
        endpoints(None, AutoJax())
    with pytest.raises(
        TypeError, match=r"endpoints: f must take 1 positional argument, one for each array: "
    ):
        endpoints(lambda x, y: x, AutoJax())
    with pytest.raises(BackendError, match="AutoJax"):
        endpoints(lambda inputs: inputs, "jax")


def test_outputs_that_are_no_dict():
    module, inputs = _simple(lambda inputs: inputs["x"].sum())
    for call in (lambda: module.apply(inputs), lambda: module.jacobian(inputs, {"x"}, {"y"})):
        with pytest.raises(
            OutputError, match="f must return a dict with the names of OutputSchema, not"
        ):
            call()


def test_an_output_of_another_name():
    module, inputs = _simple(lambda inputs: {"z": inputs["x"].sum()})
    with pytest.raises(
        OutputError,
        match=(
            r"there is no 'y' in the output of f; its top has 'z'\. Use the names of the schema\."
        ),
    ):
        module.jacobian(inputs, {"x"}, {"y"})


@pytest.mark.parametrize("path", ["z", "x.[0].y", "n.y", "{x"])
def test_an_input_of_another_name(path):
    module, inputs = _simple(lambda inputs: {"y": inputs["x"].sum()})
    with pytest.raises(TreeError, match=r"there is no .* in the inputs; its top has 'x', 'n'\."):
        module.jacobian(inputs, {path}, {"y"})


def test_a_tangent_of_another_shape():
    module, inputs = _simple(lambda inputs: {"y": inputs["x"].sum()})
    with pytest.raises(TreeError, match=r"\(3,\)"):
        module.jacobian_vector_product(inputs, {"x"}, {"y"}, {"x": np.ones(3, dtype="float32")})
    with pytest.raises(TreeError, match=r"\(2,\)"):
        module.vector_jacobian_product(inputs, {"x"}, {"y"}, {"y": np.ones(2, dtype="float32")})
