"""`python -m adinterface_studies openmdao`: the NumPy `compute` methods of OpenMDAO and Dymos, unchanged, through our door.

Each explicit component with a `compute` of its own that can be made, with its options filled by defaults or small numbers, is
compared at a random point with the partials that it has by hand, or else with complex steps of its `compute`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import io
import pkgutil
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend

from ..progress import steps

#: By how much partials may differ, relative to the largest one.
TOLERANCE = 1e-7


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0 if at least 95 % are exact, 1 if fewer are, 2 for a wrong command line."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies openmdao", description=__doc__)
    parser.add_argument("--backend", default="AutoAutograd()", metavar="VALUE", help="AutoAutograd()")
    parser.add_argument("--match", default="", metavar="TEXT", help="only components with this in their module or name")
    options = parser.parse_args(argv)
    packages = [name for name in ("openmdao", "dymos") if importlib.util.find_spec(name) is not None]
    if "openmdao" not in packages:
        print("OpenMDAO is not installed: pip install 'adinterface[openmdao]' dymos", file=sys.stderr)
        return 2
    try:
        backend = backend_from(options.backend)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    with _quiet():
        classes = [cls for cls in _classes(packages) if options.match in f"{cls.__module__}.{cls.__name__}"]
    ends: dict[str, tuple[str, str]] = {}
    with steps(len(classes), "components") as advance:
        for cls in classes:
            with _quiet():
                ends[f"{cls.__module__}.{cls.__name__}"] = _judged(cls, backend)
            advance(str(dict(Counter(end for end, _ in ends.values()))))
    counts = Counter(end for end, _ in ends.values())
    compared = counts["exact"] + counts["wrong"] + counts["refused"]
    for name, (end, why) in ends.items():
        if end in ("wrong", "refused"):
            print(f"  {end:8} {name}: {why}")
    print(
        f"{len(classes)} components of {', '.join(packages)}; {compared} have a reference; {counts['no reference']} have none."
    )
    print(f"{counts['exact']} are exact on {backend!r}: {100 * counts['exact'] / max(compared, 1):.1f} %.")
    return int(counts["exact"] < 0.95 * compared)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def _classes(packages: Sequence[str]) -> list[Any]:
    from openmdao.core.explicitcomponent import ExplicitComponent

    found: dict[Any, None] = {}
    for package in packages:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.", onerror=lambda _: None):
            if any(part in ("tests", "test", "docs") or part.startswith("test_") for part in info.name.split(".")[1:]) and (
                "test_suite" not in info.name
            ):
                continue
            try:
                module = importlib.import_module(info.name)
            except Exception:  # a module that needs what is not installed, or a script
                continue
            for cls in vars(module).values():
                if not inspect.isclass(cls) or cls.__module__ != info.name or cls is ExplicitComponent:
                    continue
                if issubclass(cls, ExplicitComponent) and "compute" in vars(cls):
                    found[cls] = None
    return list(found)


def _made(cls: Any) -> Any:
    """A component, whose options without a default are small numbers."""
    try:
        return cls()
    except TypeError:
        return cls(3)


def _problem(component: Any) -> Any:
    import openmdao.api as om

    for name, entry in component.options._dict.items():
        if entry.get("required", False) and "val" not in entry:
            component.options[name] = 3
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("c", component)
    problem.setup(force_alloc_complex=True)
    problem.final_setup()
    random = np.random.default_rng(0)
    for name in component._inputs:
        value = np.asarray(component._inputs[name])
        component._inputs[name] = value + 0.1 * (0.5 + np.abs(value)) * random.uniform(0.2, 1.0, value.shape)
    problem.run_model()
    return problem


def _judged(cls: Any, backend: AutoBackend) -> tuple[str, str]:
    """What becomes of a component, and why."""
    from openmdao.core.explicitcomponent import ExplicitComponent

    from adinterface.doors.openmdao import partials

    try:
        found = _problem(_made(cls)).check_partials(method="cs", out_stream=None)["c"]
        by_hand = cls.compute_partials is not ExplicitComponent.compute_partials
        references = [{pair: part["J_fd"] for pair, part in found.items()}]
        if by_hand:
            references.append({pair: part["J_fwd"] for pair, part in found.items()})
        if not found or not all(np.all(np.isfinite(matrix)) for matrix in references[0].values()):
            return "no reference", "its values are not finite"
    except Exception as error:  # whatever a component of others ends with
        return "no reference", f"{type(error).__name__}: {error}"
    try:
        ours = _problem(partials(backend)(cls)() if _takes_nothing(cls) else partials(backend)(cls)(3))
        exact = {pair: part["J_fwd"] for pair, part in ours.check_partials(method="cs", out_stream=None)["c"].items()}
    except Exception as error:  # the same, of ours
        return "refused", f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"
    distances = [_distance(exact, reference) for reference in references]
    return ("exact", "") if min(distances) <= TOLERANCE else ("wrong", f"off by {min(distances):.1e}")


def _takes_nothing(cls: Any) -> bool:
    try:
        cls()
    except TypeError:
        return False
    return True


def _distance(found: dict[Any, Any], wanted: dict[Any, Any]) -> float:
    largest = max([float(np.max(np.abs(matrix), initial=0.0)) for matrix in wanted.values()], default=0.0)
    apart = [float(np.max(np.abs(found[pair] - wanted[pair]), initial=0.0)) for pair in wanted if pair in found]
    return max(apart, default=np.inf) / max(largest, 1e-8)
