"""MLX as an eager engine of a package of its own: `make engines` installs it, and runs this file alone."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from adinterface import hessian

pytest.importorskip("mlx.core", reason="MLX is installed by `make engines` alone")
engine = pytest.importorskip("adinterface_mlx", reason="`make engines` installs the engine")

BACKEND = engine.AutoMlx()


def test_an_eager_engine_fits_in_60_lines():
    """Beside it there is a file of what MLX cannot do, as data."""
    assert len(Path(engine.__file__).read_text().splitlines()) <= 60


def test_every_check_passes_or_is_a_known_failure(capsys):
    from adinterface_conformance.__main__ import main

    assert main(["--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]


def test_every_function_of_the_standard_is_right_or_a_known_failure(capsys):
    from adinterface_studies.functions.command import main

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]


def test_random_programs_find_nothing_wrong():
    from adinterface_studies.fuzz import search

    assert search([BACKEND], 7, 60) is None


def test_the_namespace_passes_over_functions_of_mlx_that_are_not_exact():
    """Those of float64 compute in float32: exp, sin and cos, and the derivatives of expm1 and tan."""
    x = np.linspace(-2.0, 2.0, 5)
    for name, slope in {"exp": np.exp, "sin": lambda x: -np.sin(x), "cos": lambda x: -np.cos(x), "expm1": np.exp}.items():
        found = hessian(lambda x, name=name: getattr(engine.NAMESPACE, name)(x).sum(), BACKEND, x)
        np.testing.assert_allclose(found, np.diag(slope(x)), rtol=1e-13, atol=1e-15)


def test_factorizations_have_the_derivatives_of_the_namespace():
    """MLX has `linalg.cholesky`, `eigh`, `qr` and `svd` without derivatives."""
    assert any("Not implemented for Eigh" in finding for finding in _findings("linalg.eigh"))
    x = np.array([[2.0, 0.3], [0.3, 1.5]])
    found = hessian(lambda x: engine.NAMESPACE.linalg.eigh(x @ x.T).eigenvalues.sum(), BACKEND, x)
    np.testing.assert_allclose(found, 2 * np.eye(4).reshape(2, 2, 2, 2), rtol=1e-11, atol=1e-11)


def _findings(name):
    engine.NAMESPACE._function(name)
    return engine.NAMESPACE.findings[name]
