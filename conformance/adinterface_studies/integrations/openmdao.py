"""`python -m adinterface_studies openmdao`: the NumPy `compute` methods of OpenMDAO and Dymos, unchanged.

Each explicit component with a `compute` of its own is a model by itself, at a random point. It is made with its defaults, and
with small numbers for required options. Its partials are compared with those that it has by hand, or else with complex steps
of its `compute`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import sys
import tempfile
import unittest.mock
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adinterface import AutoAutograd, AutoBackend

from .. import options as studies
from ..progress import steps

#: By how much partials may differ, relative to the largest one.
TOLERANCE = 1e-7
#: How many columns of a matrix are compared at most.
COLUMNS = 100
Block = np.ndarray[Any, Any]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if at least 95 % are exact, 1 if fewer are, 2 for a wrong command line."""
    options = studies.parser("openmdao", __doc__).parse_args(argv)
    packages = [name for name in ("openmdao", "dymos") if importlib.util.find_spec(name) is not None]
    if "openmdao" not in packages:
        print("OpenMDAO is not installed: pip install 'adinterface[openmdao]' dymos", file=sys.stderr)
        return 2
    for backend in options.backend or [AutoAutograd()]:
        ends: dict[str, tuple[str, str]] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _quiet():
            classes = list(_classes(packages))
            with steps(len(classes), "components") as advance:
                for cls in classes:
                    ends[f"{cls.__module__}.{cls.__name__}"] = _judged(cls, backend)
                    advance(str(dict(Counter(end for end, _ in ends.values()))))
        counts = Counter(end for end, _ in ends.values())
        compared = counts["exact"] + counts["wrong"] + counts["refused"]
        for name, (end, why) in sorted(ends.items()):
            if end in ("wrong", "refused"):
                print(f"  {end:12} {name}: {why}")
        print(f"{len(ends)} components of {', '.join(packages)}; {compared} run by themselves and have a reference.")
        print(f"{counts['exact']} are exact on {backend!r}: {100 * counts['exact'] / max(compared, 1):.1f} %.")
        if counts["exact"] < 0.95 * compared:
            return 1
    return 0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    nothing = io.StringIO()
    with contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"), unittest.mock.patch.dict(os.environ, OPENMDAO_REPORTS="0", TESTFLO_RUNNING="1"):
            yield


def _classes(packages: Sequence[str]) -> Iterator[Any]:
    """The explicit components that the packages define and that compute something."""
    from openmdao.core.explicitcomponent import ExplicitComponent

    for package in packages:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.", onerror=lambda _: None):
            parts = info.name.split(".")[1:]
            if {"tests", "test", "docs"} & set(parts) or parts[-1].startswith(("test_", "jax_")):  # NumPy alone
                continue
            try:
                module = importlib.import_module(info.name)
            except Exception:  # a module that needs what is not installed, or a script
                continue
            for cls in vars(module).values():
                if not inspect.isclass(cls) or cls.__module__ != info.name or cls is ExplicitComponent:
                    continue
                if issubclass(cls, ExplicitComponent) and "compute" in vars(cls):
                    yield cls


def _judged(cls: Any, backend: AutoBackend) -> tuple[str, str]:
    """What becomes of a component, near its defaults or else at numbers of order one, and why."""
    why = ""
    for around_defaults in (True, False):
        try:
            component = _ready(cls, around_defaults)
        except Exception as error:  # whatever a component of others ends with
            why = why or _said(error)
            continue
        references = []
        for reference in (_by_complex_steps, _by_hand):
            try:
                blocks = reference(component)
            except Exception as error:  # the same
                why = why or _said(error)
                continue
            if blocks and all(np.all(np.isfinite(block)) for block in blocks.values()):
                references.append(blocks)
        if references:
            try:
                ours = _by_ours(component, backend)
            except Exception as error:  # the same, of ours
                return "refused", _said(error)
            distance = min(_distance(ours, reference) for reference in references)
            return ("exact", "") if distance <= TOLERANCE else ("wrong", f"off by {distance:.1e}")
    return "no reference", why or "its values are not finite"


def _ready(cls: Any, around_defaults: bool) -> Any:
    """A component in a model of its own, which has run; options without a default are small numbers."""
    import openmdao.api as om

    try:
        component = cls()
    except TypeError:
        component = cls(3)
    for name, entry in component.options._dict.items():
        if not entry["has_been_set"] and (entry["types"] is None or entry["types"] is int):
            component.options[name] = 3
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("c", component)
    problem.setup(force_alloc_complex=True)
    problem.final_setup()
    random = np.random.default_rng(0)
    for name in component._inputs:
        value = np.asarray(component._inputs[name])
        noise = random.uniform(0.2, 1.0, value.shape)
        component._inputs[name] = value + 0.1 * (0.5 + np.abs(value)) * noise if around_defaults else noise
    problem.run_model()
    return component


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[-1] if text else ''}"


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


def _by_ours(component: Any, backend: AutoBackend) -> dict[tuple[str, str], Block]:
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
