"""Several processes on this machine: gradients are those of all data, and nothing hangs or is left behind."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import processes
import processes_jax
import processes_torch
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.distributed import command, launch
from adinterface_torch.distributed import DTENSORS_ARE_RIGHT
from torch.distributed.launcher import LaunchConfig, elastic_launch

pytestmark = pytest.mark.sweep  # test_modules.py runs with every change

#: What the processes of all groups need, from one import for all of them: engines take longer to load than most tests here.
#: JAX, too, may be forked before it has started.
IMPORTED = [command.__name__, processes_torch.__name__, processes_jax.__name__]


@pytest.fixture(scope="module", autouse=True)
def _found_by_who_forks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]))
        yield


def of(program, count, *args):
    return launch.together(program, count, *args, seconds=60, imported=IMPORTED)


@pytest.fixture(scope="module")
def of_torch():
    return of(processes_torch.program, 2)


def _assert_set(reports, count):
    """The set of the conformance package ran in the same processes."""
    for report in reports:
        errors = {name: error for name, error in report.result.items() if name.startswith("the set: ")}
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
    ("count", "name"), [(1, name) for name in processes_jax.ON_DEVICES] + [(2, name) for name in processes_jax.ON_PROCESSES]
)
def test_jax(of_jax, count, name):
    for report in of_jax[count]:
        assert not report.error
        assert not report.result[name]


def test_a_process_that_dies_in_the_middle_is_an_error_of_the_others():
    left, gone = of(processes_torch.dying, 2)
    assert left.result == [
        "A process of the group is gone, or does not take part in this exchange: it died, or took another path through f. Look "
        "at what it printed, and start all of them again, as torchrun --max-restarts=N does by itself. "
        "init_process_group(timeout=...) says how long to wait for one."
    ]
    assert gone.error == "The process ended by itself, with exit code 7."


def test_a_process_of_jax_that_dies_in_the_middle_ends_the_others(tmp_path):
    left, gone = of(processes_jax.dying, 2, tmp_path)
    assert gone.error == "The process ended by itself, with exit code 7."
    assert left.error.startswith(("The process ended by itself", "Traceback"))
    assert "was killed" not in left.error
    assert re.search("unhealthy|heartbeat|Connection closed|peer", (tmp_path / str(left.rank)).read_text() + left.error)


# The set of the conformance package -----------------------------------------------------------------------------------


def test_the_set_for_four_processes_of_torch(capsys):
    chosen = ["--setting", "fully_shard on*", "--setting", "fully_shard, *", "--setting", "DistributedDataParallel"]
    assert main(["distributed", "--backend", "AutoTorch", "--processes", "4", *chosen]) == 0
    assert capsys.readouterr().out.count("\n  ok ") == (15 if DTENSORS_ARE_RIGHT else 5)


@pytest.fixture
def _signals_are_as_before():
    """The agent of torchrun ends its processes when it is told to end, and leaves its handlers."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals_are_as_before")
def test_members_of_a_group_that_torchrun_has_started():
    """By the agent behind that command, which here forks them."""
    group = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=2, rdzv_backend="c10d", rdzv_endpoint="localhost:0", start_method="forkserver"
    )
    chosen = ["--backend", "AutoTorch", "--setting", "DistributedDataParallel"]
    for printed in elastic_launch(group, processes.member)(["distributed", *chosen]).values():
        assert printed.count("  ok ") == 5
        assert "FAILED" not in printed


def test_members_of_a_group_of_jax():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    chosen = ["distributed", "--member", "--backend", "AutoJax", "--setting", "data-parallel, Auto*"]
    for report in of(processes_jax.member, 2, address, chosen):
        assert not report.error
        assert report.result.count("  ok ") == 5
        assert "FAILED" not in report.result


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--member"], "A member of a group runs one engine: say which, by --backend."),
        (["--backend", "AutoNothing"], "AutoNothing"),
        (["--backend", "AutoAutograd"], "No engine among those chosen has a set for several processes."),
    ],
)
def test_a_wrong_command_line(options, message, capsys):
    assert main(["distributed", *options]) == 2
    assert message in capsys.readouterr().err


def test_what_fails_is_shown_with_the_process_that_saw_it(capsys):
    right, wrong = (command.Outcome("a model", "one_shot", 0.5, error) for error in ("", "Traceback: off by one"))
    assert command.show("AutoMine()", [launch.Report(0, [right, right]), launch.Report(1, [right, wrong])]) == 1
    assert command.show("AutoMine()", [launch.Report(0, [right]), launch.Report(1, error="killed")]) == 1
    shown = capsys.readouterr().out
    assert "    process 1: Traceback: off by one\n" in shown
    assert "  process 1: killed\n" in shown
    assert shown.count("FAILED") == 1


# Starting processes ---------------------------------------------------------------------------------------------------


def test_results_come_in_the_order_of_ranks():
    assert [report.result for report in launch.together(processes.ranks, 3, 10)] == [(10, 3), (11, 3), (12, 3)]


def test_what_a_process_raises_is_its_report():
    fine, wrong = launch.together(processes.fails, 2)
    assert (fine.result, fine.error) == ("fine", "")
    assert wrong.error.endswith("ValueError: of its own\n")


def test_nothing_takes_longer_than_it_may():
    for report in launch.together(processes.sleeps, 2, 60, seconds=1):
        assert report.error == "The process did not end in time, and was killed."


def test_the_others_do_not_wait_for_one_that_is_gone(monkeypatch):
    monkeypatch.setattr(launch, "GRACE", 1.0)
    waiting, gone = launch.together(processes.leaves, 2)
    assert waiting.error == "The process did not end in time, and was killed."  # after its minute it would have ended
    assert gone.error == "The process ended by itself, with exit code 3."


def test_no_process_outlives_one_that_was_killed(tmp_path):
    program = (
        f"import pathlib, sys; sys.path[:0] = {sys.path!r}\n"
        f"import processes\n"
        f"if __name__ == '__main__':\n"
        f"    from adinterface_studies.distributed.launch import together\n"
        f"    together(processes.sleeps, 2, 60, pathlib.Path({str(tmp_path)!r}))\n"
    )
    (tmp_path / "program.py").write_text(program)
    begun = time.perf_counter()
    started = subprocess.Popen([sys.executable, str(tmp_path / "program.py")])
    try:
        while len(numbers := [path.name for path in tmp_path.iterdir() if path.name.isdigit()]) < 2:
            assert time.perf_counter() - begun < 60
            time.sleep(0.1)
    finally:
        started.send_signal(signal.SIGKILL)
        started.wait()
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            while _runs(int(number)):
                assert time.perf_counter() - begun < 60
                time.sleep(0.1)


def _runs(number):
    os.kill(number, 0)
    with open(f"/proc/{number}/stat") as file:  # one that nobody has asked about since it ended is there still
        return file.read().rpartition(")")[2].split()[0] != "Z"
