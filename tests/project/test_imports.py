"""The import rule: tests -> conformance -> adinterface <- backends/X -> engine X, and no engine
before it is used.
"""

import ast
import functools
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import adinterface

ROOT = Path(__file__).parents[2]
CORE = ROOT / "adinterface"
CONFORMANCE = ROOT / "conformance" / "adinterface_conformance"
BACKENDS = {
    path.name: path
    for path in sorted((ROOT / "backends").iterdir())
    if (path / "__init__.py").exists()
}
#: What each backend may import beside the standard library, NumPy, array-api-compat and the core.
ENGINE_OF = {
    "adinterface_jax": {"jax"},
    "adinterface_torch": {"torch", "ml_dtypes"},
    "adinterface_autograd": {"autograd", "scipy"},
    "adinterface_finite": set(),
}
ENGINES = ("jax", "torch", "autograd")
#: What `adinterface.integrations` leads to.
OTHER_PACKAGES = {"openmdao", "pymanopt", "pytensor", "scipy", "tesseract_core"}
#: What every package may import. (ml_dtypes, NumPy's bfloat16, is imported where one is met.)
FREE = {"numpy", "array_api_compat", "adinterface"}


def _files(folder):
    return sorted(folder.rglob("*.py"))


@functools.cache
def _nodes(path):
    """All nodes of a file's code, for every question about it."""
    return [*ast.walk(ast.parse(path.read_text(), str(path)))]


@functools.cache
def _imports_of(path):
    return [node for node in _nodes(path) if isinstance(node, (ast.Import, ast.ImportFrom))]


def _imported(path, package):
    """The top-level packages that a file imports, wherever in the file; relative imports count as
    its own package.
    """
    for node in _imports_of(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        else:
            yield (package if node.level else node.module.partition(".")[0]), node.lineno


def _foreign(folder, allowed, but=None):
    return [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in _files(folder)
        if path.parent != but
        for name, line in _imported(path, folder.name)
        if name not in allowed and name != folder.name and name not in sys.stdlib_module_names
    ]


def _docstrings(nodes):
    for node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def _names_an_engine(path):
    """Where the code of a file (docstrings and comments excepted) has an engine's name, or that of
    its backend value.
    """
    nodes = _nodes(path)
    documentation = {id(node) for node in _docstrings(nodes)}
    for node in nodes:
        words = []
        if isinstance(node, ast.Name):
            words = [node.id]
        elif isinstance(node, ast.Attribute):
            words = [node.attr]
        elif isinstance(node, ast.alias):
            words = [*node.name.split("."), node.asname or ""]
        elif isinstance(node, (ast.arg, ast.keyword)):
            words = [node.arg or ""]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            words = [node.name]
        elif isinstance(node, ast.ImportFrom):
            words = (node.module or "").split(".")
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documentation
        ):
            words = [node.value]
        for word in words:
            found = [
                engine for engine in ENGINES if engine in word.lower().replace("numpy.autograd", "")
            ]
            if found:
                yield (
                    f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '?')} names {found[0]}:"
                    f" {word[:60]!r}"
                )


# Reading the files
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_imports_the_core_and_its_own_engine_and_no_sibling(name):
    assert _foreign(BACKENDS[name], FREE | ENGINE_OF[name]) == []


def test_the_core_imports_no_engine_and_no_backend():
    allowed = FREE | {"ml_dtypes", "array_api_strict"}
    found = _foreign(CORE, allowed)
    # SciPy is an extra, and three extensions import it; each file of `integrations` imports the
    # package it is for.
    extras = ("sparse", "scipy", "numpy_code/deep", "integrations")
    assert [
        place
        for place in found
        if not place.startswith(tuple(f"adinterface/{extra}/" for extra in extras))
    ] == []
    assert _foreign(CORE / "sparse", allowed | {"scipy"}) == []
    assert _foreign(CORE / "scipy", allowed | {"scipy"}) == []
    assert _foreign(CORE / "numpy_code" / "deep", allowed | {"scipy"}) == []
    assert _foreign(CORE / "integrations", allowed | OTHER_PACKAGES) == []


def test_the_conformance_package_imports_no_engine_and_no_backend():
    assert (
        _foreign(CONFORMANCE, FREE | {"pytest", "hypothesis", "matplotlib", "mpmath", "scipy"})
        == []
    )


def test_in_the_core_one_file_names_engines():
    # __init__ exports the values of that file, and the registry's message shows them to who passed
    # something else.
    exported = {"AutoAutograd", "AutoJax", "AutoTorch"}
    shown = (
        "Pass an object such as AutoJax(), AutoTorch(), AutoAutograd() or AutoFiniteDifferences()."
    )
    # The function that takes the optimisers of a library is named after that library.
    wrappers = {"from_torch_optim", "torch_optim"}
    found = []
    for path in _files(CORE):
        if path == CORE / "core" / "contract" / "auto.py":
            assert list(_names_an_engine(path))
            continue
        for place in _names_an_engine(path):
            word = place.partition(": ")[2].strip("'\"")
            if path.name == "__init__.py" and path.parent == CORE and word in exported:
                continue
            if path.name == "registry.py" and word == shown[:60]:
                continue
            if path.parent.name == "fit" and word in wrappers:
                continue
            found.append(place)
    assert found == []


def test_the_conformance_package_names_no_engine():
    assert [place for path in _files(CONFORMANCE) for place in _names_an_engine(path)] == []


# In a fresh process
# ------------------------------------------------------------------------------------------------


def _run(program, environment=None):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


_LOADED = """
    import json, sys
    {program}
    print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


def _loaded(program):
    return set(json.loads(_run(textwrap.dedent(_LOADED).format(program=program)).splitlines()[-1]))


@pytest.fixture(scope="module")
def stages():
    """What is loaded, one after the other, by what needs no engine."""
    return json.loads(_run(_STAGES))


_STAGES = """
    import inspect, json, pickle, sys, time  # from 2.3 on NumPy loads inspect itself
    import numpy
    before, start = set(sys.modules), time.process_time()
    import adinterface
    seconds, found = time.process_time() - start, [sorted(sys.modules)]
    from adinterface import *
    for value in (AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences(native=AutoJax())):
        assert pickle.loads(pickle.dumps(value)) == value and hash(value) is not None and repr(value)
    found.append(sorted(sys.modules))
    import adinterface_conformance
    found.append(sorted(sys.modules))
    gradient(lambda m: m["x"] * m["x"], AutoFiniteDifferences(), {"x": 2.0, "s": "text"})
    found.append(sorted(sys.modules))
    print(json.dumps([seconds, sorted(before), *found]))
"""


def _packages(modules):
    return {name.partition(".")[0] for name in modules}


def test_import_adinterface_imports_no_engine_and_no_backend(stages):
    loaded = _packages(stages[2])
    assert "adinterface" in loaded
    assert not loaded & {
        *ENGINES,
        *BACKENDS,
        "ml_dtypes",
        "equinox",
        "attr",
        "scipy",
        "array_api_compat",
    }


def test_making_comparing_and_pickling_a_backend_value_imports_no_engine(stages):
    assert not _packages(stages[3]) & {*ENGINES, *BACKENDS}


def test_importing_the_conformance_package_imports_no_engine_and_no_backend(stages):
    assert not _packages(stages[4]) & {*ENGINES, *BACKENDS}


def test_a_call_with_differences_imports_their_backend_alone(stages):
    assert _packages(stages[5]) & {*ENGINES, *BACKENDS} == {"adinterface_finite"}


def test_import_adinterface_loads_little_beyond_numpy(stages, record_property):
    seconds, before, after, *_ = stages
    record_property("import_milliseconds", round(1000 * seconds, 1))
    modules = set(after) - set(before)
    others = [name for name in modules if name.partition(".")[0] != "adinterface"]
    assert len(modules) - len(others) <= 116
    assert len(others) <= 24, others


#: After it has started, `jax.distributed.initialize()` refuses to; and what torch compiles with
#: takes as long to load as torch.
_AFTER_THE_IMPORT = {
    "AutoJax": "from jax._src import xla_bridge; assert not xla_bridge.backends_are_initialized()",
    # Up to 2.9 `torch.func` itself may load it.
    "AutoTorch": (
        "import sys, torch; compilers = {'torch._dynamo', 'torch._inductor', 'sympy'}; "
        "assert torch.__version__[:3] in ('2.7', '2.8', '2.9') or not compilers & set(sys.modules)"
    ),
    "AutoAutograd": "pass",
}


@pytest.mark.parametrize(
    ("auto", "backend", "engine"),
    [
        ("AutoJax", "adinterface_jax", "jax"),
        ("AutoTorch", "adinterface_torch", "torch"),
        ("AutoAutograd", "adinterface_autograd", "autograd"),
    ],
)
def test_a_call_imports_its_own_backend_and_engine_alone(auto, backend, engine):
    """And loading the backend starts nothing."""
    call = (
        f"adinterface.gradient(lambda m: m['x'] * m['x'], adinterface.{auto}(), {{'x': 2.0, 's':"
        " 'text'})"
    )
    loaded = _loaded(f"import adinterface, {backend}; {_AFTER_THE_IMPORT[auto]}; {call}")
    assert loaded & set(BACKENDS) == {backend}
    assert loaded & set(ENGINES) == {engine}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("minimize", "fit"),
        ("scan", "loops"),
        ("root", "rules"),
        ("sparsity", "sparse"),
        ("check_rule", "tools"),
        ("Backend", "core.contract"),
    ],
)
def test_a_name_of_a_module_is_told_where_it_is(name, place):
    with pytest.raises(
        AttributeError,
        match=(
            rf"^module 'adinterface' has no attribute '{name}'\. It is"
            rf" adinterface\.{place}\.{name}$"
        ),
    ):
        getattr(adinterface, name)
    assert functools.reduce(getattr, f"{place}.{name}".split("."), adinterface) is not None


def test_a_name_that_is_nowhere_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'adinterface' has no attribute 'gradeint'$"):
        getattr(adinterface, "gradeint")  # noqa: B009 - a misspelt name is the point
    assert not hasattr(adinterface, "__wrapped__")


_GLOBAL = """
    import signal, sys, warnings
    import numpy as np
    import {engine}
    import scipy.special, multiprocessing.reduction
    from adinterface import *
    from adinterface_conformance.state import changes, global_state
    signals = [signal.getsignal(each) for each in signal.valid_signals()]
    before = global_state({auto}())
    for operator in (gradient, jacobian, hessian):
        operator(lambda p: (p["x"] * p["x"]).sum(), {auto}(), {{"x": np.ones(2), "s": "text"}})
    def fails(x):
        raise KeyError
    try:
        gradient(fails, {auto}(), np.ones(2))
    except KeyError:
        pass
    assert signals == [signal.getsignal(each) for each in signal.valid_signals()]
    for change in changes(before, global_state({auto}())):
        print(change)
"""


@pytest.mark.parametrize(
    ("auto", "engine"),
    [
        ("AutoJax", "jax"),
        ("AutoTorch", "torch"),
        ("AutoAutograd", "autograd"),
        ("AutoFiniteDifferences", "math"),
    ],
)
def test_the_first_call_on_an_engine_changes_nothing_global(auto, engine):
    """Nor does loading its backend, which the laws of the kit do not see: their engines are loaded
    before.
    """
    assert _run(textwrap.dedent(_GLOBAL).format(auto=auto, engine=engine)) == ""
