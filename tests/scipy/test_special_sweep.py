"""Special functions over their whole domain, against mpmath: a quick choice of points of what the
command looks at in full.
"""

import numpy as np
import pytest
import scipy.special as special
from adinterface_studies.functions import sweep
from adinterface_studies.functions.exact import FUNCTIONS
from backends_table import ENGINES, each_engine

from adinterface import (
    AutoJax,
    Constant,
    NumpyCodeError,
    gradient,
    numpy_function,
    value_and_gradient,
)

# Each is a program to compile: all are what the command is for.
ON_JAX = [
    "np.logaddexp",
    "special.betaln",
    "special.erfcx",
    "special.i0e",
    "special.log_ndtr",
    "special.psi",
    "special.rgamma",
]
#: Points of one function, of each of its ways one: at others the exact numbers take mpmath seconds
#: each.
CHOSEN = {
    "special.hyp2f1": [
        (-2.0, -2.0, -7.3, -7.2), (-2.0, -0.5, 0.3, 0.9), (0.0, -2.0, 6.0, -1.0),
        (0.0, 1.0, 31.2, 0.2), (2.5, 0.3, 1.0, 0.55), (2.5, 0.3, 6.0, -0.6), (0.3, 2.5, 1.0, -2.0),
        (6.0, 31.2, -2.0, 0.9999),
    ],
}  # fmt: skip
CASES = [(name, engine) for name in FUNCTIONS for engine in ("torch", "autograd")] + [
    (name, "jax") for name in ON_JAX
]


@pytest.mark.parametrize(("name", "engine"), CASES)
def test_values_and_derivatives_are_right_or_refused(name, engine, monkeypatch):
    backend = ENGINES[engine]
    if name in CHOSEN:
        monkeypatch.setattr(
            sweep,
            "points",
            lambda name, axes, limit: [np.array(column) for column in zip(*CHOSEN[name])],
        )
    if not sweep.offered(name, backend):
        with pytest.raises(NumpyCodeError, match="does not work on"):
            gradient(
                numpy_function(sweep.numpy_code(name)),
                backend,
                *[np.array(0.3)] * len(FUNCTIONS[name].axes),
            )
        return
    for dtype, count in (("float64", 10), ("float32", 6)):
        findings = sweep.sweep(name, backend, count, dtype)
        assert [str(finding) for finding in findings if finding.wrong] == []
        assert findings[0].right > 0


def test_points_whose_square_a_dtype_does_not_hold_are_left_out():
    columns = [np.array([0.0, 1e-150, 1e-30, 1.5, 1e30]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])]
    assert [column.tolist() for column in sweep.rounded(columns, "float32")] == [
        [0.0, 1.5], [1.0, 4.0],
    ]  # fmt: skip
    assert sweep.rounded(columns, "float64")[0].tolist() == columns[0].tolist()


# What was wrong once, at the points where it was found
# ----------------------------------------------------------------


WRONG_ONCE = [
    ("special.ndtr", (-9.0,)),
    ("special.log_ndtr", (7.7,)),
    ("special.psi", (-22.3,)),
    ("special.beta", (117.6, 57.0)),
    ("special.betaln", (0.5, 12.0)),
    ("special.binom", (180.0, 3.0)),
    ("special.binom", (12.0, -3.0)),
    ("special.poch", (180.0, 1.0)),
    ("special.rgamma", (-2.0,)),
    ("special.erfcx", (3.3e7,)),
    ("special.boxcox", (1.7, 1e-9)),
    ("special.inv_boxcox", (0.3, -1e-9)),
    ("special.rel_entr", (1e50, 1e50)),
    ("special.xlogy", (0.0, 1.7)),
    ("np.sinc", (1e-12,)),
    ("np.i0", (1e-7,)),
    ("np.fmod", (0.0, 11.3)),
    ("special.kl_div", (1.0, 1.000001)),
    ("special.pseudo_huber", (1e150, 1e150)),
    ("special.betainc", (1e-6, 20000.0, 1e-9)),
    ("special.hyp2f1", (6.0, 0.0, 1.0, -80.3)),
]
# JAX compiles each of their many steps by itself, so it has one of a kind.
ONCE_ON_JAX = {
    ("special.log_ndtr", (7.7,)),
    ("special.psi", (-22.3,)),
    ("special.binom", (180.0, 3.0)),
    ("np.i0", (1e-7,)),
}


@pytest.mark.parametrize(
    ("name", "args", "engine"),
    [
        (*case, engine)
        for case in WRONG_ONCE
        for engine in ENGINES
        if engine != "jax" or case in ONCE_ON_JAX
    ],
)
def test_what_was_wrong_once(name, args, engine):
    backend = ENGINES[engine]
    value, slopes = value_and_gradient(numpy_function(sweep.numpy_code(name)), backend, *args)
    wanted, *derivatives = sweep.references(name, args)
    assert sweep.error(value, wanted) < sweep.TOLERANCE
    assert [
        sweep.error(slope, derivative) < sweep.TOLERANCE
        for slope, derivative in zip(slopes, derivatives)
    ] == [True] * len(args)


@each_engine
@pytest.mark.parametrize(
    ("f", "args", "domain"),
    [
        (
            special.beta,
            (-3.3, 2.0),
            r"scipy.special.beta has a derivative here for a \+ b > 0 alone",
        ),
        (
            special.betaln,
            (-3.3, 2.0),
            r"scipy.special.betaln has a derivative here for a \+ b > 0 alone",
        ),
        (special.binom, (-2.5, 2.0), "scipy.special.binom has a derivative here for n > -1 alone"),
        (
            special.poch,
            (-2.5, 2.0),
            r"scipy.special.poch has a derivative here for z >= 0 and z \+ m > 0 alone",
        ),
    ],
)
def test_outside_of_its_range_a_function_is_refused(f, args, domain, backend):
    with pytest.raises(NumpyCodeError, match=f"{domain}.*use AutoFiniteDifferences"):
        gradient(numpy_function(f), backend, *args)


def test_a_compiled_call_gives_nan_instead_of_the_error():
    from adinterface import prepare

    call = prepare(value_and_gradient, numpy_function(special.betaln), AutoJax(), 2.0, 3.0)
    assert call(2.0, 3.0).value == pytest.approx(special.betaln(2.0, 3.0))
    outside = call(-3.3, 2.0)
    assert np.isnan([outside.value, *outside.gradient]).all()


@pytest.mark.parametrize(
    ("f", "args", "domain"),
    [
        (special.gammainc, (100.5, 90.0), "a up to 100"),
        (special.gammaincc, (1000.0, 990.0), "a up to 100"),
        (special.betainc, (10.0, 291.0, 0.03), r"a and b from 0\.0001 on and a \+ b up to 300"),
    ],
    ids=["gammainc", "gammaincc", "betainc"],
)
def test_jax_refuses_what_float32_leaves_too_little_of(f, args, domain):
    narrow = [np.float32(x) for x in args]
    words = (
        rf"has a derivative here for {domain} alone\. In float32, that is: pass float64 arguments"
    )
    with pytest.raises(NumpyCodeError, match=words):
        gradient(numpy_function(f), AutoJax(), *map(Constant, narrow[:-1]), np.asarray(narrow[-1]))
    wide = [np.float64(x) for x in narrow]  # the remedy
    slope = gradient(numpy_function(f), AutoJax(), *map(Constant, wide[:-1]), np.asarray(wide[-1]))[
        -1
    ]
    exact = sweep.references(f"special.{f.__name__}", tuple(float(x) for x in wide))[-1]
    assert sweep.error(float(slope), exact) < sweep.TOLERANCE
