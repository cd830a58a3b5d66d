"""`ComposedNamespace`: functions composed of few, and functions that are wrong, which it finds at their first use."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import array_api_compat.torch
import numpy as np
import pytest
import torch

from adinterface import AutoAutograd, AutoTorch, BackendError, array_namespace
from adinterface.core.contract.library import NUMPY
from adinterface.core.contract.registry import find
from adinterface.namespaces import ComposedNamespace
from adinterface.namespaces.slopes import SLOPES
from adinterface.namespaces.uses import USES

pytestmark = pytest.mark.sweep  # the conformance table runs with every change

FUNCTIONS = ["reshape", "transpose", "concatenate", "where", "take", "matmul"]
ELEMENTWISE = ["exp", "log", "sqrt", "sin", "cos", "arcsin", "floor"]
PRIMITIVES = [*FUNCTIONS, *ELEMENTWISE, "bool_", "int32", "int64", "float32", "float64", "complex64", "complex128"]
LINALG = SimpleNamespace(**{name: getattr(np.linalg, name) for name in ("inv", "det", "cholesky", "eigh", "qr", "svd")})
#: What no composition can make: the standard's own number formats, and sums of products by name.
NEEDED = {"nextafter", "einsum"}
NAMES = [name for name in dict.fromkeys(use.name for use in USES) if not name.startswith(("x", "-", "+", "abs(", "if", "int("))]


def module(**functions):
    return SimpleNamespace(**{name: getattr(np, name) for name in PRIMITIVES}, linalg=LINALG, **functions)


def of(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


@pytest.fixture(scope="module")
def few():
    own = {"real": np.real, "imag": np.imag, "conj": np.conj, "astype": lambda x, dtype: np.asarray(x).astype(dtype)}
    return ComposedNamespace(NUMPY, module(), own)


@pytest.mark.parametrize("name", NAMES)
def test_the_standard_is_composed_of_few_functions(few, name):
    if name in NEEDED:
        with pytest.raises(AttributeError, match=f"The namespace of numpy has no {name} that is right: "):
            of(few, name)
        return
    of(few, name)
    right = [use for use in USES if use.name == name]
    for use in right:
        wanted, got = use.f(array_namespace(use.arrays[0]), *use.arrays), use.f(few, *use.arrays)
        for mine, theirs in zip(*[part if isinstance(part, (tuple, list)) else (part,) for part in (got, wanted)], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
            assert np.shape(mine) == np.shape(theirs)


def test_a_function_that_clamps_negative_indices_is_passed_over():
    def clamped(x, indices, axis):
        return np.take(x, np.maximum(indices, 0), axis)

    namespace = ComposedNamespace(NUMPY, module(), {"take": clamped})
    x = np.array([1.0, 2.0, 3.0])
    assert clamped(x, np.array([-1]), 0) == 1.0
    assert namespace.take(x, np.array([-1]), axis=0) == 3.0
    assert namespace.findings["take"][0].startswith("own: ")


def test_a_function_that_loses_a_derivative_is_passed_over_where_a_backend_checks_it():
    """`autograd.numpy.concatenate` has a rule; a concatenation of plain numbers has none."""
    import autograd.numpy as anp
    from autograd.tracer import getval

    engine = find(AutoAutograd())

    def lost(x):
        return anp.array(np.sin(getval(x)))

    for backend, label in ((None, "own"), (lambda: engine, "module")):
        functions = {**vars(module()), "sin": anp.sin, "sum": anp.sum}
        namespace = ComposedNamespace(engine.library, SimpleNamespace(**functions), {"sin": lost}, backend=backend)
        chosen = namespace.sin
        assert (chosen is lost) == (label == "own")
        if backend is not None:
            assert "own: a derivative of 0, not" in namespace.findings["sin"][0]


def test_a_function_that_is_nowhere_right_names_what_was_seen():
    namespace = ComposedNamespace(NUMPY, module(), {"nextafter": np.maximum})
    with pytest.raises(AttributeError, match=r"no nextafter that is right: own: .*, not "):
        _ = namespace.nextafter
    assert not hasattr(namespace, "nothing")


def test_functions_that_are_composed_of_each_other_are_named():
    few = module()
    few.linalg = SimpleNamespace(cholesky=np.linalg.cholesky)
    own = {"real": np.real, "imag": np.imag, "conj": np.conj, "astype": lambda x, dtype: np.asarray(x).astype(dtype)}
    expected = "linalg.inv and linalg.solve are composed of each other; give the namespace one of them"
    with pytest.raises(AttributeError, match=expected):
        ComposedNamespace(NUMPY, few, own).linalg.inv  # noqa: B018 - the first use


def test_one_namespace_serves_several_threads():
    namespace = ComposedNamespace(NUMPY, module())
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda n: float(namespace.var(np.arange(4.0), correction=1)), range(32)))
    assert results == [np.var(np.arange(4.0), ddof=1)] * 32


def test_a_check_without_end_is_an_error():
    """As of an engine that locks its backward pass, from which a function is asked for."""
    locked = threading.Lock()

    def sin(x):
        with locked:
            return np.sin(x)

    namespace = ComposedNamespace(NUMPY, module(), {"sin": sin})
    namespace.limit = 0.2
    with (
        locked,
        pytest.raises(BackendError, match=r"The check of sin took longer than 0.2 s. .* Then ask for it before"),
    ):
        namespace.sin  # noqa: B018 - the first use
    namespace.limit = 60.0
    assert namespace.sin(np.zeros(1)) == 0.0


def test_dtypes_are_those_of_the_module():
    namespace = ComposedNamespace(NUMPY, module())
    assert namespace.result_type(np.zeros(2, "float32"), np.float64) is np.float64
    assert namespace.isdtype(np.float32, "real floating")
    assert namespace.isdtype(np.float32, (np.float64, "integral")) is False
    assert namespace.finfo(np.float32).eps == np.finfo("float32").eps
    assert namespace.iinfo(np.int64).max == 2**63 - 1
    assert namespace.can_cast(np.float32, np.float64)
    assert namespace.asarray([np.zeros(2), np.ones(2)]).shape == (2, 2)
    with pytest.raises(AttributeError):
        _ = namespace.__wrapped__


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,ij->i", [(3, 1), (3, 2)]), ("ij,jk", [(2, 3), (1, 4)]), ("ij,ij", [(1, 3), (2, 1)]), ("ba,a", [(2, 3), (1,)])],
)
def test_einsum_stretches_axes_for_an_engine_that_does_not(subscripts, shapes):
    def strict(subscripts, *arrays):
        for x in arrays:
            assert 1 not in x.shape
        return np.einsum(subscripts, *arrays)

    arrays = [np.random.default_rng(0).normal(size=shape) for shape in shapes]
    namespace = ComposedNamespace(NUMPY, module(einsum=strict))
    np.testing.assert_allclose(namespace.einsum(subscripts, *arrays), np.einsum(subscripts, *arrays))


def told(value, back):
    class Told(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x, ctx.results = x, value(x)
            return ctx.results

        @staticmethod
        def backward(ctx, *cotangents):
            return back(ctx.x, cotangents if isinstance(ctx.results, tuple) else cotangents[0], ctx.results)

    return Told.apply


@pytest.mark.parametrize("name", SLOPES)
def test_a_function_without_a_derivative_gets_that_of_the_namespace(name):
    right = of(array_api_compat.torch, name)

    def without(x, **options):
        result = right(x, **options)
        return result.detach() if isinstance(result, torch.Tensor) else tuple([part.detach() for part in result])

    engine = find(AutoTorch())
    options = {"backend": lambda: engine, "custom": told}
    namespace = ComposedNamespace(engine.libraries[0], array_api_compat.torch, {name: without}, **options)
    assert of(namespace, name) is not right
    findings = namespace.findings[name]
    assert findings
    assert all(finding.startswith("own: ") for finding in findings)
    assert any("a derivative of 0, not" in finding for finding in findings)


def test_functions_in_single_precision_are_passed_over():
    def single(x):
        return np.exp(np.asarray(x, np.float32)).astype(x.dtype)

    namespace = ComposedNamespace(NUMPY, module(expm1=np.expm1), {"exp": single})
    np.testing.assert_array_equal(namespace.exp(np.array([-40.0, 0.0, 30.0])), np.exp([-40.0, 0.0, 30.0]))
    assert namespace.findings["exp"][0].startswith("own: [[1.648721")


EXACT = [(name, dtype) for name in ("all", "any", "prod", "sum") for dtype in ("float32", "int32", "bool")]


@pytest.mark.parametrize(("name", "dtype"), [*EXACT, ("mean", "float32"), ("std", "float64"), ("var", "float32")])
def test_reductions_of_empty_arrays_are_not_left_to_the_engine(name, dtype):
    """MLX may never return from one."""

    def function(x, **options):
        assert x.size
        return getattr(np, name)(x, **options)

    namespace = ComposedNamespace(NUMPY, module(**{name: function}))
    x = np.zeros((2, 0, 3), dtype)
    for options in [{}, {"axis": 0}, {"axis": 1, "keepdims": True}]:
        got = getattr(namespace, name)(x, **options)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = np.asarray(getattr(np, name)(x, **options))
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    if name in ("prod", "sum"):
        assert getattr(namespace, name)(x, dtype=None).dtype == wanted.dtype
        assert getattr(namespace, name)(x, dtype=np.float64).dtype == np.float64
