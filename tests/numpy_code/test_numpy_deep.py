"""numpy_function(f, deep=True): what f calls runs as a copy in which NumPy's names mean ours, and
nothing else is changed.
"""

import abc
import cmath
import collections
import copy
import dataclasses
import enum
import functools
import importlib.util
import math
import re
import struct
import warnings

import deep_helper
import jax
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.spatial.transform
import scipy.special
import scipy.stats
from backends_table import ENGINES, each_engine
from deep_helper import Layer, Shifted, filled, layer, squares

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    gradient,
    hvp,
    numpy_function,
    prepare,
    value_and_gradient,
)

X = np.array([0.4, 1.3, 2.2])
PROGRAMS = []


def program(f):
    PROGRAMS.append(pytest.param(f, id=f.__name__))
    return f


def deep(f):
    return numpy_function(f, deep=True)


# What runs
# ------------------------------------------------------------------------------------------------


@program
def names_of_numpy(x):
    a = np.asarray(x, dtype=np.float64)
    b = np.array([a[0], 2 * a[1], 1.0], dtype=float)
    c = np.full(2, a[2]) + np.full_like(np.zeros(2), a[0])
    d = np.r_[a, 1.0, a[:1]] * np.arange(5)
    e = np.c_[a, a**2]
    f = np.fromiter((v * 2 for v in a), float)
    return sum(
        map(
            np.sum,
            (a, b, c, d, e, f, np.copy(a), np.ascontiguousarray(a), np.atleast_2d([a[0], a[1]])),
        )
    )


@program
def numbers_of_python(x):
    assert isinstance(x, np.ndarray)
    assert type(x) is np.ndarray
    assert isinstance(x[0], float)
    assert isinstance(x[0], (np.floating, int))
    assert not isinstance(x[0], np.ndarray)
    assert isinstance(np.asarray(x[0]), np.ndarray)
    assert np.isscalar(x[0])
    assert not np.isscalar(np.asarray(x[0]))
    assert type(x[0]) is np.float64
    assert float is float
    assert isinstance(1.0, float)
    assert issubclass(float, float)
    assert issubclass(type(x), np.ndarray)
    assert x.dtype == float
    assert x.dtype in [np.float32, np.float64]
    return (
        float(x[0]) * np.float64(x[1]) * math.sin(x[2])
        + abs(complex(x[0]) * 1j)
        + math.hypot(x[0], x[1])
        + float("2.5")
    )


@program
def functions_of_math(x):
    assert math.floor(x[1]) in (0, 1)
    assert not math.isnan(x[0])
    found = (
        math.log(x[0])
        + math.log(x[1], 2)
        + math.exp(x[2])
        + math.pow(x[0], 2)
        + math.prod([x[0], x[1]])
        + math.erf(x[0])
    )
    return (
        found
        + math.lgamma(x[1])
        + math.fsum(v for v in x)
        + math.dist([x[0], x[1]], [0.0, 0.5])
        + cmath.exp(1j * x[0]).real
    )


@program
def lists_that_numpy_takes(x):
    return (
        np.sum([x[0], 2 * x[1]])
        + np.max([x[0], 0.1, x[2]])
        + np.dot([x[0], x[1]], [1.0, 2.0])
        + np.mean((x[0], x[1]))
    )


@program
def copied_code_of_numpy(x):
    p = np.poly1d([x[0], x[1], 1.0])
    along = np.apply_along_axis(lambda row: np.sum(row**2) * row, 0, np.stack([x, x + 1]))
    return (
        p(0.7)
        + np.polynomial.chebyshev.chebval(0.3, x)
        + np.sum(np.vectorize(lambda t: t**2 if t > 1 else -t)(x))
        + np.sum(along)
    )


@program
def folds(x):
    y = np.minimum.accumulate(np.sin(3 * x)) + np.maximum.accumulate(x)
    return (
        np.sum(y * x)
        + np.logaddexp.reduce(x)
        + np.sum(np.vecdot(np.stack([x, x**2]), np.stack([x, x]), axis=0))
    )


@program
def elements_in_order(x):
    assert not np.any(np.isnan(x.flat))
    return np.sum(np.sqrt(x.flat)) + np.sum(x.flat) * np.sum(x**2.0)


@program
def another_module(x):
    return np.sum(squares(x) * filled(x))


@program
def objects(x):
    """A method that calls super(), in both ways, on an object that is there and on one that is
    made.
    """
    return (
        np.sum(layer(x))
        + np.sum(Shifted(x[0], x[1])(x))
        + (1.0 if isinstance(layer, Layer) and type(layer) is Shifted else 0.0)
    )


@dataclasses.dataclass
class Model:
    w: object

    def __post_init__(self):
        self.w = np.asarray(self.w)

    @property
    def doubled(self):
        return np.asarray(self.w) * 2

    @functools.cached_property
    def cubed(self):
        return np.asarray(self.w) ** 3

    @classmethod
    def of(cls, w):
        return cls(np.array([w[0], w[1]]))

    @staticmethod
    def total(w):
        return np.sum(np.asarray(w))


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    w: object

    def value(self):
        return np.sum(np.asarray(self.w) ** 2)


@program
def members_of_classes(x):
    m = Model(x)
    return (
        np.sum(m.doubled)
        + np.sum(m.cubed)
        + np.sum(Model.of(x).w)
        + Model.total(x)
        + Slotted(x).value()
    )


class Scaled:
    __slots__ = ("calls", "scale")

    def __init__(self, scale):
        self.scale, self.calls = scale, 0

    def __call__(self, x):
        self.calls += 1
        return np.asarray(x) * self.scale


SCALED = Scaled(1.5)


@program
def objects_with_slots(x):
    own, other, before = Scaled(x[0]), copy.copy(SCALED), SCALED.calls
    other.scale = x[1]
    total = own(x) + other(x) + SCALED(x)
    assert (own.calls, SCALED.calls) == (1, before + 1)
    assert type(SCALED) is Scaled
    return np.sum(total)


class Based(abc.ABC):
    @abc.abstractmethod
    def value(self, x): ...


class Virtual:
    pass


Based.register(Virtual)


class Buffers:
    """An object without methods."""

    def __init__(self, size):
        self.values, self.scale = np.zeros(size), np.array([1.0, 2.0, 3.0])


BUFFERS = Buffers(1)


@program
def buffers_of_an_object(x):
    made = Buffers(3)
    made.values[0] = x[0]
    made.values[1:] += x[1:]
    made.scale[1] = x[1] ** 2
    assert isinstance(BUFFERS, Buffers)
    assert type(BUFFERS) is type(made) is Buffers
    return np.sum(made.values * made.scale)


@functools.lru_cache
def cached(n):
    return np.arange(n) + 1.0


@functools.singledispatch
def dispatched(x):
    return np.sum(np.asarray(x)) * 0


@dispatched.register
def _(x: np.ndarray):
    return np.sum(np.asarray(x) ** 3)


Pair = collections.namedtuple("Pair", "a b")
TABLE = {"square": lambda x: np.sum(np.asarray(x) ** 2)}
LIST = [lambda x: np.sum(np.asarray(x) ** 2), np.asarray]


@program
def caches_and_tables(x):
    a = cached(3).copy()
    a[0] = x[0]
    return (
        np.sum(a * x)
        + dispatched(x)
        + TABLE["square"](x)
        + LIST[0](x)
        + np.sum(LIST[1](Pair(x, 1).a))
    )


@program
def names_on_the_way(x):
    import numpy as n
    from numpy import asarray as later

    class Local:
        start = np.zeros(3)

        def value(self):
            return np.sum(np.asarray(x)) + np.sum(self.start)

    scope = {"np": np, "x": x}
    exec("y = np.sum(np.asarray(x) ** 2)", scope)
    return n.sum(later(x)) + scope["y"] + Local().value() + globals()["squares"](x)[0]


@program
def arrays_of_the_module(x):
    a = deep_helper.SCALE * 2
    a[0] = x[0]
    b = deep_helper.SCALE.copy()
    b[1:] = x[1:]
    return np.sum(a * b) + np.ones(3).dot(np.asarray(x))


@program
def callables(x):
    return (
        np.sum(functools.partial(squares, x)())
        + np.sum(next(map(np.asarray, [x])))
        + sum(np.asarray(v) for v in (x[0], x[1]))
    )


def _parts(z):
    return z.real + 2 * z.imag


@program
def complex_numbers_of_python(x):
    names = (
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cosh",
        "log",
        "log10",
        "sqrt",
        "tan",
    )
    found = sum(
        _parts(getattr(cmath, name)(v + shift))
        for name in names
        for v in x
        for shift in (-1.0, 0.3j, -1 - 0.2j)
    )
    z = complex(x[0], x[1])
    assert cmath.isfinite(z)
    assert not cmath.isclose(z, 2 * z)
    size, angle = cmath.polar(z * complex(real=x[1], imag=0.5))
    return found + size + angle + _parts(complex(z, x[2]) ** 2) + _parts(cmath.rect(x[0], x[1]))


@program
def complex_results_of_real_numbers(x):
    names = ("arccos", "arcsin", "arctanh", "log", "log2", "log10", "sqrt")
    found = sum(_parts(getattr(np.emath, name)(x * sign)) for name in names for sign in (1, -1))
    return np.sum(
        found
        + _parts(np.emath.power(-x, 0.3))
        + _parts(np.emath.logn(3, -x))
        + np.emath.arcsin([x[0], -x[0]])[0]
    )


@program
def a_number_where_it_is_finite(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.divide(x[0], 2.0, where=True ^ np.isinf(x[0]))
    assert isinstance(y, float)
    return y**2


@program
def of_scipy(x):
    found = scipy.special.logsumexp(x) + np.sum(scipy.special.softmax(x) * np.arange(3))
    return (
        found
        + np.sum(scipy.stats.norm.logpdf(x, 0.2, 1.5))
        + np.sum(scipy.stats.gamma.cdf(x, 2.0))
        + scipy.stats.skew(x)
    )


TURN = scipy.spatial.transform.Rotation.from_euler("xyz", [0.3, 0.2, 0.1])
if importlib.util.find_spec("scipy.spatial.transform._rotation_xp"):  # from SciPy 1.17 on

    @program
    def rotations(x):
        turn = scipy.spatial.transform.Rotation.from_rotvec(x)
        return (
            np.sum((TURN * turn).apply([1.0, 2.0, 3.0]) + TURN.inv().apply(x) ** 2)
            + turn.magnitude()
        )


@program
def a_root(x):
    """Which SciPy finds in compiled code; with the derivatives of the implicit function."""
    return scipy.optimize.brentq(lambda t: math.exp(t) - x[0] - t * x[1] - 1, 0.1, 5.0) * x[2]


@each_engine
@pytest.mark.parametrize("f", PROGRAMS)
def test_program(f, backend):
    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    value, (found,) = value_and_gradient(deep(f), backend, X)
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


def halved(x):
    while np.sum(x**2) > 1:
        x = x / 2
    return np.sum(x)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x) if x[0] > 1 else np.sum(x**2),
        halved,
        lambda x: np.sum(x[x > 0]),
        lambda x: np.sum(x) * int(x[0]),
        lambda x: np.sum(x) * len(np.unique(x)),
    ],
    ids=["branch", "loop", "mask", "int", "size"],
)
def test_a_compiled_call_that_goes_on_by_numbers_is_the_engines_error(f, deep):
    f = numpy_function(f, deep=deep)
    with pytest.raises((jax.errors.JAXTypeError, jax.errors.JAXIndexError)) as caught:
        prepare(gradient, f, AutoJax(), X)(X)
    assert "AutoJax(jit=False)" in "".join(caught.value.__notes__)
    fast = prepare(gradient, f, AutoJax(jit=False), X)
    for x in X, X + 2:
        np.testing.assert_allclose(fast(x)[0], gradient(f, AutoAutograd(), x)[0])


COVARIANCES = {
    "multivariate_normal": lambda x, c: scipy.stats.multivariate_normal.logpdf(x, 0.3 * x[::-1], c),
    "multivariate_t": lambda x, c: scipy.stats.multivariate_t.logpdf(x, 0.3 * x[::-1], c, df=3.5),
    "matrix_normal": lambda x, c: scipy.stats.matrix_normal.logpdf(
        np.outer(x, x + 1), None, c, 2 * c
    ),
    "allow_singular": lambda x, c: scipy.stats.multivariate_normal.logpdf(
        x, None, c, allow_singular=True
    ),
    "entropy": lambda x, c: scipy.stats.multivariate_normal.entropy(None, c) * x[0],
}


@pytest.mark.parametrize("name", COVARIANCES)
def test_equal_eigenvalues_of_a_covariance(name):
    f = lambda x, c: COVARIANCES[name](x, (c + c.T) / 2)
    point = X, np.diag([1.0, 1.0, 2.0])
    wanted = gradient(f, AutoFiniteDifferences(), *point)
    direction = (np.ones(3), np.ones((3, 3)))
    curved = hvp(lambda args: f(*args), AutoFiniteDifferences(), point, direction)
    for backend in (*ENGINES.values(), AutoAutograd(mode="forward")):
        for found, by_differences in zip(gradient(deep(f), backend, *point), wanted):
            np.testing.assert_allclose(found, by_differences, rtol=1e-7, atol=1e-8)
    for found, by_differences in zip(
        hvp(deep(lambda args: f(*args)), AutoTorch(), point, direction), curved
    ):
        np.testing.assert_allclose(found, by_differences, rtol=1e-4, atol=1e-5)


# What stays as it is
# --------------------------------------------------------------------------------------------------


def test_objects_come_and_go_as_the_users_own():
    seen = []

    class Net:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            seen.append(self.w)
            return np.sum(np.asarray(x) * self.w)

    net = Net(2.0)
    f = deep(lambda net, x: net(x))
    np.testing.assert_allclose(gradient(f, AutoTorch(), Constant(net), X)[1], [2, 2, 2])
    assert seen == [2.0]
    result = deep(lambda net, x: (net, Model(x), x))(net, AutoTorchArray())
    assert result[0] is net
    assert type(result[1]) is Model


def AutoTorchArray():
    import torch

    return torch.tensor(X)


def test_nothing_is_changed_outside():
    before = {
        name: dict(vars(module))
        for name, module in (
            ("numpy", np),
            ("helper", deep_helper),
            ("math", math),
            ("special", scipy.special),
        )
    }
    subclasses = len(deep_helper.registry)
    state = {**layer.__dict__}
    gradient(deep(objects), AutoTorch(), X)
    after = {"numpy": np, "helper": deep_helper, "math": math, "special": scipy.special}
    for name, values in before.items():
        assert {
            key: value for key, value in vars(after[name]).items() if values.get(key) is not value
        } == {}
    assert len(deep_helper.registry) == subclasses
    assert type(layer) is Shifted
    assert layer.seen == state["seen"] + 1  # one state: what the copy counts is counted
    assert "__wrapped__" not in vars(squares)


def test_stiff_equations():
    """SciPy makes arrays whose shapes depend on the numbers of the engine."""

    def f(x):
        slope = lambda t, y: -np.array([x[0] * y[0], y[0] - x[1] * y[1]])
        solved = scipy.integrate.solve_ivp(
            slope, (0.0, 0.5), [1.0, x[2]], method="BDF", rtol=1e-6, atol=1e-9
        )
        return solved.y[0, -1]

    np.testing.assert_allclose(
        gradient(deep(f), AutoTorch(), X)[0], [-0.5 * math.exp(-0.5 * X[0]), 0, 0], atol=1e-4
    )


FORMS = {
    "copies of functions": lambda x: np.sum(
        copy.deepcopy({"f": np.exp})["f"](copy.copy(scipy.special.erf)(x))
    ),
    "a computed length": lambda x: (
        np.sum(np.reshape(x, (np.argmax(x) - 1, -1)) ** 2) + np.sum(np.resize(x, np.argmax(x)) ** 3)
    ),
    "computed lengths": lambda x: np.sum(
        np.tile(x, (np.argmax(x), 1)) ** 2 * np.broadcast_to(x, [np.argmax(x), 3])
    ),
    "casting": lambda x: np.sum(
        np.clip(x, 0.5, 2, casting="unsafe") * np.add(x, x, casting="unsafe")
    ),
    "casting of a method": lambda x: np.sum(x.clip(0.5, 2, casting="same_kind") ** 2),
    "comparisons of flat": lambda x: (
        np.sum(np.diag(x).flat[np.diag(x).flat != 0] ** 2) + np.sum(x[x.flat > 1])
    ),
    "complex": lambda x: (
        abs(complex(x[0], x[1])) ** 3 + abs(complex(x[1], 2.0)) + abs(complex(1.0, x[2]))
    ),
}


@each_engine
@pytest.mark.parametrize("name", FORMS)
def test_forms(name, backend):
    f = FORMS[name]
    wanted = gradient(f, AutoFiniteDifferences(method="central"), X)[0]
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], wanted, rtol=1e-6, atol=1e-8)


# What is refused
# ------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1

    def value_of(self, x):
        return np.sum(np.asarray(x))


REFUSED = {
    "compiled code": (
        lambda x: scipy.stats._stats._studentized_range_pdf_logconst(x[0], x[1]),
        (
            "numpy_function: scipy.stats._stats._studentized_range_pdf_logconst is compiled code,"
            " which takes plain NumPy arrays, and that would drop the gradient. adinterface.scipy"
            " and adinterface.rules have other solvers. Or write it with np, give it a derivative"
            " with adinterface.rules.differentiate_with, or use AutoFiniteDifferences()."
        ),
    ),
    "a method of an enumeration": (
        lambda x: Color.RED.value_of(x),
        (
            "numpy_function: this code makes a plain NumPy array of what is differentiated, which"
            " would drop its gradient."
        ),
    ),
    "masked arrays": (
        lambda x: np.ma.masked_greater(x, 0.5).sum(),
        ("which would drop its gradient."),
    ),
    "bytes": (
        lambda x: struct.unpack("d", struct.pack("d", x[0]))[0],
        "Compute what is constant before the call",
    ),
    "a compiled solver": (
        lambda x: scipy.integrate.odeint(lambda y, t: -x[0] * y, [1.0], [0.0, 1.0])[-1, 0],
        (
            "scipy.integrate._odepack.odeint is compiled code, which takes plain NumPy arrays, and"
            " that would drop the gradient."
        ),
    ),
    "nditer": (
        lambda x: sum(np.nditer(x)),
        "numpy_function: np.nditer does not take what is differentiated. Write a loop.",
    ),
    "a captured array": (
        lambda x: deep_helper.SCALE.__setitem__(0, x[0]),
        "writes what is differentiated into an array that f captures",
    ),
}


@each_engine
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, backend):
    f, message = REFUSED[case]
    with pytest.raises(NumpyCodeError, match=re.escape(message)):
        gradient(deep(f), backend, X)


@each_engine
def test_arrays_in_global_names_are_plain_after_the_call(backend, monkeypatch):
    monkeypatch.setattr(deep_helper, "table", None)
    for _ in range(2):
        assert gradient(deep(deep_helper.looked_up), backend, X)[0].tolist() == [5, 1, 2]
        assert type(deep_helper.table) is np.ndarray


@each_engine
def test_differentiated_numbers_in_global_names_are_plain_after_the_call(backend):
    f = lambda x: deep_helper.summed(x) * deep_helper.last + deep_helper.total
    (wanted,) = gradient(f, AutoFiniteDifferences(), X)
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], wanted, rtol=1e-7)
    assert type(deep_helper.last) is float
    assert (deep_helper.last, deep_helper.total) == pytest.approx((X[2], X @ X))


def test_a_compiled_call_does_not_know_the_number_for_a_global_name():
    with pytest.raises(
        NumpyCodeError,
        match=r"f assigns what is differentiated to a global name, and a compiled or batched",
    ):
        prepare(gradient, deep(deep_helper.summed), AutoJax(), X)(X)
    np.testing.assert_allclose(gradient(deep(deep_helper.summed), AutoJax(), X)[0], 2 * X)


def test_a_compiled_call_names_what_it_does_not_know():
    message = "brentq needs the numbers of its arguments, which a compiled call does not know yet"
    with pytest.raises(NumpyCodeError, match=message):
        jax.jit(lambda x: gradient(deep(a_root), AutoJax(), x)[0])(X)
