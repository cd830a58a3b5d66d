"""Tools for people: compare and choose backends, check gradients, explain calls.

It may import core, rules and batching. Nothing imports it.
"""

from ..core.support.publish import publish
from .argnums import backend_of, with_argnums
from .check_gradient import GradientCheck, LeafCheck, check_gradient
from .check_neutral import NeutralCheck, NeutralFinding, check_neutral
from .check_rule import RuleCheck, RuleFinding, check_rule
from .choose import Choice, choose
from .compare import Comparison, compare
from .explain import Explanation, LeafReport, explain
from .measured import LeafDifference, Measured
from .summary import LeafSummary, Summary, summary

__all__ = [
    "Choice",
    "Comparison",
    "Explanation",
    "GradientCheck",
    "LeafCheck",
    "LeafDifference",
    "LeafReport",
    "LeafSummary",
    "Measured",
    "NeutralCheck",
    "NeutralFinding",
    "RuleCheck",
    "RuleFinding",
    "Summary",
    "backend_of",
    "check_gradient",
    "check_neutral",
    "check_rule",
    "choose",
    "compare",
    "explain",
    "summary",
    "with_argnums",
]

publish(__name__, globals())
