"""The scenarios of the judge, and more that only this project runs: worked examples, kinks."""

from __future__ import annotations

from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios import SCENARIOS as OF_JUDGE
from adinterface_conformance.scenarios import TAGS as TAGS_OF_JUDGE
from adinterface_conformance.scenarios import unique

from . import kinks, precision, sparse, zoo

TAGS = {
    **TAGS_OF_JUDGE,
    "disconnected": (
        "the value depends on no argument: engines that can tell give a DisconnectedWarning"
    ),
    "integers": "an argument is an integer, promoted to float",
    "kink": "f has no derivative there: each engine's own answer is in `documented`",
}

#: Worked examples. The laws that they are tried by are those of the judge's scenarios, and f is
#: larger.
EXAMPLES: tuple[Scenario, ...] = tuple(
    each for module in (zoo, sparse, precision) for each in module.SCENARIOS
)
SCENARIOS: tuple[Scenario, ...] = unique((*OF_JUDGE, *EXAMPLES, *kinks.SCENARIOS))
