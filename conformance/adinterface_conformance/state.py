"""The global state that a call must not change, read by generic means."""

from __future__ import annotations

import contextvars
import copyreg
import decimal
import functools
import gc
import locale
import logging
import os
import random
import re
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from adinterface import AutoBackend, SecondOrder

#: Getters without an argument that an engine's own module may have: whether something is enabled,
#: its default dtype, ...
_GETTER = re.compile(
    r"(is|are|get)_\w*(enabled|dtype|device|rng_state|mode|seed|threads|precision)$"
)
#: Numbers whose half, and whose sum, tell in which way this thread computes. As variables: Python
#: computes constants itself.
_SMALLEST, _EVEN, _ODD, _HALF_BIT = sys.float_info.min, 1.0, 1.0 + 2.0**-52, 2.0**-53


@functools.lru_cache(maxsize=64)
def _getters(name: str) -> tuple[tuple[str, Callable[[], Any]], ...]:
    """The getters of an engine's module that answer without an argument."""
    module = sys.modules.get(name)
    getters: list[tuple[str, Callable[[], Any]]] = []
    for word in sorted(filter(_GETTER.match, dir(module))) if module else ():
        getter = getattr(module, word)
        try:
            getter()
        except Exception:  # wants an argument, or a device that is not there
            continue
        getters.append((f"{name}.{word}()", getter))
    return tuple(getters)


def _engines(backend: AutoBackend) -> list[str]:
    return sorted({each.name for each in pair_of(backend)})


@functools.lru_cache(maxsize=16)
def _switches(name: str, modules: int) -> tuple[tuple[str, Any, str], ...]:
    """Settings in modules with their own class, as attributes that call a setter: the module and
    the attribute.
    """
    found = []
    for path, module in list(sys.modules.items()):
        own = type(module) is not types.ModuleType and (path == name or path.startswith(f"{name}."))
        for word, attribute in vars(type(module)).items() if own else ():
            if (
                not word.startswith("__")
                and hasattr(attribute, "__get__")
                and hasattr(attribute, "__set__")
            ):
                try:
                    plain = type(getattr(module, word)) in _PLAIN
                except Exception:  # for a device that is not there
                    continue
                if plain:
                    found.append((f"{path}.{word}", module, word))
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _holders(name: str, modules: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The attributes of objects in the modules of an engine, such as a stack depth or a switch.

    modules: their number, because an engine imports some of its modules late.
    """
    found = []
    for path, module in list(sys.modules.items()):
        if path == name or path.startswith(f"{name}."):
            for word, value in list(getattr(module, "__dict__", {}).items()):
                cls = type(value)
                attributes = (
                    None
                    if issubclass(cls, type) or cls.__module__ != path
                    else getattr(value, "__dict__", None)
                )
                if (
                    type(attributes) is dict
                    and attributes
                    and all(type(each) in _PLAIN for each in attributes.values())
                ):
                    found.append((f"{path}.{word}", attributes))
    return tuple(found)


def _of_a_call(variable: contextvars.ContextVar[Any]) -> bool:
    """Whether a context variable is compared by itself. Not those of decimal and NumPy errors."""
    return variable.name != "decimal_context" and not variable.name.startswith("numpy")


_PLAIN = (int, bool, float, str, type(None))
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def pair_of(backend: AutoBackend) -> tuple[AutoBackend, AutoBackend]:
    """The backend values of the outer and of the inner derivative."""
    return (
        (backend.outer, backend.inner) if isinstance(backend, SecondOrder) else (backend, backend)
    )


def global_state(backend: AutoBackend) -> dict[str, Any]:
    """The state of Python, of NumPy and of the backend's engine, as values that compare."""
    kind, keys, position, *rest = np.random.get_state()  # noqa: NPY002
    state: dict[str, Any] = {
        "numpy error state": (np.geterr(), np.geterrcall()),
        "numpy buffer size": np.getbufsize(),
        "numpy random state": (kind, np.asarray(keys).tobytes(), position, rest),
        "numpy print options": repr(np.get_printoptions()),
        "random state": random.getstate(),
        "warning filters": list(warnings.filters),
        "warnings.showwarning": warnings.showwarning,
        "decimal context": repr(decimal.getcontext()),
        "denormal numbers": _SMALLEST / 2 > 0,
        "rounding": (_EVEN + _HALF_BIT == _EVEN, _ODD + _HALF_BIT == _ODD),
        "digits of an integer": sys.get_int_max_str_digits(),
        "stack size of a thread": threading.stack_size(),
        "processors": _processors(),
        "locale": locale.setlocale(locale.LC_ALL),
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "garbage collection": (
            gc.isenabled(),
            gc.get_threshold(),
            gc.get_debug(),
            len(gc.callbacks),
        ),
        "threads": {
            thread.name
            for thread in threading.enumerate()
            if not isinstance(thread, threading._DummyThread)
        },
        "context variables": {
            (each.name, id(each)): id(value)
            for each, value in contextvars.copy_context().items()
            if _of_a_call(each)
        },
        "hooks": (
            sys.excepthook,
            sys.unraisablehook,
            threading.excepthook,
            sys.gettrace(),
            sys.getprofile(),
        ),
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "signal handlers": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)],
        "logging": (logging.root.level, logging.root.manager.disable, len(logging.root.handlers)),
        "working directory": os.getcwd(),
        "module search path": tuple(sys.path),
        "finders of modules": (tuple(sys.meta_path), tuple(sys.path_hooks)),
        "reducers of pickle": dict(copyreg.dispatch_table),
        "reducers of multiprocessing": dict(getattr(ForkingPickler, "_extra_reducers", {})),
    }
    state.update((f"environment variable {name}", text) for name, text in os.environ.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for engine in _engines(backend):
            state.update((name, _plain(getter())) for name, getter in _getters(engine))
            values = getattr(getattr(sys.modules.get(engine), "config", None), "values", None)
            if isinstance(values, dict):
                state.update(
                    (f"{engine}.config.{key}", repr(value)) for key, value in values.items()
                )
            state.update(
                (path, repr(getattr(module, word)))
                for path, module, word in _switches(engine, len(sys.modules))
            )
            for path, attributes in _holders(engine, len(sys.modules)):
                state.update((f"{path}.{word}", value) for word, value in attributes.items())
    return state


def _processors() -> Any:
    """Those that this process may use, which not every system tells."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None


def _plain(value: Any) -> Any:
    """Something that compares: the bytes of an array, the text of anything else, without the
    addresses of objects.
    """
    try:
        return (
            np.asarray(value).tobytes()
            if hasattr(value, "shape")
            else _ADDRESS.sub("0x", repr(value))
        )
    except Exception:  # an array on a device
        return _ADDRESS.sub("0x", repr(value))


#: What a module brings along when it is imported: not there before is no change.
_IMPORTED = re.compile(r"[a-z_]+\.")
_ANSWER = re.compile(r"[a-z_]+\.\w+\(\) was ")


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs, in words."""
    keys = [
        key for key in dict.fromkeys([*before, *after]) if key in before or not _IMPORTED.match(key)
    ]
    different = [key for key in keys if before.get(key) != after.get(key)]
    return [
        f"{key} was {_short(before.get(key))}, is {_short(after.get(key))}" for key in different
    ]


def without_imports(changed: list[str]) -> list[str]:
    """The changes that a late import cannot explain: the results of the getters of an engine."""
    return [change for change in changed if _ANSWER.match(change)]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextmanager
def restored() -> Iterator[None]:
    """Restores the state that a call changed, so that exactly the calls that change it are
    reported.
    """
    numbers, python, environment = np.random.get_state(), random.getstate(), dict(os.environ)  # noqa: NPY002
    limit, interval, buffer = sys.getrecursionlimit(), sys.getswitchinterval(), np.getbufsize()
    collecting, threshold, hooks = (
        gc.isenabled(),
        gc.get_threshold(),
        (sys.excepthook, warnings.showwarning),
    )
    with np.errstate(), warnings.catch_warnings(), np.printoptions(), decimal.localcontext():
        try:
            yield
        finally:
            np.random.set_state(numbers)  # noqa: NPY002
            random.setstate(python)
            if dict(os.environ) != environment:
                os.environ.clear()
                os.environ.update(environment)
            sys.setrecursionlimit(limit)
            sys.setswitchinterval(interval)
            np.setbufsize(buffer)
            (gc.enable if collecting else gc.disable)()
            gc.set_threshold(*threshold)
            sys.excepthook, warnings.showwarning = hooks
