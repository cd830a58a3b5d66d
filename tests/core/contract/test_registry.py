"""Backends are values: frozen, hashable, comparable, picklable, and rebuilt by their own repr; the registry finds them."""

import copy
import dataclasses
import pickle
import sys

import jax
import numpy as np
import pytest
import torch

import adinterface
from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    SecondOrder,
    explain,
    gradient,
    hessian,
    jacobian,
    prepare,
)
from adinterface.core.contract import Backend, registry
from adinterface.core.contract.auto import BUILT_IN, changed_options

VALUES = [
    AutoJax(),
    AutoTorch(),
    AutoTorch(create_graph=True),
    AutoTorch(create_graph=True, device="cpu"),
    AutoAutograd(),
    AutoFiniteDifferences(),
    AutoFiniteDifferences(step=1e-4),
    AutoFiniteDifferences(native=AutoJax()),
    AutoFiniteDifferences(native=AutoTorch(create_graph=True)),
]
each_value = pytest.mark.parametrize("value", VALUES, ids=repr)
each_class = pytest.mark.parametrize("cls", BUILT_IN)

PUBLIC = {name: getattr(adinterface, name) for name in adinterface.__all__}


@each_class
def test_every_option_has_a_default(cls):
    assert cls() == cls()


#: Values of options that are not any: `order` goes with fixed steps alone.
OTHERS = {
    "mode": "forward", "chunk_size": 3, "step": 0.5, "scale": 2.0, "bounds": (0.0, None), "executor": map,
    "method": "complex", "max_evaluations": 8, "noise": 0.5, "native": AutoJax(),
}  # fmt: skip


@each_class
def test_repr_shows_the_options_that_do_not_have_their_default(cls):
    assert repr(cls()) == f"{cls.__name__}()"
    assert changed_options(cls()) == set()
    for option in dataclasses.fields(cls):
        if option.name != "order":
            value = OTHERS.get(option.name, not option.default)
            backend = cls(**{option.name: value})
            assert changed_options(backend) == {option.name}
            # An executor belongs to its process, and nobody could write it.
            assert repr(backend) == f"{cls.__name__}({f'{option.name}={value!r}' if option.repr else ''})"


def test_an_option_without_a_default_is_always_shown():
    pair = SecondOrder(AutoFiniteDifferences(), AutoTorch(mode="forward"))
    assert changed_options(pair) == {"outer", "inner"}
    assert repr(pair) == "SecondOrder(outer=AutoFiniteDifferences(), inner=AutoTorch(mode='forward'))"


@each_class
def test_a_backend_is_a_frozen_dataclass_of_the_base(cls):
    assert issubclass(cls, AutoBackend)
    assert dataclasses.is_dataclass(cls)
    value = cls()
    names = [field.name for field in dataclasses.fields(cls)] or ["anything"]
    for name in names:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


@each_value
def test_the_repr_rebuilds_the_value(value):
    assert eval(repr(value), PUBLIC) == value


@each_value
def test_equal_values_have_equal_hashes_and_serve_as_keys(value):
    twin = eval(repr(value), PUBLIC)
    assert hash(twin) == hash(value)
    assert {value: "found"}[twin] == "found"


def test_values_with_other_options_or_of_another_class_differ():
    assert len(set(VALUES)) == len(VALUES)
    assert AutoTorch() != AutoJax()


@each_value
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_and_copy_give_an_equal_value(protocol, value):
    assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.copy(value) == value == copy.deepcopy(value)


@each_value
def test_dataclasses_replace_gives_a_value_with_other_options(value):
    assert dataclasses.replace(value) == value


@each_value
def test_equal_values_share_one_backend(value):
    assert registry.find(value) is registry.find(eval(repr(value), PUBLIC))


def test_a_torch_device_and_a_jax_device_are_options():
    x = np.array([1.0, 2.0])
    for value in (AutoTorch(device=torch.device("cpu")), AutoTorch(device="cpu"), AutoJax(device=jax.devices()[0])):
        assert hash(value) == hash(dataclasses.replace(value))
        np.testing.assert_allclose(gradient(lambda x: (x * x).sum(), value, x)[0], 2 * x)


@each_class
def test_each_value_finds_its_backend_through_the_entry_point(cls):
    assert cls.name in registry.names()
    backend = registry.find(cls())
    assert isinstance(backend, Backend)
    assert backend.auto == cls()
    assert type(backend) is registry.backend_class(cls.name)


def test_the_names_are_sorted_and_listed_once():
    names = registry.names()
    assert names == sorted(set(names))
    assert set(names) >= {"autograd", "finite_differences", "jax", "torch"}


def test_the_engines_that_are_loaded_are_told_without_importing_any():
    loaded = registry.loaded_backends()
    assert registry.backend_class("torch") in loaded
    for name in ("jax", "torch", "autograd"):
        assert registry.is_installed(name)
    before = set(sys.modules)
    assert not registry.is_installed("an_engine_that_nobody_wrote")
    assert set(sys.modules) == before


def test_a_derived_value_keeps_its_bases_backend():
    @dataclasses.dataclass(frozen=True)
    class Mine(AutoTorch):
        extra: int = 3

    assert type(registry.find(Mine())) is registry.backend_class("torch")
    np.testing.assert_allclose(gradient(lambda x: x * x, Mine(), 3.0), (6.0,))
    assert registry.auto_class("torch") is AutoTorch
    assert registry.auto_class("nobody") is None
    assert registry.auto_classes().index(AutoTorch) < registry.auto_classes().index(Mine)


def test_the_install_command_names_the_extra_for_ours_and_the_engine_for_others():
    @dataclasses.dataclass(frozen=True)
    class AutoOther(AutoBackend):
        name = "other"

    assert AutoJax.install() == "pip install 'adinterface[jax]'"
    assert AutoTorch.install() == "pip install 'adinterface[torch]'"
    assert AutoAutograd.install() == "pip install 'adinterface[autograd]'"
    assert AutoOther.install() == "pip install other"


@dataclasses.dataclass(frozen=True, repr=False)
class AutoOptions(AutoBackend):
    name = "options"
    mode: str = "fast"
    native: bool = True
    backend: str = "x"
    weights: object = None


def test_options_of_another_package_mean_what_they_mean_there():
    value = AutoOptions(mode="slow")
    assert (value.mode, value.native, value.backend) == ("slow", True, "x")
    assert Backend(value).mode is None

    @dataclasses.dataclass(frozen=True)
    class AutoOurMode(AutoBackend):
        name = "other"
        mode: str | None = None

    assert Backend(AutoOurMode("forward")).mode == "forward"
    with pytest.raises(ValueError, match="AutoOurMode: mode must be 'forward', 'reverse' or None, not 'slow'"):
        AutoOurMode("slow")


@pytest.mark.parametrize("operator", [gradient, jacobian, hessian])
@pytest.mark.parametrize(
    ("value", "option"), [(AutoOptions(weights=[1]), "AutoOptions(weights"), (AutoJax(device=[1]), "AutoJax(device")]
)
def test_an_option_that_cannot_be_hashed_is_named(operator, value, option):
    for call in (operator, lambda *args: prepare(operator, *args), lambda *args: explain(operator, *args)):
        with pytest.raises(BackendError) as caught:
            call(lambda x: x * x, value, 2.0)
        assert str(caught.value) == (
            f"{option}=[1]): options must be hashable (unhashable type: 'list'). Pass a tuple for a list, say."
        )
    with pytest.raises(BackendError, match="options must be hashable"):
        operator(lambda x: x * x, AutoFiniteDifferences(native=value), 2.0)
