"""Random programs called from many threads at once."""

import threading

import pytest
from adinterface_autograd import AutogradBackend
from adinterface_studies import threads
from adinterface_studies.__main__ import main

from adinterface import AutoAutograd, AutoFiniteDifferences

pytestmark = pytest.mark.sweep


def test_many_threads_get_the_numbers_of_one():
    done = threads.hammer([AutoAutograd(), AutoFiniteDifferences()], 3, 8, 400, programs=4)
    assert done.good, str(done)
    assert done.calls == 400
    assert done.tasks > 20
    assert "400 calls of" in str(done)
    assert "8 threads" in str(done)


def test_a_number_that_depends_on_the_thread_is_found(monkeypatch):
    right = AutogradBackend.gradient

    def in_threads(self, function, leaves, *, value=True):
        found = right(self, function, leaves, value=value)
        main = threading.current_thread() is threading.main_thread()
        return found if main else found._replace(gradients=tuple(g if g is None else g * (1 + 1e-9) for g in found.gradients))

    monkeypatch.setattr(AutogradBackend, "gradient", in_threads)
    done = threads.hammer([AutoAutograd()], 3, 2, 200, programs=6)
    assert done.wrong
    assert not done.good
    assert any("program" in text and "AssertionError" in text for text in done.described)


def test_memory_that_grows_is_told():
    done = threads.Hammering(8, 10, calls=1000, before=2**20, measured_after=200, after=2**20 + threads.ALLOWED)
    assert done.good
    done.after += 800 * threads.ALLOWED_A_CALL + 1
    assert not done.good
    assert "which is growth" in str(done)


def test_the_command_calls_from_threads(capsys):
    assert main(["threads", "--backend", "AutoFiniteDifferences", "--seed", "3", "--threads", "2", "--calls", "50"]) == 0
    assert capsys.readouterr().out.startswith("50 calls of ")


def test_the_command_refuses_what_is_no_backend(capsys):
    assert main(["threads", "--backend", "AutoNothing"]) == 2
    assert "There is no backend 'AutoNothing'" in capsys.readouterr().err
