"""MLX as an eager engine of a package of its own: `make engines` installs it, and runs this file
alone.
"""

import warnings

import pytest

pytest.importorskip("mlx.core", reason="MLX is installed by `make engines` alone")


def test_every_check_passes_or_is_a_known_failure(capsys):
    from adinterface_conformance.__main__ import main

    assert main(["--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]


def test_every_function_of_the_standard_is_right_or_a_known_failure(capsys):
    from adinterface_studies.functions.command import main

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["--backend", "AutoMlx()"]) == 0, capsys.readouterr().out[-3000:]
