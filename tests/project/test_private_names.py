"""A private name of an engine that another release lacks: the other engines work, and its absence
is named where it is used.
"""

import textwrap

import pytest
from forked import python

_PROGRAM = """
    import importlib
    import numpy as np
    import torch
    from adinterface import *
    from adinterface.core.contract import registry
    owner = importlib.import_module("{module}")
    hidden = owner.{name}
    del owner.{name}
    registry.loaded_backends()
    owner.{name} = hidden  # which the engine itself uses
    square = lambda p: (p["x"] * p["x"]).sum()
    for auto in ("AutoTorch", "AutoAutograd"):
        try:
            (found,) = gradient(square, globals()[auto](), {{"x": np.array([3.0]), "s": "text", "t": slice(None)}})
            np.testing.assert_allclose(found["x"], [6.0], rtol=1e-6)
            print(auto, "works")
        except BackendError as error:
            print(auto, error)
    try:
        jacobian(lambda x: x * x, AutoTorch(mode="forward"), np.ones(2))
    except BackendError as error:
        print("forward", error)
"""


def _run(module, name):
    program = textwrap.dedent(_PROGRAM).format(module=module, name=name)
    return dict(line.split(" ", 1) for line in python("-c", program).stdout.splitlines())


@pytest.mark.parametrize(
    ("module", "name", "where"),
    [
        ("torch._C._functorch", "peek_interpreter_stack", ["AutoTorch", "forward"]),
        ("torch._C._functorch", "TransformType", []),
        ("torch.autograd.graph", "_engine_run_backward", []),
        ("torch.utils._pytree", "register_pytree_node", ["AutoTorch", "forward"]),
    ],
)
def test_a_private_name_that_torch_lacks_is_named_where_it_is_used(module, name, where):
    said = _run(module, name)
    for auto in ("AutoTorch", "AutoAutograd"):
        assert (said[auto] == "works") is (auto not in where), said
    for place in where:
        assert (
            f"AutoTorch needs the private name {module}.{name} here, which torch 2." in said[place]
        )
        assert (
            "lacks. Install a release of torch that adinterface knows: pip install"
            " 'adinterface[torch]'" in said[place]
        )
