"""Results leave torch one by one, and many at once where that is simple."""

import numpy as np
import pytest
import torch
from adinterface_torch.library import TORCH

from adinterface.core.contract.library import NUMPY

ONES = torch.ones(3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("other", "simple"),
    [
        (ONES + 1, True),
        (ONES.new_tensor(2.0).expand(3), True),
        (torch.ones(3, 2, dtype=torch.float64)[:, 0], True),
        (ONES, False),
        (torch.imag((1j * ONES).conj()), False),
        (torch.ones(0, dtype=torch.float64), False),
    ],
    ids=["dense", "expanded", "strided", "shared", "negated", "empty"],
)
def test_results_leave_at_once_as_they_do_one_by_one(other, simple):
    leave, leave_all = TORCH.leave(np.ones(3), NUMPY), TORCH.leave_all([np.ones(3)] * 2, [NUMPY] * 2)
    taken = set()
    one_by_one = [leave(x, taken) for x in (ONES.clone(), other)]
    at_once = leave_all((ONES, other), set())
    assert (at_once is not None) == simple
    for results in filter(None, (one_by_one, at_once)):
        for result, x in zip(results, (ONES, other)):
            np.testing.assert_array_equal(result, x.resolve_neg())
            assert result.flags.writeable
            assert result.flags.c_contiguous
        assert not np.shares_memory(*results)


def test_a_result_in_memory_that_is_taken_is_copied():
    taken = {TORCH.memory(ONES)}
    assert TORCH.leave_all([np.ones(3)], [NUMPY])((ONES,), taken) is None
    assert not np.shares_memory(TORCH.leave(np.ones(3), NUMPY)(ONES, taken), ONES.numpy())
