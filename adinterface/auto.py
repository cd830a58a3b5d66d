"""Backend values: plain data that says which engine to use and how. The one file of the core that names engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class AutoBackend:
    """Base of all backend values: a frozen dataclass whose fields are the engine's options.

    `name` is the name of the entry point (group `adinterface.backends`) and the import name of the engine. A package
    that brings an engine of its own derives its value from this class:

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class AutoMine(AutoBackend):
    ...     name = "mine"
    """

    name: ClassVar[str]

    @classmethod
    def install(cls) -> str:
        """The command that installs the engine."""
        return f"pip install {cls.name}"


class _Ours(AutoBackend):
    @classmethod
    def install(cls) -> str:
        return f"pip install 'adinterface[{cls.name}]'"


@dataclass(frozen=True)
class AutoJax(_Ours):
    """JAX.

    device: a `jax.Device` or `Sharding` to compute on; None leaves each array where it is.
    """

    name = "jax"
    device: Any = None


@dataclass(frozen=True)
class AutoTorch(_Ours):
    """PyTorch.

    create_graph: results stay in torch's graph, so that torch can differentiate them again.
    device: where to compute (`"cuda"`, `torch.device(...)`); None leaves each tensor where it is.
    """

    name = "torch"
    create_graph: bool = False
    device: Any = None


@dataclass(frozen=True)
class AutoAutograd(_Ours):
    """HIPS autograd: NumPy code, on the CPU."""

    name = "autograd"


@dataclass(frozen=True)
class AutoFiniteDifferences(_Ours):
    """Central differences: two evaluations of f for each real number in the arguments, four for each complex one.

    relative_step: the step for a number x is `relative_step * max(1, |x|)`. None takes the cube root of the machine
        epsilon of the leaf's dtype (6.1e-6 for float64, 4.9e-3 for float32), which balances the truncation error
        h^2 f'''/6 against the rounding error eps |f| / h.
        Source: Press et al., Numerical Recipes, 3rd ed., section 5.7.
    native: a backend such as `AutoJax()`, whose arrays f then receives; None hands f each leaf in its own library.
    """

    name = "finite_differences"
    relative_step: float | None = None
    native: AutoBackend | None = None


BUILT_IN: tuple[type[AutoBackend], ...] = (AutoJax, AutoTorch, AutoAutograd, AutoFiniteDifferences)
