"""The ambient state of the torch backend: state of the code that runs in this thread.

One object for each thread, whose attributes are set and restored by the scopes in the files named below.
"""

from __future__ import annotations

import threading
from typing import Any

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
    #: The private copies of modules that are made, each with its module; None if they are not noted (`state`).
    copies: list[tuple[torch.nn.Module, torch.nn.Module]] | None = None
    #: What looks for wrappers that exchange gradients: a `Watch` (`distributed`).
    watch: Any = None
    #: Whether a pool is asked to run a function: a thread that it starts then outlives f, and takes nothing along (`threads`).
    pooling = False
    #: The rule of which the value is computed: a `Called` (`captured`).
    called: Any = None
    #: The leaves of graphs that the innermost derivative of a rule makes; None outside of one (`captured`).
    made: list[torch.Tensor] | None = None


here = Ambient()
