"""`python -m adinterface_studies torch` finds a second derivative, and a batched one, that are
wrong.
"""

import sys
from types import SimpleNamespace

import pytest
import torch
from adinterface_studies.__main__ import main
from adinterface_studies.torch_operators import examine
from torch.autograd.function import Function


class Planted(Function):
    """The square, with a fault where its backward pass is differentiated again, or batched."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        return 2 * cotangent * (x + x.detach()) / 2


def operator(f):
    inputs = SimpleNamespace(
        input=torch.arange(1.0, 4.0, dtype=torch.float64).requires_grad_(), args=(), kwargs={}
    )
    return SimpleNamespace(
        sample_inputs=lambda *_, **__: [
            SimpleNamespace(**vars(inputs), output_process_fn_grad=lambda y: y)
        ],
        gradcheck_wrapper=lambda op, *args, **kwargs: op(*args, **kwargs),
        get_op=lambda: f,
    )


@pytest.mark.parametrize(
    ("f", "wrong"), [(Planted.apply, {"second", "nested", "second_derivative"}), (torch.sin, set())]
)
def test_what_is_wrong_is_found(f, wrong):
    found = []
    examine(operator(f), 2, 100, found.append)
    assert {name for _, name, result in found if result == "wrong"} >= wrong
    assert {name for _, name, result in found if result == "right"} >= (
        {"gradient", "rows"} if wrong else {"third", "batched second"}
    )


def test_a_missing_package_of_the_tests_of_torch_is_named(monkeypatch):
    for name in [*sys.modules]:
        if name.startswith("torch.testing._internal.common_"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "expecttest", None)
    with pytest.raises(SystemExit, match=r"need expecttest\. Install it: pip install expecttest"):
        main(["torch", "sin"])
