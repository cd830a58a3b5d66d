"""The command: how many programs, on which backends, from which seed."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend, NumpyCodeError, numpy_function, value_and_gradient

from .program import SIZE, Program, random_program

#: What stands in an engine's own error for what it lacks: an order of complex numbers, einsum of what is not square.
#: And NumPy's `at` writes to what is read-only, where we do not.
_LACKING = ("omplex", "einsum", "read-only")


@dataclass(frozen=True)
class Verdict:
    """`right`, `refused`, or what is wrong: `value`, `gradient`, `error`."""

    kind: str
    detail: str = ""

    @property
    def good(self) -> bool:
        return self.kind in ("right", "refused")


def point(seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.1, 1.3, SIZE) * np.where(np.arange(SIZE) % 3, 1.0, -1.0)


def judge(program: Program, backend: AutoBackend, seed: int, *, differences: bool = True) -> Verdict:
    """The program under `numpy_function` on a backend, compared with NumPy, and its gradient compared with differences."""
    f, x = program.function(), point(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            try:
                wanted = f(x.copy())
            except (ValueError, TypeError, IndexError) as error:
                wanted = error  # at other numbers than those it was made with
            try:
                value, (slope,) = value_and_gradient(numpy_function(f), backend, x)
            except NumpyCodeError as error:
                return Verdict("refused", str(error))
            except Exception as error:  # whatever it is, it is reported
                if isinstance(wanted, Exception):
                    return Verdict("right")
                if any(word in str(error) for word in _LACKING):
                    return Verdict("refused", str(error))
                return Verdict("error", "".join(traceback.format_exception(error)[-4:]))
            if isinstance(wanted, Exception):  # as for an element, which is a number in NumPy and a 0-d array here
                return Verdict("right")
            if not np.allclose(value, wanted, rtol=1e-5 if "float32" in program.source else 1e-9, atol=1e-9, equal_nan=True):
                return Verdict("value", f"{value} where NumPy has {wanted}")
            if differences and np.isfinite(wanted) and "float32" not in program.source:
                return _beside_differences(f, x, np.asarray(slope), seed)
    return Verdict("right")


def _beside_differences(f: Any, x: Any, slope: Any, seed: int) -> Verdict:
    direction = np.random.default_rng(seed + 1).normal(size=SIZE)
    found = float(slope @ direction)
    estimates = [(f(x + h * direction) - f(x - h * direction)) / (2 * h) for h in (1e-5, 3e-6)]
    scale = 1 + abs(found) + abs(f(x))
    if abs(estimates[0] - estimates[1]) > 1e-5 * scale:  # a kink, such as where elements change their order
        return Verdict("right")
    if abs(found - estimates[1]) > 1e-4 * scale:
        return Verdict("gradient", f"{found} along {direction}, where differences have {estimates}")
    return Verdict("right")


def shrunk(program: Program, backend: AutoBackend, seed: int, kind: str) -> Program:
    """The program without statements that it goes wrong without."""
    n = len(program.statements)
    while n:
        n -= 1
        shorter = Program(program.statements[:n] + program.statements[n + 1 :])
        try:
            if judge(shorter, backend, seed).kind == kind:
                program = shorter
        except NameError:
            continue
    return program


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies views", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all that are installed")
    parser.add_argument("--programs", type=int, default=1000, metavar="N", help="how many, shared among the backends")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--differences", type=int, default=10, metavar="N", help="every how many gradients are compared")
    parser.add_argument("--failures", type=int, default=5, metavar="N", help="stop after so many")
    options = parser.parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or list(installed_backends())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    counts: Counter[tuple[str, str]] = Counter()
    reasons: Counter[str] = Counter()
    failures, statements, start = 0, 0, time.perf_counter()
    for seed in range(options.seed, options.seed + options.programs):
        backend = backends[seed % len(backends)]
        program = random_program(seed)
        statements += len(program.statements)
        verdict = judge(program, backend, seed, differences=not seed % options.differences)
        counts[repr(backend), verdict.kind] += 1
        if verdict.kind == "refused":
            reasons[verdict.detail.partition(" writes ")[2][:60] or verdict.detail[:60]] += 1
        if not verdict.good:
            failures += 1
            small = shrunk(program, backend, seed, verdict.kind)
            again = judge(small, backend, seed)
            print(f"seed {seed}, {backend!r}: {verdict.kind}\n{small.source}\n{again.detail or verdict.detail}\n", flush=True)
            if failures >= options.failures:
                break
    print(f"{sum(counts.values())} programs, {statements} statements, {time.perf_counter() - start:.0f} s")
    for (name, kind), count in sorted(counts.items()):
        print(f"  {name:30} {kind:10} {count}")
    for reason, count in reasons.most_common(12):
        print(f"  refused {count:6}  {reason}")
    return 1 if failures else 0
