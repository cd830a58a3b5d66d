"""Real NumPy code runs unchanged on every engine, and the engines agree: programs of textbooks,
densities of SciPy.
"""

import inspect
import warnings

import numpy as np
import pytest
import scipy.stats
from numpy_programs import PROGRAMS
from scipy.stats._distr_params import distcont

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    gradient,
    hvp,
    numpy_function,
    prepare,
    pushforward,
    value_and_gradient,
)

# All of SciPy's continuous distributions whose log-density is NumPy code without writing to arrays,
# in SciPy 1.14 to 1.17; from 1.18 on that of exponnorm goes through array_api_extra, which takes
# namespaces and not NumPy's functions.
_NAMES = """
    alpha argus beta betaprime burr12 chi chi2 dgamma dweibull expon exponnorm exponpow exponweib f fatiguelife gamma genexpon
    genlogistic gennorm gompertz gumbel_l gumbel_r halfcauchy halfgennorm halflogistic halfnorm invgamma invgauss
    laplace_asymmetric loggamma logistic loguniform lomax maxwell mielke nakagami norm powerlaw powerlognorm powernorm rayleigh
    rdist semicircular truncexpon truncweibull_min vonmises vonmises_line wald weibull_max weibull_min
"""
DENSITIES = [
    name
    for name in _NAMES.split()
    if "xpx." not in inspect.getsource(getattr(scipy.stats, name)._logpdf)
]


def split(args):
    """The arguments to differentiate by, and the constants behind None."""
    places = [n for n, arg in enumerate(args) if arg is None]
    return (args[: places[0]], args[places[0] + 1 :]) if places else (args, ())


def close(found, wanted, rtol):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1.0, np.max(np.abs(b))))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_program(program):
    args, constants = split(PROGRAMS[program])
    plain = lambda *args: program(*args, *constants)
    f = numpy_function(plain)
    wanted_value = plain(*args)
    by_differences = gradient(f, AutoFiniteDifferences(), *args)
    found = {}
    for backend in (AutoTorch(), AutoAutograd()):
        value, found[backend] = value_and_gradient(f, backend, *args)
        assert value == pytest.approx(wanted_value, rel=1e-12)
    value, found[AutoJax()] = prepare(value_and_gradient, f, AutoJax(), *args)(*args)
    assert value == pytest.approx(wanted_value, rel=1e-12)
    first, *others = found.values()
    close(first, by_differences, 2e-6)
    for other in others:
        close(other, first, 1e-8)
    directions = tuple(np.cos(np.arange(arg.size) + 1.0).reshape(arg.shape) for arg in args)
    slope = sum(np.sum(g * v) for g, v in zip(first, directions))
    for backend in (AutoTorch(mode="forward"), AutoAutograd(mode="forward")):
        assert pushforward(f, backend, args, directions).tangent == pytest.approx(
            slope, rel=1e-8, abs=1e-8
        )
    second = [
        hvp(lambda args: f(*args), backend, args, directions)
        for backend in (AutoTorch(), AutoAutograd())
    ]
    close(second[1], second[0], 1e-7)


@pytest.mark.parametrize("name", DENSITIES)
def test_log_density_of_scipy(name):
    distribution = getattr(scipy.stats, name)
    shapes = [float(shape) for shape in dict(distcont)[name]]
    args = [distribution.ppf(np.array([0.2, 0.45, 0.7]), *shapes), *map(np.array, shapes)]
    f = numpy_function(lambda *args: np.sum(distribution._logpdf(*args)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            gradient(f, backend, *args) for backend in (AutoTorch(), AutoAutograd(), AutoJax())
        ]
        by_differences = gradient(f, AutoFiniteDifferences(), *args)
    close(found[0], by_differences, 1e-6)
    close(found[1], found[0], 1e-8)
    close(found[2], found[0], 1e-8)
