"""Packages of single sciences: control, robotics, finance, images, colours, astronomy, weather, filters, benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...example import Example, found_at
from ..numbers import LABELS, NOISE, OTHER_ROWS, POSITIVE, ROWS, SERIES, SHARES, SQUARE, SYMMETRIC, TABLE, UNIT, X, Y

_ANGLES = np.array([0.4, -0.3, 0.9])
_QUATERNION = np.array([0.5, 0.1, -0.7, 0.5])
_OTHER = np.array([0.4, 0.8, 0.2, -0.4])
#: pyquaternion divides by the length unless that is 1 to 1e-14, so its code has a kink at unit quaternions: moved from there.
_LONGER, _SHORTER = 1.3 * _QUATERNION, 0.8 * _OTHER
_IMAGE = 0.5 + 0.4 * np.sin(np.arange(64.0).reshape(8, 8) ** 1.3)
_COLOURS = np.array([[0.31, 0.52, 0.17], [0.82, 0.44, 0.66]])
_A, _B = np.array([[-0.4, 0.3], [-0.2, -0.9]]), np.array([[0.5], [1.0]])
_COSTS = np.abs(ROWS @ OTHER_ROWS.T) + 0.1
_RETURNS = 0.01 * NOISE


def examples() -> list[Example]:
    return [
        *_control(), *_geometry(), *_finance(), *_scores(), *_images(), *_colours(), *_astronomy(), *_benchmarks(),
            *_weather(),
        *_filters(), *_of_known_packages(),
    ]  # fmt: skip


def _of(package: str, table: dict[str, tuple[Any, ...]]) -> list[Example]:
    return [Example(f"{package}.{name}", arguments) for name, arguments in table.items()]


def _control() -> list[Example]:
    q, r = np.diag([1.0, 2.0]), np.array([[0.7]])
    return [
        *_of("control", {
            "ctrb": (_A, _B), "obsv": (_A, _B.T.copy()), "lyap": (_A, q), "dlyap": (_A, q), "db2mag": (X,), "mag2db": (X,),
            "unwrap": (X * 5,),
        }),
        Example("control.care", (_A, _B, q), use=lambda f, a, b, q: f(a, b, q)[0]),
        Example("control.dare", (_A, _B, q), use=lambda f, a, b, q: f(a, b, q, r)[0]),
        Example("control.lqr", (_A, _B, q, r), use=lambda f, *args: f(*args)[0]),
        Example("control.lqe", (_A, q, _B.T.copy()), use=lambda f, a, g, c: f(a, g, c, np.eye(2), r)[0]),
        Example("control.acker", (_A, _B), use=lambda f, a, b: f(a, b, [-1.0, -2.0])),
        Example("control.place", (_A, _B), use=lambda f, a, b: f(a, b, [-1.0, -2.0])),
        Example("control.ss", (_A, _B), use=lambda f, a, b: (f(a, b, b.T, 0) * f(a, b, b.T, 0)).A),
        Example("control.ss dcgain", (_A, _B), use=lambda f, a, b: f(a, b, b.T, 0).dcgain()),
        Example("control.tf", (X, Y), use=lambda f, n, d: f(n, d)(0.7j)),
        Example("control.tf feedback", (X[:2], Y), use=lambda f, n, d: f(n, d).feedback(1)(0.7j)),
        Example("control.step_response", (_A, _B), use=_step),
        Example("pykalman.KalmanFilter", (TABLE,), use=lambda f, y: f(initial_state_mean=np.zeros(3),
            n_dim_obs=3).filter(y)[0]),
        Example("pykalman.KalmanFilter smooth", (TABLE,), use=lambda f, y: f(initial_state_mean=np.zeros(3),
            n_dim_obs=3).smooth(y)[0]),
        Example("pykalman.KalmanFilter loglikelihood", (TABLE,), use=lambda f,
            y: f(initial_state_mean=np.zeros(3), n_dim_obs=3).loglikelihood(y)),
        Example("filterpy.kalman.FixedLagSmoother", (SERIES[:6],), use=_lagged),
        Example("filterpy.kalman.EnsembleKalmanFilter", (ROWS[0].copy(), SYMMETRIC), use=_ensemble),
        Example("filterpy.kalman.ExtendedKalmanFilter", (ROWS[0].copy(), 0.7), use=_extended),
        Example("filterpy.kalman.UnscentedKalmanFilter", (ROWS[0].copy(), SYMMETRIC), use=_unscented),
        Example("filterpy.kalman.SquareRootKalmanFilter", (ROWS[0][:, None].copy(), SYMMETRIC), use=_square_root),
        Example("filterpy.kalman.CubatureKalmanFilter", (ROWS[0][:, None].copy(), SYMMETRIC), use=_cubature),
        Example("filterpy.kalman.predict_steadystate", (ROWS[0].copy(), SQUARE / 3)),
        Example("filterpy.kalman.update_steadystate", (ROWS[0].copy(), np.array([0.4]), SQUARE[:, :1].copy(),
            SQUARE[:1].copy())),
        Example("filterpy.gh.GHKFilter", (0.3, 0.1), use=lambda f, x, z: f(x, 0.2, 0.1, 1.0, 0.5, 0.6, 0.4).update(z)),
    ]  # fmt: skip


def _step(f: Any, a: Any, b: Any) -> Any:
    return f(found_at("control.ss")(a, b, b.T, 0), np.linspace(0, 2, 5)).outputs


def _lagged(f: Any, zs: Any) -> Any:
    made = f(dim_x=2, dim_z=1, N=2)
    made.x, made.F, made.H = np.array([0.1, 0.3]), np.array([[1.0, 0.4], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    made.P *= 2.0
    made.smooth_batch(zs, N=2)
    return made.x


def _ensemble(f: Any, x: Any, p: Any) -> Any:
    np.random.seed(1)  # noqa: NPY002 - what the filter draws from
    made = f(x=x, P=p, dim_z=1, dt=0.3, N=5, hx=lambda x: x[:1], fx=lambda x, dt: x * (1 + dt))
    made.predict()
    made.update(np.array([0.4]))
    return made.x


def _extended(f: Any, x: Any, z: Any) -> Any:
    made = f(dim_x=3, dim_z=1)
    made.x = x
    made.update(z, lambda x: np.array([[2 * x[0], 0.0, 1.0]]), lambda x: x[0] ** 2 + x[2])
    return made.x, made.P


def _unscented(f: Any, x: Any, p: Any) -> Any:
    points = found_at("filterpy.kalman.MerweScaledSigmaPoints")(3, 0.5, 2.0, 0.3)
    made = f(3, 1, 0.2, lambda x: x[:1], lambda x, dt: x * (1 + dt), points)
    made.x, made.P = x, p
    made.predict()
    made.update(np.array([0.4]))
    return made.x, made.P


def _square_root(f: Any, x: Any, p: Any) -> Any:
    made = f(dim_x=3, dim_z=1)
    made.x, made.P, made.F, made.H = x, p, np.eye(3) * 0.9, np.array([[1.0, 0.2, 0.0]])
    made.predict()
    made.update(np.array([[0.4]]))
    return made.x


def _cubature(f: Any, x: Any, p: Any) -> Any:
    made = f(3, 1, 0.2, lambda x: x[:1], lambda x, dt: x * (1 + dt))
    made.x, made.P = x, p
    made.predict()
    made.update(np.array([[0.4]]))
    return made.x


def _geometry() -> list[Example]:
    rotations, turns = "pytransform3d.rotations", np.array([0.6, 0.0, 0.8, 0.7])
    moved = np.array([[1.0, 0.1, 2.0], [0.4, 0.9, 0.3], [0.2, 0.5, 1.3]])
    quaternion: Callable[[str], Any] = lambda name: (
        lambda f, a, b: getattr(f(a), name)(f(b)).q if name != "rotate" else f(a).rotate(b)
    )
    return [
        *_of(rotations, {
            "matrix_from_axis_angle": (turns,), "matrix_from_compact_axis_angle": (_ANGLES,),
                "quaternion_from_axis_angle": (turns,),
            "concatenate_quaternions": (_QUATERNION, _OTHER), "q_prod_vector": (_QUATERNION, _ANGLES),
                "quaternion_dist": (_QUATERNION, _OTHER),
            "quaternion_slerp": (_QUATERNION, _OTHER, 0.4), "matrix_from_quaternion": (_QUATERNION,),
                "axis_angle_from_quaternion": (_QUATERNION,),
            "cross_product_matrix": (_ANGLES,), "norm_vector": (_ANGLES,), "angle_between_vectors": (_ANGLES, X[:3]),
                "plane_basis_from_normal": (_ANGLES,),
            "matrix_from_two_vectors": (_ANGLES, X[:3]), "mrp_from_quaternion": (_QUATERNION,),
                "quaternion_gradient": (np.stack([_QUATERNION, _OTHER, _QUATERNION * [1, 1, -1, 1]]),),
            "active_matrix_from_intrinsic_euler_xyz": (_ANGLES,), "norm_angle": (X * 3,), "left_jacobian_SO3": (_ANGLES,),
                "axis_angle_slerp": (turns, np.array([0.0, 0.6, 0.8, 1.1]), 0.4),
        }),
        *_of("pytransform3d.transformations", {
            "transform_from_exponential_coordinates": (np.append(_ANGLES, X[:3]),),
                "transform_from_pq": (np.append(X[:3], _QUATERNION),),
                "screw_axis_from_exponential_coordinates": (np.append(_ANGLES, X[:3]),),
            "vectors_to_points": (ROWS,), "dual_quaternion_from_pq": (np.append(X[:3], _QUATERNION),),
                "left_jacobian_SE3": (np.append(_ANGLES, X[:3]),),
        }),
        Example("pyquaternion.Quaternion rotate", (_LONGER, _ANGLES), use=quaternion("rotate")),
        Example("pyquaternion.Quaternion product", (_LONGER, _SHORTER), use=lambda f, a, b: (f(a) * f(b)).q),
        Example("pyquaternion.Quaternion slerp", (_LONGER, _SHORTER), use=lambda f, a, b: f.slerp(f(a), f(b), 0.4).q),
        Example("pyquaternion.Quaternion log", (_LONGER, _SHORTER), use=lambda f, a, b: f.log(f(a)).q),
        Example("pyquaternion.Quaternion rotation_matrix", (_LONGER,), use=lambda f, a: f(a).rotation_matrix),
        Example("pyquaternion.Quaternion distance", (_LONGER, _SHORTER), use=lambda f, a, b: f.distance(f(a), f(b))),
        *_of("trimesh", {
            "transformations.rotation_matrix": (0.7, _ANGLES), "transformations.euler_matrix": (0.3, 0.4, 0.5),
                "transformations.quaternion_matrix": (_QUATERNION,), "transformations.quaternion_multiply": (_QUATERNION,
                _OTHER),
            "triangles.area": (np.stack([ROWS[:3], ROWS[3:]]),), "triangles.normals": (np.stack([ROWS[:3], ROWS[3:]]),),
                "triangles.angles": (np.stack([ROWS[:3], ROWS[3:]]),), "triangles.cross": (np.stack([ROWS[:3], ROWS[3:]]),),
            "triangles.barycentric_to_points": (np.stack([ROWS[:3]]), np.array([[0.2, 0.3, 0.5]])),
                "triangles.points_to_barycentric": (np.stack([ROWS[:3]]), ROWS[4:5]),
                "triangles.closest_point": (np.stack([ROWS[:3]]), ROWS[4:5]),
            "points.plane_fit": (ROWS,), "points.project_to_plane": (ROWS, _ANGLES / 1.1), "util.unitize": (ROWS,),
                "geometry.plane_transform": (X[:3], _ANGLES), "geometry.vector_angle": (np.stack([ROWS[:3], ROWS[3:]], 1),),
            "registration.procrustes": (ROWS[:5], OTHER_ROWS), "transform_points": (ROWS,
                np.vstack([np.column_stack([moved, X[:3]]), [0, 0, 0, 1.0]])), "util.diagonal_dot": (ROWS[:5], OTHER_ROWS),
                "inertia.cylinder_inertia": (1.2, 0.4, 2.3),
        }),
    ]  # fmt: skip


def _finance() -> list[Example]:
    flows = np.array([-100.0, 39.0, 59.0, 55.0, 20.0])
    return [
        *_of("numpy_financial", {
            "fv": (0.05, 10.0, -100.0, -100.0), "pv": (0.05, 10.0, -100.0, 15692.93), "pmt": (0.06, 15.0, 200000.0),
                "ppmt": (0.07, 3, 24.0, 2000.0), "ipmt": (0.07, 3, 24.0, 2000.0), "nper": (0.07, -150.0, 8000.0),
            "npv": (0.08, flows), "irr": (flows,), "mirr": (flows, 0.1, 0.12), "rate": (10.0, 0.0, -3500.0, 10000.0),
        }),
        *_of("empyrical", {
            "cum_returns": (_RETURNS,), "cum_returns_final": (_RETURNS,), "annual_return": (_RETURNS,),
                "annual_volatility": (_RETURNS,), "sharpe_ratio": (_RETURNS,), "sortino_ratio": (_RETURNS,),
                "max_drawdown": (_RETURNS,),
            "calmar_ratio": (_RETURNS,), "omega_ratio": (_RETURNS,), "downside_risk": (_RETURNS,),
                "beta": (_RETURNS, 0.01 * SERIES), "alpha": (_RETURNS, 0.01 * SERIES), "stability_of_timeseries": (_RETURNS,),
            "tail_ratio": (_RETURNS,), "value_at_risk": (_RETURNS,), "conditional_value_at_risk": (_RETURNS,),
                "excess_sharpe": (_RETURNS, 0.01 * SERIES), "up_capture": (_RETURNS, 0.01 * SERIES),
        }),
    ]  # fmt: skip


def _scores() -> list[Example]:
    return [
        *_of("properscoring", {"crps_gaussian": (X, Y, UNIT), "crps_ensemble": (X, TABLE[:4]),
            "brier_score": (UNIT[:2].round(), UNIT[:2]), "threshold_brier_score": (X, TABLE[:4], 0.3)}),
        *_of("pingouin", {
            "compute_effsize": (X, POSITIVE), "compute_effsize_from_t": (1.4, 12, 14), "convert_effsize": (0.4, "cohen", "r"),
                "mad": (NOISE,), "gzscore": (POSITIVE,), "circ_mean": (X,), "circ_r": (X,), "circ_corrcc": (X, Y),
            "circ_rayleigh": (X,), "bayesfactor_ttest": (1.4, 12), "bayesfactor_pearson": (0.4, 12), "harrelldavis": (NOISE,),
                "distance_corr": (X, Y), "multicomp": (UNIT,), "madmedianrule": (NOISE,),
        }),
        *_of("nolds", {"hurst_rs": (SERIES,), "dfa": (SERIES,), "sampen": (SERIES,), "corr_dim": (SERIES, 2),
            "lyap_r": (SERIES,)}),
    ]  # fmt: skip


def _images() -> list[Example]:
    other = _IMAGE * 0.9 + 0.02
    return [
        *_of("skimage.metrics", {"mean_squared_error": (_IMAGE, other), "normalized_root_mse": (_IMAGE, other),
            "normalized_mutual_information": (_IMAGE, other), "hausdorff_distance": (_IMAGE > 0.5, other > 0.4)}),
        Example("skimage.metrics.peak_signal_noise_ratio", (_IMAGE, other), {"data_range": 1.0}),
        Example("skimage.metrics.structural_similarity", (_IMAGE, other), {"data_range": 1.0}),
        *_of("skimage.color", {"rgb2gray": (_COLOURS,), "rgb2hsv": (_COLOURS,), "hsv2rgb": (_COLOURS,),
            "rgb2xyz": (_COLOURS,), "xyz2rgb": (_COLOURS,), "rgb2lab": (_COLOURS,), "rgb2yuv": (_COLOURS,),
            "rgb2hed": (_COLOURS,), "deltaE_cie76": (_COLOURS[0] * 50, _COLOURS[1] * 50),
            "deltaE_ciede2000": (_COLOURS[0] * 50, _COLOURS[1] * 50)}),
        *_of("skimage.filters", {"gaussian": (_IMAGE,), "sobel": (_IMAGE,), "laplace": (_IMAGE,), "scharr": (_IMAGE,),
            "prewitt_h": (_IMAGE,), "threshold_mean": (_IMAGE,), "threshold_otsu": (_IMAGE,), "unsharp_mask": (_IMAGE,)}),
        *_of("skimage.exposure", {"adjust_gamma": (_IMAGE, 1.3), "adjust_sigmoid": (_IMAGE,), "adjust_log": (_IMAGE,),
            "rescale_intensity": (_IMAGE,), "equalize_hist": (_IMAGE,)}),
        *_of("skimage.restoration", {"denoise_tv_chambolle": (_IMAGE,), "wiener": (_IMAGE, np.ones((2, 2)) / 4, 0.1),
            "estimate_sigma": (_IMAGE,)}),
        *_of("skimage.transform", {"integral_image": (_IMAGE,), "downscale_local_mean": (_IMAGE, (2, 2)),
            "rescale": (_IMAGE, 0.5)}),
        *_of("skimage.measure", {"block_reduce": (_IMAGE, 2), "shannon_entropy": (_IMAGE,), "moments": (_IMAGE, 2),
            "moments_central": (_IMAGE,), "centroid": (_IMAGE,)}),
    ]  # fmt: skip


def _colours() -> list[Example]:
    xyz, lab = np.array([0.20654008, 0.12197225, 0.05136952]), np.array([41.52787529, 52.63858304, 26.92317922])
    return _of("colour", {
        "XYZ_to_xyY": (xyz,), "XYZ_to_Lab": (xyz,), "Lab_to_XYZ": (lab,), "XYZ_to_Luv": (xyz,), "Lab_to_LCHab": (lab,),
            "XYZ_to_sRGB": (xyz,), "sRGB_to_XYZ": (_COLOURS[0].copy(),), "RGB_to_HSV": (_COLOURS,), "RGB_to_HSL": (_COLOURS,),
        "XYZ_to_Oklab": (xyz,), "XYZ_to_IPT": (xyz,), "XYZ_to_Jzazbz": (xyz,), "XYZ_to_UCS": (xyz,), "XYZ_to_ICtCp": (xyz,),
            "delta_E": (lab, lab + [0.4, 2.0, -1.1]), "chromatic_adaptation": (xyz, np.array([0.95, 1.0, 1.09]),
            np.array([0.96, 1.0, 0.82])),
        "lightness": (12.2,), "luminance": (41.5,), "gamma_function": (UNIT, 2.2), "cctf_encoding": (UNIT,),
            "cctf_decoding": (UNIT,), "contrast_sensitivity_function": ("Barten 1999",),
            "xy_to_CCT": (np.array([0.31, 0.33]),), "whiteness": (xyz * 300, np.array([94.8, 100.0, 107.3])),
        "appearance.XYZ_to_CIECAM02": (xyz * 100, np.array([95.05, 100.0, 108.88]), 318.31, 20.0),
            "appearance.XYZ_to_Hunt": (xyz * 100, np.array([95.05, 100.0, 108.88]), np.array([95.05, 100.0, 108.88]), 318.31),
            "algebra.spow": (UNIT, 0.4), "algebra.smoothstep_function": (UNIT,),
        "algebra.table_interpolation_trilinear": (UNIT[:3], ROWS.reshape(-1, 3)[:1].repeat(8, 0).reshape(2, 2, 2, 3) * 0.9),
            "adaptation.matrix_chromatic_adaptation_VonKries": (xyz, xyz * [1.1, 0.9, 1.2]),
    })  # fmt: skip


def _astronomy() -> list[Example]:
    models = "astropy.modeling.functional_models"
    static: Callable[..., Any] = lambda f, *args: f.evaluate(*args)
    return [
        *[
            Example(f"{models}.{name}", (X, *numbers), use=static)
            for name, numbers in {
                "Gaussian1D": (1.2, 0.3, 0.8), "Lorentz1D": (1.2, 0.3, 0.8), "Voigt1D": (0.3, 1.2, 0.8, 0.6),
                    "Moffat1D": (1.2, 0.3, 0.8, 1.4), "Sersic1D": (1.2, 0.8, 2.3), "Sine1D": (1.2, 0.7, 0.2),
                    "Exponential1D": (1.2, 0.7),
                "Logarithmic1D": (1.2, 0.7), "KingProjectedAnalytic1D": (1.2, 0.8, 5.0), "RickerWavelet1D": (1.2, 0.3, 0.8),
                    "Trapezoid1D": (1.2, 0.3, 0.8, 0.4), "Box1D": (1.2, 0.3, 3.1), "Linear1D": (1.2, 0.3),
                    "ArcTangent1D": (1.2, 0.7, 0.2),
            }.items()
        ],
        *[
            Example(f"astropy.modeling.powerlaws.{name}", (X, *numbers), use=static)
            for name, numbers in {"PowerLaw1D": (1.2, 0.9, 1.4), "BrokenPowerLaw1D": (1.2, 0.9, 1.4, 0.7),
                "SmoothlyBrokenPowerLaw1D": (1.2, 0.9, 1.4, 0.7, 0.4), "LogParabola1D": (1.2, 0.9, 1.4, 0.7),
                "Schechter1D": (1.2, 0.9, -0.7)}.items()
        ],
        *_of("astropy.stats", {"biweight_location": (NOISE,), "biweight_scale": (NOISE,), "mad_std": (NOISE,),
            "circmean": (X,), "circvar": (X,), "circmoment": (X,), "vonmisesmle": (X,),
            "kuiper_false_positive_probability": (0.4, 12), "binom_conf_interval": (4, 11),
            "bayesian_info_criterion": (-12.3, 3, 24), "sigma_clip": (NOISE,), "rayleightest": (X,)}),
        *_of("astropy.convolution", {"convolve": (SERIES, np.array([0.2, 0.5, 0.3]))}),
        Example("emcee.moves.StretchMove", (ROWS,), use=lambda f, x: f(a=2.0).get_proposal(x[:3], [x[3:]],
            np.random.RandomState(1))[0]),
        Example("emcee.autocorr.integrated_time many", (np.stack([SERIES, NOISE], 1)[:, None],), use=lambda f,
            x: f(x, quiet=True)),
        Example("dynesty.utils.mean_and_cov", (ROWS, SHARES.repeat(2)[:6])),
        Example("dynesty.utils.get_neff_from_logwt", (X,)),
    ]  # fmt: skip


def _benchmarks() -> list[Example]:
    some = {
        "ackley": 2.0,
        "beale": 1.0,
        "booth": 1.0,
        "bukin6": 1.0,
        "crosstray": 1.0,
        "easom": 1.0,
        "eggholder": 1.0,
        "goldstein": 1.0,
        "himmelblau": 1.0,
        "holdertable": 1.0,
        "levi": 1.0,
        "matyas": 1.0,
        "rastrigin": 1.0,
        "rosenbrock": 1.0,
        "schaffer2": 1.0,
        "sphere": 1.0,
        "threehump": 1.0,
    }
    shift = {"bukin6": np.array([-9.3, 0.7])}
    pairs = np.array([[0.31, 0.87], [0.54, -0.22], [1.13, 0.71]])
    return [
        *[Example(f"pyswarms.utils.functions.single_obj.{name}", (pairs if name not in shift else pairs[:, :2] * [0.4,
            1] + shift[name],)) for name in some],
        *[Example(f"SALib.test_functions.{name}.evaluate", (share,)) for name,
            share in {"Ishigami": TABLE, "Sobol_G": np.tile(UNIT, (3, 2)), "linear_model_1": TABLE,
            "oakley2004": np.resize(NOISE, (2, 15)), "lake_problem": np.resize(UNIT, (2, 5)) * 0.3 + 0.2}.items()],
        *[Example(f"cma.ff.{name}", (TABLE[0].copy() + 0.3,)) for name in ("sphere", "elli", "rosen", "tablet", "cigar",
            "twoaxes", "ellirot", "diffpow", "rastrigin", "griewank", "ackley", "schwefel2_22", "levy", "rosen0", "cigtab")],
        *[Example(f"deap.benchmarks.{name}", (TABLE[0].copy() + 0.3,)) for name in ("sphere", "cigar", "rosenbrock",
            "griewank", "rastrigin", "schaffer", "bohachevsky", "ackley", "schwefel", "kursawe", "zdt1", "fonseca", "poloni",
            "rastrigin_scaled")],
    ]  # fmt: skip


def _weather() -> list[Example]:
    zenith = np.array([23.0, 41.0, 67.0])
    return [
        *_of("pvlib", {
            "atmosphere.pres2alt": (95000.0,), "atmosphere.alt2pres": (540.0,), "atmosphere.get_relative_airmass": (zenith,),
                "atmosphere.gueymard94_pw": (X * 10, Y * 30), "atmosphere.kasten96_lt": (1.4, 1.2, 0.3),
                "atmosphere.bird_hulstrom80_aod_bb": (0.3, 0.4),
            "atmosphere.angstrom_alpha": (0.3, 500.0, 0.4, 380.0), "clearsky.haurwitz": (zenith,),
                "clearsky.bird": (zenith, np.array([1.1, 1.3, 2.4]), 0.3, 0.4, 1.2),
                "clearsky.simplified_solis": (90 - zenith, 0.1, 1.2), "irradiance.aoi": (30.0, 180.0, zenith,
                np.array([170.0, 150.0, 210.0])),
            "irradiance.isotropic": (30.0, zenith * 3), "irradiance.klucher": (30.0, 180.0, 120.0, 600.0, zenith,
                np.array([170.0, 150.0, 210.0])), "irradiance.haydavies": (30.0, 180.0, 120.0, 600.0, 1300.0, zenith,
                np.array([170.0, 150.0, 210.0])), "irradiance.reindl": (30.0, 180.0, 120.0, 600.0, 500.0, 1300.0, zenith,
                np.array([170.0, 150.0, 210.0])),
            "irradiance.king": (30.0, 120.0, 500.0, zenith), "irradiance.get_ground_diffuse": (30.0, 500.0),
                "irradiance.clearness_index": (500.0, zenith, 1300.0), "irradiance.erbs": (500.0, zenith, 172),
                "iam.physical": (zenith,), "iam.ashrae": (zenith,), "iam.martin_ruiz": (zenith,),
                "iam.martin_ruiz_diffuse": (30.0,), "iam.schlick": (zenith,),
                "iam.interp": (zenith, np.array([0.0, 50.0, 90.0]), np.array([1.0, 0.9, 0.0])),
            "temperature.sapm_cell": (900.0, 20.0, 3.0, -3.47, -0.0594, 3.0), "temperature.pvsyst_cell": (900.0, 20.0, 3.0),
                "temperature.faiman": (900.0, 20.0, 3.0), "temperature.ross": (900.0, 20.0, 45.0),
                "temperature.noct_sam": (900.0, 20.0, 3.0, 45.0, 0.2), "temperature.faiman_rad": (900.0, 20.0, 3.0, 350.0),
            "pvsystem.calcparams_desoto": (900.0, 40.0, 0.002, 7.5, 1.2e-10, 300.0, 0.4, 1.9),
                "pvsystem.calcparams_cec": (900.0, 40.0, 0.002, 7.5, 1.2e-10, 300.0, 0.4, 1.9, 8.0),
                "pvsystem.singlediode": (7.0, 6e-7, 0.1, 20.0, 0.5), "pvsystem.i_from_v": (0.4, 7.0, 6e-7, 0.1, 20.0, 0.5),
                "pvsystem.v_from_i": (3.4, 7.0, 6e-7, 0.1, 20.0, 0.5), "pvsystem.pvwatts_dc": (900.0, 40.0, 250.0, -0.004),
                "pvsystem.pvwatts_losses": (2.0, 3.0),
            "inverter.pvwatts": (200.0, 250.0), "spectrum.spectral_factor_caballero": (1.4, 1.3, 0.1, "cdte"),
                "solarposition.declination_spencer71": (172.0,), "solarposition.equation_of_time_pvcdrom": (172.0,),
                "solarposition.solar_zenith_analytical": (0.7, 0.3, 0.4),
                "solarposition.solar_azimuth_analytical": (0.7, 0.3, 0.4, 0.6),
            "tracking.calc_axis_tilt": (0.3, 30.0, 20.0), "shading.masking_angle": (30.0, 0.4, 0.5),
                "albedo.inland_water_dvoracek": (zenith, 0.13, 0.29), "transformer.simple_efficiency": (0.7, 0.01, 0.02, 1.0),
                "tools.sind": (zenith,),
        }),
        *_of("seawater", {"dens": (34.2, 11.0, 300.0), "dens0": (34.2, 11.0), "svel": (34.2, 11.0, 300.0),
            "ptmp": (34.2, 11.0, 300.0, 0.0), "cp": (34.2, 11.0, 300.0), "adtg": (34.2, 11.0, 300.0), "fp": (34.2, 300.0),
            "pres": (300.0, 43.0), "dpth": (300.0, 43.0), "f": (43.0,), "g": (43.0, 100.0), "satO2": (34.2, 11.0),
            "alpha": (34.2, 11.0, 300.0), "beta": (34.2, 11.0, 300.0)}),
    ]  # fmt: skip


def _filters() -> list[Example]:
    return [
        *[
            Example(f"padasip.filters.{name}", (SERIES[:12], TABLE), use=lambda f, d,
                x: f(n=3, mu=0.1, w="zeros").run(d, x)[0])
            for name in ("FilterLMS", "FilterNLMS", "FilterSSLMS", "FilterGNGD", "FilterNSSLMS")
        ],
        Example("padasip.filters.FilterRLS", (SERIES[:12], TABLE), use=lambda f, d,
            x: f(n=3, mu=0.9, w="zeros").run(d, x)[0]),
        Example("padasip.misc.MSE", (SERIES, NOISE)),
        Example("padasip.misc.logSE", (SERIES,)),
        Example("padasip.preprocess.standardize", (SERIES,)),
        Example("padasip.preprocess.PCA", (TABLE,), use=lambda f, x: f(x, 2)),
        Example("padasip.preprocess.input_from_history", (SERIES, 4)),
        Example("ahrs.common.orientation.q_prod", (_QUATERNION, _OTHER)),
        Example("ahrs.common.orientation.q2R", (_QUATERNION,)),
        Example("ahrs.common.orientation.q_mult_L", (_QUATERNION,)),
        Example("ahrs.common.orientation.rotation", ("z", 40.0)),
        Example("ahrs.common.orientation.slerp", (_QUATERNION, _OTHER, UNIT)),
        Example("ahrs.filters.Tilt", (ROWS + [0, 0, 9.0],), use=lambda f, a: f(a).Q),
        Example("ahrs.filters.AngularRate", (ROWS,), use=lambda f, g: f(gyr=g, q0=_QUATERNION).Q),
        Example("ahrs.filters.Madgwick", (ROWS, ROWS + [0, 0, 9.0]), use=lambda f, g, a: f(gyr=g, acc=a, q0=_QUATERNION).Q),
        Example("ahrs.filters.Mahony", (ROWS, ROWS + [0, 0, 9.0]), use=lambda f, g, a: f(gyr=g, acc=a, q0=_QUATERNION).Q),
        Example("ahrs.filters.Complementary", (ROWS, ROWS + [0, 0, 9.0]), use=lambda f, g, a: f(gyr=g, acc=a).Q),
    ]  # fmt: skip


def _of_known_packages() -> list[Example]:
    start, move = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]])
    share = np.array([0.2, 0.3, 0.1, 0.25, 0.1, 0.05])
    other = np.array([0.15, 0.35, 0.2, 0.2, 0.1])
    objective: Callable[[Any], Any] = lambda p: np.sum(p**2)
    return [
        Example("hmmlearn.hmm.GaussianHMM score", (ROWS, TABLE[:2]), use=lambda f, x, m: _hidden(f, start, move, m).score(x)),
        Example("hmmlearn.hmm.GaussianHMM posteriors", (ROWS, TABLE[:2]), use=lambda f, x,
            m: _hidden(f, start, move, m).predict_proba(x)),
        Example("hmmlearn.hmm.GaussianHMM stationary", (move,), use=lambda f,
            a: _hidden(f, start, a, TABLE[:2]).get_stationary_distribution()),
        Example("ot.bregman.sinkhorn_knopp", (share, other, _COSTS, 0.8)),
        Example("ot.bregman.greenkhorn", (share, other, _COSTS, 0.8)),
        Example("ot.bregman.sinkhorn_epsilon_scaling", (share, other, _COSTS, 0.8)),
        Example("ot.bregman.barycenter", (np.stack([SHARES, SHARES[::-1]], 1), _COSTS[:4, :4] + _COSTS[:4, :4].T, 0.8)),
        Example("ot.bregman.empirical_sinkhorn_divergence", (ROWS, OTHER_ROWS, 2.0)),
        Example("ot.unbalanced.sinkhorn_unbalanced2", (share, other, _COSTS, 0.8, 0.9)),
        Example("ot.unbalanced.sinkhorn_stabilized_unbalanced", (share, other, _COSTS, 0.8, 0.9)),
        Example("ot.partial.entropic_partial_wasserstein", (share, other, _COSTS, 0.8), {"m": 0.7}),
        Example("ot.smooth.smooth_ot_dual", (share, other, _COSTS, 0.8)),
        Example("ot.gromov.init_matrix", (_COSTS[:5], _COSTS[:5] * 0.9, other, other)),
        Example("ot.lp.wasserstein_circle", (UNIT[:, None], UNIT[::-1, None] * 0.8)),
        Example("ot.sliced.max_sliced_wasserstein_distance", (ROWS, OTHER_ROWS), {"seed": 1}),
        Example("ot.factored.factored_optimal_transport", (ROWS, OTHER_ROWS), use=lambda f, a, b: f(a, b, r=2, reg=0.9)[0]),
        Example("ot.da.sinkhorn_lpl1_mm", (share, _COSTS), use=lambda f, a, m: f(a, LABELS[:6] % 2, other, m, 0.8)),
        Example("ot.utils.unif", (X,), use=lambda f, x: f(4) * x),
        Example("ot.utils.projection_sparse_simplex", (X, 2)),
        Example("ot.weak.weak_optimal_transport", (ROWS, OTHER_ROWS)),
        Example("lmfit.lineshapes.split_lorentzian wide", (X, 1.2, 0.9, 0.7, 1.9)),
        Example("lmfit.models.VoigtModel", (X, 1.2), use=lambda f, x, a: f().eval(x=x, amplitude=a, center=0.3, sigma=0.8)),
        Example("lmfit.models.PolynomialModel", (X, 1.2, 0.7), use=lambda f, x, a, b: f(2).eval(x=x, c0=a, c1=b, c2=0.3)),
        Example("lmfit.models.ExpressionModel", (X, 1.2), use=lambda f, x, a: f("a * exp(-x / 2)").eval(x=x, a=a)),
        Example("lmfit.models.GaussianModel sum", (X, 1.2), use=lambda f, x,
            a: (f(prefix="p_") + f(prefix="q_")).eval(x=x, p_amplitude=a, q_amplitude=0.4)),
        Example("pymoo.indicators.gd.GD", (np.abs(ROWS),), use=lambda f, a: f(np.abs(OTHER_ROWS))(a)),
        Example("pymoo.indicators.igd.IGD", (np.abs(ROWS),), use=lambda f, a: f(np.abs(OTHER_ROWS))(a)),
        Example("pymoo.decomposition.asf.ASF", (np.abs(ROWS),), use=lambda f,
            a: f()(a, weights=SHARES[:3], utopian_point=np.zeros(3))),
        Example("pymoo.decomposition.pbi.PBI", (np.abs(ROWS),), use=lambda f,
            a: f()(a, weights=SHARES[:3], ideal_point=np.zeros(3), utopian_point=np.zeros(3), nadir_point=np.ones(3) * 3)),
        Example("pymoo.decomposition.tchebicheff.Tchebicheff", (np.abs(ROWS),), use=lambda f,
            a: f()(a, weights=SHARES[:3], utopian_point=np.zeros(3))),
        Example("pymoo.decomposition.weighted_sum.WeightedSum", (np.abs(ROWS),), use=lambda f, a: f()(a, weights=SHARES[:3])),
        Example("pymoo.util.normalization.ZeroToOneNormalization", (ROWS,), use=lambda f,
            a: f(np.zeros(3), np.ones(3) * 2.0).forward(a)),
        Example("pymoo.util.misc.vectorized_cdist", (ROWS, OTHER_ROWS)),
        Example("pymoo.gradient.toolbox.log", (X,)),
        Example("scipy.optimize.approx_fprime sum", (X,), use=lambda f, x: f(x, objective)),
    ]  # fmt: skip


def _hidden(f: Any, start: Any, move: Any, means: Any) -> Any:
    made = f(2, "diag", init_params="")
    made.startprob_, made.transmat_, made.means_ = start, move, means
    made.n_features = 3
    made.covars_ = np.abs(TABLE[2:4]) + 0.4
    return made
