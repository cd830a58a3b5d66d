"""The page "From jax.grad, ...": in each row with two calls, the other package's call and ours give
the same numbers.
"""

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from adinterface import tree

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text()
CELL = r"`([^`]+)`"
ROWS = [
    row
    for row in re.findall(rf"^\| {CELL} \| {CELL} \|$", PAGE, re.M)
    # What is a name alone, a report, or needs a model of the reader is not a row of numbers.
    if not re.search(r"check_|model|backend|\bz\b|not needed|hook", " ".join(row)) and "(" in row[0]
]


@pytest.fixture(scope="module")
def names():
    found = ModuleType("__main__").__dict__
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S):
        exec(block, found)
    for name in ("jax.flatten_util", "autograd.misc"):
        __import__(name)
    return found


def numbers(value):
    leaves = [
        leaf.detach().numpy() if isinstance(leaf, torch.Tensor) else np.asarray(leaf)
        for leaf in tree.leaves(value)
    ]
    return np.concatenate([leaf.ravel() for leaf in leaves])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_both_calls_of_a_row_give_the_same_numbers(row, names):
    theirs, ours = [numbers(eval(cell, names)) for cell in row]
    np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6)
