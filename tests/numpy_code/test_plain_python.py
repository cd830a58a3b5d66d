"""numpy_function(f, deep=True): what plain Python asks of numbers, keeps of them, and writes as text."""

import collections
import functools
import json
import math

import numpy as np
import pytest
import scipy.optimize

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    ClosedFormWarning,
    NumpyCodeError,
    gradient,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
X = np.array([1.4, 1.3, 2.2])


def deep(f):
    return numpy_function(f, deep=True)


# Questions ------------------------------------------------------------------------------------------------------------


def _case(x):
    match x:
        case np.ndarray():
            return 1
        case np.float64():
            return 2
        case float() | int():
            return 3
    return 4


def _has_shape(x):
    try:
        return x.shape == ()
    except AttributeError:
        return False


def questions(x):
    number, of_python, computed = x[0], float(x[0]), math.sin(x[1]) * 2.0
    values = [x, np.asarray(x[0]), np.zeros(3), number, np.sum(x), of_python, x[1].item(), computed, -computed]
    names = ["__len__", "__iter__", "__getitem__", "shape", "dtype", "size", "is_integer", "__array__", "_array", "__name__"]
    answers = [hasattr(value, name) for value in values for name in names]
    answers += [getattr(of_python, "shape", None) is None, getattr(number, "shape", None) == (), getattr(x, "mask", 0) == 0]
    answers += [_case(value) == n for value in values for n in range(1, 5)]
    answers += [_has_shape(value) for value in values]
    answers += [x.__class__ is np.ndarray, number.__class__ is np.float64, of_python.__class__ is float, type(x) is x.__class__]
    answers += [
        {np.ndarray: True}.get(x.__class__, False),
        issubclass(x.__class__, np.ndarray),
        x.__class__.__name__ == "ndarray",
    ]
    dtype = x.dtype
    answers += [x.dtype.type is np.float64, dtype.type is not np.float32, np.float64 is np.dtype(float).type]
    answers += [type(number) is np.float64, dtype.type in (np.float32, np.float64), number.is_integer()]
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
    with pytest.raises(AttributeError, match=r"^'float' object has no attribute 'shape'$"):
        gradient(deep(lambda x: float(x[0]).shape), AutoTorch(), X)
    with pytest.raises(AttributeError, match=r"^'numpy\.float64' object has no attribute 'detach'$"):
        gradient(deep(lambda x: x[0].detach()), AutoTorch(), X)


# Records of results ---------------------------------------------------------------------------------------------------


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
    np.testing.assert_allclose(found, [X[1] * cube_root / X[0] / 3, cube_root, 0.0], rtol=1e-7, atol=1e-12)


# What is looked up anew -----------------------------------------------------------------------------------------------


def _counting(function):
    @functools.wraps(function)
    def call(x):
        call.calls += 1
        return function(x)

    call.calls = 0
    return call


@each_engine
def test_attributes_of_a_function_are_those_of_the_function(backend):
    @_counting
    def model(x):
        model.seen += 1
        return np.sum(np.asarray(x) ** 2) * model.scale

    model.scale, model.seen = 1.0, 0
    f = deep(lambda x: model(x))
    np.testing.assert_allclose(gradient(f, backend, X)[0], 2 * X)
    model.scale = 5.0
    np.testing.assert_allclose(gradient(f, backend, X)[0], 10 * X)
    np.testing.assert_allclose(gradient(deep(lambda x: model(x)), backend, X)[0], 10 * X)
    assert (model.seen, model.calls) == (3, 3)


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
    monkeypatch.setattr(Doubled, "__call__", lambda self, x: np.sum(np.asarray(x)) * 7, raising=False)
    np.testing.assert_allclose(found(), 7 * np.ones(3))
    monkeypatch.delattr(Doubled, "__call__")
    monkeypatch.setattr(model, "value", lambda x: np.asarray(x)[0], raising=False)
    np.testing.assert_allclose(found(), [0.5, 0, 0])
    monkeypatch.undo()
    np.testing.assert_allclose(found(), 2 * np.ones(3))


def test_a_method_that_f_replaces(monkeypatch):
    monkeypatch.setattr(Power, "power", 2)

    def f(x):
        before = Doubled().value(x)
        Power.value = lambda self, x: np.sum(np.asarray(x) ** 3)
        return before + Doubled().value(x)

    monkeypatch.setattr(Power, "value", Power.value)  # so that it is put back
    np.testing.assert_allclose(gradient(deep(f), AutoTorch(), X)[0], 4 * X + 6 * X**2)


# Text -----------------------------------------------------------------------------------------------------------------


TEXTS = {
    "str": str,
    "repr": repr,
    "f-string": lambda v: f"{v} {v:.9f} {v!r}",
    "format": lambda v: format(v, ".9e") + "{:.9g} {}".format(v, v),  # noqa: UP032
    "percent": lambda v: "%.9f" % v + " %s" % v,  # noqa: UP031
    "percent of several": lambda v: "%.9f %r %d" % (v, float(v), v),  # noqa: UP031
    "in a list": lambda v: str([v, np.asarray(v), 1]),
    "json": lambda v: json.dumps({"a": [float(v), 1]}, indent=1),
}


@each_engine
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_that_of_plain_numpy(text, backend):
    found = []

    def f(x):
        found.append([text(v) for v in (x[0], x[1] * 1.23456789012, np.sum(x))])
        return x[0]

    f(X)
    gradient(deep(f), backend, X)
    assert found[0] == found[1]


@each_engine
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_as_a_key(text, backend):
    def f(x):
        memo = {}

        def cube(v):
            key = text(v)
            if key not in memo:
                memo[key] = v**3
            return memo[key]

        return cube(x[0]) + cube(x[1]) + cube(x[2])

    for x in (X, X + 1e-5, X[::-1].copy(), X):
        np.testing.assert_allclose(gradient(deep(f), backend, x)[0], 3 * x**2, rtol=1e-12)


READ_BACK = {
    "f-string": lambda x: float(f"{x[0]:.17g}") * x[1],
    "format": lambda x: float("{:.18f}".format(x[0])) * x[1],  # noqa: UP032
    "percent": lambda x: np.float64("%.12g" % x[0]) * x[1],  # noqa: UP031
    "percent, padded": lambda x: float("%+09.3f" % x[0]) * x[1],  # noqa: UP031
    "percent, upper case": lambda x: float("%+.3E" % x[0]) * x[1],  # noqa: UP031
    "str": lambda x: complex(str(float(x[0]))).real * x[1],
}


@each_engine
@pytest.mark.parametrize("case", READ_BACK)
def test_a_number_read_back_from_its_text_is_refused(case, backend):
    with pytest.raises(NumpyCodeError, match="reads a number that is differentiated back from its text"):
        gradient(deep(READ_BACK[case]), backend, X)
    both = gradient(deep(lambda x: float("0.25") * x[0] * len(str(x[1]))), backend, X)[0]
    np.testing.assert_allclose(both, [0.25 * len(str(X[1])), 0, 0])


@each_engine
def test_rounding_to_all_digits_has_the_derivative_of_its_argument(backend):
    f = lambda x: round(float(x[0]), 18) ** 2 + np.round(x, 12)[1] ** 2 + x.round(15)[2] ** 2 + np.round(x[0], 3)
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], 2 * X)


def test_text_of_an_unknown_number():
    """The text that debuggers show is another one each time."""
    texts = []

    def f(x):
        texts.append(repr(x[0]))
        texts.append(repr(x[0]))
        return x[0] if len(texts) < 4 else x[0] * len(str(x[1]))

    prepare(gradient, numpy_function(f), AutoJax(), X)(X)
    assert texts[0] != texts[1]
    with pytest.raises(
        NumpyCodeError, match=r"^numpy_function: str\(x\[1\]\) goes on by the numbers of what is differentiated"
    ):
        prepare(gradient, numpy_function(f), AutoJax(), X)(X)


def test_print_shows_unknown_numbers(capsys):
    def f(x):
        print("x is", x[0])
        return x[0] ** 2

    assert gradient(deep(f), AutoTorch(), X)[0][0] == 2 * X[0]
    assert capsys.readouterr().out == "x is 1.4\n"
    fast = prepare(gradient, deep(f), AutoJax(), X)
    assert fast(X)[0][0] == fast(X)[0][0] == 2 * X[0]
    assert "Tracer" in capsys.readouterr().out


# What outlives the call -----------------------------------------------------------------------------------------------


class Trainer:
    best = None

    def __init__(self):
        self.history, self.rows, self.recent, self.table = [], [], collections.deque(maxlen=2), {}

    def loss(self, x):
        found = np.sum(np.asarray(x) ** 2)
        self.history.append(float(found))
        self.rows.append((len(self.rows), found.item(), {"x": x}))
        self.recent.append(found)
        self.table.setdefault("losses", []).append(Entry(float(found)))
        self.buffer = np.zeros(2)
        type(self).best = complex(found)
        return found


class Entry:
    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def doubled(self):
        return Entry(2 * self.number)


@each_engine
def test_what_f_keeps_are_numbers(backend):
    trainer = Trainer()
    wanted = np.sum(X**2)
    for f in (deep(trainer.loss), deep(lambda x: trainer.loss(x))):
        for _ in range(120):  # more than short lists have
            np.testing.assert_allclose(gradient(f, backend, X)[0], 2 * X)
    assert [type(loss) for loss in trainer.history] == [float] * 240
    assert json.loads(json.dumps(trainer.history)) == [pytest.approx(wanted)] * 240
    step, loss, kept = trainer.rows[-1]
    assert (step, type(loss), type(kept["x"])) == (239, float, np.ndarray)
    assert [type(loss) for loss in trainer.recent] == [np.float64] * 2
    assert type(trainer.table["losses"][-1].number) is float
    assert (type(trainer.buffer), type(Trainer.best)) == (np.ndarray, complex)


@each_engine
def test_variables_of_closures_attributes_of_functions_and_slots(backend):
    best, table, entry = None, {}, Entry(1.0)

    def f(x):
        nonlocal best
        best = float(x[0])
        f.last = x[1].item()
        entry.number = float(x[2])
        table["entry"] = entry.doubled()
        return best * f.last * entry.number

    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], np.prod(X) / X)
    assert [best, f.last, entry.number] == [1.4, 1.3, 2.2]
    assert {type(best), type(f.last), type(entry.number), type(table["entry"].number)} == {float}


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


@each_engine
def test_a_derivative_inside_f_keeps_what_f_goes_on_with(backend):
    """The number is replaced when the outermost call ends."""

    def f(x):
        kept = []

        def inner(y):
            kept.append(np.sum(x * y**2))
            return kept[-1]

        (slope,) = gradient(numpy_function(inner, deep=True), backend, x)
        return np.sum(slope) + np.sum(x) * 3

    wanted = gradient(lambda x: np.sum(2 * x**2) + np.sum(x) * 3, AutoFiniteDifferences(), X)[0]
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], wanted, rtol=1e-6)


def test_a_compiled_call_keeps_no_numbers():
    losses = []

    def f(x):
        losses.append(float(np.sum(x)))
        return losses[-1] ** 2

    fast = prepare(gradient, deep(f), AutoJax(), X)
    with pytest.raises(
        NumpyCodeError, match=r"^numpy_function: f keeps what it computes in \d+ of the list, which outlives the"
    ):
        fast(X)
    losses.clear()
    np.testing.assert_allclose(prepare(gradient, deep(f), AutoTorch(), X)(X)[0], 2 * np.sum(X))
    assert losses == [np.sum(X)]


@each_engine
@pytest.mark.parametrize("method", ["Nelder-Mead", "golden"])
def test_a_minimum_by_comparisons_is_told(method, backend):
    def f(x):
        if method == "golden":
            return scipy.optimize.minimize_scalar(lambda t: (t - x[0]) ** 2, bracket=(0.0, 1.1, 5.0), method="golden").x * x[1]
        return scipy.optimize.minimize(lambda t: (t[0] - x[0]) ** 2, np.zeros(1), method="Nelder-Mead").x[0] * x[1]

    with pytest.warns(ClosedFormWarning, match=r"finds a minimum by comparisons alone.*adinterface\.rules\.root"):
        found = gradient(deep(f), backend, X)[0]
    np.testing.assert_allclose(found, [0, X[0], 0], atol=1e-3)
    plain = scipy.optimize.minimize(lambda t: (t[0] - 1.0) ** 2, np.zeros(1), method="Nelder-Mead").x[0]
    f = deep(lambda x: scipy.optimize.minimize(lambda t: (t[0] - 1.0) ** 2, np.zeros(1), method="Nelder-Mead").x[0] * x[0])
    np.testing.assert_allclose(gradient(f, backend, X)[0][0], plain)


def test_a_number_that_a_compiled_call_left_is_refused_where_it_is_used():
    class Model:
        def __call__(self, x):
            self.last = np.sum(x**2)
            return self.last

    model = Model()
    fast = prepare(gradient, deep(lambda x: model(x)), AutoJax(), X)
    np.testing.assert_allclose(fast(X)[0], 2 * X)
    for use in (float, lambda number: number + 1, lambda number: 2 * number, bool, np.asarray):
        with pytest.raises(NumpyCodeError, match=r"^numpy_function: f keeps what it computes in 'last' of the .*Model,"):
            use(model.last)
    gradient(deep(lambda x: model(x)), AutoJax(), X)
    assert model.last == pytest.approx(np.sum(X**2))


class Labelled(np.ndarray):
    def __new__(cls, array, label):
        made = np.asarray(array).view(cls)
        made.label = label
        return made

    def __array_finalize__(self, source):
        self.label = getattr(source, "label", None)


last = None


@each_engine
def test_objects_that_hold_what_f_computes_are_kept_with_numbers(backend):
    """Also those that f has read again, subclasses of ndarray, and splines."""

    class Box:
        single = None

        def __init__(self, value):
            self.value = value

    class Model:
        def loss(self, x):
            global last
            self.box = Box(x * 2)
            Box.single = self.box
            self.record = scipy.optimize.root_scalar(lambda t: t**3 - x[0], bracket=[0, 5])
            self.parts = [Labelled(x, "part")]
            self.spline = scipy.interpolate.CubicSpline(np.arange(3.0), x)
            last = Labelled(x[1:], "last")
            return np.sum(self.box.value) + self.record.root**3 + np.sum(self.parts[0]) + self.spline(1.0)

    model = Model()
    for _ in range(2):
        np.testing.assert_allclose(gradient(deep(model.loss), backend, X)[0], [4, 4, 3], rtol=1e-6)
        assert (type(model.box.value), type(Box.single.value)) == (np.ndarray, np.ndarray)
        assert isinstance(model.record.root, float)
        assert (type(model.parts[0]), model.parts[0].label) == (Labelled, "part")
        assert (type(last), last.label, last.tolist()) == (Labelled, "last", X[1:].tolist())
        assert float(model.spline(1.0)) == pytest.approx(X[1])


@each_engine
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_cache_by_text_outlives_no_call(text, backend):
    memo = {"start": 1.0}

    def cube(v):
        key = 3, text(v)
        if key not in memo:
            memo[key] = v**3
        return memo[key]

    f = lambda x: cube(x[0]) + cube(x[1]) * memo["start"]
    for _ in range(2):
        np.testing.assert_allclose(gradient(deep(f), backend, X)[0], [*(3 * X[:2] ** 2), 0])
        assert memo == {"start": 1.0}
    f(X)
    with pytest.raises(NumpyCodeError, match=r"^numpy_function: f has a dict .* from before this call.* Empty the dict before"):
        gradient(deep(f), backend, X)


@each_engine
def test_containers_with_functions_are_read_anew(backend):
    table, steps = {"f": np.asarray, "scale": 1.0}, [np.asarray, 1.0]

    def scaled(x):
        table["last"] = table["f"](x) * table["scale"]
        return table["last"]

    f = lambda x: np.sum(scaled(x)) + steps[1] * np.sum(table["last"])
    for scale in (1.0, 2.0):
        table["scale"] = steps[1] = scale
        np.testing.assert_allclose(gradient(deep(f), backend, X)[0], np.full(3, scale + scale**2))
        assert type(table["last"]) is np.ndarray
