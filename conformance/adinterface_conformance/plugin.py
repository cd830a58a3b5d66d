"""The pytest plugin: a `backend` fixture over the installed backends, and a marker to skip or expect failure by backend.

pytest loads this file at every start, so it imports nothing but pytest until a test asks for a backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from .selection import SELECTIONS

if TYPE_CHECKING:
    from adinterface import AutoBackend

OPTION, SETTING, MARKER = "--adinterface-backends", "adinterface_backends", "adinterface"
_PARAMETER = "_adinterface_backend"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = (
        "comma-separated backends, by the class of their value, that the `backend` fixture runs over (default: all installed)"
    )
    parser.getgroup("adinterface").addoption(OPTION, metavar="NAMES", help=text)
    parser.addini(SETTING, f"what {OPTION} is when it is not given", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "adinterface(skip={name: reason}, xfail={name: reason}): skip a test that takes `backend`, or expect it to fail, with "
        "these backends, named by the class of their value.",
    )
    option = config.getoption(OPTION)
    names = config.getini(SETTING) if option is None else option.split(",")
    SELECTIONS.append(None)  # pytest_unconfigure is called also if the names are wrong
    if names:
        SELECTIONS[-1] = _select([name.strip() for name in names if name.strip()])


def pytest_unconfigure() -> None:
    SELECTIONS.pop()


def _select(names: list[str]) -> list[AutoBackend]:
    from adinterface.core.contract.auto import BUILT_IN

    from . import installed

    if not names:
        raise pytest.UsageError(
            f"{OPTION} names no backend. Write names such as {BUILT_IN[0].__name__}, with commas between them."
        )
    known = {auto.__name__: auto for auto in BUILT_IN}
    if any(name not in known for name in names):  # a stranger's name is known only once its package is imported
        known.update((type(auto).__name__, type(auto)) for auto in installed.strangers())
    for name in names:
        if name not in known:
            raise pytest.UsageError(f"{OPTION}: there is no backend {name}. Installed are {', '.join(_usable(known))}.")
        if name in {auto.__name__ for auto in BUILT_IN} and not installed.is_installed(known[name]):
            raise pytest.UsageError(
                f"{OPTION}: {name} needs {known[name].name}, which is not installed: {known[name].install()}"
            )
    return [known[name]() for name in dict.fromkeys(names)]


def _usable(known: Mapping[str, type[AutoBackend]]) -> list[str]:
    from adinterface.core.contract.auto import BUILT_IN

    from .installed import is_installed

    return [name for name, auto in known.items() if auto not in BUILT_IN or is_installed(auto)]


# The fixture ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def _adinterface_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def backend(_adinterface_backend: AutoBackend) -> AutoBackend:
    """Each installed backend in turn, with its default options (`AutoX()`); see --adinterface-backends."""
    return _adinterface_backend


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # Not `backend` itself: a test that parametrizes it, or a project that has its own, does not come here.
    if _PARAMETER not in metafunc.fixturenames:
        return
    from .installed import installed_backends

    marks = _marks(metafunc.definition)
    parameters = [
        pytest.param(value, id=type(value).__name__, marks=marks.get(type(value).__name__, ()))
        for value in installed_backends()
    ]
    metafunc.parametrize(_PARAMETER, parameters, indirect=True)


def _marks(item: pytest.Item) -> dict[str, pytest.MarkDecorator]:
    """What the markers say of each backend; the nearest to the test decides."""
    marks: dict[str, pytest.MarkDecorator] = {}
    for marker in item.iter_markers(MARKER):
        _refuse_misuse(item, marker)
        for kind, make in (("skip", pytest.mark.skip), ("xfail", pytest.mark.xfail)):
            for name, reason in marker.kwargs.get(kind, {}).items():
                marks.setdefault(name, make(reason=reason))
    return marks


def _refuse_misuse(item: pytest.Item, marker: pytest.Mark) -> None:
    usage = "Write @pytest.mark.adinterface(skip={'AutoX': 'why'}, xfail={'AutoY': 'why'})."
    if marker.args:
        problem = f"it takes no positional arguments, not {marker.args[0]!r}"
    elif set(marker.kwargs) - {"skip", "xfail"}:
        problem = f"it takes skip and xfail, not {', '.join(sorted(set(marker.kwargs) - {'skip', 'xfail'}))}"
    else:
        wrong = [kind for kind, reasons in marker.kwargs.items() if not _are_reasons(reasons)]
        if not wrong:
            return
        problem = f"{wrong[0]} must be a dict of a reason for each backend, not {marker.kwargs[wrong[0]]!r}"
    pytest.fail(f"{item.name}: the marker adinterface is misused: {problem}. {usage}", pytrace=False)


def _are_reasons(reasons: object) -> bool:
    return isinstance(reasons, Mapping) and all(isinstance(text, str) and text for pair in reasons.items() for text in pair)
