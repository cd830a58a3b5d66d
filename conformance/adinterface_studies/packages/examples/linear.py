"""scipy.linalg and scipy.spatial."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example
from .numbers import OTHER_ROWS, POSITIVE, ROWS, SHARES, SQUARE, SYMMETRIC, X, Y

_METRICS = """
    braycurtis canberra chebyshev cityblock correlation cosine euclidean minkowski sqeuclidean jensenshannon
"""


def examples() -> list[Example]:
    return [*_linalg(), *_spatial()]


def _linalg() -> list[Example]:
    vector = np.array([0.4, -1.1, 0.7])
    table: dict[str, tuple[Any, ...]] = {
        "solve": (SQUARE, vector), "inv": (SQUARE,), "det": (SQUARE,), "pinv": (ROWS,), "pinvh": (SYMMETRIC,),
        "lstsq": (ROWS, np.arange(6.0)), "norm": (ROWS,), "cholesky": (SYMMETRIC,), "cho_factor": (SYMMETRIC,),
        "expm": (SQUARE / 3,), "logm": (SYMMETRIC,), "sqrtm": (SYMMETRIC,), "cosm": (SQUARE / 3,), "sinm": (SQUARE / 3,),
        "tanm": (SQUARE / 6,), "sinhm": (SQUARE / 3,), "coshm": (SQUARE / 3,), "eigvalsh": (SYMMETRIC,), "eigh": (SYMMETRIC,),
        "svdvals": (ROWS,), "solve_triangular": (SQUARE, vector), "solve_sylvester": (SQUARE, SYMMETRIC, SQUARE.T.copy()),
        "solve_continuous_lyapunov": (SQUARE, SYMMETRIC), "solve_discrete_lyapunov": (SQUARE / 9, SYMMETRIC),
        "toeplitz": (X, Y), "circulant": (X,), "hankel": (X,), "block_diag": (SQUARE, ROWS), "companion": (POSITIVE,),
        "vandermonde": (X,), "fiedler": (X,), "leslie": (X, Y[:3]), "kron": (SQUARE, ROWS), "khatri_rao": (SQUARE, ROWS[:, :3]),
        "orth": (SQUARE,), "lu": (SQUARE,), "qr": (SQUARE,),
        "solveh_banded": (np.array([[0.0, 0.3, 0.2], [2.0, 2.5, 2.2]]), vector),
        "solve_toeplitz": (np.array([3.0, 0.5, 0.2]), vector), "solve_circulant": (np.array([3.0, 0.5, 0.2]), vector),
        "convolution_matrix": (X, 3), "fractional_matrix_power": (SYMMETRIC, 0.5), "polar": (SQUARE,),
        "expm_cond": (SQUARE / 3,),
        "dft": (3,), "hadamard": (4,), "subspace_angles": (ROWS[:, :1], ROWS[:, 1:]), "issymmetric": (SYMMETRIC,),
        "bandwidth": (SQUARE,), "helmert": (3,), "matmul_toeplitz": (X, Y),
    }  # fmt: skip
    found = [Example(f"scipy.linalg.{name}", arguments) for name, arguments in table.items()]
    found.append(
        Example("scipy.linalg.cho_solve", (SYMMETRIC, vector), use=lambda f, a, b: f((np.linalg.cholesky(a), True), b))
    )
    return found


def _spatial() -> list[Example]:
    found = []
    for name in _METRICS.split():
        pair = (SHARES, SHARES[::-1] * 0.7 + 0.05) if name == "jensenshannon" else (X, Y)
        found.append(Example(f"scipy.spatial.distance.{name}", pair))
        found.append(Example(f"scipy.spatial.distance.pdist {name}", (np.abs(ROWS), name)))
        found.append(Example(f"scipy.spatial.distance.cdist {name}", (np.abs(ROWS), np.abs(OTHER_ROWS), name)))
    found += [
        Example("scipy.spatial.distance.mahalanobis", (X[:3], Y[:3], SYMMETRIC)),
        Example("scipy.spatial.distance.seuclidean", (X, Y, POSITIVE[:4])),
        Example("scipy.spatial.distance.minkowski p", (X, Y, 3.0)),
        Example("scipy.spatial.distance.squareform", (np.array([0.1, 0.4, 0.7]),)),
        Example("scipy.spatial.distance_matrix", (ROWS, OTHER_ROWS)),
        Example("scipy.spatial.minkowski_distance", (X, Y, 3.0)),
        Example("scipy.spatial.minkowski_distance_p", (X, Y, 3.0)),
        Example("scipy.spatial.procrustes", (ROWS[:5], OTHER_ROWS)),
        Example("scipy.spatial.geometric_slerp", (np.array([1.0, 0.0]), np.array([0.6, 0.8]), 0.4)),
        Example("scipy.spatial.transform.Rotation", (X[:3],), use=lambda f, v: f.from_rotvec(v).as_matrix()),
    ]
    return found
