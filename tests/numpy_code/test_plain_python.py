"""numpy_function(f, deep=True): what plain Python asks of numbers, keeps of them, and writes as
text.
"""

import json
import math
import re

import numpy as np
import pytest
import scipy.optimize
from backends_table import each_engine

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    NumpyCodeError,
    gradient,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)

X = np.array([1.4, 1.3, 2.2])


def deep(f):
    return numpy_function(f, deep=True)


# Questions
# ------------------------------------------------------------------------------------------------


def questions(x):
    number, of_python, computed = x[0], float(x[0]), math.sin(x[1]) * 2.0
    values = [
        x,
        np.asarray(x[0]),
        np.zeros(3),
        number,
        np.sum(x),
        of_python,
        x[1].item(),
        computed,
        -computed,
    ]
    names = [
        "__len__",
        "__iter__",
        "__getitem__",
        "shape",
        "dtype",
        "size",
        "is_integer",
        "__array__",
        "native",
        "__name__",
    ]
    answers = [hasattr(value, name) for value in values for name in names]
    answers += [
        getattr(of_python, "shape", None) is None,
        getattr(number, "shape", None) == (),
        getattr(x, "mask", 0) == 0,
    ]
    dtype = x.dtype
    answers += [
        x.dtype.type == np.float64,
        type(number) is np.float64,
        dtype.type in (np.float32, np.float64),
        number.is_integer(),
    ]
    return answers


def by_answers(x):
    return sum(x[0] ** (2 + bool(answer)) * (n + 1) for n, answer in enumerate(questions(x)))


@each_engine
def test_questions_get_the_answers_of_plain_numpy(backend):
    wanted = gradient(by_answers, AutoFiniteDifferences(), X)[0]
    value, (found,) = value_and_gradient(deep(by_answers), backend, X)
    assert value == pytest.approx(by_answers(X), rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_an_attribute_of_another_class_is_missing():
    with pytest.raises(
        AttributeError, match=r"^'numpy\.float64' object has no attribute 'detach'$"
    ):
        gradient(deep(lambda x: x[0].detach()), AutoTorch(), X)


# Records of results
# ------------------------------------------------------------------------------------------------


ROOTS = {
    "root_scalar": lambda f: scipy.optimize.root_scalar(f, bracket=[0, 3]).root,
    "toms748": lambda f: scipy.optimize.root_scalar(f, bracket=[0, 3], method="toms748")["root"],
    "newton": lambda f: scipy.optimize.root_scalar(f, x0=1.0, x1=1.5).root,
    "brentq": lambda f: scipy.optimize.brentq(f, 0, 3, full_output=True)[1].root,
    "bisect": lambda f: scipy.optimize.bisect(f, 0, 3, full_output=True)[0],
}


@each_engine
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
def test_the_root_in_a_record_has_its_derivative(root, backend):
    f = deep(lambda x: x[1] * root(lambda t: t**3 - x[0]))
    cube_root = X[0] ** (1 / 3)
    (found,) = gradient(f, backend, X)
    np.testing.assert_allclose(
        found, [X[1] * cube_root / X[0] / 3, cube_root, 0.0], rtol=1e-7, atol=1e-12
    )


# What is looked up anew
# -----------------------------------------------------------------------------------------------


class Power:
    power = 1

    def value(self, x):
        return np.sum(np.asarray(x) ** self.power)

    @property
    def factor(self):
        return 1.0

    def __call__(self, x):
        return self.value(x) * self.factor


class Doubled(Power):
    def value(self, x):
        return 2 * super().value(x)


@each_engine
def test_methods_that_are_replaced(backend, monkeypatch):
    model = Doubled()

    def found():
        return gradient(deep(lambda x: model(x)), backend, X)[0]

    np.testing.assert_allclose(found(), 2 * np.ones(3))
    monkeypatch.setattr(Power, "power", 2)
    np.testing.assert_allclose(found(), 4 * X)
    monkeypatch.setattr(Power, "value", lambda self, x: np.sum(np.asarray(x) ** 3))
    np.testing.assert_allclose(found(), 6 * X**2)
    monkeypatch.setattr(Power, "factor", property(lambda self: 0.5))
    np.testing.assert_allclose(found(), 3 * X**2)
    monkeypatch.setattr(
        Doubled, "__call__", lambda self, x: np.sum(np.asarray(x)) * 7, raising=False
    )
    np.testing.assert_allclose(found(), 7 * np.ones(3))
    monkeypatch.delattr(Doubled, "__call__")
    monkeypatch.setattr(model, "value", lambda x: np.asarray(x)[0], raising=False)
    np.testing.assert_allclose(found(), [0.5, 0, 0])
    monkeypatch.undo()
    np.testing.assert_allclose(found(), 2 * np.ones(3))


# Text
# ------------------------------------------------------------------------------------------------


TEXTS = {
    "str": str,
    "repr": repr,
    "f-string": lambda v: f"{v:.9f}",
    "percent": lambda v: "%.9f" % v,  # noqa: UP031
    "in a list": lambda v: str([v, np.asarray(v), 1]),
    "json": lambda v: json.dumps({"a": [float(v), 1]}, indent=1),
}


@each_engine
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_of_what_is_differentiated_is_refused(text, backend):
    """It may be a key, or be read back."""
    f = lambda x: x[0] * (1 + 0 * len(text(x[1])))
    with pytest.raises(NumpyCodeError, match=r"makes (text|a Python number)|needs plain"):
        gradient(deep(f), backend, X)


@each_engine
def test_print_and_text_of_integers(backend, capsys):
    def f(x):
        assert f"{np.argmax(x)} {np.argmax(x):03d} {[np.argmax(x)]}" == "2 002 [np.int64(2)]"
        print(x[0], float(x[1]), x)
        return x[0]

    gradient(deep(f), backend, X)
    assert capsys.readouterr().out == "1.4 1.3 [1.4 1.3 2.2]\n"


@each_engine
def test_rounding_to_all_digits_has_the_derivative_of_its_argument(backend):
    f = lambda x: (
        round(float(x[0]), 18) ** 2
        + np.round(x, 12)[1] ** 2
        + x.round(15)[2] ** 2
        + np.round(x[0], 3)
    )
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], 2 * X)


# What outlives the call
# -----------------------------------------------------------------------------------------------


@each_engine
def test_what_f_returns_stays_followed(backend):
    class Model:
        def __init__(self, x):
            self.x, self.parts = x, []
            self.parts.append(x**2)

        def sums(self):
            return {"loss": np.sum(self.parts[0]), "parts": self.parts}

    values, found = value_and_gradient(deep(lambda x: Model(x).sums()), backend, X)
    np.testing.assert_allclose(found[0], 2 * X)
    np.testing.assert_allclose(values["parts"][0], X**2)
    found = jacobian(deep(lambda x: Model(x).sums()["parts"]), backend, X)
    np.testing.assert_allclose(found[0][0], np.diag(2 * X))


class Fit:
    def __init__(self):
        self.losses, self.last = [], None

    def loss(self, x):
        self.last = np.asarray(x) ** 2
        return np.sum(self.last)

    def recorded(self, x):
        self.losses.append(float(self.loss(x)))
        return self.losses[-1]


@each_engine
def test_what_f_keeps_in_an_object_are_numbers_after_the_call(backend):
    fit = Fit()
    for _ in range(2):
        np.testing.assert_allclose(gradient(deep(fit.recorded), backend, X)[0], 2 * X)
    assert type(fit.last) is np.ndarray
    assert list(map(type, fit.losses)) == [float, float]


def test_what_a_compiled_call_keeps_is_refused():
    fit = Fit()
    with pytest.raises(NumpyCodeError, match="f keeps what it computes in an object"):
        prepare(gradient, deep(fit.recorded), AutoJax(), X)(X)
    fast = prepare(gradient, deep(fit.loss), AutoJax(), X)
    np.testing.assert_allclose(fast(X)[0], 2 * X)
    with pytest.raises(NumpyCodeError, match="f keeps what it computes in an object"):
        fit.last + 1
    np.testing.assert_allclose(fast(2 * X)[0], 4 * X)


# Numbers
# ------------------------------------------------------------------------------------------------


@each_engine
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: math.log(x[0]), ValueError),
        (lambda x: math.exp(-1e4 * x[0]), OverflowError),
        (lambda x: 1 / float(x[1]), ZeroDivisionError),
        (lambda x: divmod(float(x[0]), x[1].item()), ZeroDivisionError),
        (lambda x: math.sqrt(x), TypeError),
    ],
)
def test_an_error_of_python_comes_out(f, error, backend):
    x = np.array([-2.0, 0.0])
    with pytest.raises(error) as plain, np.errstate(all="ignore"):
        f(x)
    with pytest.raises(error, match=re.escape(str(plain.value))), np.errstate(all="ignore"):
        gradient(deep(f), backend, x)


def elements(x):
    row = x.reshape(1, 2)
    assert type(x.item(0)) is float
    assert type(np.sum(x).item()) is type(float(np.sum(x))) is float
    assert isinstance(np.argmax(x).item(), int)
    a, (b, c) = x[0].item(), x.tolist()
    found = (
        (row @ np.array([[1.0, 2.0], [3.0, 4.0]]) @ row.T).item()
        + x.item(1) * a
        + row.item(0, 1)
        + row.item((0, 0)) * 2
    )
    return found * np.argmax(x).item() + b * c + math.sin(row.tolist()[0][1])


@each_engine
def test_an_element_as_a_number(backend):
    value, (found,) = value_and_gradient(deep(elements), backend, X[:2])
    assert value == pytest.approx(elements(X[:2]), rel=1e-12)
    np.testing.assert_allclose(
        found, gradient(elements, AutoFiniteDifferences(), X[:2])[0], rtol=1e-6
    )


@each_engine
@pytest.mark.parametrize("convert", [lambda x: x.item(), float])
def test_an_array_is_no_number(backend, convert):
    with pytest.raises((ValueError, TypeError)):
        gradient(deep(convert), backend, X)
