"""`adinterface_torch.alike`: one question to torch for any number of tensors."""

import gc
import weakref

import pytest
import torch
from adinterface_torch import alike as module
from adinterface_torch.alike import alike


def some():
    return [torch.zeros(2, 3), torch.zeros(4, dtype=torch.float64, requires_grad=True), torch.nn.Parameter(torch.zeros(()))]


#: What may differ in the first tensor.
OTHERS = {
    "shape": lambda x: torch.zeros(3, 2),
    "axes": lambda x: torch.zeros(6),
    "strides": lambda x: torch.zeros(3, 2).T,
    "dtype": lambda x: x.double(),
    "requires_grad": lambda x: x.clone().requires_grad_(),
    "class": lambda x: torch.nn.Parameter(x, requires_grad=False),
    "layout": lambda x: x.to_sparse(),
    "device": lambda x: x.to("meta"),
    "conjugate": lambda x: torch.zeros(2, 3, dtype=torch.complex64).conj(),
    "zero": lambda x: torch._efficientzerotensor((2, 3)),
    "no tensor": lambda x: 0.0,
}


def test_other_numbers_are_alike():
    ask = alike(some())
    assert ask(*some())
    assert ask(*[x.detach().add(7.0).requires_grad_(x.requires_grad) for x in some()[:2]], torch.nn.Parameter(torch.ones(())))


@pytest.mark.parametrize("other", OTHERS)
def test_what_differs_is_seen(other):
    ask = alike(some())
    first, *rest = some()
    assert not ask(OTHERS[other](first), *rest)
    assert ask(*some())  # to say no changes nothing


def test_it_is_asked_of_as_many():
    ask = alike(some())
    for tensors in some()[:2], [*some(), torch.zeros(1)]:
        with pytest.raises(TypeError, match="wrong length"):
            ask(*tensors)


def test_one_tensor_in_two_places_is_not_two():
    ask = alike([torch.zeros(2), torch.zeros(2)])
    x = torch.zeros(2)
    assert ask(x, x.clone())
    assert not ask(x, x)


def test_tensors_of_a_transformation_are_not_alike():
    ask = alike([torch.zeros(2)])
    seen = []
    torch.func.vmap(lambda x: seen.append(ask(x)) or x)(torch.zeros(3, 2))
    assert seen == [False]


@pytest.mark.parametrize(
    "example", [lambda: torch.zeros(2).as_subclass(Own), lambda: torch.nested.nested_tensor([torch.zeros(1), torch.zeros(2)])]
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_of_other_classes_nothing_is_known(example):
    x = example()
    assert not alike([x])(x)


def test_without_the_private_name_nothing_is_known(monkeypatch):
    monkeypatch.setattr(module, "TensorGuards", None)
    x = torch.zeros(2)
    assert not alike([x])(x)


def test_no_example_is_kept_alive():
    x = torch.zeros(2)
    told = weakref.ref(x)
    ask = alike([x])
    del x
    gc.collect()
    assert told() is None
    assert ask(torch.zeros(2))


class Own(torch.Tensor):
    pass
