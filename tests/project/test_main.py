"""`python -m adinterface` shows every backend, with or without its engine, ours or a stranger's."""

import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from forked import python

from adinterface.__main__ import rows
from adinterface.core.contract import registry

OURS = ["AutoJax()", "AutoTorch()", "AutoAutograd()", "AutoFiniteDifferences()"]

STRANGER = """
from dataclasses import dataclass
from adinterface import AutoBackend
from adinterface.core.contract import Backend

@dataclass(frozen=True)
class AutoStranger(AutoBackend):
    name = "stranger"

class StrangerBackend(Backend):
    @classmethod
    def devices(cls):
        return ["abacus:0", "abacus:1"]
"""


def add_distribution(folder: Path, name: str, entry: str, code: str) -> None:
    """A distribution as pip would have installed it: one module, and its entry point."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{name}-3.2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.2.1\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{entry}\n", encoding="utf-8")


def table(code: str = "", path: Path | None = None) -> list[list[str]]:
    """The lines that a fresh process prints, in words; `code` runs before."""
    program = f"import runpy, sys\n{code}\nrunpy.run_module('adinterface', run_name='__main__')"
    done = python("-c", program, path=path or "")
    return [line.split() for line in done.stdout.splitlines()]


def test_all_of_ours_are_there() -> None:
    found = {row.backend: row for row in rows()}
    assert list(found)[:4] == OURS
    assert all(found[name].installed == "yes" and not found[name].problem for name in OURS)
    for name, engine in zip(OURS, ("jax", "torch", "autograd")):
        assert found[name].version == version(engine)
        assert found[name].remedy == f"pip install 'adinterface[{engine}]'"
        assert "cpu" in found[name].devices or "cuda" in found[name].devices
    assert found["AutoFiniteDifferences()"].remedy == "(part of adinterface)"


def hiding(*engines: str) -> str:
    """What makes engines missing in a fresh process, which then starts in a tenth of the time."""
    return f"""
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {engines!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
"""


ENGINES = ("jax", "torch", "autograd")


@pytest.mark.parametrize("engines", [ENGINES, ("torch",)], ids=["all", "torch alone"])
def test_a_missing_engine_is_shown_with_its_remedy(engines: tuple[str, ...]) -> None:
    lines = {words[0]: words[1:] for words in table(hiding(*engines)) if words}
    missing = {f"Auto{engine.title()}()": engine for engine in engines}
    for value, engine in missing.items():
        assert lines[value] == ["no", "-", "-", "pip", "install", f"'adinterface[{engine}]'"]
    assert all(lines[name][0] == "yes" for name in OURS if name not in missing)


def test_a_broken_engine_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "autograd.py").write_text("raise OSError('wrong shared library')", encoding="utf-8")
    lines = table(hiding("jax", "torch"), tmp_path)
    assert [
        "AutoAutograd()",
        "broken",
        "-",
        "-",
        "pip",
        "install",
        "'adinterface[autograd]'",
    ] in lines
    assert ["AutoAutograd():", "OSError:", "wrong", "shared", "library"] in lines
    assert any(words[:2] == ["AutoFiniteDifferences()", "yes"] for words in lines)


def test_a_strangers_backend_is_found(tmp_path: Path) -> None:
    add_distribution(tmp_path, "stranger", "stranger = stranger:StrangerBackend", STRANGER)
    expected = [
        "AutoStranger()",
        "yes",
        "3.2.1",
        "abacus:0,",
        "abacus:1",
        "pip",
        "install",
        "stranger",
    ]
    assert table(hiding(*ENGINES), tmp_path)[-1] == expected


def test_arguments_are_an_error():
    done = python("-m", "adinterface", "nonsense", status=1)
    assert "python -m adinterface takes no arguments, not nonsense" in done.stderr
    assert "python -m adinterface choose module:function" in done.stderr


MODEL = """
import numpy as np

def loss(x, scale):
    return (x ** 2).sum() * scale

def initial():
    return np.array([1.0, -0.5])
"""


def choose(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    (folder / "my_model.py").write_text(MODEL, encoding="utf-8")
    return python("-m", "adinterface", "choose", *words, path=folder, status=status)


def test_a_backend_is_chosen_for_a_function_of_a_module(tmp_path: Path) -> None:
    backends = ["--backend", "AutoFiniteDifferences()", "--backend", "AutoAutograd()"]
    done = choose(tmp_path, "my_model:loss", "initial()", "np.pi", *backends)
    assert done.stdout.startswith("prepared gradient with 2 backends; reference AutoAutograd()\n")
    assert "\nUse AutoAutograd(): its prepared call takes " in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["my_model"], "write module:function, such as my_model:loss, not my_model"),
        (["my_model:los"], "my_model has no los"),
        (["my_modl:loss"], "Python finds no module my_modl from this folder"),
        (["my_model:loss", "--operator", "grad"], "adinterface has no operator grad"),
    ],
)
def test_a_wrong_choice_names_what_is_missing(
    words: list[str], message: str, tmp_path: Path
) -> None:
    assert message in choose(tmp_path, *words, status=2).stderr
