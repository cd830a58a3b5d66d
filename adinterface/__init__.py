"""One function, any engine: `gradient(f, backend, *args)` on nested models, with JAX, PyTorch, autograd or differences."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import doors as _doors
from . import scipy as scipy
from . import sparse as _sparse
from . import spread as _spread
from .core.contract.auto import AutoAutograd, AutoBackend, AutoFiniteDifferences, AutoJax, AutoTorch, SecondOrder
from .core.contract.backend import Aux, Backend, FlatFunction, KnownFailure, Linearized, Pullback, Pushforward, Shortcuts
from .core.contract.errors import (
    AdinterfaceError,
    BackendError,
    ClosedFormWarning,
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
from .core.contract.library import NUMPY, Library, unsupported_dtype
from .core.contract.loops import Loops
from .core.contract.nodes import NodeType
from .core.contract.rules import Point
from .core.operators.batched import batched
from .core.operators.derivative import (
    ValueAndDerivative,
    ValueDerivativeAndSecondDerivative,
    derivative,
    second_derivative,
    value_and_derivative,
    value_derivative_and_second_derivative,
)
from .core.operators.dispatch import extend as _extend
from .core.operators.gradient import ValueAndGradient, gradient, value_and_gradient
from .core.operators.hessian import (
    GradientAndHvp,
    ValueGradientAndHessian,
    diagonal_hessian,
    gradient_and_hvp,
    hessian,
    hvp,
    value_gradient_and_hessian,
)
from .core.operators.jacobian import ValueAndJacobian, jacobian, value_and_jacobian
from .core.operators.prepare import Prepared, prepare
from .core.operators.pullback import Back, Push, ValueAndBack, ValueAndPush, ValueAndTangent, linearize, pullback, pushforward
from .core.tree import Constant, Duplicated, Each, register_node
from .fit import tree
from .numpy_code import numpy_function
from .rules.derived.crossing import differentiate_with
from .rules.derived.implicit import fixed_point, root
from .rules.derived.linear import linear_solve
from .rules.derived.recompute import checkpoint
from .rules.hooks import gradient_hook, straight_through
from .rules.ignored import ignore_derivatives, non_differentiable
from .rules.loops import cond, fori_loop, scan, switch, while_loop
from .rules.namespace import array_namespace
from .rules.rule import Rule, rule
from .rules.scalar import scalar_rule
from .sparse.auto import AutoSparse
from .sparse.pattern import Colouring, SparsityPattern

#: What extensions add to the core: the operations on some backend values, and what it calls by name.
_extend(_sparse.EXTENSION, _spread.EXTENSION, **_doors.ENTRIES)

if _TYPE_CHECKING:
    from .doors.namespaces.composed import ComposedNamespace
    from .fit.differential_equations import solve_bvp, solve_ivp
    from .fit.flat import Flat, flat
    from .fit.optimisers import HoldingOptimiser, Optimiser, optax, torch_optim
    from .fit.solvers import curve_fit, find_root, least_squares, minimize
    from .fit.training import Training
    from .fit.update import update
    from .sparse.sparsity import sparsity
    from .tools.check_gradient import GradientCheck, check_gradient
    from .tools.check_neutral import NeutralCheck, NeutralFinding, check_neutral
    from .tools.check_rule import RuleCheck, RuleFinding, check_rule
    from .tools.compare import Comparison, compare
    from .tools.estimate_noise import Noise, estimate_noise
    from .tools.explain import Explanation, LeafReport, explain

__version__ = "0.1.0"

#: What is imported when it is first asked for: the module that has it.
_LATER = {
    "ComposedNamespace": "doors.namespaces.composed",
    "Comparison": "tools.compare",
    "Explanation": "tools.explain",
    "Flat": "fit.flat",
    "GradientCheck": "tools.check_gradient",
    "HoldingOptimiser": "fit.optimisers",
    "LeafReport": "tools.explain",
    "NeutralCheck": "tools.check_neutral",
    "NeutralFinding": "tools.check_neutral",
    "Noise": "tools.estimate_noise",
    "Optimiser": "fit.optimisers",
    "RuleCheck": "tools.check_rule",
    "RuleFinding": "tools.check_rule",
    "Training": "fit.training",
    "check_gradient": "tools.check_gradient",
    "check_neutral": "tools.check_neutral",
    "check_rule": "tools.check_rule",
    "compare": "tools.compare",
    "curve_fit": "fit.solvers",
    "estimate_noise": "tools.estimate_noise",
    "explain": "tools.explain",
    "find_root": "fit.solvers",
    "flat": "fit.flat",
    "least_squares": "fit.solvers",
    "minimize": "fit.solvers",
    "optax": "fit.optimisers",
    "solve_bvp": "fit.differential_equations",
    "solve_ivp": "fit.differential_equations",
    "sparsity": "sparse.sparsity",
    "torch_optim": "fit.optimisers",
    "update": "fit.update",
}


def __getattr__(name: str) -> _Any:
    """Tools, solvers and optimisers are loaded at first use."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)


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
    "Aux",
    "Back",
    "Backend",
    "BackendError",
    "ClosedFormWarning",
    "Colouring",
    "Comparison",
    "ComposedNamespace",
    "Constant",
    "ConversionError",
    "DenseJacobianWarning",
    "DisconnectedWarning",
    "Duplicated",
    "Each",
    "Explanation",
    "Flat",
    "FlatFunction",
    "GradientAndHvp",
    "GradientCheck",
    "HoldingOptimiser",
    "KnownFailure",
    "LeafReport",
    "Library",
    "Linearized",
    "Loops",
    "MissingEngineError",
    "NUMPY",
    "NeutralCheck",
    "NeutralFinding",
    "NodeType",
    "Noise",
    "NotDifferentiableError",
    "NumpyCodeError",
    "Optimiser",
    "OutputError",
    "Point",
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
    "Shortcuts",
    "SparsityError",
    "SparsityPattern",
    "Training",
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
    "curve_fit",
    "derivative",
    "diagonal_hessian",
    "differentiate_with",
    "estimate_noise",
    "explain",
    "find_root",
    "fixed_point",
    "flat",
    "fori_loop",
    "gradient",
    "gradient_and_hvp",
    "gradient_hook",
    "hessian",
    "hvp",
    "ignore_derivatives",
    "jacobian",
    "least_squares",
    "linear_solve",
    "linearize",
    "minimize",
    "non_differentiable",
    "numpy_function",
    "optax",
    "prepare",
    "pullback",
    "pushforward",
    "register_node",
    "root",
    "rule",
    "scalar_rule",
    "scan",
    "second_derivative",
    "solve_bvp",
    "solve_ivp",
    "sparsity",
    "straight_through",
    "switch",
    "torch_optim",
    "tree",
    "unsupported_dtype",
    "update",
    "value_and_derivative",
    "value_and_gradient",
    "value_and_jacobian",
    "value_derivative_and_second_derivative",
    "value_gradient_and_hessian",
    "while_loop",
]
