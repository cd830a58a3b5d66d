"""Forward mode of torch: leaves need no memory of their own, and a rule may call NumPy."""

import numpy as np
import pytest
import torch
from backends_table import assert_numbers

from adinterface import (
    AutoTorch,
    SecondOrder,
    gradient,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
)

FORWARD, REVERSE = AutoTorch(mode="forward"), AutoTorch()
BASE = torch.arange(1.0, 7.0, dtype=torch.float64)
each_backend = pytest.mark.parametrize("backend", [REVERSE, FORWARD], ids=["reverse", "forward"])


OVERLAPPING = {
    "unfold": BASE.unfold(0, 3, 1),
    "expand": BASE[1].expand(3),
    "rows": BASE[:2, None].expand(2, 3),
    "window": np.lib.stride_tricks.sliding_window_view(np.arange(1.0, 7.0), 3),
    "step": BASE[::2],
    "transposed": BASE.reshape(2, 3).T,
    "flat": BASE[:0].expand(3, 0),
}


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("name", OVERLAPPING)
@each_backend
def test_elements_that_share_memory_are_variables_of_their_own(backend, name):
    x = OVERLAPPING[name]
    numbers = x.clone() if isinstance(x, torch.Tensor) else torch.from_numpy(x.copy())
    flat = (2 * numbers).reshape(-1)
    assert_numbers(gradient(lambda x: (x**2).sum(), backend, x)[0], 2 * numbers, 1e-15)
    found = jacobian(lambda x: x**2, backend, x)[0]
    assert_numbers(found, torch.diag(flat).reshape(*x.shape, *x.shape), 1e-15)
    found = prepare(jacobian, lambda x: x**2, backend, x)(x)[0]
    assert_numbers(found, torch.diag(flat).reshape(*x.shape, *x.shape), 1e-15)
    assert_numbers(pushforward(lambda x: x**2, backend, (x,), (x,)).tangent, 2 * numbers**2, 1e-15)
    assert_numbers(linearize(lambda x: x**2, backend, x).push(x), 2 * numbers**2, 1e-15)
    assert_numbers(pullback(lambda x: x**2, backend, x).back(x)[0], 2 * numbers**2, 1e-15)
    for pair in (backend, SecondOrder(backend, REVERSE), SecondOrder(REVERSE, backend)):
        assert_numbers(hvp(lambda x: (x**3).sum(), pair, x, x), 6 * numbers**2, 1e-14)


def test_a_call_of_another_thread_that_leaves_the_level_is_waited_for(monkeypatch):
    # Between the end of the last call and that of torch's level, the level looked like one of
    # another: a call at that moment was refused.
    import threading

    from adinterface_torch.repairs import forward_level as module

    leaving, asked = threading.Event(), threading.Event()
    nest = module._nest

    def slow(by):
        if by < 0 and not leaving.is_set():
            leaving.set()
            asked.wait(1)
        nest(by)

    monkeypatch.setattr(module, "_nest", slow)
    first = threading.Thread(target=lambda: pushforward(torch.sin, FORWARD, (BASE,), (BASE,)))
    first.start()
    assert leaving.wait(10)
    threading.Timer(0.05, asked.set).start()
    assert_numbers(pushforward(torch.sin, FORWARD, (BASE,), (BASE,))[1], BASE.cos() * BASE)
    first.join()
