"""The ambient state of the torch backend: state of the code that runs in this thread.

One object for each thread, whose attributes are set and restored by the scopes in the files named below.
"""

from __future__ import annotations

import threading

import torch


class Ambient(threading.local):
    #: How many calls of this library record f: inside one, results stay in its graph (`backend`).
    depth = 0
    #: The inputs of the innermost of them (`recording`).
    inputs: tuple[torch.Tensor, ...] = ()
    #: Whether results of the innermost call stay in the graph of every leaf that requires grad: `create_graph` (`recording`).
    creates = False
    #: The dtype that Python floats take in the innermost call (`dtypes`).
    python_float: torch.dtype | None = None
    #: Each module with its private copy, as copies are made; None if they are not collected (`state`).
    copies: list[tuple[torch.nn.Module, torch.nn.Module]] | None = None
    #: Whether a pool is being given a function. A thread that it starts outlives f, so it gets no transformations (`threads`).
    pooling = False


here = Ambient()
