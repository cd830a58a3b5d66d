"""The ambient state of the torch backend: state of the code that runs in this context. Threads of
executors take it along.
"""

from __future__ import annotations

from contextvars import ContextVar

#: How many calls of this library record f: inside one, results stay in its graph (`recording`).
DEPTH: ContextVar[int] = ContextVar("adinterface.torch.depth", default=0)
#: Whether results of the innermost call stay in the graph of every leaf that requires grad:
#: `create_graph` (`recording`).
CREATES: ContextVar[bool] = ContextVar("adinterface.torch.creates", default=False)
depth, creates = DEPTH.get, CREATES.get
