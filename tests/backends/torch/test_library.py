"""How results leave torch for NumPy: dense, writable, in memory of their own."""

import numpy as np
import pytest
import torch
from adinterface_torch.library import TORCH

from adinterface.core.contract.library import NUMPY

ONES = torch.ones(3, dtype=torch.float64)


@pytest.mark.parametrize(
    "other",
    [
        ONES + 1,
        ONES.new_tensor(2.0).expand(3),
        torch.ones(3, 2, dtype=torch.float64)[:, 0],
        ONES,
        torch.imag((1j * ONES).conj()),
        torch.ones(0, dtype=torch.float64),
    ],
    ids=["dense", "expanded", "strided", "shared", "negated", "empty"],
)
def test_results_for_numpy_are_dense_and_apart(other):
    to_leaf, occupied = TORCH.to_leaf(np.ones(3), NUMPY), set()
    results = [to_leaf(x, occupied) for x in (ONES.clone(), ONES, other)]
    for result, x in zip(results, (ONES, ONES, other)):
        np.testing.assert_array_equal(result, x.resolve_neg())
        assert result.flags.writeable
        assert result.flags.c_contiguous
    assert not any(np.shares_memory(a, b) for n, a in enumerate(results) for b in results[:n])


def test_a_result_in_memory_that_is_taken_is_copied():
    occupied: set[int] = set()
    assert TORCH.unshared(ONES, occupied) is ONES
    assert not np.shares_memory(TORCH.to_leaf(np.ones(3), NUMPY)(ONES, occupied), ONES.numpy())
