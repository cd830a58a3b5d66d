"""Operators without a derivative, so that f alone can be prepared and compiled, too."""

from __future__ import annotations

from dataclasses import replace

from ..core.call.call import Call
from ..core.call.row import OperatorRow, Parts
from ..core.contract.backend import Arrays


def _value(f: Call, x: Arrays, _: Arrays) -> Parts:
    return (f(*x),)


#: The value of f: f gets arrays of the engine, and the value has those of the arguments.
EVALUATE = OperatorRow("evaluate", _value, ("value",))

#: One step of `Training`. What the loss changes in the model or the data is kept, as by
#: `value_and_gradient`.
TRAINING_STEP = replace(EVALUATE, name="Training", writes=True)

#: Named in the error for an f that changes its arguments: a solver cannot keep such changes.
AT_EACH_POINT = replace(EVALUATE, name="solvers")


__all__ = ["AT_EACH_POINT", "EVALUATE", "TRAINING_STEP"]
