"""What the checks have in common: a verdict, and an assertion that shows why."""

from __future__ import annotations

from .evidence import Outcome


class Verdict:
    """What a check found; it prints as a page of text. True if all is right."""

    @property
    def verdict(self) -> Outcome:
        """`"right"`; `"wrong"`; or `"undecided"` where the check cannot tell, which it explains."""
        raise NotImplementedError

    @property
    def ok(self) -> bool:
        """Whether the verdict is `"right"`."""
        return self.verdict == "right"

    def raise_if_failed(self) -> None:
        """Raise AssertionError with the whole report, unless the verdict is `"right"`."""
        __tracebackhide__ = True
        if not self.ok:
            raise AssertionError(str(self))

    def __bool__(self) -> bool:
        return self.ok
