"""Functions of installed packages, unchanged, under `numpy_function(deep=True)`, and the packages' own derivatives.

A case is `right` where the gradient is the package's own derivative, or the difference quotient where that is rough; `refused`
where NumpyCodeError says why; `raw` for any other error; else `wrong`. No case was chosen because it works.
"""

from __future__ import annotations

import collections
import importlib
import importlib.util
import pkgutil
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from adinterface import AutoBackend, AutoFiniteDifferences, NumpyCodeError, gradient, numpy_function

from . import options as studies

VERDICTS = ("right", "refused", "raw", "wrong")


class Case(NamedTuple):
    """A function of a few numbers, and its derivatives by them as its package gives them."""

    name: str
    function: Callable[..., Any]
    at: tuple[float, ...]
    own: tuple[float, ...]


def galpy() -> Iterator[Case]:
    """Each potential of galpy that takes no arguments: its value, and its force by R. Their derivatives are by R and z."""
    potential: Any = importlib.import_module("galpy.potential")
    classes = [cls for cls in vars(potential).values() if isinstance(cls, type) and issubclass(cls, potential.Potential)]
    for cls in dict.fromkeys(classes):
        for name, derivatives in (("__call__", ("Rforce", "zforce")), ("Rforce", ("R2deriv", "Rzderiv"))):
            try:
                function = getattr(cls(), name)
                own = tuple([-float(getattr(function.__self__, each)(1.1, 0.2, phi=0.3)) for each in derivatives])
                float(function(1.1, 0.2, phi=0.3))
            except Exception:  # it is abstract, needs arguments, or lacks this derivative
                continue
            yield Case(f"{cls.__name__}.{name}", lambda R, z, of=function: of(R, z, phi=0.3), (1.1, 0.2), own)


def chemicals() -> Iterator[Case]:
    """Each function of chemicals that has its derivative by a number as another function, such as `dAntoine_dT`.

    The arguments are those of the first call in the docstring of the derivative. Correlations with `order=` are their own.
    """
    for module in pkgutil.iter_modules(importlib.import_module("chemicals").__path__, "chemicals."):
        if module.name.endswith(("numba", "vectorized", "units")):  # these need further packages
            continue
        names = vars(importlib.import_module(module.name))
        for name, derivative in sorted(names.items()):
            parts = re.fullmatch(r"d(\d?)(\w+)_d([A-Za-z]+)\1", name)
            if getattr(derivative, "__module__", None) != module.name:
                continue
            if re.fullmatch(r"EQ\d+", name):
                function, derivative = derivative, lambda *args, of=derivative, **keywords: of(*args, **keywords, order=1)
            elif parts is None or parts[1] or parts[2] not in names:
                continue
            else:
                function = names[parts[2]]
            calls = re.findall(rf">>> (?:\w+ = )?{name}\((.*)\)\n", names[name].__doc__ or "")
            try:
                args, keywords = eval(f"(lambda *args, **keywords: (args, keywords))({calls[0]})", dict(names))
                args = args or [*keywords.values()]
                own = (float(derivative(*args)),)
                float(function(*args))
            except Exception:  # no such call, or another signature
                continue
            yield Case(name, lambda x, of=function, rest=args[1:]: of(x, *rest), (float(args[0]),), own)


PACKAGES: dict[str, Callable[[], Iterator[Case]]] = {"galpy": galpy, "chemicals": chemicals}


def judged(case: Case, backend: AutoBackend) -> tuple[str, str]:
    """What becomes of a case: one of the verdicts, and the reason."""
    try:
        found = np.asarray(gradient(numpy_function(case.function, deep=True), backend, *case.at), float)
    except NumpyCodeError as error:
        return "refused", str(error)
    except Exception as error:  # whatever the package raises
        return "raw", f"{type(error).__name__}: {error}"
    if np.allclose(found, case.own, rtol=1e-6, atol=1e-9):
        return "right", ""
    differences = np.asarray(gradient(case.function, AutoFiniteDifferences(), *case.at), float)
    if np.allclose(found, differences, rtol=1e-5, atol=1e-8):
        return "right", "the package's own derivative is rough"
    return "wrong", f"{found} for {np.asarray(case.own)}; differences {differences}"


def main(argv: Sequence[str]) -> int:
    """The exit status: 0, 1 if a case is wrong, 2 for a wrong command line."""
    parser = studies.parser("foreign", __doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"default: {' '.join(PACKAGES)}")
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases whose name contains this")
    options = parser.parse_args(argv)
    backends = studies.backends(options.backend)
    warnings.simplefilter("ignore")
    wrong = 0
    for package in options.packages or PACKAGES:
        if package not in PACKAGES or importlib.util.find_spec(package) is None:
            known = package in PACKAGES
            print(f"{package}: {f'missing, pip install {package}' if known else 'no such package in this study'}")
            continue
        with np.errstate(all="ignore"):
            cases = [case for case in PACKAGES[package]() if options.case in case.name]
            for backend in backends:
                counts: collections.Counter[str] = collections.Counter()
                start = time.process_time()
                for case in cases:
                    verdict, reason = judged(case, backend)
                    counts[verdict] += 1
                    if reason:
                        print(f"{verdict:8} {case.name}: {reason.splitlines()[0]}")
                took = f"{time.process_time() - start:.0f} s"
                print(package, type(backend).__name__, *[f"{counts[each]} {each}" for each in VERDICTS], took, sep=", ")
                wrong += counts["wrong"]
    return 1 if wrong else 0
