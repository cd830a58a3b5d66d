"""Special functions over their whole domain, against mpmath: a quick choice of points of what the command looks at in full."""

import numpy as np
import pytest
import scipy.special as special
from adinterface_studies.functions import sweep
from adinterface_studies.functions.exact import FUNCTIONS
from mpmath import mpf

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    gradient,
    numpy_function,
    second_derivative,
    value_and_gradient,
)

pytestmark = pytest.mark.sweep

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
# Each is a program to compile: all are what the command is for.
ON_JAX = ["np.logaddexp", "special.betaln", "special.erfcx", "special.i0e", "special.log_ndtr", "special.psi", "special.rgamma"]
#: Points of one function, of each of its ways one: at others the exact numbers take mpmath seconds each.
CHOSEN = {
    "special.hyp2f1": [
        (-2.0, -2.0, -7.3, -7.2), (-2.0, -0.5, 0.3, 0.9), (0.0, -2.0, 6.0, -1.0), (0.0, 1.0, 31.2, 0.2),
        (2.5, 0.3, 1.0, 0.55), (2.5, 0.3, 6.0, -0.6), (0.3, 2.5, 1.0, -2.0), (6.0, 31.2, -2.0, 0.9999),
    ],
}  # fmt: skip
CASES = [(name, engine) for name in FUNCTIONS for engine in ("torch", "autograd")] + [(name, "jax") for name in ON_JAX]


@pytest.mark.parametrize(("name", "engine"), CASES)
def test_values_and_derivatives_are_right_or_refused(name, engine, monkeypatch):
    backend = ENGINES[engine]
    if name in CHOSEN:
        monkeypatch.setattr(sweep, "points", lambda name, axes, limit: [np.array(column) for column in zip(*CHOSEN[name])])
    if not sweep.offered(name, backend):
        with pytest.raises(NumpyCodeError, match="does not work on"):
            gradient(numpy_function(sweep.numpy_code(name)), backend, *[np.array(0.3)] * len(FUNCTIONS[name].axes))
        return
    for dtype, count in (("float64", 10), ("float32", 6)):
        findings = sweep.sweep(name, backend, count, dtype)
        assert [str(finding) for finding in findings if finding.wrong] == []
        assert findings[0].right > 0


# What was wrong once, at the points where it was found ----------------------------------------------------------------

each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)


WRONG_ONCE = [
    ("special.ndtr", (-9.0,)),
    ("special.log_ndtr", (-9.0,)),
    ("special.log_ndtr", (7.7,)),
    ("special.log_ndtr", (-3.3e7,)),
    ("special.psi", (-22.3,)),
    ("special.beta", (117.6, 57.0)),
    ("special.beta", (200.0, 0.5)),
    ("special.betaln", (0.5, 12.0)),
    ("special.betaln", (1e15, 1.5)),
    ("special.binom", (141.862, 28.6955)),
    ("special.binom", (180.0, 3.0)),
    ("special.binom", (0.524, 170.7)),
    ("special.binom", (12.0, -3.0)),
    ("special.poch", (180.0, 1.0)),
    ("special.rgamma", (-2.0,)),
    ("special.erfcx", (3.3e7,)),
    ("special.i1e", (3.3e7,)),
    ("special.boxcox", (1.7, 1e-9)),
    ("special.boxcox", (1.001, 0.0)),
    ("special.inv_boxcox", (0.3, -1e-9)),
    ("special.pseudo_huber", (40.0, 0.3)),
    ("special.pseudo_huber", (1e9, -800.0)),
    ("special.rel_entr", (1e50, 1e50)),
    ("special.xlogy", (0.0, 1.7)),
    ("np.sinc", (1e-12,)),
    ("np.i0", (1e-7,)),
    ("special.kl_div", (1.0, 1.000001)),
    ("special.pseudo_huber", (1e150, 1e150)),
    ("special.binom", (0.02, 1e14 + 1)),
    ("special.betainc", (1e-6, 20000.0, 1e-9)),
    ("special.hyp2f1", (6.0, 0.0, 1.0, -80.3)),
    ("special.hyp2f1", (0.3, 2.5, 1.0, 0.9999)),
    ("special.hyp2f1", (1.0, 1.0, 2.0, -1e5)),
]
# JAX compiles each of their many steps by itself, so it has one of a kind.
ONCE_ON_JAX = {("special.log_ndtr", (7.7,)), ("special.psi", (-22.3,)), ("special.binom", (180.0, 3.0)), ("np.i0", (1e-7,))}


@pytest.mark.parametrize(
    ("name", "args", "engine"),
    [(*case, engine) for case in WRONG_ONCE for engine in ENGINES if engine != "jax" or case in ONCE_ON_JAX],
)
def test_what_was_wrong_once(name, args, engine):
    backend = ENGINES[engine]
    value, slopes = value_and_gradient(numpy_function(sweep.numpy_code(name)), backend, *args)
    wanted, *derivatives = sweep.references(name, args)
    assert sweep.error(value, wanted) < sweep.TOLERANCE
    assert [sweep.error(slope, derivative) < sweep.TOLERANCE for slope, derivative in zip(slopes, derivatives)] == [True] * len(
        args
    )


@each_engine
@pytest.mark.parametrize(
    ("name", "args"),
    [("special.kl_div", (0.999, 1.0)), ("special.gammaincc", (1e-6, 0.02)), ("special.gammainc", (1000.0, 1000.0))],
)
def test_what_was_wrong_once_in_single_precision(name, args, backend):
    if name == "special.gammainc" and isinstance(backend, AutoJax):
        pytest.skip("a call without 64 bits runs as the user's own JAX would, whose gammainc keeps three digits there")
    args = [np.float32(x) for x in args]
    differentiated = [args[0] if name == "special.kl_div" else Constant(args[0]), args[1]]
    value, slopes = value_and_gradient(numpy_function(sweep.numpy_code(name)), backend, *differentiated)
    wanted, *derivatives = sweep.references(name, tuple(float(x) for x in args), sweep.PRECISIONS["float32"].epsilon)
    assert (value.dtype, slopes[1].dtype) == (np.float32, np.float32)
    single = sweep.PRECISIONS["float32"]
    assert sweep.error(value, wanted, 0.0, single) < single.tolerance
    assert sweep.error(slopes[1], derivatives[1], 0.0, single) < single.tolerance


def test_what_a_prepared_call_costs_is_measured():
    assert 0.1 < sweep.cost("special.erf", AutoTorch()) < 1e4
    assert sweep.cost("special.iv", AutoAutograd()) > 0.1
    assert sweep.cost("special.binom", AutoTorch()) > 0.1  # which refuses some numbers


def test_points_that_a_dtype_cannot_hold_are_left_out():
    columns = sweep.rounded([np.array([1.0, 1e30, 0.0, 1e-30]), np.array([1.0, 1.0, 2.0, 3.0])], "float32")
    assert [column.tolist() for column in columns] == [[1.0, 0.0], [1.0, 2.0]]


@each_engine
@pytest.mark.parametrize(
    ("f", "args", "domain"),
    [
        (special.beta, (-3.3, 2.0), r"scipy.special.beta has a derivative here for a \+ b > 0 alone"),
        (special.betaln, (-3.3, 2.0), r"scipy.special.betaln has a derivative here for a \+ b > 0 alone"),
        (special.binom, (-2.5, 2.0), "scipy.special.binom has a derivative here for n > -1 alone"),
        (special.poch, (-2.5, 2.0), r"scipy.special.poch has a derivative here for z >= 0 and z \+ m > 0 alone"),
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


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
@pytest.mark.parametrize("f", [special.gammainc, special.gammaincc])
def test_incomplete_gamma_functions_have_a_derivative_by_the_shape(f, backend):
    by_shape, slope = gradient(numpy_function(f), backend, 2.0, 3.0)
    sign = 1 if f is special.gammainc else -1
    assert slope == pytest.approx(sign * 3.0 * np.exp(-3.0))
    assert by_shape == pytest.approx(float(sweep.references(f"special.{f.__name__}", (2.0, 3.0))[1][0]), rel=1e-12)


# The sweep has teeth -------------------------------------------------------------------------------------------------


def test_what_counts_as_wrong():
    reference = (mpf(2), mpf(0))
    assert sweep.error(2.0, reference) == 0.0
    assert sweep.error(2.0 + 2e-8, reference) == pytest.approx(1e-8, rel=1e-6)
    assert sweep.error(np.nan, reference) == np.inf
    assert sweep.error(2.0 + 2e-8, (mpf(2), mpf(3e-9))) == 0.0
    assert sweep.error(2.0 + 2e-8, reference, slack=3e-8) == 0.0
    assert sweep.error(np.inf, (mpf(10) ** 400, mpf(0))) == 0.0
    assert sweep.error(5.0, (mpf(10) ** 400, mpf(0))) == np.inf
    assert sweep.error(5.0, (mpf(5), mpf(10) ** 400)) == 0.0  # right, where a rounding of the arguments changes everything
    assert sweep.error(6.0, (mpf(5), mpf(10) ** 400)) == np.inf


@pytest.mark.parametrize(
    ("wrong", "by"),
    [
        (lambda np, x: np.where(x < -3, 0.0, special.erfc(x)), -1),
        (lambda np, x: special.erfc(x) + 1e-3 * (x - x.detach()), 0),
    ],
)
def test_a_wrong_function_is_found(wrong, by, monkeypatch):
    def code(name):
        def f(x):
            return wrong(np, x) if type(x) is not np.ndarray else special.erfc(x)

        return f

    if by == 0:
        from adinterface.numpy_code.array import NumpyArray, wrap

        monkeypatch.setattr(NumpyArray, "detach", lambda self: wrap(self._array.detach(), self._engine), raising=False)
    monkeypatch.setattr(sweep, "numpy_code", code)
    findings = sweep.sweep("special.erfc", AutoTorch(), 30)
    assert next(finding.by for finding in findings if finding.wrong) == by
    assert "special.erfc on AutoTorch" in str(next(finding for finding in findings if finding.wrong))
    assert "wrong at" in sweep.markdown(findings)


def test_what_jax_has_wrong_is_computed_by_scipy():
    value, slopes = value_and_gradient(numpy_function(special.hyp2f1), AutoJax(), 31.2, 31.2, 1.0, -2.0)
    wanted = sweep.references("special.hyp2f1", (31.2, 31.2, 1.0, -2.0))[0]
    assert value == pytest.approx(float(wanted[0]), rel=1e-5, abs=0)
    assert np.isnan(slopes).all()  # of each series nothing is left here: no wrong number


@each_engine
@pytest.mark.parametrize("args", [(-7.3, 2.5, 31.2, -80.3), (31.2, 6.0, 2.5, -80.3)])
def test_a_slope_is_right_where_scipy_has_the_value_wrong(args, backend):
    columns = [np.array([x]) for x in args]
    slopes = gradient(numpy_function(lambda *p: np.sum(special.hyp2f1(*p))), backend, *columns)
    for slope, exact in zip(slopes, sweep.references("special.hyp2f1", args)[1:]):
        assert sweep.error(float(slope[0]), exact) < sweep.TOLERANCE


@each_engine
def test_what_scipy_has_wrong_is_summed_or_nan(backend):
    """hyp2f1(32.2, 0.5, -6.3, -80.3) is off in the ninth digit, and hyp2f1(32.2, 32.2, 2, -7.2) in the first."""
    a, b, c, x = np.array([(31.2, -0.5, -7.3, -80.3), (31.2, 31.2, 1.0, -7.2)]).T
    slope = gradient(numpy_function(lambda x: np.sum(special.hyp2f1(a, b, c, x))), backend, x)[0]
    assert sweep.error(float(slope[0]), sweep.references("special.hyp2f1", (31.2, -0.5, -7.3, -80.3))[4]) < sweep.TOLERANCE
    assert np.isnan(slope[1])


@each_engine
def test_a_slope_of_the_second_kind_is_right_where_scipy_is_off(backend):
    """hyperu(1.3, 2, 11.3) is off by 2e-7, hyperu(32.2, 2, 2.2) is nan, hyperu(3.5, 7, 1e-8) too."""
    from mpmath import mp

    a, b, x = np.array([(0.3, 1.0, 11.3), (31.2, 1.0, 2.2), (2.5, 6.0, 1e-8), (-2.5, 0.3, 1.7)]).T
    slopes = gradient(numpy_function(lambda x: np.sum(special.hyperu(a, b, x))), backend, x)[0]
    wanted = [float(-mpf(p) * mp.hyperu(mpf(p) + 1, mpf(q) + 1, mpf(z))) for p, q, z in zip(a, b, x)]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-10)


def test_what_nothing_is_left_of_is_nan():
    assert np.isnan(gradient(numpy_function(special.betainc), AutoTorch(), 0.02, 1e-100, 0.75)[0])
    assert np.isnan(gradient(numpy_function(special.hyp1f1), AutoTorch(), 32.2, 2.0, -33.3)[0])


@pytest.mark.parametrize("backend", [AutoAutograd(), AutoAutograd(mode="reverse"), AutoJax()])
@pytest.mark.parametrize("x", [0.0, 1e-100, 1e-20, -1e-8, 0.0999, 0.1, 2.0])
def test_second_derivatives_of_bessel_functions_near_zero(x, backend):
    """I1(x) / x cancels in its derivatives. At zero, where i1e has a kink in its slope, the sign is 0."""
    of = special.ive(np.arange(4), x)
    assert second_derivative(numpy_function(special.i1e), backend, x) == pytest.approx(
        (3 * of[1] + of[3]) / 4 - np.sign(x) * (of[0] + of[2]) + of[1] * np.sign(x) ** 2, rel=1e-13
    )
    wanted = (3 * special.iv(1, x) + special.iv(3, x)) / 4
    assert second_derivative(numpy_function(special.i1), backend, x) == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize(("i", "j"), [(0, 0), (0, 1), (1, 2), (2, 2)])
def test_second_derivatives_by_parameters_of_gauss_function(i, j):
    from mpmath import mp

    args = (1.7, -2.3, 0.6, 0.93)
    with mp.workdps(60):
        orders = tuple((place == i) + (place == j) for place in range(4))
        wanted = float(mp.diff(mp.hyp2f1, tuple(map(mpf, args)), orders))
    found = gradient(lambda *p: gradient(numpy_function(special.hyp2f1), AutoTorch(), *p)[i], AutoTorch(), *map(np.array, args))
    assert float(found[j]) == pytest.approx(wanted, rel=1e-9)


def test_jax_has_the_confluent_function_by_each_argument():
    f = numpy_function(special.hyp1f1)
    slopes = gradient(f, AutoJax(), 0.3, 2.5, -2.0)
    wanted = [float(derivative[0]) for derivative in sweep.references("special.hyp1f1", (0.3, 2.5, -2.0))[1:]]
    assert slopes == pytest.approx(wanted, rel=1e-12)
    value, slope = value_and_gradient(f, AutoJax(), Constant(0.3), Constant(-7.3), -33.3)  # where JAX's own is 149,871
    assert (value, slope[2]) == pytest.approx((0.8393592580250825, 0.010417411867636), rel=1e-12)
    assert value_and_gradient(f, AutoJax(), Constant(-2.0), Constant(-2.0), -1.0) == (0.5, (None, None, 0.0))


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
    words = rf"has a derivative here for {domain} alone\. In float32, that is: pass float64 arguments"
    with pytest.raises(NumpyCodeError, match=words):
        gradient(numpy_function(f), AutoJax(), *map(Constant, narrow[:-1]), np.asarray(narrow[-1]))
    wide = [np.float64(x) for x in narrow]  # the remedy
    slope = gradient(numpy_function(f), AutoJax(), *map(Constant, wide[:-1]), np.asarray(wide[-1]))[-1]
    exact = sweep.references(f"special.{f.__name__}", tuple(float(x) for x in wide))[-1]
    assert sweep.error(float(slope), exact) < sweep.TOLERANCE


def test_jax_has_the_exponential_integral_at_zero():
    f = numpy_function(lambda x: np.sum(special.expn(np.array([2, 3]), x)))
    value, (slope,) = value_and_gradient(f, AutoJax(), np.zeros(2))
    assert value == pytest.approx(1.5)
    np.testing.assert_allclose(slope, [-np.inf, -1.0])


def test_the_command_sweeps(capsys, tmp_path):
    from adinterface_studies.functions.command import main

    table = tmp_path / "table.md"
    chosen = ["--sweep", "--points", "8", "--function", "special.erf*", "--backend", "AutoTorch", "--markdown", str(table)]
    assert main(chosen) == 0
    assert "6 functions" in capsys.readouterr().out
    page = table.read_text()
    assert page.startswith("**Error functions**\n\n| function | AutoTorch |\n| --- | --- |\n| `special.erf` | ✓ |\n")
    assert "| `special.erfcx` |" in page
