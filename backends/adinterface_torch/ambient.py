"""The ambient state of the torch backend: state of the code that runs in this context. Threads of executors take it along."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import torch

#: How many calls of this library record f: inside one, results stay in its graph (`recording`).
DEPTH: ContextVar[int] = ContextVar("adinterface.torch.depth", default=0)
#: Whether results of the innermost call stay in the graph of every leaf that requires grad: `create_graph` (`recording`).
CREATES: ContextVar[bool] = ContextVar("adinterface.torch.creates", default=False)
depth, creates = DEPTH.get, CREATES.get


class Ambient(threading.local):
    #: The dtype that Python floats take in the innermost call (`dtypes`).
    python_float: torch.dtype | None = None


here = Ambient()
