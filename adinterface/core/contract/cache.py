"""A bounded cache: of more entries than it keeps, the one used longest ago goes first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Entries by key. Threads may share it."""

    def __init__(self, bound: int):
        self.bound = bound
        self._known: dict[Hashable, T] = {}
        self._lock = threading.Lock()
        self._last: T | None = None

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Hashable) -> T | None:
        """The entry, which is now the one used last; None if there is none."""
        found = self._known.get(key)
        if found is not None and found is self._last:  # most often it is used again
            return found
        with self._lock:
            found = self._known.pop(key, None)
            if found is not None:
                self._known[key] = self._last = found
        return found

    def add(self, key: Hashable, entry: T) -> T:
        """Keep an entry. Returns the one that another thread has added meanwhile, if there is one."""
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                return known
            while len(self._known) >= max(1, self.bound):
                del self._known[next(iter(self._known))]
            self._known[key] = self._last = entry
        return entry

    def rename(self, new: Callable[[Hashable], Hashable]) -> None:
        """Keep each entry under another key."""
        with self._lock:
            self._known = {new(key): entry for key, entry in self._known.items()}

    def entries(self) -> list[T]:
        """All entries, the one used last at the end."""
        return list(self._known.values())

    def copy(self) -> Cache[T]:
        new: Cache[T] = Cache(self.bound)
        with self._lock:
            new._known = dict(self._known)
        return new
