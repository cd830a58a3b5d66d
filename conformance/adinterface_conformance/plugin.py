"""The pytest plugin: a fixture over the installed backends, and a marker to skip or expect failure
by backend.

pytest loads this file at every start, so it imports nothing but pytest until a test asks for a
backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from .selection import SELECTIONS

if TYPE_CHECKING:
    from adinterface import AutoBackend

OPTION, SETTING, MARKER = "--adinterface-backends", "adinterface_backends", "adinterface"
_PARAMETER = "_adinterface_backend"


def pytest_addoption(parser: pytest.Parser) -> None:
    text = (
        "comma-separated backends, by the class of their value, that the fixture"
        " `adinterface_backend` runs over (default: all installed)"
    )
    parser.getgroup("adinterface").addoption(OPTION, metavar="NAMES", help=text)
    parser.addini(SETTING, f"what {OPTION} is when it is not given", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "adinterface(only=[name], skip={name: reason}, xfail={name: reason}): run a test that takes"
        " `adinterface_backend` with these backends only, skip it, or expect it to fail; backends"
        " are named by the class of their value, or are that class.",
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
            f"{OPTION} names no backend. Write names such as {BUILT_IN[0].__name__}, with commas"
            " between them."
        )
    known = {auto.__name__: auto for auto in BUILT_IN}
    # a stranger's name is known only once its package is imported
    if any(name not in known for name in names):
        known.update((type(auto).__name__, type(auto)) for auto in installed.strangers())
    for name in names:
        if name not in known:
            raise pytest.UsageError(
                f"{OPTION}: there is no backend {name}. Installed are {', '.join(_usable(known))}."
            )
        if name in {auto.__name__ for auto in BUILT_IN} and not installed.is_installed(known[name]):
            raise pytest.UsageError(
                f"{OPTION}: {name} needs {known[name].name}, which is not installed:"
                f" {known[name].install()}"
            )
    return [known[name]() for name in dict.fromkeys(names)]


def _usable(known: Mapping[str, type[AutoBackend]]) -> list[str]:
    from adinterface.core.contract.auto import BUILT_IN

    from .installed import is_installed

    return [name for name, auto in known.items() if auto not in BUILT_IN or is_installed(auto)]


# The fixture
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def _adinterface_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


# a backend is a value: hypothesis refuses fixtures that are made for each test
@pytest.fixture(scope="session")
def adinterface_backend(_adinterface_backend: AutoBackend) -> AutoBackend:
    """Each installed backend in turn, with its default options (`AutoX()`).

    See --adinterface-backends.
    """
    return _adinterface_backend


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    # Not `adinterface_backend` itself: a test that parametrizes it, or a project that has its own,
    # does not come here.
    if _PARAMETER not in metafunc.fixturenames:
        return
    from .installed import installed_backends

    marks, only = _marks(metafunc.definition)
    # Hypothesis looks for this marker: pytest gives each parameter an instance of the class of the
    # test.
    told = pytest.mark.parametrize(_PARAMETER, [])
    parameters = [
        pytest.param(
            value, id=type(value).__name__, marks=(told, *marks.get(type(value).__name__, ()))
        )
        for value in installed_backends()
        if only is None or type(value).__name__ in only
    ]
    # in the order of the file
    metafunc.parametrize(_PARAMETER, parameters, indirect=True, scope="function")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(marker.name == MARKER for marker in item.own_markers) and _PARAMETER not in getattr(
            item, "fixturenames", ()
        ):
            raise pytest.UsageError(
                f"{item.nodeid}: the marker adinterface has no effect, because the test does not"
                " take the fixture `adinterface_backend`. Add the argument, or remove the marker."
            )


def _marks(
    item: pytest.Item,
) -> tuple[dict[str, tuple[pytest.MarkDecorator, ...]], set[str] | None]:
    """What the markers say of each backend, and which are wanted.

    The nearest to the test decides.
    """
    marks: dict[str, tuple[pytest.MarkDecorator, ...]] = {}
    only: set[str] | None = None
    for marker in item.iter_markers(MARKER):
        _refuse_misuse(item, marker)
        if only is None and "only" in marker.kwargs:
            only = {_name(each) for each in marker.kwargs["only"]}
        for kind, make in (("skip", pytest.mark.skip), ("xfail", pytest.mark.xfail)):
            for each, reason in marker.kwargs.get(kind, {}).items():
                marks.setdefault(_name(each), (make(reason=reason),))
    return marks, only


def _name(backend: object) -> str:
    """A backend by the class of its value: its name, or the class."""
    return backend if isinstance(backend, str) else getattr(backend, "__name__", repr(backend))


def _refuse_misuse(item: pytest.Item, marker: pytest.Mark) -> None:
    usage = (
        "Write @pytest.mark.adinterface(only=[AutoX], skip={'AutoY': 'why'}, xfail={'AutoZ':"
        " 'why'})."
    )
    known = {"only", "skip", "xfail"}
    if marker.args:
        problem = f"it takes no positional arguments, not {marker.args[0]!r}"
    elif set(marker.kwargs) - known:
        problem = (
            f"it takes only, skip and xfail, not {', '.join(sorted(set(marker.kwargs) - known))}"
        )
    else:
        problem = next(
            (
                _problem(kind, given)
                for kind, given in marker.kwargs.items()
                if _problem(kind, given)
            ),
            "",
        )
        if not problem:
            return
    pytest.fail(
        f"{item.name}: the marker adinterface is misused: {problem}. {usage}", pytrace=False
    )


def _problem(kind: str, given: object) -> str:
    """What is wrong with one argument of the marker; empty if nothing is."""
    if kind == "only" and (isinstance(given, str) or not isinstance(given, Sequence)):
        return f"only must be a list of backends, not {given!r}"
    if kind != "only" and not _are_reasons(given):
        return f"{kind} must be a dict of a reason for each backend, not {given!r}"
    import difflib  # here, because few tests have such a marker

    known = _backends()
    for name in map(_name, given):  # type: ignore[call-overload]
        near = difflib.get_close_matches(name, known, 1, 0.75)
        # others may be of a package that is not installed
        if name not in known and (near or not name.startswith("Auto")):
            return f"there is no backend {name}{f', but {near[0]}' if near else ''}"
    return ""


def _backends() -> list[str]:
    """The names of all backends, installed or not."""
    from adinterface.core.contract.auto import BUILT_IN

    from .installed import strangers

    return list(
        dict.fromkeys(
            [*(auto.__name__ for auto in BUILT_IN), *(type(auto).__name__ for auto in strangers())]
        )
    )


def _are_reasons(reasons: object) -> bool:
    return isinstance(reasons, Mapping) and all(
        isinstance(text, str) and text for text in reasons.values()
    )
