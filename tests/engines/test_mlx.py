"""MLX as an eager engine of a package of its own: `make engines` installs it, and runs this file alone."""

import warnings
from pathlib import Path

import pytest

pytest.importorskip("mlx.core", reason="MLX is installed by `make engines` alone")
engine = pytest.importorskip("adinterface_mlx", reason="`make engines` installs the engine")


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
