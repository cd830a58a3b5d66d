"""Classes that hold numbers: of attrs, chex, pydantic and Flax, in the manner of scikit-learn;
tables; parameters of lmfit.
"""

import importlib.util

import numpy as np
import optax
import pytest

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    NotDifferentiableError,
    array_namespace,
    gradient,
    jacobian,
    prepare,
    register_node,
    tree,
)
from adinterface.core.contract.registry import REGISTRY
from adinterface.fit import Training, from_optax, minimize, update

STEPS = 20
X = np.random.default_rng(0).normal(size=(8, 3))
Y = np.random.default_rng(1).normal(size=8)

ENGINES = pytest.mark.parametrize(
    "backend", [AutoJax(), AutoTorch(), AutoAutograd()], ids=["jax", "torch", "autograd"]
)


class Estimator:
    """In the manner of scikit-learn: settings from `__init__`, what was fitted ends with an
    underscore.
    """

    def __init__(self, alpha=0.25):
        self.alpha = alpha

    def fit(self, x, y):
        self.w_, self.b_, self.names_ = np.zeros(x.shape[1]), 0.0, ["a", "b"]
        return self

    @property
    def seen(self):
        return self.w_

    def predict(self, x):
        return x @ self.w_ + self.b_


register_node(Estimator, fields=["w_", "b_"])


def plain_classes():
    """Classes that hold weights `w` and a bias `b`, and one instance of each; what is to be
    installed is left out.
    """
    import attrs
    from flax import struct

    @attrs.frozen
    class Attrs:
        w: np.ndarray = attrs.field(validator=attrs.validators.instance_of(np.ndarray))
        b: float = attrs.field(converter=float)
        kind: str = attrs.field(default="attrs", metadata={"static": True})

    @struct.dataclass
    class Struct:
        w: np.ndarray
        b: float
        kind: str = struct.field(pytree_node=False, default="struct")

    made = {"attrs": Attrs(np.zeros(3), 0.5), "flax.struct": Struct(np.zeros(3), 0.5)}
    if importlib.util.find_spec("chex"):
        import chex

        @chex.dataclass
        class Chex:
            w: np.ndarray
            b: float

        made["chex"] = Chex(w=np.zeros(3), b=0.5)
    if importlib.util.find_spec("pydantic"):
        import pydantic

        class Pydantic(pydantic.BaseModel):
            model_config = {"arbitrary_types_allowed": True}
            w: np.ndarray
            b: float = 0.5
            kind: str = "pydantic"

        with pytest.raises(
            NotDifferentiableError, match=r"register_node\(.*Pydantic, fields=\['w'\]\)"
        ):
            gradient(lambda m: m.w.sum(), AutoTorch(), Pydantic(w=np.zeros(3)))
        made["pydantic"] = register_node(Pydantic, fields=["w", "b"])(w=np.zeros(3))
    return made


CLASSES = plain_classes()


def line_loss(model, x, y):
    return ((x @ model.w + model.b - y) ** 2).mean()


@ENGINES
@pytest.mark.parametrize("name", CLASSES)
def test_plain_classes(name, backend):
    """Against gradient descent by hand, in 64 bits."""
    start = CLASSES[name]
    training = Training(line_loss, backend, from_optax(optax.sgd(0.1)), start)
    losses = [float(training(X, Y)) for _ in range(STEPS)]
    model, fast = start, prepare(gradient, line_loss, backend, start, Constant(X), Constant(Y))
    w, b = np.zeros(3), 0.5
    for n, value in enumerate(losses):
        rest = X @ w + b - Y
        np.testing.assert_allclose(value, np.mean(rest**2), rtol=1e-12)
        call = fast if n % 2 else lambda *args: gradient(line_loss, backend, *args)
        found, *_ = call(model, Constant(X), Constant(Y))
        assert (type(found), type(found.w), type(found.b)) == (type(start), np.ndarray, float)
        np.testing.assert_allclose(found.w, 2 * X.T @ rest / 8, rtol=1e-10)
        model = update(model, found, 0.1)
        w, b = w - 0.2 * X.T @ rest / 8, b - 0.2 * rest.mean()
    for trained_model in (model, training.model):
        assert (type(trained_model), type(trained_model.b)) == (type(start), float)
        assert getattr(trained_model, "kind", None) == getattr(start, "kind", None)
        np.testing.assert_allclose(trained_model.w, w, rtol=1e-10)
        np.testing.assert_allclose(trained_model.b, b, rtol=1e-10)


def ridge(model, x, y):
    return ((model.predict(x) - y) ** 2).mean() + model.alpha * (model.w_**2).sum()


@ENGINES
def test_an_estimator_by_the_names_of_its_attributes(backend):
    centred = X - X.mean(0)
    expected = np.linalg.solve(
        centred.T @ centred + 0.25 * 8 * np.eye(3), centred.T @ (Y - Y.mean())
    )
    estimator = Estimator().fit(X, Y)
    found = minimize(ridge, backend, estimator, X, Y, method="BFGS").x
    assert (type(found), found.alpha, found.names_, type(found.b_)) == (
        Estimator,
        0.25,
        ["a", "b"],
        float,
    )
    np.testing.assert_allclose(found.w_, expected, rtol=1e-4)
    call = prepare(gradient, ridge, backend, estimator, Constant(X), Constant(Y))
    for alpha in (0.25, 0.5):
        estimator.alpha, estimator.w_ = alpha, np.ones(3)
        slope, *_ = call(estimator, Constant(X), Constant(Y))
        again, *_ = gradient(ridge, backend, estimator, Constant(X), Constant(Y))
        np.testing.assert_allclose(slope.w_, again.w_, rtol=1e-12)
        assert (slope.alpha, slope.names_) == (None, None)
    assert call.specializations == 1
    doubled = tree.map(lambda leaf: 2 * leaf, estimator)
    assert (doubled.alpha, doubled.names_, doubled.w_.tolist()) == (
        0.5,
        ["a", "b"],
        [2.0, 2.0, 2.0],
    )


# Tables, and other people's fits
# ----------------------------------------------------------------------------------------


def test_lmfit():
    """Its parameters with their bounds and constraints are its own; it takes a Jacobian from any
    backend.
    """
    lmfit = pytest.importorskip("lmfit")
    x = np.linspace(0.0, 1.0, 20)
    y = 2.0 * np.exp(-0.7 * x) + 3.0

    def residual(values, x, y):
        return values["a"] * array_namespace(x).exp(-values["rate"] * x) + values["offset"] - y

    parameters = lmfit.create_params(
        a=1.0, rate={"value": 0.2, "min": 0.0}, offset={"value": 3.0, "vary": False}
    )
    for backend in (AutoJax(), AutoTorch(), AutoAutograd()):
        slopes = prepare(
            jacobian, residual, backend, parameters.valuesdict(), Constant(x), Constant(y)
        )

        def columns(p, x, y, slopes=slopes):
            by_name = slopes(dict(p.valuesdict()), Constant(x), Constant(y))[0]
            return np.stack([by_name[name] for name in p if p[name].vary])

        fit = lmfit.minimize(
            lambda p, x, y: residual(p.valuesdict(), x, y),
            parameters,
            args=(x, y),
            Dfun=columns,
            col_deriv=True,
        )
        assert fit.params["a"].value == pytest.approx(2.0)
        assert fit.params["rate"].value == pytest.approx(0.7)
        assert fit.nfev < 15
    with pytest.raises(
        NotDifferentiableError, match=r"Parameters.*Pass numpy.asarray\(x\) or what it is made of"
    ):
        gradient(lambda p: p["a"].value, AutoTorch(), parameters)


@pytest.fixture
def forgotten(monkeypatch):
    """Classes of other people's that are registered here alone."""
    monkeypatch.setattr(REGISTRY, "node_types", {**REGISTRY.node_types})

    def forget(cls):
        for known in (REGISTRY.node_types, REGISTRY.handlers):
            known.pop(cls, None)
        return cls

    classes = []
    yield lambda cls: classes.append(cls) or forget(cls)
    for cls in classes:
        REGISTRY.handlers.pop(cls, None)


def test_xarray_by_one_line(forgotten):
    xarray = pytest.importorskip("xarray")
    # xarray asks autograd's namespace for functions that this composes
    pytest.importorskip("adinterface.namespaces")
    forgotten(xarray.DataArray)
    table = xarray.DataArray(
        [[1.0, 2.0], [3.0, 4.0]], dims=("row", "column"), coords={"row": [10, 20]}
    )
    with pytest.raises(
        NotDifferentiableError, match=r"register_node\(DataArray, flatten, unflatten\)"
    ):
        gradient(lambda t: (t.data**2).sum(), AutoJax(), table)
    register_node(
        xarray.DataArray,
        lambda t: ((t.data,), tuple((d, tuple(t[d].values.tolist())) for d in t.dims)),
        lambda coords, children: xarray.DataArray(children[0], [(d, list(at)) for d, at in coords]),
    )
    for backend in (AutoJax(), AutoAutograd(), AutoFiniteDifferences()):
        fast = prepare(gradient, lambda t: (t.sum("row") ** 2).sum().data, backend, table)
        for (found,) in (
            gradient(lambda t: (t.sum("row") ** 2).sum().data, backend, table),
            fast(table),
        ):
            assert (type(found), found.dims, found.row.values.tolist()) == (
                xarray.DataArray,
                ("row", "column"),
                [10, 20],
            )
            np.testing.assert_allclose(found, [[8.0, 12.0], [8.0, 12.0]], rtol=1e-6)
        assert fast.specializations == 1
    moved = minimize(lambda t: ((t.data - 1.0) ** 2).sum(), AutoJax(), table).x
    np.testing.assert_allclose(moved, np.ones((2, 2)), rtol=1e-4)


def test_pandas_by_one_line(forgotten):
    """f gets an engine's array in place of a series, which can hold no other than NumPy's."""
    pandas = pytest.importorskip("pandas")
    forgotten(pandas.Series)
    prices = pandas.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    with pytest.raises(
        NotDifferentiableError,
        match=r"Pass x.to_numpy\(\).*register_node\(Series, flatten, unflatten\)",
    ):
        gradient(lambda s: (s**2).sum(), AutoJax(), prices)
    register_node(
        pandas.Series,
        lambda s: ((s.to_numpy(),), tuple(s.index)),
        lambda index, c: pandas.Series(c[0], index) if isinstance(c[0], np.ndarray) else c[0],
    )
    for backend in (AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences()):
        (found,) = gradient(lambda s: (s**2).sum(), backend, prices)
        assert (type(found), found.index.tolist()) == (pandas.Series, ["a", "b", "c"])
        np.testing.assert_allclose(found, [2.0, 4.0, 6.0], rtol=1e-6)
    stepped = update(prices, gradient(lambda s: (s**2).sum(), AutoTorch(), prices), 0.5)
    assert (type(stepped), stepped.tolist()) == (pandas.Series, [0.0, 0.0, 0.0])
