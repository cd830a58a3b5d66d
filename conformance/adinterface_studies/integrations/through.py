"""A plugin of pytest that makes pymanopt's decorators ours: `python -m pytest -p adinterface_studies.integrations.through`.

TensorFlow is no engine of ours: `pymanopt.function.tensorflow` stays, unless the engine of `tests/engines` is installed.
Where TensorFlow itself is not installed, an empty module takes its place, which most tests import for its seed alone; those
that use it fail.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from adinterface import AutoBackend

#: By the name of pymanopt's decorator, the module and the name of the backend that takes its place.
BACKENDS = {
    "autograd": ("adinterface", "AutoAutograd"),
    "jax": ("adinterface", "AutoJax"),
    "pytorch": ("adinterface", "AutoTorch"),
    "tensorflow": ("adinterface_tensorflow", "AutoTensorFlow"),
}
#: How many functions were made by our decorators.
decorated = 0


def stand_in() -> None:
    """Put an empty module in TensorFlow's place if it is not installed."""
    if importlib.util.find_spec("tensorflow") is None:
        module: Any = ModuleType("tensorflow")
        module.random = SimpleNamespace(set_seed=lambda seed: None)
        module.Variable = module.Tensor = type("Tensor", (), {})
        module.function = lambda f: f
        sys.modules["tensorflow"] = module


def replace() -> None:
    """Make pymanopt's decorators ours."""
    import pymanopt.function

    from adinterface.integrations.pymanopt import function

    def decorator(auto: AutoBackend) -> Any:
        def on_manifold(manifold: Any) -> Any:
            decorate = function(manifold, auto)

            def counted(f: Any) -> Any:
                global decorated
                decorated += 1
                return decorate(f)

            return counted

        return on_manifold

    for name, (module, backend) in BACKENDS.items():
        if importlib.util.find_spec(module) is not None:
            setattr(pymanopt.function, name, decorator(getattr(importlib.import_module(module), backend)()))


def pytest_addoption(parser: Any) -> None:
    """`--through-adinterface`: without it, the tests run as pymanopt has them."""
    parser.addoption("--through-adinterface", action="store_true")


def pytest_configure(config: Any) -> None:
    """Before the tests are collected, and their decorators run."""
    stand_in()
    if config.getoption("--through-adinterface"):
        replace()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How often our decorators were called, so that none was passed by."""
    terminalreporter.write_line(f"functions made by adinterface.integrations.pymanopt: {decorated}")
