"""`python -m adinterface_studies openmdao`: the NumPy `compute` methods of OpenMDAO and Dymos, unchanged.

Each explicit component with a `compute` of its own is taken from a model. The model is that component alone, at a random point,
if it can be made with its defaults, or with small numbers for required options. Otherwise the tests of the
packages that name it are run until one has set up a model that contains it. There its partials are compared with
those that it has by hand, or else with complex steps of its `compute`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import sys
import tempfile
import unittest
import unittest.mock
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend

from ..progress import steps

#: By how much partials may differ, relative to the largest one.
TOLERANCE = 1e-7
#: How many columns of a matrix are compared at most.
COLUMNS = 100
Block = np.ndarray[Any, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status: 0 if at least 95 % are exact, 1 if fewer are, 2 for a wrong command line."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies openmdao", description=__doc__)
    parser.add_argument("--backend", default="AutoAutograd()", metavar="VALUE", help="AutoAutograd()")
    parser.add_argument("--match", default="", metavar="TEXT", help="only components with this in their module or name")
    parser.add_argument("--verbose", action="store_true", help="why components have no reference, too")
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
    ends = _ends(packages, backend, options.match)
    counts = Counter(end for end, _ in ends.values())
    compared = counts["exact"] + counts["wrong"] + counts["refused"]
    for name, (end, why) in sorted(ends.items()):
        if end in ("wrong", "refused") or (options.verbose and end == "no reference"):
            print(f"  {end:12} {name}: {why}")
    print(f"{len(ends)} components of {', '.join(packages)}; {compared} have a reference; {counts['no reference']} have none.")
    print(f"{counts['exact']} are exact on {backend!r}: {100 * counts['exact'] / max(compared, 1):.1f} %.")
    return int(counts["exact"] < 0.95 * compared)


def _ends(packages: Sequence[str], backend: AutoBackend, match: str) -> dict[str, tuple[str, str]]:
    """What becomes of each component, and why, by the name of its class."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _quiet():
        classes = [cls for cls in _classes(packages) if match in _name(cls)]
        return _judged_in_this_folder(classes, packages, backend)


def _judged_in_this_folder(classes: Sequence[Any], packages: Sequence[str], backend: AutoBackend) -> dict[str, tuple[str, str]]:
    judge = _Judge(backend, classes)
    with steps(len(classes), "components") as advance:
        for cls in classes:
            judge.alone(cls, around_defaults=True)
            if judge.ends[_name(cls)][0] == "no reference":
                _run_tests_that_name(cls, packages, judge)
            if judge.ends[_name(cls)][0] == "no reference":
                judge.alone(cls, around_defaults=False)
            advance(str(dict(Counter(end for end, _ in judge.ends.values()))))
    return judge.ends


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"), unittest.mock.patch.dict(os.environ, OPENMDAO_REPORTS="0", TESTFLO_RUNNING="1"):
            yield


def _name(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__name__}"


def _modules(packages: Sequence[str], tests: bool) -> Iterator[str]:
    """The names of the modules that hold tests, or of the others."""
    for package in packages:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.", onerror=lambda _: None):
            parts = info.name.split(".")[1:]
            if parts[-1].startswith("test_") and parts[-1] not in ("test_suite", "test_examples"):
                if tests:
                    yield info.name
            elif not tests and not {"tests", "test", "docs"} & set(parts) and not parts[-1].startswith("jax_"):  # NumPy alone
                yield info.name


def _classes(packages: Sequence[str]) -> list[Any]:
    """The explicit components that the packages define and that compute something."""
    from openmdao.core.explicitcomponent import ExplicitComponent

    classes: dict[Any, None] = {}
    for name in _modules(packages, tests=False):
        try:
            module = importlib.import_module(name)
        except Exception:  # a module that needs what is not installed, or a script
            continue
        for cls in vars(module).values():
            if not inspect.isclass(cls) or cls.__module__ != name or cls is ExplicitComponent:
                continue
            if issubclass(cls, ExplicitComponent) and "compute" in vars(cls):
                classes[cls] = None
    return list(classes)


class _Judge:
    """Compares the components of models that are set up, each class once."""

    def __init__(self, backend: AutoBackend, classes: Sequence[Any]):
        self.backend = backend
        self.classes = set(classes)
        self.ends = {_name(cls): ("no reference", "no test sets it up") for cls in classes}

    def alone(self, cls: Any, around_defaults: bool) -> None:
        """Judge a component that is a model of its own, near its defaults or at numbers of order one."""
        import openmdao.api as om

        problem = om.Problem(reports=False)
        try:
            component = problem.model.add_subsystem("c", _made(cls))
            problem.setup(force_alloc_complex=True)
            problem.final_setup()
            random = np.random.default_rng(0)
            for name in component._inputs:
                value = np.asarray(component._inputs[name])
                noise = random.uniform(0.2, 1.0, value.shape)
                component._inputs[name] = value + 0.1 * (0.5 + np.abs(value)) * noise if around_defaults else noise
            problem.run_model()
        except Exception as error:  # whatever a component of others ends with
            self.ends[_name(cls)] = "no reference", _said(error)
        else:
            self.judge(problem)

    def judge(self, problem: Any) -> None:
        """Judge the components of a model that has run."""
        from openmdao.core.explicitcomponent import ExplicitComponent

        for component in problem.model.system_iter(recurse=True, typ=ExplicitComponent):
            cls = next(base for base in type(component).__mro__ if "compute" in vars(base))
            if cls in self.classes and self.ends[_name(cls)][0] == "no reference" and list(component._inputs):
                self.ends[_name(cls)] = _judged(component, self.backend)


def _made(cls: Any) -> Any:
    """A component, whose options without a default are small numbers."""
    try:
        component = cls()
    except TypeError:
        component = cls(3)
    for name, entry in component.options._dict.items():
        if not entry["has_been_set"] and (entry["types"] is None or entry["types"] is int):
            component.options[name] = 3
    return component


def _run_tests_that_name(cls: Any, packages: Sequence[str], judge: _Judge) -> None:
    """Run tests of the packages until one has set up a model that contains the component."""
    from openmdao.core.problem import Problem

    setup, final_setup = Problem.setup, Problem.final_setup

    def set_up(problem: Any, *args: Any, **options: Any) -> Any:
        return setup(problem, *args, **{**options, "force_alloc_complex": True})

    def ready(problem: Any, *args: Any, **options: Any) -> None:
        """Judge the model when it is complete, and leave the test, which may go on for minutes."""
        final_setup(problem, *args, **options)
        with unittest.mock.patch.object(Problem, "final_setup", final_setup):
            problem.run_model()
            judge.judge(problem)
        raise unittest.SkipTest("judged")

    with unittest.mock.patch.object(Problem, "setup", set_up), unittest.mock.patch.object(Problem, "final_setup", ready):
        for name in _tests_that_name(cls, packages):
            for test in _tests(name):
                test.run(unittest.TestResult())
                if judge.ends[_name(cls)][0] != "no reference":
                    return


def _tests_that_name(cls: Any, packages: Sequence[str]) -> list[str]:
    """The test modules that contain the name of a class, those of its own package first."""
    named = []
    for name in _modules(packages, tests=True):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin and cls.__name__ in Path(spec.origin).read_text(encoding="utf-8"):
            named.append(name)
    parts = set(cls.__module__.split("."))
    return sorted(named, key=lambda name: -len(parts & set(name.split("."))))


def _tests(name: str) -> Iterator[unittest.TestCase]:
    try:
        left: list[Any] = list(unittest.defaultTestLoader.loadTestsFromName(name))
    except Exception:  # a module that needs what is not installed
        return
    while left:
        test = left.pop(0)
        if isinstance(test, unittest.TestCase):
            yield test
        else:
            left[:0] = list(test)


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[-1] if text else ''}"


def _judged(component: Any, backend: AutoBackend) -> tuple[str, str]:
    """What becomes of a component of a model that has run, and why."""
    references, said = [], ""
    for reference in (_by_complex_steps, _by_hand):
        try:
            blocks = reference(component)
        except Exception as error:  # whatever a component of others ends with
            said = said or _said(error)
            continue
        if blocks and all(np.all(np.isfinite(block)) for block in blocks.values()):
            references.append(blocks)
    if not references:
        return "no reference", said or "its values are not finite"
    try:
        ours = _by_the_door(component, backend)
    except Exception as error:  # the same, of ours
        return "refused", _said(error)
    distance = min(_distance(ours, reference) for reference in references)
    return ("exact", "") if distance <= TOLERANCE else ("wrong", f"off by {distance:.1e}")


def _columns(component: Any) -> dict[str, Block]:
    """For each input, the columns that are compared."""
    random, columns = np.random.default_rng(0), {}
    for name in component._inputs:
        size = np.size(component._inputs[name])
        columns[name] = np.sort(random.permutation(size)[:COLUMNS])
    return columns


def _by_complex_steps(component: Any) -> dict[tuple[str, str], Block]:
    blocks, step = {}, 1e-40
    inputs = {name: np.array(component._inputs[name]) for name in component._inputs}
    component._set_complex_step_mode(True)
    try:
        for wrt, columns in _columns(component).items():
            images = []
            for place in columns:
                value = inputs[wrt].astype(complex)
                value.flat[place] += 1j * step
                component._inputs[wrt] = value
                component.run_solve_nonlinear()
                images.append({of: np.imag(component._outputs[of]).ravel() / step for of in component._outputs})
            component._inputs[wrt] = inputs[wrt]
            for of in component._outputs:
                blocks[of, wrt] = np.stack([image[of] for image in images], axis=1)
    finally:
        component._set_complex_step_mode(False)
    return blocks


def _by_hand(component: Any) -> dict[tuple[str, str], Block]:
    from openmdao.core.explicitcomponent import ExplicitComponent

    if type(component).compute_partials is ExplicitComponent.compute_partials:
        return {}
    component.run_solve_nonlinear()
    component.run_linearize()
    columns, blocks = _columns(component), {}
    for (of, wrt), subjac in component._jacobian._subjacs.items():
        names = of.rpartition(".")[2], wrt.rpartition(".")[2]
        if names[1] in columns:
            blocks[names] = np.asarray(subjac.todense())[:, columns[names[1]]]
    return blocks


def _by_the_door(component: Any, backend: AutoBackend) -> dict[tuple[str, str], Block]:
    """The partials of a component of the decorated class in the same state, all of them declared dense."""
    from adinterface.integrations.openmdao import partials

    cls: Any = partials(backend)(type(component))
    exact = cls.__new__(cls)
    vars(exact).update(vars(component))
    blocks: dict[tuple[str, str], Any] = {}
    prefix = f"{component.pathname}." if component.pathname else ""
    exact._subjacs_info = {
        (prefix + of, prefix + wrt): {"rows": None, "cols": None, "val": 0.0, "diagonal": False}
        for of in component._outputs
        for wrt in component._inputs
    }
    discrete = (component._discrete_inputs,) if component._discrete_inputs or component._discrete_outputs else ()
    exact.compute_partials(component._inputs, blocks, *discrete)
    columns = _columns(component)
    return {(of, wrt): np.asarray(block)[:, columns[wrt]] for (of, wrt), block in blocks.items()}


def _distance(ours: dict[Any, Any], wanted: dict[Any, Any]) -> float:
    largest = max([float(np.max(np.abs(block), initial=0.0)) for block in wanted.values()], default=0.0)
    apart = [float(np.max(np.abs(ours[pair] - wanted[pair]), initial=0.0)) for pair in wanted if pair in ours]
    return max(apart, default=np.inf) / max(largest, 1e-8)
