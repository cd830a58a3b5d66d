"""`python -m adinterface_studies foreign`, without the packages that it is about."""

import math

import pytest
from adinterface_studies import foreign
from adinterface_studies.__main__ import main

from adinterface import AutoAutograd


def test_packages_that_are_missing_are_named(capsys, monkeypatch):
    monkeypatch.setattr(foreign.importlib.util, "find_spec", lambda name: None)
    assert main(["foreign", "--backend", "AutoAutograd()"]) == 0
    assert capsys.readouterr().out == ("galpy: missing, pip install galpy\nchemicals: missing, pip install chemicals\n")


def test_unknown_packages_and_backends(capsys):
    assert main(["foreign", "nothing", "--backend", "AutoAutograd()"]) == 0
    assert capsys.readouterr().out == "nothing: no such package in this study\n"
    with pytest.raises(SystemExit):
        main(["foreign", "--backend", "AutoNothing"])


@pytest.mark.parametrize(
    ("function", "own", "verdict"),
    [
        (lambda x: math.sin(x), (math.cos(2.0),), "right"),
        (lambda x: math.sin(x), (math.cos(2.1),), "right"),  # differences decide
        (lambda x: math.frexp(x)[0], (0.0,), "refused"),
        (lambda x: [x][1], (0.0,), "raw"),
    ],
)
def test_verdicts(function, own, verdict):
    assert foreign.judged(foreign.Case("f", function, (2.0,), own), AutoAutograd())[0] == verdict


def test_the_costs_of_copied_code(capsys, monkeypatch):
    from adinterface_studies import deep_costs

    monkeypatch.setattr(deep_costs, "ENGINES", {"autograd": (AutoAutograd(), False)})
    monkeypatch.setattr(deep_costs, "PROGRAMS", {"a sine": (math.sin, (0.5,))})
    assert main(["deep-costs", "--rounds", "1"]) == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header == "| program | f | autograd |"
    assert row.startswith("| a sine | ")
