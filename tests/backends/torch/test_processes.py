"""Several processes on this machine: gradients are those of all data, and nothing hangs or is left
behind.
"""

import os
from pathlib import Path

import processes_jax
import processes_torch
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.distributed import command, launch
from adinterface_torch.distributed import DTENSORS_ARE_RIGHT

#: What the processes of all groups need, from one import for all of them: engines take longer to
#: load than most tests here.
#: JAX, too, may be forked before it has started.
IMPORTED = [command.__name__, processes_torch.__name__, processes_jax.__name__]


@pytest.fixture(scope="module", autouse=True)
def _found_by_who_forks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(
            "PYTHONPATH",
            os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
        )
        yield


def of(program, count, *args):
    return launch.together(program, count, *args, seconds=60, imported=IMPORTED)


@pytest.fixture(scope="module")
def of_torch():
    return of(processes_torch.program, 2)


def _assert_set(reports, count):
    """The set of the conformance package ran in the same processes."""
    for report in reports:
        errors = {
            name: error for name, error in report.result.items() if name.startswith("the set: ")
        }
        assert len(errors) == count
        assert not any(errors.values()), errors


def test_the_set_for_two_processes_of_torch(of_torch):
    _assert_set(of_torch, 25 if DTENSORS_ARE_RIGHT else 15)


@pytest.mark.parametrize(("count", "checks"), [(1, 15), (2, 5)])
def test_the_set_for_devices_and_processes_of_jax(of_jax, count, checks):
    _assert_set(of_jax[count], checks)


@pytest.mark.parametrize("name", processes_torch.TESTS)
def test_torch(of_torch, name):
    for report in of_torch:
        assert not report.error
        if not DTENSORS_ARE_RIGHT and "from PyTorch 2.12 on" in report.result[name]:
            pytest.skip("This PyTorch has no derivatives of DTensors.")
        assert not report.result[name]


@pytest.fixture(scope="module")
def of_jax():
    return {count: of(processes_jax.program, count) for count in (1, 2)}


@pytest.mark.parametrize(
    ("count", "name"),
    [(1, name) for name in processes_jax.ON_DEVICES]
    + [(2, name) for name in processes_jax.ON_PROCESSES],
)
def test_jax(of_jax, count, name):
    for report in of_jax[count]:
        assert not report.error
        assert not report.result[name]


# The set of the conformance package
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--member"], "A member of a group runs one engine: say which, by --backend."),
        (
            ["--backend", "AutoAutograd"],
            "No engine among those chosen has a set for several processes.",
        ),
    ],
)
def test_a_wrong_command_line(options, message, capsys):
    assert main(["distributed", *options]) == 2
    assert message in capsys.readouterr().err


def test_what_fails_is_shown_with_the_process_that_saw_it(capsys):
    right, wrong = (
        command.Outcome("a model", "one_shot", 0.5, error)
        for error in ("", "Traceback: off by one")
    )
    assert (
        command.show(
            "AutoMine()", [launch.Report(0, [right, right]), launch.Report(1, [right, wrong])]
        )
        == 1
    )
    assert (
        command.show("AutoMine()", [launch.Report(0, [right]), launch.Report(1, error="killed")])
        == 1
    )
    shown = capsys.readouterr().out
    assert "    process 1: Traceback: off by one\n" in shown
    assert "  process 1: killed\n" in shown
    assert shown.count("FAILED") == 1
