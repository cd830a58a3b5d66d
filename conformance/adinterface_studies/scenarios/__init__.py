"""The scenarios of the judge, and more that only this project runs: worked examples, models, physics, statistics, kinks."""

from __future__ import annotations

from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios import SCENARIOS as OF_JUDGE
from adinterface_conformance.scenarios import TAGS as TAGS_OF_JUDGE
from adinterface_conformance.scenarios import unique

from . import kinks, networks, physics, precision, sparse, statistics, zoo

TAGS = {
    **TAGS_OF_JUDGE,
    "disconnected": "the value depends on no argument: engines that can tell give a DisconnectedWarning",
    "integers": "an argument is an integer, promoted to float",
    "kink": "f has no derivative there: each engine's own answer is in `documented`",
    "neural-net": "a small neural network",
}

_MODULES = (zoo, sparse, networks, statistics, physics, precision, kinks)

#: The larger ones: an engine that compiles takes seconds for some.
EXAMPLES: tuple[Scenario, ...] = unique(
    tuple(each for module in (sparse, networks, statistics, physics) for each in module.SCENARIOS)
)
SCENARIOS: tuple[Scenario, ...] = unique((*OF_JUDGE, *(each for module in _MODULES for each in module.SCENARIOS)))
