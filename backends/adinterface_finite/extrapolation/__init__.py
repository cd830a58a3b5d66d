"""From slopes at several steps to the slope at none, and how far that can be trusted.

The error of a central slope is a series in h^2, that of a one-sided one in h, so a polynomial through the slopes of some
neighbouring steps, a window, is extrapolated to h = 0. Every window gives a value; what it differs by from the window
without its largest step is the error of that one, from which its own is guessed; rounding is amplified by known factors.
For each output the window with the least estimated error is taken.

What follows from the steps alone is in `windows`; the estimates of some lines and outputs at once are in `arrays`.

Sources. Extrapolation: L. F. Richardson, Phil. Trans. Royal Society A 210 (1911), p. 307. A table of windows in which the
least error decides: C. Ridders, Advances in Engineering Software 4 (1982), p. 75.
"""

from __future__ import annotations

from .arrays import Estimate, extrapolate, stands_alone
from .windows import Windows, size_of_step, windows

__all__ = ["Estimate", "Windows", "extrapolate", "size_of_step", "stands_alone", "windows"]
