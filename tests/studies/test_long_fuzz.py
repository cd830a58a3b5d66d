"""Long runs of random programs: several processes, and a state that a run goes on from."""

from adinterface_conformance.__main__ import main as judge
from adinterface_conformance.fuzz.record import Failure, Fuzzing
from adinterface_studies.__main__ import main
from adinterface_studies.fuzz import add, read

OPTIONS = ["fuzz", "--backend", "AutoFiniteDifferences", "--seed", "31", "--start", "2"]
FAILURE = Failure("AutoAutograd", "gradient", "is wrong", "", frozenset({"xp.sin({a})"}), "def f(a): ...", 3)


def test_processes_find_what_one_does(capsys):
    assert judge([*OPTIONS, "--programs", "9"]) == 0
    alone = capsys.readouterr().out
    assert main([*OPTIONS, "--programs", "9", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == alone


def test_a_run_goes_on_from_where_it_stopped(capsys, tmp_path):
    assert judge([*OPTIONS, "--programs", "9"]) == 0
    whole = capsys.readouterr().out
    state = tmp_path / "state.json"
    for programs in ("4", "9", "9"):
        main([*OPTIONS, "--programs", programs, "--resume", str(state)])
    assert capsys.readouterr().out.splitlines()[-1] + "\n" == whole
    done, backends = read(state)
    assert (done.seed, done.start, done.programs, backends) == (31, 2, 9, ["AutoFiniteDifferences()"])


def test_a_failure_of_the_run_before_is_kept_and_counted(capsys, tmp_path):
    from adinterface_studies.fuzz import _save

    state, done = tmp_path / "state.json", Fuzzing(31, 2, programs=1, failures=[FAILURE])
    add(done, Fuzzing(31, 3, programs=1, failures=[Failure(**{**vars(FAILURE), "program": 4})]))
    assert (done.programs, [failure.count for failure in done.failures]) == (2, [2])
    _save(state, done, ["AutoFiniteDifferences()"])
    assert main([*OPTIONS, "--programs", "2", "--resume", str(state)]) == 1
    assert "gradient: is wrong (2 times; first in program 3)" in capsys.readouterr().out
    assert read(state)[0] == done


def test_another_run_is_not_resumed(capsys, tmp_path):
    state = tmp_path / "state.json"
    options = [*OPTIONS, "--programs", "0", "--resume", str(state)]
    assert main(options) == 0
    assert main([*options, "--operators", "1"]) == 2
    assert f"{state} is of a run with operators 4, not 1." in capsys.readouterr().err
    assert main([*options, "--backend", "AutoAutograd"]) == 2
    assert "Resume with the same options, or name another file." in capsys.readouterr().err
    state.write_text("{}")
    assert main(options) == 2
    assert f"{state} is no state of a run: KeyError" in capsys.readouterr().err
