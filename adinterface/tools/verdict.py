"""What the checks have in common: true or false, and an assertion that shows why."""

from __future__ import annotations


class Verdict:
    """What a check found; it prints as a page of text."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        raise NotImplementedError

    def raise_if_failed(self) -> None:
        """Raise AssertionError with the whole report, which pytest shows to its end, unless the check is true."""
        __tracebackhide__ = True
        if not self.ok:
            raise AssertionError(str(self))

    def __bool__(self) -> bool:
        return self.ok
