"""The contract of a compiler that traces users' Python code, including its calls of this package. See `tracing`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any, NamedTuple, NoReturn

from .auto import AutoBackend


class TracedGradient(NamedTuple):
    """The result of `Compiler.gradient`."""

    output: Any
    #: None of these overlaps another array.
    aux: tuple[Any, ...]
    gradients: tuple[Any, ...]


class Compiler(ABC):
    """A compiler that traces Python code: the result of `Backend.compiler`.

    The compiler traces these methods too, so they contain only code that it can trace.
    """

    #: The name of the backend.
    name: str

    @abstractmethod
    def leave(self, code: CodeType) -> None:
        """Leave this code, and the code that it calls, uncompiled when Python calls it. Not traced."""

    @abstractmethod
    def reads_code(self) -> bool:
        """Whether it interprets the running code, as `torch.compile` does; otherwise Python runs the code on traced arrays."""

    @abstractmethod
    def refuse(self, reason: str) -> NoReturn:
        """End the tracing of the call that is being traced, and leave that call to Python.

        Raises an error with the reason where the whole program must be traced.
        """

    @abstractmethod
    def is_array(self, value: Any) -> bool:
        """Whether a value is an array of the engine that `gradient` takes."""

    @abstractmethod
    def is_floating(self, array: Any) -> bool:
        """Whether an array holds real or complex floating numbers."""

    @abstractmethod
    def is_real_scalar(self, array: Any) -> bool:
        """Whether an array is 0-d and holds a real floating number."""

    @abstractmethod
    def zeros_like(self, array: Any) -> Any: ...

    @abstractmethod
    def namespace(self) -> ModuleType:
        """What `Library.namespace` returns for an array of the engine."""

    @abstractmethod
    def accepts(self, auto: AutoBackend) -> str | None:
        """Why the options of a backend value cannot be traced; None if they can."""

    @abstractmethod
    def gradient(self, function: Callable[..., tuple[Any, tuple[Any, ...]]], leaves: Sequence[Any]) -> TracedGradient:
        """The gradients of a function from leaves to `(real scalar, aux)`, in reverse mode."""

    @abstractmethod
    def hvp(self, function: Callable[..., Any], leaves: Sequence[Any], directions: Sequence[Any]) -> tuple[Any, Any]:
        """The gradients of a function from leaves to a real scalar, and its Hessian times the directions."""


__all__ = ["Compiler", "TracedGradient"]
