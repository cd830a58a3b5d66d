"""The runner: what it chooses, what it shows, what it writes, and how it ends."""

import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from adinterface_conformance import CHECKS
from adinterface_conformance import scenarios as data
from adinterface_conformance.__main__ import main
from adinterface_conformance.outcome import Outcome, run_scenario
from adinterface_conformance.processes import results_of
from adinterface_conformance.runner import Run, Selection, backend_from, begun, matching, show
from adinterface_conformance.runner import run as run_into
from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios.namespace import scenarios_of
from adinterface_conformance.use import Use
from adinterface_finite import FiniteDifferencesBackend

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    SecondOrder,
    array_namespace,
    gradient,
    hessian,
)
from adinterface.core.contract import KnownFailure

GOOD = Scenario("lines/slope", gradient, lambda x: 3 * x, (2.0,), expected=(3.0,))
BENT = Scenario(
    "curves/bend", hessian, lambda x: x * x, (2.0,), expected=2.0, tags=frozenset({"second-order"})
)
WRONG = Scenario("lines/wrong", gradient, lambda x: 3 * x, (2.0,), expected=(4.0,))
FINITE = AutoFiniteDifferences()
REASON, LINK = "because <so>", "https://example.org/issue?a=1&b=2"


@pytest.fixture
def scenarios(monkeypatch):
    """Three scenarios instead of all."""
    monkeypatch.setattr(data, "SCENARIOS", (GOOD, BENT, WRONG))
    return data


@pytest.fixture
def known(monkeypatch):
    """Declares known failures of finite differences."""

    def declare(*failures):
        monkeypatch.setattr(FiniteDifferencesBackend, "known_failures", failures)

    return declare


def run(selection, **options):
    done = begun(selection)
    run_into(selection, done, **options)
    return done


def statuses(scenario, backend=FINITE, **options):
    return {outcome.check: outcome.status for outcome in run_scenario(scenario, backend, **options)}


# Outcomes
# ------------------------------------------------------------------------------------------------


def test_a_failure_is_printed_as_a_program_that_repeats_it(capsys, monkeypatch):
    wrong = replace(GOOD, name="lines/wrong", expected=(4.0,))
    monkeypatch.setattr(data, "SCENARIOS", (GOOD, wrong))
    assert (
        main(["--backend", "AutoFiniteDifferences(method='central')", "--scenario", "lines"]) == 1
    )
    program = (
        capsys.readouterr()
        .out.partition("The first failure again:\n")[2]
        .partition(".function(scenario, backend)\n")
    )
    with pytest.raises(AssertionError, match=r"wanted 4\.0"):
        exec(program[0] + program[1], {})
    assert "lines/wrong" in capsys.readouterr().out


def test_a_right_scenario_passes():
    outcomes = run_scenario(GOOD, FINITE)
    assert [
        (outcome.check, outcome.message) for outcome in outcomes if outcome.status != "passed"
    ] == []
    assert outcomes


def test_a_wrong_one_fails_in_the_check_that_sees_it():
    found = list(run_scenario(WRONG, FINITE))
    assert {outcome.check for outcome in found if outcome.status == "failed"} == {"formula"}
    (failed,) = [outcome for outcome in found if not outcome.good]
    assert re.fullmatch(
        r"gradient\[0\]: got [23]\.\d+, wanted 4\.0, off by 1 where 6e-09 is allowed",
        failed.message,
    )
    assert (failed.backend, failed.family, failed.operator) == (
        "AutoFiniteDifferences()",
        "lines",
        "gradient",
    )


def test_a_known_failure_is_known_with_its_reason(known):
    known(KnownFailure("lines/*", "formula", REASON, LINK))
    (outcome,) = [outcome for outcome in run_scenario(WRONG, FINITE) if outcome.check == "formula"]
    assert (outcome.status, outcome.reason, outcome.link) == ("known", REASON, LINK)


def test_a_known_failure_that_passes_is_unexpected(known):
    known(KnownFailure("lines/slope", "formula", REASON, LINK))
    assert statuses(GOOD)["formula"] == "unexpected"
    assert set(statuses(GOOD).values()) == {"unexpected", "passed"}


def test_of_a_known_failure_of_all_checks_one_must_fail(known):
    known(KnownFailure("lines/wrong", "*", REASON, LINK))
    assert set(statuses(WRONG).values()) == {"known", "passed"}
    known(KnownFailure("lines/slope", "*", REASON, LINK))
    assert set(statuses(GOOD).values()) == {"unexpected"}


def test_if_the_operator_raises_nothing_else_is_checked():
    def raising(x):
        raise ArithmeticError("f cannot")

    found = list(run_scenario(replace(GOOD, f=raising), FINITE))
    assert [(outcome.check, outcome.status, outcome.message) for outcome in found] == [
        ("runs", "failed", "ArithmeticError: f cannot")
    ]


@pytest.mark.parametrize("auto", [AutoAutograd, AutoTorch])
def test_pairs_and_modes_can_be_tested_too(auto):
    cubes = replace(BENT, f=lambda x: array_namespace(x).sin(x) ** 3, expected=None)
    for backend in (auto(mode="forward"), auto(mode="reverse"), SecondOrder(FINITE, auto())):
        # torch's forward mode keeps its level for the whole process, so that threads meet in it.
        found = run_scenario(
            cubes, backend, everything=True, wanted=lambda check: check.name != "threads"
        )
        assert [str(outcome) for outcome in found if not outcome.good] == []


# Choosing
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AutoTorch", AutoTorch()),
        ("AutoTorch()", AutoTorch()),
        ("AutoTorch(mode='forward', chunk_size=3)", AutoTorch(mode="forward", chunk_size=3)),
        ("AutoFiniteDifferences(native=AutoJax())", AutoFiniteDifferences(native=AutoJax())),
        ("SecondOrder(AutoFiniteDifferences(), AutoJax())", SecondOrder(FINITE, AutoJax())),
    ],
)
def test_a_backend_is_read_from_the_command_line(text, expected):
    assert backend_from(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[
            (text, "^There is no backend 'AutoNothing'; there are AutoAutograd, ")
            for text in ("AutoNothing", "AutoNothing()")
        ],
        (
            "SecondOrder(AutoNothing(), AutoTorch())",
            "^There is no backend 'AutoNothing'; there are AutoAutograd, ",
        ),
        ("__import__('os')", "^There is no backend '__import__'"),
        (
            "AutoTorch(mode=os.name)",
            r"^'AutoTorch\(mode=os.name\)' is no backend: os.name is no literal$",
        ),
        *[
            (text, f"^{re.escape(repr(text))} is no backend")
            for text in ("3", "AutoTorch(", "AutoTorch(colour=1)", "")
        ],
    ],
)
def test_what_is_no_backend_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        backend_from(text)


def test_scenarios_are_chosen_by_name_family_operator_or_tag():
    every = (GOOD, BENT, WRONG)
    assert matching(every, []) == [GOOD, BENT, WRONG]
    assert matching(every, ["lines/s*"]) == [GOOD]
    assert matching(every, ["lines"]) == [GOOD, WRONG]
    assert matching(every, ["hessian"]) == matching(every, ["second-order"]) == [BENT]
    assert matching(every, ["nothing"]) == []


# Running
# ------------------------------------------------------------------------------------------------


def test_checks_are_chosen_by_pattern(scenarios):
    found = run(Selection((FINITE,), ("lines/slope",), ("form*",)))
    assert [outcome.check for outcome in found.outcomes] == ["runs", "formula"]


def test_a_report_is_one_screen(capsys, monkeypatch):
    """What fails in one way is one entry; the largest entries are shown."""
    from adinterface_conformance import runner

    outcomes = [
        Outcome("AutoMine()", f"many/scenario-{n}", "many", "gradient", check, "failed", message)
        for check in ("runs", "dtype", "value", "structure", "taylor", "outer", "memory", "stacks")
        for n, message in enumerate(("got 1.5", "got 2.5"))
    ]
    monkeypatch.setattr(runner, "run", lambda selection, done, **rest: None)
    show(Selection((FINITE,), ()), Run(("AutoMine()",), 2, outcomes=outcomes))
    lines = capsys.readouterr().out.splitlines()
    assert "failed AutoMine(): many/scenario-0 and 1 more, runs" in lines
    assert lines.count("      got 1.5") == runner.KINDS
    assert "failed in other ways: 4 checks" in lines


def test_several_processes_give_what_one_gives():
    names = tuple(
        scenario.name
        for scenario in matching(data.SCENARIOS, ["numbers/*gradient*", "numbers/*hessian*"])[:20]
    )
    plan = Selection((FINITE, AutoAutograd()), names)
    together, alone = run(plan, jobs=2), run(plan)
    assert [replace(outcome, seconds=0) for outcome in together.outcomes] == [
        replace(outcome, seconds=0) for outcome in alone.outcomes
    ]


CRASHING = """
import os, time
from adinterface import gradient
from adinterface_conformance.scenario import Scenario

SCENARIOS = (
    Scenario("ends/process", gradient, lambda x: os._exit(3), (2.0,), expected=(3.0,)),
    Scenario("ends/never", gradient, lambda x: time.sleep(60) or x, (2.0,), expected=(1.0,)),
    Scenario("ends/well", gradient, lambda x: 3 * x, (2.0,), expected=(3.0,)),
)
"""


def test_a_crash_and_a_scenario_without_end_cost_their_own_scenario_alone(tmp_path, monkeypatch):
    (tmp_path / "crashing_catalogue.py").write_text(CRASHING)
    monkeypatch.syspath_prepend(tmp_path)
    plan = Selection(
        (FINITE,),
        ("ends/process", "ends/never", "ends/well"),
        ("runs",),
        catalogue="crashing_catalogue",
    )
    found = run(plan, limit=15.0)
    assert [(outcome.scenario, outcome.status, outcome.message) for outcome in found.outcomes] == [
        ("ends/process", "failed", "the process ended with exit code 3, without a Python error"),
        ("ends/never", "failed", "took longer than 15 s, and was ended"),
        ("ends/well", "passed", ""),
    ]


def test_what_cannot_be_sent_to_a_process_is_an_error():
    [(_, result)] = results_of([lambda: 1], print, 1, None)
    assert isinstance(result, (AttributeError, pickle.PicklingError))
    assert "pickle" in str(result)


def test_the_table_counts_and_lists_what_is_not_green(scenarios, known, capsys):
    known(KnownFailure("curves/bend", "taylor", REASON, LINK))
    found = show(Selection((FINITE, AutoAutograd()), ("lines/slope", "curves/bend", "lines/wrong")))
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("backend                  passed  known  failed  unexpected")
    assert re.fullmatch(r"AutoFiniteDifferences\(\) +\d+ +· +1 +1", lines[start + 1])
    assert re.fullmatch(r"AutoAutograd\(\) +\d+ +· +1 +·", lines[start + 2])
    assert "unexpected AutoFiniteDifferences(): curves/bend, taylor" in lines
    detail = lines[lines.index("failed AutoAutograd(): lines/wrong, formula") + 1]
    assert detail.startswith("      gradient[0]: got 3.0, wanted 4.0")
    assert lines[-1].endswith("2 failed, 1 passed unexpectedly")
    assert not found.good


# The command
# ------------------------------------------------------------------------------------------------


def test_the_command_ends_with_0(scenarios, capsys):
    assert main(["--backend", "AutoFiniteDifferences", "--scenario", "lines/slope"]) == 0
    assert "everything as it should be" in capsys.readouterr().out


def test_the_command_writes_what_it_found(scenarios, known, tmp_path):
    known(
        KnownFailure("lines/wrong", "formula", REASON, LINK),
        KnownFailure("curves/bend", "taylor", REASON, LINK),
    )
    file = tmp_path / "out.json"
    assert main(["--backend", "AutoFiniteDifferences", "--json", str(file)]) == 1
    found = json.loads(file.read_text())
    counts = found["counts"]["AutoFiniteDifferences()"]
    assert (counts["known"], counts["unexpected"]) == (1, 1)
    assert {each["reason"] for each in found["outcomes"] if each["status"] == "known"} == {REASON}
    assert "adinterface" in found["versions"]


def test_the_command_ends_with_1_after_an_unexpected_pass(scenarios, known):
    known(KnownFailure("lines/slope", "formula", REASON, LINK))
    assert main(["--backend", "AutoFiniteDifferences", "--scenario", "lines/slope"]) == 1


@pytest.mark.parametrize("arguments", [["--scenario", "nothing/*"], ["--backend", "AutoNothing"]])
def test_a_wrong_command_line_ends_with_2(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err


def test_it_says_what_was_not_checked(scenarios, monkeypatch, capsys):
    monkeypatch.setitem(
        CHECKS,
        "sparse",
        CHECKS["sparse"]._replace(unasked=lambda backend: "SciPy is not installed"),
    )
    command = ["--scenario", "lines/slope", "--backend", "AutoFiniteDifferences"]
    assert main([*command, "--backend", "AutoAutograd"]) == 0
    shown = capsys.readouterr().out
    assert "Not checked on AutoAutograd(): sparse: SciPy is not installed." in shown
    assert (
        "Not checked on AutoFiniteDifferences(): own_arrays: it has no arrays of its own." in shown
    )
    assert "The array functions of AutoAutograd() were not checked one by one: --all does." in shown
    assert "functions of AutoFiniteDifferences()" not in shown


def test_the_functions_of_the_standard_are_scenarios(capsys):
    assert (
        main(
            [
                "--backend",
                "AutoAutograd",
                "--scenario",
                "function:exp",
                "--scenario",
                "function:take",
            ]
        )
        == 0
    )
    assert "were not checked" not in capsys.readouterr().out


def test_all_runs_functions(scenarios, monkeypatch, tmp_path, capsys):
    from adinterface_conformance import __main__ as command

    monkeypatch.setattr(
        command, "FUNCTIONS", [each for each in command.FUNCTIONS if each.name == "function:exp"]
    )
    monkeypatch.setattr(data, "SCENARIOS", (GOOD,))
    assert main(["--all", "--backend", "AutoAutograd", "--json", str(tmp_path / "out.json")]) == 0
    outcomes = json.loads((tmp_path / "out.json").read_text())["outcomes"]
    assert {outcome["scenario"] for outcome in outcomes} == {"lines/slope", "function:exp"}


@pytest.mark.parametrize("index", [-1, 2])
def test_a_namespace_that_clamps_indices_is_wrong(index, monkeypatch):
    """What the scenarios of derivatives do not see: `take` of an engine gives other elements for
    negative indices.
    """

    def take(xp, x):
        return x[max(index, 0)] if type(x) is not np.ndarray else x[index]

    use = Use("take", take, (np.array([0.5, 1.5, 2.5]),), "smooth")
    failed = {
        o.check
        for scenario in scenarios_of(use)
        for o in run_scenario(scenario, AutoAutograd())
        if not o.good
    }
    assert ("value" in failed) == (index < 0)


def test_list_runs_nothing(capsys):
    assert main(["--list", "--scenario", "numbers/*"]) == 0
    shown = capsys.readouterr().out
    assert "numbers/" in shown
    assert "taylor  The error of the Taylor polynomial" in shown
