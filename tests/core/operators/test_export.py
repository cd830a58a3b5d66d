"""`Prepared.export`: files that an engine loads without this package, the same bits, and what cannot be a file."""

import copy
import dataclasses
import json
import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, NamedTuple

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    Duplicated,
    Each,
    MissingEngineError,
    batched,
    derivative,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    tree,
    value_and_gradient,
)

pytestmark = pytest.mark.sweep  # test_prepare.py runs with every change

writes_stablehlo = pytest.mark.skipif(find_spec("flatbuffers") is None, reason="jax.export needs flatbuffers to write a file")

JAX, TORCH = AutoJax(), AutoTorch()
X = np.linspace(0.1, 1.0, 3)
X32 = X.astype("float32")


@dataclasses.dataclass
class Model:
    w: Any
    k: Any = 0.7
    name: str = "model"


MODEL = {"m": Model(X), "b": [X32, None, 3], "s": "text"}


def energy(model, x, *, scale=1.0):
    m, b = model["m"], model["b"]
    inner = (m.w * x).sum() * m.k * b[2] * scale
    return inner * inner + (b[0] * b[0]).sum()


@numpy_function
def exp_sum(x):
    return np.sum(np.exp(x) * X)


class Case(NamedTuple):
    operator: Any
    f: Any
    args: tuple[Any, ...]
    #: The inputs of the file.
    inputs: list[Any]
    #: The paths of its outputs.
    outputs: list[str]


LEAVES = [X, np.asarray(0.7), X32, X]
GRADIENT = ["result[0]['m'].w", "result[0]['m'].k", "result[0]['b'][0]"]
BOTH = {
    "gradient": Case(gradient, energy, (MODEL, Constant(X)), LEAVES, GRADIENT),
    "value_and_gradient": Case(
        value_and_gradient,
        lambda x: {"loss": (x * x).sum(), "aux": x + 1, "n": 3},
        (X,),
        [X],
        ["result.value['loss']", "result.value['aux']", "result.gradient[0]"],
    ),
    "hvp": Case(
        hvp, lambda m: (m.w * m.w).sum() * m.k, (Model(X), Model(X, 2.0, None)), [X, 0.7, X, 2.0], ["result.w", "result.k"]
    ),
    "gradient_and_hvp": Case(gradient_and_hvp, lambda x: (x**3).sum(), (X, X), [X, X], ["result.gradient", "result.hvp"]),
    "an integer": Case(gradient, lambda n: n**2.0, (3,), [np.asarray(3.0)], ["result[0]"]),
    "complex": Case(gradient, lambda z: (z * z.conj()).real.sum(), (X + 1j * X,), [X + 1j * X], ["result[0]"]),
    "captured arrays": Case(gradient, exp_sum, (X,), [X], ["result[0]"]),
}
OF_JAX = {
    "jacobian": Case(
        jacobian,
        lambda x, y: {"a": jnp.exp(x) * y, "b": x.sum()},
        (X, Constant(X)),
        [X, X],
        ["result['a'][0]", "result['b'][0]"],
    ),
    "hessian": Case(hessian, lambda x: jnp.sum(jnp.exp(x) ** 2), (X,), [X], ["result"]),
    "derivative": Case(derivative, jnp.sin, (0.5,), [np.asarray(0.5)], ["result"]),
    "pushforward": Case(pushforward, lambda x: jnp.exp(x), ((X,), (X,)), [X, X], ["result.value", "result.tangent"]),
    "float32": Case(gradient, lambda x: jnp.sum(jnp.sin(x)), (jnp.asarray(X32),), [X32], ["result[0]"]),
    "batched": Case(batched, gradient, (lambda x: jnp.sum(x**3), JAX, Each(np.ones((2, 3)))), [np.ones((2, 3))], ["result[0]"]),
}
CASES = [
    *[pytest.param(JAX, case, id=f"jax, {name}", marks=writes_stablehlo) for name, case in (BOTH | OF_JAX).items()],
    *[pytest.param(TORCH, case, id=f"torch, {name}") for name, case in BOTH.items()],
]


def made(backend, case):
    if case.operator is batched:
        return prepare(batched, case.f, *case.args), case.args[2:]
    return prepare(case.operator, case.f, backend, *case.args), case.args


def load(path, manifest, inputs):
    """What the file returns, as NumPy arrays."""
    if manifest["format"] == "torch.export":
        outputs = torch.export.load(path).module()(*[torch.as_tensor(x) for x in inputs])
    else:
        wide = bool(manifest["needs"])
        with jax.enable_x64(wide):
            outputs = jax.export.deserialize(bytearray(path.read_bytes())).call(*inputs)
    return [np.asarray(output) for output in outputs]


def numbers(result):
    """The numeric leaves of a result, as NumPy arrays."""
    return [np.asarray(leaf) for leaf in tree.leaves(result)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:(Attempted to insert a get_attr Node|Node lifted_):UserWarning")  # of PyTorch 2.7
@pytest.mark.parametrize(("backend", "case"), CASES)
def test_a_file_gives_the_same_bits(backend, case, tmp_path):
    fast, args = made(backend, case)
    path = tmp_path / "program"
    manifest = fast.export(path)
    found = load(path, manifest, [np.asarray(x) for x in case.inputs])
    expected = numbers(fast(*args))
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    assert all(map(np.array_equal, found, expected))
    assert [each["path"] for each in manifest["outputs"]] == case.outputs
    assert [tuple(each["shape"]) for each in manifest["inputs"]] == [np.shape(x) for x in case.inputs]
    assert json.loads((tmp_path / "program.json").read_text()) == manifest


@writes_stablehlo
def test_the_manifest_says_which_leaf_is_which(tmp_path):
    manifest = prepare(gradient, energy, JAX, MODEL, Constant(X), scale=2.0).export(tmp_path / "program")
    model = f"{Model.__module__}.Model"
    assert manifest["arguments"] == {
        "args": [
            {
                "class": "builtins.dict",
                "children": {
                    "['m']": {
                        "class": model,
                        "children": {".w": {"input": 0}, ".k": {"input": 1}, ".name": {"fixed": "'model'"}},
                    },
                    "['b']": {
                        "class": "builtins.list",
                        "children": {"[0]": {"input": 2}, "[1]": {"fixed": "None"}, "[2]": {"fixed": "3"}},
                    },
                    "['s']": {"fixed": "'text'"},
                },
            },
            {"Constant": {"input": 3}},
        ],
        "kwargs": {"scale": {"Constant": {"fixed": "2.0"}}},
    }
    assert manifest["inputs"][:2] == [
        {"path": "args[0]['m'].w", "shape": [3], "dtype": "float64"},
        {"path": "args[0]['m'].k", "shape": [], "dtype": "float64"},
    ]
    assert manifest["results"]["children"]["[1]"] == {"fixed": "None"}
    assert (manifest["operator"], manifest["function"], manifest["backend"]) == ("gradient", "energy", "AutoJax()")
    assert manifest["versions"]["jax"] == jax.__version__
    assert manifest["needs"] == ["jax.config.update('jax_enable_x64', True)"]


@writes_stablehlo
def test_other_arguments_than_the_example(tmp_path):
    fast = prepare(gradient, lambda x: (x * x).sum(), JAX, X)
    assert fast.export(tmp_path / "a", np.ones((2, 2), "float32"))["inputs"] == [
        {"path": "args[0]", "shape": [2, 2], "dtype": "float32"}
    ]
    assert copy.copy(fast).export(tmp_path / "b")["inputs"][0]["shape"] == [3]


PROGRAM = """
import sys, numpy as np
files, data = sys.argv[1:3], dict(np.load(sys.argv[3]))
import jax, jax.export, torch
jax.config.update("jax_enable_x64", True)
found = list(jax.export.deserialize(bytearray(open(files[0], "rb").read())).call(*data.values()))
found += torch.export.load(files[1]).module()(*[torch.from_numpy(np.asarray(x)) for x in data.values()])
assert not [name for name in sys.modules if name.startswith("adinterface")]
np.savez(sys.argv[4], *[np.asarray(x) for x in found])
"""


@pytest.mark.sweep  # a new process that imports two engines
@writes_stablehlo
def test_files_load_in_a_process_that_knows_neither_this_package_nor_f(tmp_path):
    files, expected = [], []
    for backend in (JAX, TORCH):
        fast = prepare(gradient, energy, backend, MODEL, Constant(X))
        files.append(tmp_path / f"{backend.name}.bin")
        fast.export(files[-1])
        expected += numbers(fast(MODEL, Constant(X)))
    np.savez(tmp_path / "inputs.npz", *LEAVES)
    command = [sys.executable, "-c", PROGRAM, *map(str, files), str(tmp_path / "inputs.npz"), str(tmp_path / "outputs.npz")]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "JAX_PLATFORMS": "cpu"})
    found = np.load(tmp_path / "outputs.npz")
    assert all(np.array_equal(found[name], x) for name, x in zip(found.files, expected, strict=True))


# what cannot be a file -----------------------------------------------------------------------------------------------


class Key(NamedTuple):
    key: Any


LINEAR = torch.nn.Linear(3, 1)
MODULE = Constant(torch.ones(3))
REFUSED = {
    "autograd": (
        prepare(gradient, lambda x: (x**2).sum(), AutoAutograd(), X),
        (),
        "AutoAutograd() cannot export a prepared call. Prepare it with AutoJax() for StableHLO, or with AutoTorch() for "
        "torch.export.",
    ),
    "differences": (
        prepare(gradient, lambda x: (x**2).sum(), AutoFiniteDifferences(), X),
        (),
        "AutoFiniteDifferences() cannot export a prepared call. Prepare it with AutoJax() for StableHLO, or with AutoTorch() "
        "for torch.export.",
    ),
    "pullback": (
        prepare(pullback, lambda x: x**2, JAX, X),
        (),
        "pullback returns a function, which a file cannot hold. Export pushforward, gradient or jacobian.",
    ),
    "linearize": (
        prepare(linearize, lambda x: x**2, JAX, X),
        (),
        "linearize returns a function, which a file cannot hold. Export pushforward, gradient or jacobian.",
    ),
    "buffers": (
        prepare(gradient, lambda x: (x**2).sum(), JAX, X),
        (Duplicated(X),),
        "gradient writes into its arguments here, which a file cannot do. Pass f parameters, not objects.",
    ),
    "a random key": (
        prepare(gradient, lambda x, k: jnp.sum(x * jax.random.normal(k, x.shape)), JAX, X32, Constant(jax.random.key(0))),
        (X32, Constant(jax.random.key(0))),
        "An argument has the dtype key<fry>, which a file would fix. Pass its data as integers, and make the key of it in f.",
    ),
    "a module": (
        prepare(gradient, lambda m, x: m(x).sum(), TORCH, LINEAR, MODULE),
        (LINEAR, MODULE),
        "f reaches parameters through a Linear, which a file cannot hold. Pass a dict of its parameters, and let f call the "
        "object with these.",
    ),
    "other operators of torch": (
        prepare(jacobian, lambda x: x**2, TORCH, X),
        (),
        "torch.export cannot trace this call: adinterface traces gradient, value_and_gradient, hvp, gradient_and_hvp, not "
        "jacobian. Traced are calls on AutoTorch(), in reverse mode, whose arguments are tensors, or dicts, lists, tuples and "
        "dataclasses of tensors.",
    ),
    "an object in the result": (
        prepare(value_and_gradient, lambda x: (jnp.sum(x), Key), JAX, X),
        (),
        "The result of value_and_gradient holds a type, which a file cannot hold.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_file_is_an_error_with_a_remedy(name, tmp_path):
    fast, args, message = REFUSED[name]
    with pytest.raises(BackendError) as error:
        fast.export(tmp_path / "program", *args)
    assert str(error.value) == message
    assert not list(tmp_path.iterdir())


def test_without_an_example_the_arguments_must_be_passed(tmp_path):
    with pytest.raises(
        TypeError, match=r"^Prepared.export: pass example arguments behind the path; none are kept of modules\.$"
    ):
        REFUSED["a module"][0].export(tmp_path / "program")
    with pytest.raises(TypeError, match="pass example arguments behind the path"):
        pickle.loads(pickle.dumps(prepare(gradient, exp_sum, JAX, X))).export(tmp_path / "program")


@pytest.mark.parametrize("backend", [JAX, TORCH])
def test_a_branch_on_a_value_has_a_note(backend, tmp_path):
    fast = prepare(gradient, lambda x: x.sum() if x.sum() > 0 else -x.sum(), backend, X)
    with pytest.raises((RuntimeError, TypeError)) as error:
        fast.export(tmp_path / "program")
    assert any("branch" in note for note in error.value.__notes__)


def test_jax_without_flatbuffers_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    monkeypatch.delitem(sys.modules, "jax._src.export.serialization", raising=False)
    with pytest.raises(
        MissingEngineError, match=r"^jax\.export needs flatbuffers to write a file: pip install 'adinterface\[export\]'$"
    ) as missing:
        prepare(gradient, lambda x: (x**2).sum(), JAX, X).export(tmp_path / "program")
    assert missing.value.__suppress_context__
