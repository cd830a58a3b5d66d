"""The replacement of each value that copied code reaches, found once, at its first use."""

from __future__ import annotations

import builtins
import contextlib
import functools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from ..array import NumpyArray, as_plain, known_numbers
from ..array_like import ArrayHolder, with_each
from ..engine import OFFERS
from ..made_array import array_of_engine, captured, plain
from . import builtin_names, classes, math_names, numpy_names, scipy_names, subclasses
from .bytecode import assigns_to_globals
from .compiled import Compiled, Offered, settled
from .copier import FunctionCopy, copied
from .globals import Globals, ModuleView
from .kept import LONGEST, note, of_subclass
from .plain import PLAIN
from .reach import reached, top_of
from .standing import Standing, real_of


class Copies:
    """The replacements, as a function of the value, for `copier`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._by_identity: dict[int, tuple[Any, Any]] = {}
        self._functions: dict[int, tuple[weakref.ref[Any], FunctionCopy]] = {}
        self._classes: list[tuple[Any, type, dict[str, tuple[Any, Any]]]] = []
        self._objects: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._views: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._scopes: weakref.WeakValueDictionary[int, Globals] = weakref.WeakValueDictionary()
        self._assigned: dict[int, Globals] = {}
        self._builtins = builtin_names.builtin_names(self.of)
        self._by_identity.update(numpy_names.stand_ins(self.of))
        self._by_identity.update(math_names.stand_ins())
        for name in ("float", "complex", "type"):
            real = getattr(builtins, name)
            self._by_identity[id(real)] = (real, self._builtins[name])
        self._kinds: dict[type, Callable[[Any], Any]] = {
            types.FunctionType: self._function,
            types.MethodType: self._method,
            types.ModuleType: self._module,
            types.BuiltinFunctionType: self._builtin,
            functools.partial: self._partial,
            tuple: self._tuple,
            list: self._list,
            dict: self._dict,
            type(functools.lru_cache(len)): self._cached,
            np.vectorize: lambda value: numpy_names.Vectorized(self.of, value),
            property: lambda value: value,
            np.ufunc: self._ufunc,
            np.ndarray: captured,
        }

    def of(self, value: Any) -> Any:
        """The replacement of a value: a copy of a function, a view of a module, a class with copied
        methods, or itself.
        """
        cls = type(value)
        if cls in PLAIN:
            return value
        known = self._by_identity.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        handle = self._kinds.get(cls)
        if handle is not None:
            return handle(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        return self._object(value, cls)

    # functions

    def _function(self, value: types.FunctionType) -> Any:
        entry = self._functions.get(id(value))
        if entry is not None and entry[0]() is value and entry[1].is_of(value):
            note(value)
            return entry[1].function
        if isinstance(value.__globals__, Globals):
            return value
        if (offered := self._offered(value)) is not None:
            return offered
        if not self._is_reached(value):
            return (
                self._keep(value, Offered(value, value))
                if str(value.__module__).startswith("scipy.sparse")
                else value
            )
        self._note_assignments(value)
        with self._lock:
            if _singledispatched(value):
                return self._dispatching(value)
            copy = copied(value, self)
            ours = scipy_names.chosen(value, copy)
            return copy if ours is copy else self._keep(value, ours)

    def announce(self, original: types.FunctionType, copy: FunctionCopy) -> None:
        note(original)
        self._functions[id(original)] = (
            weakref.ref(original, self._forget(self._functions, id(original))),
            copy,
        )

    def stands_for_itself(self, value: Any) -> bool:
        return type(value) in PLAIN

    def globals_of(self, original: types.FunctionType) -> Globals:
        return self._scope(original.__globals__)

    def _forget(self, entries: dict[int, Any], key: int) -> Callable[[Any], None]:
        def forget(reference: weakref.ref[Any]) -> None:
            entry = entries.get(key)
            if entry is not None and entry[0] is reference:
                entries.pop(key, None)

        return forget

    def _scope(self, original: dict[str, Any]) -> Globals:
        scope = self._scopes.get(id(original))
        if scope is None:
            scope = self._scopes[id(original)] = Globals(original, self.of, self._builtins)
        return scope

    def _is_reached(self, value: types.FunctionType) -> bool:
        return reached(value.__module__) or (
            reached(value.__globals__.get("__name__")) and top_of(value.__module__) != "adinterface"
        )

    def _note_assignments(self, function: types.FunctionType) -> None:
        """Record that copies assign to global names of this module."""
        if assigns_to_globals(function.__code__):
            self._assigned[id(function.__globals__)] = self._scope(function.__globals__)

    def settle(self) -> None:
        """At the end of a call, give each module what copies have assigned to its names."""
        refused = [
            error for scope in list(self._assigned.values()) for error in scope.settle(leaving)
        ]
        if refused:
            raise refused[0]

    def _dispatching(self, value: Any) -> Callable[..., Any]:
        """A function of functools.singledispatch, which finds its implementation by the class of
        the first argument.
        """
        type_of = self._builtins["type"]

        @functools.wraps(value)
        def call(*args: Any, **keywords: Any) -> Any:
            cls = type_of(args[0])
            return self.of(value.dispatch(real_of(cls)))(*args, **keywords)

        call.dispatch, call.registry, call.register = value.dispatch, value.registry, value.register  # type: ignore[attr-defined]
        return call

    def _method(self, value: types.MethodType) -> Any:
        function, owner = self.of(value.__func__), self.of(value.__self__)
        return (
            value
            if function is value.__func__ and owner is value.__self__
            else types.MethodType(function, owner)
        )

    def _partial(self, value: functools.partial[Any]) -> Any:
        function, args = self.of(value.func), tuple(map(self.of, value.args))
        keywords = {name: self.of(keyword) for name, keyword in value.keywords.items()}
        return functools.partial(function, *args, **keywords)

    def _cached(self, value: Any) -> Any:
        """A function that keeps its results: it never keeps an engine's array, of which the numbers
        are another time others.
        """
        if not reached(getattr(value, "__module__", None)):
            return value

        @functools.wraps(value)
        def call(*args: Any, **keywords: Any) -> Any:
            args, keywords = (
                tuple(map(settled, args)),
                {name: settled(keyword) for name, keyword in keywords.items()},
            )
            if array_of_engine((args, keywords)) is not None:
                return self.of(value.__wrapped__)(*args, **keywords)
            return self.of(value(*args, **keywords))

        call.cache_clear, call.cache_info = value.cache_clear, value.cache_info  # type: ignore[attr-defined]
        return self._keep(value, call)

    def _builtin(self, value: Any) -> Any:
        owner = value.__self__
        if not isinstance(owner, types.ModuleType) or not reached(
            value.__module__ or owner.__name__
        ):
            return value
        return self._offered(value) or self._keep(value, Compiled(value))

    def _offered(self, value: Any) -> Any:
        """An extension's replacement of a function."""
        if (ours := scipy_names.function_for(value, self.of)) is not None:
            return self._keep(value, ours)
        if (
            not (getattr(value, "__module__", None) or "").startswith("scipy.")
            or value.__name__ in _BETTER_COPIED
        ):
            return None
        for offer in OFFERS:
            if (stand_in := offer(value)) is not None:
                return self._keep(value, Offered(value, stand_in))
        return None

    def _ufunc(self, value: Any) -> Any:
        return self._keep(value, numpy_names.Ufunc(value))

    def _keep(self, value: Any, made: Any) -> Any:
        self._by_identity[id(value)] = (value, made)
        return made

    # modules and classes

    def _module(self, value: types.ModuleType) -> Any:
        if type(value) is ModuleView:
            return value
        name = value.__name__
        if not reached(name) and name not in ("cmath", "math") and top_of(name) != "numpy":
            return value
        return self._keep(value, ModuleView(value, self.of, self._scopes))

    def _class(self, cls: type) -> Any:
        if isinstance(cls, (classes.Reached, Standing)) or not (
            reached(cls.__module__) or cls is np.poly1d
        ):
            return cls
        with self._lock:
            known = self._by_identity.get(id(cls))
            if known is not None:
                return known[1]
            for offer in OFFERS:
                if (stand_in := offer(cls)) is not None:
                    return self._keep(cls, stand_in)
            if issubclass(cls, np.ndarray):
                carries = type(cls) is type
                return self._keep(
                    cls, subclasses.class_for(cls, self.of, self._method_copy) if carries else cls
                )
            if not classes.can_stand_for(cls):
                return self._keep(cls, cls)
            made = classes.class_for(cls, self.of, self.renew)
            if made is None:
                return self._keep(cls, cls)
            self._keep(cls, made)
            members = classes.members_of(cls)
            classes.fill(
                made, {name: member for name, (member, _) in members.items()}, self._method_copy
            )
            if not any(
                isinstance(getattr(member, "__globals__", None), Globals)
                for member, _ in members.values()
            ):
                self._classes.append((made, cls, members))
            return made

    def renew(self) -> None:
        """Bring replaced classes and containers up to date with what has been replaced in them
        since.
        """
        for view in list(self._views.values()):
            self.of(view._original)
        with self._lock:
            for made, cls, members in self._classes:
                classes.renewed(made, cls, members, self._method_copy)

    def _method_copy(self, function: types.FunctionType) -> Any:
        if isinstance(function.__globals__, Globals):
            return function
        if not self._is_reached(function) and not function.__closure__:
            return function
        self._note_assignments(function)
        return scipy_names.chosen(function, copied(function, self))

    def _object(self, value: Any, cls: type) -> Any:
        note(value)
        if (
            callable(value)
            and hasattr(value, "__name__")
            and (offered := self._offered(value)) is not None
        ):
            return offered
        if not reached(cls.__module__) and cls.__name__ not in _COMPILED:
            return value
        if cls.__name__ in _COMPILED:
            if not reached(getattr(value, "__module__", None)):
                return value
            return self._offered(value) or self._keep(value, Compiled(value))
        entry = self._objects.get(id(value))
        if entry is not None and entry[0]() is value:
            return entry[1]
        standing = self._class(cls)
        if standing is cls or isinstance(cls, classes.Reached) or not classes.runs_code(cls):
            return value
        carries = isinstance(standing, subclasses.HolderType)
        made = (
            subclasses.object_for(value, standing)
            if carries
            else classes.object_for(value, standing)
        )
        if made is None:
            return value
        if not carries and classes.shares_slots(made):  # and keeps its owner: one is made each time
            return made
        with contextlib.suppress(TypeError):
            self._objects[id(value)] = (
                weakref.ref(value, self._forget(self._objects, id(value))),
                made,
            )
        return made

    # containers

    def _tuple(self, value: tuple[Any, ...]) -> Any:
        if len(value) > LONGEST:
            return value
        parts = list(map(self.of, value))
        return value if all(a is b for a, b in zip(parts, value)) else tuple(parts)

    def _list(self, value: list[Any]) -> Any:
        note(value)
        if len(value) > LONGEST:
            return value
        parts = list(map(self.of, value))
        return (
            value
            if all(a is b for a, b in zip(parts, value))
            else self._view(ListView, value, parts)
        )

    def _dict(self, value: dict[Any, Any]) -> Any:
        note(value)
        if len(value) > LONGEST:
            return value
        parts = {self.of(key): self.of(part) for key, part in value.items()}
        changed = any(a is not b for a, b in zip(parts.values(), value.values()))
        changed = changed or any(a is not b for a, b in zip(parts, value))
        return self._view(DictView, value, parts) if changed else value

    def _view(self, cls: Any, value: Any, parts: Any) -> Any:
        """The one view of a container, so that all code sees the same; with these parts now."""
        view = self._views.get(id(value))
        if view is None:
            view = self._views[id(value)] = cls(value, parts)
        elif len(view) != len(parts) or any(
            a is not b for a, b in zip(_values(view), _values(parts))
        ):
            cls.__base__.clear(view)
            (dict.update if cls is DictView else list.extend)(view, parts)
        return view


def _values(container: Any) -> Any:
    return [*container, *container.values()] if isinstance(container, dict) else container


def leaving(value: Any) -> Any:
    """What copied code leaves in an object or a name of the user's: the user's objects, and
    numbers.
    """
    if isinstance(value, (ListView, DictView)):
        return value._original
    if type(value) is NumpyArray:
        if (numbers := known_numbers(value)) is None:
            raise NumpyCodeError(
                "numpy_function: f assigns what is differentiated to a global name, and a compiled"
                " or batched call does not know its number. Return it from f, or call f without"
                " compiling it."
            )
        return as_plain(value, numbers)
    if isinstance(value, ArrayHolder):
        return of_subclass(value, np.asarray(leaving(value._inner)))
    return classes.landed(with_each(leaving, plain(value)))


class ListView(list[Any]):
    """A list of the replacements of another list's elements, to which it writes too."""

    def __init__(self, original: list[Any], parts: list[Any]):
        super().__init__(parts)
        self._original = original


class DictView(dict[Any, Any]):
    """A dict of the replacements of another dict's values, to which it writes too."""

    def __init__(self, original: dict[Any, Any], parts: dict[Any, Any]):
        super().__init__(parts)
        self._original = original


def _writing_both(cls: type, name: str) -> Callable[..., Any]:
    method = getattr(cls, name)

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        method(self._original, *args, **keywords)
        return method(self, *args, **keywords)

    return call


for _name in (
    "__delitem__", "__iadd__", "__setitem__", "append", "clear", "extend", "insert", "pop",
    "remove", "reverse", "sort",
):  # fmt: skip
    setattr(ListView, _name, _writing_both(list, _name))
for _name in (
    "__delitem__",
    "__ior__",
    "__setitem__",
    "clear",
    "pop",
    "popitem",
    "setdefault",
    "update",
):
    setattr(DictView, _name, _writing_both(dict, _name))

#: SciPy's NumPy code, whose copy accepts more than the extension's replacement.
_BETTER_COPIED = frozenset({"log_softmax", "logsumexp", "softmax"})
#: Kinds of functions that compilers of Python make.
_COMPILED = frozenset({
    "cython_function_or_method", "fused_cython_function", "fortran", "nb_func", "nb_method",
    "_ArrayFunctionDispatcher",
})  # fmt: skip


def _singledispatched(value: Any) -> bool:
    return (
        callable(getattr(value, "dispatch", None))
        and hasattr(value, "registry")
        and hasattr(value, "register")
    )
