"""Operations without a derivative, so that f alone can be prepared and compiled, too."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.call.call import Call
from ..core.contract.backend import Arrays
from ..core.operators.operation import Forms, Operation, Results


class Evaluate(Operation):
    """The value of f: f gets arrays of the engine, and the value has those of the arguments."""

    name = "evaluate"
    forms: ClassVar[Forms] = ("value",)

    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        return function(*leaves)

    def finish(self, call: Call, results: Results) -> Any:
        outputs, aux = results
        return call.value(outputs, aux)


class TrainingStep(Evaluate):
    """One step of `Training`. What the loss changes in the model or the data is kept, as by `value_and_gradient`."""

    name = "Training"


TrainingStep.following = TrainingStep


__all__ = ["Evaluate", "TrainingStep"]
