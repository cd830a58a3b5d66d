"""Extrapolates slopes at several steps to step zero, with an estimated error.

The error of a central slope is a series in h^2, of a one-sided slope in h. So a polynomial through
the slopes of some neighbouring steps, a window, is extrapolated to h = 0. The difference to the
window without the largest step is the error of that window. The error of the full window is
estimated from it. Rounding is amplified by known factors. For each output, the window with the
least estimated error is used.

`windows` depends on the steps alone; `arrays` has the estimates for several lines and outputs.

Sources. Extrapolation: L. F. Richardson, Phil. Trans. Royal Society A 210 (1911), p. 307. A table
of windows in which the least error decides: C. Ridders, Advances in Engineering Software 4 (1982),
p. 75.
"""

from __future__ import annotations

from .arrays import Estimate, extrapolate, stands_alone
from .windows import Windows, size_of_step, windows

__all__ = ["Estimate", "Windows", "extrapolate", "size_of_step", "stands_alone", "windows"]
