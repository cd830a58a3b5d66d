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


#: The files that take longest start first, so that neither of two processes waits long for the other at the end.
_LONGEST = ("test_conformance_jax", "test_functions", "test_numpy_code", "test_families", "test_conformance", "test_laws")


def pytest_collection_modifyitems(items):
    places = {name: n for n, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
