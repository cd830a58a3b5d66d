"""The ambient state of the torch backend: state of the code that runs in this thread.

One object for each thread, whose attributes are set and restored by the functions in the files named below.
"""

from __future__ import annotations

import threading

import torch


class Ambient(threading.local):
    #: How many calls of this library record f: inside one, results stay in its graph (`recording`).
    depth = 0
    #: Whether results of the innermost call stay in the graph of every leaf that requires grad: `create_graph` (`recording`).
    creates = False
    #: The dtype that Python floats take in the innermost call (`dtypes`).
    python_float: torch.dtype | None = None


here = Ambient()
