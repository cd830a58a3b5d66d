"""f evaluated as an operator would have it evaluated, prepared and compiled as `prepare` does it, without a derivative."""

from __future__ import annotations

from typing import Any, ClassVar

from ..core.call.call import Call
from ..core.call.output import Function
from ..core.contract.backend import Arrays
from ..core.operators.operation import Forms, Operation, Results


class Evaluate(Operation):
    """The value of f, in the engine's arrays inside, in those of the arguments outside."""

    name = "evaluate"
    forms: ClassVar[Forms] = ("value",)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return function(*leaves)

    def finish(self, call: Call, results: Results) -> Any:
        outputs, aux = results
        return aux.form.assemble(outputs, aux.arrays, call.present)


class TrainingStep(Evaluate):
    """One step of `Training`; what its loss changes in the model, or in the data, is written as by `value_and_gradient`."""

    name = "Training"


TrainingStep.following = TrainingStep


__all__ = ["Evaluate", "TrainingStep"]
