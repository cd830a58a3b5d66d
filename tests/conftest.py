"""What holds for every test: one thread per engine, and no test may leave an engine's global state changed."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest
import torch
from backends_table import global_state

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _global_state_is_kept():
    before = global_state()
    yield
    assert global_state() == before
