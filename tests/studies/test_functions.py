"""Every function of the Array API standard on every engine: its value, both modes, second order.

And the checks' teeth.
"""

import re
from pathlib import Path

import array_api_strict
import numpy as np
import pytest
from adinterface_conformance.use import Use
from adinterface_conformance.uses import USES
from adinterface_studies.functions import table
from adinterface_studies.functions.checks import Wrong, judge, modes_of, reference
from adinterface_studies.functions.numpy_code import USES as NUMPY_CODE
from adinterface_studies.functions.numpy_code import is_there, name_of
from backends_table import BACKENDS

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch, array_namespace

NAMES = sorted({use.name for use in USES})
each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)


def standard():
    """Every public function of array_api_strict, by its dotted name."""
    names = {name for name in array_api_strict.__all__ if callable(getattr(array_api_strict, name))}
    names -= {"isin", "broadcast_shapes"}  # of the next version
    names -= {name for name in names if isinstance(getattr(array_api_strict, name), type)}
    for extension in ("linalg", "fft"):
        names |= {f"{extension}.{name}" for name in getattr(array_api_strict, extension).__all__}
    dtypes = {
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
    }
    return names - dtypes - {"complex64", "complex128", "e", "pi", "inf", "nan", "newaxis"} - {
        "set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
        "ArrayAPIStrictFlags", "Device", "DType", "__array_namespace_info__",
    }  # fmt: skip


def test_every_function_of_the_standard_is_used():
    assert standard() - set(NAMES) == set()
    assert len(standard()) >= 170


@each_backend
def test_every_namespace_has_every_name(backend):
    missing = []

    def f(x):
        xp = array_namespace(x)
        for name in [
            *standard(),
            "einsum",
            "e",
            "pi",
            "inf",
            "nan",
            "newaxis",
            "float32",
            "complex128",
            "int64",
            "bool",
        ]:
            part, _, rest = name.rpartition(".")
            if not hasattr(getattr(xp, part) if part else xp, rest):
                missing.append(name)
        return xp.sum(x)

    from adinterface import gradient

    gradient(f, backend, np.ones(2))
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
@each_backend
def test_function(name, backend):
    uses, modes = (
        [use for use in USES if use.name == name],
        ("value", "reverse", "forward", "second order"),
    )
    # compiles each operation of each use: a quarter of an hour, which the command takes
    if isinstance(backend, AutoJax):
        uses, modes = uses[:1], ("value", "prepared")
    outcomes = table.run(uses, backend, modes=modes)
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    assert outcomes


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
def test_no_known_failure_has_become_right(backend):
    keys = {known.scenario for known in table.find(backend).known_failures}
    uses = [use for use in USES if any(table.fnmatchcase(use.key, key) for key in keys)]
    assert table.unexpected(table.run(uses, backend), backend) == []


# The checks have teeth
# -----------------------------------------------------------------------------------------------

X = np.array([0.4, 1.3, 2.2])


def traced(x):
    return type(x) is not np.ndarray


WRONG = {
    "a factor": (lambda xp, x: x**2 * (1.01 if traced(x) else 1.0), "value"),
    "the shape": (lambda xp, x: xp.reshape(x, (3, 1) if traced(x) else (3,)) * 1, "value"),
    "the dtype": (lambda xp, x: xp.astype(x, xp.float64) if traced(x) else x, "value"),
    "a lost gradient": (
        lambda xp, x: x * xp.asarray(np.asarray(x.detach()) if hasattr(x, "detach") else x),
        "reverse",
    ),
    "a flat function that is not": (
        lambda xp, x: xp.floor(x) + (x * 1e-3 - (x * 1e-3).detach() if traced(x) else 0),
        "reverse",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_called_wrong(what):
    f, mode = WRONG[what]
    use = Use("mine", f, (X,), "flat" if "flat" in what else "smooth")
    with pytest.raises(Wrong):
        judge(use, AutoTorch(), mode)


def test_a_wrong_second_derivative_is_called_wrong():
    def f(xp, x):
        return x**2 + x.detach() ** 3 * (x - x.detach()) if traced(x) else x**2

    use = Use("mine", f, (X,), "smooth")
    with pytest.raises(Wrong, match="by argument 0"):
        judge(use, AutoTorch(), "reverse")
    with pytest.raises(Wrong, match="the product of the Hessian is"):
        judge(
            Use("mine", lambda xp, x: x.detach() * x if traced(x) else x * x / 2, (X,), "smooth"),
            AutoTorch(),
            "second order",
        )


def test_a_reference_at_a_kink_is_refused():
    with pytest.raises(ValueError, match="choose another point"):
        reference(Use("abs", lambda xp, x: xp.abs(x), (np.full(2, 0.003),), "smooth"))


def test_modes_of_a_function():
    smooth, discrete = (Use("f", lambda xp, x: x, (X,), kind) for kind in ("smooth", "discrete"))
    assert modes_of(smooth, AutoTorch()) == (
        "value",
        "reverse",
        "forward",
        "second order",
        "prepared",
    )
    assert modes_of(smooth, AutoFiniteDifferences()) == ("value", "reverse", "prepared")
    assert modes_of(discrete, AutoTorch()) == ("value",)


def test_the_table_in_words():
    right = Use("good", lambda xp, x: x * 2, (X,), "smooth")
    bad = Use("x[::-1]", lambda xp, x: x[::-1], (X,), "smooth")
    refused = Use("bad", lambda xp, x: xp.nothing(x), (X,), "smooth")
    outcomes = table.run([right, bad, refused], AutoTorch(), modes=("value", "reverse"))
    assert [outcome.status for outcome in outcomes] == [
        "right",
        "right",
        "known",
        "known",
        "refused",
        "refused",
    ]
    assert table.markdown(outcomes).splitlines() == [
        "| function | AutoTorch |",
        "| --- | --- |",
        "| `good` | ✓ |",
        "| `x[::-1]` | known (1) |",
        "| `bad` | refused |",
        "",
        (
            "1. torch refuses slices with a negative step; write xp.flip(x, axis=...), or x[::-1]"
            " inside numpy_function ([upstream](https://github.com/pytorch/pytorch/issues/59786))"
        ),
    ]


# NumPy's functions
# ------------------------------------------------------------------------------------------------


def test_the_table_of_numpy_has_what_people_use():
    names = {use.name for use in NUMPY_CODE}
    assert len(names) >= 300
    listed = """
        np.sin np.arctan2 np.where np.clip np.sum np.prod np.mean np.std np.var np.max np.median np.percentile np.quantile
        np.cumsum np.cumprod np.diff np.gradient np.trapezoid np.interp np.convolve np.correlate np.cov np.corrcoef
        np.reshape np.transpose np.moveaxis np.concatenate np.stack np.split np.pad np.roll np.tile np.repeat np.take
        np.take_along_axis np.sort np.argsort np.searchsorted np.unique np.dot np.matmul np.tensordot np.einsum np.kron
        np.cross np.outer np.linalg.solve np.linalg.inv np.linalg.det np.linalg.slogdet np.linalg.cholesky np.linalg.qr
        np.linalg.svd np.linalg.eigh np.linalg.pinv np.linalg.lstsq np.linalg.norm np.linalg.matrix_power np.fft.fft
        np.fft.ifft np.fft.rfft np.fft.irfft np.fft.fft2 np.fft.fftn np.polyval np.polyfit np.polyder np.polyint
        np.vander np.linspace np.meshgrid np.histogram special.erf special.gammaln special.xlogy special.ndtr
    """.split()  # noqa: SIM905
    assert set(listed) - names == {"np.histogram"}  # which is refused: see test_numpy_errors.py


def test_names_of_expressions():
    named = {
        "np.abs(np.fft.fft(x))": "np.fft.fft", "np.nansum(np.where(b, x, np.nan))": "np.nansum",
        "x.sum(axis=0)": "x.sum()", "np.add.reduce(m)": "np.add.reduce", "x[1:]": "x[index]",
        "m.T": "x.T", "x ** 2": "x ** y", "-x": "-x", "x > 0": "x > y", "sum(x)": "Python's sum",
        "[a for a in m][1]": "x[index]", "special.erf(x)": "special.erf",
    }  # fmt: skip
    assert {expression: name_of(expression) for expression in named} == named
    with pytest.raises(ValueError, match=r"No function in 'x'\."):
        name_of("x")


def test_the_documentation_has_every_row():
    page = (Path(__file__).parents[2] / "docs" / "tables" / "numpy.md").read_text()
    rows = re.findall(r"^\| `(.*?)` \|(.*)$", page, re.M)
    names, listed = (
        list(dict.fromkeys(use.name for use in NUMPY_CODE)),
        [row[0].replace("\\|", "|") for row in rows],
    )
    assert [name for name in listed if name in names] == names
    # an older NumPy has fewer
    assert [name for name in listed if name not in names and is_there(name)] == []
    assert not re.search("wrong|refused", page)
    for column in range(4):
        right = [row[1].split("|")[column].strip() == "✓" for row in rows]
        assert sum(right) / len(rows) >= 0.95
