"""scipy.linalg on the arrays of any engine."""

from ..dispatch import rest_of
from .decompositions import (
    cho_factor,
    cho_solve,
    cholesky,
    eig,
    eigh,
    eigh_tridiagonal,
    eigvals,
    eigvalsh,
    eigvalsh_tridiagonal,
    lu,
    lu_factor,
    lu_solve,
    orthogonal_procrustes,
    polar,
    qr,
    svd,
    svdvals,
)
from .equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_sylvester,
)
from .matrix_functions import (
    coshm,
    cosm,
    expm,
    expm_frechet,
    fractional_matrix_power,
    logm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from .solving import (
    det,
    inv,
    lstsq,
    norm,
    pinv,
    pinvh,
    solve,
    solve_banded,
    solve_circulant,
    solve_toeplitz,
    solve_triangular,
    solveh_banded,
)
from .special_matrices import block_diag, circulant, companion, hankel, khatri_rao, toeplitz

__getattr__ = rest_of("scipy.linalg", globals())

__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion", "coshm", "cosm",
    "det", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "eigvalsh_tridiagonal", "expm",
    "expm_frechet", "fractional_matrix_power", "hankel", "inv", "khatri_rao", "logm", "lstsq", "lu",
    "lu_factor", "lu_solve", "norm", "orthogonal_procrustes", "pinv", "pinvh", "polar", "qr",
    "sinhm", "sinm", "solve", "solve_banded", "solve_circulant", "solve_continuous_are",
    "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov", "solve_sylvester",
    "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm", "svd", "svdvals", "tanhm",
    "tanm", "toeplitz",
]  # fmt: skip
