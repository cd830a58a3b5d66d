"""The registry: engines, and what extensions and users add to the core.

Backends are found by entry point and loaded at first use. The name of an entry point in the group
`adinterface.backends` is the import name of its engine. So the core knows which engines a program
has loaded without importing any.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from types import CodeType
from typing import Any

from ..support.entry_points import GROUP, distribution_of
from ..support.entry_points import entry_points as _entry_points
from .auto import AutoBackend, Mode
from .backend import Backend
from .errors import BackendError, MissingEngineError, an
from .library import Library
from .nodes import NodeType


class Registry:
    """What packages, extensions and users have registered. `print(REGISTRY)` shows it."""

    def __init__(self) -> None:
        #: The row of each operator, by the function that users call.
        self.operators: dict[Any, Any] = {}
        #: Operators around an operator, such as `batched`. For `batched(gradient, f, backend, x)`
        #: an entry takes a caller for messages, `gradient`, `(f, backend, x)` and the keywords, and
        #: returns a row, f, the backend and `(x,)`.
        self.outer: dict[Any, Callable[..., Any]] = {}
        #: What the core and engines call in extensions: `"module:name"` by name.
        self.functions: dict[str, str] = {}
        #: The libraries of extensions, whose arrays are leaves.
        self.libraries: list[Library] = []
        #: The node types of registered classes.
        self.node_types: dict[type, NodeType] = {}
        #: A cache: the library or the node type of each class of values; of classes without either
        #: those that `opaque` has.
        self.handlers: dict[type, Library | NodeType] = {}
        #: The backends that a call has needed.
        self.backends: dict[str, type[Backend]] = {}
        #: The code of functions that compilers leave to Python, and what tells the compilers.
        self.untraced: set[CodeType] = set()
        self.compilers: list[Callable[[CodeType], Any]] = []

    def extend(self, outer: Mapping[Any, Any] | tuple[()] = (), **functions: str) -> None:
        """Register operators around an operator, and functions of extensions."""
        self.outer.update(outer)
        self.functions.update(functions)

    def __repr__(self) -> str:
        """Each table by its name, with the names of its entries."""
        shown = {
            "backends": names(),
            "loaded": self.backends,
            "operators": [row.name for row in self.operators.values()],
            "around an operator": [operator.__name__ for operator in self.outer],
            "functions of extensions": [f"{name} = {at}" for name, at in self.functions.items()],
            "libraries of extensions": [type(library).__name__ for library in self.libraries],
            "registered classes": [cls.__qualname__ for cls in self.node_types],
        }
        return "\n".join(f"{title}: {', '.join(entries)}" for title, entries in shown.items())


REGISTRY = Registry()


def names() -> list[str]:
    """The names under which backends are installed, in alphabetical order."""
    return sorted(_entry_points())


def backend_class(name: str) -> type[Backend]:
    """The backend that an installed package offers under this name.

    Raises ModuleNotFoundError if its engine is not installed, BackendError if there is no backend,
    more than one, or one that cannot be imported.
    """
    known = REGISTRY.backends.get(name)
    if known is not None:
        return known
    points = _entry_points().get(name, [])
    if len(points) > 1:
        dists = [f"{point.value} ({point.dist.name if point.dist else '?'})" for point in points]
        claims = " and ".join(sorted(dists))
        raise BackendError(
            f"Two packages offer a backend named {name!r}: {claims}. Uninstall one of them."
        )
    if not points:
        raise BackendError(
            f"No installed package offers a backend named {name!r} (entry-point group {GROUP!r});"
            f" installed are {', '.join(names()) or 'none'}. If you work on adinterface itself,"
            " install it: pip install -e ."
        )
    try:
        loaded = points[0].load()
    except Exception as error:  # an engine of another release may raise anything
        top = (getattr(error, "name", None) or "").partition(".")[0]
        if top == name and isinstance(error, ModuleNotFoundError) and sys.modules.get(name) is None:
            raise
        auto = auto_class(name)
        raise BackendError(
            f"The backend of {name} cannot be imported ({type(error).__name__}: {error}). The"
            f" installed {name} may lack what it needs:"
            f" {auto.install() if auto else f'pip install {distribution_of(name)}'}, then restart"
            " Python."
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Backend)):
        raise BackendError(
            f"The entry point {points[0].value!r} of backend {name!r} is not a subclass of"
            " adinterface.core.contract.Backend."
        )
    return REGISTRY.backends.setdefault(name, loaded)


@functools.lru_cache(maxsize=256)
def backend_for(auto: AutoBackend) -> Backend:
    """The backend that a value such as `AutoJax()` chooses."""
    try:
        cls = backend_class(auto.name)
    except ModuleNotFoundError as error:
        raise MissingEngineError(
            f"{type(auto).__name__} needs {auto.name}, which is not installed: {auto.install()}",
            name=error.name,
        ) from None
    return cls(auto)


def in_mode(backend: Backend, mode: Mode) -> Backend:
    """The same backend in this mode, if its value has modes."""
    if not hasattr(backend.auto, "mode"):
        return backend
    return backend_for(dataclasses.replace(backend.auto, mode=mode))  # type: ignore[call-arg]


def find(auto: object) -> Backend:
    """As `backend_for`, with an error for anything but a backend value."""
    if isinstance(auto, AutoBackend):
        return backend_for(auto)
    classes = auto_classes() if isinstance(auto, str) else []
    named = [cls for cls in classes if auto in (vars(cls).get("name"), cls.__name__)]
    chosen = named[0] if named else auto
    if isinstance(chosen, type) and issubclass(chosen, AutoBackend) and chosen is not AutoBackend:
        options = dataclasses.fields(chosen)
        required = [each.name for each in options if each.default is dataclasses.MISSING]
        remedy = f"Write {chosen.__name__}({', '.join(required)})."
    else:
        remedy = (
            "The order of arguments is operator(f, backend, *args), all by position. Pass an object"
            " such as AutoJax(), AutoTorch(), AutoAutograd() or AutoFiniteDifferences()."
        )
    seen = repr(auto) if len(repr(auto)) <= 200 else an(type(auto).__name__)
    raise BackendError(f"The argument `backend` must be a backend, not {seen}. {remedy}")


def loaded_backends() -> list[type[Backend]]:
    """The backends whose engine is imported; imports them. Without those that fail."""
    found: list[type[Backend]] = []
    for name in _of_loaded_engines():
        with suppress(BackendError):
            found.append(backend_class(name))
    return found


def _of_loaded_engines() -> list[str]:
    return [name for name in _entry_points() if sys.modules.get(name) is not None]


def require_importable(cls: type) -> None:
    """Raise BackendError for arrays of an engine whose backend cannot be imported."""
    for name in _of_loaded_engines():
        # By the start: the arrays of jax are defined in jaxlib.
        if any(base.__module__.startswith(name) for base in cls.__mro__):
            backend_class(name)


def function_of_extension(name: str) -> Any:
    """What an extension registered by this name; None without that extension."""
    entry = REGISTRY.functions.get(name)
    return None if entry is None else imported(entry)


@functools.cache
def imported(entry: str) -> Any:
    """What `"module:name"` names."""
    module, _, name = entry.partition(":")
    return getattr(importlib.import_module(module), name)


def libraries() -> list[Library]:
    """The libraries of extensions, then those of the engines that this program has imported."""
    of_engines = [library for backend in loaded_backends() for library in backend.libraries]
    return [*REGISTRY.libraries, *of_engines]


def evaluation(leaves: Sequence[Any]) -> AbstractContextManager[Any]:
    """The context of a call of f for its value alone, which engines need not record."""
    # Of the engines that a call has needed so far: imports none.
    engines = [*REGISTRY.backends.values()]
    scopes = [library.evaluation(leaves) for each in engines for library in each.libraries]
    needed = [scope for scope in scopes if scope is not None]
    if len(needed) <= 1:
        return needed[0] if needed else nullcontext()
    together = ExitStack()
    for scope in needed:
        together.enter_context(scope)
    return together


def auto_class(name: str) -> type[AutoBackend] | None:
    """The class of backend values with this name; None if no imported module defines it.

    A user's subclass keeps the name, and does not count.
    """
    return next((auto for auto in auto_classes() if vars(auto).get("name") == name), None)


def classes_with(fact: str) -> dict[type[AutoBackend], Any]:
    """The imported classes of backend values that give a fact of their engine, and the fact."""
    facts = {auto: vars(auto).get("_facts", {}) for auto in auto_classes()}
    return {auto: known[fact] for auto, known in facts.items() if fact in known}


def auto_classes() -> list[type[AutoBackend]]:
    """All imported classes of backend values, a base before its subclasses."""
    classes: list[type[AutoBackend]] = [AutoBackend]
    for auto in classes:
        classes.extend(auto.__subclasses__())
    return classes[1:]


def is_installed(name: str) -> bool:
    """Whether an engine of this name can be imported; does not import it."""
    if name in sys.modules:
        return sys.modules[name] is not None
    return importlib.util.find_spec(name) is not None
