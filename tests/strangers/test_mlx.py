"""MLX as an eager engine of a package of its own: `make strangers` installs it, and runs this file alone."""

from pathlib import Path

import numpy as np
import pytest

from adinterface import hessian

pytest.importorskip("mlx.core", reason="MLX is installed by `make strangers` alone")
engine = pytest.importorskip("adinterface_mlx", reason="`make strangers` installs the engine")

BACKEND = engine.AutoMlx()


def test_an_eager_engine_fits_in_65_lines():
    """Beside it there is a file of functions that MLX has not exactly, and of what it cannot do."""
    assert len(Path(engine.__file__).read_text().splitlines()) <= 65


def test_every_check_passes_or_is_a_known_failure(capsys):
    from adinterface_conformance.__main__ import main

    assert main(["--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]


def test_random_programs_find_nothing_wrong(capsys):
    from adinterface_conformance.fuzz.command import main

    assert main(["--programs", "30", "--seed", "7", "--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]


def test_functions_with_derivatives_of_their_own_are_exact():
    x = np.linspace(-2.0, 2.0, 5)
    for name, slope in {"exp": np.exp, "sin": lambda x: -np.sin(x), "cos": lambda x: -np.cos(x)}.items():
        found = hessian(lambda x, name=name: getattr(engine.NAMESPACE, name)(x).sum(), BACKEND, x)
        np.testing.assert_allclose(found, np.diag(slope(x)), rtol=1e-13, atol=1e-15)
