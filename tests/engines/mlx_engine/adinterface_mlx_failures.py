"""What MLX cannot do, as data for the conformance table."""

from adinterface.core.contract import KnownFailure

COMPLEX = "MLX has complex64 alone, no complex128"
ANEW = "mx.vjp evaluates the function anew for each cotangent"
RULES = "this small engine has no way to be told a derivative (Library.custom)"
POWERS = (
    "MLX does not differentiate x**n at 0, and its derivative of a complex x**n lacks the conjugate"
)
MASKS = "MLX has no boolean indices"
FACTORS = "MLX has no derivatives of factorizations"
BITS = "MLX has no nextafter"
AGAIN = [
    "trees/*",
    "layouts/[bhs]*",
    "functions/*",
    "empty/[sbn]*",
    "constants/*",
    "arrays/squared*",
    "arrays/rank-[12]*",
    "arrays/outer*",
]
FAILURES = {
    COMPLEX: [
        ("complex/*", "*"),
        *((f"function:{name}", "*") for name in ("abs", "conj", "exp", "real", "imag", "where")),
        *((f"function:{name}", "*") for name in ("astype", "*vecdot", "fft.*fft", "fft.*fftn")),
    ],
    POWERS: [("function:x [*][*] y", "*")],
    MASKS: [("function:x[[]mask]", "*")],
    FACTORS: [
        (f"function:linalg.{n}", "*") for n in ("cholesky", "eig*", "qr", "svd*", "matrix_norm")
    ],
    BITS: [("function:nextafter", "*")],
    ANEW: [
        *((f"{name}-by-pullback", "evaluations") for name in AGAIN),
        ("trees/none-in-a-cotangent", "evaluations"),
        ("rules/quotient-that-b*", "evaluations"),
    ],
    RULES: [
        ("rules/host-code", "runs"),
        ("rules/root", "runs"),
        ("rules/linear-system*", "runs"),
        ("crossings/differences-inside*", "runs"),
    ],
}
LINKS = {
    POWERS: "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.power.html",
    MASKS: "https://ml-explore.github.io/mlx/build/html/usage/indexing.html",
    FACTORS: "https://ml-explore.github.io/mlx/build/html/python/linalg.html",
    BITS: "https://ml-explore.github.io/mlx/build/html/python/ops.html",
    COMPLEX: "https://ml-explore.github.io/mlx/build/html/python/data_types.html",
    ANEW: "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.vjp.html",
    RULES: "https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.custom_function.html",
}
KNOWN_FAILURES = tuple(
    KnownFailure(scenario, check, reason, LINKS[reason])
    for reason, places in FAILURES.items()
    for scenario, check in places
)
