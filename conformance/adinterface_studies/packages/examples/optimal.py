"""pymoo and POT."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example
from .numbers import OTHER_ROWS, ROWS, SHARES

_PROBLEMS = {
    "ackley": 3, "griewank": 3, "himmelblau": 2, "rastrigin": 3, "rosenbrock": 3, "schwefel": 3, "sphere": 3, "zakharov": 3,
    "bnh": 2, "osy": 6, "tnk": 2, "truss2d": 3, "welded_beam": 4, "kursawe": 3, "carside": 7, "zdt1": 5, "zdt2": 5, "zdt3": 5,
    "zdt4": 5, "zdt6": 5, "dtlz1": 7, "dtlz2": 7, "dtlz3": 7, "dtlz4": 7, "dtlz5": 7, "dtlz6": 7, "dtlz7": 7, "ctp1": 3,
    "ctp2": 3, "ctp3": 3, "ctp4": 3, "ctp5": 3, "ctp6": 3, "ctp7": 3, "ctp8": 3, "g1": 13, "g2": 20, "g3": 10, "g4": 5, "g5": 4,
    "g6": 2, "g7": 10, "g8": 2, "g9": 7, "g10": 8, "g11": 2, "g12": 3, "g13": 5, "srn": 2, "pressure_vessel": 4,
    "cantilevered_beam": 4, "omnitest": 2, "sympart": 2, "mw1": 5, "mw2": 5, "mw3": 5, "mw4": 5, "wfg1": 6, "wfg2": 6,
    "wfg3": 6,
    "wfg4": 6, "wfg5": 6, "wfg6": 6, "wfg7": 6, "wfg8": 6, "wfg9": 6, "c1dtlz1": 7, "c1dtlz3": 7, "c2dtlz2": 7, "c3dtlz1": 7,
    "c3dtlz4": 7, "dc1dtlz1": 7, "convex_dtlz2": 7,
}  # fmt: skip


def examples() -> list[Example]:
    return [*_pymoo(), *_transport()]


def _evaluated(name: str) -> Any:
    def use(get_problem: Any, share: Any) -> Any:
        problem = _problem(get_problem, name)
        low, high = np.broadcast_to(problem.xl, share.shape), np.broadcast_to(problem.xu, share.shape)
        return problem.evaluate(np.reshape(low + share * (high - low), (1, -1)), return_as_dictionary=False)

    return use


def _problem(get_problem: Any, name: str) -> Any:
    if name.startswith("wfg"):
        return get_problem(name, n_var=6, n_obj=3, k=4)
    if name.startswith(("zdt", "mw")):
        return get_problem(name, n_var=5)
    if name in ("ackley", "griewank", "rastrigin", "rosenbrock", "schwefel", "sphere", "zakharov"):
        return get_problem(name, n_var=3)
    if name.startswith(("dtlz", "convex")):
        return get_problem(name, n_var=7, n_obj=3)
    return get_problem(name)


def _pymoo() -> list[Example]:
    found = []
    for name, size in _PROBLEMS.items():
        share = 0.31 + 0.37 * np.sin(1.7 * np.arange(size) + 0.4) ** 2
        found.append(Example(f"pymoo.problems.get_problem {name}", (share,), use=_evaluated(name)))
    return found


def _transport() -> list[Example]:
    a, b = np.array([0.2, 0.3, 0.1, 0.25, 0.1, 0.05]), np.array([0.15, 0.35, 0.2, 0.2, 0.1])
    cost = np.abs(ROWS @ OTHER_ROWS.T) + 0.1
    return [
        Example("ot.dist", (ROWS, OTHER_ROWS)),
        Example("ot.dist euclidean", (ROWS, OTHER_ROWS), {"metric": "euclidean"}),
        Example("ot.utils.euclidean_distances", (ROWS, OTHER_ROWS)),
        Example("ot.utils.dist0", (3,)),
        Example("ot.utils.kernel", (ROWS, OTHER_ROWS)),
        Example("ot.utils.proj_simplex", (SHARES * 1.7,)),
        Example("ot.utils.cost_normalization", (cost,), {"norm": "max"}),
        Example("ot.sinkhorn", (a, b, cost, 0.8)),
        Example("ot.sinkhorn2", (a, b, cost, 0.8)),
        Example("ot.bregman.sinkhorn_log", (a, b, cost, 0.8)),
        Example("ot.bregman.sinkhorn_stabilized", (a, b, cost, 0.8)),
        Example("ot.bregman.empirical_sinkhorn2", (ROWS, OTHER_ROWS, 2.0)),
        Example("ot.unbalanced.sinkhorn_unbalanced", (a, b, cost, 0.8, 0.9)),
        Example("ot.unbalanced.mm_unbalanced", (a, b, cost, 0.9)),
        Example("ot.emd2", (a, b, cost)),
        Example("ot.emd", (a, b, cost)),
        Example("ot.wasserstein_1d", (ROWS[:, 0].copy(), OTHER_ROWS[:, 0].copy())),
        Example("ot.emd2_1d", (ROWS[:, 0].copy(), OTHER_ROWS[:, 0].copy())),
        Example("ot.sliced_wasserstein_distance", (ROWS, OTHER_ROWS), {"seed": 1}),
        Example(
            "ot.gaussian.bures_wasserstein_distance", (ROWS[0].copy(), ROWS[1].copy(), ROWS.T @ ROWS, OTHER_ROWS.T @ OTHER_ROWS)
        ),
        Example(
            "ot.gaussian.bures_wasserstein_mapping", (ROWS[0].copy(), ROWS[1].copy(), ROWS.T @ ROWS, OTHER_ROWS.T @ OTHER_ROWS)
        ),
        Example("ot.gromov.gwggrad", (cost[:5], cost[:5], cost[:5]), use=lambda f, c, h, t: f(c, h, t)),
        Example("ot.solve", (cost, a, b), {"reg": 0.8}, use=lambda f, m, p, q, **k: f(m, p, q, **k).value),
        Example("ot.lp.center_ot_dual", (a, b), use=lambda f, p, q: f(p, q)),
    ]
