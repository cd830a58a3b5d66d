"""`python -m adinterface_studies deep-costs` measures a program and prints its row."""

import math

from adinterface_studies import deep_costs
from adinterface_studies.__main__ import main

from adinterface import AutoAutograd


def test_the_costs_of_copied_code(capsys, monkeypatch):
    monkeypatch.setattr(deep_costs, "ENGINES", {"autograd": (AutoAutograd(), False)})
    monkeypatch.setattr(deep_costs, "PROGRAMS", {"a sine": (math.sin, (0.5,))})
    assert main(["deep-costs", "--rounds", "1"]) == 0
    header, _, row = capsys.readouterr().out.splitlines()
    assert header == "| program | f | autograd |"
    assert row.startswith("| a sine | ")
