"""The scenarios are well-formed: without this file one could lack an answer or an operator, and no
engine would fail.
"""

from collections import Counter

from adinterface_conformance.checks import CHECKS, checks_for
from adinterface_conformance.scenarios import SCENARIOS as OF_JUDGE
from adinterface_conformance.scenarios.namespace import FUNCTIONS
from adinterface_studies.scenarios import SCENARIOS, TAGS
from backends_table import BACKENDS

from adinterface.core.contract.registry import REGISTRY


def test_names_are_unique_and_of_the_agreed_form():
    assert [name for name, count in Counter(s.name for s in SCENARIOS).items() if count > 1] == []
    assert [
        s.name for s in SCENARIOS if not all(part and part.islower() for part in s.name.split("/"))
    ] == []
    assert [
        s.name for s in SCENARIOS if s.name.count("/") != 1 or " " in s.name or "_" in s.name
    ] == []


def test_every_operator_is_there_and_no_other():
    assert (
        {s.operator for s in SCENARIOS} == {s.operator for s in OF_JUDGE} == set(REGISTRY.operators)
    )


def test_the_scenarios_of_the_judge_alone_ask_every_check_of_an_engine():
    """Answers that are documented for an engine are those of this project."""
    found = {
        check.name for scenario in OF_JUDGE for check in checks_for(scenario, BACKENDS["torch"])
    }
    assert found == set(CHECKS) - {"documented", "workers"}


def test_tags_are_known_and_all_are_used():
    assert {tag for s in (*SCENARIOS, *FUNCTIONS) for tag in s.tags} == set(TAGS)
    assert [
        s.name
        for s in SCENARIOS
        if ("second-order" in s.tags) != (REGISTRY.operators[s.operator].order == 2)
    ] == []


def test_kinks_and_only_kinks_have_documented_answers():
    names = {backend.name for backend in BACKENDS.values()}
    assert [s.name for s in SCENARIOS if ("kink" in s.tags) != bool(s.documented)] == []
    assert [s.name for s in SCENARIOS if s.documented and set(s.documented) != names] == []
