"""docs/architecture.md says what is so: the calls travel as it lists, the picture shows today's
imports, its files exist.
"""

import re
import sys
from pathlib import Path

import jax.numpy as jnp
import pytest
import torch
from adinterface_studies.architecture import PICTURE, picture

from adinterface import AutoJax, AutoTorch, gradient, prepare

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def _steps(heading):
    """The (file, function) of each step below a heading that begins so."""
    section = PAGE.partition(f"### `{heading}")[2].partition("\n### ")[0].partition("\n## ")[0]
    return re.findall(r"\| `(\S+\.py)` \| `(\S+)` \|", section)


def _traced(call):
    """The (file, function) of ours that a call enters, in order."""
    entered = []

    def look(frame, event, argument):
        if event == "call":
            path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
            for folder in ("adinterface", "."):
                if path.is_relative_to(ROOT / folder):
                    entered.append((str(path.relative_to(ROOT / folder)), name))
                    return

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def _calls():
    def torch_loss(x):
        return (x * x).sum()

    def jax_loss(x):
        return jnp.sum(x * x)

    x, y = torch.ones(3), jnp.ones(3)
    on_torch, on_jax = (
        prepare(gradient, torch_loss, AutoTorch(), x),
        prepare(gradient, jax_loss, AutoJax(), y),
    )
    return {
        "gradient(f, AutoTorch()": lambda: gradient(torch_loss, AutoTorch(), x),
        "fast = prepare(gradient, f, AutoTorch()": lambda: on_torch(x),
        "fast = prepare(gradient, f, AutoJax()": lambda: on_jax(y),
    }


@pytest.mark.parametrize("heading", _calls())
def test_a_call_travels_as_the_page_says(heading):
    call, steps = _calls()[heading], _steps(heading)
    call()  # the first one plans and compiles
    entered = iter(_traced(call))
    assert len(steps) >= 4
    # each in turn, for `in` consumes what comes before it
    assert [step for step in steps if step not in entered] == []


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"`([\w/]+/[\w/]+(?:\.(?:py|md))?)`", PAGE))
    assert len(named) > 30
    places = [ROOT, ROOT / "adinterface"]
    assert [
        name for name in sorted(named) if not any((place / name).exists() for place in places)
    ] == []


def test_the_picture_shows_the_imports():
    assert PICTURE.read_text(encoding="utf-8") == picture()
