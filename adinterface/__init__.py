"""One function, any engine: `gradient(f, backend, *args)` on nested models, with JAX, PyTorch,
autograd or differences.

Here is what most programs need. Named modules have the rest: `rules`, `loops`, `tree`, `sparse`,
`tools`, `fit`, `scipy`, `integrations`, and `core.contract` for authors of engines.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import integrations as integrations
from . import rules as rules
from . import scipy as scipy
from . import sparse as sparse
from .batching.batched import batched
from .batching.batched import read as _read_batched
from .batching.batched_call import Each
from .batching.duplicated import Duplicated
from .core.contract.auto import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    SecondOrder,
)
from .core.contract.errors import (
    AdinterfaceError,
    BackendError,
    ClosedFormWarning,
    ConversionError,
    DenseJacobianWarning,
    DisconnectedWarning,
    MissingEngineError,
    NotDifferentiableError,
    NotRecordedError,
    NumpyCodeError,
    OutputError,
    PrecisionError,
    PrecisionWarning,
    RuleError,
    SparsityError,
    TreeError,
)
from .core.contract.registry import REGISTRY as _REGISTRY
from .core.operators.derivative import (
    ValueAndDerivative,
    ValueDerivativeAndSecondDerivative,
    derivative,
    second_derivative,
    value_and_derivative,
    value_derivative_and_second_derivative,
)
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
from .core.operators.pullback import (
    Back,
    Push,
    ValueAndBack,
    ValueAndPush,
    ValueAndTangent,
    linearize,
    pullback,
    pushforward,
)
from .core.support.publish import publish as _publish
from .core.tree import Constant, register_node
from .numpy_code import numpy_function
from .rules import array_namespace, rule
from .sparse import AutoSparse

#: What extensions add to the core: operators around operators, and functions that it calls by name.
_REGISTRY.extend(outer={batched: _read_batched}, **rules.FUNCTIONS, **sparse.FUNCTIONS)

if _TYPE_CHECKING:
    from . import fit as fit
    from . import loops as loops
    from . import tools as tools
    from . import tree as tree
    from .tools import check_gradient, compare, explain

__version__ = "0.1.0"

#: What is imported when it is first asked for, and the module that has it.
_LATER = {
    "check_gradient": "tools",
    "compare": "tools",
    "explain": "tools",
    "fit": "",
    "loops": "",
    "tools": "",
    "tree": "",
}

#: Names of operators in other packages.
_OF_OTHERS = {
    "grad": "gradient",
    "value_and_grad": "value_and_gradient",
    "jacfwd": "jacobian",
    "jacrev": "jacobian",
    "vjp": "pullback",
    "jvp": "pushforward",
    "vmap": "batched",
}

#: The public modules that list their names.
_NAMED = ("fit", "loops", "rules", "sparse", "tools", "tree", "core.contract")


def __getattr__(name: str) -> _Any:
    """Tools, trees, solvers and optimisers are loaded at first use.

    An error names the module that has the name.
    """
    from importlib import import_module

    if name not in _LATER:
        missing = f"module {__name__!r} has no attribute {name!r}"
        if name in _OF_OTHERS:
            missing += f". It is {__name__}.{_OF_OTHERS[name]}"
        for place in _NAMED:
            if not name.startswith("_") and name in import_module(f"{__name__}.{place}").__all__:
                missing += f". It is {__name__}.{place}.{name}"
                break
        raise AttributeError(missing)
    module = _LATER[name]
    return (
        getattr(import_module(f"{__name__}.{module}"), name)
        if module
        else import_module(f"{__name__}.{name}")
    )


def __dir__() -> list[str]:
    """What is for users, and nothing internal.

    A star import leaves out two modules with the names of others.
    """
    return [*__all__, "integrations", "scipy"]


__all__ = [
    "AdinterfaceError",
    "AutoAutograd",
    "AutoBackend",
    "AutoFiniteDifferences",
    "AutoJax",
    "AutoSparse",
    "AutoTorch",
    "Back",
    "BackendError",
    "ClosedFormWarning",
    "Constant",
    "ConversionError",
    "DenseJacobianWarning",
    "DisconnectedWarning",
    "Duplicated",
    "Each",
    "GradientAndHvp",
    "MissingEngineError",
    "NotDifferentiableError",
    "NotRecordedError",
    "NumpyCodeError",
    "OutputError",
    "PrecisionError",
    "PrecisionWarning",
    "Prepared",
    "Push",
    "RuleError",
    "SecondOrder",
    "SparsityError",
    "TreeError",
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
    "compare",
    "derivative",
    "diagonal_hessian",
    "explain",
    "fit",
    "gradient",
    "gradient_and_hvp",
    "hessian",
    "hvp",
    "jacobian",
    "linearize",
    "loops",
    "numpy_function",
    "prepare",
    "pullback",
    "pushforward",
    "register_node",
    "rule",
    "rules",
    "second_derivative",
    "sparse",
    "tools",
    "tree",
    "value_and_derivative",
    "value_and_gradient",
    "value_and_jacobian",
    "value_derivative_and_second_derivative",
    "value_gradient_and_hessian",
]

_publish(__name__, globals())
