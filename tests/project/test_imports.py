"""No engine is loaded before it is used. What files may import is in pyproject.toml (import-linter)."""

import functools
import json
import textwrap

import pytest
from forked import printed

import adinterface

ENGINES = ("jax", "torch", "autograd")
BACKENDS = ("adinterface_jax", "adinterface_torch", "adinterface_autograd", "adinterface_finite")


_LOADED = """
    import json, sys
    {program}
    print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


def _loaded(program):
    return set(
        json.loads(printed(textwrap.dedent(_LOADED).format(program=program)).splitlines()[-1])
    )


_STAGES = """
    import inspect, json, pickle, sys  # from 2.3 on NumPy loads inspect itself
    import numpy
    known = set(sys.modules)
    def loaded():
        return sorted({{name.partition(".")[0] for name in set(sys.modules) - known}})
    import adinterface
    found = [loaded()]
    from adinterface import *
    for value in (AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences(native=AutoJax())):
        assert pickle.loads(pickle.dumps(value)) == value and hash(value) is not None and repr(value)
    found.append(loaded())
    import adinterface_conformance
    found.append(loaded())
    gradient(lambda m: m["x"] * m["x"], AutoFiniteDifferences(), {{"x": 2.0, "s": "text"}})
    found.append(loaded())
    print(json.dumps(found))
"""


def test_values_of_backends_the_kit_and_a_call_with_differences_load_no_engine():
    at_import, values, kit, call = map(set, json.loads(printed(_STAGES.format())))
    others = {*ENGINES, *BACKENDS, "ml_dtypes", "equinox", "attr", "scipy"}
    assert not at_import & {*others, "array_api_compat"}
    assert not values & others
    assert not kit & {*ENGINES, *BACKENDS}
    assert call & {*ENGINES, *BACKENDS} == {"adinterface_finite"}


#: After it has started, `jax.distributed.initialize()` refuses to; and what torch compiles with
#: takes as long to load as torch.
_AFTER_THE_IMPORT = {
    "AutoJax": "from jax._src import xla_bridge; assert not xla_bridge.backends_are_initialized()",
    # Up to 2.9 `torch.func` itself may load it.
    "AutoTorch": (
        "import sys, torch; compilers = {'torch._dynamo', 'torch._inductor', 'sympy'}; "
        "assert torch.__version__[:3] in ('2.7', '2.8', '2.9') or not compilers & set(sys.modules)"
    ),
    "AutoAutograd": "pass",
}


@pytest.mark.parametrize(
    ("auto", "backend", "engine"),
    [
        ("AutoJax", "adinterface_jax", "jax"),
        ("AutoTorch", "adinterface_torch", "torch"),
        ("AutoAutograd", "adinterface_autograd", "autograd"),
    ],
)
def test_a_call_imports_its_own_backend_and_engine_alone(auto, backend, engine):
    """And loading the backend starts nothing."""
    call = (
        f"adinterface.gradient(lambda m: m['x'] * m['x'], adinterface.{auto}(), {{'x': 2.0, 's':"
        " 'text'})"
    )
    loaded = _loaded(f"import adinterface, {backend}; {_AFTER_THE_IMPORT[auto]}; {call}")
    assert loaded & set(BACKENDS) == {backend}
    assert loaded & set(ENGINES) == {engine}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("minimize", "fit"),
        ("scan", "loops"),
        ("root", "rules"),
        ("sparsity", "sparse"),
        ("check_rule", "tools"),
        ("Backend", "core.contract"),
    ],
)
def test_a_name_of_a_module_is_told_where_it_is(name, place):
    with pytest.raises(
        AttributeError,
        match=(
            rf"^module 'adinterface' has no attribute '{name}'\. It is"
            rf" adinterface\.{place}\.{name}$"
        ),
    ):
        getattr(adinterface, name)
    assert functools.reduce(getattr, f"{place}.{name}".split("."), adinterface) is not None


def test_a_name_that_is_nowhere_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'adinterface' has no attribute 'gradeint'$"):
        getattr(adinterface, "gradeint")  # noqa: B009 - a misspelt name is the point
    assert not hasattr(adinterface, "__wrapped__")


_GLOBAL = """
    import signal, sys, warnings
    import numpy as np
    import {engine}
    import scipy.special, multiprocessing.reduction
    from adinterface import *
    from adinterface_conformance.state import changes, global_state
    signals = [signal.getsignal(each) for each in signal.valid_signals()]
    before = global_state({auto}())
    for operator in (gradient, jacobian, hessian):
        operator(lambda p: (p["x"] * p["x"]).sum(), {auto}(), {{"x": np.ones(2), "s": "text"}})
    def fails(x):
        raise KeyError
    try:
        gradient(fails, {auto}(), np.ones(2))
    except KeyError:
        pass
    assert signals == [signal.getsignal(each) for each in signal.valid_signals()]
    for change in changes(before, global_state({auto}())):
        print(change)
"""


@pytest.mark.parametrize(
    ("auto", "engine"),
    [
        ("AutoJax", "jax"),
        ("AutoTorch", "torch"),
        ("AutoAutograd", "autograd"),
        ("AutoFiniteDifferences", "math"),
    ],
)
def test_the_first_call_on_an_engine_changes_nothing_global(auto, engine):
    """Nor does loading its backend, which the laws of the kit do not see: their engines are loaded
    before.
    """
    assert printed(textwrap.dedent(_GLOBAL).format(auto=auto, engine=engine)) == ""
