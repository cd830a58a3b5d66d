"""Scenarios and checks that any engine must pass.

`python -m adinterface_conformance` runs the table. In a test suite: `test_conformance =
conformance_tests(AutoMine())`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks import CHECKS, Check, check
    from .engine_tests import conformance_tests
    from .outcome import Outcome, run_scenario
    from .scenario import OneOf, Scenario

_HOME = {
    "CHECKS": "checks",
    "Check": "checks",
    "Outcome": "outcome",
    "OneOf": "scenario",
    "Scenario": "scenario",
    "check": "checks",
    "conformance_tests": "engine_tests",
    "run_scenario": "outcome",
}


def __getattr__(name: str) -> Any:
    # Late, because pytest imports this package at every start for the sake of its plugin.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)


__all__ = [
    "CHECKS",
    "Check",
    "OneOf",
    "Outcome",
    "Scenario",
    "check",
    "conformance_tests",
    "run_scenario",
]
