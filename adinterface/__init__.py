"""One function, any engine: `gradient(f, backend, *args)` on nested models, with JAX, PyTorch, autograd or differences."""

from . import tree
from .contract.auto import AutoAutograd, AutoBackend, AutoFiniteDifferences, AutoJax, AutoSparse, AutoTorch, SecondOrder
from .contract.backend import Backend, FlatFunction, KnownFailure, Linearized, Pullback, Pushforward
from .contract.errors import (
    AdinterfaceError,
    BackendError,
    ConversionError,
    DenseJacobianWarning,
    DisconnectedWarning,
    MissingEngineError,
    NotDifferentiableError,
    NumpyCodeError,
    OutputError,
    PrecisionError,
    PrecisionWarning,
    RuleError,
    SparsityError,
    TreeError,
    UnrolledWarning,
)
from .contract.library import Library
from .contract.nodes import NodeType
from .contract.pattern import Colouring, SparsityPattern
from .derived.crossing import differentiate_with
from .derived.implicit import fixed_point, root
from .derived.linear import linear_solve
from .derived.recompute import checkpoint
from .loops import cond, fori_loop, scan, switch, while_loop
from .namespace import array_namespace
from .numpy_code import numpy_function
from .operators.batched import batched
from .operators.derivative import (
    ValueAndDerivative,
    ValueDerivativeAndSecondDerivative,
    derivative,
    second_derivative,
    value_and_derivative,
    value_derivative_and_second_derivative,
)
from .operators.gradient import ValueAndGradient, gradient, value_and_gradient
from .operators.hessian import (
    GradientAndHvp,
    ValueGradientAndHessian,
    diagonal_hessian,
    gradient_and_hvp,
    hessian,
    hvp,
    value_gradient_and_hessian,
)
from .operators.jacobian import ValueAndJacobian, jacobian, value_and_jacobian
from .operators.prepare import Prepared, prepare
from .operators.pullback import Back, Push, ValueAndBack, ValueAndPush, ValueAndTangent, linearize, pullback, pushforward
from .operators.sparsity import sparsity
from .rules.hooks import gradient_hook, straight_through
from .rules.ignored import ignore_derivatives, non_differentiable
from .rules.rule import Rule, rule
from .rules.scalar import scalar_rule
from .tools.check_gradient import GradientCheck, check_gradient
from .tools.check_neutral import NeutralCheck, NeutralFinding, check_neutral
from .tools.check_rule import RuleCheck, RuleFinding, check_rule
from .tools.compare import Comparison, compare
from .tools.estimate_noise import Noise, estimate_noise
from .tools.explain import Explanation, LeafReport, explain
from .tree import Constant, Duplicated, Each, register_node

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """What is for users, and nothing of the house."""
    return __all__


__all__ = [
    "AdinterfaceError",
    "AutoAutograd",
    "AutoBackend",
    "AutoFiniteDifferences",
    "AutoJax",
    "AutoSparse",
    "AutoTorch",
    "Back",
    "Backend",
    "BackendError",
    "Colouring",
    "Comparison",
    "Constant",
    "ConversionError",
    "DenseJacobianWarning",
    "DisconnectedWarning",
    "Duplicated",
    "Each",
    "Explanation",
    "FlatFunction",
    "GradientAndHvp",
    "GradientCheck",
    "KnownFailure",
    "LeafReport",
    "Library",
    "Linearized",
    "MissingEngineError",
    "NeutralCheck",
    "NeutralFinding",
    "NodeType",
    "Noise",
    "NotDifferentiableError",
    "NumpyCodeError",
    "OutputError",
    "PrecisionError",
    "PrecisionWarning",
    "Prepared",
    "Pullback",
    "Push",
    "Pushforward",
    "Rule",
    "RuleCheck",
    "RuleError",
    "RuleFinding",
    "SecondOrder",
    "SparsityError",
    "SparsityPattern",
    "TreeError",
    "UnrolledWarning",
    "ValueAndBack",
    "ValueAndDerivative",
    "ValueAndGradient",
    "ValueAndJacobian",
    "ValueAndPush",
    "ValueAndTangent",
    "ValueDerivativeAndSecondDerivative",
    "ValueGradientAndHessian",
    "__version__",
    "array_namespace",
    "batched",
    "check_gradient",
    "check_neutral",
    "check_rule",
    "checkpoint",
    "compare",
    "cond",
    "derivative",
    "diagonal_hessian",
    "differentiate_with",
    "estimate_noise",
    "explain",
    "fixed_point",
    "fori_loop",
    "gradient",
    "gradient_and_hvp",
    "gradient_hook",
    "hessian",
    "hvp",
    "ignore_derivatives",
    "jacobian",
    "linear_solve",
    "linearize",
    "non_differentiable",
    "prepare",
    "numpy_function",
    "pullback",
    "pushforward",
    "register_node",
    "root",
    "rule",
    "scalar_rule",
    "scan",
    "second_derivative",
    "sparsity",
    "straight_through",
    "switch",
    "tree",
    "value_and_derivative",
    "value_and_gradient",
    "value_and_jacobian",
    "value_derivative_and_second_derivative",
    "value_gradient_and_hessian",
    "while_loop",
]
