"""The scenarios, as data: the calls, and the results where there is a formula."""

from __future__ import annotations

from ..scenario import Scenario
from . import arrays, complexes, control_flow, functions, layouts, loops, numbers, rules, trees

#: What a scenario may be tagged with, and what the tag says.
TAGS = {
    "big-endian": "an array in the byte order that is not the machine's",
    "complex": "an argument or the value is complex",
    "complex64": "computed in complex64",
    "control-flow": "a Python loop or branch",
    "discrete": "parts of the value have no derivative",
    "empty": "an array without elements is among the arguments or values",
    "float16": "computed in float16",
    "float32": "computed in float32",
    "ignored": "a part of f counts as a constant: the derivative is not the slope of the value",
    "large": "an array of more than 128 numbers",
    "loop": "a loop or branch of adinterface's",
    "many-leaves": "hundreds of leaves",
    "numpy-scalar": "a leaf is a NumPy scalar",
    "second-order": "the operator needs two derivatives",
    "tree": "an argument or the value is a tree",
    "value-dependent": "a branch on a value, which a compiler refuses",
}


def unique(scenarios: tuple[Scenario, ...]) -> tuple[Scenario, ...]:
    """The scenarios. Raises ValueError if two have the same name."""
    names: set[str] = set()
    for scenario in scenarios:
        if scenario.name in names:
            raise ValueError(f"Two scenarios are called {scenario.name!r}.")
        names.add(scenario.name)
    return scenarios


_MODULES = (numbers, arrays, functions, complexes, trees, control_flow, rules, loops, layouts)

SCENARIOS: tuple[Scenario, ...] = unique(
    tuple(each for module in _MODULES for each in module.SCENARIOS)
)
