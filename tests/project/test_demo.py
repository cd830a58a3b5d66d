"""The demo on a few steps: every engine descends from the same start, along the same curve."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).parents[2] / "docs" / "demo" / "digits.py"


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits_demo", DEMO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_main_prints_a_table_and_saves_the_picture(
    demo: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["digits.py", "--steps", "3", "--output", str(tmp_path)])
    demo.main()
    shown = capsys.readouterr().out
    for name in (
        "AutoJax()",
        "AutoTorch()",
        "AutoAutograd()",
        "AutoFiniteDifferences()",
        "digits.png",
    ):
        assert name in shown
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
