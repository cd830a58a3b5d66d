"""The whole table as one parametrized test, for the test suite of another backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adinterface import AutoBackend
from adinterface.tools.measured import label

from .outcome import run_scenario
from .scenario import Scenario


def conformance_tests(
    *backends: AutoBackend, scenarios: Iterable[Scenario] | None = None, everything: bool = False
) -> Callable[..., None]:
    """A pytest test of every scenario on these backends: `test_conformance =
    conformance_tests(AutoMine())`.

    A scenario that fails as `known_failures` of the backend say is an expected failure, with the
    reason. One that is listed there and passes is a failure.

    scenarios: those to take, by default all of this package. everything: do not sample the slow
    checks.
    """
    import pytest

    from .scenarios import SCENARIOS

    chosen = tuple(SCENARIOS if scenarios is None else scenarios)

    @pytest.mark.parametrize("scenario", chosen, ids=[scenario.name for scenario in chosen])
    @pytest.mark.parametrize("backend", backends, ids=map(label, backends))
    def test_conformance(backend: Any, scenario: Any) -> None:
        outcomes = list(run_scenario(scenario, backend, everything=everything))
        wrong = [f"{outcome.check}: {outcome.message}" for outcome in outcomes if not outcome.good]
        if wrong:
            again = (
                next(outcome for outcome in outcomes if not outcome.good).program
                if scenario in SCENARIOS
                else ""
            )
            head = f"{scenario.name} ({scenario.operator.__name__}) on {backend!r}"
            pytest.fail("\n".join([head, *wrong, again]), pytrace=False)
        known = next((outcome for outcome in outcomes if outcome.status == "known"), None)
        if known is not None:
            pytest.xfail(f"{known.reason} ({known.link})")

    parametrized: Callable[..., None] = test_conformance
    return parametrized
