"""`check_neutral` names the line of f that is not portable, and what to write."""

import sys
from pathlib import Path

import numpy as np
import pytest

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    MissingEngineError,
    array_namespace,
)
from adinterface.tools import check_neutral

X = {"a": np.array([1.0, 2.0, 3.0]), "n": 2}
CAPTURED = np.array([1.0, 2.0, 3.0])


def neutral(x):
    xp = array_namespace(x["a"])
    return {
        "sum": xp.sum(xp.concat([x["a"], xp.sin(x["a"])])),
        "twice": [x["a"] * x["n"], 1.5],
        "none": None,
    }


def method(x):
    y = x["a"] * 2
    return y.sum()


def name_of_numpy(x):
    xp = array_namespace(x["a"])
    return xp.concatenate([x["a"], x["a"]])


def numpy_alone(x):
    return np.sum(np.sin(x["a"]))


def captured(x):
    xp = array_namespace(x["a"])
    return xp.sum(x["a"] * CAPTURED)


def list_of_indices(x):
    return x["a"][[0, 1]]


def python_number(x):
    xp = array_namespace(x["a"])
    if xp.sum(x["a"]) > 0:
        return float(xp.sum(x["a"]))
    return 0.0


def writing(x):
    xp = array_namespace(x["a"])
    y = xp.zeros(3)
    y[0] = x["a"][0]
    return y


def unknown_function(x):
    xp = array_namespace(x["a"])
    return xp.nanmedian(x["a"])


def test_what_is_neutral_runs_everywhere():
    found = check_neutral(neutral, X)
    assert found
    assert found.ok
    assert found.findings == ()
    assert [result.where for result in found.results] == [
        "array_api_strict",
        "AutoAutograd",
        "AutoJax",
        "AutoTorch",
    ]
    assert (
        repr(found)
        == "check_neutral(neutral): ok; runs on array_api_strict, AutoAutograd, AutoJax, AutoTorch"
    )


FAILS = {
    method: (
        "array_api_strict", "return y.sum()",
        "AttributeError: 'Array' object has no attribute 'sum'",
        "The standard has functions in place of methods: write xp.sum(x).",
    ),
    name_of_numpy: (
        "array_api_strict", 'return xp.concatenate([x["a"], x["a"]])',
        "AttributeError: module 'array_api_strict' has no attribute 'concatenate'",
        "The standard calls it xp.concat.",
    ),
    unknown_function: (
        "array_api_strict", 'return xp.nanmedian(x["a"])',
        "AttributeError: module 'array_api_strict' has no attribute 'nanmedian'",
        "The standard has no nanmedian.",
    ),
    numpy_alone: (
        "AutoTorch", 'return np.sum(np.sin(x["a"]))',
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "NumPy or SciPy was called on a tensor that is being differentiated. Write xp.sin(x) for np.sin(x)",
    ),
    captured: (
        "array_api_strict", 'return xp.sum(x["a"] * CAPTURED)',
        "TypeError: Expected Array or Python scalar; got <class 'numpy.ndarray'>", "",
    ),
    list_of_indices: (
        "AutoJax", 'return x["a"][[0, 1]]',
        "TypeError: Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` instead of "
        "`arr[seq]`. See https://github.com/jax-ml/jax/issues/4564 for more information.",
        "",
    ),
    python_number: (
        "AutoAutograd", 'return float(xp.sum(x["a"]))',
        "TypeError: float() argument must be a string or a real number, not 'Box'",
        "float(x) makes a Python number of an array that autograd follows, which would drop its gradient.",
    ),
    writing: (
        "AutoAutograd", 'y[0] = x["a"][0]', "ValueError: setting an array element with a sequence.",
        "autograd cannot differentiate item assignment. Build the array with xp.stack, xp.concat or xp.where",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings(
    "ignore:Converting a tensor with requires_grad=True to a scalar:UserWarning"
)
@pytest.mark.parametrize("f", FAILS, ids=lambda f: f.__name__)
def test_a_finding_names_the_line_and_the_remedy(f):
    where, source, message, hint = FAILS[f]
    found = check_neutral(f, X)
    assert not found
    (finding,) = [finding for finding in found.findings if finding.where == where]
    line = f.__code__.co_firstlineno + next(
        n
        for n, text in enumerate(
            Path(__file__).read_text().splitlines()[f.__code__.co_firstlineno :], 1
        )
        if source in text
    )
    assert (finding.status, finding.source, finding.message) == ("fails", source, message)
    assert finding.hint.startswith(hint)
    assert (Path(finding.file).name, finding.line) == ("test_neutral.py", line)
    assert (
        f"  {where}: fails at test_neutral.py:{line}: {source}\n    {message}"
        + f"\n    {hint}" * bool(hint)
        in repr(found)
    )
    assert repr(found).startswith(f"check_neutral({f.__name__}): fails; runs on ")


def test_other_numbers_than_numpys_are_a_finding():
    def f(x):
        return x * (2.0 if isinstance(x, np.ndarray) else 3.0)

    found = check_neutral(f, CAPTURED, backends=[AutoTorch()])
    assert [finding.status for finding in found.findings] == ["differs", "differs"]
    assert (
        repr(found) == "check_neutral(f): fails; runs on nothing\n"
        "  array_api_strict: differs\n    [3. 6. 9.] comes back, with NumPy [2. 4. 6.]\n"
        "  AutoTorch: differs\n    [3. 6. 9.] comes back, with NumPy [2. 4. 6.]"
    )


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x if isinstance(x, np.ndarray) else x[:2], "the shape is (2,), with NumPy (3,)"),
        (
            lambda x: [x] if isinstance(x, np.ndarray) else [x, x],
            "2 arrays come back, 1 with NumPy",
        ),
    ],
)
def test_another_shape_or_structure_is_a_finding(f, message):
    assert [finding.message for finding in check_neutral(f, CAPTURED, backends=[]).findings] == [
        message
    ]


def test_the_backends_can_be_chosen_and_must_be_backends():
    found = check_neutral(
        neutral, X, backends=[AutoAutograd(mode="forward"), AutoJax(), AutoFiniteDifferences()]
    )
    assert [result.where for result in found.results] == [
        "array_api_strict", "AutoAutograd(mode='forward')", "AutoJax", "AutoFiniteDifferences",
    ]  # fmt: skip


def test_without_array_api_strict(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    with pytest.raises(MissingEngineError) as caught:
        check_neutral(neutral, X)
    assert (
        str(caught.value)
        == "check_neutral needs array_api_strict, which is not installed: pip install"
        " array-api-strict"
    )
    assert caught.value.__suppress_context__


def test_small_numbers_and_precisions_are_compared():
    doubled = check_neutral(
        lambda x: x * 1e-9 * (1 if isinstance(x, np.ndarray) else 2),
        np.ones(3),
        backends=[AutoTorch()],
    )
    assert "[2.e-09 2.e-09 2.e-09] comes back, with NumPy [1.e-09 1.e-09 1.e-09]" in str(doubled)
    single = lambda x: (
        x if isinstance(x, np.ndarray) else array_namespace(x).astype(x, array_namespace(x).float32)
    )
    assert "an array of float32 comes back, with NumPy of float64" in str(
        check_neutral(single, np.ones(3), backends=[])
    )


def test_an_integer_argument_is_to_be_a_constant():
    f = lambda x, places: array_namespace(x).sum(array_namespace(x).take(x, places))
    assert "it is differentiated" not in str(
        check_neutral(f, np.ones(3), Constant(np.array([0, 1])), backends=[AutoTorch()])
    )
    told = str(check_neutral(f, np.ones(3), np.array([0, 1]), backends=[AutoTorch()]))
    assert "wrap it in Constant(...)" in told
