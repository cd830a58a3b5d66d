"""200 functions of packages, with arguments: drawn by lot from some 1,100 that were written before any of them was run.

Floating arrays and numbers are differentiated. A list of floats of `CALLS` is an array.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface import Constant

from .trial import Example, found_at

_random = np.random.default_rng(2026)
X = np.array([0.31, 0.87, 1.42, 2.03])
Y = np.array([0.54, 0.22, 1.13, 1.71])
POSITIVE = np.array([0.4, 1.32, 2.25, 0.87, 1.71])
UNIT = np.array([0.12, 0.35, 0.61, 0.83])
SHARES = np.array([0.1, 0.25, 0.3, 0.35])
SERIES = np.cumsum(_random.normal(size=24)) * 0.3 + 0.1 * np.arange(24)
NOISE = _random.normal(size=24)
ROWS = _random.normal(size=(6, 3))
OTHER_ROWS = _random.normal(size=(5, 3))
TABLE = _random.normal(size=(12, 3))
SQUARE = _random.normal(size=(3, 3)) + 3 * np.eye(3)
SYMMETRIC = SQUARE @ SQUARE.T / 3 + np.eye(3)
TARGETS = _random.normal(size=12)
LABELS = np.array([0, 1, 1, 0, 1, 0, 2, 2, 1, 0, 2, 1])
BINARY = (LABELS > 0).astype(int)
COUNTS = np.array([1, 0, 2, 3, 1, 0, 4, 2, 1, 0, 2, 1])
WAVE = SERIES[:16].copy()
IMAGE = 0.5 + 0.4 * np.sin(np.arange(64.0).reshape(8, 8) ** 1.3)
QUATERNION, OTHER = np.array([0.5, 0.1, -0.7, 0.5]), np.array([0.4, 0.8, 0.2, -0.4])
#: pyquaternion divides by the length unless that is 1 to 1e-14, so its code has a kink at unit quaternions: moved from there.
LONGER, SHORTER = 1.3 * QUATERNION, 0.8 * OTHER
PAIRS = np.array([[0.31, 0.87], [0.54, -0.22], [1.13, 0.71]])
XYZ = np.array([0.20654008, 0.12197225, 0.05136952])
ZENITH = np.array([23.0, 41.0, 67.0])
PLACE, TRIANGLE = TABLE[0] + 0.3, np.stack([ROWS[:3]])
PLANT, INPUT = np.array([[-0.4, 0.3], [-0.2, -0.9]]), np.array([[0.5], [1.0]])
B, A, GRID, AT = np.array([0.2, 0.35, 0.1]), np.array([1.0, -0.6, 0.15]), np.arange(6.0), np.array([0.5, 1.1])
SHARE = np.array([0.2, 0.3, 0.1, 0.25, 0.1, 0.05])
OTHER_SHARE = np.array([0.15, 0.35, 0.2, 0.2, 0.1])

#: Calls as docstrings of engineering packages show them, or with numbers alone.
CALLS = """
ahrs.common.orientation.rotation('z', 40.0)
astropy.stats.bayesian_info_criterion(-12.3, 3, 24)
astropy.stats.binom_conf_interval(4, 11)
chemicals.heat_capacity.Lastovka_Shaw_integral(300.0, 0.1333)
chemicals.heat_capacity.Poling(300.0, 4.568, -0.008975, 3.631e-05, -3.407e-08, 1.091e-11)
chemicals.iapws.iapws95_d2A0_dtau2(2.15698666, 3.10248447)
chemicals.iapws.iapws97_d2Gr_dpi2_region5(3.33333333, 0.101325)
chemicals.interface.Pitzer_sigma(293.0, 633.0, 4530000.0, 0.249)
chemicals.lennard_jones.sigma_Bird_Stewart_Lightfoot_critical_1(0.000268)
chemicals.utils.Baume_heavy_to_rho(23.75)
chemicals.vapor_pressure.Sanjari(347.2, 617.1, 3600000.0, 0.299)
chemicals.viscosity.Lucas_gas(550.0, 512.6, 8090000.0, 0.224, 32.042, 1.7)
chemicals.viscosity.dmu_Yaws_dT(300.0, -9.4406, 1117.6, 0.0137, -1.5465e-05)
colour.lightness(12.2)
fluids.compressible.isentropic_efficiency(100000.0, 1000000.0, 1.4, eta_p=0.78)
fluids.control_valve.control_valve_noise_l_2015(40, 1000000.0, 650000.0, 2320.0, 997, 1400, 77.848, 0.1, 0.1071, 0.92, 0.42, 0.0036, 7800.0, 5000.0, 1.293, 343.0, An=-4.6)
fluids.core.Froude_densimetric(1.83, 2.0, 800, 1.2, g=9.81)
fluids.drag.Ceylan(200.0)
fluids.drag.Cheng(200.0)
fluids.fittings.K_foot_valve_Crane(0.2, style=0)
fluids.friction.Eck_1973(100000.0, 0.0001)
fluids.friction.helical_transition_Re_Schmidt(1, 7.0)
fluids.safety_valve.API520_N(10500000.0)
fluids.safety_valve.VDI_3732_noise_elevated_flare(3.0)
fluids.safety_valve.VDI_3732_noise_ground_flare(3.0)
fluids.two_phase.two_phase_dP_dz_acceleration(1, 0.1, 0.372, 827.1, 3.919, -5e-12, -4e-07, -2e-07, 120.0, 0.0001)
ht.conv_supercritical.Nu_Yamagata(100000.0, 1.2, 1.5, 2080.845, 2048.621, 650, 700, 600.0)
numpy_financial.ipmt(0.07, 3, 24.0, 2000.0)
pingouin.bayesfactor_ttest(1.4, 12)
pvlib.atmosphere.bird_hulstrom80_aod_bb(0.3, 0.4)
pvlib.solarposition.equation_of_time_pvcdrom(172.0)
scipy.signal.kaiser_beta(53.0)
scipy.special.obl_cv(1, 2, 0.7)
scipy.stats.genextreme.std(-0.1, -0.2, 0.7)
scipy.stats.genextreme.var(-0.1, -0.2, 0.7)
scipy.stats.halfnorm.entropy(-0.2, 0.7)
scipy.stats.invgamma.mean(4.07, -0.2, 0.7)
scipy.stats.invgamma.std(4.07, -0.2, 0.7)
scipy.stats.lognorm.mean(0.954, -0.2, 0.7)
scipy.stats.lognorm.std(0.954, -0.2, 0.7)
scipy.stats.nakagami.mean(4.97, -0.2, 0.7)
scipy.stats.truncnorm.entropy(0.1, 2.0, -0.2, 0.7)
seawater.beta(34.2, 11.0, 300.0)
seawater.dpth(300.0, 43.0)
seawater.ptmp(34.2, 11.0, 300.0, 0.0)
transforms3d._gohlketransforms.orthogonalization_matrix([9.8, 12.0, 15.5], [87.2, 80.7, 69.7])
transforms3d.affines.striu2mat([0.1, 0.2, 0.3])
transforms3d.shears.mat2sadn([[1.0, 0.54630248, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
transforms3d.taitbryan.euler2mat(1.3, -0.1, 0.2)
"""  # noqa: E501

#: By functions, their arguments.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "SALib.test_functions.Sobol_G.evaluate": (np.tile(UNIT, (3, 2)),),
    "ahrs.common.orientation.q_prod": (QUATERNION, OTHER), "astropy.stats.biweight_location": (NOISE,),
    "astropy.stats.circvar": (X,), "astropy.stats.rayleightest": (X,), "cma.ff.diffpow": (PLACE,),
    "cma.ff.griewank": (PLACE,), "cma.ff.sphere": (PLACE,), "colour.XYZ_to_ICtCp": (XYZ,), "colour.XYZ_to_Luv": (XYZ,),
    "colour.XYZ_to_xyY": (XYZ,), "colour.algebra.spow": (UNIT, 0.4), "control.obsv": (PLANT, INPUT.T.copy()),
    "control.unwrap": (X * 5,), "deap.benchmarks.ackley": (PLACE,), "deap.benchmarks.rosenbrock": (PLACE,),
    "deap.benchmarks.zdt1": (PLACE,), "empyrical.annual_return": (0.01 * NOISE,), "empyrical.omega_ratio": (0.01 * NOISE,),
    "nolds.corr_dim": (SERIES, 2),
    "ot.smooth.smooth_ot_dual": (SHARE, OTHER_SHARE, np.abs(ROWS @ OTHER_ROWS.T) + 0.1, 0.8),
    "pingouin.harrelldavis": (NOISE,), "pvlib.irradiance.clearness_index": (500.0, ZENITH, 1300.0),
    "pvlib.irradiance.haydavies": (30.0, 180.0, 120.0, 600.0, 1300.0, ZENITH, np.array([170.0, 150.0, 210.0])),
    "pyswarms.utils.functions.single_obj.bukin6": (PAIRS * [0.4, 1] + np.array([-9.3, 0.7]),),
    "pyswarms.utils.functions.single_obj.rosenbrock": (PAIRS,), "pyswarms.utils.functions.single_obj.sphere": (PAIRS,),
    "pytransform3d.rotations.quaternion_gradient": (np.stack([QUATERNION, OTHER, QUATERNION * [1, 1, -1, 1]]),),
    "scipy.cluster.vq.vq": (ROWS, OTHER_ROWS), "scipy.fft.fft2": (np.outer(X, Y),), "scipy.fft.ifft": (WAVE,),
    "scipy.linalg.eigvalsh_tridiagonal": (X, Y[:3]), "scipy.linalg.expm_frechet": (SQUARE / 4, SYMMETRIC / 4),
    "scipy.linalg.solve_continuous_are": (SQUARE / 3, np.eye(3), SYMMETRIC, np.eye(3) * 1.3), "scipy.linalg.svd": (SQUARE,),
    "scipy.ndimage.gaussian_gradient_magnitude": (np.outer(X, Y), 0.9), "scipy.ndimage.prewitt": (np.outer(X, Y),),
    "scipy.ndimage.spline_filter": (np.outer(X, Y),), "scipy.ndimage.variance": (np.outer(X, Y),),
    "scipy.ndimage.zoom": (np.outer(X, Y), 2), "scipy.signal.deconvolve": (WAVE[:6], B),
    "scipy.signal.lp2hp": (B, A, 1.3), "scipy.signal.peak_prominences": (SERIES, [3, 9]), "scipy.signal.qspline1d": (WAVE,),
    "scipy.signal.residue": (B, np.array([1.0, 3.1, 1.7])),
    "scipy.signal.sosfiltfilt": (np.array([[0.2, 0.4, 0.2, 1.0, -0.5, 0.1], [1.0, 0.3, 0.1, 1.0, 0.2, 0.05]]), SERIES),
    "scipy.spatial.distance.directed_hausdorff": (ROWS, OTHER_ROWS),
    "scipy.spatial.distance.euclidean weighted": (X, Y, UNIT), "scipy.special.ber": (X,),
    "scipy.special.chdtri": (3.0, UNIT), "scipy.special.eval_chebyu": (3, UNIT), "scipy.special.expn": (2, X),
    "scipy.special.fresnel": (X,), "scipy.special.gammainccinv": (X, UNIT), "scipy.special.hyp1f1": (0.7, 1.9, X),
    "scipy.special.it2i0k0": (X,), "scipy.special.itairy": (X,), "scipy.special.itj0y0": (X,),
    "scipy.special.kolmogi": (UNIT,), "scipy.special.lambertw": (X,), "scipy.special.spherical_kn": (2, X),
    "scipy.special.tklmbda": (UNIT, 0.4), "scipy.special.voigt_profile": (X, 0.7, 0.4),
    "scipy.stats.boxcox_normmax": (POSITIVE,), "scipy.stats.genextreme.isf": (UNIT, -0.1, -0.2, 0.7),
    "scipy.stats.ks_1samp": (NOISE, "norm"), "scipy.stats.lognorm.isf": (UNIT, 0.954, -0.2, 0.7),
    "scipy.stats.mode": (X,), "scipy.stats.obrientransform two": (NOISE, SERIES),
    "scipy.stats.wasserstein_distance weighted": (X, Y, UNIT, SHARES),
    "skimage.color.rgb2yuv": (np.array([[0.31, 0.52, 0.17], [0.82, 0.44, 0.66]]),),
    "skimage.exposure.equalize_hist": (IMAGE,), "skimage.measure.centroid": (IMAGE,),
    "skimage.metrics.normalized_root_mse": (IMAGE, IMAGE * 0.9 + 0.02),
    "sklearn.calibration.calibration_curve": (BINARY, np.linspace(0.1, 0.9, 12)),
    "sklearn.metrics.pairwise.rbf_kernel gamma": (ROWS, OTHER_ROWS, 0.7), "statsmodels.tools.linalg.logdet_symm": (SYMMETRIC,),
    "statsmodels.tsa.tsatools.lagmat2ds": (TABLE, 1), "trimesh.registration.procrustes": (ROWS[:5], OTHER_ROWS),
    "trimesh.triangles.angles": (np.stack([ROWS[:3], ROWS[3:]]),), "trimesh.triangles.closest_point": (TRIANGLE, ROWS[4:5]),
    "trimesh.triangles.points_to_barycentric": (TRIANGLE, ROWS[4:5]), "trimesh.util.unitize": (ROWS,),
}  # fmt: skip

#: By functions, their arguments and keywords.
KEYWORDS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "scipy.fft.fft padded": ((WAVE,), {"n": 20, "norm": "forward"}),
    "scipy.signal.coherence": ((SERIES, NOISE), {"nperseg": 8}),
    "scipy.signal.istft": ((SERIES[:15].reshape(5, 3),), {"nperseg": 8}),
    "scipy.stats.circvar axis": ((ROWS,), {"axis": 0}),
    "scipy.stats.entropy base": ((SHARES,), {"base": 2}),
    "scipy.stats.kurtosis axis": ((ROWS,), {"axis": None, "fisher": False}),
    "scipy.stats.ttest_ind welch": ((X, POSITIVE), {"equal_var": False}),
    "sklearn.metrics.r2_score weighted": ((TABLE, TABLE * 0.9 + 0.1), {"multioutput": "variance_weighted"}),
    "statsmodels.tsa.arima_process.arma_periodogram": ((np.array([1.0, -0.5]), np.array([1.0, 0.3])), {"worN": 6}),
}

#: By functions and classes, the arguments, and how they are used with these.
USES: dict[str, tuple[tuple[Any, ...], Callable[..., Any]]] = {
    "ahrs.filters.Mahony": ((ROWS, ROWS + [0, 0, 9.0]), lambda f, g, a: f(gyr=g, acc=a, q0=QUATERNION).Q),
    "astropy.modeling.functional_models.Gaussian1D": ((X, 1.2, 0.3, 0.8), lambda f, *args: f.evaluate(*args)),
    "astropy.modeling.functional_models.Linear1D": ((X, 1.2, 0.3), lambda f, *args: f.evaluate(*args)),
    "astropy.modeling.powerlaws.PowerLaw1D": ((X, 1.2, 0.9, 1.4), lambda f, *args: f.evaluate(*args)),
    "ot.utils.unif": ((X,), lambda f, x: f(4) * x),
    "pymoo.decomposition.asf.ASF": (
        (np.abs(ROWS),), lambda f, a: f()(a, weights=SHARES[:3], utopian_point=np.zeros(3)),
    ),
    "pyquaternion.Quaternion distance": ((LONGER, SHORTER), lambda f, a, b: f.distance(f(a), f(b))),
    "pyquaternion.Quaternion slerp": ((LONGER, SHORTER), lambda f, a, b: f.slerp(f(a), f(b), 0.4).q),
    "scipy.integrate.odeint": ((0.7, 1.3), lambda f, a, y: f(lambda y, t: -a * y, y, np.linspace(0, 2, 9))),
    "scipy.integrate.quad_vec": ((0.7,), lambda f, a: f(lambda x: np.exp(-a * x) * X, 0.0, 1.0)[0]),
    "scipy.integrate.solve_ivp": (
        (0.7, X), lambda f, a, y: f(lambda t, y: -a * y * y, (0, 1), y, rtol=1e-8, atol=1e-10).y,
    ),
    "scipy.interpolate.AAA": ((SERIES[:6], AT), lambda f, y, z: f(GRID, y)(z)),
    "scipy.interpolate.BSpline": ((X, AT), lambda f, c, z: f(np.arange(8.0) - 3, c, 3)(z / 3)),
    "scipy.interpolate.PPoly": ((ROWS[:4], AT), lambda f, c, z: f(c, np.arange(4.0))(z)),
    "scipy.interpolate.pade": ((np.array([1.0, 1.0, 0.5, 0.16]),), lambda f, a: [p(0.4) for p in f(a, 1)]),
    "scipy.signal.impulse": (
        (B, np.array([1.0, 1.6, 0.8])), lambda f, n, m: f((n[1:], m), T=np.arange(6) * 0.3)[1],
    ),
    "scipy.signal.place_poles gain": ((PLANT, INPUT), lambda f, a, b: f(a, b, [-1.0, -2.0]).gain_matrix),
    "scipy.signal.windows.general_cosine": ((X,), lambda f, a: f(7, a)),
    "scipy.stats.Uniform pdf": ((X, 0.1, 2.3), lambda f, x, a, b: f(a=a, b=b).pdf(x)),
    "scipy.stats.bernoulli cdf": ((np.array([0, 1]), 0.3), lambda f, *a: f.cdf(*a)),
    "scipy.stats.beta nnlf": ((2.31, 0.63, 0.0, 1.0, UNIT), lambda f, a, b, m, s, x: f.nnlf((a, b, m, s), x)),
    "scipy.stats.betanbinom cdf": ((np.array([1, 2, 4]), 5, 9.3, 1.2), lambda f, *a: f.cdf(*a)),
    "scipy.stats.dlaplace cdf": ((np.array([1, 2, 4]), 0.8), lambda f, *a: f.cdf(*a)),
    "scipy.stats.genextreme interval": ((0.6, -0.1, -0.2, 0.7), lambda f, p, *a: f.interval(p, *a)),
    "scipy.stats.invgamma interval": ((0.6, 4.07, -0.2, 0.7), lambda f, p, *a: f.interval(p, *a)),
    "scipy.stats.invgamma moment": ((4.07, -0.2, 0.7), lambda f, *a: f.moment(2, *a)),
    "scipy.stats.laplace interval": ((0.6, -0.2, 0.7), lambda f, p, *a: f.interval(p, *a)),
    "scipy.stats.lognorm moment": ((0.954, -0.2, 0.7), lambda f, *a: f.moment(2, *a)),
    "scipy.stats.logser mean": ((0.6,), lambda f, *a: f.mean(*a)),
    "scipy.stats.multivariate_normal cdf": (
        (ROWS[0, :2].copy(), np.array([0.1, -0.2]), SYMMETRIC[:2, :2].copy()), lambda f, *a: f.cdf(*a),
    ),
    "scipy.stats.pareto interval": ((0.6, 2.62, -0.2, 0.7), lambda f, p, *a: f.interval(p, *a)),
    "scipy.stats.rv_histogram pdf": ((X[:3],), lambda f, x: f(np.histogram(NOISE, 5)).pdf(x)),
    # Sorted, because NumPy leaves open in which order np.partition gives what it does not ask for.
    "scipy.stats.trimboth": ((SERIES, 0.1), lambda f, x, share: np.sort(f(x, share))),
    "scipy.stats.zipfian cdf": ((np.array([1, 2, 4]), 1.25, 10), lambda f, *a: f.cdf(*a)),
    "scipy.stats.zipfian mean": ((1.25, 10), lambda f, *a: f.mean(*a)),
    "scipy.stats.zipfian stats": ((1.25, 10), lambda f, *a: f.stats(*a, moments="mv")),
    "sklearn.covariance.OAS": ((TABLE,), lambda f, x: f().fit(x).precision_),
    "sklearn.decomposition.TruncatedSVD": (
        (TABLE,), lambda f, x: f(2, algorithm="arpack", random_state=0).fit(TABLE).transform(x),
    ),
    "sklearn.gaussian_process.GaussianProcessRegressor fixed": (
        (TABLE, TARGETS), lambda f, x, y: f(_kernel(), optimizer=None, alpha=0.1).fit(x, y).predict(ROWS),
    ),
    "sklearn.gaussian_process.GaussianProcessRegressor likelihood": (
        (TABLE, TARGETS), lambda f, x, y: f(_kernel(), optimizer=None, alpha=0.1).fit(x, y).log_marginal_likelihood_value_,
    ),
    "sklearn.kernel_approximation.RBFSampler": (
        (TABLE,), lambda f, x: f(random_state=0, n_components=3).fit(TABLE).transform(x),
    ),
    "sklearn.linear_model.Lasso": ((TABLE, TARGETS), lambda f, x, y: f(0.05).fit(x, y).coef_),
    "sklearn.linear_model.LinearRegression predict": (
        (TABLE, TARGETS, ROWS), lambda f, x, y, z: f().fit(x, y).predict(z),
    ),
    "sklearn.mixture.GaussianMixture score": (
        (ROWS,), lambda f, x: f(2, random_state=0).fit(TABLE).score_samples(x),
    ),
    "sklearn.naive_bayes.GaussianNB": ((TABLE,), lambda f, x: f().fit(TABLE, LABELS).predict_log_proba(x)),
    "sklearn.preprocessing.MinMaxScaler": ((TABLE,), lambda f, x: f((-1, 2)).fit_transform(x)),
    "sklearn.preprocessing.Normalizer": ((TABLE,), lambda f, x: f("l1").fit_transform(x)),
    "sklearn.preprocessing.StandardScaler partial": (
        (TABLE,), lambda f, x: f().partial_fit(x[:6]).partial_fit(x[6:]).var_,
    ),
    "statsmodels.discrete.discrete_model.NegativeBinomial score": (
        (Constant(TABLE), np.array([0.3, -0.2, 0.4, 0.6])), lambda f, x, b: f(COUNTS, x).score(b),
    ),
    "statsmodels.distributions.copula.api.FrankCopula": (
        (np.outer(UNIT, [0.9, 0.5]),), lambda f, u: f(1.4).logpdf(u),
    ),
    "statsmodels.distributions.copula.api.GumbelCopula": ((np.outer(UNIT, [0.9, 0.5]),), lambda f, u: f(1.4).cdf(u)),
    "statsmodels.genmod.generalized_linear_model.GLM fit": ((TARGETS, TABLE), lambda f, y, x: f(y, x).fit().params),
    "statsmodels.genmod.generalized_linear_model.GLM poisson": (
        (TABLE,), lambda f, x: f(COUNTS, x, family=found_at("statsmodels.api.families.Poisson")()).fit(tol=1e-12).params,
    ),
    "statsmodels.nonparametric.kernel_density.KDEMultivariate": (
        (TABLE,), lambda f, x: f(x, "ccc", bw=[0.4, 0.5, 0.6]).pdf(ROWS),
    ),
    "statsmodels.nonparametric.kernels_asymmetric.kernel_pdf_gamma": (
        (0.7, POSITIVE, 0.4), lambda f, x, s, b: f(x, s, b),
    ),
    "statsmodels.regression.linear_model.OLS pvalues": ((TARGETS, TABLE), lambda f, y, x: f(y, x).fit().pvalues),
    "statsmodels.regression.linear_model.OLS tvalues": ((TARGETS, TABLE), lambda f, y, x: f(y, x).fit().tvalues),
    "statsmodels.robust.scale.huber": ((NOISE,), lambda f, x: f(x)),
    "statsmodels.stats.rates.test_poisson": (
        (4.0, 11.3), lambda f, c, n: f(c, n, value=0.4, method="score").statistic,
    ),
}  # fmt: skip


def _kernel() -> Any:
    return importlib.import_module("sklearn.gaussian_process.kernels").RBF(0.8)


def examples() -> list[Example]:
    """All of them."""
    return [
        *[_call(line) for line in CALLS.strip().splitlines()],
        *[Example(name, arguments) for name, arguments in ARGUMENTS.items()],
        *[Example(name, arguments, keywords) for name, (arguments, keywords) in KEYWORDS.items()],
        *[Example(name, arguments, use=use) for name, (arguments, use) in USES.items()],
    ]


def _call(line: str) -> Example:
    call: Any = ast.parse(line, mode="eval").body
    keywords = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    return Example(ast.unparse(call.func), tuple([_value(argument) for argument in call.args]), keywords)


def _value(node: ast.expr) -> Any:
    value = ast.literal_eval(node)
    array = np.asarray(value) if isinstance(value, list) else None
    return value if array is None or array.dtype.kind != "f" else array
