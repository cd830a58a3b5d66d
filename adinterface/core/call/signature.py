"""The signature of a call, which decides its plan, and the values of the plan's slots, from one traversal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..contract.library import NUMPY, PYTHON
from ..contract.nodes import NodeType, Unkeyed
from ..tree import HANDLERS, Constant, Given, GivenConstant, handler_of, holder_of


class Signature:
    """The result of one traversal of the arguments.

    Raises Unkeyed for a value that cannot be compared, and the errors of flattening.
    """

    __slots__ = ("held", "key", "static", "values")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        #: The values in the order of a plan's slots.
        self.values: list[Any] = []
        #: The indices of static values: a compiler takes them unconverted.
        self.static: list[int] = []
        #: The identities of leaves that f reaches through objects that hold them.
        self.held: list[int] = []
        key: list[Any] = [len(args)]
        self._walk(args, key, False, alone=True)
        for name, value in kwargs.items():
            key.append(name)
            self._walk((value,), key, True)
        if self.held:  # a leaf in two places is two variables, and f reaches one through its holder
            first: dict[int, int] = {}
            key.append(tuple(map(first.setdefault, self.held, count())))
        #: The cache key of a plan.
        self.key: tuple[Any, ...] = tuple(key)

    def _walk(
        self,
        values: Sequence[Any],
        key: list[Any],
        constant: bool,
        held: bool = False,
        fixed: bool = False,
        alone: bool = False,
    ) -> None:
        for value in values:
            cls = type(value)
            handler = HANDLERS.get(cls)
            if handler is None:
                if cls is Constant:
                    key.append(Constant)
                    self._walk((value.value,), key, True)
                    continue
                foreign = constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)
                handler = None if foreign else handler_of(value, scan=not constant, alone=alone)
            if handler is None:
                self._static(value, key)
            elif handler.is_library:
                if handler is PYTHON:
                    if fixed or (cls is int and not alone):
                        self._static(value, key)
                        continue
                    key.append(cls)
                else:
                    key += cls, handler.signature(value)  # type: ignore[union-attr]
                self.values.append(value)
                if held:
                    self.held.append(id(value))
            else:
                self._node(handler, value, key, constant, held, fixed)  # type: ignore[arg-type]

    def _node(self, handler: NodeType, value: Any, key: list[Any], constant: bool, held: bool, fixed: bool) -> None:
        if constant and handler.held:
            self._static(value, key)
            return
        children, data = handler.flatten(value)
        try:
            key += (handler, handler.key(data), len(children))
        except Unkeyed:
            if handler.held:
                raise
            key += (handler, tuple(handler.paths(data, len(children))))
            self._static((GivenConstant if constant else Given)(data, handler), key)
        for holder in holder_of(handler, value, children):
            self._static(holder, key)
        self._walk(children, key, constant, held or handler.held, fixed or handler.fixes_numbers)

    def _static(self, value: Any, key: list[Any]) -> None:
        self.static.append(len(self.values))
        self.values.append(value)
        key.append(type(value))


__all__ = ["Signature"]
