"""A bounded cache, which drops the least recently used entry first."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Entries by key. Threads may share it."""

    def __init__(self, bound: int):
        self.bound = bound
        self._known: dict[Hashable, T] = {}
        self._lock = threading.Lock()
        #: The most recent entry with its key: comparing two keys costs less than hashing one.
        self._last: tuple[Hashable, T] | None = None

    def get(self, key: Hashable) -> T | None:
        """The entry, which becomes the most recent one; None if there is none."""
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        with self._lock:
            result = self._known.pop(key, None)
            if result is not None:
                self._known[key] = result
                self._last = key, result
        return result

    def add(self, key: Hashable, entry: T) -> T:
        """Add an entry. Returns that of another thread, if it was first."""
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                return known
            while len(self._known) >= max(1, self.bound):
                del self._known[next(iter(self._known))]
            self._known[key] = entry
            self._last = key, entry
        return entry

    def entries(self) -> list[T]:
        """All entries, the most recently used last."""
        return list(self._known.values())
