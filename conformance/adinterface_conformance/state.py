"""What a call must leave as it was: global state that this process can tell by generic means."""

from __future__ import annotations

import decimal
import functools
import gc
import locale
import os
import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adinterface import AutoBackend

from .accuracy import pair_of

#: Getters without an argument that an engine's own module may have: whether something is enabled, its default dtype, ...
_GETTER = re.compile(r"(is|get)_\w*(enabled|dtype|device|rng_state|mode|seed)$")


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


def global_state(backend: AutoBackend) -> dict[str, Any]:
    """The state of Python, of NumPy and of the backend's engine, as values that compare."""
    kind, keys, position, *rest = np.random.get_state()  # noqa: NPY002
    state: dict[str, Any] = {
        "numpy error state": (np.geterr(), np.geterrcall()),
        "numpy random state": (kind, np.asarray(keys).tobytes(), position, rest),
        "numpy print options": repr(np.get_printoptions()),
        "random state": random.getstate(),
        "warning filters": len(warnings.filters),
        "decimal context": repr(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collection": gc.isenabled(),
        "threads": {thread.name for thread in threading.enumerate() if not thread.daemon},
    }
    state.update((f"environment variable {name}", text) for name, text in os.environ.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for engine in _engines(backend):
            state.update((name, _plain(getter())) for name, getter in _getters(engine))
            values = getattr(getattr(sys.modules.get(engine), "config", None), "values", None)
            if isinstance(values, dict):
                state.update((f"{engine}.config.{key}", repr(value)) for key, value in values.items())
    return state


def _plain(value: Any) -> Any:
    """Something that compares: the bytes of an array, the text of anything else."""
    try:
        return np.asarray(value).tobytes() if hasattr(value, "shape") else repr(value)
    except Exception:  # an array on a device
        return repr(value)


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs, in words."""
    different = [key for key in after if before.get(key) != after[key]]
    return [f"{key} was {_short(before.get(key))}, is {_short(after[key])}" for key in different]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextmanager
def restored() -> Iterator[None]:
    """What a call left changed is put back, so that it is found once and not in every check after it."""
    numbers, python = np.random.get_state(), random.getstate()  # noqa: NPY002
    with np.errstate(), warnings.catch_warnings(), np.printoptions():
        try:
            yield
        finally:
            np.random.set_state(numbers)  # noqa: NPY002
            random.setstate(python)
