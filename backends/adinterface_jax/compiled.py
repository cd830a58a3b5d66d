"""Compiled code of a prepared call, which is compiled for each path where numbers decide its course."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax

from adinterface.core.contract import comes_from_reading

from .outside import own_error
from .python_numbers import PythonNumbers


class Compiled(PythonNumbers):
    """`compute`, compiled once; or for each path, if it reads numbers that compiled code does not know.

    deciding: gives the compiled form for each path, None if there is none.
    """

    def __init__(self, compute: Callable[..., Any], deciding: Callable[[], Callable[..., Any] | None]):
        super().__init__(compute)
        self._deciding = deciding
        self._by_path: Callable[..., Any] | None = None
        #: Whether the numbers that decide are not known in an uncompiled run either.
        self._undecided = False
        self._lock = threading.Lock()

    def __call__(self, *arrays: Any) -> Any:
        by_path = self._by_path
        try:
            return self._called(*arrays) if by_path is None else by_path(*arrays)
        except jax.errors.JaxRuntimeError as error:
            raise own_error(error) from None
        except Exception as error:
            if self._undecided or not comes_from_reading(error):
                raise
            return self._decided(error, arrays)

    def _decided(self, error: Exception, arrays: tuple[Any, ...]) -> Any:
        """Retry with a form for each path; if that fails, raise the error of an uncompiled call."""
        from adinterface.numpy_code.for_engines import Undecided  # here, because few programs read numbers

        with self._lock:  # the first of several threads makes it
            first = self._by_path is None
            if first:
                self._by_path = self._deciding()
        if self._by_path is None:
            raise error
        try:
            return self._by_path(*arrays)
        except Undecided:  # the uncompiled run does not know the numbers either
            if first:
                self._by_path, self._undecided = None, True
            raise error from None
        except Exception as ended:
            raise ended from None  # without the error of the first compilation


__all__ = ["Compiled"]
