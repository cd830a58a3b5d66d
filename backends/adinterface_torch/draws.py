"""torch's random generators: that of the CPU, and those of the devices in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from adinterface.core.contract import Generator

from .private import outside_all


def generators(given: Sequence[Any]) -> list[Generator]:
    found = [_CPU, *map(_of, [value for value in given if isinstance(value, torch.Generator)])]
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # else nothing was drawn there, and the question would initialize it
        found.append(_CUDA)
    if torch.xpu.is_initialized():  # type: ignore[no-untyped-call]
        found.append(_XPU)
    if torch.backends.mps.is_available():
        found.append(_MPS)
    return found


def _generator(read: Callable[[], Sequence[torch.Tensor]], write: Callable[[list[torch.Tensor]], Any]) -> Generator:
    """A `Generator` for all generators of a kind, from functions that read and write their states as tensors."""

    def get() -> list[bytes]:
        with outside_all():
            return [state.numpy().tobytes() for state in read()]

    def put(states: list[bytes]) -> None:
        with outside_all():
            write([torch.frombuffer(bytearray(state), dtype=torch.uint8) for state in states])

    return Generator(get, put)


def _of(generator: torch.Generator) -> Generator:
    return _generator(lambda: [generator.get_state()], lambda states: generator.set_state(states[0]))


_CPU = _generator(lambda: [torch.get_rng_state()], lambda states: torch.set_rng_state(states[0]))
_CUDA = _generator(torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all)
_XPU = _generator(torch.xpu.get_rng_state_all, torch.xpu.set_rng_state_all)
_MPS = _generator(lambda: [torch.mps.get_rng_state()], lambda states: torch.mps.set_rng_state(states[0]))
